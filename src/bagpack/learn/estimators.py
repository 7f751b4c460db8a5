"""The ready pipelines, as scikit-learn estimators whose X is pairs of words.

A *source* is anything with ``counts(pairs) -> PairCounts``: a pair matrix, a vectorizer over a corpus.
Without one, X is the counts themselves: a `PairCounts`, or a matrix of v1, v2, v12 side by side, as a
vectorizer in a ``Pipeline`` hands it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bagpack.errors import InputError, UsageError
from bagpack.learn.counts import PairCounts
from bagpack.learn.fitting import Machine, fit_counts
from bagpack.learn.model import Contributions, LinearModel
from bagpack.learn.presets import get_preset
from bagpack.learn.targets import encode_targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bagpack.learn.types import Answers, Floats, Label, Pairs, Tags


class CountSource(Protocol):
    """What the estimators need of a pair matrix or a vectorizer.

    ``sklearn.base.clone`` deep-copies what is not an estimator: a source that is large or open on disk should
    define ``__deepcopy__`` returning itself.
    """

    def counts(self, pairs: Sequence[tuple[str, str]]) -> PairCounts:
        """Counts of the pairs, one row each, in their order."""
        ...


def check_pairs(X: Pairs) -> list[tuple[str, str]]:
    """X as a list of pairs of words."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    pairs = []
    for i, pair in enumerate(X):
        if isinstance(pair, str) or len(pair) != 2:
            raise InputError(f"pair {i + 1} is {pair!r}: two words are needed, as in ('lion', 'cat')")
        pairs.append((str(pair[0]), str(pair[1])))
    return pairs


class _PairEstimator(BaseEstimator):
    """What classifier and regressor share: from X to counts, and what a fitted model tells."""

    source: CountSource | None
    condition: str
    preset: str
    transductive: bool
    model_: LinearModel

    def _counts(self, X: Pairs) -> PairCounts:
        if isinstance(X, PairCounts):
            return X
        if self.source is not None:
            return self.source.counts(check_pairs(X))
        if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "iuf"):
            return PairCounts.from_matrix(X)
        raise UsageError(
            f"{type(self).__name__}(source=None) needs counts as X; give it a source to take pairs of words"
        )

    def _fit(
        self, X: Pairs, y: Answers, kind: Literal["labels", "rating"], machine: Machine, unlabelled: Pairs
    ) -> Self:
        preset = get_preset(self.preset)
        blocks = preset.blocks_of(self.condition)
        counts = self._counts(X)
        if len(counts) and counts.zero_rows(blocks).all():
            what = "pair was ever seen together" if "v1" not in blocks else "word was found in the corpus"
            raise InputError(
                f"none of the {len(counts)} pairs has a vector in condition {self.condition}: no {what}; "
                "check the corpus's language and level (lemma or form), or take another condition"
            )
        fit_on = None
        if self.transductive:
            more = unlabelled if unlabelled is not None else getattr(self.source, "pairs", None)
            if more is None:
                raise UsageError(
                    "transductive=True fits weighting and scaling on further pairs: give them as "
                    "fit(pairs, y, unlabelled=pairs), or take a source that lists its own"
                )
            fit_on = self._counts(more)
            if unlabelled is not None:
                fit_on = counts.followed_by(fit_on)
        self.model_ = fit_counts(
            counts, encode_targets(y, kind=kind), self.condition, self.preset, machine, fit_on
        )
        self.n_features_in_ = 2
        return self

    def _decisions(self, X: Pairs) -> Floats:
        check_is_fitted(self, "model_")
        return self.model_.decisions(self._counts(X))

    def explain(self, pair: tuple[str, str], label: Label = None) -> Contributions:
        """Every feature's part in the decision about ``pair``."""
        check_is_fitted(self, "model_")
        return self.model_.contributions(self._counts([pair]), 0, label)

    @property
    def coef_(self) -> Floats:
        """Weights, outputs × features, over the scaled features."""
        check_is_fitted(self, "model_")
        return self.model_.weight_matrix()

    @property
    def intercept_(self) -> Floats:
        """The decision value of an all-zero pair; see `LinearModel`."""
        check_is_fitted(self, "model_")
        return self.model_.intercept

    @property
    def feature_names_(self) -> NDArray[np.object_]:
        """Names of the features that ``coef_`` weighs."""
        check_is_fitted(self, "model_")
        return np.array(self.model_.feature_names(), dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = self.source is None
        tags.input_tags.sparse = True
        return tags


class RelationClassifier(ClassifierMixin, _PairEstimator):
    """Which relation holds between two words: a linear C-SVM over weighted contexts, one-vs-rest.

    Parameters
    ----------
    source
        Where counts come from; None where X is the counts.
    condition
        ``v1v2``, ``v12`` or ``v1v2v12``.
    preset
        How counts become features.
    C, tol, solver
        See `bagpack.learn.fitting.Machine`.
    transductive
        Fit weighting and scaling on all pairs at hand (those of ``source``, or ``unlabelled`` in `fit`) and
        not on the labelled ones alone.

    Attributes
    ----------
    classes_ : ndarray
    model_ : LinearModel
        Weights per named feature; `save_model` writes it.

    Examples
    --------
    >>> from bagpack.learn.synthetic import make_counts
    >>> counts, y = make_counts(n_pairs=120, n_words=60, seed=3)
    >>> classifier = RelationClassifier(condition="v12").fit(counts[:100], y[:100])
    >>> classifier.decision_function(counts[100:]).shape
    (20,)
    """

    def __init__(
        self,
        source: CountSource | None = None,
        *,
        condition: str = "v1v2v12",
        preset: str = "paper",
        C: float = 1.0,
        transductive: bool = False,
        tol: float = 1e-3,
        solver: str = "auto",
    ) -> None:
        self.source = source
        self.condition = condition
        self.preset = preset
        self.C = C
        self.transductive = transductive
        self.tol = tol
        self.solver = solver

    def fit(self, X: Pairs, y: Answers, *, unlabelled: Pairs = None) -> Self:
        """Train on pairs X with labels y: one each, a collection of labels each, or an indicator matrix."""
        self._fit(X, y, "labels", Machine(C=self.C, tol=self.tol, solver=self.solver), unlabelled)
        self.classes_ = np.array(self.model_.classes)
        return self

    def decision_function(self, X: Pairs) -> Floats:
        """Decision values: one per pair for two classes (positive: ``classes_[1]``), else pairs × classes."""
        decisions = self._decisions(X)
        return decisions[:, 0] if self.model_.kind == "binary" else decisions

    def predict(self, X: Pairs) -> Answers:
        """The label of the highest decision value; for several labels per pair, all above 0, in y's form."""
        return self.model_.decode(self._decisions(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class RatingRegressor(RegressorMixin, _PairEstimator):
    """How people rate a pair: a linear ε-SVR over weighted contexts, on the raw scale of the ratings.

    Parameters are those of `RelationClassifier`, and ``epsilon``: errors up to it cost nothing.
    """

    def __init__(
        self,
        source: CountSource | None = None,
        *,
        condition: str = "v1v2v12",
        preset: str = "paper",
        C: float = 1.0,
        epsilon: float = 0.2,
        transductive: bool = False,
        tol: float = 1e-3,
        solver: str = "auto",
    ) -> None:
        self.source = source
        self.condition = condition
        self.preset = preset
        self.C = C
        self.epsilon = epsilon
        self.transductive = transductive
        self.tol = tol
        self.solver = solver

    def fit(self, X: Pairs, y: Answers, *, unlabelled: Pairs = None) -> Self:
        """Train on pairs X with ratings y."""
        machine = Machine(C=self.C, epsilon=self.epsilon, tol=self.tol, solver=self.solver)
        return self._fit(X, y, "rating", machine, unlabelled)

    def predict(self, X: Pairs) -> Floats:
        """Predicted ratings."""
        return self._decisions(X)[:, 0]
