"""Pairs in a similar relation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import screen
from bagpack.numbers import many
from bagpack.wording import say_times

if TYPE_CHECKING:
    from bagpack.explain.similar import Similar

KINDS = {"all": "all together", "v12": "by the two together (v12)", "v1": "by the first word (v1)",
         "v2": "by the second word (v2)"}  # fmt: skip


def show_similar(found: Similar, by: str) -> None:
    """Each ranking, every pair with its reasons."""
    from rich.padding import Padding
    from rich.text import Text

    out = screen()
    out.print(
        Text.assemble(
            (f"{found.w1} – {found.w2}", "bold"),
            f", seen together {say_times(found.together)}, compared with {many(found.candidates, 'pair')}",
        )
    )
    for word in found.unknown:
        out.print(f"the corpus does not contain {word}", style="yellow")
    for note in found.notes:
        out.print(note, style="dim")
    for kind, title in KINDS.items():
        if by not in ("every", kind):
            continue
        out.print(f"\n{title}", style="bold")
        if not found.ranked[kind]:
            out.print("  nothing is shared with any pair", style="dim")
        for item in found.ranked[kind]:
            parts = " ".join(f"{name} {value:.3f}" for name, value in item.blocks.items())
            out.print(
                Text.assemble(
                    f"  {item.similarity:.3f}  ", (f"{item.w1} – {item.w2}", "bold"), (f"  {parts}", "dim")
                )
            )
            why = "; ".join(f"{reason.words} {100 * reason.share:.2g} %" for reason in item.reasons)
            out.print(Padding(Text(why, style="dim"), (0, 0, 0, 9)))
