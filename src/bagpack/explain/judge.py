"""A model against a data set: predictions, scores, and the rows it gets wrong, worst first."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.explain.telling import Tick, no_tick
from bagpack.learn.model import LinearModel
from bagpack.tasks.dataset import Dataset
from bagpack.tasks.pairs import PairList
from bagpack.vectors.matrix import Pair, PairMatrix

AT_ONCE = 500  # pairs counted between two looks at the clock


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

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def count_in_steps(
    source: ContextSource, pairs: list[Pair], basis: Basis, settings: CountSettings, tick: Tick = no_tick
) -> PairMatrix:
    """Count pairs a few hundred at a time, so that the work can be stopped between."""
    matrix = PairMatrix.count(source, [], basis, settings)
    distinct = list(dict.fromkeys(pairs))
    for start in range(0, len(distinct), AT_ONCE):
        tick()
        matrix = matrix.grow(source, distinct[start : start + AT_ONCE])
    tick()
    return matrix.rows_of(pairs)


def judge(model: LinearModel, matrix: PairMatrix, data: Dataset | PairList) -> Judged:
    """What a model says of the rows of a data set whose pairs are counted."""
    counts = matrix.counts()
    answers = model.predict(counts)
    if model.kind == "rating":
        return _judge_ratings(matrix, data, np.asarray(answers, float))
    scores = model.label_scores(counts)
    names = [str(label) for label in model.classes]
    place = {name: i for i, name in enumerate(names)}
    given = list(data.labels) if isinstance(data, Dataset) and data.kind == "relations" else []
    seen = matrix.seen.tolist()
    rows = []
    for i, (w1, w2) in enumerate(matrix.pairs):
        answer = answers[i]
        several = isinstance(answer, set | frozenset)
        predicted = ", ".join(sorted(map(str, answer))) if several else str(answer)
        wanted = given[i] if given else ""
        right = None if not given else wanted in {str(label) for label in (answer if several else [answer])}
        gap = None
        if right is False and wanted in place:
            gap = round(float(scores[i].max() - scores[i, place[wanted]]), 6)
        rows.append(JudgedRow(i, data.lines[i], w1, w2, wanted, predicted, right, gap, seen[i]))
    if not given:
        return Judged("pairs", rows, [], {}, {}, [], [])
    wrong = [row for row in rows if not row.right]
    wrong.sort(key=lambda row: (-(float("inf") if row.gap is None else row.gap), row.row))
    foreign = sorted(set(given) - set(names))
    notes = []
    if foreign:
        rows_of = sum(label not in place for label in given)
        notes.append(
            f"{rows_of:,} rows have a label that the model has not, so they cannot be right: {', '.join(foreign)}"
        )
    return Judged(
        "labels", rows, [row.row for row in wrong], {"accuracy": round(1 - len(wrong) / len(rows), 6)},
        _per_label(rows, sorted({*given, *(row.predicted for row in rows)})),
        [(a, b, n) for (a, b), n in Counter((row.given, row.predicted) for row in wrong).most_common(12)],
        notes,
    )  # fmt: skip


def _per_label(rows: list[JudgedRow], labels: list[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for label in labels:
        given = sum(row.given == label for row in rows)
        predicted = sum(row.predicted == label for row in rows)
        both = sum(row.given == row.predicted == label for row in rows)
        found[label] = {
            "rows": given,
            "predicted": predicted,
            "precision": round(both / predicted, 6) if predicted else 0.0,
            "recall": round(both / given, 6) if given else 0.0,
        }
    return found


def _judge_ratings(matrix: PairMatrix, data: Dataset | PairList, answers: Any) -> Judged:
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
    from scipy.stats import spearmanr

    scores = {"mae": round(float(np.mean([row.gap or 0.0 for row in rows])), 6)}
    assert isinstance(data, Dataset)
    rho = float(spearmanr(answers, data.scores).statistic) if len(rows) > 2 else float("nan")
    if np.isfinite(rho):
        scores["spearman"] = round(rho, 6)
    worst = sorted(rows, key=lambda row: (-(row.gap or 0.0), row.row))
    return Judged("ratings", rows, [row.row for row in worst], scores, {}, [], [])
