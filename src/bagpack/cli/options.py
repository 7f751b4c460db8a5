"""The arguments and options that several commands share, each declared once, and what commands do with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bagpack.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from bagpack.cli.progress import Work
    from bagpack.contexts.targets import ContextSource
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.subcorpus import Subcorpus
    from bagpack.evaluate import CountOptions

HINTS = 6  # words offered for an unknown one


# Checks ------------------------------------------------------------------------------------------------------------


def _store(path: str) -> str:
    if os.path.isfile(path):
        raise UsageError(
            f"{path} is a file, but STORE must be a store (bagpack index makes one), snippets or a matrix; give the "
            f"store first, then the data"
        )
    return path


def _model(path: str | None) -> str | None:
    if path is not None and os.path.isfile(path):
        raise UsageError(
            f"{path} is a file, but a model is a directory (bagpack train makes one); name another path"
        )
    return path


def _data(path: str | None) -> str | None:
    if path is not None and os.path.isdir(path):
        raise UsageError(f"{path} is a directory, and a file with data is needed; name another path")
    return path


def _page(path: Path | None) -> Path | None:
    """Whether a page can be written there is checked before the work."""
    if path is not None:
        from bagpack.report.html import check_page

        check_page(path)
    return path


def _split(text: str) -> str:
    if text not in ("random", "lexical") and not (text.startswith("group:") and text != "group:"):
        known = ("random", "lexical", "group:COLUMN")
        raise UsageError(
            f"--split {text} is unknown; {did_you_mean(text, known)}choose one of {', '.join(known)}"
        )
    return text


def _word(word: str | None) -> str | None:
    if word is not None and not word.strip():
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")
    return word


def value(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value; its name is that of the parameter unless names are given."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


def option(*names: str, help: str, **more: Any) -> Any:
    """An option."""
    return typer.Option(*names, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help, **more)


# Arguments ---------------------------------------------------------------------------------------------------------

_STORES = "A store (bagpack index) or snippets (bagpack fetch)."
_TABLES = "A table with w1, w2 and label or score, or questions; - for stdin."
Sources = Annotated[list[str], argument("SOURCE", "Files, directories, globs, or - for standard input.")]
Store = Annotated[str, argument("STORE", _STORES, callback=_store)]
StoreOrMatrix = Annotated[
    str, argument("STORE", "A store, snippets, or a matrix (bagpack vectors).", callback=_store)
]
Data = Annotated[str, argument("DATA", _TABLES, callback=_data)]
Pairs = Annotated[str, argument("PAIRS", "A table with columns w1 and w2; - for stdin.", callback=_data)]
Model = Annotated[str, argument("MODEL", "A model (bagpack train).", callback=_model)]
FirstWord = Annotated[str, argument("W1", "The first word; quote several: 'ice cream'.", callback=_word)]
SecondWord = Annotated[str, argument("W2", "The second word.", callback=_word)]
MaybeSecondWord = Annotated[
    str | None, argument("W2", "A second word, for the pair of the two.", callback=_word)
]

# Options -----------------------------------------------------------------------------------------------------------

Json = Annotated[bool, flag("--json", "Write JSON to standard output.")]
Report = Annotated[Path | None, value("FILE", "Write an HTML report.", callback=_page)]
Page = Annotated[Path | None, value("FILE", "Write an HTML page.", callback=_page)]
Table = Annotated[Path | None, value("FILE", "Write a table instead: .tsv, .csv or .xlsx.", "--out", "-o")]
Overwrite = Annotated[bool, flag("--overwrite", "Replace existing output.")]
Preset = Annotated[Literal["modern", "paper"], value("NAME", "How counts become features: modern, paper.")]
Seed = Annotated[int, value("N", "Seed of every random choice.")]
Condition = Annotated[Literal["all", "v1v2", "v12", "v1v2v12"], value("NAME", "all, v1v2, v12 or v1v2v12.")]
Split = Annotated[
    str, value("HOW", "Folds: random, group:COLUMN or lexical.", callback=_split,
               autocompletion=lambda: ["random", "lexical", "group:"])
]  # fmt: skip
Folds = Annotated[int | None, value("N", "Number of folds (random 10, lexical 5, group all).")]
Cost = Annotated[float | None, value("COST", "Cost of the SVM, instead of the preset's own.", "-C")]
Top = Annotated[int, value("N", "Number of results shown.", min=1)]
Columns = Annotated[str, value("NAMES", "The file's column names, such as w1=noun,w2=verb,pos1=N.")]
Terms = Annotated[int, value("N", "Number of unigrams, and of bigrams, in the basis.", "-b")]
BasisFile = Annotated[str | None, value("FILE", "A basis (bagpack basis) to use instead of choosing one.")]
Limit = Annotated[str, value("N", "Maximum observations per word or pair; none = unlimited.")]
Windows = Annotated[str, value("SIZES", "Tokens around a word / left-between-right of a pair.")]
Where = Annotated[str | None, value("CONDITION", "Only documents that satisfy a condition: 'year >= 1900'.")]
StoreOption = Annotated[str | None, value("STORE", "Where the store is now, if it was moved.")]
ModelOption = Annotated[str | None, value("MODEL", "A model (bagpack train).", callback=_model)]
AnyStore = Annotated[bool, flag("--any-store", "Allow a store other than the one the model was trained on.")]
Label = Annotated[str | None, value("LABEL", "The relation to find, if there are several.")]
FixedFirst = Annotated[str | None, value("WORD", "Only pairs with this first word.", callback=_word)]
FixedSecond = Annotated[str | None, value("WORD", "Only pairs with this second word.", callback=_word)]
Among = Annotated[str | None, value("FILE", "Only pairs of these terms, one per line.", callback=_data)]
Host = Annotated[str, value("HOST", "The address to listen on.")]
Port = Annotated[int, value("N", "The port to listen on.", min=1, max=65535)]
Format = Annotated[str, value("NAME", "auto, text, vertical, conllu, jsonl, …")]
Language = Annotated[str, value("CODE", "Language of raw text, such as en.")]
Level = Annotated[Literal["lemma", "form"], value("LEVEL", "Count lemmas or forms: lemma, form.")]


# Options of all commands -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Options of all commands: which workers do the work, and whether anything is shown of it."""

    jobs: int | None = None
    backend: str | None = None
    address: str | None = None
    quiet: bool = False


_run = Run()


def set_run(run: Run) -> None:
    """Set the options of all commands, before the command."""
    global _run  # noqa: PLW0603 (one command line, one value)
    _run = run


def is_silent(json: bool) -> bool:
    """Whether there is neither progress nor a summary."""
    return json or _run.quiet


def jobs(default: int = -1) -> int:
    """Number of workers, as joblib takes it."""
    return default if _run.jobs is None else _run.jobs


@contextmanager
def at_work(json: bool = False) -> Iterator[Work]:
    """Within, the chosen workers do the work, and progress is shown."""
    from bagpack.cli.progress import Work, progress_bar
    from bagpack.parallel import settings

    with ExitStack() as stack:
        if _run.backend is not None or _run.address is not None:
            from bagpack.backends import open_backend

            stack.enter_context(open_backend(_run.backend, _run.address, jobs()))
        progress = Work(stack.enter_context(progress_bar(is_silent(json))))
        stack.enter_context(settings(n_jobs=jobs(), progress=progress))
        yield progress


# What commands do with options -------------------------------------------------------------------------------------


def parse_columns(text: str) -> dict[str, str] | None:
    """`w1=noun,w2=verb` as a mapping."""
    columns = {}
    for part in text.split(",") if text else ():
        name, equals, column = part.partition("=")
        if not equals or not name or not column:
            raise UsageError(f"--columns {text} is not understood; write it like w1=noun,w2=verb")
        columns[name.strip()] = column.strip()
    return columns or None


def conditions_of(condition: str) -> tuple[str, ...]:
    """`all`, or one condition."""
    from bagpack.names import CONDITIONS

    return tuple(CONDITIONS) if condition == "all" else (condition,)


def count_settings(windows: str, limit: str) -> Any:
    """The windows and the limit, checked."""
    from bagpack.contexts.windows import CountSettings, parse_limit
    from bagpack.contexts.windows import Windows as Sizes

    return CountSettings(Sizes.parse(windows), parse_limit(limit))


def counting(b: int | None, basis: str | None, limit: str, windows: str) -> CountOptions:
    """How the contexts of words and pairs are counted."""
    from bagpack.evaluate import CountOptions

    return CountOptions(b, basis, count_settings(windows, limit))


def selected(store: str, where: str | None) -> str:
    """The path of the store, or the name of a subcorpus, which opens in the same way."""
    return store if where is None else _select(store, where).name


def _select(store: str, condition: str) -> Subcorpus:
    from bagpack.corpus.corpus import divide_name
    from bagpack.corpus.subcorpus import open_corpus, select_documents
    from bagpack.info import kind_of

    kind = kind_of(divide_name(store)[0])
    if kind != "corpus":
        raise UsageError(
            f"--where selects documents of a store, and {store} is of the kind {kind}; name a store"
        )
    return select_documents(open_corpus(store), condition)


def check_out(out: Path | None, what: str, overwrite: bool, *read: str | Path | None) -> None:
    """Whether a table can be written, and is none of the files that are read; before the work."""
    if out is not None:
        from bagpack.files import check_not_read
        from bagpack.sheets import check_table

        check_not_read(out, *read)
        check_table(out, what, overwrite=overwrite)


def write_out(out: Path | None, rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, if one is wanted."""
    if out is not None:
        from bagpack.sheets import write_table

        write_table(out, rows)


def hint_words(source: ContextSource, unknown: Iterable[str]) -> None:
    """On standard error, for each unknown word, some of the corpus with a similar spelling."""
    from bagpack.console import print_message
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.text.tags import split_tag
    from bagpack.corpus.words import nearby

    if isinstance(source, Corpus):
        for word in unknown:
            if parts := _other_parts(source, word):
                print_message(f"{split_tag(word)[0]} occurs as {parts}", "dim")
                continue
            if found := nearby(source, word, HINTS):
                listed = ", ".join(item.word for item in found)
                print_message(f"similar spellings of {word}: {listed}", "dim")


def _other_parts(corpus: Corpus, word: str) -> str:
    """The parts of speech under which a word occurs, if it has another one behind it; empty if it does not occur."""
    from bagpack.contexts.targets import resolve_targets
    from bagpack.corpus.text.tags import UNIVERSAL, split_tag
    from bagpack.explain.collocates import occurrences

    stem, tag = split_tag(word)
    named = [f"{stem}/{name}" for name in UNIVERSAL]
    targets = [target for target in resolve_targets(corpus, named) if target] if tag and corpus.tags else []
    return ", ".join(f"{one} ({occurrences(corpus, one):,})" for one in targets)
