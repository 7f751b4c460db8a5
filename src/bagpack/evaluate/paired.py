"""Two ways of answering the same rows, compared by resampling the rows.

Scores are taken over all predictions together. A bootstrap draws rows with replacement, the same ones for both sides,
so what makes a row hard or easy for both cancels out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.stats import rankdata

from bagpack.errors import InputError
from bagpack.evaluate.scores import Score

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Ints

SAMPLES = 1000
Metric = Literal["rho", "f1_macro", "f1", "credit"]


@dataclass(frozen=True)
class Part:
    """The answers to one task's rows: ranks of ratings, class numbers, or credit for questions.

    ``f1`` is that of class 1 alone.
    """

    metric: Metric
    truth: Floats | Ints
    predicted: Floats | Ints

    def score(self, rows: Ints | None = None) -> float:
        """The score of all rows, or of those drawn."""
        truth = self.truth if rows is None else self.truth[rows]
        predicted = self.predicted if rows is None else self.predicted[rows]
        if self.metric == "credit":
            return float(predicted.mean())
        if self.metric == "rho":
            if np.ptp(truth) == 0 or np.ptp(predicted) == 0:
                return 0.0
            return float(np.corrcoef(truth, predicted)[0, 1])
        classes = int(max(self.truth.max(), self.predicted.max())) + 1
        both = np.bincount(truth[truth == predicted], minlength=classes)
        total = np.bincount(truth, minlength=classes) + np.bincount(predicted, minlength=classes)
        f1 = 2 * both / np.maximum(total, 1)
        if self.metric == "f1":
            return float(f1[1]) if classes > 1 else 0.0
        return float(f1[np.unique(truth)].mean())


def ratings_part(truth: Floats, predicted: Floats) -> Part:
    """Ratings, compared by rank."""
    return Part("rho", rankdata(truth), rankdata(predicted))


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
    low, high = np.percentile(values, [2.5, 97.5])
    return Score(mean, float(low), float(high))


def bootstrap_score(outcome: Outcome, *, seed: int = 0, samples: int = SAMPLES) -> Score:
    """The score with a 95 % interval over drawn rows."""
    draws = _draws(outcome, seed, samples)
    return _percentiles(outcome.score(), [outcome.score(rows) for rows in draws])


def bootstrap_difference(a: Outcome, b: Outcome, *, seed: int = 0, samples: int = SAMPLES) -> Score:
    """Score of ``a`` less score of ``b`` with a 95 % interval, both on the same drawn rows.

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
