"""`bagpack index`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.option_groups import IndexOptions, OutputOptions, ParallelOptions
from bagpack.cli.options import Append, Overwrite, Sources
from bagpack.cli.progress import progress_bar
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.corpus.build.plan import Plan
    from bagpack.corpus.store.manifest import LeftOut

SHOWN_FILES = 10
RATED = 1_000_000  # tokens; with fewer, most of the time is spent on starting
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def index(
    context: typer.Context,
    sources: Sources,
    out: Annotated[Path, common("--out", "-o", metavar="STORE", help="The store to make.")],
    text: IndexOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    append: Append = False,
    resume: Annotated[bool, common("--resume", help="Continue an interrupted build.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Turn text into an indexed corpus (a store)."""
    size = memory_bytes(text.memory)
    options = chosen(context)
    from bagpack.corpus.build.index import index_corpus

    try:
        with parallel.workers(), progress_bar(output.silent) as bar:
            show = _Progress(bar)
            summary = index_corpus(
                sources, out, options, jobs=parallel.jobs, memory=size, append=append, resume=resume,
                overwrite=overwrite, progress=show.update if bar else None, planned=show.start,
                notice=None if output.quiet else show.notice,
            )  # fmt: skip
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(out, append)) from None
    facts = summary.corpus.info()
    if output.json:
        console.print_json({**facts, "seconds": round(summary.seconds, 3), "new_tokens": summary.new_tokens})
    elif not output.quiet:
        _summarise(facts, summary.seconds, summary.read_tokens)
        print_skipped(summary.problems, summary.left_out, f"bagpack info {out} --json")
        _print_files("files with repaired bytes, and the number of places", summary.repaired)
        _print_files("files by detected language", summary.languages)
        lang = summary.corpus.options.lang
        _print_files(
            f"files that do not look like --lang {lang}, and what they look like", summary.other_languages
        )
        _print_files(
            "files whose tags are of no known tagset, so that all parts of speech are X (name it with --tagset)",
            summary.unknown_tagsets,
        )
        if "auto" in summary.corpus.options.encoding:
            _print_files("files that are not UTF-8, and what they were read as", summary.encodings)


def _kept(out: Path, append: bool) -> str:
    """What an interrupted build leaves behind, in words."""
    from bagpack.corpus.build.workdir import APPENDING
    from bagpack.files import PARTIAL

    if (out / APPENDING if append else out.with_name(out.name + PARTIAL)).exists():
        return "finished work is kept: run the same command with --resume to continue"
    return "" if out.exists() else "nothing was finished, so nothing is kept"


def _print_files(what: str, files: Mapping[str, object]) -> None:
    """Name the first of some files with something about each."""
    if files:
        shown = [f"{name} ({about})" for name, about in list(files.items())[:SHOWN_FILES]]
        more = f" and {len(files) - SHOWN_FILES:,} more" if len(files) > SHOWN_FILES else ""
        console.print_message(f"{what}: {', '.join(shown)}{more}", "yellow")


def chosen(context: typer.Context) -> dict[str, Any]:
    """The text options that the user gave: with --append, the store's own replace the defaults."""
    from bagpack.corpus.options import TextOptions

    names = {field.name for field in fields(TextOptions)}
    given = {
        name: value
        for name, value in context.params.items()
        if name in names and str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    }
    TextOptions(**given)  # a wrong value is reported before anything else is looked at
    return given


def memory_bytes(text: str) -> int:
    """`--memory` in bytes; at least what a single worker takes."""
    from bagpack.corpus.build.parts import WORKER_BASE

    size = parse_size(text, "--memory")
    if size < WORKER_BASE:
        raise UsageError(f"--memory {text} is less than one worker takes; give {WORKER_BASE >> 20}M or more")
    return size


def parse_size(text: str, option: str) -> int:
    """Bytes from `2G`, `512M`, `1048576`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    if not found:
        raise UsageError(f"{option} {text} is not a size; write it like 512M or 2G")
    return int(float(found.group(1)) * UNITS[found.group(2)])


class _Progress:
    """Tokens per second, from what the workers report."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.task: Any = None
        self.begun = time.monotonic()

    def notice(self, text: str) -> None:
        """A line that stays, above the bar."""
        console.print_message(text, "dim", self.bar.console if self.bar else None)

    def start(self, plan: Plan) -> None:
        if self.bar:
            label = f"indexing {console.many(len(plan.sources), 'file')}"
            self.task = self.bar.add_task(label, total=plan.weight, note="")

    def update(self, tokens: int, size: int) -> None:
        rate = tokens / max(time.monotonic() - self.begun, 1e-3)
        note = f"{tokens / 1e6:,.1f} M tokens, {rate / 1e6:.1f} M/s" if tokens else ""
        self.bar.update(self.task, completed=size, note=note)


def _summarise(facts: dict[str, Any], seconds: float, read: int) -> None:
    names = ("token", "sentence", "document", "type")
    counts = ", ".join(console.many(facts[f"{name}s"], name) for name in names)
    console.print_about(facts["path"], f"{counts}; {console.show_size(facts['bytes'])} on disk")
    if read:
        rate = f" ({read / seconds:,.0f} per second)" if read >= RATED else ""
        console.print_message(f"{console.many(read, 'token')} in {console.show_time(seconds)}{rate}")


SKIPPED = {
    "skipped_lines": (
        "line that did not fit the format was skipped",
        "lines that did not fit the format were skipped",
    ),
    "ignored_markup": ("line of unknown markup was ignored", "lines of unknown markup were ignored"),
    "undecodable": (
        "place with invalid bytes was repaired or skipped",
        "places with invalid bytes were repaired or skipped",
    ),
}


def print_skipped(counts: dict[str, int], left_out: list[LeftOut], all_in: str = "") -> None:
    """What did not go in, after a summary."""
    from bagpack.corpus.readers.sniff import say_left_out

    for name, words in SKIPPED.items():
        if counts.get(name):
            console.print_message(console.many(counts[name], *words), "yellow")
    if left_out:
        console.print_message(say_left_out(left_out, all_in), "yellow")
