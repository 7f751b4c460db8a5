"""Probabilities of out-of-fold predictions, how reliable they are, and when to withhold an answer.

The calibration of a fold is fitted on the decision values of the other folds, and its threshold chosen there, so that
no row calibrates itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bagpack.evaluate.schema import Abstention, Reliability
from bagpack.learn import calibration

if TYPE_CHECKING:
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Bools, Floats, Ints

PARTS = 10  # more folds than this are joined: a calibration curve needs few rows
FEWEST = 20  # tested rows from which probabilities are calibrated


def calibration_parts(fold_of: Ints, seed: int = 0) -> Ints:
    """The part of each row that is calibrated on the other parts; −1 for rows without a fold.

    The parts are the folds. A single fold (a test file) is divided at random: its probabilities are calibrated on the
    other rows of the test file.
    """
    tested = fold_of >= 0
    if len(np.unique(fold_of[tested])) > 1:
        return np.where(tested, fold_of % PARTS, -1)
    parts = np.full(len(fold_of), -1)
    parts[tested] = np.random.default_rng(seed).permutation(int(tested.sum())) % PARTS
    return parts


def calibrated(targets: Targets, decisions: Floats, parts: Ints) -> Floats:
    """Probability of every label (rows × classes), each part calibrated on the others; NaN where there is none."""
    found = np.full((len(targets), len(targets.classes)), np.nan)
    tested = parts >= 0
    if tested.sum() >= FEWEST and len(np.unique(parts[tested])) > 1:
        found[tested] = calibration.held_out_probabilities(
            decisions[tested], targets.columns[tested], targets.kind, parts[tested].astype(np.intp)
        )
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
    answers = calibration.Answers(probability, right, np.arange(len(right)))
    value = calibration.choose_threshold(answers, precision).value
    return float("inf") if value is None else value


def abstentions(probability: Floats, right: Bools, parts: Ints, known: Bools, precision: float) -> Bools:
    """Which rows are not answered: below the threshold chosen on the other parts, or with an unknown word."""
    withheld = ~known
    for part in np.unique(parts):
        others = known & (parts != part)
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
