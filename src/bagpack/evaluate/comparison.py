"""Intervals of scores over folds, and paired comparisons of conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from bagpack.evaluate.schema import without_nan
from bagpack.numbers import metric_info

if TYPE_CHECKING:
    from bagpack.learn.types import Json


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval and the value of each fold; NaN where there is none."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    folds: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """As JSON: None for NaN."""
        return cast("dict[str, Json]", without_nan(asdict(self)))


def interval(values: Sequence[float], metric: str = "", *, test_share: float = 0.0) -> Score:
    """Mean ± t·s·√(1/k + test_share) over the k values that are numbers, within the bounds of ``metric``.

    With ``test_share`` = 0 this is the plain t interval over folds. Rounds of cross-validation over the same rows are
    not independent; for them ``test_share`` is n_test / n_train of a fold (the corrected resampled t interval of
    Nadeau and Bengio, 2003).

    Examples
    --------
    >>> score = interval([0.7, 0.8, 0.9])
    >>> round(score.mean, 3), round(score.low, 3), round(score.high, 3)
    (0.8, 0.552, 1.048)
    >>> interval([0.7, 0.8, 0.9], "accuracy").high
    1.0
    """
    found = np.array([value for value in values if math.isfinite(value)])
    folds = tuple(float(value) for value in values)
    if not len(found):
        return Score(math.nan, folds=folds)
    mean, k = float(found.mean()), len(found)
    if k < 2:
        return Score(mean, folds=folds)
    error = found.std(ddof=1) * math.sqrt(1 / k + test_share)
    half = float(stdtrit(k - 1, 0.975) * error)
    bounds = metric_info(metric)
    # The mean may pass a bound by a rounding error, and the interval must contain it.
    low, high = max(mean - half, min(bounds.least, mean)), min(mean + half, max(bounds.most, mean))
    return Score(mean, low, high, folds)


def correlation_interval(rho: float, n: int) -> Score:
    """A rank correlation over n rows: Fisher's z with Bonett and Wright's variance (1 + ρ²/2)/(n − 3)."""
    if not math.isfinite(rho) or n < 4 or abs(rho) >= 1:
        return Score(rho)
    half = float(ndtri(0.975)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return Score(rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))


@dataclass(frozen=True)
class Comparison:
    """Condition ``a`` minus condition ``b`` over the same folds.

    ``p`` and the interval are Nadeau and Bengio's (2003): folds share training rows, so the variance of the mean is
    s²·(1/k + n_test/n_train). ``p_plain`` is that of the ordinary paired t-test, which is too small.
    """

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    p_plain: float

    def to_dict(self) -> dict[str, Json]:
        """As JSON: None for NaN."""
        test = "paired t over folds, corrected for shared training rows (Nadeau and Bengio 2003)"
        return {**cast("dict[str, Json]", without_nan(asdict(self))), "test": test}


def compare(
    a: Sequence[float],
    b: Sequence[float],
    *,
    test_share: float,
    names: tuple[str, str] = ("a", "b"),
    metric: str = "",
) -> Comparison:
    """Compare two conditions fold by fold; ``test_share`` is n_test / n_train of a fold."""
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    differences = differences[np.isfinite(differences)]
    k = len(differences)
    score = interval(differences.tolist(), test_share=test_share)
    if k < 2:
        return Comparison(*names, metric, score.mean, math.nan, math.nan, math.nan, math.nan)
    spread = float(differences.std(ddof=1))

    def p_value(error: float) -> float:
        if error == 0:
            return 1.0 if score.mean == 0 else 0.0
        return float(2 * stdtr(k - 1, -abs(score.mean) / error))

    corrected, plain = spread * math.sqrt(1 / k + test_share), spread / math.sqrt(k)
    return Comparison(*names, metric, score.mean, score.low, score.high, p_value(corrected), p_value(plain))
