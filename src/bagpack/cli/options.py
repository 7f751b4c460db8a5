"""The options and arguments of all commands, each declared once.

A command takes what it needs: single ones as annotated types (``json: Json = False``), and those that always go
together as a dataclass, which :func:`bagpack.cli.command.expanded` turns into its fields.

To add an option: declare it here with :func:`common` or :func:`advanced`, as a field of the dataclass whose commands
should all have it, or as a type of its own; then use ``group.name`` where the command calls the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli.arguments import FILE, MATRIX, MODEL, SNIPPETS, STORE, Names
from bagpack.cli.command import ADVANCED
from bagpack.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from bagpack.basis import BasisSize
    from bagpack.experiments.counting import CountOptions

Values = Sequence[str] | Callable[[], Iterable[str]]


def common(*names: str, help: str, values: Values = (), only: bool = True, **more: Any) -> Any:
    """An option that `--help` describes.

    ``values`` complete in the shell; with ``only``, any other value is an error that suggests the nearest one. A value
    that ends in a colon (``group:``) stands for all that begin with it.
    """
    if values:
        more["autocompletion"] = _completer(values)
        if only:
            more["callback"] = _checker(names[0], values)
    return typer.Option(*names, help=help, **more)


def advanced(*names: str, help: str, **more: Any) -> Any:
    """An option that `--help` only lists, and `--help-all` describes."""
    return common(*names, help=help, rich_help_panel=ADVANCED, **more)


def _listed(values: Values) -> list[str]:
    return list(values() if callable(values) else values)


def _completer(values: Values) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [value for value in _listed(values) if value.startswith(incomplete)]

    return complete


def _checker(name: str, values: Values) -> Callable[[str | None], str | None]:
    def check(value: str | None) -> str | None:
        known = _listed(values)
        if value is not None and not any(
            value != one and value.startswith(one) if one.endswith(":") else value == one for one in known
        ):
            shown = [f"{one}COLUMN" if one == "group:" else one for one in known if one != "modern:"]
            raise UsageError(
                f"{name} {value} is unknown; {did_you_mean(value, shown)}choose one of {', '.join(shown)}"
            )
        return value

    return check


def _presets() -> list[str]:
    from bagpack.learn.presets import PRESETS

    return [*PRESETS, "modern:"]  # modern:SWITCH=VALUE,…


def _formats() -> list[str]:
    from importlib.metadata import entry_points

    return ["auto", *sorted(entry_points(group="bagpack.readers").names)]


def _tagsets() -> list[str]:
    from bagpack.corpus.text.tagsets import tagset_names

    return ["auto", *tagset_names()]


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
Overwrite = Annotated[bool, common("--overwrite", help="Replace what is there already.")]
Append = Annotated[bool, common("--append", help="Add to what is there already.")]
Table = Annotated[
    Path | None,
    common("--out", "-o", metavar="FILE", help="Write a table instead: .tsv, .csv or .xlsx."),
]
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
Top = Annotated[int, common("--top", help="Number of results shown.")]
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
WordLanguage = Annotated[str, common("--lang", help="Language of the words; others than en need --forms.")]


# Groups of options


@dataclass(frozen=True)
class OutputOptions:
    """JSON for programs, or nothing at all."""

    json: Json = False
    quiet: Annotated[bool, common("--quiet", "-q", help="No progress, no summary.")] = False

    @property
    def silent(self) -> bool:
        """Whether there is neither progress nor a summary."""
        return self.quiet or self.json


@dataclass(frozen=True)
class ParallelOptions:
    """Which workers do the work."""

    jobs: Jobs = -1
    backend: Annotated[
        str | None,
        advanced(
            "--backend",
            help="Workers: loky (this machine), dask, ray or spark.",
            values=("loky", "dask", "ray", "spark"),
        ),
    ] = None
    address: Annotated[
        str | None,
        advanced("--address", metavar="URL", help="The backend's scheduler, such as tcp://host:8786."),
    ] = None

    @contextmanager
    def workers(self, out: str | Path | None = None, store: str | Path | None = None) -> Iterator[None]:
        """Within, the work is done by these workers, which hand over their results in files next to `out`.

        Without `out` they are next to the store, if workers on other machines have to see them.
        """
        from contextlib import ExitStack

        from bagpack.files import is_stream

        if out is not None and is_stream(Path(out)):  # nothing can be put next to it
            out = None
        if out is None and self.backend not in (None, "loky"):
            out = store
        if self.backend is None and self.address is None and out is None:
            yield
            return
        from bagpack.backends import open_backend
        from bagpack.parallel import scratch_near

        with ExitStack() as stack:
            stack.enter_context(open_backend(self.backend, self.address, self.jobs))
            if out is not None:
                stack.enter_context(scratch_near(out))
            yield


BasisTags = Annotated[
    bool, advanced("--basis-tags", help="Basis words with their parts of speech: saw/NOUN and saw/VERB.")
]
TagTerms = Annotated[
    bool, advanced("--tag-terms", help="Parts of speech as basis terms too: ADJ, or of DET.")
]
BasisWords = Annotated[
    str,
    advanced(
        "--basis-words",
        metavar="all|content|function",
        help="Which words the basis is made of.",
        values=("all", "content", "function"),
    ),
]


def basis_choice(b: int | None, tags: bool, tag_terms: bool, words: str) -> Any:
    """Which terms a basis has; None for the default number without further options."""
    from bagpack.basis import BasisChoice

    if not (tags or tag_terms or words != "all"):
        return b
    if b is None:
        raise UsageError(
            "--basis-tags, --tag-terms and --basis-words need the size of the basis here; give -b"
        )
    return BasisChoice(b, tags, tag_terms, words)


@dataclass(frozen=True)
class CountingOptions:
    """How the contexts of words and pairs are counted."""

    b: Annotated[int, advanced("-b", help="Number of unigrams, and of bigrams, in the basis.")] = 1500
    basis: Annotated[
        str | None,
        advanced("--basis", metavar="FILE", help="A basis (bagpack basis) to use instead of choosing one."),
        Names((FILE,)),
    ] = None
    basis_tags: BasisTags = False
    tag_terms: TagTerms = False
    basis_words: BasisWords = "all"
    limit: Limit = "5000"
    windows: Windows = "4/2-5-2"

    @property
    def choice(self) -> BasisSize:
        """Which terms the basis has, if it is not read from a file."""
        asked = [
            name
            for name, given in (
                ("--basis-tags", self.basis_tags),
                ("--tag-terms", self.tag_terms),
                ("--basis-words", self.basis_words != "all"),
            )
            if given
        ]
        if asked and self.basis is not None:
            raise UsageError(
                f"{asked[0]} chooses the terms of a new basis, and --basis names a file that has them; remove one"
            )
        chosen: BasisSize = basis_choice(self.b, self.basis_tags, self.tag_terms, self.basis_words)
        return chosen

    def settings(self, **more: Any) -> Any:
        """The windows and the limit, checked."""
        from bagpack.contexts.windows import CountSettings, parse_limit
        from bagpack.contexts.windows import Windows as Sizes

        return CountSettings(Sizes.parse(self.windows), parse_limit(self.limit), **more)

    def options(self, jobs: int) -> CountOptions:
        """All of them, as the library takes them."""
        from bagpack.experiments.counting import CountOptions

        return CountOptions(self.choice, self.basis, self.settings(), jobs)


@dataclass(frozen=True)
class SubcorpusOptions:
    """Which documents of a store are used."""

    where: Annotated[
        str | None,
        common(
            "--where",
            metavar="CONDITION",
            help="Only documents such as 'year >= 1900'.",
        ),
    ] = None

    def store(self, path: str | Path) -> Path:
        """The store itself, or that of the subcorpus."""
        return Path(path) if self.where is None else select(path, self.where)


def select(store: str | Path, condition: str) -> Path:
    """The store of a subcorpus."""
    from bagpack.corpus.build.subcorpus import subcorpus
    from bagpack.corpus.store.corpus import Corpus
    from bagpack.info import kind_of

    kind = kind_of(Path(store))
    if kind != "corpus":
        raise UsageError(
            f"--where selects documents of a store, and {store} is of the kind {kind}; name a store"
        )
    return subcorpus(Corpus.open(store), condition).path


@dataclass(frozen=True)
class PaperCountingOptions(CountingOptions):
    """The same, with the basis of each of the paper's experiments."""

    b: Annotated[
        int | None,
        advanced(
            "-b", help="Number of unigrams, and of bigrams, in the basis (default: 1500, relations 500)."
        ),
    ] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class LearningOptions:
    """How counts become features, and every random choice."""

    preset: Preset = "modern"
    seed: Annotated[int, advanced("--seed", help="Seed of every random choice.")] = 0


@dataclass(frozen=True)
class SearchOptions:
    """Which pairs are looked for; see `bagpack.find.pool.CandidateOptions`."""

    label: Annotated[
        str | None, advanced("--label", metavar="LABEL", help="The relation to find, if there are several.")
    ] = None
    w1: Annotated[str | None, common("--w1", metavar="WORD", help="Only pairs with this first word.")] = None
    w2: Annotated[str | None, common("--w2", metavar="WORD", help="Only pairs with this second word.")] = None
    among: Annotated[
        str | None,
        advanced("--among", metavar="FILE", help="Only pairs of these terms, one on each line."),
        Names((FILE,)),
    ] = None
    min_count: Annotated[
        int, advanced("--min-count", help="Words must occur this often (1 with --among).")
    ] = 5
    min_together: Annotated[int, advanced("--min-together", help="Pairs must co-occur this often.")] = 2


@dataclass(frozen=True)
class PaperLearningOptions(LearningOptions):
    """The same, for the paper's own experiments."""

    preset: Preset = "paper"


@dataclass(frozen=True)
class SvmOptions:
    """The parameters of the SVM."""

    cost: Annotated[
        float | None, advanced("-C", metavar="COST", help="Cost of the SVM, instead of the preset's own.")
    ] = None
    epsilon: Annotated[float, advanced("--epsilon", help="Width of the regression's tube.")] = 0.2


@dataclass(frozen=True)
class DataOptions:
    """How a data set is read."""

    columns: Columns = ""
    pos1: Pos1 = None
    pos2: Pos2 = None
    task: Annotated[
        str | None,
        advanced(
            "--task",
            help="relations or ratings, for a file that could be either.",
            values=("relations", "ratings"),
        ),
    ] = None

    def named(self) -> dict[str, str] | None:
        """The columns that were named."""
        return parse_columns(self.columns, self.pos1, self.pos2)


@dataclass(frozen=True)
class RowOptions(DataOptions):
    """Which rows of a data set are used, and how."""

    drop_unseen: Annotated[bool, advanced("--drop-unseen", help="Exclude pairs never seen together.")] = False
    label_sets: Annotated[
        bool, advanced("--label-sets", help="A pair with several labels has all of them, not one row each.")
    ] = False


@dataclass(frozen=True)
class ReadingOptions:
    """How files of text are read; see :class:`bagpack.corpus.options.TextOptions`."""

    format: Annotated[
        str,
        common("--format", help="auto, text, vertical, conllu, jsonl, …", values=_formats, only=False),
    ] = "auto"
    lang: Annotated[
        str,
        common("--lang", help="Language of raw text, such as en; auto: per file."),
    ] = "en"
    encoding: Annotated[
        str,
        common(
            "--encoding",
            help="utf-8, latin-1, …, auto, or PATTERN=NAME,….",
            values=("utf-8", "auto", "latin-1", "cp1252"),
            only=False,
        ),
    ] = "utf-8"
    punctuation: Annotated[
        str, advanced("--punctuation", help="Punctuation marks are tokens: keep, drop.")
    ] = "keep"
    encoding_errors: Annotated[
        str,
        advanced("--encoding-errors", metavar="HOW", help="Invalid bytes: strict, replace, skip."),
    ] = "strict"
    bad_lines: Annotated[
        str, advanced("--bad-lines", metavar="HOW", help="Lines that do not fit the format: error, skip.")
    ] = "error"
    paragraphs: Annotated[
        str, advanced("--paragraphs", help="Paragraphs of plain text end at: auto, line, blank.")
    ] = "auto"
    columns: Annotated[
        str, advanced("--columns", help="Columns of vertical text, such as word,tag,lemma.")
    ] = "auto"
    tagset: Annotated[
        str,
        advanced(
            "--tagset",
            help="Parts of speech of vertical text and CoNLL-U: auto, UD, Penn, CLAWS5, STTS, …",
            values=_tagsets,
        ),
    ] = "auto"
    tag: Annotated[bool, common("--tag", help="Find parts of speech in raw English text.")] = False
    text_field: Annotated[
        str, advanced("--text-field", help="Field or column with the text (jsonl, parquet).")
    ] = "text"
    id_field: Annotated[str, advanced("--id-field", help="Field or column with the document's id.")] = "id"
    metadata: Annotated[
        str,
        common("--metadata", metavar="FILE", help="A table with genre, year, … of each file."),
        Names((FILE,)),
    ] = ""


@dataclass(frozen=True)
class LevelOptions:
    """What is counted."""

    level: Annotated[
        str, common("--level", help="Count lemmas or forms: lemma, form.", values=("lemma", "form"))
    ] = "lemma"
    case: Annotated[
        str,
        advanced(
            "--case",
            help="Case: fold, keep; auto keeps it in German.",
            values=("auto", "fold", "keep"),
        ),
    ] = "fold"
    annotator: Annotated[
        str,
        advanced(
            "--annotator",
            help="Lemmas of raw text: auto, simplemma, jieba, fugashi, none, spacy:MODEL.",
            values=("auto", "simplemma", "jieba", "fugashi", "none", "spacy:"),
            only=False,
        ),
    ] = "auto"


@dataclass(frozen=True)
class IndexOptions(LevelOptions, ReadingOptions):
    """How sources become a store."""

    max_sentence: Annotated[int, advanced("--max-sentence", help="Longest sentence, in tokens.")] = 100_000
    memory: Annotated[str, common("--memory", metavar="SIZE", help="Memory of all workers together.")] = "2G"


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
