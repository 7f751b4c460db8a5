"""Calibrated probabilities from held-out decision values, and a threshold below which a model does not answer.

A model's own training rows have larger decision values than new pairs, so calibration takes values of rows that were
not trained on: one model per fold answers for the rows of that fold (`fitting.hold_out`). One curve per output then
maps decision values to probabilities, as in scikit-learn's ``CalibratedClassifierCV(ensemble=False)``.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Floats, Index, Ints

FOLDS = 5
# A precision measured on fewer answers is chance: 9 of 10 correct has a 95 % interval from 60 to 98 %.
LEAST_ANSWERS = 20


def probabilities_of(decisions: Floats, curves: Floats) -> Floats:
    """Probability per pair and class, from decision values x and the slope and intercept of each output's curve.

    p(x) = 1 / (1 + exp(−(slope · x + intercept))). Two classes, which share an output, have 1 − p and p; several are
    normalised.
    """
    slopes, intercepts = curves.T
    found = np.exp(-np.logaddexp(0.0, -(slopes * decisions + intercepts)))
    if len(curves) == 1:
        return np.hstack([1 - found, found])
    total = found.sum(axis=1, keepdims=True)
    equal = np.full_like(found, 1 / found.shape[1])
    return np.asarray(np.divide(found, total, out=equal, where=total > 0))


def fit_calibration(decisions: Floats, columns: Bools) -> Floats:
    """Fit a sigmoid per output on held-out decision values (Platt 2000, with his priors, from a few examples on).

    ``decisions`` and ``columns`` are pairs × outputs: decision values of rows that the model was not trained on, and
    whether each label holds. Rows with a decision value that is not finite are ignored.

    Examples
    --------
    >>> decisions = np.array([[-2.0], [-1.0], [0.5], [-0.5], [1.0], [2.0]])
    >>> holds = np.array([[False], [False], [False], [True], [True], [True]])
    >>> probabilities_of(np.array([[-3.0], [3.0]]), fit_calibration(decisions, holds)).round(2).tolist()
    [[0.87, 0.13], [0.13, 0.87]]
    """
    known = np.isfinite(decisions).all(axis=1)
    if not known.any():
        raise UsageError("there is no held-out decision value to calibrate on")
    outputs = zip(decisions[known].T, columns[known].T, strict=True)
    return np.array([_sigmoid(x, holds) for x, holds in outputs])


def _sigmoid(x: Floats, holds: Bools) -> tuple[float, float]:
    """Logistic regression on Platt's soft targets: (n₊ + 1)/(n₊ + 2) for positives, 1/(n₋ + 2) for negatives."""
    from sklearn.linear_model import LogisticRegression

    positive, negative = int(holds.sum()), int((~holds).sum())
    soft = np.where(holds, (positive + 1) / (positive + 2), 1 / (negative + 2))
    share = float(soft.mean())
    constant = 0.0, math.log(share / (1 - share))
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
    return slope, float(model.intercept_[0]) - slope * middle


# Held-out rows --------------------------------------------------------------------------------------------------


def calibration_folds(columns: Bools, groups: Index) -> Index | None:
    """Fold of each row, labels spread evenly and every group in one fold; fewer folds where there are fewer groups.

    None if there cannot be two.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    classes = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    folds = min(FOLDS, len(np.unique(groups)), int(np.bincount(classes).max()))
    if folds < 2:
        return None
    out = np.empty(len(columns), dtype=np.intp)
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a label may be on fewer rows than there are folds
        for number, (_, test) in enumerate(splitter.split(out, classes, groups)):
            out[test] = number
    return out


def held_out_probabilities(decisions: Floats, columns: Bools, fold: Index) -> Floats:
    """Probabilities of every row by curves that were fitted on the other folds: for reliability and thresholds."""
    from sklearn.model_selection import PredefinedSplit

    out = np.empty((len(fold), max(2, columns.shape[1])))
    for train, test in PredefinedSplit(fold).split():
        out[test] = probabilities_of(decisions[test], fit_calibration(decisions[train], columns[train]))
    return out


# Answers --------------------------------------------------------------------------------------------------------


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


def choose_threshold(probability: Floats, correct: Bools, precision: float) -> Threshold:
    """The threshold with the most answers, LEAST_ANSWERS or all, that reaches ``precision`` on held-out rows.

    ``probability`` is that of each row's answer, ``correct`` whether it is.
    """
    if not 0 < precision <= 1:
        raise UsageError(f"--precision must be above 0 and at most 1, not {precision}")
    order = np.argsort(-probability, kind="stable")
    ranked = probability[order]
    given = np.arange(1, len(order) + 1)
    reached = np.cumsum(correct[order]) / given
    # Equal probabilities are answered together.
    last = np.append(ranked[1:] != ranked[:-1], True)
    possible = np.flatnonzero(last & (given >= min(LEAST_ANSWERS, len(order))))
    enough = possible[reached[possible] >= precision]
    at = int(enough[-1]) if len(enough) else int(possible[np.argmax(reached[possible])])
    value = float(ranked[at]) if len(enough) else None
    return Threshold(precision, value, float(reached[at]), (at + 1) / len(order))


def accepted_answers(probability: Floats, correct: Bools, fold: Ints, precision: float) -> Bools:
    """Whether each answer is given, the threshold of its fold being chosen on the other folds.

    Rows of fold −1 do not choose.
    """
    accepted = np.zeros(len(fold), dtype=bool)
    for number in np.unique(fold):
        rest, own = (fold >= 0) & (fold != number), fold == number
        if rest.any():
            chosen = choose_threshold(probability[rest], correct[rest], precision)
            accepted[own] = chosen.accepts(probability[own])
    return accepted


def held_out_threshold(probability: Floats, correct: Bools, fold: Index, precision: float) -> Threshold:
    """The threshold chosen on all rows, with precision and coverage as measured on rows that did not choose it."""
    chosen = choose_threshold(probability, correct, precision)
    if chosen.value is None:
        return chosen
    accepted = accepted_answers(probability, correct, fold, precision)
    found = float(correct[accepted].mean()) if accepted.any() else 0.0
    return replace(chosen, precision=found, coverage=float(accepted.mean()))
