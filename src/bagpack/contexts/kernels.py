"""The counting kernels: free functions over arrays, one shard at a time.

A target's occurrences are an ascending array of positions and a length in tokens. Basis terms are numbered from 1;
they come as one packed number per type (its term as a unigram, its place among the second and among the first words
of basis bigrams; 0 for none) and a matrix (first, second) → term. All positions are of one shard; a token's sentence
flag bounds every window.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from bagpack.contexts.prefetch import prefetch
from bagpack.corpus.columns import SENTENCE_START, TYPE_MASK

PLUS, MINUS, BOTH = 0, 1, 2
PACK_BITS = 20
PACK_MASK = np.uint64((1 << PACK_BITS) - 1)
SECOND_SHIFT = np.uint64(PACK_BITS)
FIRST_SHIFT = np.uint64(2 * PACK_BITS)
VOID = np.uint64(0)  # the term of what is no term
BLOCK_BITS = 6
STEPS_PER_MARK = 4  # a step of a galloping walk costs some ten times what a mark does
AHEAD = 8  # occurrences; far enough for the memory to answer, near enough for the cache to keep it


@nb.njit(cache=True, nogil=True)
def gallop(positions, low, high, wanted):  # type: ignore[no-untyped-def]
    """First index in low..high whose position is at least `wanted`: doubling steps, then a binary search."""
    step = 1
    floor = low
    while floor + step <= high and positions[floor + step - 1] < wanted:
        floor += step
        step *= 2
    top = min(floor + step - 1, high)
    while floor < top:
        middle = (floor + top) // 2
        if positions[middle] < wanted:
            floor = middle + 1
        else:
            top = middle
    return floor


@nb.njit(cache=True, nogil=True)
def same_sentence(tokens, first, second):  # type: ignore[no-untyped-def]
    """Whether no sentence opens in first+1..second."""
    for position in range(first + 1, second + 1):  # noqa: SIM110 (numba has no generators here)
        if tokens[position] & SENTENCE_START:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def walk_couples(  # type: ignore[no-untyped-def]
    tokens, few, few_low, few_high, few_length, many, many_low, many_high, many_length, before_few, after_few,
    between, near, starts, seconds, orders, found,
):  # fmt: skip
    """Couples of consecutive targets, one of each kind, by a walk over one list that gallops through the other.

    If `near` is not empty, near[position >> BLOCK_BITS] tells whether one of `many` can be in reach. Where both kinds
    start at one token (`ice` and `ice cream`), the shorter comes first. See `find_couples`.
    """
    few_longer = few_length > many_length
    few_shorter = few_length < many_length
    written = 0
    at = many_low
    look = near.size > 0
    for i in range(few_low, few_high):
        p = np.int64(few[i])
        if look and not near[p >> BLOCK_BITS]:
            continue
        at = gallop(many, at, many_high, p)
        both = at < many_high and np.int64(many[at]) == p
        if at > many_low and not (both and few_longer):
            q = np.int64(many[at - 1])
            if (
                0 <= p - q - many_length <= between
                and (i == few_low or np.int64(few[i - 1]) < q + few_shorter)
                and same_sentence(tokens, q, p)
            ):
                found[before_few] += 1
                if written < starts.size:
                    starts[written], seconds[written], orders[written] = q, p, before_few
                    written += 1
        following = at + (both and few_longer)
        if following < many_high:
            q = np.int64(many[following])
            if (
                0 <= q - p - few_length <= between
                and (i + 1 == few_high or np.int64(few[i + 1]) > q - few_longer)
                and same_sentence(tokens, p, q)
            ):
                found[after_few] += 1
                if written < starts.size:
                    starts[written], seconds[written], orders[written] = p, q, after_few
                    written += 1
    return written


@nb.njit(cache=True, nogil=True)
def find_couples(  # type: ignore[no-untyped-def]
    tokens, one, low1, high1, length1, two, low2, high2, length2, between, starts, seconds, orders, found
):
    """Couples of consecutive targets, one of each kind, at most `between` tokens apart, in corpus order.

    Occurrences are one[low1:high1] and two[low2:high2]. Writes the first target's start, the second's start and
    the order (PLUS: kind one stands first) of as many couples as the arrays hold, and to `found` how many there
    are in each order; returns how many were written.
    """
    nowhere = np.empty(0, np.bool_)
    if high1 - low1 > high2 - low2:
        return walk_couples(
            tokens, two, low2, high2, length2, one, low1, high1, length1, PLUS, MINUS,
            between, nowhere, starts, seconds, orders, found,
        )  # fmt: skip
    return walk_couples(
        tokens, one, low1, high1, length1, two, low2, high2, length2, MINUS, PLUS,
        between, nowhere, starts, seconds, orders, found,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def mark_reach(positions, low, high, reach, near, value):  # type: ignore[no-untyped-def]
    """Set near[] of every block that a token within `reach` of one of the positions lies in."""
    last = near.size - 1
    for i in range(low, high):
        p = np.int64(positions[i])
        near[max(p - reach, 0) >> BLOCK_BITS] = value
        near[p >> BLOCK_BITS] = value
        near[min((p + reach) >> BLOCK_BITS, last)] = value


@nb.njit(cache=True, nogil=True)
def find_repeats(tokens, one, low, high, length, between, starts, seconds, orders, found):  # type: ignore[no-untyped-def]
    """Couples of a word with itself: consecutive occurrences, each observed in both orders."""
    written = 0
    for i in range(low + 1, high):
        q = np.int64(one[i - 1])
        p = np.int64(one[i])
        if 0 <= p - q - length <= between and same_sentence(tokens, q, p):
            found[PLUS] += 1
            found[MINUS] += 1
            if written < starts.size:
                starts[written], seconds[written], orders[written] = q, p, BOTH
                written += 1
    return written


@nb.njit(cache=True, nogil=True)
def window_start(tokens, position, reach):  # type: ignore[no-untyped-def]
    """First token of the up to `reach` tokens before `position` in its sentence."""
    start = position
    while position - start < reach and start > 0 and not tokens[start] & SENTENCE_START:
        start -= 1
    return start


@nb.njit(cache=True, nogil=True)
def window_end(tokens, position, reach):  # type: ignore[no-untyped-def]
    """One past the last of the up to `reach` tokens from `position` on, before the next sentence opens."""
    end = position
    while end - position < reach and end < tokens.size and not tokens[end] & SENTENCE_START:
        end += 1
    return end


@nb.njit(cache=True, nogil=True)
def count_words(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, before, after, tick,
    packed, bigrams, sums, clocks, clock,
):  # fmt: skip
    """Add the single contexts of target t to row sums[t]: two segments of 1 + terms cells, the first cell void.

    Target t's occurrences are (extra if is_extra[t] else postings)[lows[t]:highs[t]]. A term counts once per value
    of the clock, which ticks for every occurrence, and with `tick` = 1 for every token too; clocks[c] is cell c's last.
    Returns the clock.

    There is no branch on what a token is: a token outside the basis counts in the void cell. Such branches cannot be
    predicted and made this twice as slow; so do the checks for negative indices, hence the unsigned numbers.
    """
    post = np.uint64(sums.shape[1] // 2)
    for t in range(lows.size):
        positions = extra if is_extra[t] else postings
        row = sums[t]
        high = highs[t]
        for i in range(lows[t], high):
            if i + AHEAD < high:
                soon = np.int64(positions[i + AHEAD])
                prefetch(tokens, soon - before)
                prefetch(tokens, soon + after)
            p = np.int64(positions[i])
            clock += 1
            stop = max(p - before, 0)
            at = p
            following = VOID
            while at > stop and not tokens[np.uint64(at)] & SENTENCE_START:
                at -= 1
                entry = packed[tokens[np.uint64(at)] & TYPE_MASK]
                cell = entry & PACK_MASK
                row[cell] += clocks[cell] != clock
                clocks[cell] = clock
                cell = np.uint64(bigrams[entry >> FIRST_SHIFT, following])
                row[cell] += clocks[cell] != clock
                clocks[cell] = clock
                following = (entry >> SECOND_SHIFT) & PACK_MASK
                clock += tick
            at = p + lengths[t]
            stop = min(at + after, tokens.size)
            previous = VOID
            while at < stop and not tokens[np.uint64(at)] & SENTENCE_START:
                entry = packed[tokens[np.uint64(at)] & TYPE_MASK]
                cell = post + (entry & PACK_MASK)
                row[cell] += clocks[cell] != clock
                clocks[cell] = clock
                cell = post + np.uint64(bigrams[previous, (entry >> SECOND_SHIFT) & PACK_MASK])
                row[cell] += clocks[cell] != clock
                clocks[cell] = clock
                previous = entry >> FIRST_SHIFT
                clock += tick
                at += 1
    return clock


@nb.njit(cache=True, nogil=True)
def emit_rows(sums, rows, columns, values, row_ends):  # type: ignore[no-untyped-def]
    """Move the first rows of sums to the output, void cells left out, and clear them; returns the entries."""
    at = 0
    half = sums.shape[1] // 2
    for t in range(rows):
        row = sums[t]
        for segment in range(2):
            row[segment * half] = 0
            for cell in range(segment * half + 1, (segment + 1) * half):
                columns[at] = cell - 1 - segment
                values[at] = row[cell]
                at += row[cell] != 0
        row[:] = 0
        row_ends[t] = at
    return at


@nb.njit(cache=True, nogil=True)
def find_all_couples(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, ones, twos, swapped, rooms, between, first, near,
    starts, seconds, orders, ends, found,
):  # fmt: skip
    """Couples of the pairs (ones[k], twos[k]), k = first.., one pair after the other; pair k's end at ends[k].

    The walk goes over ones[k], of few occurrences, and gallops through those of twos[k]. Where several pairs in a row
    have the same twos[k], the blocks of the shard that are in its reach are marked in `near` (all False before and
    after), and whatever of ones[k] lies elsewhere is passed over. PLUS says that ones[k] stands first, or
    twos[k] if swapped[k].

    At most rooms[k] couples of a pair are written, but all are counted in found[k]. Stops before a pair whose couples
    may not fit; returns the number of the first pair not done.
    """
    at = 0
    reach = between + lengths.max()
    marked = -1
    looked = -1
    stop = ones.size
    nowhere = near[:0]
    if reach > 1 << BLOCK_BITS:  # marks at both ends of the reach and in its middle would leave gaps
        near = nowhere
    for k in range(first, ones.size):
        a, b = ones[k], twos[k]
        ends[k] = at
        most = 2 * min(highs[a] - lows[a], highs[b] - lows[b])
        if most == 0:
            continue
        most = min(most, rooms[k])
        if starts.size - at < most:
            stop = k
            break
        one = extra if is_extra[a] else postings
        two = extra if is_extra[b] else postings
        s, t, o = starts[at : at + most], seconds[at : at + most], orders[at : at + most]
        if a == b:
            at += find_repeats(tokens, one, lows[a], highs[a], lengths[a], between, s, t, o, found[k])
            ends[k] = at
            continue
        if b != looked:
            if marked >= 0:
                mark_reach(
                    extra if is_extra[marked] else postings, lows[marked], highs[marked], reach, near, False
                )
                marked = -1
            looked = b
            steps = 0
            n = k
            while n < ones.size and twos[n] == b:
                steps += highs[ones[n]] - lows[ones[n]]
                n += 1
            if near.size and STEPS_PER_MARK * steps > highs[b] - lows[b]:
                mark_reach(two, lows[b], highs[b], reach, near, True)
                marked = b
        before, after = (PLUS, MINUS) if swapped[k] else (MINUS, PLUS)
        at += walk_couples(
            tokens, one, lows[a], highs[a], lengths[a], two, lows[b], highs[b], lengths[b], before, after,
            between, near if marked >= 0 else nowhere, s, t, o, found[k],
        )  # fmt: skip
        ends[k] = at
    if marked >= 0:
        mark_reach(extra if is_extra[marked] else postings, lows[marked], highs[marked], reach, near, False)
    return stop


@nb.njit(cache=True, nogil=True)
def add_segment(tokens, start, end, offset, copy, packed, bigrams, clocks, clock, tick, columns, at):  # type: ignore[no-untyped-def]
    """Append the columns offset + term of tokens start..end-1, a second time shifted by `copy` if that is not 0."""
    previous = VOID
    for position in range(start, end):
        entry = packed[tokens[position] & TYPE_MASK]
        second = (entry >> SECOND_SHIFT) & PACK_MASK
        for term in (entry & PACK_MASK, np.uint64(bigrams[previous, second])):
            if term and clocks[term] != clock:
                clocks[term] = clock
                columns[at] = offset + np.int64(term) - 1
                at += 1
                if copy:
                    columns[at] = columns[at - 1] + copy
                    at += 1
        previous = entry >> FIRST_SHIFT
        clock += tick
    return at, clock + 1


@nb.njit(cache=True, nogil=True)
def list_columns(  # type: ignore[no-untyped-def]
    tokens, starts, seconds, orders, lengths1, lengths2, left, right, tick, packed, bigrams, terms,
    clocks, clock, columns, ends,
):  # fmt: skip
    """Columns of the features that each couple adds to, couple i's ending at ends[i]; returns the clock.

    lengths1 and lengths2 are the tokens of the pair's two targets. A couple of equal words adds to both orders.
    """
    at = 0
    for i in range(starts.size):
        p, q, order = np.int64(starts[i]), np.int64(seconds[i]), orders[i]
        p_end = p + (lengths2[i] if order == MINUS else lengths1[i])
        q_end = q + (lengths1[i] if order == MINUS else lengths2[i])
        offset = 3 * terms if order == MINUS else 0
        copy = 3 * terms if order == BOTH else 0
        parts = (
            (window_start(tokens, p, left), p),
            (p_end, q),
            (q_end, window_end(tokens, q_end, right)),
        )
        for start, end in parts:
            at, clock = add_segment(
                tokens, start, end, offset, copy, packed, bigrams, clocks, clock, tick, columns, at
            )
            offset += terms
        ends[i] = at
    return clock


@nb.njit(cache=True, nogil=True)
def find_runs(tokens, key_of_type, keys, anchor, candidates, out):  # type: ignore[no-untyped-def]
    """Starts of the run of keys, given the candidate positions of its `anchor`-th key, within one sentence."""
    found = 0
    for i in range(candidates.size):
        start = np.int64(candidates[i]) - anchor
        if start < 0 or start + keys.size > tokens.size:
            continue
        matches = True
        for k in range(keys.size):
            token = tokens[start + k]
            if key_of_type[token & TYPE_MASK] != keys[k] or (k > 0 and token & SENTENCE_START):
                matches = False
                break
        if matches:
            out[found] = start
            found += 1
    return found
