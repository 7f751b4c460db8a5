"""`bagpack info`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.options import Json


def info(
    artefact: Annotated[Path, typer.Argument(help="A store, snippets, a matrix, a model or a basis.")],
    json: Json = False,
) -> None:
    """Describe a store, snippets, a matrix, a model or a basis."""
    from bagpack.info import describe

    facts = describe(artefact)
    if json:
        console.print_json(facts)
    else:
        from bagpack.report.screens.artefact import show_artefact

        show_artefact(facts)
