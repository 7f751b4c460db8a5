"""A basis as the counting kernels need it.

A shard gives each of its types the number of a basis word, 0 for none; there are few such words, so their entries stay
in the cache (see `kernels.terms`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis.terms import Basis, split_term
from bagpack.contexts.kernels.terms import MOST_TERMS, PACK_BITS, VOIDS, fill_slots
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.tagsets import CODES, UNIVERSAL
from bagpack.errors import UsageError
from bagpack.jit import read_only

NO_TAGS: NDArray[np.uint8] = np.empty(0, np.uint8)
MATRIX_CELLS = 1 << 24  # of all first and second words of bigrams; beyond that, a hash table is smaller


@dataclass(frozen=True)
class BasisTables:
    """What the kernels read while they count in one shard."""

    ids: NDArray[Any]  # of each type: the number of its basis word, 0 for none
    tags: NDArray[np.uint8]  # of each token, if the basis has parts of speech
    entries: NDArray[np.uint64]  # of each basis word: cell, number as a second word, number as a first word
    bigrams: NDArray[Any]

    @property
    def most_terms(self) -> int:
        """Terms that a token can add at most: as a unigram, and as the second word of a bigram."""
        readings = 1 if self.entries.ndim == 1 else self.entries.shape[2]
        return readings + readings * readings


@lru_cache(maxsize=8)
def word_tables(basis: Basis) -> tuple[Strings, NDArray[np.uint64], NDArray[Any]]:
    """The words of the basis, those of frequent terms first; entries of none and of each; the cells of bigrams."""
    if len(basis) > MOST_TERMS:
        raise UsageError(f"the basis has {len(basis):,} terms; give at most {MOST_TERMS:,}")
    firsts = {word: i for i, word in enumerate(dict.fromkeys(first for first, _ in basis.bigrams), 1)}
    seconds = {word: i for i, word in enumerate(dict.fromkeys(second for _, second in basis.bigrams), 1)}
    unigrams = {word: i for i, word in enumerate(basis.unigrams, VOIDS)}
    numbers = [
        np.fromiter((number[bigram[side]] for bigram in basis.bigrams), np.uint64, len(basis.bigrams))
        for side, number in enumerate((firsts, seconds))
    ]
    bigrams = _bigram_table(numbers[0], numbers[1], len(firsts), len(seconds), VOIDS + len(unigrams))
    entry_of = {
        word: unigrams.get(word, 0) | seconds.get(word, 0) << PACK_BITS | firsts.get(word, 0) << 2 * PACK_BITS
        for word in [*unigrams, *firsts, *seconds]
    }
    if basis.tagged:
        words, entries = _readings(entry_of)
    else:
        words, entries = list(entry_of), np.array([0, *entry_of.values()], np.uint64)
    return Strings.of(words), read_only(entries), read_only(bigrams)


def _readings(entry_of: dict[str, int]) -> tuple[list[str], NDArray[np.uint64]]:
    """Distinct words without tags; entries of none and of each with each tag, a column for each kind of reading."""
    split = {word: split_term(word) for word in entry_of}
    words = list(dict.fromkeys(stem for stem, _ in split.values() if stem))
    number = {word: i for i, word in enumerate(words, 1)}
    kinds = sorted({(bool(stem), bool(tag)) for stem, tag in split.values()})
    entries = np.zeros((1 + len(words), len(UNIVERSAL), len(kinds)), np.uint64)
    for word, (stem, tag) in split.items():
        which = number[stem] if stem else slice(None)
        entries[which, CODES[tag] if tag else slice(None), kinds.index((bool(stem), bool(tag)))] = entry_of[
            word
        ]
    return words, entries


def _bigram_table(
    firsts: NDArray[np.uint64], seconds: NDArray[np.uint64], most_first: int, most_second: int, cell: int
) -> NDArray[Any]:
    """What `bigram_cell` reads: a matrix of cells, or a hash table that is at most half full."""
    if (1 + most_first) * (1 + most_second) <= MATRIX_CELLS:
        small = cell + firsts.size <= np.iinfo(np.uint16).max
        matrix = np.zeros((1 + most_first, 1 + most_second), np.uint16 if small else np.uint32)
        matrix[firsts, seconds] = np.arange(cell, cell + firsts.size)
        return matrix
    slots = np.zeros(1 << (2 * firsts.size).bit_length(), np.uint64)
    fill_slots(firsts, seconds, cell, slots)
    return slots


@lru_cache(maxsize=256)
def basis_tables(shard: Shard, basis: Basis) -> BasisTables:
    """Look the basis up in a shard's lexicon."""
    words, entries, bigrams = word_tables(basis)
    of_key = np.zeros(len(shard.keys), np.uint16 if len(entries) <= 1 << 16 else np.uint32)
    found = shard.keys.find(words)
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = 1 + known
    tags = shard.tags if basis.tagged else NO_TAGS
    return BasisTables(read_only(of_key[shard.key_of_type]), tags, entries, bigrams)
