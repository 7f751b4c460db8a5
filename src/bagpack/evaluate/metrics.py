"""Scores of predictions: labels and ratings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bagpack.evaluate.result import Condition
from bagpack.learn.targets import chosen_labels

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Floats, Ints
    from bagpack.learn.targets import Targets


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's r; NaN if one side is constant or there are fewer than three rows."""
    return math.nan if len(x) < 3 or is_constant(x) or is_constant(y) else float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: Floats, y: Floats) -> float:
    """Spearman's ρ; NaN if one side is constant or there are fewer than three rows."""
    from scipy.stats import rankdata

    return math.nan if is_constant(x) or is_constant(y) else correlation(rankdata(x), rankdata(y))


def is_constant(values: Floats) -> bool:
    """Whether all values are equal but for rounding."""
    return not len(values) or float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.abs(values).max()))


def pooled_correlation(predicted: Floats, ratings: Floats, folds: Ints) -> float:
    """Spearman's ρ over all folds together; NaN for a predictor that is constant in every fold, and ranks nothing."""
    constant = all(is_constant(predicted[folds == fold]) for fold in np.unique(folds))
    return math.nan if constant else rank_correlation(predicted, ratings)


def f1_scores(truth: Bools, predicted: Bools) -> tuple[Floats, Bools]:
    """F1 of each label (column), and whether any row has it or is predicted to; scikit-learn's takes 3 ms."""
    hits = (truth & predicted).sum(axis=0)
    total = truth.sum(axis=0) + predicted.sum(axis=0)
    return 2 * hits / np.maximum(total, 1), total > 0


def fold_scores(targets: Targets, decisions: Floats) -> dict[str, float]:
    """Scores of the rows of one fold; AUC averages over the labels that have rows on both sides."""
    from sklearn.metrics import roc_auc_score

    if targets.kind == "rating":
        predicted, ratings = decisions[:, 0], targets.ratings
        return {
            "spearman": rank_correlation(predicted, ratings),
            "pearson": correlation(predicted, ratings),
            "mae": float(np.abs(predicted - ratings).mean()),
        }
    truth, chosen = targets.one_hot(), chosen_labels(targets.kind, decisions)
    f1, present = f1_scores(truth, chosen)
    out = {
        "f1_macro": float(f1[present].mean()),
        "f1_weighted": float(np.average(f1, weights=truth.sum(axis=0))),
        "accuracy": float((chosen == truth).all(axis=1).mean()),
    }
    if targets.kind == "binary":
        out["f1"] = float(f1[1])
        decisions = np.hstack([-decisions, decisions])
    both = truth.any(axis=0) & ~truth.all(axis=0)
    columns = slice(None) if both.sum() > 1 else 0  # one call for all labels: each takes milliseconds
    areas = (side[:, both][:, columns] for side in (truth, decisions)) if both.any() else ()
    out["auc"] = float(roc_auc_score(*areas)) if both.any() else math.nan
    return out


def part_score(result: Condition, rows: Bools, targets: Targets, fold_of: Ints) -> float:
    """Accuracy or pooled correlation in a part of the rows, over the out-of-fold answers; NaN for an empty part."""
    if not rows.any():
        return math.nan
    if targets.kind == "rating":
        return pooled_correlation(result.predicted[rows], targets.ratings[rows], fold_of[rows])
    return float((result.predicted == targets.codes)[rows].mean())
