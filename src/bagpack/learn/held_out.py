"""Held-out decision values of the training rows, and the probabilities and threshold fitted on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.errors import UsageError
from bagpack.learn.calibration import (
    Answers,
    answer_probability,
    calibration_folds,
    fit_calibration,
    held_out_decisions,
    held_out_probabilities,
    held_out_threshold,
    pair_groups,
)
from bagpack.learn.fitting import SvmSettings, fit_counts, held_out_by_gram, shared_grams
from bagpack.learn.model import LinearModel
from bagpack.learn.presets import Preset, get_preset
from bagpack.learn.targets import Targets, chosen_labels
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Index, Matrix


@dataclass(frozen=True)
class HeldOut:
    """Decision values of training rows, each from a model that was not trained on it."""

    fold: Index
    decisions: Floats


def hold_out(
    matrix: Matrix, targets: Targets, condition: str, preset: str | Preset, svm: SvmSettings,
    weight: Floats | None = None, sample_weight: Floats | None = None, n_jobs: int | None = 1,
    grams: Mapping[str, Floats] | None = None,
) -> HeldOut | None:  # fmt: skip
    """Decision values by cross-validation; None where the rows cannot be divided into folds.

    A pair and the same pair the other way round are in one fold. ``grams``: the condition's Gram matrix
    (`shared_grams`), where it was computed before.
    """
    groups = _unordered_pairs(matrix) if isinstance(matrix, BlockMatrix) else None
    try:
        fold = calibration_folds(targets.columns, groups)
    except UsageError:
        return None
    preset = get_preset(preset)
    if grams is None and isinstance(matrix, BlockMatrix):
        grams = shared_grams(matrix, [condition], preset, svm)

    def decide(train: Index, test: Index) -> Floats:
        part = targets[train]
        if targets.kind != "multilabel" and len(np.unique(part.codes)) < 2:
            return np.tile(np.where(part.columns.all(axis=0), 1.0, -1.0), (len(test), 1))
        if grams is not None:
            cost = None if weight is None else weight[train]
            return held_out_by_gram(grams[condition], train, test, part, svm, cost, n_jobs)
        trained = fit_counts(
            matrix[train], part, condition, preset, svm,
            weight=None if weight is None else weight[train],
            sample_weight=None if sample_weight is None else sample_weight[train], n_jobs=n_jobs,
        )  # fmt: skip
        return trained.decisions(matrix[test])

    return HeldOut(fold, held_out_decisions(fold, decide))


def _unordered_pairs(matrix: BlockMatrix) -> Index:
    """A number per unordered pair, by the order of the words: folds must not depend on what was counted before."""
    tables = matrix.tables
    order = tables.words.keys.sort_order()
    unknown = [tables.name_list[name] for name in np.flatnonzero(tables.name_targets < 0)]
    rank = np.empty(len(order) + len(unknown), np.int64)
    rank[order] = np.arange(len(order))
    rank[len(order) + np.argsort(unknown, kind="stable")] = len(order) + np.arange(len(unknown))
    return pair_groups(rank[matrix.w1], rank[matrix.w2])


def calibrate(
    model: LinearModel, matrix: Matrix, targets: Targets, preset: str | Preset, svm: SvmSettings,
    precision: float | None = None, weight: Floats | None = None, sample_weight: Floats | None = None,
    n_jobs: int | None = 1, held_out: HeldOut | None = None,
) -> LinearModel:  # fmt: skip
    """The model with probabilities, and a threshold for ``precision``, both from held-out folds of its training rows.

    Ratings have no probabilities; where the rows cannot be divided into folds, the model is returned as it is.
    ``held_out`` saves the cross-validation where it was done before.
    """
    if targets.kind == "rating":
        return model
    if held_out is None:
        held_out = hold_out(matrix, targets, model.condition, preset, svm, weight, sample_weight, n_jobs)
    if held_out is None:
        return model
    fold, decisions = held_out.fold, held_out.decisions
    found = fit_calibration(decisions, targets.columns, targets.kind, sample_weight=sample_weight)
    threshold = None
    if precision is not None:
        probabilities = held_out_probabilities(decisions, targets.columns, targets.kind, fold)
        chosen = chosen_labels(targets.kind, decisions)
        held_out_answers = Answers(
            answer_probability(probabilities, chosen, targets.kind), (chosen == targets.one_hot()).all(axis=1)
        )
        threshold = held_out_threshold(held_out_answers, fold, precision)
    return replace(model, calibration=found, threshold=threshold)
