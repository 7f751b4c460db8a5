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
    from bagpack.explain.decision import Decision, Part
    from bagpack.explain.reasons import Reason

Marked = tuple[str, str]  # a piece of text, and what it is: w1, w2, term or nothing

# A reason against a label is no error, so it is not red.
STYLES = {"": "", "w1": "bold", "w2": "bold", "term": "bold cyan"}
TRAINED = "The model was trained on this pair, so the prediction is not evidence."


def show_explanation(found: Explanation, features: bool = False) -> None:
    """The answer, then each label's parts (and its features); labels that are not explained get one line each."""
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
    listed = [found.contrast] if found.contrast is not None else [d for d in found.decisions if d.reasons]
    listed = listed or [*found.decisions[:1]]  # a pair without any counts
    for decision in listed:
        _show_decision(out, decision, found.w1, found.w2, features)
    others = [decision for decision in found.decisions if decision not in listed]
    if others and found.contrast is None:
        _show_others(out, others)


def _show_decision(out: Console, decision: Decision, w1: str, w2: str, features: bool) -> None:
    from rich.text import Text

    out.print()
    head = decision.label if decision.against is None else f"{decision.label}, not {decision.against}"
    if decision.probability is not None:
        head += f" {show_probability(decision.probability)}"
    out.print(Text.assemble((head, "bold"), f"  {decision.summary}" if decision.summary else ""))
    if decision.parts:
        blocks = {"together": "v12", "first": "v1", "second": "v2"}
        names = {name: describe_block(block, w1, w2) for name, block in blocks.items()}
        parts = [f"{decision.base:+.3f} the mean training pair"]
        parts += [f"{part.value:+.3f} {names[part.name]}" for part in decision.parts]
        hang_parts(out, Text(f"  {decision.value:+.3f} = "), parts)
        for part in decision.parts:
            name = f"{w1} and {w2} together" if part.name == "together" else names[part.name]
            out.print(Text.assemble(f"  {part.value:+.3f}  ", (name, "bold")))
            for reason in decision.contexts if part.name == "together" else ():
                _show_reason(out, reason, indent=4)
            hang(out, Text(" " * 10), Text(_say_part(part)))
    if features or not decision.parts:
        _show_features(out, decision, w1, w2)


def _say_part(part: Part) -> str:
    """The training words or pairs that add most to a part, those against it, and what all others add."""
    said = [
        f"{words} {', '.join(f'{like.name} {like.value:+.2f}' for like in likes)}"
        for words, likes in (("like", part.alike), ("against:", part.against))
        if likes
    ]
    said += [f"{words} {value:+.2f}" for words, value in part.extra.items()]
    what = "pairs" if part.name == "together" else "words"
    return "; ".join([*said, f"{part.others:,} other training {what} {part.rest:+.2f}"])


def _show_features(out: Console, decision: Decision, w1: str, w2: str) -> None:
    from rich.text import Text

    parts = [f"{decision.bias:+.3f} bias"]
    parts += [f"{value:+.3f} {describe_block(block, w1, w2)}" for block, value in decision.blocks.items()]
    hang_parts(out, Text(f"  {decision.value:+.3f} = "), parts)
    for reason in decision.reasons:
        _show_reason(out, reason)
    if decision.others:
        shown = len(decision.reasons)
        text = f"{many(decision.others, 'weaker reason')} together; --top {shown + 10} shows ten more"
        hang(out, Text(f"  {decision.rest:+.3f}  ", style="dim"), Text(text, style="dim"))


def _show_others(out: Console, decisions: Sequence[Decision]) -> None:
    from rich.text import Text

    title = "the other label" if len(decisions) == 1 else "the other labels"
    out.print(f"\n{title} (in full with --label LABEL, or --label all)", style="dim")
    for decision in decisions:
        likely = f"{show_probability(decision.probability):>6}  " if decision.probability is not None else ""
        out.print(
            Text.assemble("  ", (likely, "bold"), f"{decision.label}  ", (f"{decision.value:+.3f}", "dim"))
        )


def _show_reason(out: Console, reason: Reason, indent: int = 2) -> None:
    """What a reason adds, in words, and lines that were counted."""
    from rich.text import Text

    words = marked_text(reason.spans)
    notes = [reason.note] if reason.note else []
    notes += [f"also {', '.join(reason.also)}"] if reason.also else []
    notes += [f"as with {', '.join(like.name for like in reason.pairs)}"] if reason.pairs else []
    if notes:
        words.append(f"  ({'; '.join(notes)})", style="dim")
    hang(out, Text(f"{' ' * indent}{reason.value:+.3f}  "), words)
    for line in reason.lines:
        text = marked_text(shorten(line["spans"]))
        text.append(f"  [{line['document']}]", style="dim")
        hang(out, Text(" " * (indent + 8)), text)


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
