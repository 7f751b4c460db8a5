"""Kernels that find the bounds of windows within a sentence."""

from __future__ import annotations

from bagpack.corpus.format import SENTENCE_START
from bagpack.kernels import kernel


@kernel
def same_sentence(tokens, first, second):  # type: ignore[no-untyped-def]
    """Whether no sentence starts in first+1..second."""
    for position in range(first + 1, second + 1):  # noqa: SIM110 (numba has no generators here)
        if tokens[position] & SENTENCE_START:
            return False
    return True


@kernel
def window_start(tokens, position, reach):  # type: ignore[no-untyped-def]
    """First token of the up to `reach` tokens before `position` in its sentence."""
    start = position
    while position - start < reach and start > 0 and not tokens[start] & SENTENCE_START:
        start -= 1
    return start


@kernel
def window_end(tokens, position, reach):  # type: ignore[no-untyped-def]
    """One past the last of the up to `reach` tokens from `position` on, before the next sentence starts."""
    end = position
    while end - position < reach and end < tokens.size and not tokens[end] & SENTENCE_START:
        end += 1
    return end
