"""`bagpack engine build`."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli import command
from bagpack.cli.index import print_skipped
from bagpack.cli.option_groups import OutputOptions, ReadingOptions
from bagpack.cli.options import Jobs, Overwrite
from bagpack.cli.progress import progress_bar


def build(
    index: Annotated[str, typer.Argument(help="A directory (tantivy), or an engine's URL.")],
    sources: Annotated[list[str], typer.Argument(help="Files, directories, globs, - or a store.")],
    reading: ReadingOptions,
    output: OutputOptions,
    overwrite: Overwrite = False,
    jobs: Jobs = -1,
) -> None:
    """Fill a search index with the sentences of a corpus."""
    from bagpack.corpus.options import TextOptions
    from bagpack.engines.base import parse_address
    from bagpack.engines.build import build_engine

    options = TextOptions(**asdict(reading))
    begun = time.monotonic()
    with progress_bar(output.silent) as bar:
        task = bar.add_task("reading", total=None, note="") if bar else None

        def show(done: int, total: int) -> None:
            if bar and task is not None:
                note = console.many(done, "sentence")
                bar.update(task, description="filling the index", completed=done, total=total, note=note)

        summary = build_engine(index, sources, options, overwrite=overwrite, jobs=jobs, progress=show)
    seconds = time.monotonic() - begun
    shown = parse_address(index).shown
    if output.json:
        facts = {
            "engine": shown,
            "sentences": summary.sentences,
            "tokens": summary.tokens,
            **summary.problems,
        }
        facts["left_out"] = [file._asdict() for file in summary.left_out]
        console.print_json({**facts, "seconds": round(seconds, 3)})
    elif not output.quiet:
        counts = f"{console.many(summary.sentences, 'sentence')}, {console.many(summary.tokens, 'token')}"
        console.print_about(shown, f"{counts} in {console.show_time(seconds)}")
        print_skipped(summary.problems, summary.left_out)


engine = typer.Typer(
    name="engine",
    cls=command.Group,
    help="Build a search index from a corpus.",
    no_args_is_help=True,
    add_completion=False,
)
command.add(engine, "Commands", build)


@engine.callback()
def _engine() -> None:
    """Keep `build` a command of its own name, although it is the only one."""
