"""The sketch of a word or a pair, and two words compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bagpack.console import hang, screen
from bagpack.numbers import show_probability
from bagpack.wording import say_elsewhere, say_times

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.explain import PairSketch, WordComparison, WordSketch
    from bagpack.explain.words import ComparedCollocate

MIDDLES, REASONS = 6, 5  # shown


def _show_examples(out: Console, examples: list[dict[str, Any]]) -> None:
    from rich.text import Text

    for line in examples:
        text = Text("".join(line["pieces"]).strip()).append(f"  [{line['document']}]", style="dim")
        hang(out, Text("  · "), text)


def _list(out: Console, title: str, items: Sequence[str]) -> None:
    """A title and a list below each other's beginning."""
    from rich.text import Text

    if items:
        hang(out, Text.assemble("  ", (f"{title}: ", "bold")), Text(", ".join(items)))


def _show_elsewhere(out: Console, found: PairSketch | WordSketch) -> None:
    from rich.text import Text

    for item in found.elsewhere:
        hang(out, Text("  "), Text(say_elsewhere(**asdict(item)), style="yellow"))


def show_word(found: WordSketch) -> None:
    """Frequency, forms, collocates by pattern, and example sentences."""
    out = screen()
    if found.unknown:
        out.print(f"the corpus does not contain {found.word}")
        return
    out.print(f"{found.known_as}: {say_times(found.count)}, {found.per_million:,.1f} per million tokens")
    _list(out, "forms", [f"{form.form} {form.count:,}" for form in found.forms])
    _list(out, "parts of speech", [f"{tag} {count:,}" for tag, count in found.parts_of_speech.items()])
    _show_elsewhere(out, found)
    if found.sampled < found.count:
        out.print(
            f"  collocates from {found.sampled:,} occurrences, taken evenly over the corpus", style="dim"
        )
    out.print(
        "collocates with count and logDice" if found.patterns else "no significant collocates", style="dim"
    )
    for pattern in found.patterns:
        items = [f"{item.term} {item.count:,} ({item.logdice:.1f})" for item in pattern.words]
        _list(out, pattern.pattern, items)
    _show_examples(out, found.examples)


def show_comparison(found: WordComparison) -> None:
    """Collocates of the first word, of both, and of the second."""
    out = screen()
    for word in found.unknown:
        out.print(f"the corpus does not contain {word}")
    times = [say_times(count) for count in found.counts]
    out.print(f"{found.w1} {times[0]}, {found.w2} {times[1]}")
    if found.patterns:
        out.print(f"collocates with their counts, {found.w1} / {found.w2}", style="dim")
    for pattern in found.patterns:
        out.print(pattern.pattern, style="bold")
        for title, items in (
            (f"more {found.w1}", pattern.first), ("both", pattern.both), (f"more {found.w2}", pattern.second),
        ):  # fmt: skip
            _list(out, title, [_compared(item) for item in items])


def _compared(item: ComparedCollocate) -> str:
    return f"{item.term} {item.counts[0]:,}/{item.counts[1]:,}"


def show_pair(found: PairSketch) -> None:
    """Counts by order and distance, keywords around the two, and example sentences."""
    from rich.text import Text

    out = screen()
    for word in found.unknown:
        out.print(f"the corpus does not contain {word}")
    times = [say_times(count) for count in (found.n_w1, found.n_w2, found.together)]
    out.print(f"{found.w1} {times[0]}, {found.w2} {times[1]}, together {times[2]}")
    _show_elsewhere(out, found)
    if found.expected <= min(found.n_w1, found.n_w2):  # in a few sentences chance is no measure
        out.print(f"  expected by chance: {found.expected:,.1f} times")
    for sign, first, second, count, distances in (
        ("+", found.w1, found.w2, found.n_plus, found.distances_plus),
        ("-", found.w2, found.w1, found.n_minus, found.distances_minus),
    ):
        numbers = " ".join(f"{n:,}" for n in distances)
        out.print(f"{first} … {second}: {say_times(count)}; with 0, 1, 2 … words between: {numbers}")
        for place, title in (("pre", "before"), ("betw", "between"), ("post", "after")):
            _list(out, title, [f"{item.term} {item.count:,}" for item in found.terms[f"{sign}{place}"]])
    for middle in found.middles[:MIDDLES]:
        first, second = (found.w1, found.w2) if middle.order == "+" else (found.w2, found.w1)
        out.print(f"  {middle.count:,} × {first} {middle.text} {second}")
    for decision in (found.explanation or {}).get("decisions", ()):
        reasons = "; ".join(reason["words"] for reason in decision["reasons"][:REASONS])
        likely = show_probability(decision["probability"]) or f"{decision['value']:+.3f}"
        hang(out, Text("  "), Text(f"{decision['label']} {likely}: {reasons}"))
    _show_examples(out, found.examples)
