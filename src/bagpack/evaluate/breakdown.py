"""Scores of parts of the rows: by group, and by how often the pair was seen together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bagpack.evaluate.results import Breakdown, Bucket, ConditionResult
from bagpack.evaluate.scores import label_scores, rating_scores
from bagpack.learn.blocks import PairCounts
from bagpack.learn.targets import Targets, decode

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats

SEEN_BANDS = (("0", 0, 0), ("1–9", 1, 9), ("10–99", 10, 99), ("100+", 100, None))


def fold_scores(targets: Targets, decisions: Floats, left_out: Sequence[str]) -> dict[str, float]:
    """Scores of the rows of one fold, or of one part."""
    if targets.kind == "rating":
        return rating_scores(targets.ratings, decisions[:, 0])
    return label_scores(targets, decisions, decode(targets, decisions), left_out)


def groups_of(groups: Sequence[Hashable], tested: Bools) -> list[tuple[str, Bools]]:
    """Each group's name and its tested rows, in order of appearance."""
    names = list(dict.fromkeys(groups))
    number = {name: k for k, name in enumerate(names)}
    codes = np.array([number[group] for group in groups])
    parts = [(str(name), (codes == k) & tested) for k, name in enumerate(names)]
    return [(name, rows) for name, rows in parts if rows.any()]


def _score_part(
    targets: Targets, result: ConditionResult, rows: Bools, metric: str, left_out: Sequence[str]
) -> float:
    if not rows.any():
        return math.nan
    return fold_scores(targets[rows], result.decisions[rows], left_out)[metric]


def _part_metric(targets: Targets) -> str:
    return {"rating": "spearman", "multilabel": "f1_macro"}.get(targets.kind, "accuracy")


def seen_bands(
    counts: PairCounts,
    targets: Targets,
    tested: Bools,
    results: dict[str, ConditionResult],
    left_out: Sequence[str],
) -> Breakdown | None:
    """Scores by how often the pair was seen together, over the pooled out-of-fold answers."""
    if counts.seen is None:
        return None
    metric = _part_metric(targets)
    rows = []
    for name, low, high in SEEN_BANDS:
        inside = tested & (counts.seen >= low)
        if high is not None:
            inside &= counts.seen <= high
        scores = {
            key: _score_part(targets, result, inside, metric, left_out) for key, result in results.items()
        }
        rows.append(Bucket(name, int(inside.sum()), scores))
    return Breakdown(metric, rows)


def by_group(
    groups: Sequence[Hashable],
    column: str,
    targets: Targets,
    tested: Bools,
    results: dict[str, ConditionResult],
    left_out: Sequence[str],
) -> Breakdown:
    """Scores by group, over the pooled out-of-fold answers."""
    metric = _part_metric(targets)
    rows = [
        Bucket(
            name,
            int(inside.sum()),
            {key: _score_part(targets, result, inside, metric, left_out) for key, result in results.items()},
        )
        for name, inside in groups_of(groups, tested)
    ]
    return Breakdown(metric, rows, column)
