"""Options that always go together, as dataclasses: :func:`bagpack.cli.command.expanded` turns them into their fields.

To add an option, declare it with :func:`common` or :func:`advanced` as a field of the dataclass whose commands should
all have it, or in `options` as a type of its own; then use ``group.name`` where the command calls the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bagpack.cli.arguments import FILE, Names
from bagpack.cli.declaration import advanced, common
from bagpack.cli.options import (
    BasisTags,
    BasisWords,
    Columns,
    Jobs,
    Json,
    Limit,
    Overwrite,
    Pos1,
    Pos2,
    Preset,
    TagTerms,
    Windows,
    parse_columns,
)
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.basis import Basis, BasisSize
    from bagpack.contexts.source import ContextSource
    from bagpack.corpus.subcorpus import Subcorpus
    from bagpack.experiments.counting import CountOptions


def _formats() -> list[str]:
    from importlib.metadata import entry_points

    return ["auto", *sorted(entry_points(group="bagpack.readers").names)]


def _tagsets() -> list[str]:
    from bagpack.corpus.text.tagsets import tagset_names

    return ["auto", *tagset_names()]


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
class TableOptions:
    """A table instead of what is shown on a terminal."""

    out: Annotated[
        Path | None,
        common("--out", "-o", metavar="FILE", help="Write a table instead: .tsv, .csv or .xlsx."),
    ] = None
    overwrite: Overwrite = False

    def check(self, what: str, *read: str | Path | None) -> None:
        """Whether the table can be written, and is none of the files that are read; before the work."""
        if self.out is not None:
            from bagpack.files import check_not_read
            from bagpack.sheets import check_table

            check_not_read(self.out, *read)
            check_table(self.out, what, overwrite=self.overwrite)

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write the table, if one is wanted."""
        if self.out is not None:
            from bagpack.sheets import write_table

            write_table(self.out, rows)


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

        near = nullcontext() if out is None else scratch_near(out)
        with open_backend(self.backend, self.address, self.jobs), near:
            yield


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
        given = self.basis_tags, self.tag_terms, self.basis_words != "all"
        asked = list(compress(("--basis-tags", "--tag-terms", "--basis-words"), given))
        if asked and self.basis is not None:
            raise UsageError(
                f"{asked[0]} chooses the terms of a new basis, and --basis names a file that has them; remove one"
            )
        chosen: BasisSize = basis_choice(self.b, self.basis_tags, self.tag_terms, self.basis_words)
        return chosen

    def open_basis(self, source: ContextSource) -> Basis | None:
        """The basis of a file, if one is named; it must have been chosen from the same corpus."""
        from bagpack.basis import Basis

        return None if self.basis is None else Basis.open_for(self.basis, source)

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
            help="Only documents that satisfy a condition: 'year >= 1900'.",
        ),
    ] = None

    def store(self, path: str | Path) -> str:
        """The path of the store, or the name of the subcorpus, which can be opened likewise."""
        return str(path) if self.where is None else select(path, self.where).name


def select(store: str | Path, condition: str) -> Subcorpus:
    """The documents of a store that satisfy a condition."""
    from bagpack.corpus.store.corpus import divide_name
    from bagpack.corpus.subcorpus import open_corpus, select_documents
    from bagpack.info import kind_of

    kind = kind_of(divide_name(store)[0])
    if kind != "corpus":
        raise UsageError(
            f"--where selects documents of a store, and {store} is of the kind {kind}; name a store"
        )
    return select_documents(open_corpus(store), condition)


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
        advanced("--among", metavar="FILE", help="Only pairs of these terms, one per line."),
        Names((FILE,)),
    ] = None
    min_count: Annotated[
        int | None,
        advanced("--min-count", help="Minimum frequency of a word (5; with --among, 1)."),
    ] = None
    min_together: Annotated[int, advanced("--min-together", help="Minimum number of co-occurrences.")] = 2


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
    epsilon: Annotated[float, advanced("--epsilon", help="Width of the ε-tube (ratings).")] = 0.2


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
    punctuation: Annotated[str, advanced("--punctuation", help="Punctuation tokens: keep, drop.")] = "keep"
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
    tag: Annotated[bool, common("--tag", help="Tag raw English text with parts of speech.")] = False
    text_field: Annotated[
        str, advanced("--text-field", help="Field or column with the text (jsonl, parquet).")
    ] = "text"
    id_field: Annotated[str, advanced("--id-field", help="Field or column with the document's id.")] = "id"
    metadata: Annotated[
        str,
        common("--metadata", metavar="FILE", help="A table with the genre, year, … of each file."),
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
    ] = "auto"
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
