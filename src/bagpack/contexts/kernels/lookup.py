"""Finding many words in a sorted lexicon: first among every 16th key, whose first bytes are kept as one number."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.kernels.intrinsics import prefetch
from bagpack.corpus.store.strings import FEW, Strings, compare
from bagpack.jit import kernel, read_only, subroutine

I64 = NDArray[np.int64]
STEP = 16
AT_ONCE = 32
BYTES_PER_LINE = 64
FETCHED = 512
LAST = np.uint64(np.iinfo(np.uint64).max)


@subroutine
def first_bytes(blob, start, end):  # type: ignore[no-untyped-def]
    """Up to eight bytes as a big-endian number, which compares as they do."""
    value = np.uint64(0)
    for k in range(8):
        value <<= np.uint64(8)
        if start + k < end:
            value |= np.uint64(blob[start + k])
    return value


@subroutine
def first_not_below(sample, wanted):  # type: ignore[no-untyped-def]
    """Index of the first number that is not below `wanted`.

    No branch depends on the comparison, so that the processor can start the next search early.
    """
    low, size = 0, sample.size
    while size > 0:
        half = size >> 1
        smaller = sample[low + half] < wanted
        low = low + half + 1 if smaller else low
        size = size - half - 1 if smaller else half
    return low


@kernel
def find_words(blob, offsets, sample, step, words, word_offsets, lows, highs, out):  # type: ignore[no-untyped-def]
    """Index of each word among the sorted keys, or -1.

    Several words are searched at once, and what each reads next is fetched before any is waited for.
    """
    count = offsets.size - 1
    for first in range(0, word_offsets.size - 1, AT_ONCE):
        last = min(first + AT_ONCE, word_offsets.size - 1)
        for w in range(first, last):
            wanted = first_bytes(words, np.int64(word_offsets[w]), np.int64(word_offsets[w + 1]))
            at = first_not_below(sample, wanted)
            above = at
            if at < sample.size and sample[at] == wanted:
                above = sample.size if wanted == LAST else first_not_below(sample, wanted + np.uint64(1))
            low, high = max(at - 1, 0) * step, min(above * step, count)
            lows[w - first], highs[w - first] = low, high
            prefetch(offsets, low)
            prefetch(offsets, high)
        for w in range(first, last):
            low, high = np.int64(offsets[lows[w - first]]), np.int64(offsets[highs[w - first]])
            for at in range(low, min(high, low + FETCHED), BYTES_PER_LINE):
                prefetch(blob, at)
        for w in range(first, last):
            low, high = lows[w - first], highs[w - first]
            start, end = np.int64(word_offsets[w]), np.int64(word_offsets[w + 1])
            while low < high:
                middle = (low + high) // 2
                if (
                    compare(blob, np.int64(offsets[middle]), np.int64(offsets[middle + 1]), words, start, end)
                    < 0
                ):
                    low = middle + 1
                else:
                    high = middle
            out[w] = -1
            if low < count and (
                compare(blob, np.int64(offsets[low]), np.int64(offsets[low + 1]), words, start, end) == 0
            ):
                out[w] = low


def sample_keys(keys: Strings, step: int) -> NDArray[np.uint64]:
    """First bytes of every step-th key, from the first one on, as `first_bytes` makes them."""
    starts = keys.offsets[:-1:step].astype(np.int64)
    ends = keys.offsets[1::step].astype(np.int64)
    drawn = np.zeros(starts.size, np.uint64)
    for k in range(8):
        inside = np.flatnonzero(starts + k < ends)
        drawn[inside] |= keys.blob[starts[inside] + k].astype(np.uint64) << np.uint64(56 - 8 * k)
    return drawn


_samples: WeakKeyDictionary[Any, NDArray[np.uint64]] = WeakKeyDictionary()


def find_keys(lexicon: Any, words: Strings) -> I64:
    """Index of each word in `lexicon.keys`, or -1; the sample is kept as long as the lexicon (or shard) is."""
    keys: Strings = lexicon.keys
    sample = _samples.get(lexicon)
    if len(words) <= FEW:
        return keys.find(words)
    if sample is None:
        sample = _samples[lexicon] = read_only(sample_keys(keys, STEP))
    out = np.empty(len(words), np.int64)
    lows, highs = np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE, np.int64)
    find_words(keys.blob, keys.offsets, sample, STEP, words.blob, words.offsets, lows, highs, out)
    return out
