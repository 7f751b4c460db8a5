"""Weightings of counts: logarithm, association with the corpus's own frequencies, unit length, trust in what was seen.

How often a term is expected in a segment comes from the basis, which holds the corpus frequencies: it is computed once
for all tasks and no task's rows take part. Per row and segment, expected = (all counts there) × (the term's share of
the basis).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse

from bagpack.learn.weighting import STEPS, Step, with_values
from bagpack.vectors.blocks import Block

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats
    from bagpack.vectors.matrix import BlockMatrix

# Added to observed and expected counts, so that one observation of a rare term does not count for much.
SMOOTHING = 1.0


def owners(rows: Csr) -> np.ndarray:
    """The row of each stored value."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def unit_length(rows: Csr) -> Csr:
    """Each row divided by its Euclidean length; all-zero rows are unchanged."""
    owner = owners(rows)
    lengths = np.sqrt(np.bincount(owner, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0]))
    lengths[lengths == 0] = 1.0
    return with_values(rows, rows.data / lengths[owner])


def log_counts(rows: Csr) -> Csr:
    """sign(x) · ln(1 + |x|)."""
    return with_values(rows, np.sign(rows.data) * np.log1p(np.abs(rows.data)))


class _Rowwise(Step):
    """A step that looks at each row by itself; fitting learns nothing but the number of columns."""

    learned: ClassVar[tuple[str, ...]] = ()

    def learns_from(self, matrix: BlockMatrix) -> bool:
        """Never: each row is looked at by itself."""
        return False


class LogCounts(_Rowwise):
    """sign(x) · ln(1 + |x|): the logarithm of a count plus one, and zero for zero."""

    step_name: ClassVar[str] = "log"

    def _apply(self, rows: Csr) -> Csr:
        return log_counts(rows)


class UnitLength(_Rowwise):
    """Each row divided by its Euclidean length; all-zero rows are unchanged."""

    step_name: ClassVar[str] = "unit-length"

    def _apply(self, rows: Csr) -> Csr:
        return unit_length(rows)


class Trust(_Rowwise):
    """Each row times n/(n+k), n being how often what it counts was seen: rarely seen pairs get less weight.

    Rows whose n is unknown are unchanged.
    """

    step_name: ClassVar[str] = "trust"

    def __init__(self, k: float = 1.0) -> None:
        self.k = k

    def _apply(self, rows: Csr) -> Csr:
        return rows

    def on(self, block: Block) -> Block:
        """The block with its rows scaled."""
        if block.seen is None:
            return block
        factor = block.seen / (block.seen + self.k)
        return replace(block, rows=with_values(block.rows, block.rows.data * factor[owners(block.rows)]))


class Association(Step):
    """A weighting by observed and expected counts.

    Attributes
    ----------
    share_
        Each column's share of its segment according to the corpus; from the rows at hand where the counts come
        without corpus frequencies.
    segment_
        The number of each column's segment.
    """

    learned: ClassVar[tuple[str, ...]] = ("share_", "segment_")

    def learns_from(self, matrix: BlockMatrix) -> bool:
        """Only where the counts come without corpus frequencies."""
        return matrix.tables.frequencies is None

    def _fit(self, rows: Csr, weight: Floats) -> None:
        self._set_shares(np.asarray(weight @ abs(rows)), 1)

    def fit_block(self, block: Block, weight: Floats | None = None) -> None:
        """Take the corpus frequencies, or those of the rows at hand where the block has none."""
        if block.frequencies is None:
            super().fit_block(block, weight)
            return
        self.n_features_in_ = block.width
        self._set_shares(block.frequencies, block.width // len(block.frequencies))

    def _set_shares(self, frequencies: Floats, segments: int) -> None:
        total = float(frequencies.sum())
        self.share_ = np.tile(frequencies / total if total else frequencies, segments).astype(np.float64)
        self.segment_ = np.repeat(np.arange(segments, dtype=np.float64), len(frequencies))

    def expected(self, rows: Csr) -> Floats:
        """Expected count at each stored value's place."""
        segments = int(self.segment_[-1]) + 1 if len(self.segment_) else 1
        place = owners(rows) * segments + self.segment_.astype(np.int64)[rows.indices]
        totals = np.bincount(place, np.abs(rows.data), minlength=rows.shape[0] * segments)
        return np.asarray(totals[place] * self.share_[rows.indices])


def _ppmi(rows: Csr, expected: Floats) -> Csr:
    ratio = (np.abs(rows.data) + SMOOTHING) / (expected + SMOOTHING)
    return with_values(rows, np.sign(rows.data) * np.maximum(np.log(ratio), 0.0))


class Ppmi(Association):
    """max(0, ln((observed + 1) / (expected + 1))): positive pointwise mutual information, smoothed."""

    step_name: ClassVar[str] = "ppmi"

    def _apply(self, rows: Csr) -> Csr:
        return _ppmi(rows, self.expected(rows))


class LogPpmi(Association):
    """Log counts of unit length plus PPMI of unit length, in equal parts."""

    step_name: ClassVar[str] = "log+ppmi"

    def _apply(self, rows: Csr) -> Csr:
        logs = unit_length(log_counts(rows))
        associated = unit_length(_ppmi(rows, self.expected(rows)))
        return with_values(rows, logs.data + associated.data)


class Joining(_Rowwise):
    """A step that makes one row of a pair's two.

    A linear SVM over v1 and v2 adds up what each word contributes by itself. Their product shows in which contexts
    *both* occur, their difference which of them occurs there more often.
    """

    def _apply(self, rows: Csr) -> Csr:
        return rows

    def on(self, block: Block) -> Block:
        """One row per pair."""
        if block.index is None or block.other is None:
            raise ValueError(f"the block {block.name} does not hold two words per pair")
        one, two = (sparse.csr_array(block.rows[index]) for index in (block.index, block.other))
        return replace(block, rows=sparse.csr_array(self._join(one, two)), index=None, other=None, seen=None)

    def _join(self, one: Csr, two: Csr) -> Csr:
        raise NotImplementedError


class Product(Joining):
    """Column by column, the first word's value times the second's."""

    step_name: ClassVar[str] = "product"

    def _join(self, one: Csr, two: Csr) -> Csr:
        return sparse.csr_array(one.multiply(two))


class Difference(Joining):
    """Column by column, the first word's value less the second's."""

    step_name: ClassVar[str] = "difference"

    def _join(self, one: Csr, two: Csr) -> Csr:
        return sparse.csr_array(one - two)


STEPS.update({s.step_name: s for s in (LogCounts, UnitLength, Trust, Ppmi, LogPpmi, Product, Difference)})
