"""Cross-validation of the conditions and their baselines over the same folds, and with fewer training rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bagpack import names as blocks
from bagpack import parallel
from bagpack.errors import InputError, UsageError
from bagpack.evaluate.metrics import fold_scores, part_score, pooled_correlation, rank_correlation
from bagpack.evaluate.result import Condition, Evaluation, Score, correlation_interval, interval
from bagpack.evaluate.splits import Split, group_codes
from bagpack.learn.features import Features, Preset, get_preset
from bagpack.learn.fitting import WHOLE, fold_decisions, shared_grams
from bagpack.learn.svm import SvmSettings, by_gram, solve
from bagpack.learn.targets import Targets, check_trainable, decode, encode_targets
from bagpack.numbers import many, metric_info, metric_label, show_score
from bagpack.parallel import Shared, progress, share
from bagpack.vectors.counts import PairCounts

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Floats, Ints

CONDITIONS = tuple(blocks.CONDITIONS)
MEMORY = 4 << 30  # for all folds that are trained at once on one machine
FEWEST_ROWS = 1000  # below, starting workers takes longer than all folds: docs/performance.md
HALVINGS = 3  # of the training rows, in a learning curve
FEWEST = 20  # training rows of the smallest part


def _run_fold(
    shared: Shared, number: int, conditions: Sequence[str], preset: Preset, svm: SvmSettings, baselines: bool
) -> tuple[dict[str, Floats], str]:  # fmt: skip
    """Decision values of each condition and baseline, and what a solver that did not converge said."""
    from sklearn.exceptions import ConvergenceWarning

    counts, targets, splits, learned, grams = shared.get()
    split = splits[number]
    # One BLAS thread per fold: how a product is cut up among threads changes its last digits, and the results
    # must not depend on the number of workers. Cores are used by running folds side by side.
    with threadpool_limits(1, "blas"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        own = targets[split.train]
        how = split.train, split.test, conditions, preset, svm
        decisions = fold_decisions(counts, targets, *how, learned=learned, grams=grams)
        if baselines:
            rating = targets.kind == "rating"
            usual = own.ratings.mean(keepdims=True) if rating else own.columns.mean(axis=0)
            usual = usual - 0.5 if targets.kind == "binary" else usual
            decisions["mean" if rating else "majority"] = np.tile(usual, (len(split.test), 1))
            words = word_features(counts)
            train = words.take(split.train)
            dual = solve(train, own, svm)
            words_only = words.take(split.test).decisions(train.combine(dual.coef))
            decisions["words-only"] = dual.intercept + words_only
    late = (str(one.message) for one in caught if one.category is ConvergenceWarning)
    return decisions, next(late, "")


def word_features(rows: PairCounts) -> Features:
    """Which words are in the pair and nothing else: the baseline that never saw a corpus."""
    n = rows.words.shape[0]
    words = sparse.csr_array(sparse.eye_array(n, format="csr"))
    return Features({"w1": n, "w2": n}, rows.w1, rows.w2, words, words, sparse.csr_array((len(rows), 0)))


def folds_at_once(counts: PairCounts) -> int | None:
    """Number of workers for folds: one for few rows, and fewer where they would together need more than `MEMORY`.

    A Gram matrix, a part of it and libsvm's kernel rows take 21 bytes for each two rows; features and their weighted
    copies 40 for each count.
    """
    if not parallel.on_one_machine():
        return parallel.jobs()
    n = len(counts)
    if n < FEWEST_ROWS:
        return 1
    needed = 21 * n * n if by_gram(n) else 40 * (counts.words.nnz + counts.together.nnz)
    return max(1, min(parallel.worker_count(), MEMORY // max(needed, 1)))


def cross_validate(
    counts: PairCounts, y: Any, splits: Sequence[Split], conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern", *, kind: Literal["labels", "rating"] = "labels", svm: SvmSettings | None = None,
    transductive: bool = False, baselines: bool = True, groups: Sequence[Hashable] | None = None,
) -> Evaluation:  # fmt: skip
    """Train and test every condition on every split, on labels or ratings (``kind="rating"``).

    With ``baselines``, the majority (mean rating) and a model that knows only the words are tested too.
    ``transductive`` fits weighting and scaling on all rows instead of the training rows. The ρ of ratings is the mean
    over folds, or over ``groups`` (one per row) where no group is split between folds.

    Folds run in parallel (`bagpack.parallel.settings`): fewer at once where together they would need more than 4 GiB,
    and one below 1,000 rows, where starting workers would take longer. The result is the same for any number.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import confusion_matrix

    targets, preset, svm = encode_targets(y, kind=kind), get_preset(preset), svm or SvmSettings()
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} answers; give one per pair")
    if not splits:
        raise UsageError("there is no fold to test; give at least one split")
    empty = {name: counts.zero_rows(blocks.blocks_of(name)) for name in conditions}
    check_found(counts)
    for split in splits:
        check_trainable(targets[split.train], f"the training rows of fold {split.name}")
    progress()("features", 0, 0)
    learned = preset.learn(counts, WHOLE) if transductive else None
    with threadpool_limits(1, "blas"):
        grams = shared_grams(counts, conditions, preset, learned)
    every = counts, targets, splits, learned, grams
    n_jobs = folds_at_once(counts) if len(splits) > 1 else 1
    with parallel.settings(n_jobs=n_jobs), share(every, len(splits)) as shared:
        tasks = (
            parallel.delayed(_run_fold)(shared, number, conditions, preset, svm, baselines)
            for number in range(len(splits))
        )
        progress()("folds", 0, len(splits))
        answers = []
        for answer in parallel.run(tasks):
            progress()("folds", 1, len(splits))
            answers.append(answer)
    fold_of = np.full(len(targets), -1, dtype=np.intp)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    tested = fold_of >= 0
    unit, unit_of = "fold", fold_of
    if groups is not None:
        # Predictions of different folds come from different models, so that their order says little.
        codes = np.where(tested, group_codes(groups)[1], -1)
        if len(set(zip(codes, fold_of, strict=True))) == len(np.unique(codes)):
            unit, unit_of = "group", codes
    gathered = {}
    for name in answers[0][0]:
        own = [decisions[name] for decisions, _ in answers]
        gathered[name] = _gather(name, targets, splits, own, fold_of, unit_of, empty.get(name))
    compared = [gathered[name] for name in conditions]
    others = [result for name, result in gathered.items() if name not in conditions]
    bands = []
    for name, band in counts.bands.items():
        each = {key: part_score(one, band & tested, targets, fold_of) for key, one in gathered.items()}
        bands.append({"name": name, "n": int((band & tested).sum()), "scores": each})
    dropped = sum(split.dropped for split in splits)
    fitted = "all rows (transductive)" if transductive else "the training rows alone"
    notes = [f"Weighting and scaling were fitted on {fitted}."]
    if dropped:
        common = "their pair, in either order or with the same lemmas, or (lexical split) a word"
        notes.append(f"{many(dropped, 'training row')} dropped that share {common} with test rows.")
    shown = ("spearman", "spearman_pooled") if targets.kind == "rating" else ("f1_macro",)
    notes += [zero_note(one, int(tested.sum()), shown) for one in compared if one.zero_rows]
    if targets.kind == "rating":
        notes.append(
            f"Spearman ρ is the mean of ρ within each {unit}. The pooled ρ over all predictions also rewards "
            "predicting which folds have high ratings; its interval is Fisher's, with Bonett and Wright's variance."
        )
    if late := [late for _, late in answers if late]:
        where = f"In {len(late)} of {len(splits)} folds the SVM did not converge"
        notes.append(f"{where}, so scores are approximate: {late[0]}.")
        warnings.warn(notes[-1], ConvergenceWarning, stacklevel=2)
    confusion: dict[str, Any] = {}
    if targets.kind != "rating":
        labels, answered = [str(label) for label in targets.classes], compared[-1].predicted
        cells = confusion_matrix(targets.codes[tested], answered[tested], labels=range(len(labels)))
        confusion = {"condition": conditions[-1], "labels": labels, "counts": cells.tolist()}
    part_metric = "accuracy" if confusion else "spearman_pooled"
    return Evaluation(
        kind="relations" if confusion else "ratings", main_metric=shown[0], fold_of=fold_of,
        rows=len(targets), tested_rows=int(tested.sum()), dropped=dropped, notes=notes,
        conditions=compared, baselines=others,
        confusion=confusion, buckets={"metric": part_metric, "rows": bands},
        settings={"preset": preset.name, "C": svm.C, "folds": len(splits), "transductive": transductive},
    )  # fmt: skip


def check_found(counts: PairCounts) -> None:
    if counts.zero_rows().all():
        none = f"none of the words of the {len(counts)} pairs was found in the corpus"
        raise InputError(
            f"{none}; check its language, and whether it is of lemmas or of forms (bagpack check)"
        )


def zero_note(one: Condition, rows: int, metrics: Sequence[str]) -> str:
    """The number of all-zero rows of a condition, and its scores without them, as the paper had them."""
    units = {name: " %" if metric_info(name).percent else "" for name in metrics}
    scores = [
        f"{metric_label(name, unit=False)} is {show_score(one.nonzero[name].mean, name)}{units[name]}"
        for name in metrics
    ]
    return (
        f"{one.zero_rows:,} of {rows:,} rows are all-zero in {one.name}; without them, {', '.join(scores)}."
    )


def _gather(
    name: str, targets: Targets, splits: Sequence[Split], answers: Sequence[Floats], fold_of: Ints, unit_of: Ints,
    empty: Bools | None,
) -> Condition:  # fmt: skip
    """One condition's answers over all rows, and its scores: on all tested rows, and without the ``empty`` ones."""
    tested, rating = fold_of >= 0, targets.kind == "rating"
    decisions = np.full((len(targets), answers[0].shape[1]), np.nan)
    for split, found in zip(splits, answers, strict=True):
        decisions[split.test] = found
    predicted = decisions[:, 0]
    if not rating:
        predicted = np.where(tested, decode(targets.kind, np.nan_to_num(decisions)), -1)

    def scores(rows: Bools) -> dict[str, Score]:
        per_fold, none = [], dict.fromkeys(fold_scores(targets[splits[0].test], answers[0]), math.nan)
        for split, found in zip(splits, answers, strict=True):
            kept = rows[split.test]
            per_fold.append(fold_scores(targets[split.test[kept]], found[kept]) if kept.any() else none)
        metrics = {metric: interval([own[metric] for own in per_fold], metric) for metric in none}
        if not rating:
            return metrics
        truth = targets.ratings
        units = [np.flatnonzero(rows & (unit_of == unit)) for unit in np.unique(unit_of[rows])]
        inside = interval([rank_correlation(predicted[own], truth[own]) for own in units], "spearman")
        pooled = pooled_correlation(predicted[rows], truth[rows], fold_of[rows])
        both = {"spearman": inside, "spearman_pooled": correlation_interval(pooled, int(rows.sum()))}
        return {**both, **metrics, **both}

    result = Condition(name, scores(tested), decisions=decisions, predicted=predicted)
    if empty is None:
        return result
    zero = int((tested & empty).sum())
    return replace(result, zero_rows=zero, nonzero=scores(tested & ~empty) if zero else {})


def learning_curve(
    found: Evaluation, counts: PairCounts, targets: Targets, splits: Sequence[Split], seed: int = 0, **how: Any
) -> dict[str, Any]:  # fmt: skip
    """The main score of the last condition with an eighth, a quarter, half and all of the training rows.

    ``found`` is what `cross_validate` found on ``splits``, and ``how`` its options. Nothing where folds or rows are too
    few. ``gain`` is the difference between all rows and half of them, over the folds.
    """
    condition, metric = found.conditions[-1].name, found.main_metric
    points: list[dict[str, Any]] = []
    for halving in range(HALVINGS + 1):
        fewer = fewer_rows(splits, targets, 0.5**halving, seed) if halving else splits
        rows = round(float(np.mean([len(split.train) for split in fewer])))
        if len(splits) < 2 or (halving and rows < FEWEST):
            break
        again = (
            cross_validate(counts, targets, fewer, (condition,), baselines=False, **how) if halving else found
        )
        points.insert(0, {"rows": rows, "score": again[condition].metrics[metric]})
    if len(points) < 2:
        return {}
    differences = np.subtract(points[-1]["score"].folds, points[-2]["score"].folds)
    share = float(np.mean([len(split.test) / max(len(split.train), 1) for split in splits]))
    gain = interval(differences.tolist(), test_share=share)
    return {"condition": condition, "metric": metric, "points": points, "gain": gain}


def fewer_rows(splits: Sequence[Split], targets: Targets, share: float, seed: int = 0) -> list[Split]:
    """The same folds with a share of their training rows, drawn per label; smaller shares are parts of larger ones."""
    out = []
    for number, split in enumerate(splits):
        order = np.random.default_rng(seed + number).permutation(split.train)
        labels = targets.codes[order]  # all equal for ratings
        each = [order[labels == label] for label in np.unique(labels)]
        kept = np.concatenate([rows[: max(1, round(share * len(rows)))] for rows in each])
        out.append(replace(split, train=np.sort(kept)))
    return out
