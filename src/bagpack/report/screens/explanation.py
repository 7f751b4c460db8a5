"""The explanation of a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bagpack.console import hang, hang_parts, screen
from bagpack.numbers import many, show_probability
from bagpack.wording import describe_block, first_words, last_words, say_counts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from bagpack.explain import Explanation
    from bagpack.explain.explanation import Decision
    from bagpack.explain.reasons import Reason

Marked = tuple[str, str]  # a piece of text, and what it is: w1, w2, term or nothing

# A reason against a label is no error, so it is not red.
STYLES = {"": "", "w1": "bold", "w2": "bold", "term": "bold cyan"}
TRAINED = "The model was trained on this pair, so the prediction is not evidence."


def show_explanation(found: Explanation) -> None:
    """The answer, then each label's reasons; labels without reasons get one line each."""
    from rich.text import Text

    out = screen()
    if found.trained:
        out.print(TRAINED, style="bold yellow")
    answer = "no prediction" if found.answer is None else found.answer
    sure = f", probability {show_probability(found.probability)}" if found.probability is not None else ""
    out.print(
        Text.assemble((f"{found.w1} – {found.w2}: {answer}", "bold"), "" if found.answer is None else sure)
    )
    for note in found.notes:
        out.print(note, style="yellow" if note.startswith("no prediction") else "dim")
    out.print(say_counts(found.w1, found.w2, found.counts), style="dim")
    if found.contrast is not None:
        _show_decision(out, found.contrast, found.w1, found.w2)
        return
    listed = [decision for decision in found.decisions if decision.reasons]
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
    head = decision.label if decision.against is None else f"{decision.label}, not {decision.against}"
    if decision.probability is not None:
        head += f" {show_probability(decision.probability)}"
    out.print(head, style="bold")
    parts = [f"{decision.bias:+.3f} bias"]
    parts += [f"{value:+.3f} {describe_block(block, w1, w2)}" for block, value in decision.blocks.items()]
    hang_parts(out, Text(f"  {decision.value:+.3f} = "), parts)
    for reason in decision.reasons[: decision.shown]:
        _show_reason(out, reason)
    _show_rest(out, decision)


def _show_rest(out: Console, decision: Decision) -> None:
    from rich.text import Text

    hidden = decision.others + len(decision.reasons) - decision.shown
    if not hidden:
        return
    if not decision.shown:
        text = "all contexts together"
    else:
        text = f"{many(hidden, 'weaker reason')} together; those above are {100 * decision.coverage:.0f} % of the "
        text += f"absolute sum, --top {decision.shown + 10} shows ten more"
    hang(out, Text(f"  {decision.hidden:+.3f}  ", style="dim"), Text(text, style="dim"))


def _show_others(out: Console, decisions: Sequence[Decision]) -> None:
    from rich.text import Text

    title = "the other label" if len(decisions) == 1 else "the other labels"
    out.print(f"\n{title} (in full with --label LABEL, or --label all)", style="dim")
    for decision in decisions:
        likely = f"{show_probability(decision.probability):>6}  " if decision.probability is not None else ""
        out.print(
            Text.assemble("  ", (likely, "bold"), f"{decision.label}  ", (f"{decision.value:+.3f}", "dim"))
        )


def _show_reason(out: Console, reason: Reason) -> None:
    """What a reason adds, in words, and lines that were counted."""
    from rich.text import Text

    words = marked_text(reason.spans)
    notes = [reason.note] if reason.note else []
    notes += [f"also {', '.join(reason.also)}"] if reason.also else []
    notes += ["decides"] if reason.decides and reason.kind != "context" else []
    if notes:
        words.append(f"  ({'; '.join(notes)})", style="dim")
    hang(out, Text(f"  {reason.value:+.3f}  "), words)
    for line in reason.lines:
        text = marked_text(shorten(line["spans"]))
        text.append(f"  [{line['document']}]", style="dim")
        hang(out, Text(" " * 10), text)


def shorten(spans: Sequence[Marked], around: int = 60) -> list[Marked]:
    """The spans from the first mark to the last, with about `around` characters on either side.

    >>> shorten([("It was known that the ", ""), ("cat", "w1"), (" sat.", "")], 9)
    [('… the ', ''), ('cat', 'w1'), (' sat.', '')]
    """
    marked = [number for number, (_, mark) in enumerate(spans) if mark]
    if not marked:
        return list(spans)
    head = "".join(text for text, _ in spans[: marked[0]])
    tail = "".join(text for text, _ in spans[marked[-1] + 1 :])
    if len(head) > around + 10:
        head = last_words(head, around)
    if len(tail) > around + 10:
        tail = first_words(tail, around)
    return [(head.lstrip(), ""), *spans[marked[0] : marked[-1] + 1], (tail, "")]


def marked_text(spans: Iterable[Marked]) -> Text:
    """Spans in their styles."""
    from rich.text import Text

    return Text.assemble(*((text, STYLES[mark]) for text, mark in spans))
