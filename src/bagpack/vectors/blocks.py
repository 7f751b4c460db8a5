"""A block: columns that are weighted together, over distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.contexts.distribute import Csr

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
        A second row for each pair, in blocks of two words.
    product, unit, factor
        Whether a pair's row is the product of its two, column by column; whether that has unit length; a factor on it.
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
    product: bool = False
    unit: bool = False
    factor: float = 1.0

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

    def written_out(self) -> Block:
        """The same with a row per pair where rows are products of two."""
        if not self.product or self.index is None or self.other is None:
            return self
        rows = sparse.csr_array(sparse.csr_array(self.rows[self.index]).multiply(self.rows[self.other]))
        owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        lengths = np.ones(rows.shape[0])
        if self.unit:
            lengths = np.sqrt(np.bincount(owner, rows.data**2, minlength=rows.shape[0]))
            lengths[lengths == 0] = 1.0
        rows.data = rows.data * (self.factor / lengths)[owner]
        return Block(self.name, rows, frequencies=self.frequencies)

    def expanded(self) -> Csr:
        """One row per pair."""
        block = self.written_out()
        return block.rows if block.index is None else sparse.csr_array(block.rows[block.index])
