"""Kernels over the arrays of one shard: couples of two targets, the bounds of windows, runs of words.

A target's occurrences are an ascending array of positions and a length in tokens. A token's sentence flag bounds every
window. What counts basis terms is in `word_kernels` and `feature_kernels`.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK

PLUS, MINUS, BOTH = 0, 1, 2


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
def couples_of(  # type: ignore[no-untyped-def]
    few, i, few_low, few_high, few_length, many, at, many_low, many_high, many_length, between
):
    """Where the consecutive targets before and after occurrence i of one kind are of the other, -1 if not.

    Sentences are not looked at. `at` is the first of `many` that does not stand before few[i]. Where both kinds start
    at one token (`ice` and `ice cream`), the shorter comes first.
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


@nb.njit(cache=True, nogil=True)
def find_couples(  # type: ignore[no-untyped-def]
    tokens, one, low1, high1, length1, two, low2, high2, length2, between, starts, seconds, orders, found
):
    """Couples of consecutive targets, one of each kind, at most `between` tokens apart, in corpus order.

    Occurrences are one[low1:high1] and two[low2:high2]. Writes the first target's start, the second's start and
    the order (PLUS: kind one stands first) of as many couples as the arrays hold, and to `found` how many there
    are in each order; returns how many were written.
    """
    swapped = high1 - low1 > high2 - low2
    few, few_low, few_high, few_length = (
        (two, low2, high2, length2) if swapped else (one, low1, high1, length1)
    )
    many, many_low, many_high, many_length = (
        (one, low1, high1, length1) if swapped else (two, low2, high2, length2)
    )
    written = 0
    at = many_low
    for i in range(few_low, few_high):
        p = np.int64(few[i])
        at = gallop(many, at, many_high, p)
        before, after = couples_of(
            few, i, few_low, few_high, few_length, many, at, many_low, many_high, many_length, between
        )
        for first, second, order in (
            (before, p, PLUS if swapped else MINUS),
            (p, after, MINUS if swapped else PLUS),
        ):
            if first < 0 or second < 0 or not same_sentence(tokens, first, second):
                continue
            found[order] += 1
            if written < starts.size:
                starts[written], seconds[written], orders[written] = first, second, order
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
