"""Kernels that find the co-occurrences of many pairs in one segment."""

from __future__ import annotations

import numpy as np

from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.kernels.tokens import prefetch, window_end
from bagpack.kernels import kernel, lower_bound

SLICE = 256  # occurrences whose blocks are looked at before any is looked at closely
PENDING = 1024  # co-occurrences that wait for their tokens to come into the cache
BLOCKS_PER_MARK = 8  # with fewer, more occurrences share a block by chance; with more, the cache holds fewer
LARGEST_MARK = 1 << 32
ONE = np.uint64(1)
AHEAD = 3  # pairs
FETCHED = 1024
POSITIONS_PER_LINE = 16


@kernel
def block_bits(tokens, marks, reach):  # type: ignore[no-untyped-def]
    """Bits of a position within its block: BLOCKS_PER_MARK blocks for each mark, none smaller than twice the reach."""
    bits = 0
    while 1 << bits < 2 * reach or tokens >> (bits + 1) > BLOCKS_PER_MARK * marks:
        bits += 1
    return bits


@kernel
def mark_reach(positions, low, high, reach, bits, blocks, base):  # type: ignore[no-untyped-def]
    """Mark every block that holds a token within `reach` of an occurrence by base + its number, the last one's."""
    shift = np.uint64(bits)
    mark = np.uint32(base)
    for i in range(np.uint64(low), np.uint64(high)):
        p = np.int64(positions[i])
        blocks[np.uint64(max(p - reach, 0)) >> shift] = mark
        blocks[np.uint64(p + reach) >> shift] = mark
        mark = np.uint32(mark + ONE)


@kernel
def near_marks(few, start, stop, many, low, marks, reach, bits, blocks, base, near):  # type: ignore[no-untyped-def]
    """List which of few[start:stop] may be within `reach` of one of `many`, which were marked; returns how many.

    near[0] gets the number, near[1] the first of `many` that is not before it. There are no branches,
    since they could not be predicted: false candidates are overwritten by the next.
    """
    shift, zero = np.uint64(bits), np.uint64(0)
    many_low, all_marks = np.uint64(low), np.uint32(marks)
    blocked = zero
    for i in range(np.uint64(start), np.uint64(stop)):
        mark = np.uint32(blocks[np.uint64(few[i]) >> shift] - base)
        near[0, blocked] = i
        near[1, blocked] = mark
        blocked += np.uint64(mark < all_marks)
    count = zero
    for n in range(blocked):
        i, at = near[0, n], many_low + np.uint64(near[1, n])
        p = np.int64(few[np.uint64(i)])
        q = np.int64(many[at])
        previous = np.int64(many[at - np.uint64(at > zero)])
        near[0, count] = i
        near[1, count] = at
        count += np.uint64((q >= p - reach) & ((q <= p + reach) | (previous >= p - reach)))
    for n in range(count):
        p, at = few[near[0, n]], near[1, n]
        at += many[at] < p
        while at > low and many[at - 1] >= p:
            at -= 1
        near[1, n] = at
    return np.int64(count)


@kernel
def search_all(few, start, stop, many, low, high, near):  # type: ignore[no-untyped-def]
    """List few[start:stop] with the first of `many` that is not before each; returns how many."""
    for n in range(stop - start):
        low = lower_bound(many, low, high, few[start + n])
        near[0, n], near[1, n] = start + n, low
    return stop - start


@kernel
def fetch(positions, low, high):  # type: ignore[no-untyped-def]
    """Prefetch the first positions; the processor's own prefetcher continues."""
    for i in range(low, min(high, low + FETCHED), POSITIONS_PER_LINE):
        prefetch(positions, i)


@kernel
def settle(  # type: ignore[no-untyped-def]
    tokens, waiting, count, caps, starts, seconds, orders, at, counts, found
):
    """Keep pending co-occurrences that are within one sentence, up to the cap of their pair; returns the end."""
    for n in range(count):
        first, second, order, k = waiting[n, 0], waiting[n, 1], waiting[n, 2], waiting[n, 3]
        if window_end(tokens, first + 1, second - first) <= second:  # a sentence starts in between
            continue
        found[k, PLUS] += order != MINUS
        found[k, MINUS] += order != PLUS
        if counts[k] < caps[k]:
            starts[at], seconds[at], orders[at] = first, second, order
            counts[k] += 1
            at += 1
    return at


@kernel
def neighbours(  # type: ignore[no-untyped-def]
    few, i, few_low, few_high, few_length, many, at, many_low, many_high, many_length, between
):
    """Positions of the consecutive targets before and after occurrence i, -1 if they are not of the other kind.

    Sentences are not looked at. `at` is the first of `many` that is not before few[i]. Where both kinds start at one
    token (`ice` and `ice cream`), the shorter comes first.
    """
    p = np.int64(few[i])
    few_longer = few_length > many_length
    both_longer = few_longer and at < many_high and np.int64(many[at]) == p
    before = after = np.int64(-1)
    if at > many_low and not both_longer:
        q = np.int64(many[at - 1])
        if 0 <= p - q - many_length <= between and (
            i == few_low or np.int64(few[i - 1]) < q + (few_length < many_length)
        ):
            before = q
    following = at + both_longer
    if following < many_high:
        q = np.int64(many[following])
        if 0 <= q - p - few_length <= between and (
            i + 1 == few_high or np.int64(few[i + 1]) > q - few_longer
        ):
            after = q
    return before, after


@kernel
def find_cooccurrences(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, longest, ones, twos, swapped, caps, between,
    marks_per_search, blocks, base, waiting, near, starts, seconds, orders, counts, found,
):  # fmt: skip
    """Co-occurrences of the pairs (ones[k], twos[k]), one pair after the other, counts[k] of pair k.

    The walk goes over the occurrences of ones[k], the rarer word. Those of twos[k] nearby are found by searching; or,
    where a search for each step of the consecutive pairs with the same twos[k] costs more (at marks_per_search marks
    a search), the blocks of the segment within its reach are marked, and occurrences of ones[k] elsewhere are skipped.
    Marks are numbers from `base` on that were never used before, so nothing has to be cleared. PLUS means that ones[k]
    comes first, or twos[k] if swapped[k].

    At most caps[k] co-occurrences of a pair are written, but all are counted in found[k]; the output has space for all
    that are written. Returns their number and the next base. `waiting` and `near` are work space.
    """
    written = pending = np.int64(0)
    reach = between + longest
    looked = -1
    marks = np.int64(0)  # of the word `looked`; 0 if it is searched
    bits = 0
    for k in range(ones.size):
        if k + AHEAD < ones.size:
            a, b = ones[k + AHEAD], twos[k + AHEAD]
            fetch(extra if is_extra[a] else postings, lows[a], highs[a])
            if b != twos[k + AHEAD - 1]:
                fetch(extra if is_extra[b] else postings, lows[b], highs[b])
        a, b = ones[k], twos[k]
        few = extra if is_extra[a] else postings
        many = extra if is_extra[b] else postings
        low, high = lows[a], highs[a]
        many_low, many_high = lows[b], highs[b]
        if low == high or many_low == many_high:
            continue
        if a != b and b != looked:  # noqa: PLR1714 (numba compares numbers faster)
            looked = b
            steps = 0
            n = k
            while n < ones.size and twos[n] == b:
                steps += highs[ones[n]] - lows[ones[n]]
                n += 1
            base += marks
            marks = many_high - many_low
            if marks_per_search * steps > marks:
                if base + marks >= LARGEST_MARK:
                    for block in range(blocks.size):
                        blocks[block] = 0
                    base = 1
                bits = block_bits(tokens.size, max(marks, 1), reach)
                mark_reach(many, many_low, many_high, reach, bits, blocks, base)
            else:
                marks = np.int64(0)
        before, after = (PLUS, MINUS) if swapped[k] else (MINUS, PLUS)
        for from_i in range(low, high, SLICE):
            to_i = min(from_i + SLICE, high)
            if a == b:
                count = to_i - from_i
            elif marks > 0:
                count = near_marks(
                    few, from_i, to_i, many, many_low, marks, reach, bits, blocks, np.uint32(base), near
                )
            else:
                count = search_all(few, from_i, to_i, many, many_low, many_high, near)
            if pending + 2 * count > PENDING:
                written = settle(
                    tokens, waiting, pending, caps, starts, seconds, orders, written, counts, found
                )
                pending = np.int64(0)
            if a == b:  # consecutive occurrences, each counted in both orders
                for i in range(max(from_i, low + 1), to_i):
                    left, p = np.int64(few[i - 1]), np.int64(few[i])
                    if 0 <= p - left - lengths[a] <= between:
                        waiting[pending, 0], waiting[pending, 1] = left, p
                        waiting[pending, 2], waiting[pending, 3] = BOTH, k
                        pending += 1
                continue
            for n in range(count):
                i, at = near[0, n], near[1, n]
                p = np.int64(few[i])
                left, right = neighbours(
                    few, i, low, high, lengths[a], many, at, many_low, many_high, lengths[b], between
                )
                if left >= 0:
                    prefetch(tokens, left)
                    waiting[pending, 0], waiting[pending, 1] = left, p
                    waiting[pending, 2], waiting[pending, 3] = before, k
                    pending += 1
                if right >= 0:
                    prefetch(tokens, p)
                    waiting[pending, 0], waiting[pending, 1] = p, right
                    waiting[pending, 2], waiting[pending, 3] = after, k
                    pending += 1
    written = settle(tokens, waiting, pending, caps, starts, seconds, orders, written, counts, found)
    return written, base + marks
