"""Scores of parts of the rows: by group, and by how often the pair was seen together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from bagpack.evaluate.metrics import label_scores, pooled_correlation, rating_scores
from bagpack.evaluate.results import Breakdown, Bucket, ConditionResult
from bagpack.evaluate.splits import group_codes
from bagpack.learn.targets import Targets, decode

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints


def fold_scores(targets: Targets, decisions: Floats, left_out: Sequence[str]) -> dict[str, float]:
    """Scores of the rows of one fold, or of one part."""
    if targets.kind == "rating":
        return rating_scores(targets.ratings, decisions[:, 0])
    return label_scores(targets, decisions, decode(targets.kind, decisions), left_out)


def tested_groups(groups: Sequence[Hashable], tested: Bools) -> list[tuple[str, Bools]]:
    """Each group's name and its tested rows, in order of appearance."""
    names, codes = group_codes(groups)
    parts = [(str(name), (codes == code) & tested) for code, name in enumerate(names)]
    return [(name, rows) for name, rows in parts if rows.any()]


def break_down(
    parts: Sequence[tuple[str, Bools]],
    column: str,
    correlation: str,
    targets: Targets,
    fold_of: Ints,
    results: dict[str, ConditionResult],
    left_out: Sequence[str],
) -> Breakdown:
    """Each condition's score in each part of the rows, over the pooled out-of-fold answers; NaN for an empty part.

    ``correlation`` is the name of the metric of ratings.
    """
    metric = {"rating": correlation, "multilabel": "f1_macro"}.get(targets.kind, "accuracy")

    def score(result: ConditionResult, rows: Bools) -> float:
        if not rows.any():
            return math.nan
        if targets.kind == "rating":
            return pooled_correlation(result.decisions[rows, 0], targets.ratings[rows], fold_of[rows])
        return fold_scores(targets[rows], result.decisions[rows], left_out)[metric]

    buckets = [
        Bucket(name, int(rows.sum()), {key: score(result, rows) for key, result in results.items()})
        for name, rows in parts
    ]
    return Breakdown(metric, buckets, column)
