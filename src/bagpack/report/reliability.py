"""What a report says about trust and effort: are probabilities reliable, when to abstain, do more pairs help."""

from __future__ import annotations

from typing import Any

from bagpack import numbers
from bagpack.evaluate.schema import EvaluationResult
from bagpack.report.charts import make_axis, make_whisker
from bagpack.report.result import label_of_metric

WORTH = 0.005  # a gain below this is not worth the work


def abstention_sentence(result: EvaluationResult) -> str:
    """Coverage and precision at the threshold, in a sentence; empty where there is none."""
    part = result.get("abstention")
    if not part:
        return ""
    wanted = f"{100 * part['precision']:g} %"
    found = part["precision_found"]
    if found is None:
        return f"No threshold on the probability reaches a precision of {wanted}, so every pair would be withheld."
    at = f" (probability at least {part['threshold']:.2f})" if part["threshold"] is not None else ""
    return (
        f"To be right in {wanted} of its answers, the model answers {100 * part['coverage']:.0f} % of the pairs{at}; "
        f"{100 * found:.1f} % of those answers are right."
    )


def reliability_part(result: EvaluationResult) -> dict[str, Any] | None:
    """Points of the reliability curve in percent of the square, and the expected calibration error."""
    part = result.get("reliability")
    if not part or not part["bins"]:
        return None
    most = max(one["n"] for one in part["bins"])
    return {
        "error": f"{100 * part['error']:.1f}",
        "abstention": abstention_sentence(result),
        "points": [
            {
                "x": round(100 * one["probability"], 2),
                "y": round(100 - 100 * one["accuracy"], 2),
                "r": round(2 + 4 * (one["n"] / most) ** 0.5, 2),
                "probability": f"{100 * one['probability']:.0f} %",
                "accuracy": f"{100 * one['accuracy']:.0f} %",
                "n": one["n"],
            }
            for one in part["bins"]
        ],
    }


def curve_sentence(result: EvaluationResult) -> str:
    """Whether more pairs would help, with numbers; empty where there is no learning curve."""
    curve = result.get("learning_curve")
    if not curve:
        return ""
    metric, gain, coming = curve["metric"], curve["gain"], curve["next_gain"] or 0.0
    difference = gain["difference"] or 0.0
    before, after = curve["points"][-2]["rows"], curve["points"][-1]["rows"]
    unit = " points" if numbers.metric_info(metric).percent else ""
    low = gain.get("low")
    if low is not None and low > 0 and coming >= WORTH:
        answer = "More pairs would help"
    elif coming < WORTH:
        answer = "More pairs would probably not help"
    else:
        answer = "More pairs may help, but the gain is within chance"
    changed = numbers.show_score(difference, metric, signed=True)
    interval = numbers.show_difference_interval(low, gain.get("high"), metric)
    expected = numbers.show_score(coming, metric)
    return (
        f"{answer}: doubling the training rows from {before:,} to {after:,} changed "
        f"{label_of_metric(result, metric, unit=False)} by {changed}{unit}"
        + (f" (95 % interval {interval})" if interval else "")
        + f", and doubling them again would add about {expected}{unit}."
    )


def curve_part(result: EvaluationResult) -> dict[str, Any] | None:
    """The learning curve: a row for each number of training rows, as the plot of scores has them."""
    curve = result.get("learning_curve")
    if not curve:
        return None
    metric = curve["metric"]
    points = [
        (point["rows"], point["score"]) for point in curve["points"] if point["score"]["mean"] is not None
    ]
    values = [bound for _, score in points for bound in (score["mean"], score.get("low"), score.get("high"))]
    axis = make_axis(values, metric)
    return {
        "condition": curve["condition"],
        "metric": label_of_metric(result, metric),
        "sentence": curve_sentence(result),
        "axis": axis,
        "rows": [
            {
                "rows": rows,
                "at": axis.at(score["mean"] or 0.0),
                "whisker": make_whisker(axis, score, metric),
                "value": numbers.show_score(score["mean"], metric),
                "interval": numbers.show_interval(score.get("low"), score.get("high"), metric),
            }
            for rows, score in points
        ],
    }
