"""Training: from counts and targets to models, and to probabilities from held-out folds of the training rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bagpack.errors import UsageError
from bagpack.learn import calibration
from bagpack.learn.features import Features, Learned, Preset, get_preset
from bagpack.learn.model import LinearModel, TrainingPairs, pair_hashes
from bagpack.learn.svm import SvmSettings, by_gram, pair_gram, solve
from bagpack.learn.targets import Targets, check_trainable, chosen_labels
from bagpack.names import blocks_of
from bagpack.vectors.counts import PairCounts

if TYPE_CHECKING:
    from bagpack.arrays import Floats, Index

WHOLE = "v1v2v12"


def condition_features(
    counts: PairCounts, conditions: Iterable[str], preset: Preset, learned: Learned
) -> dict[str, Features]:
    """Features of each condition; v1v2v12 has those of the two others, which are given too."""
    needed = {part for name in conditions for part in (("v1v2", "v12") if name == WHOLE else (name,))}
    found = {name: preset.features(learned, counts, name) for name in sorted(needed)}
    return {**found, WHOLE: found["v1v2"].joined(found["v12"])} if WHOLE in conditions else found


def condition_grams(features: Mapping[str, Features], conditions: Iterable[str]) -> dict[str, Floats]:
    """Gram matrix of each condition; that of v1v2v12 is the sum of the two others."""
    grams = {name: pair_gram(own) for name, own in features.items() if name != WHOLE}
    if WHOLE in features:
        grams[WHOLE] = grams["v1v2"] + grams["v12"]
    return {name: grams[name] for name in conditions}


def shared_grams(
    counts: PairCounts, conditions: Sequence[str], preset: Preset, learned: Learned | None = None
) -> dict[str, Floats]:
    """Each condition's Gram matrix over all rows, of which that of every fold is a part.

    Empty if features depend on which rows are trained on (nothing is ``learned``), or if there are too many rows.
    """
    if (preset.learns and learned is None) or not by_gram(len(counts)):
        return {}
    return condition_grams(condition_features(counts, conditions, preset, learned or {}), conditions)


def fit_counts(
    counts: PairCounts, targets: Targets, condition: str = WHOLE, preset: str | Preset = "modern",
    svm: SvmSettings | None = None, *, learned: Learned | None = None, gram: Floats | None = None,
) -> LinearModel:  # fmt: skip
    """A model of one condition, trained on all rows of ``counts``.

    ``learned`` is what the preset learned, where it was from other rows than these, and ``gram`` the condition's Gram
    matrix (`shared_grams`), where it was computed before.
    """
    preset, svm = get_preset(preset), svm or SvmSettings()
    n = len(counts)
    if n != len(targets):
        raise UsageError(f"there are {n} pairs and {len(targets)} targets: one per pair is needed")
    check_trainable(targets)
    learned = preset.learn(counts, condition) if learned is None else learned
    features = preset.features(learned, counts, condition)
    dual = solve(features if gram is None else gram, targets, svm)
    settings = {"C": svm.C, "tol": svm.tol, "rows": n, "solver": "gram" if by_gram(n) else "blocks"}
    if targets.kind == "rating":
        settings["epsilon"] = svm.epsilon
    return LinearModel(
        classes=targets.classes, condition=condition, preset=preset,
        learned={block: learned[block] for block in blocks_of(condition) if block in learned},
        weights=features.split(features.combine(dual.coef)), intercept=dual.intercept, basis=counts.basis,
        counting=counts.settings, source_path=counts.source_path, source_hash=counts.source_hash,
        settings={**settings, "converged": dual.converged}, place=counts.place,
        kept=TrainingPairs.of(features, dual.coef, counts.pairs), trained=np.unique(pair_hashes(counts)),
    )  # fmt: skip


def fold_decisions(
    counts: PairCounts, targets: Targets, train: Index, test: Index, conditions: Sequence[str], preset: Preset,
    svm: SvmSettings, *, grams: Mapping[str, Floats], learned: Learned | None = None,
) -> dict[str, Floats]:  # fmt: skip
    """Decision values of the test rows by SVMs of the training rows: by ``grams``, those of all rows, if there are any.

    What the preset learns is ``learned`` before, or from the training rows.
    """
    out, own = {}, targets[train]
    if grams:
        for name in conditions:
            dual = solve(grams[name][np.ix_(train, train)], own, svm)
            out[name] = grams[name][np.ix_(test, train)] @ dual.coef + dual.intercept
        return out
    rows = counts[train]
    if learned is None:
        learned = preset.learn(rows, conditions[0] if len(conditions) == 1 else WHOLE)
    features, tested = (
        condition_features(some, conditions, preset, learned) for some in (rows, counts[test])
    )
    parts = condition_grams(features, conditions) if by_gram(len(rows)) else {}
    for name in conditions:
        dual = solve(parts.get(name, features[name]), own, svm)
        out[name] = tested[name].decisions(features[name].combine(dual.coef)) + dual.intercept
    return out


# Probabilities -------------------------------------------------------------------------------------------------


class HeldOut(NamedTuple):
    """Decision values of training rows, each from a model that was not trained on it."""

    fold: Index
    decisions: Floats


def hold_out(
    counts: PairCounts, targets: Targets, condition: str, preset: str | Preset, svm: SvmSettings,
    gram: Floats | None = None,
) -> HeldOut | None:  # fmt: skip
    """Decision values by cross-validation; None where the rows cannot be divided into folds.

    A pair and its reverse are in one fold. ``gram``: the condition's Gram matrix, where it was computed before.
    """
    from sklearn.model_selection import PredefinedSplit

    fold = calibration.calibration_folds(targets.columns, _unordered_pairs(counts))
    if fold is None:
        return None
    how = [condition], get_preset(preset)
    grams = shared_grams(counts, *how) if gram is None else {condition: gram}
    decisions = np.empty(targets.columns.shape)
    for train, test in PredefinedSplit(fold).split():
        found = fold_decisions(counts, targets, train, test, *how, svm, grams=grams)
        decisions[test] = found[condition]
    return HeldOut(fold, decisions)


def _unordered_pairs(counts: PairCounts) -> Index:
    """A number per pair, the same for its repetitions and its reverse.

    It is by the order of the words: folds must not depend on what was counted before.
    """
    words = [(key, b"") if key else (b"", name) for key, name in zip(counts.keys, counts.names, strict=True)]
    number = {word: k for k, word in enumerate(sorted(set(words)))}
    rank = np.array([number[word] for word in words], np.intp)
    return np.unique(np.sort(rank[counts.rows], axis=1), axis=0, return_inverse=True)[1].ravel()


def calibrate(
    model: LinearModel, counts: PairCounts, targets: Targets, svm: SvmSettings, precision: float | None = None,
    held_out: HeldOut | None = None,
) -> LinearModel:  # fmt: skip
    """The model with probabilities, and a threshold for ``precision``, both from held-out folds of its training rows.

    The model as it is for ratings, and where the rows cannot be divided. ``held_out``: what `hold_out` found before.
    """
    if targets.kind == "rating":
        return model
    held_out = held_out or hold_out(counts, targets, model.condition, model.preset, svm)
    if held_out is None:
        return model
    fold, decisions = held_out
    threshold = None
    if precision is not None:
        chosen = chosen_labels(targets.kind, decisions)
        probability = calibration.held_out_probabilities(decisions, targets.columns, fold)[chosen]
        right = targets.one_hot()[chosen]
        threshold = calibration.held_out_threshold(probability, right, fold, precision)
    found = calibration.fit_calibration(decisions, targets.columns)
    return replace(model, calibration=found, threshold=threshold)
