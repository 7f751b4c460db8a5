"""Lines with their marks: both target words, and the context word that was counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from bagpack.basis.terms import split_term
from bagpack.contexts.concordance import REST, Context
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.store.format import GLUED, TYPE_MASK
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.text.tagsets import UNIVERSAL
from bagpack.explain.keyness import reach

W1, W2, TERM = "w1", "w2", "term"


class Span(NamedTuple):
    """A piece of text and what it is: `w1`, `w2`, `term`, or nothing of these."""

    text: str
    mark: str = ""


def mark_line(
    shard: Shard, context: Context, targets: Sequence[Target], lengths: Sequence[int], windows: Windows,
    segment: tuple[int, int], terms: Iterable[str], tagged: bool = False,
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
    tagged
        Whether terms may have parts of speech (`Basis.tagged`).
    """
    single = context.second < 0
    minus = context.order == "-"
    first_end = context.position + (lengths[-1] if minus else lengths[0])
    last = first_end if single else context.second + (lengths[0] if minus else lengths[-1])
    before, after = (windows.before, windows.after) if single else (windows.left, windows.right)
    start = int(reach(shard, np.array([context.position]), before + REST, backwards=True)[0][0])
    end = int(reach(shard, np.array([last]), after + REST, backwards=False)[1][0])
    tokens = shard.tokens[start:end]
    types = (tokens & TYPE_MASK).tolist()
    keys = [shard.keys[int(shard.key_of_type[number])] for number in types]
    marks = [""] * len(keys)
    low, high = segment[0] - start, segment[1] - start
    tags = [UNIVERSAL[code] for code in shard.tags[start:end].tolist()] if tagged else [""] * len(keys)
    read = list(zip(keys, tags, strict=True))
    for term in terms:
        for words in ([term], term.split(" ")):
            wanted = [split_term(word) if tagged else (word, "") for word in words]
            _mark(marks, read[:high], wanted, TERM, max(low, 0))
    for target, name in ((targets[1], W2), (targets[0], W1)):
        _mark(marks, read, [(word, "") for word in target.words], name)
    pieces: list[tuple[str, str]] = []  # a space has the mark of its neighbours, if they have the same
    for number, token, mark, last_mark in zip(types, tokens.tolist(), marks, ["", *marks], strict=False):
        if not token & GLUED:
            pieces.append((" ", mark if mark == last_mark else ""))
        pieces.append((shard.forms[number], mark))
    return tuple(Span("".join(text for text, _ in run), mark) for mark, run in groupby(pieces, itemgetter(1)))


def _mark(
    marks: list[str],
    read: Sequence[tuple[str, str]],
    wanted: Sequence[tuple[str, str]],
    name: str,
    start: int = 0,
) -> None:
    """Mark tokens, given as key and tag, that follow each other as wanted; an empty key or tag is any."""
    for at in range(start, len(read) - len(wanted) + 1):
        if all(
            key in ("", own_key) and tag in ("", own_tag)
            for (key, tag), (own_key, own_tag) in zip(wanted, read[at:], strict=False)
        ):
            marks[at : at + len(wanted)] = [name] * len(wanted)
