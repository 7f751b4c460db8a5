"""Cross-validation of the conditions and their baselines over the same folds, and with fewer training rows."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bagpack import names as blocks
from bagpack.errors import InputError, UsageError
from bagpack.evaluate import result as results
from bagpack.evaluate.metrics import break_down, fold_scores, pooled_correlation, rank_correlation
from bagpack.evaluate.result import Comparison, Condition, Evaluation, LearningCurve, compare, interval
from bagpack.evaluate.splits import Split, generator_of, group_codes
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
    from bagpack.learn.features import Features, Floats, Ints

CONDITIONS = tuple(blocks.CONDITIONS)
MEMORY = 4 << 30  # for all folds that are trained at once on one machine
FEWEST_ROWS = 1000  # below, starting workers takes longer than all folds: docs/performance.md
HALVINGS = 3  # of the training rows, in a learning curve
FEWEST = 20  # training rows of the smallest part


# One fold ----------------------------------------------------------------------------------------------------------


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


def _run_fold(
    shared: Shared, number: int, conditions: Sequence[str], preset: Preset, svm: SvmSettings, transductive: bool,
    baselines: bool,
) -> tuple[dict[str, Floats], str]:  # fmt: skip
    """Decision values of each condition and baseline, and what a solver that did not converge said."""
    counts, targets, splits, grams = shared.get()
    split = splits[number]
    # One BLAS thread per fold: how a product is cut up among threads changes its last digits, and the results
    # must not depend on the number of workers. Cores are used by running folds side by side.
    with threadpool_limits(1, "blas"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        train = targets[split.train]
        if grams is not None:
            decisions = {
                name: held_out_by_gram(grams[name], split.train, split.test, train, svm)
                for name in conditions
            }
        else:
            learned = preset.learn(counts, WHOLE) if transductive else None
            models = fit_conditions(counts[split.train], train, conditions, preset, svm, learned=learned)
            decisions = {name: model.decisions(counts[split.test]) for name, model in models.items()}
        if baselines:
            words = word_features(counts)
            constant = "mean" if targets.kind == "rating" else "majority"
            decisions[constant] = _constant_decisions(train, len(split.test))
            decisions["words-only"] = _word_decisions(
                words.take(split.train), words.take(split.test), train, svm
            )
    late = (str(one.message) for one in caught if one.category is ConvergenceWarning)
    return decisions, next(late, "")


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


# All folds ---------------------------------------------------------------------------------------------------------


def cross_validate(
    counts: PairCounts,
    y: Any,
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
    targets, preset, svm = (
        encode_targets(y, kind=kind),
        get_preset(preset),
        SvmSettings(C, epsilon, tol, solver),
    )
    _check(counts, targets, splits, conditions)
    progress()("features", 0, 0)
    with threadpool_limits(1, "blas"):
        grams = shared_grams(counts, conditions, preset, svm)
    n_jobs = folds_at_once(counts, svm)
    with share((counts, targets, splits, grams), len(splits), n_jobs=n_jobs) as shared:
        tasks = (
            delayed(_run_fold)(shared, number, conditions, preset, svm, transductive, baselines)
            for number in range(len(splits))
        )
        answers = list(with_progress(shared.run(tasks), "folds", len(splits)))
    fold_of = np.full(len(targets), -1, dtype=np.intp)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    tested = fold_of >= 0
    unit, unit_of = _ranked_within(fold_of, groups)
    gathered = {
        name: _gather(name, targets, splits, [decisions[name] for decisions, _ in answers], fold_of, unit_of)
        for name in answers[0][0]
    }
    zero = {name: int(counts.zero_rows(blocks.blocks_of(name))[tested].sum()) for name in conditions}
    compared = [replace(gathered[name], zero_rows=zero[name]) for name in conditions]
    others = [result for name, result in gathered.items() if name not in conditions]
    main = "spearman" if targets.kind == "rating" else "f1_macro"
    used: dict[str, Any] = {
        "preset": preset.name, "conditions": list(conditions), "C": C, "tol": tol, "folds": len(splits),
        "transductive": transductive,
    }  # fmt: skip
    if targets.kind == "rating":
        used["epsilon"] = epsilon
    bands = {name: band & tested for name, band in frequency_bands(counts.seen).items()}
    by_group = None
    if groups is not None:
        values, codes = group_codes(groups)
        parts = {str(value): (codes == code) & tested for code, value in enumerate(values)}
        parts = {name: rows for name, rows in parts.items() if rows.any()}
        by_group = break_down(parts, group_column, "spearman", targets, fold_of, gathered)
    notes = _notes(counts.seen[tested], splits, transductive, zero)
    if targets.kind == "rating":
        notes.append(
            f"Spearman ρ is the mean of ρ within each {unit}. The pooled ρ over all predictions also rewards "
            "predicting which folds have high ratings; its interval is Fisher's, with Bonett and Wright's variance."
        )
    return Evaluation(
        kind="ratings" if targets.kind == "rating" else "relations", main_metric=main, fold_of=fold_of,
        rows=len(targets), tested_rows=int(tested.sum()), dropped=sum(split.dropped for split in splits),
        conditions=compared, baselines=others, comparisons=_comparisons(compared, others, splits, main),
        confusion=None if targets.kind == "rating" else _confusion(compared[-1], targets, tested),
        buckets=break_down(bands, "", "spearman_pooled", targets, fold_of, gathered), groups=by_group,
        transductive=transductive, settings=used, notes=[*notes, *_late([late for _, late in answers])],
    )  # fmt: skip


def check_found(counts: PairCounts) -> None:
    """Raise where no pair has any vector at all."""
    if counts.zero_rows().all():
        raise InputError(
            f"none of the words of the {len(counts)} pairs was found in the corpus, so every vector is zero; "
            "check the corpus's language and whether it was indexed by lemma or by form (bagpack check)"
        )


def _check(counts: PairCounts, targets: Targets, splits: Sequence[Split], conditions: Sequence[str]) -> None:
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} answers; give one per pair")
    if not splits:
        raise UsageError("there is no split to evaluate on; give at least one")
    for condition in conditions:
        blocks.blocks_of(condition)
    check_found(counts)
    for split in splits:
        check_trainable(targets[split.train], f"the training rows of fold {split.name}")


def _confusion(last: Condition, targets: Targets, tested: Any) -> results.Confusion:
    counts = np.zeros((len(targets.classes),) * 2, dtype=np.int64)
    np.add.at(counts, (targets.codes[tested], last.predicted[tested]), 1)
    return results.Confusion(last.name, [str(label) for label in targets.classes], counts.tolist())


def _ranked_within(fold_of: Ints, groups: Sequence[Hashable] | None) -> tuple[str, Ints]:
    """The rows among which ratings are ranked: those of a group where no group is split between folds, else of a fold.

    Returns "group" or "fold", and the number of each row's (−1: not tested). Predictions of different folds come from
    different models, so that their order says little.
    """
    if groups is not None:
        codes = group_codes(groups)[1]
        in_folds = np.unique(np.column_stack([codes, fold_of])[fold_of >= 0], axis=0)[:, 0]
        if len(np.unique(in_folds)) == len(in_folds):
            return "group", np.where(fold_of >= 0, codes, -1)
    return "fold", fold_of


def _gather(
    name: str, targets: Targets, splits: Sequence[Split], answers: Sequence[Floats], fold_of: Ints, unit_of: Ints
) -> Condition:  # fmt: skip
    """One condition's scores per fold and its answers over all rows."""
    tested = fold_of >= 0
    decisions = np.full((len(targets), answers[0].shape[1]), np.nan)
    per_fold = []
    for split, found in zip(splits, answers, strict=True):
        decisions[split.test] = found
        per_fold.append(fold_scores(targets[split.test], found))
    metrics = {metric: interval([scores[metric] for scores in per_fold], metric) for metric in per_fold[0]}
    if targets.kind != "rating":
        predicted = np.where(tested, decode(targets.kind, np.nan_to_num(decisions)), -1)
        return Condition(name, metrics, decisions=decisions, predicted=predicted)
    predicted, ratings = decisions[:, 0], targets.ratings
    units = [np.flatnonzero(unit_of == unit) for unit in np.unique(unit_of[tested])]
    pooled = pooled_correlation(predicted[tested], ratings[tested], fold_of[tested])
    correlations = {
        "spearman": interval(
            [rank_correlation(predicted[rows], ratings[rows]) for rows in units], "spearman"
        ),
        "spearman_pooled": results.correlation_interval(pooled, int(tested.sum())),
    }
    return Condition(
        name, correlations | {**metrics, **correlations}, decisions=decisions, predicted=predicted
    )


def _test_share(splits: Sequence[Split]) -> float:
    return float(np.mean([len(split.test) / max(len(split.train), 1) for split in splits]))


def _comparisons(
    conditions: Sequence[Condition], baselines: Sequence[Condition], splits: Sequence[Split], metric: str
) -> list[Comparison]:  # fmt: skip
    """Every later condition against every earlier one, and the last against the words-only model."""
    if len(splits) < 2:
        return []
    names = [one.name for one in conditions]
    compared = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    compared += [(names[-1], one.name) for one in baselines if one.name == "words-only"]
    folds = {one.name: one.metrics[metric].folds for one in (*conditions, *baselines)}
    share = _test_share(splits)
    return [compare(folds[a], folds[b], test_share=share, names=(a, b), metric=metric) for a, b in compared]


def _notes(seen: Ints, splits: Sequence[Split], transductive: bool, zero: dict[str, int]) -> list[str]:
    fitted = "all rows (transductive)" if transductive else "the training rows alone"
    notes = [f"Weighting and scaling were fitted on {fitted}."]
    dropped = sum(split.dropped for split in splits)
    if dropped and len(splits) > 1:
        notes.append(
            "Training rows that share a word (lexical split) or their pair with test rows were dropped from the fold, "
            f"{dropped:,} in all folds together."
        )
    never = int((seen == 0).sum())
    notes += [
        f"{n} of {len(seen)} tested rows have an all-zero vector in {name}."
        for name, n in zero.items()
        if n
        and not (name == "v12" and n == never)  # pairs never seen together are reported with the data set
    ]
    return notes


def _late(messages: Sequence[str]) -> list[str]:
    """A sentence, and a warning, if a solver did not converge in some folds."""
    late = [message for message in messages if message]
    if not late:
        return []
    note = f"In {len(late)} of {len(messages)} folds the SVM did not converge, so scores are approximate: {late[0]}."
    warnings.warn(note, ConvergenceWarning, stacklevel=3)
    return [note]


# Do I need more pairs? ---------------------------------------------------------------------------------------------


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
    parts, scores = [list(splits)], [found[condition].metrics[metric]]
    for halving in range(1, HALVINGS + 1):
        fewer = fewer_rows(splits, targets, 0.5**halving, seed)
        if len(splits) < 2 or np.mean([len(split.train) for split in fewer]) < FEWEST:
            break
        again = cross_validate(counts, targets, fewer, (condition,), baselines=False, **how)
        parts.insert(0, fewer)
        scores.insert(0, again[condition].metrics[metric])
    if len(scores) < 2:
        return None
    last, before = scores[-1].folds, scores[-2].folds
    gain = compare(last, before, test_share=_test_share(splits), names=("all rows", "half"), metric=metric)
    points = [
        results.CurvePoint(round(float(np.mean([len(split.train) for split in part]))), score)
        for part, score in zip(parts, scores, strict=True)
    ]
    return LearningCurve(condition, metric, points, gain, next_gain([score.mean for score in scores]))


def fewer_rows(splits: Sequence[Split], targets: Targets, share: float, seed: int = 0) -> list[Split]:
    """The same folds with a share of their training rows, drawn per label; smaller shares are parts of larger ones."""
    out = []
    for number, split in enumerate(splits):
        order = generator_of(seed + number).permutation(split.train)
        labels = targets.codes[order]  # all equal for ratings
        each = [order[labels == label] for label in np.unique(labels)]
        kept = np.concatenate([rows[: max(1, round(share * len(rows)))] for rows in each])
        out.append(replace(split, train=np.sort(kept)))
    return out


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
