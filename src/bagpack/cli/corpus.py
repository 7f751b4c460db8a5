"""`bagpack index`, `plan`, `info`, `verify`."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli.scaling import Address, Backend, workers

if TYPE_CHECKING:
    from bagpack.corpus.plan import Plan
    from bagpack.corpus.suitability import LeftOut

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
    memory: Annotated[str, typer.Option(help="Bound on the memory of all workers together.")] = "2G",
    backend: Backend = None,
    address: Address = None,
    append: Annotated[bool, typer.Option("--append", help="Add the sources to an existing store.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted build.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing store.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn text into an indexed corpus: [bold]bagpack index ukwac.xml.gz --out ukwac.bp[/bold]."""
    size = io.parse_size(memory, "--memory")
    options = _chosen(context)
    from bagpack.corpus.index import index_corpus

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
        _summarise(facts, summary.seconds, summary.new_tokens)
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
            files = len(plan.sources)
            label = f"indexing {files:,} file{'s' if files != 1 else ''}"
            self.task = self.bar.add_task(label, total=plan.weight, note="")

    def update(self, tokens: int, size: int) -> None:
        rate = tokens / max(time.monotonic() - self.begun, 1e-3)
        self.bar.update(self.task, completed=size, note=f"{tokens:,} tokens, {rate / 1e6:.2f} M/s")


def _summarise(facts: dict[str, Any], seconds: float, new: int) -> None:
    from rich.markup import escape

    screen = io.messages()
    screen.print(
        f"[bold]{escape(facts['path'])}[/bold]: {facts['tokens']:,} tokens, {facts['sentences']:,} sentences, "
        f"{facts['documents']:,} documents, {facts['types']:,} types; {io.show_size(facts['bytes'])} on disk",
        soft_wrap=True,
    )
    if new:
        screen.print(f"{new:,} tokens in {io.show_time(seconds)} ({new / max(seconds, 1e-9):,.0f} a second)")


def tell_passed_over(told: dict[str, int], left_out: list[LeftOut], all_in: str = "") -> None:
    """What did not go in, after a summary."""
    from bagpack.corpus.suitability import tell_left_out

    for name, words in (
        ("skipped_lines", "lines that did not fit the format were left out"),
        ("ignored_markup", "lines of unknown markup were passed over"),
        ("undecodable", "places with bytes that are not the encoding were mended or left out"),
    ):
        if told.get(name):
            io.tell(f"{told[name]:,} {words}", "yellow")
    if left_out:
        io.tell(tell_left_out(left_out, all_in), "yellow")


def info(
    artefact: Annotated[Path, typer.Argument(help="A store, snippets, a matrix, a model or a basis.")],
    json: Json = False,
) -> None:
    """Describe an artefact: a store, snippets, a matrix, a model or a basis."""
    from bagpack.info import describe

    facts = describe(artefact)
    if json:
        io.print_json(facts)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value == []:
            continue
        table.add_row(name.replace("_", " "), Text(_cell(value)))
    Console(highlight=False).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        shown = [f"{name} {inner}" for name, inner in list(value.items())[:20]]
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
    annotator: Annotator = "simplemma",
    lang: Lang = "en",
    encoding: Encoding = "utf-8",
    encoding_errors: EncodingErrors = "strict",
    bad_lines: BadLines = "error",
    paragraphs: Paragraphs = "auto",
    columns: Columns = "auto",
    text_field: TextField = "text",
    jobs: Jobs = -1,
    memory: Annotated[str, typer.Option(help="Bound on the memory of all workers together.")] = "2G",
    json: Json = False,
) -> None:
    """Estimate tokens, disk, memory and time from a sample, before anything long starts."""
    from bagpack.corpus.estimate import estimate
    from bagpack.corpus.options import TextOptions

    options = TextOptions(**_chosen(context))
    facts = estimate(sources, options, jobs, io.parse_size(memory, "--memory"))
    if json:
        io.print_json(facts)
        return
    from rich.console import Console

    from bagpack.corpus.suitability import LeftOut, tell_left_out

    screen = Console(highlight=False)
    screen.print(
        f"files    {facts['files']:,} ({io.show_size(facts['input_bytes'])}), {', '.join(facts['formats'])}"
    )
    screen.print(f"tokens   about {facts['tokens']:,}")
    screen.print(f"disk     about {io.show_size(facts['disk_bytes'])}")
    screen.print(f"memory   at most {io.show_size(facts['memory_bytes'])} for {facts['workers']} worker(s)")
    screen.print(f"time     about {io.show_time(facts['seconds'])} to index")
    screen.print(
        f"counting about {io.show_time(facts['seconds_per_1000_pairs'])} per 1,000 pairs at most, "
        f"{io.show_size(facts['matrix_bytes_per_1000_pairs'])} each"
    )
    screen.print(f"[dim]from a sample of {io.show_size(facts['sample_bytes'])}[/dim]")
    if facts["left_out"]:
        io.tell(tell_left_out([LeftOut(**file) for file in facts["left_out"]], "--json"), "yellow")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(no_args_is_help=True)(index)
    app.command(no_args_is_help=True)(plan)
    app.command(no_args_is_help=True)(info)
    app.command(no_args_is_help=True)(verify)
