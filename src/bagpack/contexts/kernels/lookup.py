"""Finding many words in a sorted lexicon: first among every 16th key, whose first bytes are kept as one number."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.strings import FEW, Strings

I64 = NDArray[np.int64]
STEP = 16


def first_bytes(strings: Strings, step: int = 1) -> NDArray[np.uint64]:
    """Up to eight bytes of every step-th string as big-endian numbers, which sort as the strings do."""
    starts = strings.offsets[:-1:step].astype(np.int64)
    ends = strings.offsets[1::step].astype(np.int64)
    numbers = np.zeros(starts.size, np.uint64)
    for k in range(8):
        inside = np.flatnonzero(starts + k < ends)
        numbers[inside] |= strings.blob[starts[inside] + k].astype(np.uint64) << np.uint64(56 - 8 * k)
    return numbers


_samples: WeakKeyDictionary[Any, NDArray[np.uint64]] = WeakKeyDictionary()


def find_keys(lexicon: Any, words: Strings) -> I64:
    """Index of each word in `lexicon.keys`, or -1; the sample is kept as long as the lexicon (or shard) is."""
    keys: Strings = lexicon.keys
    if len(words) <= FEW:
        return keys.find(words)
    sample = _samples.get(lexicon)
    if sample is None:
        sample = _samples[lexicon] = first_bytes(keys, STEP)
    wanted = first_bytes(words)
    order = np.argsort(wanted)  # what is read for one word is in the cache for the next
    wanted = wanted[order]
    lows = np.maximum(np.searchsorted(sample, wanted) - 1, 0) * STEP
    highs = np.minimum(np.searchsorted(sample, wanted, side="right") * STEP, len(keys))
    out = np.empty(len(words), np.int64)
    out[order] = keys.find_between(words.take(order), lows, highs)
    return out
