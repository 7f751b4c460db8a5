"""Classifier and regressor of word pairs, as scikit-learn estimators.

X is pairs of words, where the estimator has a corpus to count them in, or `PairCounts`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from bagpack import parallel
from bagpack.errors import InputError, UsageError
from bagpack.learn.features import Preset, get_preset
from bagpack.learn.fitting import calibrate, fit_counts
from bagpack.learn.model import LinearModel
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import Targets, encode_targets
from bagpack.names import blocks_of
from bagpack.vectors.counts import PairCounts, as_pairs
from bagpack.vectors.vectorizer import PairVectorizer, TakesPairs

if TYPE_CHECKING:
    from bagpack.arrays import Floats


class _PairEstimator(TakesPairs):
    """What classifier and regressor share: from X to counts, and what a fitted model shows."""

    model_: LinearModel

    def __init__(
        self, source: Any = None, *, condition: str = "v1v2v12", preset: str | Preset = "modern", C: float = 1.0,
        tol: float = 1e-3, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.source = source
        self.condition = condition
        self.preset = preset
        self.C = C
        self.tol = tol
        self.n_jobs = n_jobs

    def _counts(self, X: Any, *, reset: bool) -> PairCounts:
        if isinstance(X, PairCounts):
            return X
        pairs = as_pairs(X)
        if isinstance(self.source, PairCounts):
            return self.source.rows_of(pairs)
        if self.source is None:
            raise UsageError(
                f"{type(self).__name__}() takes PairCounts as X; give it a corpus to take pairs of words: "
                f"{type(self).__name__}(corpus)"
            )
        if reset:
            given = self.source
            vectorizer = clone(given) if isinstance(given, PairVectorizer) else PairVectorizer(given)
            self.vectorizer_ = vectorizer.fit(pairs)
        return self.vectorizer_.count(pairs)

    def _fit(self, X: Any, targets: Targets, **more: float) -> Self:
        preset, svm = get_preset(self.preset), SvmSettings(self.C, tol=self.tol, **more)
        blocks = blocks_of(self.condition)
        with parallel.settings(n_jobs=self.n_jobs):
            counts = self._counts(X, reset=True)
            if len(counts) and counts.zero_rows(blocks).all():
                what = "pair was ever seen together" if "v1" not in blocks else "word was found in the corpus"
                raise InputError(
                    f"none of the {len(counts)} pairs has a vector in condition {self.condition}: no {what}; "
                    "check the corpus's language and level (lemma or form), or take another condition"
                )
            model = fit_counts(counts, targets, self.condition, preset, svm)
        self.model_ = replace(model, calibrator=partial(calibrate, model, counts, targets, svm))
        self.n_features_in_ = 2
        return self

    def _decisions(self, X: Any) -> Floats:
        check_is_fitted(self)
        with parallel.settings(n_jobs=self.n_jobs):
            return self.model_.decisions(self._counts(X, reset=False))


class RelationClassifier(ClassifierMixin, _PairEstimator):
    """Which relation holds between two words: a linear C-SVM over weighted contexts, one-vs-rest.

    ``source`` is where pairs of words are counted: a corpus (or the path of a store), a `PairVectorizer` with other
    settings, or `PairCounts` that hold the pairs; None if X is `PairCounts`. ``condition`` is ``v1v2``, ``v12`` or
    ``v1v2v12``, ``preset`` ``modern`` or ``paper``; for ``C`` and ``tol`` see
    `bagpack.learn.svm.SvmSettings`. ``n_jobs`` are workers, through joblib: the model is the same for any number. The
    fitted ``model_`` has weights per named feature, and `save_model` writes it.

    Examples
    --------
    >>> classifier = RelationClassifier(corpus).fit(pairs, labels)  # doctest: +SKIP
    >>> classifier.predict([("wheel", "car")])  # doctest: +SKIP
    array(['part-of'], dtype='<U7')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Train on pairs X with labels y."""
        self._fit(X, encode_targets(y))
        self.classes_ = np.array(self.model_.classes)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Decision values: one per pair for two classes (positive: ``classes_[1]``), else pairs × classes."""
        decisions = self._decisions(X)
        return decisions[:, 0] if self.model_.kind == "binary" else decisions

    def predict(self, X: Any) -> Any:
        """The label of the highest decision value."""
        decisions = self._decisions(X)
        return self.model_.decode(decisions)

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probability of each class, pairs × classes; see `LinearModel.predict_proba`.

        The first call calibrates on held-out folds of the training pairs, which takes five times as long as `fit`.
        """
        decisions = self._decisions(X)
        return self.model_.probabilities(decisions)


class RatingRegressor(RegressorMixin, _PairEstimator):
    """How people rate a pair: a linear ε-SVR over weighted contexts, on the raw scale of the ratings.

    Parameters are those of `RelationClassifier`, and ``epsilon``: errors up to it cost nothing.
    """

    def __init__(
        self, source: Any = None, *, condition: str = "v1v2v12", preset: str | Preset = "modern", C: float = 1.0,
        epsilon: float = 0.2, tol: float = 1e-3, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(source, condition=condition, preset=preset, C=C, tol=tol, n_jobs=n_jobs)
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any) -> Self:
        """Train on pairs X with ratings y."""
        return self._fit(X, encode_targets(y, kind="rating"), epsilon=self.epsilon)

    def predict(self, X: Any) -> Floats:
        """Predicted ratings."""
        return self._decisions(X)[:, 0]
