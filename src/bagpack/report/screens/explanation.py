"""The explanation of a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bagpack.console import hang, hang_parts, screen
from bagpack.wording import describe_block, say_counts, say_feature

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.explain import Explanation
    from bagpack.explain.explanation import Decision, FeaturePart


def show_explanation(found: Explanation) -> None:
    """The answer, then each label's sum; labels without features get one line each."""
    out = screen()
    out.print(f"{found.w1} – {found.w2}: {found.answer}", style="bold")
    out.print(say_counts(found.w1, found.w2, found.counts), style="dim")
    for word in found.unknown:
        out.print(f"the corpus does not contain {word}: its contexts add nothing", style="yellow")
    for note in found.notes:
        out.print(note, style="dim")
    listed = [decision for decision in found.decisions if decision.features]
    if not listed:  # with --top 0 only sums are wanted; a pair without any counts has none
        listed = [d for d in found.decisions if any(d.blocks.values())] or [*found.decisions[:1]]
    for decision in listed:
        _show_decision(out, decision, found.w1, found.w2)
    others = [decision for decision in found.decisions if decision not in listed]
    if others:
        _show_others(out, others)


def _show_decision(out: Console, decision: Decision, w1: str, w2: str) -> None:
    from rich.text import Text

    out.print()
    parts = [f"{decision.bias:+.3f} bias"]
    parts += [f"{value:+.3f} {describe_block(block, w1, w2)}" for block, value in decision.blocks.items()]
    hang_parts(out, Text.assemble((decision.label, "bold"), " ", _signed(decision.value), " = "), parts)
    for feature in decision.features:
        _show_feature(out, feature, w1, w2)
    rest = "all other features together" if decision.features else "all features together"
    out.print(f"  {decision.rest:+.3f}  {rest}", style="dim")


def _show_others(out: Console, decisions: Sequence[Decision]) -> None:
    from rich.text import Text

    many = "the other label" if len(decisions) == 1 else "the other labels"
    out.print(f"\n{many} (in full with --label LABEL, or --label all)", style="dim")
    for decision in decisions:
        out.print(Text.assemble("  ", _signed(decision.value), f"  {decision.label}"))


def _signed(value: float) -> tuple[str, str]:
    """A number and its colour."""
    return f"{value:+.3f}", "green" if value >= 0 else "red"


def _show_feature(out: Console, feature: FeaturePart, w1: str, w2: str) -> None:
    """What a feature adds, in words, and the lines that were counted."""
    from rich.text import Text

    said = say_feature(feature.name, w1, w2)
    where = f"{said.place}; " if said.place else ""
    value = Text.assemble("  ", _signed(feature.value), "  ")
    words = Text.assemble((said.pattern, "bold"), (f"  ({where}{feature.note(w1, w2)})", "dim"))
    hang(out, value, words)
    lines = feature.lines
    if lines is None:
        return
    for line in lines.lines:
        text = Text()
        for place, piece in enumerate(line.pieces):
            text.append(piece if text else piece.lstrip(), style="bold" if place in (2, 4) else "")
        text.append(f"  [{line.document}]", style="dim")
        hang(out, Text(" " * 10), text)
