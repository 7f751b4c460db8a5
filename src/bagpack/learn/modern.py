"""What preset `modern` is made of: log counts, rows of unit length, and the product of v1 and v2.

Weighting matters more than corpus size here: raw counts let a few frequent terms decide, and a frequent word's row
outweighs a rare one's. The logarithm tames the former, unit length the latter. v1 and v2 share their columns, so their
product says in which contexts *both* words stand, which a sum of two linear parts cannot.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from bagpack.learn.blocks import BLOCKS, SINGLE_SEGMENTS, Block, BlockKind, PairCounts
from bagpack.learn.weighting import STEPS, Step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.types import Csr, Matrix

PRODUCT = "v1·v2"


class _Rowwise(Step):
    """A step that looks at each row by itself; fitting only settles how many columns there are."""

    learned: ClassVar[tuple[str, ...]] = ()

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
        data = np.sign(rows.data) * np.log1p(np.abs(rows.data))
        return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


class UnitLength(_Rowwise):
    """Each row divided by its Euclidean length; a row of zeros stays one."""

    step_name: ClassVar[str] = "unit-length"

    def _rows(self, rows: Csr) -> Csr:
        filled = np.diff(rows.indptr)
        owner = np.repeat(np.arange(rows.shape[0]), filled)
        lengths = np.sqrt(np.bincount(owner, rows.data.astype(np.float64) ** 2, minlength=rows.shape[0]))
        lengths[lengths == 0] = 1.0
        return sparse.csr_array((rows.data / lengths[owner], rows.indices, rows.indptr), shape=rows.shape)


STEPS.update({step.step_name: step for step in (LogCounts, UnitLength)})

# The last word table and its weighted rows: folds share one table, and every product needs it.
_last: list[tuple[weakref.ref[Csr], Csr]] = []


def weighted_words(words: Csr) -> Csr:
    """The word table as log counts of unit length."""
    if _last and _last[0][0]() is words:
        return _last[0][1]
    weighted = UnitLength()._rows(LogCounts()._rows(words))
    _last[:] = [(weakref.ref(words), weighted)]
    return weighted


def product_block(counts: PairCounts) -> Block:
    """v1 times v2, column by column, each as log counts of unit length."""
    words = weighted_words(counts.words)
    return Block(PRODUCT, sparse.csr_array(words[counts.w1].multiply(words[counts.w2])))


def _names(terms: Sequence[str]) -> list[str]:
    return [f"{PRODUCT}:{segment}:{term}" for segment in SINGLE_SEGMENTS for term in terms]


BLOCKS[PRODUCT] = BlockKind(product_block, _names)


def modern_steps(block: str) -> list[Step]:
    """Log counts of unit length; the product is of such rows already and only brought to unit length."""
    return [UnitLength()] if block == PRODUCT else [LogCounts(), UnitLength()]
