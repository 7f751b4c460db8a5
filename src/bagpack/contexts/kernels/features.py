"""Kernels that list the features of co-occurrences and sum them up to rows. What they are given: `basis_tables`."""

from __future__ import annotations

import numpy as np

from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.kernels.intrinsics import lowest_bit, prefetch
from bagpack.contexts.kernels.tagged import list_readings
from bagpack.contexts.kernels.terms import (
    FIRST_SHIFT,
    ONE,
    PACK_MASK,
    SECOND_SHIFT,
    VOID,
    VOIDS,
    bigram_cell,
)
from bagpack.contexts.kernels.windows import window_end, window_start
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.jit import kernel, subroutine

AHEAD = 8  # co-occurrences whose tokens are fetched
SOON = 3  # co-occurrences the facts of whose tokens are fetched
WORD_BITS = np.uint64(6)
WORD_MASK = np.uint64(63)


@subroutine
def add_segment(tokens, tags, start, end, offset, ids, entries, bigrams, clocks, clock, tick, columns, at):  # type: ignore[no-untyped-def]
    """Append the columns offset + cell of the terms in tokens start..end-1; returns the end and the clock.

    A term counts once per value of the clock, which ticks for every segment, and with `tick` = 1 for every token
    too; clocks[c] is cell c's last. There is no branch on what a token is, which cannot be predicted.
    """
    if entries.ndim == 3:
        return list_readings(
            tokens, tags, start, end, offset, ids, entries, bigrams, clocks, clock, tick, columns, at
        )
    previous = VOID
    for position in range(start, end):
        entry = entries[ids[tokens[np.uint64(position)] & TYPE_MASK]]
        for cell in (
            entry & PACK_MASK,
            bigram_cell(bigrams, previous, (entry >> SECOND_SHIFT) & PACK_MASK),
        ):
            columns[at] = offset + np.int64(cell)
            at += (cell != VOID) & (clocks[cell] != clock)
            clocks[cell] = clock
        previous = entry >> FIRST_SHIFT
        clock += tick
    return at, clock + 1


@kernel
def list_columns(  # type: ignore[no-untyped-def]
    tokens, tags, starts, seconds, orders, counts, lengths1, lengths2, left, right, tick, ids, entries, bigrams, terms,
    clocks, clock, columns, widths, taken,
):  # fmt: skip
    """Columns of the features that co-occurrences add to, widths[k] of them for the counts[k] co-occurrences of pair k.

    lengths1 and lengths2 are the tokens of each pair's two targets. A co-occurrence of equal words adds to both
    orders. Counts the co-occurrences of each order in `taken`; returns the clock.
    """
    at = np.int64(0)
    i = 0
    for k in range(counts.size):
        begin = at
        for _ in range(counts[k]):
            if i + AHEAD < starts.size:
                prefetch(tokens, np.int64(starts[i + AHEAD]) - left)
                prefetch(tokens, np.int64(seconds[i + AHEAD]) + right)
            if i + SOON < starts.size:
                for position in range(
                    max(np.int64(starts[i + SOON]) - left, 0),
                    min(np.int64(seconds[i + SOON]) + right + 1, tokens.size),
                ):
                    prefetch(ids, np.int64(tokens[np.uint64(position)] & TYPE_MASK))
            p, q, order = np.int64(starts[i]), np.int64(seconds[i]), orders[i]
            i += 1
            p_end = p + (lengths2[k] if order == MINUS else lengths1[k])
            q_end = q + (lengths1[k] if order == MINUS else lengths2[k])
            offset = (3 * terms if order == MINUS else 0) - VOIDS
            own = at
            at, clock = add_segment(
                tokens, tags, window_start(tokens, p, left), p, offset,
                ids, entries, bigrams, clocks, clock, tick, columns, at,
            )  # fmt: skip
            at, clock = add_segment(
                tokens, tags, p_end, q, offset + terms,
                ids, entries, bigrams, clocks, clock, tick, columns, at,
            )  # fmt: skip
            at, clock = add_segment(
                tokens, tags, q_end, window_end(tokens, q_end, right), offset + 2 * terms,
                ids, entries, bigrams, clocks, clock, tick, columns, at,
            )  # fmt: skip
            taken[k, PLUS] += order != MINUS
            taken[k, MINUS] += order != PLUS
            if order == BOTH:
                for n in range(own, at):
                    columns[at + n - own] = columns[n] + 3 * terms
                at += at - own
        widths[k] = at - begin
    return clock


@kernel
def sum_columns(listed, cursors, widths, sums, seen, row_ends, columns, values):  # type: ignore[no-untyped-def]
    """Rows of how often each column is listed; returns the entries.

    Shard s lists the columns of all rows in order, from listed[cursors[s]] on, widths[s, k] for row k. `sums` has a
    cell for each column, seen[0] a bit, seen[1] a bit for each word of these; all are zero before and after.
    """
    at = np.int64(0)
    for k in range(row_ends.size):
        for s in range(cursors.size):
            end = cursors[s] + widths[s, k]
            for n in range(cursors[s], end):
                column = np.uint64(listed[n])
                sums[column] += 1
                word = column >> WORD_BITS
                seen[0, word] |= ONE << (column & WORD_MASK)
                seen[1, word >> WORD_BITS] |= ONE << (word & WORD_MASK)
            cursors[s] = end
        for top in range((seen.shape[1] + 63) // 64):
            words = seen[1, top]
            seen[1, top] = VOID
            while words:
                word = (np.uint64(top) << WORD_BITS) | lowest_bit(words)
                words &= words - ONE
                bits = seen[0, word]
                seen[0, word] = VOID
                while bits:
                    column = (word << WORD_BITS) | lowest_bit(bits)
                    bits &= bits - ONE
                    columns[at], values[at] = column, sums[column]
                    sums[column] = 0
                    at += 1
        row_ends[k] = at
    return at
