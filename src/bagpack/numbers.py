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


_SHARES = {
    "accuracy": ("Accuracy", "share of rows with the right label"),
    "f1": ("F1", "harmonic mean of precision and recall"),
    "f1_macro": ("F1 macro", "mean of the labels' F1, every label counting the same"),
    "f1_weighted": ("F1 weighted", "mean of the labels' F1, weighted by their rows"),
    "auc": ("AUC", "chance that a row of the label outranks one without it"),
    "score": ("Worst-case score", "accuracy, an incomplete question counting as a random guess (1/choices)"),
    "coverage": ("Coverage", "share of questions all of whose pairs have a vector"),
    "complete_accuracy": ("Accuracy, complete", "accuracy on the complete questions alone"),
}
_CORRELATIONS = {
    "spearman": ("Spearman ρ", "mean rank correlation with the ratings within each group or fold"),
    "spearman_pooled": ("ρ pooled", "rank correlation over the predictions of all folds together"),
    "pearson": ("Pearson r", "linear correlation of predictions with the ratings"),
}
METRICS = {
    **{name: Metric(label, True, meaning, 0.0, 1.0) for name, (label, meaning) in _SHARES.items()},
    **{name: Metric(label, False, meaning, -1.0, 1.0) for name, (label, meaning) in _CORRELATIONS.items()},
    "mae": Metric("Mean error", False, "mean absolute difference from the rating", 0.0),
}


def metric_info(name: str) -> Metric:
    """A metric's label and how it is written; one that is not known is written as a plain number."""
    return METRICS.get(name) or Metric(name.replace("_", " "), False, "")


def metric_label(name: str, unit: bool = True) -> str:
    """A metric as a column heading: `AUC %`, `Spearman ρ`."""
    return metric_info(name).label + (show_unit(name) if unit else "")


def show_unit(metric: str) -> str:
    return " %" if metric_info(metric).percent else ""


def is_number(value: object) -> TypeGuard[float]:
    """Whether there is a finite number to show."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def show_score(value: float | None, metric: str, signed: bool = False) -> str:
    """A score as it is written in tables: one decimal for percentages, three otherwise.

    >>> show_score(0.8431, "accuracy"), show_score(-0.598, "spearman"), show_score(None, "auc")
    ('84.3', '−0.598', '–')
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
    return max(low, metric_info(metric).least), min(high, metric_info(metric).most)


def between_of(metric: str) -> str:
    """What separates the ends of an interval: a dash, or " to " where a minus sign may follow."""
    return "–" if metric_info(metric).least >= 0 else " to "


def show_interval(low: float | None, high: float | None, metric: str, between: str = " to ") -> str:
    """A score's interval as it is written below the score, or nothing.

    >>> show_interval(0.81, 0.8753, "accuracy"), show_interval(0.95, 1.02, "accuracy")
    ('81.0 to 87.5', '95.0 to 100.0')
    """
    ends = inside(low, high, metric)
    return f"{show_score(ends[0], metric)}{between}{show_score(ends[1], metric)}" if ends else ""


def show_difference_interval(low: float | None, high: float | None, metric: str) -> str:
    """The interval of a difference between two scores: signed, and nowhere cut."""
    if not is_number(low) or not is_number(high):
        return ""
    return f"{show_score(low, metric, signed=True)} to {show_score(high, metric, signed=True)}"


def show_probability(value: float | None) -> str:
    """A probability in whole percent (`41 %`, `> 99 %`, `< 1 %`), or nothing."""
    if value is None:
        return ""
    return "> 99 %" if value > 0.99 else "< 1 %" if value < 0.01 else f"{100 * value:.0f} %"


def show_share(part: int | None, whole: int | None) -> str:
    """A part of a whole in percent, or nothing where there is no whole."""
    return "" if part is None or not whole else f"{100 * part / whole:.1f} %"


def many(count: int, one: str, more: str = "") -> str:
    """`1 document`, `2 documents`; an irregular plural is given."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def show_count(value: object) -> str:
    """A whole number with separators; anything else as it is."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def show_value(value: object) -> str:
    """A setting as a person would write it."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(show_value(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {show_value(item)}" for key, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
