"""The weighting steps as scikit-learn transformers.

A transformer maps a `BlockMatrix` to itself, block by block. Other matrices are one block, whose rows can be given a
``sample_weight``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bagpack.errors import UsageError
from bagpack.learn import association, weighting
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.types import Matrix, Tags


class _Transformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, weighting.Step):
    """A step with scikit-learn's methods."""

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X."""
        if isinstance(X, BlockMatrix):
            if sample_weight is not None:
                raise UsageError("the rows of a BlockMatrix count once each; sample_weight is not supported")
            self.parts_ = {name: clone(self) for name in X.blocks}
            for name, step in self.parts_.items():
                step.fit_block(X.blocks[name].compact())
            self.n_features_in_ = X.shape[1]
            return self
        self.parts_ = {}
        X = self._validated(X, reset=True)
        self._fit(sparse.csr_array(X), _check_sample_weight(sample_weight, X, dtype=np.float64))
        return self

    def transform(self, X: Matrix) -> Matrix:
        """The weighted X: a `BlockMatrix` for a `BlockMatrix`, sparse for sparse, dense for dense."""
        check_is_fitted(self, "n_features_in_")
        if isinstance(X, BlockMatrix):
            if not self.parts_ or tuple(self.parts_) != X.block_names or X.shape[1] != self.n_features_in_:
                raise UsageError(
                    f"{type(self).__name__} was fitted on {self.n_features_in_} columns"
                    f"{' of ' + ', '.join(self.parts_) if self.parts_ else ''}, and X has {X.shape[1]} of "
                    f"{', '.join(X.block_names)}"
                )
            return X.with_blocks({name: self.parts_[name].on(block) for name, block in X.blocks.items()})
        if self.parts_:
            raise UsageError(f"{type(self).__name__} was fitted on a BlockMatrix and needs one")
        X = self._validated(X, reset=False)
        rows = self._apply(sparse.csr_array(X))
        return rows.toarray() if isinstance(X, np.ndarray) else rows

    def _validated(self, X: Matrix, *, reset: bool) -> Matrix:
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32, np.int64, np.int32]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TfidfWeighter(_Transformer, weighting.Tfidf):
    """`weighting.Tfidf`, for pipelines."""


class TwoSigmaScaler(_Transformer, weighting.TwoSigma):
    """`weighting.TwoSigma`, for pipelines."""


class LogCounts(_Transformer, association.LogCounts):
    """`association.LogCounts`, for pipelines."""


class UnitLength(_Transformer, association.UnitLength):
    """`association.UnitLength`, for pipelines."""


class Trust(_Transformer, association.Trust):
    """`association.Trust`, for pipelines."""


class Ppmi(_Transformer, association.Ppmi):
    """`association.Ppmi`, for pipelines."""


class LogPpmi(_Transformer, association.LogPpmi):
    """`association.LogPpmi`, for pipelines."""
