"""Counts by an attribute of documents, and what differs between two subcorpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack import console
from bagpack.console import screen

if TYPE_CHECKING:
    from bagpack.contexts.by_attribute import Distribution
    from bagpack.explain.comparison import Comparison

BAR = 24  # characters of the longest bar


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
    screen().print(console.plain_table((found.attribute, "count", "tokens", "per million", ""), rows))


def show_comparison(found: Comparison, where: str, versus: str, top: int, level: float) -> None:
    """The differences that are significant, the clearest first."""
    clear = [one for one in found.differences if one.q < level]
    out = screen()
    unit = "tokens" if found.what == "pairs" else "contexts"
    out.print(f"A: {where} ({found.size_a:,} {unit})")
    out.print(f"B: {versus} ({found.size_b:,} {unit})")
    if clear:
        what = "pair" if found.what == "pairs" else "context"
        rows = [
            (
                one.name, f"{one.count_a:,}", f"{one.count_b:,}", f"{one.rate_a:,.1f}", f"{one.rate_b:,.1f}",
                f"{one.g2:+,.1f}", f"{one.q:.2g}",
            )
            for one in clear[:top]
        ]  # fmt: skip
        out.print(console.plain_table((what, "count A", "count B", "rate A", "rate B", "G²", "q"), rows))
    if found.unknown:
        console.print_message(f"neither side contains {console.some_of(found.unknown, 5)}")
    console.print_message(
        f"{console.many(len(clear), 'difference')} of {found.tested:,} tested, with q < {level:g} (G², corrected by "
        f"Benjamini-Hochberg); rates per {found.unit}; + more frequent in A, - in B",
        "dim",
    )
