"""`bagpack index`, `plan`, `info`, `verify`."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.scaling import Address, Backend, workers

if TYPE_CHECKING:
    from bagpack.corpus.build.plan import Plan
    from bagpack.corpus.readers.sniff import LeftOut
    from bagpack.report.model import Condition

Sources = Annotated[list[str], typer.Argument(help="Files, directories, globs, or - for standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Worker processes; -1: one per core.")]

Format = Annotated[
    str, typer.Option("--format", help="auto, text, vertical, conllu, jsonl, parquet, mediawiki.")
]
Level = Annotated[str, typer.Option(help="Count lemmas or forms: lemma, form.")]
Case = Annotated[str, typer.Option(help="Case of what is counted: fold, keep.")]
Punctuation = Annotated[str, typer.Option(help="Punctuation marks are tokens: keep, drop.")]
Annotator = Annotated[str, typer.Option(help="Lemmas for raw text: simplemma, none, spacy:MODEL.")]
Lang = Annotated[str, typer.Option(help="Language of raw text, as a code such as en.")]
Encoding = Annotated[str, typer.Option(help="Encoding of the files: utf-8, latin-1, …")]
EncodingErrors = Annotated[
    str, typer.Option("--encoding-errors", help="Bytes that are not the encoding: strict, replace, skip.")
]
BadLines = Annotated[str, typer.Option("--bad-lines", help="Lines that do not fit the format: error, skip.")]
Paragraphs = Annotated[
    str, typer.Option(help="A paragraph of plain text: auto, line, blank (blank-line divided).")
]
Columns = Annotated[str, typer.Option(help="Columns of vertical text, such as word,tag,lemma; auto looks.")]
TextField = Annotated[
    str, typer.Option("--text-field", help="Field or column with the text (jsonl, parquet).")
]
IdField = Annotated[str, typer.Option("--id-field", help="Field or column with the document's id.")]
Memory = Annotated[str, typer.Option(help="Bound on the memory of all workers together.")]
MaxSentence = Annotated[int, typer.Option("--max-sentence", help="Longest sentence, in tokens.")]


def index(
    context: typer.Context,
    sources: Sources,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The store to make (or, with --append, to add to).")
    ],
    format: Format = "auto",
    level: Level = "lemma",
    case: Case = "fold",
    punctuation: Punctuation = "keep",
    annotator: Annotator = "simplemma",
    lang: Lang = "en",
    encoding: Encoding = "utf-8",
    encoding_errors: EncodingErrors = "strict",
    bad_lines: BadLines = "error",
    paragraphs: Paragraphs = "auto",
    columns: Columns = "auto",
    text_field: TextField = "text",
    id_field: IdField = "id",
    max_sentence: MaxSentence = 100_000,
    jobs: Jobs = -1,
    memory: Memory = "2G",
    backend: Backend = None,
    address: Address = None,
    append: Annotated[bool, typer.Option("--append", help="Add the sources to an existing store.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted build.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing store.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn text into an indexed corpus: [bold]bagpack index ukwac.xml.gz --out ukwac.bp[/bold]."""
    size = _memory(memory)
    options = _chosen(context)
    from bagpack.corpus.build.index import index_corpus

    with workers(backend, address, jobs), io.progress_bar(quiet or json) as bar:
        show = _Progress(bar)
        summary = index_corpus(
            sources, out, options, jobs=jobs, memory=size, append=append, resume=resume, overwrite=overwrite,
            progress=show.update if bar else None, planned=show.start, notice=None if quiet else show.notice,
        )  # fmt: skip
    facts = summary.corpus.info()
    if json:
        io.print_json({**facts, "seconds": round(summary.seconds, 3), "new_tokens": summary.new_tokens})
    elif not quiet:
        _summarise(facts, summary.seconds, summary.read_tokens)
        tell_passed_over(summary.told, summary.left_out, f"bagpack info {out} --json")


def _chosen(context: typer.Context) -> dict[str, Any]:
    """The text options that the user gave: with --append, the store's own take the place of the defaults."""
    from bagpack.corpus.options import TextOptions

    names = {field.name for field in fields(TextOptions)}
    given = {
        name: value
        for name, value in context.params.items()
        if name in names and str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    }
    TextOptions(**given)  # a wrong value is told before anything else is looked at
    return given


def _memory(text: str) -> int:
    """`--memory` in bytes; less than a single worker takes is no bound that could be kept."""
    from bagpack.corpus.build.index import WORKER_BASE
    from bagpack.errors import UsageError

    size = io.parse_size(text, "--memory")
    if size < WORKER_BASE:
        raise UsageError(f"--memory {text} is less than one worker takes; give {WORKER_BASE >> 20}M or more")
    return size


class _Progress:
    """Tokens a second and time left, from what the workers report."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.task: Any = None
        self.begun = time.monotonic()

    def notice(self, text: str) -> None:
        """A line that stays, above the bar."""
        io.tell(text, "dim", self.bar.console if self.bar else None)

    def start(self, plan: Plan) -> None:
        if self.bar:
            label = f"indexing {io.many(len(plan.sources), 'file')}"
            self.task = self.bar.add_task(label, total=plan.weight, note="")

    def update(self, tokens: int, size: int) -> None:
        rate = tokens / max(time.monotonic() - self.begun, 1e-3)
        self.bar.update(self.task, completed=size, note=f"{tokens:,} tokens, {rate / 1e6:.2f} M/s")


def _summarise(facts: dict[str, Any], seconds: float, read: int) -> None:
    counts = ", ".join(io.many(facts[f"{name}s"], name) for name in ("token", "sentence", "document", "type"))
    io.tell_of(facts["path"], f"{counts}; {io.show_size(facts['bytes'])} on disk")
    if read:
        rate = f"{read / max(seconds, 1e-9):,.0f} a second"
        io.tell(f"{io.many(read, 'token')} in {io.show_time(seconds)} ({rate})")


def tell_passed_over(told: dict[str, int], left_out: list[LeftOut], all_in: str = "") -> None:
    """What did not go in, after a summary."""
    from bagpack.corpus.readers.sniff import tell_left_out

    for name, words in (
        (
            "skipped_lines",
            (
                "line that did not fit the format was left out",
                "lines that did not fit the format were left out",
            ),
        ),
        (
            "ignored_markup",
            ("line of unknown markup was passed over", "lines of unknown markup were passed over"),
        ),
        (
            "undecodable",
            (
                "place with bytes that are not the encoding was mended or left out",
                "places with bytes that are not the encoding were mended or left out",
            ),
        ),
    ):
        if told.get(name):
            io.tell(io.many(told[name], *words), "yellow")
    if left_out:
        io.tell(tell_left_out(left_out, all_in), "yellow")


def info(
    artefact: Annotated[Path, typer.Argument(help="A store, snippets, a matrix, a model or a basis.")],
    json: Json = False,
) -> None:
    """Describe a store, snippets, a matrix, a model or a basis."""
    from bagpack.info import describe

    facts = describe(artefact)
    if json:
        io.print_json(facts)
        return
    from rich.table import Table
    from rich.text import Text

    from bagpack.report.terminal import ScoreTables

    scores = facts.pop("scores", None)
    facts.pop("basis_counts", None)  # for machines: --json has them
    if "labels" in facts:
        facts["labels"] = ", ".join(facts["labels"])
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in ([], {}, ""):
            table.add_row(name.replace("_", " "), Text(_cell(value)))
    screen = io.screen()
    screen.print(table)
    if scores:
        conditions: list[Condition] = [{"name": name, "metrics": scores[name]} for name in scores]
        screen.print(ScoreTables({"kind": "relations", "conditions": conditions}))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        shown = [
            f"{name} ({_cell(inner)})" if isinstance(inner, dict) else f"{name} {_cell(inner)}"
            for name, inner in list(value.items())[:20]
        ]
        return ", ".join([*shown, *([f"and {len(value) - 20:,} more"] if len(value) > 20 else [])])
    if isinstance(value, list):
        shown = [_cell(inner) for inner in value[:5]]
        return "\n".join([*shown, *([f"… and {len(value) - 5:,} more"] if len(value) > 5 else [])])
    return str(value)


def verify(store: Annotated[Path, typer.Argument(help="A store or a matrix.")], json: Json = False) -> None:
    """Check every file of a store or a matrix against its checksum; exit 1 if anything is damaged."""
    from bagpack.info import damages

    problems = damages(store)
    if json:
        io.print_json({"path": str(store), "whole": not problems, "problems": problems})
    elif not problems:
        io.tell(f"{store} is whole")
    else:
        for problem in problems:
            io.tell(f"bagpack: {problem}")
        io.tell("restore the damaged files from a copy, or make it again")
    if problems:
        raise typer.Exit(1)


def plan(
    context: typer.Context,
    sources: Sources,
    format: Format = "auto",
    level: Level = "lemma",
    case: Case = "fold",
    punctuation: Punctuation = "keep",
    annotator: Annotator = "simplemma",
    lang: Lang = "en",
    encoding: Encoding = "utf-8",
    encoding_errors: EncodingErrors = "strict",
    bad_lines: BadLines = "error",
    paragraphs: Paragraphs = "auto",
    columns: Columns = "auto",
    text_field: TextField = "text",
    id_field: IdField = "id",
    max_sentence: MaxSentence = 100_000,
    jobs: Jobs = -1,
    memory: Memory = "2G",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the store would be: the room there is told.")
    ] = None,
    backend: Annotated[str | None, typer.Option("--backend", hidden=True)] = None,
    address: Annotated[str | None, typer.Option("--address", hidden=True)] = None,
    append: Annotated[bool, typer.Option("--append", hidden=True)] = False,
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", hidden=True)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", hidden=True)] = False,
    json: Json = False,
) -> None:
    """Estimate tokens, disk, memory and time from a sample, before anything long starts.

    It takes the options of bagpack index, so that one word of a command is exchanged.
    """
    from bagpack.corpus.build.estimate import estimate
    from bagpack.corpus.options import TextOptions

    options = TextOptions(**_chosen(context))
    facts = estimate(sources, options, jobs, _memory(memory))
    if json:
        io.print_json(facts)
        return
    from bagpack.corpus.readers.sniff import LeftOut, tell_left_out

    screen = io.screen()
    screen.print(
        f"files    {facts['files']:,} ({io.show_size(facts['input_bytes'])}), {', '.join(facts['formats'])}"
    )
    screen.print(f"tokens   about {facts['tokens']:,}")
    room = "" if out is None else f"; {io.show_size(_free(out))} are free there"
    screen.print(f"disk     about {io.show_size(facts['disk_bytes'])}{room}")
    many = io.many(facts["workers"], "worker")
    screen.print(f"memory   at most {io.show_size(facts['memory_bytes'])} for {many}")
    screen.print(f"time     about {io.show_time(facts['seconds'])} to index")
    screen.print(
        f"counting about {io.show_time(facts['seconds_per_1000_pairs'])} per 1,000 pairs at most, "
        f"{io.show_size(facts['matrix_bytes_per_1000_pairs'])} each"
    )
    screen.print(f"from a sample of {io.show_size(facts['sample_bytes'])}", style="dim")
    if facts["left_out"]:
        io.tell(tell_left_out([LeftOut(**file) for file in facts["left_out"]], "--json"), "yellow")


def _free(out: Path) -> int:
    """Bytes that are free where a store would be made."""
    import shutil

    place = out.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.CORPUS, index, plan, info, verify)
