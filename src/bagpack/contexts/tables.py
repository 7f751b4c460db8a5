"""A basis as the counting kernels need it.

A shard gives each of its types the number of a basis word, 0 for none; there are few such words, so their facts stay
in the cache. Of each word one entry tells its cell as a unigram, and its place among the second and among the first
words of basis bigrams; a matrix (first, second) gives the cell of a bigram. Term t, from 0 on, has cell VOIDS + t; what
is no term has cell 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings, read_only

VOIDS = 8  # cells before the first term's; see `word_kernels`
PACK_BITS = 20
PACK_MASK = np.uint64((1 << PACK_BITS) - 1)
SECOND_SHIFT = np.uint64(PACK_BITS)
FIRST_SHIFT = np.uint64(2 * PACK_BITS)
VOID = np.uint64(0)


@dataclass(frozen=True)
class BasisTables:
    """What the kernels read while they count in one shard."""

    ids: NDArray[Any]  # of each type: the number of its basis word, 0 for none
    entries: NDArray[np.uint64]  # of each basis word: cell, place as a second word, place as a first word
    bigrams: NDArray[Any]


@lru_cache(maxsize=8)
def word_tables(basis: Basis) -> tuple[Strings, NDArray[np.uint64], NDArray[Any]]:
    """The words of the basis, those of frequent terms first; entries of none and of each; the cells of bigrams."""
    firsts = {word: i for i, word in enumerate(dict.fromkeys(first for first, _ in basis.bigrams), 1)}
    seconds = {word: i for i, word in enumerate(dict.fromkeys(second for _, second in basis.bigrams), 1)}
    unigrams = {word: i for i, word in enumerate(basis.unigrams, VOIDS)}
    small = len(basis) + VOIDS <= np.iinfo(np.uint16).max
    bigrams = np.zeros((1 + len(firsts), 1 + len(seconds)), np.uint16 if small else np.uint32)
    for cell, (first, second) in enumerate(basis.bigrams, VOIDS + len(unigrams)):
        bigrams[firsts[first], seconds[second]] = cell
    words = list(dict.fromkeys([*unigrams, *firsts, *seconds]))
    entries = [0] + [
        unigrams.get(word, 0) | seconds.get(word, 0) << PACK_BITS | firsts.get(word, 0) << 2 * PACK_BITS
        for word in words
    ]
    return Strings.of(words), read_only(np.array(entries, np.uint64)), read_only(bigrams)


@lru_cache(maxsize=256)
def basis_tables(shard: Shard, basis: Basis) -> BasisTables:
    """Look the basis up in a shard's lexicon."""
    words, entries, bigrams = word_tables(basis)
    of_key = np.zeros(len(shard.keys), np.uint16 if entries.size <= 1 << 16 else np.uint32)
    found = shard.keys.find(words)
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = 1 + known
    return BasisTables(read_only(of_key[shard.key_of_type]), entries, bigrams)
