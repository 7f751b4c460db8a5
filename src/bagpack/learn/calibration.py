"""Calibrated probabilities from held-out decision values, and a threshold below which a model does not answer.

A model's own training rows have larger decision values than new pairs, so calibration takes values of rows that were
not trained on: one model per fold answers for the rows of that fold (`held_out_decisions`). One curve per output then
maps decision values to probabilities, as in scikit-learn's ``CalibratedClassifierCV(ensemble=False)``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.learn.features import Bools, Floats, Index, Ints
    from bagpack.learn.targets import Kind

FOLDS = 5
# A precision measured on fewer answers is chance: 9 of 10 correct has a 95 % interval from 60 to 98 %.
LEAST_ANSWERS = 20


@dataclass(frozen=True)
class Curve:
    """Probability of one label given its decision value x: 1 / (1 + exp(−(slope · x + intercept)))."""

    slope: float
    intercept: float

    def __call__(self, decisions: Floats) -> Floats:
        return np.exp(-np.logaddexp(0.0, -(self.slope * decisions + self.intercept)))


@dataclass(frozen=True)
class Calibration:
    """One curve per output of a model."""

    kind: Kind
    curves: tuple[Curve, ...]

    def probabilities(self, decisions: Floats) -> Floats:
        """One per pair and class: 1 − p and p for two classes, which share an output; several are normalised."""
        found = np.column_stack([curve(decisions[:, k]) for k, curve in enumerate(self.curves)])
        if self.kind == "binary":
            return np.hstack([1 - found, found])
        total = found.sum(axis=1, keepdims=True)
        equal = np.full_like(found, 1 / found.shape[1])
        return np.asarray(np.divide(found, total, out=equal, where=total > 0))


def fit_calibration(decisions: Floats, columns: Bools, kind: Kind) -> Calibration:
    """Fit a sigmoid per output on held-out decision values (Platt 2000, with his priors, from a few examples on).

    ``decisions`` and ``columns`` are pairs × outputs: decision values of rows that the model was not trained on, and
    whether each label holds. Rows with a decision value that is not finite are ignored.

    Examples
    --------
    >>> decisions = np.array([[-2.0], [-1.0], [0.5], [-0.5], [1.0], [2.0]])
    >>> holds = np.array([[False], [False], [False], [True], [True], [True]])
    >>> fit_calibration(decisions, holds, "binary").probabilities(np.array([[-3.0], [3.0]])).round(2).tolist()
    [[0.87, 0.13], [0.13, 0.87]]
    """
    known = np.isfinite(decisions).all(axis=1)
    if not known.any():
        raise UsageError("there is no held-out decision value to calibrate on")
    outputs = zip(decisions[known].T, columns[known].T, strict=True)
    return Calibration(kind, tuple(_sigmoid(x, holds) for x, holds in outputs))


def _sigmoid(x: Floats, holds: Bools) -> Curve:
    """Logistic regression on Platt's soft targets: (n₊ + 1)/(n₊ + 2) for positives, 1/(n₋ + 2) for negatives."""
    from sklearn.linear_model import LogisticRegression

    positive, negative = int(holds.sum()), int((~holds).sum())
    soft = np.where(holds, (positive + 1) / (positive + 2), 1 / (negative + 2))
    share = float(soft.mean())
    constant = Curve(0.0, math.log(share / (1 - share)))
    spread = float(x.std())
    if not positive or not negative or spread == 0:
        return constant
    middle = float(x.mean())
    scaled = (x - middle) / spread
    # A soft target t is a positive of weight t and a negative of weight 1 − t.
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8).fit(
        np.concatenate([scaled, scaled])[:, None],
        np.repeat([1, 0], len(x)),
        sample_weight=np.concatenate([soft, 1 - soft]),
    )
    slope = float(model.coef_[0, 0]) / spread
    if slope <= 0:  # the decision values say nothing about this label
        return constant
    return Curve(slope, float(model.intercept_[0]) - slope * middle)


# Held-out rows --------------------------------------------------------------------------------------------------


def calibration_folds(columns: Bools, groups: Index) -> Index:
    """Fold of each row, labels spread evenly and every group in one fold; fewer folds where there are fewer groups."""
    from sklearn.model_selection import StratifiedGroupKFold

    n = len(columns)
    classes = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    folds = min(FOLDS, len(np.unique(groups)), int(np.bincount(classes).max()))
    if folds < 2:
        raise UsageError(f"{n} rows in {len(np.unique(groups))} groups cannot be divided into two folds")
    out = np.empty(n, dtype=np.intp)
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a label may be on fewer rows than there are folds
        for number, (_, test) in enumerate(splitter.split(np.zeros(n), classes, groups)):
            out[test] = number
    return out


def held_out_decisions(fold: Index, decide: Callable[[Index, Index], Floats]) -> Floats:
    """Decision values of every row by ``decide(train, test)``, which trains on the other folds, at least one."""
    tests = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    parts = [decide(np.flatnonzero(fold != fold[test[0]]), test) for test in tests]
    out = np.empty((len(fold), parts[0].shape[1]))
    out[np.concatenate(tests)] = np.concatenate(parts)
    return out


def held_out_probabilities(decisions: Floats, columns: Bools, kind: Kind, fold: Index) -> Floats:
    """Probabilities of every row by curves that were fitted on the other folds: for reliability and thresholds."""

    def decide(train: Index, test: Index) -> Floats:
        return fit_calibration(decisions[train], columns[train], kind).probabilities(decisions[test])

    return held_out_decisions(fold, decide)


# Answers --------------------------------------------------------------------------------------------------------


def answer_probability(probabilities: Floats, chosen: Bools) -> Floats:
    """Probability of each pair's answer, from those of the classes and which of them was chosen.

    The answer is chosen by decision values, so another class can be slightly more probable.
    """
    return np.asarray(np.where(chosen, probabilities, 0.0).sum(axis=1))


@dataclass(frozen=True)
class Answers:
    """What a model would answer for each pair: the probability of the answer, and whether it is correct."""

    probability: Floats
    correct: Bools


@dataclass(frozen=True)
class Threshold:
    """The probability below which a model answers *none of these*.

    ``precision`` and ``coverage`` (share of the pairs with an answer) are those of the rows it was chosen on.
    ``value`` is None where no threshold reaches ``wanted``: the model then answers nothing, and the two are those
    of the most precise threshold there is.
    """

    wanted: float
    value: float | None
    precision: float
    coverage: float

    def accepts(self, probability: Floats) -> Bools:
        """Whether each answer is given."""
        return np.asarray(probability >= (np.inf if self.value is None else self.value))

    def sentence(self) -> str:
        wanted, found, share = (100 * part for part in (self.wanted, self.precision, self.coverage))
        if self.value is None:
            return (
                f"no threshold reaches a precision of {wanted:g} %: the best is {found:.0f} %, with answers for "
                f"{share:.0f} % of the pairs; the model answers no pair"
            )
        return (
            f"the model answers only if the probability is at least {self.value:.2f}, for a precision of {wanted:g} %; "
            f"thresholds chosen in this way answered {share:.0f} % of the held-out pairs, {found:.0f} % of them "
            f"correctly"
        )


def choose_threshold(held_out: Answers, precision: float) -> Threshold:
    """The threshold with the most answers, LEAST_ANSWERS or all, that reaches ``precision`` on held-out rows."""
    if not 0 < precision <= 1:
        raise UsageError(f"--precision must be above 0 and at most 1, not {precision}")
    order = np.argsort(-held_out.probability, kind="stable")
    probability = held_out.probability[order]
    given = np.arange(1, len(order) + 1)
    reached = np.cumsum(held_out.correct[order]) / given
    # Equal probabilities are answered together.
    last = np.append(probability[1:] != probability[:-1], True)
    possible = np.flatnonzero(last & (given >= min(LEAST_ANSWERS, len(order))))
    enough = possible[reached[possible] >= precision]
    at = int(enough[-1]) if len(enough) else int(possible[np.argmax(reached[possible])])
    value = float(probability[at]) if len(enough) else None
    return Threshold(precision, value, float(reached[at]), (at + 1) / len(order))


def accepted_answers(held_out: Answers, fold: Ints, precision: float, known: Bools | None = None) -> Bools:
    """Whether each answer is given if the threshold of its fold is chosen on the other folds.

    Rows of fold −1, and those that are not ``known``, choose no threshold.
    """
    chooses = fold >= 0 if known is None else known & (fold >= 0)
    accepted = np.zeros(len(fold), dtype=bool)
    for number in np.unique(fold):
        rest, own = chooses & (fold != number), fold == number
        if rest.any():
            others = Answers(held_out.probability[rest], held_out.correct[rest])
            accepted[own] = choose_threshold(others, precision).accepts(held_out.probability[own])
    return accepted


def held_out_threshold(held_out: Answers, fold: Index, precision: float) -> Threshold:
    """The threshold chosen on all rows, with precision and coverage as measured on rows that did not choose it."""
    chosen = choose_threshold(held_out, precision)
    if chosen.value is None:
        return chosen
    accepted = accepted_answers(held_out, fold, precision)
    found = float(held_out.correct[accepted].mean()) if accepted.any() else 0.0
    return replace(chosen, precision=found, coverage=float(accepted.mean()))
