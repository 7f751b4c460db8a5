"""Scores, their intervals over folds, and paired comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Answers, Bools, Floats, Ints, Json


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval and each fold's value; NaN where there is none."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    folds: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """As JSON: None for NaN."""
        return {
            "mean": number(self.mean),
            "low": number(self.low),
            "high": number(self.high),
            "folds": [number(value) for value in self.folds],
        }


def number(value: float) -> float | None:
    """A float for JSON: None for NaN and the infinities."""
    return float(value) if math.isfinite(value) else None


def interval(values: Sequence[float], confidence: float = 0.95) -> Score:
    """Mean ± t·s/√k over the k values that are numbers.

    Examples
    --------
    >>> score = interval([0.7, 0.8, 0.9])
    >>> round(score.mean, 3), round(score.low, 3), round(score.high, 3)
    (0.8, 0.552, 1.048)
    """
    found = np.array([value for value in values if math.isfinite(value)])
    folds = tuple(float(value) for value in values)
    if not len(found):
        return Score(math.nan, folds=folds)
    mean = float(found.mean())
    if len(found) < 2:
        return Score(mean, folds=folds)
    error = found.std(ddof=1) / math.sqrt(len(found))
    half = float(stats.t.ppf(0.5 + confidence / 2, len(found) - 1) * error)
    return Score(mean, mean - half, mean + half, folds)


def correlation_interval(rho: float, n: int, folds: Sequence[float] = ()) -> Score:
    """A rank correlation over all n rows: Fisher's z with Bonett and Wright's variance (1 + ρ²/2)/(n − 3)."""
    folds = tuple(float(value) for value in folds)
    if not math.isfinite(rho) or n < 4 or abs(rho) >= 1:
        return Score(rho, folds=folds)
    half = 1.959964 * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return Score(rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half), folds)


@dataclass(frozen=True)
class Comparison:
    """Condition ``a`` less condition ``b`` over the same folds.

    ``p`` and the interval are Nadeau and Bengio's (2003): folds share training rows, so the variance of the
    mean is taken as s²·(1/k + n_test/n_train). ``p_plain`` is the ordinary paired t-test's, which is too sure
    of itself.
    """

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    p_plain: float
    folds: int

    def to_dict(self) -> dict[str, Json]:
        """As JSON: None for NaN."""
        return {
            "a": self.a,
            "b": self.b,
            "metric": self.metric,
            "difference": number(self.difference),
            "low": number(self.low),
            "high": number(self.high),
            "p": number(self.p),
            "p_plain": number(self.p_plain),
            "test": "paired t over folds, corrected for shared training rows (Nadeau and Bengio 2003)",
        }


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
    if k < 2:
        mean = float(differences.mean()) if k else math.nan
        return Comparison(*names, metric, mean, math.nan, math.nan, math.nan, math.nan, k)
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))

    def p_value(error: float) -> float:
        if error == 0:
            return 1.0 if mean == 0 else 0.0
        return float(2 * stats.t.sf(abs(mean) / error, k - 1))

    corrected = spread * math.sqrt(1 / k + test_share)
    half = float(stats.t.ppf(0.975, k - 1)) * corrected
    return Comparison(
        *names, metric, mean, mean - half, mean + half, p_value(corrected), p_value(spread / math.sqrt(k)), k
    )


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN where one side is constant or there are fewer than three rows."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: Floats, y: Floats) -> float:
    """Spearman's ρ; NaN where there is no correlation."""
    return correlation(stats.rankdata(x), stats.rankdata(y))


def area_under_curve(positive: Bools, decision: Floats) -> float:
    """Chance that a positive row outranks a negative one, ties counting half; NaN where one side is empty."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return math.nan
    ranks = stats.rankdata(decision)
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _f1(truth: Bools, predicted: Bools) -> tuple[Floats, Ints]:
    """Per column, F1 (0 where neither side has the label) and the number of rows that have it."""
    hits = (truth & predicted).sum(axis=0)
    total = truth.sum(axis=0) + predicted.sum(axis=0)
    return np.where(total > 0, 2 * hits / np.maximum(total, 1), 0.0), truth.sum(axis=0)


def _mean(values: Floats, weights: Floats | Ints | None = None) -> float:
    if not len(values) or (weights is not None and not weights.sum()):
        return math.nan
    return float(np.average(values, weights=weights))


def label_scores(
    targets: Targets, decisions: Floats, predicted: Answers, left_out: Sequence[str] = ()
) -> dict[str, float]:
    """Scores of one fold's labels.

    Macro F1 and AUC average over the labels that the fold has (or predicts, for F1). Where labels are left
    out, ``…_without`` averages over the others; the rows that carry a left-out label stay and can still cost
    precision.
    """
    truth = targets.one_hot()
    if targets.kind == "multilabel":
        chosen = predicted
        accuracy = float((chosen == truth).all(axis=1).mean())
        per_label = decisions
    else:
        chosen = predicted[:, None] == np.arange(len(targets.classes))
        accuracy = float((predicted == targets.codes).mean())
        per_label = np.hstack([-decisions, decisions]) if targets.kind == "binary" else decisions
    f1, support = _f1(truth, chosen)
    present = (support > 0) | chosen.any(axis=0)
    out = {
        "f1_macro": _mean(f1[present]),
        "f1_weighted": _mean(f1, support),
        "accuracy": accuracy,
    }
    if targets.kind == "binary":
        out["f1"] = float(f1[1])
    areas = np.array([area_under_curve(truth[:, k], per_label[:, k]) for k in range(truth.shape[1])])
    if left_out:
        kept = np.array([str(label) not in left_out for label in targets.classes])
        out["f1_macro_without"] = _mean(f1[kept & present])
        out["f1_weighted_without"] = _mean(f1[kept], support[kept])
    out["auc"] = _mean(areas[np.isfinite(areas)])
    return out


def rating_scores(ratings: Floats, predicted: Floats) -> dict[str, float]:
    """Scores of one fold's ratings."""
    return {
        "spearman": rank_correlation(predicted, ratings),
        "pearson": correlation(predicted, ratings),
        "mae": float(np.abs(predicted - ratings).mean()) if len(ratings) else math.nan,
    }


def confusion_matrix(targets: Targets, predicted: Ints) -> Ints:
    """Rows by true class (down) and predicted class (across)."""
    size = len(targets.classes)
    return np.bincount(targets.codes * size + predicted, minlength=size * size).reshape(size, size)
