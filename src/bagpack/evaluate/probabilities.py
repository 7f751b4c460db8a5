"""Calibrated probabilities of out-of-fold predictions, how reliable they are, and when to withhold an answer.

Decision values are turned into probabilities by Platt's sigmoid, one per label. The sigmoid of a fold is fitted on the
decision values of the other folds, so that no row calibrates itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bagpack.evaluate.schema import Abstention, Reliability

if TYPE_CHECKING:
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Bools, Floats, Ints

PARTS = 10  # more folds than this are joined: the sigmoid has two parameters
BINS = 10
FEWEST = 10  # rows from which a sigmoid can be fitted


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
    truth = targets.columns
    found = np.full(truth.shape, np.nan)
    for part in np.unique(parts[parts >= 0]):
        fit, use = (parts >= 0) & (parts != part), parts == part
        if fit.sum() < FEWEST:
            continue
        for k in range(truth.shape[1]):
            found[use, k] = _sigmoid(decisions[fit, k], truth[fit, k], decisions[use, k])
    if targets.kind == "binary":
        return np.hstack([1 - found, found])
    if targets.kind == "multiclass":
        return np.asarray(found / found.sum(axis=1, keepdims=True))
    return found


def _sigmoid(decisions: Floats, positive: Bools, asked: Floats) -> Floats:
    """Platt's (1999) sigmoid with his smoothed targets, which keep it finite where labels are separable."""
    from sklearn.linear_model import LogisticRegression

    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    high, low = (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    share = np.where(positive, high, low)
    model = LogisticRegression(C=np.inf, max_iter=1000)
    rows = np.concatenate([decisions, decisions])[:, None]
    labels = np.repeat([True, False], len(decisions))
    model.fit(rows, labels, sample_weight=np.concatenate([share, 1 - share]))
    return np.asarray(model.predict_proba(asked[:, None])[:, 1])


def reliability(probability: Floats, right: Bools) -> Reliability:
    """Mean probability and accuracy in bins of equal width, and the expected calibration error.

    Examples
    --------
    >>> import numpy as np
    >>> reliability(np.array([0.8, 0.8, 0.8, 0.8]), np.array([True, True, True, False]))["error"]
    0.05
    """
    number = np.clip((probability * BINS).astype(int), 0, BINS - 1)
    bins = []
    for at in np.unique(number):
        inside = number == at
        bins.append((int(inside.sum()), float(probability[inside].mean()), float(right[inside].mean())))
    error = sum(n * abs(mean - accuracy) for n, mean, accuracy in bins) / max(len(right), 1)
    return {
        "bins": [{"n": n, "probability": mean, "accuracy": accuracy} for n, mean, accuracy in bins],
        "error": round(error, 6),
    }


def threshold_for(probability: Floats, right: Bools, precision: float) -> float:
    """The lowest probability from which at least this share of the predictions is right; infinity if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_for(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, False]), 0.6)
    0.7
    """
    order = np.argsort(-probability, kind="stable")
    values = probability[order]
    found = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    last_of_ties = np.append(values[1:] != values[:-1], True)
    enough = np.flatnonzero((found >= precision - 1e-12) & last_of_ties)
    return float(values[enough[-1]]) if len(enough) else float("inf")


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
