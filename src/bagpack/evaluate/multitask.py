"""A data set of several tasks (true or false within each relation): their results as one.

Every score is the mean over the tasks, and every interval that of the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from bagpack.evaluate.comparison import compare, interval
from bagpack.evaluate.learning_curve import next_gain
from bagpack.evaluate.predictions import PRECISION, merge
from bagpack.evaluate.schema import Breakdown, Condition, Confusion, EvaluationResult, LearningCurve
from bagpack.numbers import many


def merge_tasks(
    parts: Mapping[str, EvaluationResult], by: str, precision: float = PRECISION
) -> EvaluationResult:
    """One result of the results of all tasks, which are the values of the column ``by``."""
    results = list(parts.values())
    first = cast(dict[str, Any], results[0])
    out = {
        **{name: first[name] for name in ("format", "kind", "main_metric", "transductive", "settings")},
        "conditions": _mean_over_tasks(results, "conditions"),
        "baselines": _mean_over_tasks(results, "baselines"),
        "groups": _scores_by_task(parts, by, first["main_metric"]),
        **merge(results, precision),
        **{
            name: sum(cast(dict[str, Any], part)[name] for part in results)
            for name in ("rows", "tested", "dropped")
        },
        "notes": [
            f"Each {by} is a task of its own; scores and intervals are means over the {many(len(parts), 'task')}.",
            *first["notes"][:1],
        ],
    }
    if all("confusion" in part for part in results):
        out["confusion"] = _confusion_of_all(results)
    if all("learning_curve" in part for part in results):
        out["learning_curve"] = _mean_curve([part["learning_curve"] for part in results])
    return cast(EvaluationResult, out)


def _mean_over_tasks(
    parts: Sequence[EvaluationResult], kind: Literal["conditions", "baselines"]
) -> list[Condition]:
    """Each condition (or baseline) with the mean of its tasks' means."""
    merged = []
    for position, entry in enumerate(parts[0][kind]):
        metrics = {}
        for metric in entry["metrics"]:
            scores = [part[kind][position]["metrics"].get(metric) for part in parts]
            means = [np.nan if score is None or score["mean"] is None else score["mean"] for score in scores]
            metrics[metric] = interval(means, metric).to_dict()
        merged.append(cast(Condition, {"name": entry["name"], "metrics": metrics}))
    return merged


def _scores_by_task(parts: Mapping[str, EvaluationResult], by: str, metric: str) -> Breakdown:
    """Each task's scores, as a report shows groups."""
    return {
        "metric": metric,
        "column": by,
        "rows": [
            {
                "name": name,
                "n": part["tested"],
                "scores": {
                    entry["name"]: entry["metrics"][metric]["mean"]
                    for entry in (*part["conditions"], *part["baselines"])
                },
            }
            for name, part in parts.items()
        ],
    }


def _confusion_of_all(parts: Sequence[EvaluationResult]) -> Confusion:
    """The rows of all tasks by true and predicted label."""
    labels = list(dict.fromkeys(label for part in parts for label in part["confusion"]["labels"]))
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for part in parts:
        own = [labels.index(label) for label in part["confusion"]["labels"]]
        counts[np.ix_(own, own)] += np.array(part["confusion"]["counts"])
    return {
        "condition": parts[0]["confusion"]["condition"],
        "labels": labels,
        "counts": counts.tolist(),
    }


def _mean_curve(curves: Sequence[LearningCurve]) -> LearningCurve:
    """The mean score over the tasks by training rows of all tasks, with the halvings that every task has."""
    metric = curves[0]["metric"]
    length = min(len(curve["points"]) for curve in curves)
    of_tasks = [curve["points"][-length:] for curve in curves]
    points = []
    for column in zip(*of_tasks, strict=True):
        means = [np.nan if point["score"]["mean"] is None else point["score"]["mean"] for point in column]
        points.append((sum(point["rows"] for point in column), interval(means, metric)))
    # Tasks are different data sets, so their differences are independent.
    gain = compare(
        points[-1][1].folds, points[-2][1].folds, test_share=0.0, names=("all rows", "half"), metric=metric
    ).to_dict()
    return cast(
        LearningCurve,
        {
            "condition": curves[0]["condition"],
            "metric": metric,
            "points": [{"rows": rows, "score": score.to_dict()} for rows, score in points],
            "gain": {**gain, "test": "paired t over tasks"},
            "next_gain": next_gain([score.mean for _, score in points]),
        },
    )
