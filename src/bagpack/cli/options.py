"""The arguments and options of all commands, each declared once as an annotated type (``json: Json = False``)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bagpack.cli.arguments import FILE, MATRIX, MODEL, SNIPPETS, STORE, Names
from bagpack.cli.declaration import advanced, common
from bagpack.errors import UsageError


def _presets() -> list[str]:
    from bagpack.learn.presets import PRESETS

    return [name for name, preset in PRESETS.items() if "v12" in preset.conditions]  # the baseline has none


def _page(path: Path | None) -> Path | None:
    """Whether a page can be written there is checked before the work."""
    if path is not None:
        from bagpack.report.page import check_page

        check_page(path)
    return path


# Arguments

Sources = Annotated[list[str], typer.Argument(help="Files, directories, globs, or - for standard input.")]
Store = Annotated[
    Path,
    typer.Argument(help="A store (bagpack index) or snippets (bagpack fetch)."),
    Names((STORE, SNIPPETS)),
]
StoreOrMatrix = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A store, snippets, or a matrix (bagpack vectors)."),
    Names((STORE, SNIPPETS, MATRIX)),
]
Data = Annotated[
    str, typer.Argument(help="A table with w1, w2 and label (or score); - for stdin."), Names((FILE,))
]
AnyData = Annotated[
    str,
    typer.Argument(metavar="DATA", help="Pairs, relations, ratings or questions; - for stdin."),
    Names((FILE,)),
]
Pairs = Annotated[str, typer.Argument(help="A table with columns w1 and w2; - for stdin."), Names((FILE,))]
Questions = Annotated[
    str, typer.Argument(help="JSON lines, or the SAT package's or TOEFL's own text."), Names((FILE,))
]
Model = Annotated[str, typer.Argument(help="A model (bagpack train)."), Names((MODEL,))]
FirstWord = Annotated[str, typer.Argument(help="The first word; quote several: 'ice cream'."), Names()]
SecondWord = Annotated[str, typer.Argument(help="The second word."), Names()]
MaybeSecondWord = Annotated[
    str | None,
    typer.Argument(metavar="W2", help="A second word, for the pair of the two."),
    Names(),
]

# Single options

Pos1 = Annotated[
    str | None,
    advanced("--pos1", metavar="TAG", help="Part of speech of the first words: NOUN, N, …, or a column."),
]
Pos2 = Annotated[
    str | None,
    advanced("--pos2", metavar="TAG", help="Part of speech of the second words, likewise."),
]

Json = Annotated[bool, common("--json", help="Write JSON to standard output.")]
Report = Annotated[
    Path | None, common("--report", metavar="FILE", help="Write an HTML report.", callback=_page)
]
Page = Annotated[Path | None, common("--html", metavar="FILE", help="Write an HTML page.", callback=_page)]
Overwrite = Annotated[bool, common("--overwrite", help="Replace existing output.")]
Append = Annotated[bool, common("--append", help="Add to existing output.")]
Answers = Annotated[
    str | None, advanced("--answers", metavar="FILE", help="TOEFL's answer file, if elsewhere.")
]
Preset = Annotated[
    str, common("--preset", help="How counts become features: modern, paper.", values=_presets)
]
Split = Annotated[
    str,
    common("--split", help="Folds: random, group:COLUMN or lexical.", values=("random", "lexical", "group:")),
]
Condition = Annotated[
    str,
    common("--condition", help="all, v1v2, v12 or v1v2v12.", values=("all", "v1v2", "v12", "v1v2v12")),
]
Folds = Annotated[int | None, advanced("--folds", help="Number of folds (random 10, lexical 5, group all).")]
Top = Annotated[int, common("--top", help="Number of results shown.", least=1)]
Columns = Annotated[
    str, advanced("--columns", help="The file's column names, such as w1=noun,w2=verb.", metavar="NAMES")
]
Limit = Annotated[
    str,
    advanced("--limit", metavar="N", help="Maximum observations per word or pair; none = unlimited."),
]
Windows = Annotated[
    str, advanced("--windows", metavar="SIZES", help="Tokens around a word / left-between-right of a pair.")
]
Jobs = Annotated[int, common("--jobs", "-j", help="Worker processes; -1 for one per core.")]
StoreOption = Annotated[
    str | None,
    common("--store", help="Where the store is now, if it was moved."),
    Names((STORE, SNIPPETS, MATRIX)),
]
ModelOption = Annotated[
    str | None, common("--model", help="A model, to show its predictions."), Names((MODEL,))
]
AnyStore = Annotated[
    bool, advanced("--any-store", help="Allow a store other than the one the model was trained on.")
]
Port = Annotated[int, common("--port", help="The port to listen on.", least=1, most=65535)]
Engine = Annotated[
    str,
    common(
        "--engine", metavar="URL", envvar="BAGPACK_ENGINE",
        help="tantivy:DIRECTORY, postgresql://…, api:brave, …",
        values=(
            "tantivy:", "infinigram:", "postgresql://", "opensearch+https://", "elasticsearch+https://",
            "infinigram+https://", "api:brave", "api:google", "api:searxng",
        ), only=False,
    ),
]  # fmt: skip
Forms = Annotated[
    Path | None,
    common("--forms", metavar="FILE", help="Inflected forms, tab-separated: word, form, form, …"),
]
WordLanguage = Annotated[
    str, common("--lang", help="Language of the words; other languages than en need --forms.")
]
BasisTags = Annotated[
    bool, advanced("--basis-tags", help="Basis terms with parts of speech: saw/NOUN and saw/VERB.")
]
TagTerms = Annotated[
    bool, advanced("--tag-terms", help="Also use parts of speech as basis terms: ADJ, of DET.")
]
BasisWords = Annotated[
    str,
    advanced(
        "--basis-words",
        metavar="all|content|function",
        help="Words that basis terms may contain.",
        values=("all", "content", "function"),
    ),
]


def parse_columns(text: str, pos1: str | None = None, pos2: str | None = None) -> dict[str, str] | None:
    """`w1=noun,w2=verb` as a mapping, with the columns (or tags) of the parts of speech."""
    columns = {name: given for name, given in (("pos1", pos1), ("pos2", pos2)) if given}
    for part in text.split(",") if text else ():
        name, equals, column = part.partition("=")
        if not equals or not name or not column:
            raise UsageError(f"--columns {text} is not understood; write it like w1=noun,w2=verb")
        columns[name.strip()] = column.strip()
    return columns or None


def tagged_word(word: str, option: str, tag: str | None) -> str:
    """A word with the part of speech that an option names."""
    from bagpack.corpus.text.tagsets import universal_tag, with_tag

    if tag is not None and universal_tag(tag) is None:
        raise UsageError(
            f"{option} {tag} is not a part of speech; write a universal tag such as NOUN, or N, V, A, R"
        )
    return with_tag(word, universal_tag(tag or ""))


def conditions_of(condition: str) -> tuple[str, ...]:
    """`all`, or one condition."""
    from bagpack.names import CONDITIONS

    return tuple(CONDITIONS) if condition == "all" else (condition,)
