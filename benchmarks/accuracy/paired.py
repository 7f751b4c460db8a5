"""Two ways of answering the same rows, compared by resampling the rows.

A bootstrap draws rows with replacement, the same ones for both sides, so that what makes a row hard or easy for both
cancels out. Every draw is scored separately: ratings are ranked among the drawn rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bagpack.errors import InputError
from bagpack.evaluate.metrics import f1_scores, rank_correlation
from bagpack.evaluate.result import Score

if TYPE_CHECKING:
    from bagpack.arrays import Floats, Ints

SAMPLES = 1000
Metric = Literal["rho", "f1_macro", "f1", "credit"]


@dataclass(frozen=True)
class Part:
    """The answers to one task's rows: ratings, class numbers, or credit for questions.

    ``f1`` is that of class 1 alone. With ``folds`` (the fold or group of each row), ``rho`` is the mean over the folds,
    as in `bagpack.evaluate.cross_validate`; without, it is pooled over all rows.
    """

    metric: Metric
    truth: Floats | Ints
    predicted: Floats | Ints
    folds: Ints | None = None

    def score(self, rows: Ints | None = None) -> float:
        """The score of all rows, or of those drawn; NaN if there is none."""
        drawn = np.arange(len(self.truth)) if rows is None else rows
        truth, predicted = self.truth[drawn], self.predicted[drawn]
        if self.metric == "credit":
            return float(predicted.mean())
        if self.metric == "rho":
            folds = np.zeros(len(drawn), np.intp) if self.folds is None else self.folds[drawn]
            found = [rank_correlation(truth[folds == k], predicted[folds == k]) for k in np.unique(folds)]
            return _mean(found)
        classes = np.arange(int(max(self.truth.max(), self.predicted.max())) + 1)
        columns = truth[:, None] == classes, predicted[:, None] == classes
        if self.metric == "f1":
            return float(f1_scores(*columns)[0][1]) if len(classes) > 1 else 0.0
        f1, present = f1_scores(*columns)
        return float(f1[present].mean())


def ratings_part(truth: Floats, predicted: Floats, folds: Ints | None = None) -> Part:
    """Ratings, compared by rank."""
    return Part("rho", truth, predicted, folds)


def _mean(values: Sequence[float]) -> float:
    found = np.array(values)
    return float(found[np.isfinite(found)].mean()) if np.isfinite(found).any() else float("nan")


@dataclass(frozen=True)
class Outcome:
    """One way of answering; its score is the mean over its parts."""

    name: str
    parts: tuple[Part, ...]

    def score(self, rows: Sequence[Ints] | None = None) -> float:
        """The mean over the parts, of all rows or of those drawn in each part."""
        drawn = rows if rows is not None else [None] * len(self.parts)
        return float(np.mean([part.score(some) for part, some in zip(self.parts, drawn, strict=True)]))


def _draws(outcome: Outcome, seed: int, samples: int) -> list[list[Ints]]:
    rng = np.random.default_rng(seed)
    sizes = [len(part.truth) for part in outcome.parts]
    return [[rng.integers(size, size=size) for size in sizes] for _ in range(samples)]


def _percentiles(mean: float, values: Sequence[float]) -> Score:
    found = [value for value in values if np.isfinite(value)]
    if not found:
        return Score(mean)
    low, high = np.percentile(found, [2.5, 97.5])
    return Score(mean, float(low), float(high))


def bootstrap_score(outcome: Outcome, *, seed: int = 0, samples: int = SAMPLES) -> Score:
    """The score with a 95 % interval over drawn rows."""
    draws = _draws(outcome, seed, samples)
    return _percentiles(outcome.score(), [outcome.score(rows) for rows in draws])


def bootstrap_difference(a: Outcome, b: Outcome, *, seed: int = 0, samples: int = SAMPLES) -> Score:
    """Score of ``a`` minus score of ``b`` with a 95 % interval, both on the same drawn rows.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([0, 1] * 20)
    >>> right = Outcome("right", (Part("f1_macro", truth, truth),))
    >>> wrong = Outcome("wrong", (Part("f1_macro", truth, 1 - truth),))
    >>> bootstrap_difference(right, wrong).low
    1.0
    """
    if [len(part.truth) for part in a.parts] != [len(part.truth) for part in b.parts]:
        raise InputError(f"{a.name} and {b.name} did not answer the same rows, so they cannot be compared")
    draws = _draws(a, seed, samples)
    return _percentiles(a.score() - b.score(), [a.score(rows) - b.score(rows) for rows in draws])
