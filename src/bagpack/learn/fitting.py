"""Training: from counts and targets to models, and to probabilities from held-out folds of the training rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.errors import UsageError
from bagpack.learn import calibration
from bagpack.learn.features import Learned, Preset, get_preset
from bagpack.learn.model import LinearModel, TrainingPairs, pair_hashes
from bagpack.learn.svm import SvmSettings, held_out_by_gram, pair_gram, solve
from bagpack.learn.targets import Targets, check_trainable, chosen_labels
from bagpack.names import blocks_of
from bagpack.vectors.counts import PairCounts

if TYPE_CHECKING:
    from bagpack.learn.features import Floats, Index

WHOLE = "v1v2v12"


def condition_grams(
    counts: PairCounts, conditions: Iterable[str], preset: Preset, learned: Learned
) -> dict[str, Floats]:
    """Gram matrix of each condition; that of v1v2v12 is the sum of the two others."""
    conditions = list(dict.fromkeys(conditions))
    needed = {part for name in conditions for part in (("v1v2", "v12") if name == WHOLE else (name,))}
    grams = {name: pair_gram(preset.features(learned, counts, name)) for name in sorted(needed)}
    if conditions == [WHOLE]:  # in place: each takes up to 128 MB
        grams["v1v2"] += grams["v12"]
        return {WHOLE: grams["v1v2"]}
    return {name: grams["v1v2"] + grams["v12"] if name == WHOLE else grams[name] for name in conditions}


def shared_grams(
    counts: PairCounts, conditions: Sequence[str], preset: Preset, svm: SvmSettings, learned: Learned | None = None
) -> dict[str, Floats] | None:  # fmt: skip
    """Each condition's Gram matrix over all rows, of which that of every fold is a part.

    None if features depend on which rows are trained on (nothing was ``learned`` before), or if the rows are too many
    for a Gram matrix.
    """
    if (preset.learns and learned is None) or not svm.by_gram(len(counts)):
        return None
    return condition_grams(counts, conditions, preset, learned or {})


def fit_conditions(
    counts: PairCounts, targets: Targets, conditions: Sequence[str] = ("v1v2", "v12", WHOLE),
    preset: str | Preset = "modern", svm: SvmSettings | None = None, *, learned: Learned | None = None,
    grams: Mapping[str, Floats] | None = None, keep_training: bool = False,
) -> dict[str, LinearModel]:  # fmt: skip
    """One model per condition, trained on all rows of ``counts``.

    ``learned`` is what the preset learned, where it was from other rows than these, and ``grams`` each condition's Gram
    matrix (`shared_grams`), where it was computed before. With ``keep_training``, models keep their training pairs, so
    that explanations can name them and answers say which they were.
    """
    preset, svm = get_preset(preset), svm or SvmSettings()
    n = len(counts)
    if n != len(targets):
        raise UsageError(f"there are {n} pairs and {len(targets)} targets: one per pair is needed")
    check_trainable(targets)
    for condition in conditions:
        blocks_of(condition)
    if learned is None:
        learned = preset.learn(counts, conditions[0] if len(conditions) == 1 else WHOLE)
    by_gram = svm.by_gram(n)
    if by_gram and grams is None:
        grams = condition_grams(counts, conditions, preset, learned)
    settings: dict[str, Any] = {
        "C": svm.C,
        "tol": svm.tol,
        "rows": n,
        "solver": "gram" if by_gram else "blocks",
    }
    settings |= {"epsilon": svm.epsilon} if targets.kind == "rating" else {}
    models = {}
    for condition in conditions:
        features = preset.features(learned, counts, condition)
        dual = solve(grams[condition] if grams is not None and by_gram else features, targets, svm)
        models[condition] = LinearModel(
            kind=targets.kind, classes=targets.classes, condition=condition, preset=preset,
            learned={block: learned[block] for block in blocks_of(condition) if block in learned},
            weights=features.split(features.combine(dual.coef)), intercept=dual.intercept, basis=counts.basis,
            counting=counts.settings, source_path=counts.source_path, source_hash=counts.source_hash,
            settings={**settings, "converged": dual.converged}, place=counts.place,
            kept=TrainingPairs.of(features, dual.coef, counts.pairs) if keep_training else None,
            trained=np.unique(pair_hashes(counts)) if keep_training else None,
        )  # fmt: skip
    return models


def fit_counts(
    counts: PairCounts, targets: Targets, condition: str = WHOLE, preset: str | Preset = "modern",
    svm: SvmSettings | None = None, **more: Any,
) -> LinearModel:  # fmt: skip
    """One condition's model; see `fit_conditions`."""
    return fit_conditions(counts, targets, (condition,), preset, svm, **more)[condition]


# Probabilities -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOut:
    """Decision values of training rows, each from a model that was not trained on it."""

    fold: Index
    decisions: Floats


def hold_out(
    counts: PairCounts, targets: Targets, condition: str, preset: str | Preset, svm: SvmSettings,
    grams: Mapping[str, Floats] | None = None,
) -> HeldOut | None:  # fmt: skip
    """Decision values by cross-validation; None where the rows cannot be divided into folds.

    A pair and its reverse are in one fold. ``grams``: the condition's Gram matrix, where it was computed before.
    """
    try:
        fold = calibration.calibration_folds(targets.columns, _unordered_pairs(counts))
    except UsageError:
        return None
    preset = get_preset(preset)
    if grams is None:
        grams = shared_grams(counts, [condition], preset, svm)

    def decide(train: Index, test: Index) -> Floats:
        part = targets[train]
        if len(np.unique(part.codes)) < 2:
            return np.tile(np.where(part.columns.all(axis=0), 1.0, -1.0), (len(test), 1))
        if grams is not None:
            return held_out_by_gram(grams[condition], train, test, part, svm)
        return fit_counts(counts[train], part, condition, preset, svm).decisions(counts[test])

    return HeldOut(fold, calibration.held_out_decisions(fold, decide))


def _unordered_pairs(counts: PairCounts) -> Index:
    """A number per pair, the same for its repetitions and its reverse.

    It is by the order of the words: folds must not depend on what was counted before.
    """
    words = [(key, b"") if key else (b"", name) for key, name in zip(counts.keys, counts.names, strict=True)]
    number = {word: k for k, word in enumerate(sorted(set(words)))}
    rank = np.array([number[word] for word in words], np.intp)
    return np.unique(np.sort(rank[counts.rows], axis=1), axis=0, return_inverse=True)[1].ravel()


def calibrate(
    model: LinearModel, counts: PairCounts, targets: Targets, preset: str | Preset, svm: SvmSettings,
    precision: float | None = None, held_out: HeldOut | None = None,
) -> LinearModel:  # fmt: skip
    """The model with probabilities, and a threshold for ``precision``, both from held-out folds of its training rows.

    The model as it is for ratings, and where the rows cannot be divided. ``held_out``: what `hold_out` found before.
    """
    if targets.kind == "rating":
        return model
    held_out = held_out or hold_out(counts, targets, model.condition, preset, svm)
    if held_out is None:
        return model
    fold, decisions = held_out.fold, held_out.decisions
    threshold = None
    if precision is not None:
        probabilities = calibration.held_out_probabilities(decisions, targets.columns, targets.kind, fold)
        chosen = chosen_labels(targets.kind, decisions)
        right = (chosen == targets.one_hot()).all(axis=1)
        answers = calibration.Answers(calibration.answer_probability(probabilities, chosen), right)
        threshold = calibration.held_out_threshold(answers, fold, precision)
    found = calibration.fit_calibration(decisions, targets.columns, targets.kind)
    return replace(model, calibration=found, threshold=threshold)
