"""Concordance lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import screen

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.contexts.concordance import Concordance

# Of the seven pieces of a line: around, left, w1, between, w2, right, around.
STYLES = ("dim", "cyan", "bold red", "yellow", "bold red", "cyan", "dim")


def show_lines(found: Concordance, out: Console | None = None) -> None:
    """Each sentence with its segments in colours; wrapped on a terminal, elsewhere one line each."""
    from rich.text import Text

    out = out or screen()
    for line in found:
        text = Text()
        for piece, style in zip(line.pieces, STYLES, strict=True):
            stripped = piece.lstrip()
            text.append(piece[: len(piece) - len(stripped)] if text else "")
            text.append(stripped, style=style)
        text = Text(f"{line.order} " if line.order else "", style="bold") + text
        text.append(f"  [{line.document}]", style="dim italic")
        out.print(text, soft_wrap=not out.is_terminal)
