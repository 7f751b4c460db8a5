"""Probabilities of out-of-fold predictions, how reliable they are, and when to withhold an answer.

The calibration of a fold is fitted on the decision values of the other folds, and its threshold chosen there, so that
no row calibrates itself. A test file is calibrated on folds of the training rows alone, as a model in use would be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bagpack.evaluate.schema import Abstention, Reliability
from bagpack.evaluate.splits import Split
from bagpack.learn import calibration

if TYPE_CHECKING:
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Bools, Floats, Index, Ints

PARTS = 10  # more folds than this are joined: a calibration curve needs few rows
FEWEST = 20  # tested rows from which probabilities are calibrated


def calibration_splits(targets: Targets, split: Split, pairs: Index) -> list[Split]:
    """Folds of the training rows of ``split``, to calibrate what it tests; none where the rows are too few.

    Rows with the same number in ``pairs`` are in the same fold.
    """
    rows, columns = split.train, targets.columns[split.train]
    labels = np.unique(columns, axis=0, return_inverse=True)[1].ravel()
    if len(rows) < FEWEST or len(np.unique(pairs[rows])) < 2 or np.bincount(labels).max() < 2:
        return []
    fold = calibration.calibration_folds(columns, pairs[rows])
    numbers = np.unique(fold).tolist()
    if any(len(np.unique(labels[fold != k])) < 2 for k in numbers):
        return []  # a fold would have one label to learn from
    return [Split(str(k + 1), rows[fold != k], rows[fold == k]) for k in numbers]


def calibration_parts(fold_of: Ints) -> Ints:
    """The part of each row that is calibrated on the other parts: its fold, or several joined; −1 for rows without."""
    return np.where(fold_of >= 0, fold_of % PARTS, -1)


def calibrated(targets: Targets, decisions: Floats, parts: Ints) -> Floats:
    """Probability of every label (rows × classes), each part calibrated on the others; NaN where there is none.

    Rows without a part are calibrated on all that have one.
    """
    found = np.full((len(targets), len(targets.classes)), np.nan)
    own = parts >= 0
    if own.sum() < FEWEST or len(np.unique(parts[own])) < 2:
        return found
    columns, kind = targets.columns[own], targets.kind
    found[own] = calibration.held_out_probabilities(decisions[own], columns, kind, parts[own].astype(np.intp))
    rest = ~own & np.isfinite(decisions).all(axis=1)
    if rest.any():
        curves = calibration.fit_calibration(decisions[own], columns, kind)
        found[rest] = curves.probabilities(decisions[rest])
    return found


def reliability(probability: Floats, right: Bools) -> Reliability:
    """Mean probability and accuracy in ten bins of equal width, and the expected calibration error.

    Examples
    --------
    >>> import numpy as np
    >>> reliability(np.array([0.85, 0.85, 0.85, 0.85]), np.array([True, True, True, False]))["error"]
    0.1
    """
    curve = calibration.reliability(probability, right)
    rows = zip(curve.counts.tolist(), curve.predicted.tolist(), curve.observed.tolist(), strict=True)
    return {
        "bins": [{"n": n, "probability": mean, "accuracy": accuracy} for n, mean, accuracy in rows],
        "error": round(curve.error, 6),
    }


def threshold_for(probability: Floats, right: Bools, precision: float) -> float:
    """The lowest probability from which at least this share of the predictions is right; infinity if there is none."""
    if not len(probability):
        return float("inf")
    answers = calibration.Answers(probability, right)
    value = calibration.choose_threshold(answers, precision).value
    return float("inf") if value is None else value


def abstentions(probability: Floats, right: Bools, parts: Ints, known: Bools, precision: float) -> Bools:
    """Which rows are not answered: below the threshold chosen on the other parts, or with an unknown word.

    Rows without a part (−1) choose no threshold.
    """
    withheld = ~known
    for part in np.unique(parts):
        others = known & (parts != part) & (parts >= 0)
        threshold = threshold_for(probability[others], right[others], precision)
        withheld |= (parts == part) & ~(probability >= threshold)
    return withheld


def abstention(withheld: Bools, right: Bools, precision: float, threshold: float | None) -> Abstention:
    """Coverage, and precision of what is answered."""
    answered = ~withheld
    return {
        "precision": precision,
        "threshold": None if threshold is None or not np.isfinite(threshold) else threshold,
        "coverage": float(answered.mean()) if len(answered) else 0.0,
        "precision_found": float(right[answered].mean()) if answered.any() else None,
    }
