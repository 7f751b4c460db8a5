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
from bagpack.evaluate.metrics import (
    break_down,
    confusion_matrix,
    fold_scores,
    pooled_correlation,
    rank_correlation,
    tested_groups,
)
from bagpack.evaluate.result import (
    Comparison,
    Condition,
    Confusion,
    Evaluation,
    Fold,
    Score,
    compare,
    correlation_interval,
    interval,
)
from bagpack.evaluate.splits import Split, group_codes
from bagpack.learn.features import Preset, get_preset, word_features
from bagpack.learn.fitting import WHOLE, fit_conditions, shared_grams
from bagpack.learn.svm import SvmSettings, held_out_by_gram, pair_gram, solve
from bagpack.learn.targets import Targets, check_trainable, decode, encode_targets
from bagpack.parallel import (
    Shared,
    delayed,
    jobs,
    on_one_machine,
    progress,
    share,
    with_progress,
    worker_count,
)
from bagpack.vectors.counts import PairCounts
from bagpack.vectors.coverage import frequency_bands

if TYPE_CHECKING:
    from bagpack.learn.design import Features
    from bagpack.learn.types import Answers, Bools, Floats, Ints

CONDITIONS = tuple(names.CONDITIONS)
MEMORY = 4 << 30  # for all folds that are trained at once on one machine
FEWEST_ROWS = 1000  # below, starting workers takes longer than all folds: docs/performance.md


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


def _word_decisions(train: Features, test: Features, targets: Targets, svm: SvmSettings) -> Floats:
    """The baseline that never saw a corpus: an SVM over which words are in the pair."""
    dual = solve(pair_gram(train) if svm.by_gram(len(train)) else train, targets, svm)
    return dual.intercept + test.decisions(train.combine(dual.coef))


def folds_at_once(counts: PairCounts, svm: SvmSettings) -> int | None:
    """Number of workers for folds: one for few rows, and fewer where they would together need more than `MEMORY`.

    A Gram matrix, a part of it and libsvm's kernel rows take 21 bytes for each two rows; features and their weighted
    copies 40 for each count.
    """
    if not on_one_machine():
        return jobs()
    n = len(counts)
    if n < FEWEST_ROWS:
        return 1
    needed = 21 * n * n if svm.by_gram(n) else 40 * (counts.words.nnz + counts.together.nnz)
    return max(1, min(worker_count(), MEMORY // max(needed, 1)))


def _run_fold(
    shared: Shared,
    number: int,
    conditions: Sequence[str],
    preset: Preset,
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
            learned = preset.learn(counts, WHOLE) if transductive else None
            models = fit_conditions(train_counts, train_targets, conditions, preset, svm, learned=learned)
            decisions = {name: model.decisions(test_counts) for name, model in models.items()}
        if baselines:
            name = "mean" if targets.kind == "rating" else "majority"
            decisions[name] = _constant_decisions(train_targets, len(split.test))
            words = word_features(counts)
            decisions["words-only"] = _word_decisions(
                words.take(split.train), words.take(split.test), train_targets, svm
            )
    late = next((str(one.message) for one in caught if one.category is ConvergenceWarning), "")
    return _FoldAnswers(decisions, time.perf_counter() - begin, late)


def cross_validate(
    counts: PairCounts,
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
    groups: Sequence[Hashable] | None = None,
    group_column: str = "",
) -> Evaluation:
    """Train and test every condition on every split.

    Folds run in parallel (`bagpack.parallel.settings`): fewer at once where together they would need more than 4 GiB,
    and one below 1,000 rows, where starting workers would take longer. The result is the same for any number.

    Parameters
    ----------
    counts, y
        The pairs and their labels or ratings (``kind="rating"``).
    splits
        See `bagpack.evaluate.splits`.
    conditions, preset
        What is compared, and how counts become features.
    kind
        What ``y`` holds.
    C, epsilon, tol, solver
        See `bagpack.learn.svm.SvmSettings`.
    transductive
        Fit weighting and scaling on all rows instead of the training rows.
    baselines
        Also run the majority (mean rating) and the words-only model.
    groups, group_column
        A group per row, by which scores are broken down, and its name. Where no group is split between folds, the ρ of
        ratings is the mean over groups; otherwise the mean over folds.

    Examples
    --------
    >>> found = cross_validate(counts, y, random_splits(encode_targets(y), folds=5))  # doctest: +SKIP
    >>> [result.name for result in found.conditions + found.baselines]  # doctest: +SKIP
    ['v1v2', 'v12', 'v1v2v12', 'majority', 'words-only']
    """
    targets = encode_targets(y, kind=kind)
    preset = get_preset(preset)
    svm = SvmSettings(C, epsilon, tol, solver)
    _check(counts, targets, splits, conditions, preset)
    progress()("features", 0, 0)
    with threadpool_limits(1, "blas"):
        grams = shared_grams(counts, conditions, preset, svm)
    n_jobs = folds_at_once(counts, svm)
    with share((counts, targets, splits, grams), len(splits), n_jobs=n_jobs) as shared:
        tasks = (
            delayed(_run_fold)(shared, number, conditions, preset, svm, transductive, baselines)
            for number in range(len(splits))
        )
        answers: list[_FoldAnswers] = list(with_progress(shared.run(tasks), "folds", len(splits)))
    fold_of = np.full(len(targets), -1, dtype=np.intp)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    tested = fold_of >= 0
    unit, unit_of = _ranked_within(fold_of, groups)
    results = {
        name: _gather(name, targets, splits, answers, fold_of, unit_of) for name in answers[0].decisions
    }
    zero_rows = {name: int(counts.zero_rows(names.blocks_of(name))[tested].sum()) for name in conditions}
    condition_results = [replace(results[name], zero_rows=zero_rows[name]) for name in conditions]
    baseline_results = [result for name, result in results.items() if name not in conditions]
    main = "spearman" if targets.kind == "rating" else "f1_macro"
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
    folds = [
        Fold(split.name, len(split.train), len(split.test), split.dropped, round(answer.seconds, 4))
        for split, answer in zip(splits, answers, strict=True)
    ]
    bands = [(name, band & tested) for name, band in frequency_bands(counts.seen).items()]
    answered = targets, fold_of, results
    return Evaluation(
        kind="ratings" if targets.kind == "rating" else "relations",
        classes=targets.classes,
        main_metric=main,
        fold_of=fold_of,
        units=unit_of,
        folds=folds,
        rows=len(targets),
        tested_rows=int(tested.sum()),
        dropped=sum(fold.dropped for fold in folds),
        confusion=_confusion(condition_results, targets),
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


def check_found(counts: PairCounts) -> None:
    """Raise where no pair has any vector at all."""
    if counts.zero_rows().all():
        raise InputError(
            f"none of the words of the {len(counts)} pairs was found in the corpus, so every vector is zero; "
            "check the corpus's language and whether it was indexed by lemma or by form (bagpack check)"
        )


def _check(
    counts: PairCounts,
    targets: Targets,
    splits: Sequence[Split],
    conditions: Sequence[str],
    preset: Preset,
) -> None:
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} answers; give one per pair")
    if not splits:
        raise UsageError("there is no split to evaluate on; give at least one")
    for condition in conditions:
        names.blocks_of(condition)
    check_found(counts)
    for split in splits:
        check_trainable(targets[split.train], f"the training rows of fold {split.name}")


def _confusion(conditions: Sequence[Condition], targets: Targets) -> Confusion | None:
    """The confusion matrix of the last condition; None for ratings."""
    last = conditions[-1]
    if last.confusion is None:
        return None
    return Confusion(last.name, [str(label) for label in targets.classes], last.confusion.tolist())


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
    unit_of: Ints,
) -> Condition:
    """One condition's scores per fold and its answers over all rows."""
    tested = fold_of >= 0
    width = answers[0].decisions[name].shape[1]
    decisions = np.full((len(targets), width), np.nan)
    per_fold: list[dict[str, float]] = []
    for split, answer in zip(splits, answers, strict=True):
        found = answer.decisions[name]
        decisions[split.test] = found
        per_fold.append(fold_scores(targets[split.test], found))
    metrics = {metric: interval([scores[metric] for scores in per_fold], metric) for metric in per_fold[0]}
    predicted: Any
    confusion = None
    if targets.kind == "rating":
        predicted = decisions[:, 0]
        del metrics["spearman"]  # by fold
        metrics = {**_correlations(predicted, targets.ratings, fold_of, unit_of), **metrics}
    else:
        predicted = np.where(tested, decode(targets.kind, np.nan_to_num(decisions)), -1)
        confusion = confusion_matrix(targets[tested], predicted[tested])
    return Condition(name, metrics, decisions=decisions, predicted=predicted, confusion=confusion)


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
    conditions: Sequence[Condition],
    baselines: Sequence[Condition],
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
    counts: PairCounts,
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
