"""Pairs that were found, with their sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import hang, screen
from bagpack.numbers import show_probability
from bagpack.wording import first_words, last_words, say_times

if TYPE_CHECKING:
    from rich.text import Text

    from bagpack.contexts.concordance import Context
    from bagpack.find.ranking import Found

WIDTH = 110  # characters of a sentence around the two words


def show_found(found: Found) -> None:
    """Rank, probability, pair; below it the sentence, with the two words in bold."""
    from rich.text import Text

    out = screen()
    if not found.rows:
        out.print("no pair was found", style="yellow")
        return
    width = len(str(found.rows[-1].rank))
    for row, line in zip(found.rows, found.lines or [None] * len(found), strict=True):
        sure = show_probability(row.probability) or f"{row.score:+.2f}"
        first = Text(f"{row.rank:{width}}  {sure:>6}  ")
        together = f"together {say_times(row.together)}" if row.together else "never together"
        about = Text.assemble((f"{row.w1} – {row.w2}", "bold"), (f"  {together}", "dim"))
        if row.known:
            about.append("  known", "yellow")
        hang(out, first, about)
        if line is not None:
            hang(out, Text(" " * first.cell_len), sentence_text(line))


def sentence_text(line: Context) -> Text:
    """A sentence with its two words in bold, cut at both ends where it is long."""
    from rich.text import Text

    before, left, key, between, key2, right, after = line.pieces
    spare = max(WIDTH - len(left + key + between + key2 + right), 0) // 2
    text = Text.assemble(
        (last_words(before, spare), "dim"), left, (key, "bold"), between, (key2, "bold"), right,
        (first_words(after, spare), "dim"),
    )  # fmt: skip
    text.plain = text.plain.replace("\n", " ")
    return text if not text.plain[:1].isspace() else text[len(text.plain) - len(text.plain.lstrip()) :]
