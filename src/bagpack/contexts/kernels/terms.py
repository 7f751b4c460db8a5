"""How the cells of basis terms are looked up; `basis_tables` builds what is read here.

A basis word has one entry of 64 bits: its cell as a unigram, its number among the second words and its number among
the first words of basis bigrams, 21 bits each. Term t, from 0 on, has cell VOIDS + t; what is not a term has cell 0.
"""

from __future__ import annotations

import numpy as np

from bagpack.jit import kernel, subroutine

VOIDS = 8  # cells before the first term's; see `words`
PACK_BITS = 21
MOST_TERMS = (1 << PACK_BITS) - VOIDS
PACK_MASK = np.uint64((1 << PACK_BITS) - 1)
SECOND_SHIFT = np.uint64(PACK_BITS)
FIRST_SHIFT = np.uint64(2 * PACK_BITS)
VOID = np.uint64(0)
ONE = np.uint64(1)
MIX = np.uint64(0x9E3779B97F4A7C15)
HIGH = np.uint64(32)


@subroutine
def slot_of(key, mask):  # type: ignore[no-untyped-def]
    """Where the search for a bigram starts in a hash table."""
    return ((key * MIX) >> HIGH) & mask


@subroutine
def bigram_cell(bigrams, first, second):  # type: ignore[no-untyped-def]
    """Cell of a bigram, 0 if it is not a term: from a matrix (first, second), or from a hash table where that is large.

    A slot of the hash table has first, second and cell, 21 bits each; 0 is an empty slot.
    """
    if bigrams.ndim == 2:
        return np.uint64(bigrams[first, second])
    key = (first << SECOND_SHIFT) | second
    mask = np.uint64(bigrams.size - 1)
    slot = slot_of(key, mask)
    while bigrams[slot] != VOID:
        if bigrams[slot] >> SECOND_SHIFT == key:
            return bigrams[slot] & PACK_MASK
        slot = (slot + ONE) & mask
    return VOID


@kernel
def fill_slots(firsts, seconds, cell, bigrams):  # type: ignore[no-untyped-def]
    """Enter the bigrams (firsts[i], seconds[i]), whose cells are cell, cell + 1, ..., into an empty hash table."""
    mask = np.uint64(bigrams.size - 1)
    for i in range(firsts.size):
        key = (firsts[i] << SECOND_SHIFT) | seconds[i]
        slot = slot_of(key, mask)
        while bigrams[slot] != VOID:
            slot = (slot + ONE) & mask
        bigrams[slot] = (key << SECOND_SHIFT) | np.uint64(cell + i)
