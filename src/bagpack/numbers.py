"""Scores and other numbers as they are written; the names of metrics, and the bounds of their values."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard


class Metric(NamedTuple):
    """How a metric is called and written, and the bounds that no value of it can pass."""

    label: str
    meaning: str
    least: float = 0.0
    most: float = 1.0

    @property
    def percent(self) -> bool:
        return (self.least, self.most) == (0, 1)


METRICS = {
    "accuracy": Metric("Accuracy", "share of rows with the right label"),
    "f1": Metric("F1", "harmonic mean of precision and recall"),
    "f1_macro": Metric("F1 macro", "mean of the labels' F1, every label counting the same"),
    "f1_weighted": Metric("F1 weighted", "mean of the labels' F1, weighted by their rows"),
    "auc": Metric("AUC", "chance that a row of the label outranks one without it"),
    "score": Metric(
        "Worst-case score", "accuracy, an incomplete question counting as a random guess (1/choices)"
    ),
    "coverage": Metric("Coverage", "share of questions all of whose pairs have a vector"),
    "complete_accuracy": Metric("Accuracy, complete", "accuracy on the complete questions alone"),
    "spearman": Metric("Spearman ρ", "mean rank correlation with the ratings within each group or fold", -1),
    "spearman_pooled": Metric("ρ pooled", "rank correlation over the predictions of all folds together", -1),
    "pearson": Metric("Pearson r", "linear correlation of predictions with the ratings", -1),
    "mae": Metric("Mean error", "mean absolute difference from the rating", 0, math.inf),
}


def metric_info(name: str) -> Metric:
    """A metric's label and how it is written; one that is not known is written as a plain number."""
    return METRICS.get(name) or Metric(name.replace("_", " "), "", -math.inf, math.inf)


def metric_label(name: str, unit: bool = True) -> str:
    """A metric as a column heading: `AUC %`, `Spearman ρ`."""
    return metric_info(name).label + (" %" if unit and metric_info(name).percent else "")


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


def show_interval(low: float | None, high: float | None, metric: str, signed: bool = False) -> str:
    """A score's interval as it is written below the score, or nothing; of a difference, signed and nowhere cut.

    >>> show_interval(0.81, 0.8753, "accuracy"), show_interval(0.95, 1.02, "spearman")
    ('81.0–87.5', '0.950 to 1.000')
    """
    ends = (low, high) if signed else inside(low, high, metric) or (None, None)
    if not all(map(is_number, ends)):
        return ""
    between = " to " if signed or metric_info(metric).least < 0 else "–"  # a minus sign may follow
    return between.join(show_score(end, metric, signed) for end in ends)


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
