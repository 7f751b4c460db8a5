"""Scores and other numbers as they are written; the names of metrics, and the bounds of their values."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard


class Metric(NamedTuple):
    """How a metric is called and written, and the bounds that no value of it can pass."""

    label: str
    percent: bool
    meaning: str
    least: float = -math.inf
    most: float = math.inf


def _share(label: str, meaning: str) -> Metric:
    return Metric(label, True, meaning, 0.0, 1.0)


def _correlation(label: str, meaning: str) -> Metric:
    return Metric(label, False, meaning, -1.0, 1.0)


METRICS = {
    "accuracy": _share("Accuracy", "share of rows with the right label"),
    "f1": _share("F1", "harmonic mean of precision and recall"),
    "f1_macro": _share("F1 macro", "mean of the labels' F1, every label counting the same"),
    "f1_weighted": _share("F1 weighted", "mean of the labels' F1, weighted by their rows"),
    "auc": _share("AUC", "chance that a row of the label outranks one without it"),
    "spearman": _correlation(
        "Spearman ρ", "mean rank correlation with the ratings within each group or fold"
    ),
    "spearman_pooled": _correlation(
        "ρ pooled", "rank correlation over the predictions of all folds together"
    ),
    "pearson": _correlation("Pearson r", "linear correlation of predictions with the ratings"),
    "mae": Metric("Mean error", False, "mean absolute difference from the rating", 0.0),
    "score": _share(
        "Worst-case score", "accuracy, an incomplete question counting as a random guess (1/choices)"
    ),
    "coverage": _share("Coverage", "share of questions all of whose pairs have a vector"),
    "complete_accuracy": _share("Accuracy, complete", "accuracy on the complete questions alone"),
}


def metric_info(name: str) -> Metric:
    """A metric's label and how it is written; one that is not known is written as a plain number."""
    return METRICS.get(name) or Metric(name.replace("_", " "), False, "")


def metric_label(name: str, unit: bool = True) -> str:
    """A metric as a column heading.

    >>> metric_label("auc"), metric_label("spearman")
    ('AUC %', 'Spearman ρ')
    """
    return metric_info(name).label + (show_unit(name) if unit else "")


def show_unit(metric: str) -> str:
    """The unit that follows a metric's name in a table's head."""
    return " %" if metric_info(metric).percent else ""


def is_number(value: object) -> TypeGuard[float]:
    """Whether there is a finite number to show."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def show_score(value: float | None, metric: str, signed: bool = False) -> str:
    """A score as it is written in tables: one decimal for percentages, three otherwise.

    >>> show_score(0.8431, "accuracy"), show_score(0.598, "spearman"), show_score(None, "auc")
    ('84.3', '0.598', '–')
    """
    if not is_number(value):
        return "–"
    sign = "+" if signed else ""
    text = f"{100 * value:{sign}.1f}" if metric_info(metric).percent else f"{value:{sign}.3f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")


def inside(low: float | None, high: float | None, metric: str) -> tuple[float, float] | None:
    """A score's interval, ending where the metric does, or None if there is none.

    Mean ± t·s/√k over few folds may reach past what a share or a correlation can be.
    """
    if not is_number(low) or not is_number(high):
        return None
    known = metric_info(metric)
    return max(low, known.least), min(high, known.most)


def between_of(metric: str) -> str:
    """What separates the ends of an interval: a dash, or " to " where a minus sign may follow."""
    return "–" if metric_info(metric).least >= 0 else " to "


def show_interval(low: float | None, high: float | None, metric: str, between: str = " to ") -> str:
    """A score's interval as it is written below the score, or nothing.

    >>> show_interval(0.81, 0.8753, "accuracy"), show_interval(0.95, 1.02, "accuracy")
    ('81.0 to 87.5', '95.0 to 100.0')
    >>> show_interval(-1.872, 2.082, "spearman")
    '−1.000 to 1.000'
    """
    ends = inside(low, high, metric)
    return f"{show_score(ends[0], metric)}{between}{show_score(ends[1], metric)}" if ends else ""


def show_difference_interval(low: float | None, high: float | None, metric: str) -> str:
    """The interval of a difference between two scores: signed, and nowhere cut.

    >>> show_difference_interval(-0.246, -0.121, "accuracy"), show_difference_interval(-0.167, 0.021, "auc")
    ('−24.6 to −12.1', '−16.7 to +2.1')
    """
    if not is_number(low) or not is_number(high):
        return ""
    return f"{show_score(low, metric, signed=True)} to {show_score(high, metric, signed=True)}"


def show_p(value: float | None) -> str:
    """A p-value: three decimals, and below that only that it is."""
    if not is_number(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def show_probability(value: float | None) -> str:
    """A probability in whole percent, or nothing.

    >>> show_probability(0.414), show_probability(0.996), show_probability(0.002), show_probability(None)
    ('41 %', '> 99 %', '< 1 %', '')
    """
    if value is None:
        return ""
    if value > 0.99:
        return "> 99 %"
    return "< 1 %" if value < 0.01 else f"{100 * value:.0f} %"


def show_share(part: int | None, whole: int | None) -> str:
    """A part of a whole in percent, or nothing where there is no whole."""
    if part is None or not whole:
        return ""
    share = 100 * part / whole
    return "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def many(count: int, one: str, more: str = "") -> str:
    """`1 document`, `2 documents`; an irregular plural is given."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def show_count(value: object) -> str:
    """A whole number with separators.

    >>> show_count(1234567)
    '1,234,567'
    """
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show_value(value: object) -> str:
    """A setting as a person would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(show_value(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {show_value(item)}" for key, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
