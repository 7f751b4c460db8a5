"""The sketch of a word or a pair."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from bagpack.console import hang, screen
from bagpack.wording import say_elsewhere, say_times, show_probability

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.explain import PairSketch, WordSketch
    from bagpack.explain.telling import TellingTerm

MIDDLES, REASONS = 6, 5  # shown


def show_sketch(found: PairSketch | WordSketch) -> None:
    """Counts, collocates and example sentences."""
    out = screen()
    if hasattr(found, "w1"):
        _show_pair(out, found)  # type: ignore[arg-type]
    else:
        _show_word(out, found)
    for line in found.examples:
        text = "".join(line["pieces"]).strip()
        out.print(f"  · {text}  [{line['document']}]")


def _show_terms(out: Console, title: str, terms: list[TellingTerm]) -> None:
    if terms:
        out.print(f"  {title}: " + ", ".join(f"{item.term} {item.count:,}" for item in terms))


def _show_elsewhere(out: Console, found: PairSketch | WordSketch) -> None:
    from rich.text import Text

    for item in found.elsewhere:
        hang(out, Text("  "), Text(say_elsewhere(**asdict(item)), style="yellow"))


def _show_word(out: Console, found: WordSketch) -> None:
    if found.unknown:
        out.print(f"the corpus does not contain {found.word}")
        return
    out.print(f"{found.known_as}: {say_times(found.count)}, {found.per_million:,.1f} per million tokens")
    if found.forms:
        out.print("  forms: " + ", ".join(f"{form.form} {form.count:,}" for form in found.forms))
    _show_elsewhere(out, found)
    _show_terms(out, "before", found.before)
    _show_terms(out, "after", found.after)
    _show_terms(out, "seen with", found.company)


def _show_pair(out: Console, found: PairSketch) -> None:
    from rich.text import Text

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
            _show_terms(out, title, found.terms[f"{sign}{place}"])
    for middle in found.middles[:MIDDLES]:
        first, second = (found.w1, found.w2) if middle.order == "+" else (found.w2, found.w1)
        out.print(f"  {middle.count:,} × {first} {middle.text} {second}")
    for decision in (found.explanation or {}).get("decisions", ()):
        reasons = "; ".join(reason["words"] for reason in decision["reasons"][:REASONS])
        likely = show_probability(decision["probability"]) or f"{decision['value']:+.3f}"
        hang(out, Text("  "), Text(f"{decision['label']} {likely}: {reasons}"))
