"""Pairs that were found, as an HTML page: no script is run, nothing is loaded, all text is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bagpack._version import __version__
from bagpack.report.rendering import environment, stylesheet

if TYPE_CHECKING:
    from bagpack.find.ranking import Found


def render_found(found: Found, store: str | Path) -> str:
    """The text of a page with all rows and their sentences."""
    template = environment().get_template("found.html.j2")
    rows = list(zip(found.rows, found.lines or [None] * len(found), strict=True))
    return template.render(found=found, rows=rows, store=str(store), css=stylesheet(), version=__version__)
