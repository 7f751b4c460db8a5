"""The ready pipelines, as scikit-learn estimators.

X is pairs of words, where the estimator has a corpus to count them in; or a `BlockMatrix`, as a `PairVectorizer` in a
``Pipeline`` hands it on; or, for preset `paper`, any matrix of numbers, whose columns are then one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bagpack.errors import InputError, UsageError
from bagpack.learn.features import PLAIN
from bagpack.learn.fitting import SvmSettings, fit_counts
from bagpack.learn.held_out import calibrate
from bagpack.learn.model import Contributions, LinearModel, pair_hashes
from bagpack.learn.presets import Preset, get_preset, portable
from bagpack.learn.targets import Targets, encode_targets
from bagpack.vectors.matrix import BlockMatrix, concatenated
from bagpack.vectors.pairs import as_pairs
from bagpack.vectors.vectorizer import PairVectorizer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bagpack.learn.types import Answers, Floats, Label, Matrix, Pairs, Tags


class _PairEstimator(BaseEstimator):
    """What classifier and regressor share: from X to a matrix, and what a fitted model shows."""

    source: Any
    condition: str
    preset: str | Preset
    C: float
    transductive: bool
    n_jobs: int | None
    model_: LinearModel

    # From X to a matrix -----------------------------------------------------------------------------------------

    def _matrix(self, X: Pairs, *, reset: bool) -> Matrix:
        if isinstance(X, BlockMatrix):
            return X
        if self.source is not None:
            pairs = as_pairs(X)
            if isinstance(self.source, BlockMatrix):
                return self.source.rows_of(pairs)
            if reset:
                given = self.source
                self.vectorizer_ = given if isinstance(given, PairVectorizer) else PairVectorizer(given)
                if not hasattr(self.vectorizer_, "basis_"):
                    self.vectorizer_.fit(pairs)
            return self.vectorizer_.transform(pairs)
        if _is_text(X):
            raise UsageError(
                f"{type(self).__name__}() needs counts as X; give it a corpus to take pairs of words: "
                f"{type(self).__name__}(corpus)"
            )
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)

    def _preset_for(self, matrix: Matrix) -> Preset:
        preset = get_preset(self.preset)
        blocks = preset.blocks_of(self.condition)
        if isinstance(matrix, BlockMatrix):
            return preset
        if preset.name != "paper" or self.condition != "v1v2v12":
            raise UsageError(
                f"X has no named blocks, and preset {preset.name}, condition {self.condition} needs "
                f"{', '.join(blocks)}; pass the BlockMatrix of a PairVectorizer, or take preset='paper', "
                f"which can weight any columns"
            )
        return replace(preset, conditions={self.condition: (PLAIN,)})

    def _fit(
        self, X: Pairs, targets: Targets, svm: SvmSettings, unlabelled: Pairs, weight: Floats | None,
        sample_weight: Floats | None,
    ) -> Self:  # fmt: skip
        if unlabelled is not None and not isinstance(X, BlockMatrix) and self.source is not None:
            # Counted together, so that they are rows of one matrix.
            pairs = as_pairs(X)
            both = self._matrix([*pairs, *as_pairs(unlabelled)], reset=True)
            matrix, more = both[: len(pairs)], both
        else:
            matrix = self._matrix(X, reset=True)
            both_counted = isinstance(matrix, BlockMatrix) and isinstance(unlabelled, BlockMatrix)
            more = concatenated(matrix, unlabelled) if both_counted else None
        preset = self._preset_for(matrix)
        if self.transductive and more is None:
            if not isinstance(self.source, BlockMatrix):
                raise UsageError(
                    "transductive=True fits weighting and scaling on further pairs: give them as "
                    "fit(pairs, y, unlabelled=pairs), or take a BlockMatrix as source"
                )
            more = self.source
        if isinstance(matrix, BlockMatrix):
            self.n_features_in_ = matrix.shape[1] if isinstance(X, BlockMatrix) else 2
            self._check_found(matrix, preset)
        fit_on = more if self.transductive else None
        model = fit_counts(
            matrix, targets, self.condition, preset, svm, fit_on, weight, sample_weight, self.n_jobs
        )
        if targets.kind != "rating":
            precision = getattr(self, "precision", None)
            calibrator = partial(
                calibrate, model, matrix, targets, portable(preset), svm, precision, weight, sample_weight,
                self.n_jobs,
            )  # fmt: skip
            model = replace(model, calibrator=calibrator)
            if precision is not None:
                model = model.calibrated
        if isinstance(matrix, BlockMatrix):
            model = replace(model, trained=np.unique(pair_hashes(matrix.pairs)))
        self.model_ = model
        return self

    def _check_found(self, matrix: BlockMatrix, preset: Preset) -> None:
        blocks = preset.blocks_of(self.condition)
        if len(matrix) and matrix.zero_rows(blocks).all():
            what = "pair was ever seen together" if "v1" not in blocks else "word was found in the corpus"
            raise InputError(
                f"none of the {len(matrix)} pairs has a vector in condition {self.condition}: no {what}; "
                "check the corpus's language and level (lemma or form), or take another condition"
            )

    # Of a fitted model ------------------------------------------------------------------------------------------

    def _decisions(self, X: Pairs) -> Floats:
        check_is_fitted(self, "model_")
        return self.model_.decisions(self._matrix(X, reset=False))

    def explain(self, pair: tuple[str, str], label: Label = None) -> Contributions:
        """The contribution of every feature to the decision about ``pair``, for ``label`` or the predicted label."""
        check_is_fitted(self, "model_")
        if self.source is None:
            return self.model_.explain(pair, label)
        return self.model_.contributions(self._matrix([pair], reset=False), 0, label)

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

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self.source is not None
        tags.input_tags.two_d_array = self.source is None
        tags.input_tags.sparse = True
        return tags


def _is_text(X: Pairs) -> bool:
    """Whether X holds words and not numbers."""
    if isinstance(X, str):
        return True
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if not isinstance(X, (np.ndarray, list, tuple)) or not len(X):
        return False
    first = X[0]
    first = first[0] if isinstance(first, (np.ndarray, list, tuple)) and len(first) else first
    return isinstance(first, str)


class RelationClassifier(ClassifierMixin, _PairEstimator):
    """Which relation holds between two words: a linear C-SVM over weighted contexts, one-vs-rest.

    Parameters
    ----------
    source
        Where pairs of words are counted: a corpus (or the path of a store), a `PairVectorizer` with other settings, or
        a `BlockMatrix` that holds the pairs. None: X is a matrix.
    condition
        ``v1v2``, ``v12`` or ``v1v2v12``.
    preset
        How counts become features: ``modern``, or ``paper``.
    C, tol, solver
        See `bagpack.learn.fitting.SvmSettings`.
    class_weight
        Factor on C by class, ``"balanced"`` for n / (classes · rows of the class), or None.
    precision
        Choose the probability below which `answers` gives none, so that this share of the answers is right.
    transductive
        Fit weighting and scaling on all pairs at hand (those of ``source``, or ``unlabelled`` in `fit`) and
        not on the labelled ones alone.
    n_jobs
        Labels trained at once, in threads; the model is the same for any number.

    Attributes
    ----------
    classes_ : ndarray
    model_ : LinearModel
        Weights per named feature; `save_model` writes it.

    Examples
    --------
    >>> from bagpack.learn.synthetic import make_counts
    >>> X, y = make_counts(n_pairs=120, n_words=60, seed=3)
    >>> classifier = RelationClassifier(condition="v12").fit(X[:100], y[:100])
    >>> classifier.decision_function(X[100:]).shape
    (20,)
    """

    def __init__(
        self,
        source: Any = None,
        *,
        condition: str = "v1v2v12",
        preset: str | Preset = "modern",
        C: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        precision: float | None = None,
        transductive: bool = False,
        tol: float = 1e-3,
        solver: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.source = source
        self.condition = condition
        self.preset = preset
        self.C = C
        self.class_weight = class_weight
        self.precision = precision
        self.transductive = transductive
        self.tol = tol
        self.solver = solver
        self.n_jobs = n_jobs

    def fit(
        self, X: Pairs, y: Answers, sample_weight: ArrayLike | None = None, *, unlabelled: Pairs = None
    ) -> Self:
        """Train on pairs X with labels y: one each, a collection of labels each, or an indicator matrix."""
        svm = SvmSettings(C=self.C, tol=self.tol, solver=self.solver)
        targets = encode_targets(_given(y, self))
        sample_weight = _sample_weight(sample_weight, len(targets))
        self._fit(X, targets, svm, unlabelled, self._weights(targets, sample_weight), sample_weight)
        self.classes_ = np.array(self.model_.classes)
        return self

    def _weights(self, targets: Targets, sample_weight: Floats | None) -> Floats | None:
        """Factor on C, rows × outputs."""
        if sample_weight is None and self.class_weight is None:
            return None
        rows = np.ones(len(targets)) if sample_weight is None else sample_weight
        weight = np.repeat(rows[:, None], targets.columns.shape[1], axis=1)
        if self.class_weight is None:
            return weight
        given: Any = self.class_weight
        if isinstance(given, Mapping):
            unknown = [label for label in given if label not in targets.classes]
            if unknown:
                raise UsageError(f"class_weight has the label {unknown[0]!r}, which is not in y")
            given = {k: float(given.get(label, 1.0)) for k, label in enumerate(targets.classes)}
        if targets.kind == "multilabel":
            if not isinstance(given, Mapping):
                raise UsageError(
                    "for several labels per pair, class_weight must be a mapping from label to weight"
                )
            return np.where(targets.columns, weight * np.array(list(given.values())), weight)
        codes = np.arange(len(targets.classes))
        factors = compute_class_weight(given, classes=codes, y=targets.codes)
        scaled: Floats = weight * factors[targets.codes][:, None]
        return scaled

    def decision_function(self, X: Pairs) -> Floats:
        """Decision values: one per pair for two classes (positive: ``classes_[1]``), else pairs × classes."""
        decisions = self._decisions(X)
        return decisions[:, 0] if self.model_.kind == "binary" else decisions

    def predict(self, X: Pairs) -> Answers:
        """The label of the highest decision value; for several labels per pair, all above 0, in y's form."""
        decisions = self._decisions(X)
        return self.model_.decode(decisions)

    def predict_proba(self, X: Pairs) -> Floats:
        """Calibrated probability of each class, pairs × classes.

        The first call calibrates on held-out folds of the training pairs, which takes five times as long as `fit`.
        Labels are chosen by decision values, so the most probable class can be another than the one `predict` gives.
        """
        decisions = self._decisions(X)
        return self.model_.probabilities(decisions)

    def answers(self, X: Pairs) -> list[Any]:
        """Labels, or None for *none of these*: below the threshold, or if the corpus does not have a word."""
        check_is_fitted(self, "model_")
        return self.model_.answers(self._matrix(X, reset=False))

    def score(self, X: Pairs, y: Answers, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy: the share of pairs whose label, or whose whole set of labels, is right."""
        predicted = self.predict(X)
        if self.model_.kind != "multilabel" or not self.model_.as_sets:
            return float(super().score(X, _given(y, self), sample_weight))
        right = [set(one) == set(two) for one, two in zip(predicted, y, strict=True)]
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(np.asarray(right, np.float64), weights=weights))

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
        source: Any = None,
        *,
        condition: str = "v1v2v12",
        preset: str | Preset = "modern",
        C: float = 1.0,
        epsilon: float = 0.2,
        transductive: bool = False,
        tol: float = 1e-3,
        solver: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.source = source
        self.condition = condition
        self.preset = preset
        self.C = C
        self.epsilon = epsilon
        self.transductive = transductive
        self.tol = tol
        self.solver = solver
        self.n_jobs = n_jobs

    def fit(
        self, X: Pairs, y: Answers, sample_weight: ArrayLike | None = None, *, unlabelled: Pairs = None
    ) -> Self:
        """Train on pairs X with ratings y."""
        svm = SvmSettings(C=self.C, epsilon=self.epsilon, tol=self.tol, solver=self.solver)
        targets = encode_targets(_given(y, self), kind="rating")
        sample_weight = _sample_weight(sample_weight, len(targets))
        weight = None if sample_weight is None else sample_weight[:, None]
        return self._fit(X, targets, svm, unlabelled, weight, sample_weight)

    def predict(self, X: Pairs) -> Floats:
        """Predicted ratings."""
        return self._decisions(X)[:, 0]


def _sample_weight(given: ArrayLike | None, n: int) -> Floats | None:
    if given is None:
        return None
    weight: Floats = _check_sample_weight(given, np.zeros((n, 1)), dtype=np.float64)
    if not (weight >= 0).all() or not weight.any():
        raise InputError("sample_weight has negative values, or none above 0; give 0 or more to each row")
    return weight


def _given(y: Answers, estimator: BaseEstimator) -> Answers:
    if y is None:
        raise InputError(
            f"requires y to be passed, but the target y is None: {type(estimator).__name__} needs an answer per pair"
        )
    return y
