"""Do I need more pairs? The score by number of training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bagpack.evaluate.crossval import cross_validate
from bagpack.evaluate.result import CurvePoint, Evaluation, LearningCurve, Score, compare
from bagpack.evaluate.splits import Split, generator_of
from bagpack.learn.targets import Targets
from bagpack.vectors.counts import PairCounts

HALVINGS = 3  # of the training rows
FEWEST = 20  # training rows of the smallest part


def fewer_rows(splits: Sequence[Split], targets: Targets, share: float, seed: int = 0) -> list[Split]:
    """The same folds with a share of their training rows, drawn per label; smaller shares are parts of larger ones."""
    out = []
    for number, split in enumerate(splits):
        order = generator_of(seed + number).permutation(split.train)
        if targets.kind == "rating":
            kept = order[: max(1, round(share * len(order)))]
        else:
            labels = targets.codes[order]
            each = (order[labels == k] for k in np.unique(labels))
            kept = np.concatenate([rows[: max(1, round(share * len(rows)))] for rows in each])
        out.append(replace(split, train=np.sort(kept)))
    return out


def learning_curve(
    found: Evaluation,
    counts: PairCounts,
    targets: Targets,
    splits: Sequence[Split],
    seed: int = 0,
    **how: Any,
) -> LearningCurve | None:
    """The scores of the last condition with an eighth, a quarter, half and all of the training rows.

    ``found`` is what `cross_validate` found on ``splits``, and ``how`` its options. None where folds or rows are too
    few.
    """
    condition, metric = found.conditions[-1].name, found.main_metric
    sizes = [float(np.mean([len(split.train) for split in splits]))]
    scores: list[Score] = [found[condition].metrics[metric]]
    for halving in range(1, HALVINGS + 1):
        share = 0.5**halving
        if len(splits) < 2 or share * sizes[-1] < FEWEST:
            break
        part = fewer_rows(splits, targets, share, seed)
        sizes.insert(0, float(np.mean([len(split.train) for split in part])))
        scores.insert(
            0,
            cross_validate(counts, targets, part, (condition,), baselines=False, **how)[condition].metrics[
                metric
            ],
        )
    if len(scores) < 2:
        return None
    test_share = float(np.mean([len(split.test) / max(len(split.train), 1) for split in splits]))
    gain = compare(
        scores[-1].folds, scores[-2].folds, test_share=test_share, names=("all rows", "half"), metric=metric
    )
    points = [CurvePoint(round(size), score) for size, score in zip(sizes, scores, strict=True)]
    return LearningCurve(condition, metric, points, gain, next_gain([score.mean for score in scores]))


def next_gain(means: Sequence[float]) -> float | None:
    """The gain of one more doubling, if gains keep shrinking at the rate of the last two.

    That is where a power law a − b·n⁻ᶜ through the last three points leads. Gains never grow, are not below 0, and do
    not lead to a score above 1.

    Examples
    --------
    >>> next_gain([0.5, 0.7, 0.8])
    0.05
    >>> next_gain([0.5, 0.5, 0.6])
    0.1
    >>> next_gain([0.9, 1.0])
    0.0
    """
    if len(means) < 2 or not np.isfinite(means[-2:]).all():
        return None
    last = means[-1] - means[-2]
    before = means[-2] - means[-3] if len(means) > 2 else last
    rate = min(1.0, max(0.0, last / before)) if before > 0 else 1.0
    return round(max(0.0, min(last * rate, 1.0 - means[-1])), 6)
