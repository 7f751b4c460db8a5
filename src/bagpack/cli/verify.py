"""`bagpack verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.options import Json


def verify(
    store: Annotated[
        Path, typer.Argument(help="A store, snippets, a matrix, a model, a basis or a search index.")
    ],
    json: Json = False,
) -> None:
    """Check every file of an artefact against its checksum.

    The exit code is 1 if a file is damaged.
    """
    from bagpack.info import damages

    problems = damages(store)
    if json:
        console.print_json({"path": str(store), "whole": not problems, "problems": problems})
    elif not problems:
        console.print_message(f"{store} is intact")
    else:
        for problem in problems:
            console.print_message(f"bagpack: {problem}")
        console.print_message("restore the damaged files from a copy, or make it again")
    if problems:
        raise typer.Exit(1)
