"""A block: columns that are weighted together, over distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.contexts.count import Csr

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Block:
    """A sparse table of distinct rows, and an index that says which of them each pair uses.

    Pair i's row is ``rows[index[i]]``, or ``rows[i]`` where ``index`` is None. The v1 block has one row per distinct
    word, however many pairs share it.

    Parameters
    ----------
    other
        A second row for each pair, in blocks of two words until a step joins them to one row.
    seen
        How often what a distinct row counts was observed; None where that is unknown.
    frequencies
        Corpus frequency of each basis term; only their proportions matter. None where they are unknown.
    """

    name: str
    rows: Csr
    index: Index | None = None
    other: Index | None = None
    seen: Floats | None = None
    frequencies: Floats | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0]) if self.index is None else len(self.index)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def multiplicity(self, weight: Floats | None = None) -> Floats:
        """Number of pairs that use each distinct row, each counting ``weight`` times."""
        n = self.rows.shape[0]
        if self.index is None:
            return np.ones(n) if weight is None else weight
        return np.bincount(self.index, weight, minlength=n).astype(np.float64)

    def compact(self) -> Block:
        """The same pairs over only those distinct rows that they use."""
        if self.index is None:
            return self
        indices = self.index if self.other is None else np.concatenate([self.index, self.other])
        used, index = np.unique(indices, return_inverse=True)
        if len(used) == self.rows.shape[0]:
            return self
        index = index.astype(np.intp)
        return replace(
            self,
            rows=self.rows[used],
            index=index[: len(self)],
            other=None if self.other is None else index[len(self) :],
            seen=None if self.seen is None else self.seen[used],
        )

    def take(self, pairs: Index | slice | Bools) -> Block:
        """The block for some of the pairs; distinct rows are shared."""
        if self.index is None:
            seen = None if self.seen is None else self.seen[pairs]
            return replace(self, rows=self.rows[pairs], seen=seen)
        other = None if self.other is None else self.other[pairs]
        return replace(self, index=self.index[pairs], other=other)

    def expanded(self) -> Csr:
        """One row per pair."""
        return self.rows if self.index is None else sparse.csr_array(self.rows[self.index])

    def row_is_zero(self) -> Bools:
        """Per pair, whether its row holds nothing."""
        filled = np.diff(self.rows.indptr) > 0
        if np.any(self.rows.data == 0):
            cleaned = self.rows.copy()
            cleaned.eliminate_zeros()
            filled = np.diff(cleaned.indptr) > 0
        return ~filled if self.index is None else ~filled[self.index]
