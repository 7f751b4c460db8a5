"""Kernels that count basis terms in the contexts of words and pairs; `count.basis_tables` makes what they read.

A basis word has one entry of 64 bits: its cell as a unigram, its number among the second words and its number among
the first words of basis bigrams, 21 bits each. Term t, from 0 on, has cell VOIDS + t; what is not a term has cell 0.
`bigrams` has the cell of each first and second word of a bigram.
"""

from __future__ import annotations

import numpy as np

from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.kernels.tokens import lowest_bit, prefetch, window_end, window_start
from bagpack.corpus.format import SENTENCE_START, TYPE_MASK
from bagpack.kernels import kernel

VOIDS = 8  # cells before the first term's; see `add_four`
PACK_BITS = 21
MOST_TERMS = (1 << PACK_BITS) - VOIDS
PACK_MASK = np.uint64((1 << PACK_BITS) - 1)
SECOND_SHIFT = np.uint64(PACK_BITS)
FIRST_SHIFT = np.uint64(2 * PACK_BITS)
VOID = np.uint64(0)
ONE = np.uint64(1)

AHEAD = 8  # contexts whose tokens are fetched; far enough for the memory to answer, near enough to be kept
SOON = 3  # contexts the facts of whose tokens are fetched
NARROW = 4  # tokens on a side that are counted without a loop
SENTENCE_BIT = np.uint32(31)
WORD_BITS, WORD_MASK = np.uint64(6), np.uint64(63)  # a column divided into a 64-bit word and a bit


# Words: a row has two halves, before and after the word, each of VOIDS + terms cells -----------------------------


@kernel
def beyond(reach, distance):  # type: ignore[no-untyped-def]
    """The bit that opens a sentence, if the distance is out of reach: a window ends there as well."""
    return SENTENCE_START if reach < distance else np.uint32(0)


@kernel
def word_of(ids, token, outside):  # type: ignore[no-untyped-def]
    """Number of a token's basis word; 0 if `outside` has the bit that opens a sentence."""
    return np.uint64(ids[token & TYPE_MASK]) & (np.uint64(outside >> SENTENCE_BIT) - ONE)


@kernel
def add_four(row, bigrams, e0, e1, e2, e3):  # type: ignore[no-untyped-def]
    """Add four tokens' terms to half a row, equal terms once.

    There is no branch on what a token is, which cannot be predicted: each of the seven counts in a void cell of its own
    if it is no term. Seven cells, since additions to one would wait for each other, and no two look like equal terms.
    """
    u0 = e0 & PACK_MASK
    u1 = max(e1 & PACK_MASK, np.uint64(1))
    u2 = max(e2 & PACK_MASK, np.uint64(2))
    u3 = max(e3 & PACK_MASK, np.uint64(3))
    b0 = max(np.uint64(bigrams[e0 >> FIRST_SHIFT, (e1 >> SECOND_SHIFT) & PACK_MASK]), np.uint64(4))
    b1 = max(np.uint64(bigrams[e1 >> FIRST_SHIFT, (e2 >> SECOND_SHIFT) & PACK_MASK]), np.uint64(5))
    b2 = max(np.uint64(bigrams[e2 >> FIRST_SHIFT, (e3 >> SECOND_SHIFT) & PACK_MASK]), np.uint64(6))
    row[u0] += 1
    row[u1] += 1
    row[u2] += 1
    row[u3] += 1
    row[b0] += 1
    row[b1] += 1
    row[b2] += 1
    again1 = u1 == u0
    again2 = (u2 == u0) | (u2 == u1)
    again3 = (u3 == u0) | (u3 == u1) | (u3 == u2)
    again4 = b1 == b0
    again5 = (b2 == b0) | (b2 == b1)
    if again1 | again2 | again3 | again4 | again5:
        row[u1] -= again1
        row[u2] -= again2
        row[u3] -= again3
        row[b1] -= again4
        row[b2] -= again5


@kernel
def count_words(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, before, after,
    ids, entries, bigrams, sums, clocks, clock, listed,
):  # fmt: skip
    """Add the single contexts of target t to row sums[t]; returns the clock.

    Target t's occurrences are (extra if is_extra[t] else postings)[lows[t]:highs[t]]. Windows of up to four tokens,
    away from the ends of the segment, are counted without a loop; wider ones one token after the other.
    """
    narrow = before <= NARROW and after <= NARROW
    one, two, three, four = np.int64(1), np.int64(2), np.int64(3), np.int64(4)  # literals: a version for each
    b1, b2, b3, b4 = beyond(before, one), beyond(before, two), beyond(before, three), beyond(before, four)
    a1, a2, a3, a4 = beyond(after, one), beyond(after, two), beyond(after, three), beyond(after, four)
    for t in range(lows.size):
        positions = extra if is_extra[t] else postings
        pre, post = sums[t, 0], sums[t, 1]
        high = highs[t]
        length = lengths[t]
        for i in range(lows[t], high):
            if i + AHEAD < high:
                soon = np.int64(positions[i + AHEAD])
                prefetch(tokens, soon - before)
                prefetch(tokens, soon + after)
            if i + SOON < high:
                soon = np.int64(positions[i + SOON])
                if NARROW <= soon < tokens.size - NARROW:
                    for n in range(1, 1 + NARROW):
                        prefetch(ids, np.int64(tokens[np.uint64(soon - n)] & TYPE_MASK))
                        prefetch(ids, np.int64(tokens[np.uint64(soon + n)] & TYPE_MASK))
            p = np.int64(positions[i])
            q = p + length
            if not narrow or p < NARROW or q + NARROW > tokens.size:
                low, end = window_start(tokens, p, before), window_end(tokens, q, after)
                for start, stop, half_row in ((low, p, pre), (q, end, post)):
                    count, clock = add_segment(
                        tokens, start, stop, 0, ids, entries, bigrams, clocks, clock, listed, np.int64(0)
                    )
                    for n in range(count):
                        half_row[listed[n]] += 1
                continue
            t0, t1 = tokens[np.uint64(p - 4)], tokens[np.uint64(p - 3)]
            t2, t3 = tokens[np.uint64(p - 2)], tokens[np.uint64(p - 1)]
            f3 = tokens[np.uint64(p)] | b1
            f2 = f3 | t3 | b2
            f1 = f2 | t2 | b3
            f0 = f1 | t1 | b4
            add_four(
                pre, bigrams, entries[word_of(ids, t0, f0)], entries[word_of(ids, t1, f1)],
                entries[word_of(ids, t2, f2)], entries[word_of(ids, t3, f3)],
            )  # fmt: skip
            t0, t1 = tokens[np.uint64(q)], tokens[np.uint64(q + 1)]
            t2, t3 = tokens[np.uint64(q + 2)], tokens[np.uint64(q + 3)]
            f0 = t0 | a1
            f1 = f0 | t1 | a2
            f2 = f1 | t2 | a3
            f3 = f2 | t3 | a4
            add_four(
                post, bigrams, entries[word_of(ids, t0, f0)], entries[word_of(ids, t1, f1)],
                entries[word_of(ids, t2, f2)], entries[word_of(ids, t3, f3)],
            )  # fmt: skip
    return clock


# Pairs: the columns of co-occurrences are listed, then summed up to rows -----------------------------------------


@kernel
def add_segment(tokens, start, end, offset, ids, entries, bigrams, clocks, clock, columns, at):  # type: ignore[no-untyped-def]
    """Append the columns offset + cell of the terms in tokens start..end-1; returns the end and the clock.

    A term counts once per value of the clock, which ticks for every segment; clocks[c] is cell c's last. There is no
    branch on what a token is, which cannot be predicted.
    """
    previous = VOID
    for position in range(start, end):
        entry = entries[ids[tokens[np.uint64(position)] & TYPE_MASK]]
        for cell in (
            entry & PACK_MASK,
            np.uint64(bigrams[previous, (entry >> SECOND_SHIFT) & PACK_MASK]),
        ):
            columns[at] = offset + np.int64(cell)
            at += (cell != VOID) & (clocks[cell] != clock)
            clocks[cell] = clock
        previous = entry >> FIRST_SHIFT
    return at, clock + 1


@kernel
def list_columns(  # type: ignore[no-untyped-def]
    tokens, starts, seconds, orders, counts, lengths1, lengths2, left, right, ids, entries, bigrams, terms,
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
            begin_left, end_right = window_start(tokens, p, left), window_end(tokens, q_end, right)
            for start, end in ((begin_left, p), (p_end, q), (q_end, end_right)):
                at, clock = add_segment(
                    tokens, start, end, offset, ids, entries, bigrams, clocks, clock, columns, at
                )
                offset += terms
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

    Segment s lists the columns of all rows in order, from listed[cursors[s]] on, widths[s, k] for row k. `sums` has a
    cell for each column and `seen` a bit; all are zero before and after.
    """
    at = np.int64(0)
    for k in range(row_ends.size):
        for s in range(cursors.size):
            end = cursors[s] + widths[s, k]
            for n in range(cursors[s], end):
                column = np.uint64(listed[n])
                sums[column] += 1
                seen[column >> WORD_BITS] |= ONE << (column & WORD_MASK)
            cursors[s] = end
        for word in range(np.uint64(seen.size)):
            bits = seen[word]
            seen[word] = VOID
            while bits:
                column = (word << WORD_BITS) | lowest_bit(bits)
                bits &= bits - ONE
                columns[at], values[at] = column, sums[column]
                sums[column] = 0
                at += 1
        row_ends[k] = at
    return at
