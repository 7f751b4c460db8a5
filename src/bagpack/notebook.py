"""Tables for notebooks: results show themselves as HTML, everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from bagpack.sheets import Cell, cell_text

MOST = 200  # rows


def html_table(caption: str, header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """A table, its first 200 rows; the caption says how many there are if these are not all.

    >>> html_table("pairs", ["w1"], [["<cat>"]])
    '<table><caption>pairs</caption><thead><tr><th>w1</th></tr></thead><tbody><tr><td>&lt;cat&gt;</td></tr></tbody></table>'
    """
    listed = list(rows)
    if len(listed) > MOST:
        caption += f" (the first {MOST} of {len(listed):,} rows)"
    head = "".join(f"<th>{escape(cell_text(name))}</th>" for name in header)
    body = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in listed[:MOST])
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_lines(caption: str, lines: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Concordance lines, each a document and seven pieces of which the third and the fifth are the words."""
    items = []
    for document, pieces in list(lines)[:MOST]:
        text = ""
        for number, piece in enumerate(pieces):
            word = escape(piece.strip())
            space = " " if piece[:1] == " " else ""
            text += f"{space}<mark>{word}</mark>" if number in (2, 4) and word else escape(piece)
        items.append(f"<li>{text.strip()} <small>{escape(document)}</small></li>")
    return f"<p>{escape(caption)}</p><ul>{''.join(items)}</ul>"


def _cell(value: Cell) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    align = ' style="text-align: right"' if number else ""
    return f"<td{align}>{escape(cell_text(value))}</td>"
