"""Columns that are weighted together, over distinct rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Csr, Floats, Index


@dataclass(frozen=True)
class Block:
    """Columns that are weighted together.

    Pair i's row is ``rows[index[i]]``, or ``rows[i]`` where ``index`` is None.

    Parameters
    ----------
    other
        A second row for each pair, in blocks that hold two words until a step makes one row of them.
    seen
        How often what a distinct row counts was observed; None where nobody knows.
    shares
        How frequent each basis term is in the corpus; only their proportions matter.
    """

    name: str
    rows: Csr
    index: Index | None = None
    other: Index | None = None
    seen: Floats | None = None
    shares: Floats | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0]) if self.index is None else len(self.index)

    def multiplicity(self) -> Floats:
        """How many pairs use each distinct row."""
        n = self.rows.shape[0]
        if self.index is None:
            return np.ones(n)
        return np.bincount(self.index, minlength=n).astype(np.float64)

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

    def row_is_zero(self) -> Bools:
        """Per pair, whether its row holds nothing."""
        filled = np.diff(self.rows.indptr) > 0
        if np.any(self.rows.data == 0):
            cleaned = self.rows.copy()
            cleaned.eliminate_zeros()
            filled = np.diff(cleaned.indptr) > 0
        return ~filled if self.index is None else ~filled[self.index]
