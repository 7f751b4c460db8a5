"""Weighting steps: TF-IDF, two-sigma scaling, and what all steps share.

A step maps a block of counts to a block of features over the distinct rows: a word that occurs in 30 pairs counts 30
times in df, μ and σ, exactly as if its row had been written out 30 times. In `transformers`, each step is a
scikit-learn transformer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from bagpack.jit import allocating_kernel
from bagpack.vectors.blocks import Block

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Ints, Matrix
    from bagpack.vectors.matrix import BlockMatrix


@allocating_kernel
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


class Step:
    """A weighting of blocks; what it learned is in the arrays that ``learned`` names.

    Subclasses implement ``_fit`` and ``_apply`` on the rows of one block, or `fit_block` and `on` where they need more
    of it than its rows.
    """

    step_name: ClassVar[str]
    learned: ClassVar[tuple[str, ...]]
    rowwise: ClassVar[bool] = True  # whether the result depends on the rows of a block alone

    @property
    def settings(self) -> dict[str, float]:
        """Its parameters."""
        return {}

    def learns_from(self, matrix: BlockMatrix) -> bool:
        """Whether what it does to a row depends on which other rows it was fitted on."""
        return True

    def image_of_zero(self) -> Floats | None:
        """What an all-zero row would become if the result were not shifted; None: zero stays zero."""
        return None

    def fit_block(self, block: Block, weight: Floats | None = None) -> None:
        """Learn from a block, each pair counting ``weight`` times."""
        self.n_features_in_ = block.width
        self._fit(sparse.csr_array(block.rows), block.multiplicity(weight))

    def on(self, block: Block) -> Block:
        """The block after this step."""
        return replace(block, rows=sparse.csr_array(self._apply(block.rows)))

    def _fit(self, rows: Csr, weight: Floats) -> None:
        """Learn from rows, each of which counts ``weight`` times."""

    def _apply(self, rows: Csr) -> Csr:
        raise NotImplementedError


def with_values(rows: Csr, values: Floats) -> sparse.csr_array[Any]:
    """The same places with other values."""
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _filled(rows: Csr, weight: Floats) -> Floats:
    """Per column, the weight of the rows that are not zero there."""
    return np.asarray(with_values(rows, (rows.data != 0).astype(np.float64)).T @ weight)


class Tfidf(Step):
    """Raw count × ln(N / df), no length norm.

    N is the number of rows and df the number of rows where the feature is not zero; df = 0 gives 0. This is
    not scikit-learn's ``TfidfTransformer``, whose idf is ln(N / df) + 1: here a feature that every row has is
    worth nothing.
    """

    step_name: ClassVar[str] = "tfidf"
    learned: ClassVar[tuple[str, ...]] = ("idf_",)

    def _fit(self, rows: Csr, weight: Floats) -> None:
        df = _filled(rows, weight)
        self.idf_ = np.zeros(rows.shape[1])
        found = df > 0
        self.idf_[found] = np.log(weight.sum() / df[found])

    def _apply(self, rows: Csr) -> Csr:
        return with_values(rows, rows.data * self.idf_[rows.indices])


class TwoSigma(Step):
    """Each feature's [μ−2σ, μ+2σ] goes to [0, 1], values outside are clipped; σ = 0 gives 0.

    σ is the population's, zeros included. The result is shifted by each column's image of zero, ``zero_``, so
    that zero stays zero and a sparse matrix sparse: ``transform(X) + zero_`` is the scaled matrix itself.
    """

    step_name: ClassVar[str] = "two-sigma"
    learned: ClassVar[tuple[str, ...]] = ("low_", "width_", "zero_")

    def _fit(self, rows: Csr, weight: Floats) -> None:
        n = weight.sum()
        mean = np.asarray(rows.T @ weight) / n
        # Two passes: the squares are summed around the mean, so nothing cancels however large the counts.
        squares = rows.data - mean[rows.indices]
        squares *= squares
        squares[rows.data == 0] = 0.0
        total = with_values(rows, squares).T @ weight + (n - _filled(rows, weight)) * mean**2
        sigma = np.sqrt(total / n)
        # A constant column's mean may miss its value by a rounding error; that is not a spread.
        sigma[sigma <= 1e-13 * np.abs(mean)] = 0.0
        self.low_ = mean - 2.0 * sigma
        self.width_ = 4.0 * sigma
        spread = sigma > 0
        self.zero_ = np.zeros(rows.shape[1])
        self.zero_[spread] = np.clip(-self.low_[spread] / self.width_[spread], 0.0, 1.0)

    def image_of_zero(self) -> Floats:
        """``zero_``."""
        zero: Floats = self.zero_
        return zero

    def _apply(self, rows: Csr) -> Csr:
        return with_values(rows, _scale_entries(rows.indices, rows.data, self.low_, self.width_, self.zero_))


STEPS: dict[str, type[Step]] = {step.step_name: step for step in (Tfidf, TwoSigma)}
