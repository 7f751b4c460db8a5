"""`bagpack plan`."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.index import chosen, memory_bytes
from bagpack.cli.option_groups import IndexOptions
from bagpack.cli.options import Jobs, Json, Sources


@dataclass(frozen=True)
class Ignored:
    """Options of bagpack index that change nothing about the estimate, accepted so that one word is exchanged."""

    backend: Annotated[str | None, typer.Option("--backend", hidden=True)] = None
    address: Annotated[str | None, typer.Option("--address", hidden=True)] = None
    append: Annotated[bool, typer.Option("--append", hidden=True)] = False
    resume: Annotated[bool, typer.Option("--resume", hidden=True)] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", hidden=True)] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", hidden=True)] = False


def plan(
    context: typer.Context,
    sources: Sources,
    text: IndexOptions,
    ignored: Ignored,
    jobs: Jobs = -1,
    out: Annotated[
        Path | None,
        common("--out", "-o", metavar="STORE", help="Where the store would be: shows the free space."),
    ] = None,
    json: Json = False,
) -> None:
    """Estimate tokens, disk, memory and time of an index from a sample.

    It takes the options of bagpack index.
    """
    from bagpack.corpus.build.estimate import estimate
    from bagpack.corpus.options import TextOptions
    from bagpack.report.screens.plan import show_plan

    facts = estimate(sources, TextOptions(**chosen(context)), jobs, memory_bytes(text.memory))
    if json:
        console.print_json(facts)
        return
    show_plan(facts, None if out is None else _free(out))
    if facts["left_out"]:
        from bagpack.corpus.readers.sniff import say_left_out
        from bagpack.corpus.store.manifest import LeftOut

        console.print_message(
            say_left_out([LeftOut(**file) for file in facts["left_out"]], "--json"), "yellow"
        )


def _free(out: Path) -> int:
    """Bytes that are free where a store would be made."""
    place = out.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free
