"""A model's predictions for a data set: scores, and the rows it gets wrong, worst first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagpack.evaluate.metrics import rating_scores
from bagpack.learn.model import LinearModel
from bagpack.tasks.dataset import Dataset
from bagpack.tasks.pairs import PairList
from bagpack.vectors.matrix import BlockMatrix


@dataclass(frozen=True)
class JudgedRow:
    """A row with the model's answer. `gap` is how far off it is: the decision value by which a wrong label beats the
    right one, or the difference from the rating; None where there is nothing to compare with.
    """

    row: int
    line: int
    w1: str
    w2: str
    given: str
    predicted: str
    right: bool | None
    gap: float | None
    together: int


@dataclass(frozen=True)
class Judged:
    """All rows, the numbers of the wrong ones (worst first), and how well the model does."""

    kind: str  # labels, ratings, pairs
    rows: list[JudgedRow]
    errors: list[int]
    scores: dict[str, float]
    per_label: dict[str, dict[str, float]]
    confused: list[tuple[str, str, int]]
    notes: list[str]


def judge(model: LinearModel, matrix: BlockMatrix, data: Dataset | PairList) -> Judged:
    """What a model says of the rows of a data set whose pairs are counted."""
    answers = model.predict(matrix)
    if model.kind == "rating":
        return _judge_ratings(matrix, data, np.asarray(answers, float))
    scores = model.label_scores(matrix)
    names = [str(label) for label in model.classes]
    place = {name: i for i, name in enumerate(names)}
    several = model.kind == "multilabel"
    found = [
        {name for name, score in zip(names, scores[i], strict=True) if score > 0}
        if several
        else {str(answer)}
        for i, answer in enumerate(answers)
    ]
    given = _given_labels(data, several)
    seen = matrix.seen.tolist()
    rows = []
    for i, (w1, w2) in enumerate(matrix.pairs):
        wanted = given[i] if given else set()
        right = wanted == found[i] if given else None
        gap = None
        if right is False and wanted and wanted <= place.keys():
            gap = round(float(scores[i].max() - min(scores[i, place[label]] for label in wanted)), 6)
        rows.append(
            JudgedRow(i, data.lines[i], w1, w2, _joined(wanted), _joined(found[i]), right, gap, seen[i])
        )
    if not given:
        return Judged("pairs", rows, [], {}, {}, [], [])
    judged = rows
    if several:  # each pair is judged once, however many rows it has
        first = dict(zip(reversed(matrix.pairs), reversed(rows), strict=True))
        judged = sorted(first.values(), key=lambda row: row.row)
    wrong = [row for row in judged if not row.right]
    wrong.sort(key=lambda row: (-(float("inf") if row.gap is None else row.gap), row.row))
    labels = sorted(set().union(*given, *found))
    foreign = sorted(set().union(*given) - set(names))
    notes = []
    if foreign:
        rows_of = sum(not wanted <= place.keys() for wanted in given)
        have, they = ("row has", "it") if rows_of == 1 else ("rows have", "they")
        notes.append(
            f"{rows_of:,} {have} a label that the model does not have, so {they} cannot be right: {', '.join(foreign)}"
        )
    return Judged(
        "labels", rows, [row.row for row in wrong], {"accuracy": round(1 - len(wrong) / len(judged), 6)},
        _per_label([given[row.row] for row in judged], [found[row.row] for row in judged], labels),
        [(a, b, n) for (a, b), n in Counter((row.given, row.predicted) for row in wrong).most_common(12)],
        notes,
    )  # fmt: skip


def _given_labels(data: Dataset | PairList, several: bool) -> list[set[str]]:
    """The label of each row; with `several`, all labels that the data set gives to the row's pair."""
    if not isinstance(data, Dataset) or data.kind != "relations":
        return []
    if not several:
        return [{label} for label in data.labels]
    by_pair = data.by_pair()
    of_pair = dict(zip(by_pair.pairs, by_pair.labels, strict=True))
    return [set(of_pair[pair]) for pair in data.pairs]


def _joined(labels: set[str]) -> str:
    return ", ".join(sorted(labels))


def _per_label(
    given: list[set[str]], predicted: list[set[str]], labels: list[str]
) -> dict[str, dict[str, float]]:
    """Precision and recall of each label; 0 where they are undefined."""
    from sklearn.metrics import precision_recall_fscore_support

    truth, chosen = (
        np.array([[label in row for label in labels] for row in rows]) for rows in (given, predicted)
    )
    precision, recall, _, support = precision_recall_fscore_support(truth, chosen, zero_division=0.0)
    return {
        label: {
            "rows": int(support[k]),
            "predicted": int(chosen[:, k].sum()),
            "precision": round(float(precision[k]), 6),
            "recall": round(float(recall[k]), 6),
        }
        for k, label in enumerate(labels)
    }


def _judge_ratings(matrix: BlockMatrix, data: Dataset | PairList, answers: Any) -> Judged:
    rated = isinstance(data, Dataset) and data.kind == "ratings"
    seen = matrix.seen.tolist()
    rows = []
    for i, (w1, w2) in enumerate(matrix.pairs):
        wanted = float(data.scores[i]) if isinstance(data, Dataset) and rated else None
        gap = None if wanted is None else round(abs(float(answers[i]) - wanted), 6)
        rows.append(
            JudgedRow(
                i, data.lines[i], w1, w2, "" if wanted is None else f"{wanted:g}", f"{answers[i]:.3f}", None, gap,
                seen[i],
            )
        )  # fmt: skip
    if not rated:
        return Judged("pairs", rows, [], {}, {}, [], [])
    assert isinstance(data, Dataset)
    found = rating_scores(data.scores, answers)
    scores = {name: round(found[name], 6) for name in ("mae", "spearman") if np.isfinite(found[name])}
    worst = sorted(rows, key=lambda row: (-(row.gap or 0.0), row.row))
    return Judged("ratings", rows, [row.row for row in worst], scores, {}, [], [])
