"""Kernels for showing lines: the couples of many pairs in one shard, and the text of one observation."""

from __future__ import annotations

import numba as nb
import numpy as np

from bagpack.contexts.kernels import find_couples, find_repeats, window_end, window_start
from bagpack.corpus.store.format import GLUED, TYPE_MASK

PIECES = 7  # before, left, key, between, key2, right, after
SPACE = 32


@nb.njit(cache=True, nogil=True)
def find_couples_of_each(  # type: ignore[no-untyped-def]
    tokens,
    postings,
    extra,
    is_extra,
    lows,
    highs,
    lengths,
    ones,
    twos,
    between,
    starts,
    seconds,
    orders,
    ends,
):
    """Couples of each pair of targets (ones[k], twos[k]), one pair after the other; pair k's end at ends[k]."""
    at = 0
    found = np.zeros(2, np.int64)
    for k in range(ones.size):
        a, b = ones[k], twos[k]
        first = extra if is_extra[a] else postings
        second = extra if is_extra[b] else postings
        if a == b:
            at += find_repeats(
                tokens,
                first,
                lows[a],
                highs[a],
                lengths[a],
                between,
                starts[at:],
                seconds[at:],
                orders[at:],
                found,
            )
        else:
            at += find_couples(
                tokens, first, lows[a], highs[a], lengths[a], second, lows[b], highs[b], lengths[b], between,
                starts[at:], seconds[at:], orders[at:], found,
            )  # fmt: skip
        ends[k] = at


@nb.njit(cache=True, nogil=True)
def write_line(  # type: ignore[no-untyped-def]
    tokens, blob, offsets, first, first_end, second, second_end, left, right, rest, out, ends
):
    """The text of an observation in seven pieces, each with the space before it; piece k's end at ends[k].

    Returns how many bytes the line has; what `out` has no room for is not written.
    """
    start = window_start(tokens, first, left)
    end = window_end(tokens, second_end, right)
    low = window_start(tokens, start, rest)
    high = window_end(tokens, end, rest)
    at = 0
    position = low
    for piece, stop in enumerate((start, first, first_end, second, second_end, end, high)):
        while position < stop:
            token = tokens[position]
            kind = token & TYPE_MASK
            begin = offsets[kind]
            size = offsets[kind + 1] - begin
            if not token & GLUED:
                if at < out.size:
                    out[at] = SPACE
                at += 1
            if at + size <= out.size:
                for i in range(size):
                    out[at + i] = blob[begin + i]
            at += size
            position += 1
        ends[piece] = at
    return at
