"""Sentences and counts of words and pairs: concordance lines, distributions over attributes, pairs that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import hang, plain_table, screen
from bagpack.wording import first_words, last_words, say_times

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from bagpack.contexts.by_attribute import Distribution
    from bagpack.contexts.concordance import Concordance, Context
    from bagpack.find.ranking import Found

# Of the seven pieces of a line: around, left, w1, between, w2, right, around.
STYLES = ("dim", "cyan", "bold red", "yellow", "bold red", "cyan", "dim")
BAR = 24  # characters of the longest bar
SCORE_BAR = 5
WIDTH = 110  # characters of a sentence around the two words


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


def show_distribution(found: Distribution) -> None:
    """A row for each value: how often, how often per million tokens, and a bar of that."""
    from rich.text import Text

    most = max((row.per_million for row in found.rows), default=0.0)
    rows = []
    for row in found.rows:
        length = round(BAR * row.per_million / most) if most else 0
        bar = Text("█" * length, style="cyan", justify="left")
        rows.append(
            (row.value or "(none)", f"{row.count:,}", f"{row.tokens:,}", f"{row.per_million:,.2f}", bar)
        )
    screen().print(plain_table((found.attribute, "count", "tokens", "per million", ""), rows))


def show_found(found: Found) -> None:
    """Rank, score, pair; below it the sentence, with the two words in bold."""
    from rich.text import Text

    out = screen()
    if not found.rows:
        out.print("no pair was found", style="yellow")
        return
    width = len(str(found.rows[-1].rank))
    for row, line in zip(found.rows, found.lines or [None] * len(found), strict=True):
        first = Text.assemble(
            f"{row.rank:{width}}  ", (score_bar(row.score, found.rows[0].score), "cyan"), "  "
        )
        together = f"together {say_times(row.together)}" if row.together else "never together"
        about = Text.assemble((f"{row.w1} – {row.w2}", "bold"), (f"  {together}", "dim"))
        if row.known:
            about.append("  known", "yellow")
        hang(out, first, about)
        if line is not None:
            hang(out, Text(" " * first.cell_len), sentence_text(line))


def score_bar(score: float, best: float) -> str:
    """Five characters: how high a score is next to the best one."""
    share = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return ("▪" * round(SCORE_BAR * share)).ljust(SCORE_BAR, "·")


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
