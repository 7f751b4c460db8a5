"""Weightings of counts: logarithm, association with the corpus's own frequencies, unit length, trust in what was seen.

How often a term is to be expected in a segment comes from the basis, which holds the corpus's frequencies: it is
computed once for all tasks and no task's rows take part. Per row and segment, expected = (all counts there) × (the
term's share of the basis).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from bagpack.learn.weighting import STEPS, Step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.block import Block
    from bagpack.learn.counts import PairCounts
    from bagpack.learn.types import Csr, Floats, Matrix

SMOOTHING = (
    1.0  # added to observed and expected counts, so that one observation of a rare term is not a landslide
)


def with_values(rows: Csr, values: Floats) -> Csr:
    """The same places with other values."""
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def owners(rows: Csr) -> np.ndarray:
    """The row of each stored value."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def unit_length(rows: Csr) -> Csr:
    """Each row divided by its Euclidean length; a row of zeros stays one."""
    owner = owners(rows)
    lengths = np.sqrt(np.bincount(owner, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0]))
    lengths[lengths == 0] = 1.0
    return with_values(rows, rows.data / lengths[owner])


def log_counts(rows: Csr) -> Csr:
    """sign(x) · ln(1 + |x|)."""
    return with_values(rows, np.sign(rows.data) * np.log1p(np.abs(rows.data)))


class _Rowwise(Step):
    """A step that looks at each row by itself; fitting only settles how many columns there are."""

    learned: ClassVar[tuple[str, ...]] = ()

    def learns_from(self, counts: PairCounts) -> bool:
        """Never: each row is looked at by itself."""
        return False

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Check X and the weights; there is nothing to learn."""
        X = self._validated(X, reset=True)
        _check_sample_weight(sample_weight, X, dtype=np.float64)
        return self

    def transform(self, X: Matrix) -> Matrix:
        """X, row by row."""
        check_is_fitted(self, "n_features_in_")
        X = self._validated(X, reset=False)
        rows = self._rows(sparse.csr_array(X))
        return rows.toarray() if isinstance(X, np.ndarray) else rows

    def _rows(self, rows: Csr) -> Csr:
        raise NotImplementedError


class LogCounts(_Rowwise):
    """sign(x) · ln(1 + |x|): the logarithm of a count plus one, and zero for zero."""

    step_name: ClassVar[str] = "log"

    def _rows(self, rows: Csr) -> Csr:
        return log_counts(rows)


class UnitLength(_Rowwise):
    """Each row divided by its Euclidean length; a row of zeros stays one."""

    step_name: ClassVar[str] = "unit-length"

    def _rows(self, rows: Csr) -> Csr:
        return unit_length(rows)


class Trust(_Rowwise):
    """Each row times n/(n+k), n being how often what it counts was seen: a pair met once speaks softly.

    Rows whose n nobody knows are left as they are.
    """

    step_name: ClassVar[str] = "trust"

    def __init__(self, k: float = 1.0) -> None:
        self.k = k

    def _rows(self, rows: Csr) -> Csr:
        return rows

    def factor(self, seen: Floats) -> Floats:
        """n/(n+k)."""
        return seen / (seen + self.k)

    def on(self, block: Block) -> Block:
        """The block with its rows scaled."""
        if block.seen is None:
            return block
        factor = self.factor(block.seen)
        return replace(block, rows=with_values(block.rows, block.rows.data * factor[owners(block.rows)]))


class Association(Step):
    """A weighting by what is observed and what is to be expected.

    Attributes
    ----------
    share_
        Each column's share of its segment according to the corpus; from the rows at hand where counts came
        without a basis.
    segment_
        The number of each column's segment.
    """

    learned: ClassVar[tuple[str, ...]] = ("share_", "segment_")

    def learns_from(self, counts: PairCounts) -> bool:
        """Only where the counts came without a basis."""
        return counts.term_shares is None

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Take the columns' shares from X: all are one segment here."""
        rows = sparse.csr_array(self._validated(X, reset=True))
        weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        self._settle(weight @ abs(rows), 1)
        return self

    def fit_block(self, block: Block) -> None:
        """Take the corpus's shares, or those of the rows at hand where the block knows none."""
        if block.shares is None:
            self.fit(block.rows, sample_weight=block.multiplicity())
            return
        self.n_features_in_ = block.rows.shape[1]
        self._settle(block.shares, block.rows.shape[1] // len(block.shares))

    def _settle(self, frequencies: Floats, segments: int) -> None:
        total = float(frequencies.sum())
        self.share_ = np.tile(frequencies / total if total else frequencies, segments).astype(np.float64)
        self.segment_ = np.repeat(np.arange(segments, dtype=np.float64), len(frequencies))

    def transform(self, X: Matrix) -> Matrix:
        """The weighted X."""
        check_is_fitted(self, "share_")
        X = self._validated(X, reset=False)
        rows = self._weigh(sparse.csr_array(X))
        return rows.toarray() if isinstance(X, np.ndarray) else rows

    def expected(self, rows: Csr) -> Floats:
        """What is to be expected at each stored value's place."""
        segments = int(self.segment_[-1]) + 1 if len(self.segment_) else 1
        place = owners(rows) * segments + self.segment_.astype(np.int64)[rows.indices]
        totals = np.bincount(place, np.abs(rows.data), minlength=rows.shape[0] * segments)
        return np.asarray(totals[place] * self.share_[rows.indices])

    def _weigh(self, rows: Csr) -> Csr:
        raise NotImplementedError


def _ppmi(rows: Csr, expected: Floats) -> Csr:
    ratio = (np.abs(rows.data) + SMOOTHING) / (expected + SMOOTHING)
    return with_values(rows, np.sign(rows.data) * np.maximum(np.log(ratio), 0.0))


class Ppmi(Association):
    """max(0, ln((observed + 1) / (expected + 1))): positive pointwise mutual information, smoothed."""

    step_name: ClassVar[str] = "ppmi"

    def _weigh(self, rows: Csr) -> Csr:
        return _ppmi(rows, self.expected(rows))


class LogPpmi(Association):
    """Log counts of unit length plus PPMI of unit length: how much, and how telling, in equal parts."""

    step_name: ClassVar[str] = "log+ppmi"

    def _weigh(self, rows: Csr) -> Csr:
        logs = unit_length(log_counts(rows))
        telling = unit_length(_ppmi(rows, self.expected(rows)))
        return with_values(rows, logs.data + telling.data)


STEPS.update({step.step_name: step for step in (LogCounts, UnitLength, Trust, Ppmi, LogPpmi)})
