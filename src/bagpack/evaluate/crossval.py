"""Cross-validation of the conditions and their baselines over the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bagpack import names
from bagpack.errors import InputError, UsageError
from bagpack.evaluate.breakdown import break_down, fold_scores, tested_groups
from bagpack.evaluate.comparison import Comparison, Score, compare, correlation_interval, interval
from bagpack.evaluate.metrics import confusion_matrix, pooled_correlation, rank_correlation
from bagpack.evaluate.results import ConditionResult, Evaluation, Fold
from bagpack.evaluate.splits import Split, group_codes
from bagpack.learn.fitting import SvmSettings, fit_conditions, folds_at_once, held_out_by_gram, shared_grams
from bagpack.learn.presets import Preset, get_preset, portable
from bagpack.learn.targets import Targets, check_trainable, decode, encode_targets
from bagpack.parallel import Progress, Shared, delayed, share, with_progress
from bagpack.vectors.coverage import frequency_bands
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Answers, Bools, Floats, Ints

CONDITIONS = tuple(names.CONDITIONS)


@dataclass(frozen=True)
class _FoldAnswers:
    decisions: dict[str, Floats]
    seconds: float
    late: str = ""  # what a solver that did not converge said


def _constant_decisions(train: Targets, n_test: int) -> Floats:
    """The baseline that knows only how frequent each answer is: share per class, mean rating."""
    if train.kind == "rating":
        return np.full((n_test, 1), train.ratings.mean())
    share = train.columns.mean(axis=0)
    return np.tile(share if train.kind == "multiclass" else share - 0.5, (n_test, 1))


def _run_fold(
    shared: Shared,
    number: int,
    conditions: Sequence[str],
    preset: Preset | str,
    svm: SvmSettings,
    transductive: bool,
    baselines: bool,
) -> _FoldAnswers:
    begin = time.perf_counter()
    counts, targets, splits, grams = shared.get()
    split = splits[number]
    # One BLAS thread per fold: how a product is cut up among threads changes its last digits, and the results
    # must not depend on the number of workers. Cores are used by running folds side by side.
    with threadpool_limits(1, "blas"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        train_counts, train_targets = counts[split.train], targets[split.train]
        test_counts = counts[split.test]
        if grams is not None:
            decisions = {
                name: held_out_by_gram(grams[name], split.train, split.test, train_targets, svm)
                for name in conditions
            }
        else:
            models = fit_conditions(
                train_counts, train_targets, conditions, preset, svm, counts if transductive else None
            )
            decisions = {name: model.decisions(test_counts) for name, model in models.items()}
        if baselines:
            name = "mean" if targets.kind == "rating" else "majority"
            decisions[name] = _constant_decisions(train_targets, len(split.test))
            words = fit_conditions(train_counts, train_targets, ("words",), "words", svm)["words"]
            decisions["words-only"] = words.decisions(test_counts)
    late = next((str(one.message) for one in caught if one.category is ConvergenceWarning), "")
    return _FoldAnswers(decisions, time.perf_counter() - begin, late)


def cross_validate(
    counts: BlockMatrix,
    y: Answers,
    splits: Sequence[Split],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern",
    *,
    kind: Literal["labels", "rating"] = "labels",
    C: float = 1.0,
    epsilon: float = 0.2,
    tol: float = 1e-3,
    solver: str = "auto",
    transductive: bool = False,
    baselines: bool = True,
    left_out: Sequence[str] = (),
    groups: Sequence[Hashable] | None = None,
    group_column: str = "",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Train and test every condition on every split.

    Parameters
    ----------
    counts, y
        The pairs and their labels, label sets or ratings (``kind="rating"``).
    splits
        See `bagpack.evaluate.splits`.
    conditions, preset
        What is compared, and how counts become features.
    kind
        What ``y`` holds.
    C, epsilon, tol, solver
        See `bagpack.learn.fitting.SvmSettings`.
    transductive
        Fit weighting and scaling on all rows instead of the training rows.
    baselines
        Also run the majority (mean rating) and the words-only model.
    left_out
        Labels that ``f1_…_without`` excludes from the average.
    groups, group_column
        A group per row, by which scores are broken down, and its name. Where no group is split between folds, the ρ of
        ratings is the mean over groups; otherwise the mean over folds.
    n_jobs
        Folds in parallel, as joblib counts them; fewer where together they would need more than 4 GiB, and one below
        1,000 rows, where starting workers would take longer. The result is the same for any number.
    progress
        Called after every fold.

    Examples
    --------
    >>> from bagpack.evaluate import random_splits
    >>> from bagpack.learn import encode_targets
    >>> from bagpack.learn.synthetic import make_counts
    >>> counts, y = make_counts(n_pairs=120, n_words=60, seed=3)
    >>> found = cross_validate(counts, y, random_splits(encode_targets(y), folds=5))
    >>> [result.name for result in found.conditions + found.baselines]
    ['v1v2', 'v12', 'v1v2v12', 'majority', 'words-only']
    """
    targets = encode_targets(y, kind=kind)
    preset = get_preset(preset)
    svm = SvmSettings(C, epsilon, tol, solver)
    _check(counts, targets, splits, conditions, preset, left_out)
    if progress:
        progress("features", 0, 0)
    with threadpool_limits(1, "blas"):
        grams = shared_grams(counts, conditions, preset, svm)
    n_jobs = folds_at_once(counts, svm, n_jobs)
    with share((counts, targets, splits, grams), n_jobs, len(splits)) as shared:
        tasks = (
            delayed(_run_fold)(shared, number, conditions, portable(preset), svm, transductive, baselines)
            for number in range(len(splits))
        )
        answers: list[_FoldAnswers] = list(with_progress(shared.run(tasks), "folds", len(splits), progress))
    fold_of = np.full(len(targets), -1, dtype=np.intp)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    tested = fold_of >= 0
    unit, unit_of = _ranked_within(fold_of, groups)
    results = {
        name: _gather(name, targets, splits, answers, fold_of, left_out, unit_of)
        for name in answers[0].decisions
    }
    zero_rows = {name: int(counts.zero_rows(preset.blocks_of(name))[tested].sum()) for name in conditions}
    condition_results = [replace(results[name], zero_rows=zero_rows[name]) for name in conditions]
    baseline_results = [result for name, result in results.items() if name not in conditions]
    main = "spearman" if targets.kind == "rating" else "f1_weighted_without" if left_out else "f1_macro"
    settings = {
        "preset": preset.name,
        "conditions": list(conditions),
        "C": C,
        "tol": tol,
        "folds": len(splits),
        "transductive": transductive,
    }
    if targets.kind == "rating":
        settings["epsilon"] = epsilon
    if left_out:
        settings["left_out"] = list(left_out)
    folds = [
        Fold(split.name, len(split.train), len(split.test), split.dropped, answer.seconds)
        for split, answer in zip(splits, answers, strict=True)
    ]
    bands = [(name, band & tested) for name, band in frequency_bands(counts.seen).items()]
    answered = targets, fold_of, results, left_out
    return Evaluation(
        kind="ratings" if targets.kind == "rating" else "relations",
        classes=targets.classes,
        main_metric=main,
        fold_of=fold_of,
        units=unit_of,
        folds=folds,
        conditions=condition_results,
        baselines=baseline_results,
        comparisons=_comparisons(condition_results, baseline_results, splits, main),
        buckets=break_down(bands, "", "spearman_pooled", *answered),
        groups=None
        if groups is None
        else break_down(tested_groups(groups, tested), group_column, "spearman", *answered),
        transductive=transductive,
        settings=settings,
        notes=[
            *_notes(counts, targets, splits, tested, transductive, zero_rows, unit),
            *_late([answer.late for answer in answers]),
        ],
    )


def check_found(counts: BlockMatrix) -> None:
    """Raise where no pair has any vector at all."""
    if counts.zero_rows().all():
        raise InputError(
            f"none of the words of the {len(counts)} pairs was found in the corpus, so every vector is zero; "
            "check the corpus's language and whether it was indexed by lemma or by form (bagpack check)"
        )


def _check(
    counts: BlockMatrix,
    targets: Targets,
    splits: Sequence[Split],
    conditions: Sequence[str],
    preset: Preset,
    left_out: Sequence[str],
) -> None:
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} answers; give one per pair")
    if not splits:
        raise UsageError("there is no split to evaluate on; give at least one")
    for condition in conditions:
        preset.blocks_of(condition)
    unknown = [label for label in left_out if label not in {str(name) for name in targets.classes}]
    if unknown:
        known = ", ".join(str(name) for name in targets.classes)
        raise UsageError(f"there is no label {unknown[0]!r} to exclude; the labels are {known}")
    check_found(counts)
    for split in splits:
        check_trainable(targets[split.train], f"the training rows of fold {split.name}")


def _ranked_within(fold_of: Ints, groups: Sequence[Hashable] | None) -> tuple[str, Ints]:
    """The rows among which ratings are ranked: those of a group where no group is split between folds, else of a fold.

    Returns "group" or "fold", and the number of each row's (−1: not tested). Predictions of different folds come from
    different models, so that their order says little.
    """
    if groups is None:
        return "fold", fold_of
    codes = group_codes(groups)[1]
    folds_per_group = [len(np.unique(fold_of[(codes == code) & (fold_of >= 0)])) for code in np.unique(codes)]
    if max(folds_per_group) > 1:
        return "fold", fold_of
    return "group", np.where(fold_of >= 0, codes, -1)


def _gather(
    name: str,
    targets: Targets,
    splits: Sequence[Split],
    answers: Sequence[_FoldAnswers],
    fold_of: Ints,
    left_out: Sequence[str],
    unit_of: Ints,
) -> ConditionResult:
    """One condition's scores per fold and its answers over all rows."""
    tested = fold_of >= 0
    width = answers[0].decisions[name].shape[1]
    decisions = np.full((len(targets), width), np.nan)
    per_fold: list[dict[str, float]] = []
    for split, answer in zip(splits, answers, strict=True):
        found = answer.decisions[name]
        decisions[split.test] = found
        per_fold.append(fold_scores(targets[split.test], found, left_out))
    metrics = {metric: interval([scores[metric] for scores in per_fold], metric) for metric in per_fold[0]}
    predicted: Any
    confusion = None
    if targets.kind == "rating":
        predicted = decisions[:, 0]
        del metrics["spearman"]  # by fold
        metrics = {**_correlations(predicted, targets.ratings, fold_of, unit_of), **metrics}
    elif targets.kind == "multilabel":
        predicted = np.where(tested[:, None], decode(targets.kind, np.nan_to_num(decisions)), False)
    else:
        predicted = np.where(tested, decode(targets.kind, np.nan_to_num(decisions)), -1)
        confusion = confusion_matrix(targets[tested], predicted[tested])
    return ConditionResult(name, metrics, decisions, predicted, confusion)


def _correlations(predicted: Floats, ratings: Floats, fold_of: Ints, unit_of: Ints) -> dict[str, Score]:
    """Mean ρ within a group (or fold), and ρ over all predictions pooled."""
    units = [np.flatnonzero(unit_of == unit) for unit in np.unique(unit_of[unit_of >= 0])]
    within = [rank_correlation(predicted[rows], ratings[rows]) for rows in units]
    tested = fold_of >= 0
    pooled = pooled_correlation(predicted[tested], ratings[tested], fold_of[tested])
    return {
        "spearman": interval(within, "spearman"),
        "spearman_pooled": correlation_interval(pooled, int(tested.sum())),
    }


def _comparisons(
    conditions: Sequence[ConditionResult],
    baselines: Sequence[ConditionResult],
    splits: Sequence[Split],
    metric: str,
) -> list[Comparison]:
    """Every later condition against every earlier one, and the last against the words-only model."""
    if len(splits) < 2:
        return []
    share = float(np.mean([len(split.test) / max(len(split.train), 1) for split in splits]))
    compared = [(a, b) for i, a in enumerate(conditions) for b in conditions[:i]]
    compared += [(conditions[-1], b) for b in baselines if b.name == "words-only"]
    return [
        compare(
            a.metrics[metric].folds,
            b.metrics[metric].folds,
            test_share=share,
            names=(a.name, b.name),
            metric=metric,
        )
        for a, b in compared
    ]


def _notes(
    counts: BlockMatrix,
    targets: Targets,
    splits: Sequence[Split],
    tested: Bools,
    transductive: bool,
    zero_rows: dict[str, int],
    unit: str,
) -> list[str]:
    fitted = "all rows (transductive)" if transductive else "the training rows alone"
    notes = [f"Weighting and scaling were fitted on {fitted}."]
    dropped = sum(split.dropped for split in splits)
    if dropped and len(splits) > 1:
        notes.append(
            "Training rows that share a word (lexical split) or their pair with test rows were dropped from the fold, "
            f"{dropped:,} in all folds together."
        )
    never = int((counts.seen[tested] == 0).sum())
    for name, n in zero_rows.items():
        # Pairs never seen together are reported with the data set.
        if n and not (name == "v12" and n == never):
            notes.append(f"{n} of {int(tested.sum())} tested rows have an all-zero vector in {name}.")
    if targets.kind == "rating":
        notes.append(
            f"Spearman ρ is the mean of ρ within each {unit}. The pooled ρ over all predictions also rewards "
            "predicting which folds have high ratings; its interval is Fisher's, with Bonett and Wright's variance."
        )
    return notes


def _late(messages: Sequence[str]) -> list[str]:
    """A sentence, and a warning, if a solver did not converge in some folds."""
    late = [message for message in messages if message]
    if not late:
        return []
    note = f"In {len(late)} of {len(messages)} folds the SVM did not converge, so scores are approximate: {late[0]}."
    warnings.warn(note, ConvergenceWarning, stacklevel=3)
    return [note]
