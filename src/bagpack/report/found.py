"""Pairs that were found, as an HTML page: no script is run, nothing is loaded, all text is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack import wording
from bagpack._version import __version__
from bagpack.report.rendering import environment, show_probability, stylesheet

if TYPE_CHECKING:
    from bagpack.find.ranking import Found


def render_found(found: Found, store: str | Path) -> str:
    """The text of a page with all rows and their sentences."""
    template = environment().get_template("found.html.j2")
    rows: list[dict[str, Any]] = [
        {
            "rank": row.rank,
            "w1": row.w1,
            "w2": row.w2,
            "sure": show_probability(row.probability) or f"{row.score:+.2f}",
            "known": row.known,
            "together": wording.say_times(row.together),
            "pieces": None if line is None else line.pieces,
            "document": row.document,
        }
        for row, line in zip(found.rows, found.lines or [None] * len(found), strict=True)
    ]
    return template.render(
        title=found.title, store=str(store), rows=rows, notes=found.notes,
        candidates=found.candidates, scored=found.scored, css=stylesheet(), version=__version__,
    )  # fmt: skip
