"""The arguments and options that several commands share, each declared once, and what commands do with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bagpack.console import messages
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bagpack.contexts.targets import ContextSource
    from bagpack.evaluate.run import CountOptions

HINTS = 6  # words offered for an unknown one
FREE = 2  # columns, for the ^C of the terminal: on a full line it would begin another one, and the first would stay
WORDS = {
    "basis": "choosing the basis",
    "features": "weighting the contexts",
    "folds": "training, folds",
    "model": "training on all rows",
    "negatives": "drawing negatives",
    "candidates": "enumerating candidates",
    "sentences": "looking for sentences",
    "queries": "asking the engine",
    "index": "filling the index",
}


def value(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value; its name is that of the parameter unless names are given."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(name: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(name, *names, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, **more)


def _no(kind: str, is_it: Callable[[str], bool], fix: str) -> Callable[[str | None], str | None]:
    def check(path: str | None) -> str | None:
        if path is not None and is_it(path):
            raise UsageError(f"{path} is a {kind}, but {fix}")
        return path

    return check


_store = _no(
    "file",
    os.path.isfile,
    "STORE must be a store (bagpack index), snippets or a matrix: first the store, then the data",
)
_model = _no("file", os.path.isfile, "a model is a directory (bagpack train makes one); name another path")
_data = _no("directory", os.path.isdir, "a file with data is needed; name another path")


def _page(path: Path | None) -> Path | None:
    if path is not None:
        from bagpack.report.html import check_page

        check_page(path)
    return path


def _word(word: str | None) -> str | None:
    if word is not None and not word.strip():
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")
    return word


Sources = Annotated[list[str], argument("SOURCE", "Files, directories, globs, or - for standard input.")]
Store = Annotated[str, argument("STORE", "A store (index) or snippets (fetch).", callback=_store)]
StoreOrMatrix = Annotated[str, argument("STORE", "A store, snippets, or a matrix.", callback=_store)]
Data = Annotated[
    str, argument("DATA", "A table with labels or scores, or questions; - for stdin.", callback=_data)
]
Pairs = Annotated[str, argument("PAIRS", "A table with columns w1 and w2; - for stdin.", callback=_data)]
Examples = "A table with w1, w2 and, optionally, label; - for stdin."
Model = Annotated[str, argument("MODEL", "A model (bagpack train).", callback=_model)]
FirstWord = Annotated[str, argument("W1", "The first word; quote several: 'ice cream'.", callback=_word)]
SecondWord = Annotated[str, argument("W2", "The second word.", callback=_word)]
MaybeSecondWord = Annotated[str | None, argument("W2", "A second word, for the pair.", callback=_word)]

Json = Annotated[bool, flag("--json", "Write JSON to standard output.")]
Report = Annotated[Path | None, value("FILE", "Write an HTML report.", callback=_page)]
Page = Annotated[Path | None, value("FILE", "Write an HTML page.", callback=_page)]
Table = Annotated[Path | None, value("FILE", "Write a table instead: .tsv, .csv or .xlsx.", "--out", "-o")]
Overwrite = Annotated[bool, flag("--overwrite", "Replace existing output.")]
Preset = Annotated[Literal["modern", "paper"], value("NAME", "How counts become features: modern, paper.")]
Seed = Annotated[int, value("N", "Seed of every random choice.")]
Condition = Annotated[Literal["all", "v1v2", "v12", "v1v2v12"], value("NAME", "all, v1v2, v12 or v1v2v12.")]
Split = Annotated[str, value("HOW", "Folds: random, group:COLUMN or lexical.")]
Folds = Annotated[int | None, value("N", "Number of folds (random 10, lexical 5, group all).")]
Cost = Annotated[float | None, value("COST", "Cost of an error of the SVM (1).", "-C")]
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
Pos = Annotated[str | None, value("CLASSES", "noun, name, verb, adjective, other or any.")]
Among = Annotated[str | None, value("FILE", "Only pairs of these terms, one per line.", callback=_data)]
Host = Annotated[str, value("HOST", "The address to listen on.")]
Port = Annotated[int, value("N", "The port to listen on.", min=1, max=65535)]
Format = Annotated[str, value("NAME", "text, vertical, conllu, jsonl, …")]
Language = Annotated[str, value("CODE", "Language of raw text, such as en.")]
Level = Annotated[Literal["lemma", "form"], value("LEVEL", "Count by lemma or form.")]


@dataclass
class Run:
    """Options of all commands: which workers do the work, and whether anything is shown of it."""

    jobs: int = -1
    backend: str | None = None
    address: str | None = None
    quiet: bool = False


run = Run()  # of this command line; `main` fills it before the command


def is_silent(json: bool) -> bool:
    return json or run.quiet


def show(json: bool, facts: Any, shown: Callable[[Any], object]) -> None:
    """Print facts as JSON, or show them unless nothing is to be shown."""
    if json:
        from bagpack.console import print_json

        print_json(facts)
    elif not run.quiet:
        shown(facts)


class Work:
    """Progress of work that reports `(what, how many more, of how many)`.

    On a terminal, each kind of work has a bar from its first report to its last. The total may be 0 where it is
    unknown; then a line is shown until something else begins. Elsewhere nothing is shown.
    """

    def __init__(self, silent: bool) -> None:
        self.console = messages()
        self.bar: Progress | None = None
        self.tasks: dict[str, TaskID] = {}
        if silent or not self.console.is_terminal or self.console.is_dumb_terminal:
            return
        from rich import progress

        self.console.width -= FREE
        self.bar = progress.Progress(
            progress.SpinnerColumn(), progress.TextColumn("{task.description}", markup=False), progress.BarColumn(),
            progress.TaskProgressColumn(), progress.TextColumn("{task.fields[note]}", markup=False),
            progress.TimeElapsedColumn(), progress.TextColumn("elapsed,"), progress.TimeRemainingColumn(),
            progress.TextColumn("left"), console=self.console, transient=True,
        )  # fmt: skip

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take a report."""
        if self.bar is None:
            return
        if what not in self.tasks:
            for name in [name for name, task in self.tasks.items() if self.bar.tasks[task].total is None]:
                self.bar.update(self.tasks.pop(name), visible=False)  # work that does not report its end
            note = f"of {total:,}" if total else ""
            words = WORDS.get(what, f"counting {what}")
            self.tasks[what] = self.bar.add_task(words, total=total or None, note=note)
        task = self.tasks[what]
        self.bar.advance(task, done)
        if self.bar.tasks[task].finished:
            self.bar.update(self.tasks.pop(what), visible=False)


@contextmanager
def at_work(json: bool = False) -> Iterator[Work]:
    """Within, the chosen workers do the work, and progress is shown."""
    from bagpack.parallel import open_backend, settings

    work = Work(is_silent(json))
    with (
        open_backend(run.backend, run.address, run.jobs),
        work.bar or nullcontext(),
        settings(n_jobs=run.jobs, progress=work),
    ):
        yield work


@contextmanager
def keeping(message: str) -> Iterator[None]:
    """Within, Ctrl-C is reported with what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(message) from None


def parse_columns(text: str) -> dict[str, str] | None:
    """`w1=noun,w2=verb` as a mapping."""
    columns = {}
    for part in text.split(",") if text else ():
        name, equals, column = part.partition("=")
        if not equals or not name or not column:
            raise UsageError(f"--columns {text} is not understood; write it like w1=noun,w2=verb")
        columns[name.strip()] = column.strip()
    return columns or None


def counting(
    b: int | None, basis: str | None = None, limit: str = "5000", windows: str = "4/2-5-2"
) -> CountOptions:
    from bagpack.contexts.windows import CountSettings, parse_limit
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.evaluate.run import CountOptions

    return CountOptions(b, basis, CountSettings(Sizes.parse(windows), parse_limit(limit)))


def selected(store: str, where: str | None) -> str:
    """The path of the store, or the name of a subcorpus, which opens in the same way."""
    if where is None:
        return store
    from bagpack.corpus.subcorpus import open_corpus, select_documents

    return select_documents(open_corpus(store), where).name


def check_out(out: Path | None, what: str, overwrite: bool, *read: str | Path | None) -> None:
    """Whether a table can be written, and is none of the files that are read; before the work."""
    if out is not None:
        from bagpack.files import check_not_read
        from bagpack.sheets import check_table

        check_not_read(out, *read)
        check_table(out, what, overwrite=overwrite)


def write_out(out: Path | None, rows: Iterable[Sequence[Any]]) -> None:
    if out is not None:
        from bagpack.sheets import write_table

        write_table(out, rows)


def hint_words(source: ContextSource, unknown: Sequence[str]) -> None:
    """On standard error, for each unknown word, words with a similar spelling."""
    from bagpack.console import print_message
    from bagpack.corpus.corpus import Corpus
    from bagpack.corpus.words import nearby

    for word in unknown:
        if isinstance(source, Corpus) and (similar := nearby(source, word, HINTS)):
            print_message(f"similar spellings of {word}: {', '.join(item.word for item in similar)}", "dim")
