"""Kernels that count the terms of a basis with parts of speech, where a token has several readings.

Reading r of a token is entries[k, t, r], where k is the number of its type's basis word (0 for none) and t its tag:
the word, the word with its tag, or the tag. Each reading is a unigram, and each pair of readings of adjacent tokens a
bigram. A term is only one of the readings, or pairs, of a place, so none is counted twice there.
"""

from __future__ import annotations

import numpy as np

from bagpack.contexts.kernels.terms import FIRST_SHIFT, PACK_MASK, SECOND_SHIFT, VOID, bigram_cell
from bagpack.contexts.kernels.windows import window_end, window_start
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.jit import kernel, subroutine


@subroutine
def list_readings(tokens, tags, start, end, offset, ids, entries, bigrams, clocks, clock, tick, columns, at):  # type: ignore[no-untyped-def]
    """Append the columns offset + cell of the terms in tokens start..end-1; returns the end and the clock.

    A term counts once per value of the clock, which ticks for every segment, and with `tick` = 1 for every token too;
    clocks[c] is cell c's last.
    """
    readings = entries.shape[2]
    last = entries[0, 0]
    for position in range(start, end):
        own = entries[ids[tokens[position] & TYPE_MASK], tags[position]]
        for r in range(readings):
            for p in range(-1, readings if position > start else 0):
                cell = own[r] & PACK_MASK
                if p >= 0:
                    cell = bigram_cell(bigrams, last[p] >> FIRST_SHIFT, (own[r] >> SECOND_SHIFT) & PACK_MASK)
                columns[at] = offset + np.int64(cell)
                at += (cell != VOID) & (clocks[cell] != clock)
                clocks[cell] = clock
        last = own
        clock += tick
    return at, clock + 1


@kernel
def count_readings(  # type: ignore[no-untyped-def]
    tokens, tags, postings, extra, is_extra, lows, highs, lengths, before, after, tick, ids, entries, bigrams, sums,
    clocks, clock, columns,
):  # fmt: skip
    """Add the single contexts of target t to row sums[t]; returns the clock. `columns` has space for one segment.

    Target t's occurrences are (extra if is_extra[t] else postings)[lows[t]:highs[t]].
    """
    half = sums.shape[1] // 2
    for t in range(lows.size):
        positions = extra if is_extra[t] else postings
        for i in range(lows[t], highs[t]):
            p = np.int64(positions[i])
            q = p + lengths[t]
            used, clock = list_readings(
                tokens, tags, window_start(tokens, p, before), p, 0,
                ids, entries, bigrams, clocks, clock, tick, columns, 0,
            )  # fmt: skip
            for n in range(used):
                sums[t, columns[n]] += 1
            used, clock = list_readings(
                tokens, tags, q, window_end(tokens, q, after), half,
                ids, entries, bigrams, clocks, clock, tick, columns, 0,
            )  # fmt: skip
            for n in range(used):
                sums[t, columns[n]] += 1
    return clock
