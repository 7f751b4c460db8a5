"""Kernels that count the partners of words: every vocabulary word that co-occurs with them.

A co-occurrence of (A, B) is two consecutive targets of the pair, so B is the nearest B on that side of A, and no other
A is between. From an occurrence of A, a walk in either direction ends at the next A, and each B counts only where it
occurs first. Targets that start at one token are in the order of their lengths.
"""

from __future__ import annotations

import numpy as np

from bagpack.contexts.kernels.tokens import prefetch
from bagpack.corpus.format import SENTENCE_START, TYPE_MASK
from bagpack.kernels import allocating_kernel, kernel, lower_bound

AHEAD = 8  # occurrences whose tokens are prefetched
SOON = 3  # occurrences the vocabulary numbers of whose tokens are prefetched


@kernel
def meet(b, fits, bound, stamps, clock, sums, other, touched, count):  # type: ignore[no-untyped-def]
    """Count partner b (-1: none), if it is the first of its kind on this side and fits; returns how many there are."""
    if b >= 0 and stamps[b] != clock:
        stamps[b] = clock
        if fits and b < bound:
            if sums[b] == 0 and other[b] == 0:
                touched[count] = b
                count += 1
            sums[b] += 1
    return count


@kernel
def count_partners(  # type: ignore[no-untyped-def]
    tokens, ids, run_positions, run_ids, lengths, longest, postings, extra, is_extra, lows, highs, words, between,
    every, after, before, stamps, clock, touched, partners, n_after, n_before, sizes,
):  # fmt: skip
    """Partners of words[n], whose occurrences are lows[n]..highs[n], how often after it and how often before it.

    ids gives the number of a type's word, -1 for none; runs are the occurrences of all other targets (of several
    tokens, or with a part of speech), ordered by position and length. Unless `every`, only partners with a smaller
    number than the word itself are counted.
    `after`, `before`, `stamps` and `touched` have a cell for each target; the first two are zero before and after.
    Returns the clock.
    """
    runs = run_positions.size
    at = 0
    for n in range(words.size):
        a = words[n]
        length = lengths[a]
        positions = extra if is_extra[n] else postings
        bound = lengths.size if every else a
        count = 0
        for i in range(lows[n], highs[n]):
            if i + AHEAD < highs[n]:
                prefetch(tokens, np.int64(positions[i + AHEAD]))
            if i + SOON < highs[n]:
                soon = np.int64(positions[i + SOON])
                for k in range(max(soon - between, 0), min(soon + between, tokens.size)):
                    prefetch(ids, np.int64(tokens[k] & TYPE_MASK))
            p = np.int64(positions[i])
            clock += 1
            run = lower_bound(run_positions, np.int64(0), runs, p) if runs else 0
            met = False
            for j in range(p, min(p + length + between, tokens.size - 1) + 1):
                if j > p:
                    if tokens[j] & SENTENCE_START:
                        break
                    b = np.int64(ids[tokens[j] & TYPE_MASK])
                    if b == a:
                        break
                    count = meet(b, j >= p + length, bound, stamps, clock, after, before, touched, count)
                while run < runs and run_positions[run] == j:
                    b = np.int64(run_ids[run])
                    run += 1
                    if j == p and lengths[b] <= length:
                        continue
                    if b == a:
                        met = True
                        break
                    count = meet(b, j >= p + length, bound, stamps, clock, after, before, touched, count)
                if met:
                    break
            clock += 1
            met = False
            run = lower_bound(run_positions, np.int64(0), runs, p + 1) - 1 if runs else -1
            for j in range(p, max(p - longest - between, 0) - 1, -1):
                while run >= 0 and run_positions[run] == j:
                    b = np.int64(run_ids[run])
                    run -= 1
                    if j == p and lengths[b] >= length:
                        continue
                    if b == a:
                        met = True
                        break
                    fits = 0 <= p - j - lengths[b] <= between
                    count = meet(b, fits, bound, stamps, clock, before, after, touched, count)
                if met:
                    break
                if j < p or length > 1:
                    b = np.int64(ids[tokens[j] & TYPE_MASK])
                    if b == a:
                        break
                    fits = 0 <= p - j - 1 <= between
                    count = meet(b, fits, bound, stamps, clock, before, after, touched, count)
                if tokens[j] & SENTENCE_START:
                    break
        for t in range(count):
            b = touched[t]
            partners[at], n_after[at], n_before[at] = b, after[b], before[b]
            after[b] = before[b] = 0
            at += 1
        sizes[n] = count
    return clock


@allocating_kernel
def merge_partners(  # type: ignore[no-untyped-def]
    cursors, sizes, partners, n_after, n_before, after, before, touched, least, out, out_after, out_before, out_sizes
):  # fmt: skip
    """Add up the partners of each word over segments, ordered by number; those with fewer than `least` are dropped.

    Segment s lists the partners of all words in order, from cursors[s] on, sizes[s, n] for word n. Returns how many
    there are in all.
    """
    at = 0
    for n in range(out_sizes.size):
        count = 0
        for s in range(cursors.size):
            for k in range(cursors[s], cursors[s] + sizes[s, n]):
                b = partners[k]
                if after[b] == 0 and before[b] == 0:
                    touched[count] = b
                    count += 1
                after[b] += n_after[k]
                before[b] += n_before[k]
            cursors[s] += sizes[s, n]
        first = at
        for b in np.sort(touched[:count]):
            if after[b] + before[b] >= least:
                out[at], out_after[at], out_before[at] = b, after[b], before[b]
                at += 1
            after[b] = before[b] = 0
        out_sizes[n] = at - first
    return at
