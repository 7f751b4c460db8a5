"""The counting kernels: free functions over arrays, one shard at a time.

A target's occurrences are an ascending array of positions and a length in tokens. Basis terms come as one packed
number per type (its term as a unigram, its place among the first and among the second words of basis bigrams; each
plus one, zero for none) and a matrix (first, second) → term. All positions are of one shard; a token's sentence flag
bounds every window.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from bagpack.corpus.columns import SENTENCE_START, TYPE_MASK

PLUS, MINUS, BOTH = 0, 1, 2
PACK_BITS = 20
PACK_MASK = (1 << PACK_BITS) - 1


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
def find_couples(  # type: ignore[no-untyped-def]
    tokens, one, low1, high1, length1, two, low2, high2, length2, between, starts, seconds, orders, found
):
    """Couples of consecutive targets, one of each kind, at most `between` tokens apart, in corpus order.

    Occurrences are one[low1:high1] and two[low2:high2]. Writes the first target's start, the second's start and
    the order (PLUS: kind one stands first) of as many couples as the arrays hold, and to `found` how many there
    are in each order; returns how many were written. The walk goes over the shorter list and gallops through the
    longer.
    """
    if high1 - low1 > high2 - low2:
        swapped = True
        few, few_low, few_high, few_length = two, low2, high2, length2
        many, many_low, many_high, many_length = one, low1, high1, length1
    else:
        swapped = False
        few, few_low, few_high, few_length = one, low1, high1, length1
        many, many_low, many_high, many_length = two, low2, high2, length2
    before_few, after_few = (PLUS, MINUS) if swapped else (MINUS, PLUS)
    written = 0
    at = many_low
    for i in range(few_low, few_high):
        p = np.int64(few[i])
        at = gallop(many, at, many_high, p)
        if at > many_low:
            q = np.int64(many[at - 1])
            if (
                0 <= p - q - many_length <= between
                and (i == few_low or np.int64(few[i - 1]) < q)
                and same_sentence(tokens, q, p)
            ):
                found[before_few] += 1
                if written < starts.size:
                    starts[written], seconds[written], orders[written] = q, p, before_few
                    written += 1
        if at < many_high:
            q = np.int64(many[at])
            if (
                0 <= q - p - few_length <= between
                and (i + 1 == few_high or np.int64(few[i + 1]) > q)
                and same_sentence(tokens, p, q)
            ):
                found[after_few] += 1
                if written < starts.size:
                    starts[written], seconds[written], orders[written] = p, q, after_few
                    written += 1
    return written


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
def count_segment(tokens, start, end, offset, clock, packed, bigrams, sums, touched, used):  # type: ignore[no-untyped-def]
    """Add the basis terms in tokens start..end-1 to the columns from `offset` on.

    A term counts once per value of `clock`, which the caller advances for every segment (`clock` < 0: every token
    counts). sums[c] is column c's count and the clock of its last one; `touched` lists the columns that are not zero,
    `used` of them. Returns the new `used`.
    """
    previous = np.int64(0)
    for position in range(start, end):
        entry = packed[tokens[position] & TYPE_MASK]
        term = entry & PACK_MASK
        if term:
            column = offset + term - 1
            if sums[column, 1] != clock:
                if sums[column, 0] == 0:
                    touched[used] = column
                    used += 1
                sums[column, 0] += 1
                if clock > 0:
                    sums[column, 1] = clock
        second = (entry >> PACK_BITS) & PACK_MASK
        if previous and second:
            term = np.int64(bigrams[previous - 1, second - 1])
            if term:
                column = offset + term - 1
                if sums[column, 1] != clock:
                    if sums[column, 0] == 0:
                        touched[used] = column
                        used += 1
                    sums[column, 0] += 1
                    if clock > 0:
                        sums[column, 1] = clock
        previous = entry >> (2 * PACK_BITS)
    return used


@nb.njit(cache=True, nogil=True)
def emit_row(sums, touched, used, columns, values, at):  # type: ignore[no-untyped-def]
    """Move the touched sums to the output in column order and clear them."""
    if used > sums.shape[0] // 32:  # a scan of all columns is quicker than sorting many
        for column in range(sums.shape[0]):
            if sums[column, 0]:
                columns[at] = column
                values[at] = sums[column, 0]
                sums[column, 0] = 0
                sums[column, 1] = 0
                at += 1
        return at
    ordered = np.sort(touched[:used])
    for k in range(used):
        column = ordered[k]
        columns[at + k] = column
        values[at + k] = sums[column, 0]
        sums[column, 0] = 0
        sums[column, 1] = 0
    return at + used


@nb.njit(cache=True, nogil=True)
def count_words(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, picks, pick_bounds, before, after, per_token,
    packed, bigrams, terms, first, sums, touched, columns, values, row_ends,
):  # fmt: skip
    """Single contexts of targets first.. : a row of 2·terms columns each, `row_ends` telling where it ends.

    Target t's occurrences are (extra if is_extra[t] else postings)[lows[t]:highs[t]]; if pick_bounds is not empty,
    only those numbered picks[pick_bounds[t]:pick_bounds[t+1]]. Stops before a row that may not fit; returns the
    number of the first target not counted.
    """
    at = 0
    picked = pick_bounds.size > 0
    for t in range(first, lows.size):
        if columns.size - at < 2 * terms:
            return t
        positions = extra if is_extra[t] else postings
        used = 0
        clock = -1 if per_token else 0
        count = pick_bounds[t + 1] - pick_bounds[t] if picked else highs[t] - lows[t]
        for i in range(count):
            k = picks[pick_bounds[t] + i] if picked else i
            p = np.int64(positions[lows[t] + k])
            clock += not per_token
            start = window_start(tokens, p, before)
            used = count_segment(tokens, start, p, 0, clock, packed, bigrams, sums, touched, used)
            p += lengths[t]
            end = window_end(tokens, p, after)
            used = count_segment(tokens, p, end, terms, clock, packed, bigrams, sums, touched, used)
        at = emit_row(sums, touched, used, columns, values, at)
        row_ends[t] = at
    return lows.size


@nb.njit(cache=True, nogil=True)
def count_pairs(  # type: ignore[no-untyped-def]
    tokens, postings, extra, is_extra, lows, highs, lengths, ones, twos, quotas, picks, pick_bounds,
    left, between, right, per_token, packed, bigrams, terms, first,
    sums, touched, starts, seconds, orders, columns, values, row_ends, found, taken,
):  # fmt: skip
    """Pair contexts of pairs first.. : a row of 6·terms columns each.

    Pair k is of targets ones[k] and twos[k]; its first quotas[k] couples are counted, or, if pick_bounds is not
    empty, those numbered picks[pick_bounds[k]:pick_bounds[k+1]]. found[k] gets how many couples there are in each
    order, taken[k] how many of them were counted. The couple buffers hold the largest quota (or pick). Stops
    before a row that may not fit; returns the number of the first pair not counted.
    """
    at = 0
    picked = pick_bounds.size > 0
    for k in range(first, ones.size):
        if columns.size - at < 6 * terms:
            return k
        a, b = ones[k], twos[k]
        row_ends[k] = at
        if highs[a] == lows[a] or highs[b] == lows[b]:
            continue
        one = extra if is_extra[a] else postings
        two = extra if is_extra[b] else postings
        if a == b:
            written = find_repeats(
                tokens, one, lows[a], highs[a], lengths[a], between, starts, seconds, orders, found[k]
            )
        else:
            written = find_couples(
                tokens, one, lows[a], highs[a], lengths[a], two, lows[b], highs[b], lengths[b], between,
                starts, seconds, orders, found[k],
            )  # fmt: skip
        take = pick_bounds[k + 1] - pick_bounds[k] if picked else min(written, quotas[k])
        used = 0
        clock = -1 if per_token else 0
        for n in range(take):
            i = picks[pick_bounds[k] + n] if picked else n
            p, q, order = starts[i], seconds[i], orders[i]
            first_end = p + (lengths[b] if order == MINUS else lengths[a])
            second_end = q + (lengths[a] if order == MINUS else lengths[b])
            clock += not per_token
            for sign in range(2):
                if order == 1 - sign:
                    continue
                taken[k, sign] += 1
                offset = 3 * terms * sign
                start = window_start(tokens, p, left)
                used = count_segment(tokens, start, p, offset, clock, packed, bigrams, sums, touched, used)
                offset += terms
                used = count_segment(
                    tokens, first_end, q, offset, clock, packed, bigrams, sums, touched, used
                )
                offset += terms
                end = window_end(tokens, second_end, right)
                used = count_segment(
                    tokens, second_end, end, offset, clock, packed, bigrams, sums, touched, used
                )
        at = emit_row(sums, touched, used, columns, values, at)
        row_ends[k] = at
    return ones.size


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
