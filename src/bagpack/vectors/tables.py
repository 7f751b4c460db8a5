"""What a pair matrix keeps: counts of distinct words, and of distinct pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.count import Csr
from bagpack.contexts.targets import Target
from bagpack.corpus.store.strings import Strings

I64 = NDArray[np.int64]

KEY_SEPARATOR = "\x1f"  # between the keys of a multi-word target


@dataclass(frozen=True)
class WordTable:
    """Counts of distinct targets: rows of 2T columns, and how often each target occurs in the corpus."""

    keys: Strings  # of each target, a multi-word target's joined by KEY_SEPARATOR
    rows: Csr
    found: I64

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets, row by row."""
        return tuple(Target(tuple(item.decode().split(KEY_SEPARATOR))) for item in self.keys)

    @cached_property
    def number(self) -> dict[Target, int]:
        """Row of each target."""
        return {target: i for i, target in enumerate(self.targets)}


@dataclass(frozen=True)
class PairTable:
    """Counts of distinct unordered pairs of targets: rows of 6T columns; found and taken co-occurrences per order."""

    members: I64  # the pairs as rows of the word table, the smaller target first
    rows: Csr
    found: I64
    taken: I64

    @cached_property
    def by_code(self) -> tuple[I64, I64]:
        """Codes of the pairs in ascending order, and the row of each."""
        codes = pair_codes(self.members[:, 0], self.members[:, 1])
        order = np.argsort(codes)
        return codes[order], order


def pair_codes(one: I64, two: I64) -> I64:
    """One number for each unordered pair of row numbers."""
    return (np.minimum(one, two).astype(np.int64) << 32) | np.maximum(one, two)
