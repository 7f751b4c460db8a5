"""Lines with their marks: both target words, and the context word that was counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bagpack.contexts.concordance import REST, Context
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.store.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.shard import Shard

W1, W2, TERM = "w1", "w2", "term"


class Span(NamedTuple):
    """A piece of text and what it is: `w1`, `w2`, `term`, or nothing of these."""

    text: str
    mark: str = ""


def mark_line(
    shard: Shard, context: Context, targets: Sequence[Target], lengths: Sequence[int], windows: Windows,
    segment: tuple[int, int], terms: Iterable[str],
) -> tuple[Span, ...]:  # fmt: skip
    """The text of a context in spans; joined they are the text as written.

    Parameters
    ----------
    targets
        First and second word, both marked wherever the line has them.
    lengths
        Tokens of the targets that the context is of: one for a word, two for a pair.
    segment
        Start and end of the tokens in which the terms were counted.
    """
    single = context.second < 0
    minus = context.order == "-"
    first_end = context.position + (lengths[-1] if minus else lengths[0])
    last = first_end if single else context.second + (lengths[0] if minus else lengths[-1])
    before, after = (windows.before, windows.after) if single else (windows.left, windows.right)
    start = _sentence_start(shard, context.position, before + REST)
    end = _sentence_end(shard, last, after + REST)
    tokens = shard.tokens[start:end]
    types = (tokens & TYPE_MASK).tolist()
    keys = [shard.keys[int(shard.key_of_type[number])] for number in types]
    marks = [""] * len(keys)
    low, high = segment[0] - start, segment[1] - start
    for term in terms:
        _mark(marks, keys[:high], tuple(term.split(" ")), TERM, max(low, 0))
        _mark(marks, keys[:high], (term,), TERM, max(low, 0))
    for target, name in ((targets[1], W2), (targets[0], W1)):
        _mark(marks, keys, target.words, name)
    spans: list[Span] = []
    for number, token, mark in zip(types, tokens.tolist(), marks, strict=True):
        space, text = "" if token & GLUED else " ", shard.forms[number]
        if spans and spans[-1].mark == mark:
            spans[-1] = Span(spans[-1].text + space + text, mark)
        elif mark and space:
            spans += [Span(space), Span(text, mark)]
        else:
            spans.append(Span(space + text, mark))
    return tuple(_joined(spans))


def _mark(marks: list[str], keys: Sequence[str], wanted: tuple[str, ...], name: str, start: int = 0) -> None:
    for at in range(start, len(keys) - len(wanted) + 1):
        if tuple(keys[at : at + len(wanted)]) == wanted:
            marks[at : at + len(wanted)] = [name] * len(wanted)


def _joined(spans: Iterable[Span]) -> Iterable[Span]:
    """Unmarked spans that follow each other are one."""
    kept: Span | None = None
    for span in spans:
        if kept is not None and not kept.mark and not span.mark:
            kept = Span(kept.text + span.text)
            continue
        if kept is not None:
            yield kept
        kept = span
    if kept is not None:
        yield kept


def _sentence_start(shard: Shard, position: int, most: int) -> int:
    start = position
    while start > 0 and position - start < most and not shard.tokens[start] & SENTENCE_START:
        start -= 1
    return start


def _sentence_end(shard: Shard, position: int, most: int) -> int:
    end = position
    while end < shard.tokens.size and end - position < most and not shard.tokens[end] & SENTENCE_START:
        end += 1
    return end
