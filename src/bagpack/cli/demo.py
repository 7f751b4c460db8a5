"""`bagpack demo`."""

from __future__ import annotations

import typer


def demo() -> None:
    """Go the whole way on a real small corpus."""


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(demo)
