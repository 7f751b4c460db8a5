"""A data set that is divided into tasks of its own (true or false within each relation): one result of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bagpack.evaluate.learning_curve import next_gain
from bagpack.evaluate.result import (
    Breakdown,
    Bucket,
    Condition,
    Confusion,
    CurvePoint,
    Evaluation,
    LearningCurve,
    compare,
    interval,
)
from bagpack.evaluate.rows import PRECISION, abstention, reliability
from bagpack.numbers import many


def merge_tasks(parts: Mapping[str, Evaluation], by: str, precision: float = PRECISION) -> Evaluation:
    """One result of the tasks that are the values of the column ``by``.

    Every score is the mean over the tasks, and every interval that of the tasks.
    """
    results = list(parts.values())
    first = results[0]
    metric = first.main_metric
    groups = []
    for name, part in parts.items():
        means = {one.name: one.metrics[metric].mean for one in (*part.conditions, *part.baselines)}
        groups.append(Bucket(name, part.tested_rows, means))
    curves = [part.learning_curve for part in results if part.learning_curve is not None]
    return Evaluation(
        kind=first.kind, main_metric=metric, transductive=first.transductive, settings=first.settings,
        conditions=_mean_over_tasks([part.conditions for part in results]),
        baselines=_mean_over_tasks([part.baselines for part in results]),
        groups=Breakdown(metric, groups, by), rows=sum(part.rows for part in results),
        tested_rows=sum(part.tested_rows for part in results), dropped=sum(part.dropped for part in results),
        notes=[
            f"Each {by} is a task of its own; scores and intervals are means over the {many(len(parts), 'task')}.",
            *first.notes[:1],
        ],
        confusion=_confusion_of_all([part.confusion for part in results if part.confusion is not None]),
        learning_curve=_mean_curve(curves) if len(curves) == len(results) else None,
        **_merge_rows(results, precision),
    )  # fmt: skip


def _mean_over_tasks(parts: Sequence[Sequence[Condition]]) -> list[Condition]:
    """Each condition (or baseline) with the mean of its tasks' means."""
    return [
        Condition(
            own[0].name,
            {
                metric: interval([one.metrics[metric].mean for one in own], metric)
                for metric in own[0].metrics
            },
        )
        for own in zip(*parts, strict=True)
    ]


def _confusion_of_all(parts: Sequence[Confusion]) -> Confusion | None:
    """The rows of all tasks by true and predicted label."""
    if not parts:
        return None
    labels = list(dict.fromkeys(label for part in parts for label in part.labels))
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for part in parts:
        own = [labels.index(label) for label in part.labels]
        counts[np.ix_(own, own)] += np.array(part.counts)
    return Confusion(parts[0].condition, labels, counts.tolist())


def _mean_curve(curves: Sequence[LearningCurve]) -> LearningCurve:
    """The mean score over the tasks by training rows of all tasks, with the halvings that every task has."""
    metric = curves[0].metric
    length = min(len(curve.points) for curve in curves)
    points = [
        CurvePoint(
            sum(point.rows for point in column), interval([point.score.mean for point in column], metric)
        )
        for column in zip(*(curve.points[-length:] for curve in curves), strict=True)
    ]
    # Tasks are different data sets, so their differences are independent.
    gain = compare(
        points[-1].score.folds, points[-2].score.folds, test_share=0.0, names=("all rows", "half"), metric=metric,
        test="paired t over tasks",
    )  # fmt: skip
    expected = next_gain([point.score.mean for point in points])
    return LearningCurve(curves[0].condition, metric, points, gain, expected)


def _merge_rows(parts: Sequence[Evaluation], precision: float) -> dict[str, Any]:
    """The predictions of several tasks, one after the other; reliability and abstention over all of them."""
    rows = [row for part in parts for row in part.predictions]
    starts = np.cumsum([0, *(len(part.predictions) for part in parts)])
    doubtful = [int(start) + i for start, part in zip(starts, parts, strict=False) for i in part.suspicious]
    doubtful.sort(key=lambda i: (rows[i].label_probability or 0.0) - (rows[i].probability or 0.0))
    usable = [row for row in rows if row.probability is not None]
    if not usable:
        return {"predictions": rows}
    right = np.array([not row.is_mistake for row in usable])
    probability = np.array([row.probability for row in usable], dtype=np.float64)
    withheld = np.array([row.abstained for row in usable], dtype=bool)
    return {
        "predictions": rows,
        "suspicious": doubtful,
        "reliability": reliability(probability, right),
        "abstention": abstention(withheld, right, precision, None),
    }
