"""Kernels that find the couples of many pairs in one shard; see `kernels`."""

from __future__ import annotations

import numba as nb
import numpy as np

from bagpack.contexts.kernels import MINUS, PLUS, couples_of, find_repeats, same_sentence
from bagpack.contexts.processor import prefetch

SLICE = 256  # occurrences whose blocks are looked at before any is looked at closely
PENDING = 1024  # couples that wait for their tokens to come into the cache
BLOCKS_PER_MARK = 8  # with fewer, more occurrences share a block by chance; with more, the cache holds fewer
LARGEST_MARK = 1 << 32
ONE = np.uint64(1)
AHEAD = 3  # pairs
FETCHED = 1024
POSITIONS_PER_LINE = 16


@nb.njit(cache=True, nogil=True)
def block_bits(tokens, marks, reach):  # type: ignore[no-untyped-def]
    """Bits of a position within its block: so many blocks for each mark, none too small for the marks at both ends."""
    bits = 0
    while 1 << bits < 2 * reach or tokens >> (bits + 1) > BLOCKS_PER_MARK * marks:
        bits += 1
    return bits


@nb.njit(cache=True, nogil=True)
def mark_reach(positions, low, high, reach, bits, blocks, base):  # type: ignore[no-untyped-def]
    """Mark every block that holds a token within `reach` of an occurrence by base + its number, the last one's."""
    shift = np.uint64(bits)
    mark = np.uint32(base)
    for i in range(np.uint64(low), np.uint64(high)):
        p = np.int64(positions[i])
        blocks[np.uint64(max(p - reach, 0)) >> shift] = mark
        blocks[np.uint64(p + reach) >> shift] = mark
        mark = np.uint32(mark + ONE)


@nb.njit(cache=True, nogil=True)
def near_marks(few, start, stop, many, low, marks, reach, bits, blocks, base, near):  # type: ignore[no-untyped-def]
    """List which of few[start:stop] may stand within `reach` of one of `many`, which were marked; returns how many.

    In near[0] comes the number, in near[1] the first of `many` that does not stand before it. There are no branches,
    since they could not be predicted: whatever is listed in vain is written over by the next.
    """
    numbers, others = near[0], near[1]
    shift, zero = np.uint64(bits), np.uint64(0)
    many_low, all_marks = np.uint64(low), np.uint32(marks)
    blocked = zero
    for i in range(np.uint64(start), np.uint64(stop)):
        mark = np.uint32(blocks[np.uint64(few[i]) >> shift] - base)
        numbers[blocked] = i
        others[blocked] = mark
        blocked += np.uint64(mark < all_marks)
    count = zero
    for n in range(blocked):
        i, at = numbers[n], many_low + np.uint64(others[n])
        p = np.int64(few[np.uint64(i)])
        q = np.int64(many[at])
        previous = np.int64(many[max(at, ONE) - ONE])
        numbers[count] = i
        others[count] = at
        count += np.uint64((q >= p - reach) & ((q <= p + reach) | (previous >= p - reach)))
    for n in range(count):
        p, at = few[numbers[n]], others[n]
        at += many[at] < p
        while at > low and many[at - 1] >= p:
            at -= 1
        others[n] = at
    return np.int64(count)


@nb.njit(cache=True, nogil=True)
def search_all(few, start, stop, many, low, high, near):  # type: ignore[no-untyped-def]
    """List few[start:stop] with the first of `many` that does not stand before each; returns how many.

    All are searched at once, step by step: the memory is asked for many positions before any is waited for.
    """
    numbers, others = near[0], near[1]
    count = stop - start
    for n in range(count):
        numbers[n] = start + n
        others[n] = low
    size = high - low
    while size > 0:
        half = (size + 1) >> 1
        for n in range(count):
            at = others[n]
            others[n] = at + half * (many[np.uint64(at + half - 1)] < few[np.uint64(start + n)])
        size -= half
    return count


@nb.njit(cache=True, nogil=True)
def fetch(positions, low, high):  # type: ignore[no-untyped-def]
    """Bring the first positions into the cache; the processor sees by itself how it goes on."""
    for i in range(low, min(high, low + FETCHED), POSITIONS_PER_LINE):
        prefetch(positions, i)


@nb.njit(cache=True, nogil=True)
def settle(  # type: ignore[no-untyped-def]
    tokens, waiting, count, rooms, starts, seconds, orders, at, counts, found
):
    """Of the couples that wait, keep those within one sentence, as long as their pair has room; returns the end."""
    for n in range(count):
        first, second, order, k = waiting[n, 0], waiting[n, 1], waiting[n, 2], waiting[n, 3]
        if not same_sentence(tokens, first, second):
            continue
        found[k, PLUS] += order != MINUS
        found[k, MINUS] += order != PLUS
        if counts[k] < rooms[k]:
            starts[at], seconds[at], orders[at] = first, second, order
            counts[k] += 1
            at += 1
    return at


@nb.njit(cache=True, nogil=True)
def find_all_couples(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, ones, twos, swapped, rooms, between, first,
    marks_per_search, blocks, base, starts, seconds, orders, counts, found,
):  # fmt: skip
    """Couples of the pairs (ones[k], twos[k]), k = first.., one pair after the other, counts[k] of pair k.

    The walk goes over the occurrences of ones[k], the rarer word. Those of twos[k] nearby are found by searching; or,
    where a search for each step of the pairs in a row that have the same twos[k] costs more, at marks_per_search marks,
    the blocks of the shard that are in its reach are marked, and whatever of ones[k] stands elsewhere is passed over.
    Marks are numbers from `base` on that were never used before, so nothing has to be cleared. PLUS says that ones[k]
    stands first, or twos[k] if swapped[k].

    At most rooms[k] couples of a pair are written, but all are counted in found[k]. Stops before a pair whose couples
    may not fit; returns the number of the first pair not done, the couples written, and the next base.
    """
    waiting = np.empty((PENDING, 4), np.int64)
    near = np.empty((2, SLICE + 1), np.int64)
    written = pending = 0
    reach = between + lengths.max()
    looked = marked = -1
    bits = 0
    stop = ones.size
    for k in range(first, ones.size):
        if k + AHEAD < ones.size:
            a, b = ones[k + AHEAD], twos[k + AHEAD]
            fetch(extra if is_extra[a] else postings, lows[a], highs[a])
            if b != twos[k + AHEAD - 1]:
                fetch(extra if is_extra[b] else postings, lows[b], highs[b])
        a, b = ones[k], twos[k]
        many_low, many_high = lows[b], highs[b]
        marks = many_high - many_low
        most = 2 * min(highs[a] - lows[a], marks)
        if most == 0:
            continue
        most = min(most, rooms[k])
        if a == b or starts.size - written - pending < most:
            written = settle(tokens, waiting, pending, rooms, starts, seconds, orders, written, counts, found)
            pending = 0
            if starts.size - written < most:
                stop = k
                break
        few = extra if is_extra[a] else postings
        many = extra if is_extra[b] else postings
        if a == b:
            room = written + most
            counts[k] = find_repeats(
                tokens, few, lows[a], highs[a], lengths[a], between,
                starts[written:room], seconds[written:room], orders[written:room], found[k],
            )  # fmt: skip
            written += counts[k]
            continue
        if b != looked:
            looked = b
            steps = 0
            n = k
            while n < ones.size and twos[n] == b:
                steps += highs[ones[n]] - lows[ones[n]]
                n += 1
            if marked >= 0:
                base += highs[marked] - lows[marked]
                marked = -1
            if marks_per_search * steps > marks:
                if base + marks >= LARGEST_MARK:
                    blocks[:] = 0
                    base = 1
                bits = block_bits(tokens.size, marks, reach)
                mark_reach(many, many_low, many_high, reach, bits, blocks, base)
                marked = b
        before, after = (PLUS, MINUS) if swapped[k] else (MINUS, PLUS)
        for begin in range(lows[a], highs[a], SLICE):
            end = min(begin + SLICE, highs[a])
            if marked >= 0:
                count = near_marks(
                    few, begin, end, many, many_low, marks, reach, bits, blocks, np.uint32(base), near
                )
            else:
                count = search_all(few, begin, end, many, many_low, many_high, near)
            if pending + 2 * count > PENDING:
                written = settle(
                    tokens, waiting, pending, rooms, starts, seconds, orders, written, counts, found
                )
                pending = 0
            for n in range(count):
                i, at = near[0, n], near[1, n]
                p = np.int64(few[i])
                left, right = couples_of(
                    few, i, lows[a], highs[a], lengths[a], many, at, many_low, many_high, lengths[b], between
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
    written = settle(tokens, waiting, pending, rooms, starts, seconds, orders, written, counts, found)
    if marked >= 0:
        base += highs[marked] - lows[marked]
    return stop, written, base
