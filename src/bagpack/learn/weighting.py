"""TF-IDF and two-sigma scaling as scikit-learn transformers that keep sparse matrices sparse.

``sample_weight`` is how many pairs use a row: a word that stands in 30 pairs counts 30 times in df, μ and σ,
exactly as if its row had been written out 30 times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.block import Block
    from bagpack.learn.counts import PairCounts
    from bagpack.learn.types import Floats, Ints, Matrix, Tags


@njit(cache=True, nogil=True)
def _column_sums(
    indptr: Ints, indices: Ints, data: Matrix, weight: Floats, n_columns: int
) -> tuple[Floats, Floats]:
    """Per column, Σ weight and Σ weight·value over the entries that are not zero."""
    filled = np.zeros(n_columns)
    total = np.zeros(n_columns)
    for i in range(len(indptr) - 1):
        w = weight[i]
        if w == 0.0:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            if data[p] != 0:
                j = indices[p]
                filled[j] += w
                total[j] += w * data[p]
    return filled, total


@njit(cache=True, nogil=True)
def _column_squares(indptr: Ints, indices: Ints, data: Matrix, weight: Floats, mean: Floats) -> Floats:
    """Per column, Σ weight·(value − mean)² over the entries that are not zero."""
    squares = np.zeros(len(mean))
    for i in range(len(indptr) - 1):
        w = weight[i]
        if w == 0.0:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            if data[p] != 0:
                j = indices[p]
                deviation = data[p] - mean[j]
                squares[j] += w * deviation * deviation
    return squares


@njit(cache=True, nogil=True)
def _scale_entries(indices: Ints, data: Matrix, low: Floats, width: Floats, zero: Floats) -> Floats:
    """Each stored value's image in [0, 1], less the image of zero."""
    out = np.empty(len(data))
    for p in range(len(data)):
        j = indices[p]
        if width[j] == 0.0:
            out[p] = 0.0
        else:
            out[p] = min(max((data[p] - low[j]) / width[j], 0.0), 1.0) - zero[j]
    return out


class Step(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer of one block; what it learned lies in the arrays that ``learned`` names."""

    step_name: ClassVar[str]
    learned: ClassVar[tuple[str, ...]]

    def learns_from(self, counts: PairCounts) -> bool:
        """Whether what it does to a row depends on which other rows it was fitted on."""
        return True

    def image_of_zero(self) -> Floats | None:
        """What an all-zero row would become if the result were not shifted; None: zero stays zero."""
        return None

    def fit_block(self, block: Block) -> None:
        """Learn from a block; steps that need more of it than its rows override this."""
        self.fit(block.rows, sample_weight=block.multiplicity())

    def on(self, block: Block) -> Block:
        """The block after this step."""
        return replace(block, rows=self.transform(block.rows))

    def _validated(self, X: Matrix, *, reset: bool) -> Matrix:
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32, np.int64, np.int32]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_csr(X: Matrix) -> sparse.csr_array[Any]:
    return sparse.csr_array(X)


class TfidfWeighter(Step):
    """Raw count × ln(N / df), no length norm.

    N is the number of rows and df the number of rows where the feature is not zero; df = 0 gives 0. This is
    not scikit-learn's ``TfidfTransformer``, whose idf is ln(N / df) + 1: here a feature that every row has is
    worth nothing.
    """

    step_name: ClassVar[str] = "tfidf"
    learned: ClassVar[tuple[str, ...]] = ("idf_",)

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn ``idf_`` from the rows of X."""
        X = _as_csr(self._validated(X, reset=True))
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        df, _ = _column_sums(X.indptr, X.indices, X.data, weight, X.shape[1])
        self.idf_ = np.zeros(X.shape[1])
        found = df > 0
        self.idf_[found] = np.log(weight.sum() / df[found])
        return self

    def transform(self, X: Matrix) -> Matrix:
        """X with each column times its idf."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        if isinstance(X, np.ndarray):
            return X * self.idf_
        data = X.data * self.idf_[X.indices]
        return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


class TwoSigmaScaler(Step):
    """Each feature's [μ−2σ, μ+2σ] goes to [0, 1], values outside are clipped; σ = 0 gives 0.

    σ is the population's, zeros included. The result is shifted by each column's image of zero, ``zero_``, so
    that zero stays zero and a sparse matrix sparse: ``transform(X) + zero_`` is the scaled matrix itself.
    """

    step_name: ClassVar[str] = "two-sigma"
    learned: ClassVar[tuple[str, ...]] = ("low_", "width_", "zero_")

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn ``low_`` = μ−2σ, ``width_`` = 4σ and ``zero_`` from the rows of X."""
        X = _as_csr(self._validated(X, reset=True))
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        n = weight.sum()
        filled, total = _column_sums(X.indptr, X.indices, X.data, weight, X.shape[1])
        mean = total / n
        # Two passes: the squares are summed around the mean, so nothing cancels however large the counts.
        squares = _column_squares(X.indptr, X.indices, X.data, weight, mean) + (n - filled) * mean**2
        sigma = np.sqrt(squares / n)
        # A constant column's mean may miss its value by a rounding error; that is not a spread.
        sigma[sigma <= 1e-13 * np.abs(mean)] = 0.0
        self.low_ = mean - 2.0 * sigma
        self.width_ = 4.0 * sigma
        spread = sigma > 0
        self.zero_ = np.zeros(X.shape[1])
        self.zero_[spread] = np.clip(-self.low_[spread] / self.width_[spread], 0.0, 1.0)
        return self

    def image_of_zero(self) -> Floats:
        """``zero_``."""
        zero: Floats = self.zero_
        return zero

    def transform(self, X: Matrix) -> Matrix:
        """The scaled X less ``zero_``."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        if not isinstance(X, np.ndarray):
            data = _scale_entries(X.indices, X.data, self.low_, self.width_, self.zero_)
            return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        width = np.where(self.width_ > 0, self.width_, 1.0)
        scaled = np.clip((X - self.low_) / width, 0.0, 1.0) - self.zero_
        return np.where(self.width_ > 0, scaled, 0.0)


STEPS: dict[str, type[Step]] = {step.step_name: step for step in (TfidfWeighter, TwoSigmaScaler)}
