"""Cross-validation of a data set: rows, splits, scores, and everything a report needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bagpack.errors import InputError, UsageError
from bagpack.evaluate import Evaluation, Split, cross_validate, fixed_split, make_splits
from bagpack.evaluate.crossval import CONDITIONS
from bagpack.evaluate.learning_curve import learning_curve
from bagpack.evaluate.multitask import merge_tasks
from bagpack.evaluate.predictions import (
    PRECISION,
    SENTENCES,
    RowFacts,
    add_sentences,
    prediction_parts,
)
from bagpack.evaluate.probabilities import calibration_splits
from bagpack.evaluate.schema import EvaluationResult, Feature, without_nan
from bagpack.evaluate.splits import same_pairs, separate
from bagpack.evaluate.tuned_on import tuned_on_note
from bagpack.experiments.counting import (
    CountOptions,
    check_engine_counts,
    counted_source,
    matrix_of,
    outside_note,
    with_engine_counts,
    with_facts,
)
from bagpack.learn import LinearModel, Targets, encode_targets, fit_counts
from bagpack.learn.fitting import SvmSettings
from bagpack.learn.presets import get_preset
from bagpack.parallel import Progress
from bagpack.tasks import Dataset, read_dataset
from bagpack.tasks.oddities import equal_ratings, similar_labels, similar_labels_sentence
from bagpack.vectors.matrix import BlockMatrix

STRONGEST = 12
# More rows have no learning curve and no features: they take as long as the folds.
MOST_ROWS_FOR_FEATURES = 20_000


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of `bagpack evaluate`."""

    preset: str = "modern"
    conditions: tuple[str, ...] = CONDITIONS
    split: str = "random"
    folds: int | None = None
    seed: int = 0
    transductive: bool = False
    C: float | None = None  # the preset's own
    epsilon: float = 0.2
    left_out: tuple[str, ...] = ()
    drop_unseen: bool = False
    label_sets: bool = False
    task: str | None = None
    columns: dict[str, str] | None = None
    features: bool = True  # and the learning curve, and sentences of mistakes
    keep_overlap: bool = False
    counts: str | None = None  # an engine that counts pairs
    precision: float = PRECISION

    def __post_init__(self) -> None:
        if not 0 < self.precision <= 1:
            raise UsageError(
                f"--precision {self.precision:g} is not a share; give a number above 0 and up to 1"
            )

    @property
    def cost(self) -> float:
        """C as given, or the preset's."""
        return self.C if self.C is not None else get_preset(self.preset).C


@dataclass(frozen=True)
class Rows:
    """A data set ready to learn from: vectors and answers row by row, training rows first if a test file is given."""

    data: Dataset
    matrix: BlockMatrix
    answers: Any
    n_train: int | None

    @property
    def targets(self) -> Targets:
        """The answers as the learners take them."""
        return encode_targets(self.answers, kind="rating" if self.data.kind == "ratings" else "labels")

    def select(self, rows: Sequence[int]) -> Rows:
        """Some rows; the number of training rows follows."""
        index = np.asarray(rows, np.intp)
        n_train = None if self.n_train is None else int((index < self.n_train).sum())
        answers = [self.answers[i] for i in index] if isinstance(self.answers, list) else self.answers[index]
        return Rows(self.data.select(index), self.matrix[index], answers, n_train)


def evaluate_file(
    source: str, path: str, test: str | None, counting: CountOptions, options: EvaluateOptions,
    progress: Progress | None = None,
) -> EvaluationResult:  # fmt: skip
    """Evaluate the data set at `path` (and, if given, test on another file) on a source of counts."""
    rows = load_rows(source, path, test, counting, options, progress)
    return evaluate_rows(rows, path, options, counting.n_jobs, progress)


def evaluate_rows(
    rows: Rows, path: str, options: EvaluateOptions, n_jobs: int | None, progress: Progress | None = None
) -> EvaluationResult:
    """Evaluate rows that are counted already."""
    by = rows.data.group_column if rows.data.kind == "relations" else None
    found = (
        _evaluate_subsets(rows, by, options, n_jobs, progress)
        if by
        else _evaluate(rows, options, n_jobs, progress)
    )
    with_features = options.features and not by
    if progress and with_features:
        progress("model", 0, 0)
    return finish_result(found, rows, path, options, with_features=with_features)


def load_rows(
    source: str, path: str, test: str | None, counting: CountOptions, options: EvaluateOptions,
    progress: Progress | None = None,
) -> Rows:  # fmt: skip
    """Read the data and count its pairs."""
    if options.counts is not None:
        check_engine_counts(options.counts, get_preset(options.preset))
    data = _read(path, options)
    n_train: int | None = None
    if test is not None:
        other = _read(test, options)
        if other.kind != data.kind:
            raise InputError(f"{path} holds {data.kind} and {test} {other.kind}; both must hold the same")
        n_train = len(data)
        data = join(data, other)
    learned = data.scores[:n_train]
    if learned.size and learned.min() == learned.max():
        raise InputError(equal_ratings(learned[0]))
    matrix = matrix_of(source, data.pairs, counting, progress)
    if options.counts is not None:
        matrix = with_engine_counts(matrix, options.counts, progress)
    answers: Any = data.scores if data.kind == "ratings" else list(data.labels)
    if options.label_sets:
        answers = [frozenset(label.split("\t")) for label in data.labels]
    rows = Rows(data, matrix, answers, n_train)
    if options.drop_unseen:
        kept = np.flatnonzero(matrix.seen > 0)
        if not kept.size:
            raise InputError(
                f"no pair of {path} is ever seen together, so --drop-unseen leaves nothing to learn from"
            )
        rows = rows.select(kept.tolist())
    return rows


def _read(path: str, options: EvaluateOptions) -> Dataset:
    data = read_dataset(path, cast(Any, options.task), options.columns)
    return merge_labels(data) if options.label_sets else data


def join(first: Dataset, second: Dataset) -> Dataset:
    """Both sets' rows, one after the other; only columns that both have are kept."""
    shared = [name for name in first.extra if name in second.extra]
    return replace(
        first,
        pairs=[*first.pairs, *second.pairs],
        lines=[*first.lines, *second.lines],
        extra={name: [*first.extra[name], *second.extra[name]] for name in shared},
        labels=[*first.labels, *second.labels],
        scores=np.concatenate([first.scores, second.scores]),
        word_columns=(
            [*first.word_columns[0], *second.word_columns[0]],
            [*first.word_columns[1], *second.word_columns[1]],
        ),
        group_column=first.group_column if first.group_column == second.group_column else None,
    )


def merge_labels(data: Dataset) -> Dataset:
    """Each pair once, its labels joined by tabs."""
    if data.kind != "relations":
        raise UsageError("--label-sets is for labels, and this data set holds ratings; remove it")
    by_pair = data.by_pair()
    merged = data.select([rows[0] for rows in by_pair.rows])
    return replace(merged, labels=["\t".join(sorted(labels)) for labels in by_pair.labels])


def row_words(rows: Rows) -> tuple[list[str], list[str]]:
    """First and second words, the same if the corpus takes them for the same (vein, veins)."""
    names = {word: str(target or word) for word, target in rows.matrix.resolved.items()}
    return [names[w1] for w1, _ in rows.data.pairs], [names[w2] for _, w2 in rows.data.pairs]


def splits_of(rows: Rows, options: EvaluateOptions) -> list[Split]:
    """The folds that the options ask for."""
    words = row_words(rows)
    if rows.n_train is not None:
        splits = fixed_split(rows.n_train, len(rows.data) - rows.n_train)
        if options.keep_overlap:
            return splits
        apart = separate(splits, same_pairs(*words))
        if not len(apart[0].train):
            raise InputError(
                "every training row repeats a pair of the test file, so nothing is left to train on; "
                "test on other pairs, omit --test to cross-validate, or add --keep-overlap"
            )
        return apart
    groups = None
    if options.split.startswith("group:"):
        groups = rows.data.column(options.split.removeprefix("group:"))
    return make_splits(
        options.split, rows.targets, words=words, groups=groups, folds=options.folds, seed=options.seed
    )


def _evaluate(
    rows: Rows, options: EvaluateOptions, n_jobs: int | None, progress: Progress | None
) -> dict[str, Any]:
    """One cross-validation over all rows."""
    column = rows.data.group_column
    ratings = rows.data.kind == "ratings"
    groups = rows.data.column(column) if ratings and column else None
    splits, targets = splits_of(rows, options), rows.targets

    def evaluate(
        splits: Sequence[Split], conditions: Sequence[str] = options.conditions[-1:], baselines: bool = False
    ) -> Evaluation:
        return cross_validate(
            rows.matrix, rows.answers, splits, conditions, options.preset,
            kind="rating" if ratings else "labels", C=options.cost, epsilon=options.epsilon,
            transductive=options.transductive, baselines=baselines, left_out=options.left_out, groups=groups,
            group_column=column or "", n_jobs=n_jobs, progress=progress,
        )  # fmt: skip

    found = evaluate(splits, options.conditions, True)
    facts = RowFacts(rows.data.pairs, rows.data.lines, seen_together(rows.matrix))
    training = None
    if rows.n_train is not None and not ratings:
        folds = calibration_splits(targets, splits[0], same_pairs(*row_words(rows)))
        training = evaluate(folds) if folds else None
    parts = prediction_parts(found, targets, facts, options.precision, training)
    result = {**found.to_dict(), **parts}
    if options.features and len(targets) <= MOST_ROWS_FOR_FEATURES:
        curve = learning_curve(found, targets, splits, evaluate, options.seed)
        if curve:
            result["learning_curve"] = curve
    return result


def seen_together(matrix: BlockMatrix) -> list[int | None]:
    """How often each pair was seen; None if the corpus does not have one of its words."""
    return [None if lost else int(seen) for seen, lost in zip(matrix.seen, matrix.unknown, strict=True)]


def _evaluate_subsets(
    rows: Rows, by: str, options: EvaluateOptions, n_jobs: int | None, progress: Progress | None
) -> dict[str, Any]:
    """A data set that is divided into tasks of its own (true or false within each relation): one evaluation each."""
    values = rows.data.column(by)
    parts: dict[str, Any] = {}
    for name in dict.fromkeys(values):
        index = [row for row, value in enumerate(values) if value == name]
        try:
            parts[name] = _evaluate(rows.select(index), options, n_jobs, progress_of(name, progress))
        except InputError as error:
            raise InputError(f"{by} {name}: {error}") from error
    return cast(dict[str, Any], merge_tasks(parts, by, options.precision))


def progress_of(name: str, progress: Progress | None) -> Progress | None:
    """Progress of one of several rounds of learning, which names it."""
    if progress is None:
        return None
    return lambda what, done, total: progress(f"folds of {name}" if what == "folds" else what, done, total)


def finish_result(
    found: dict[str, Any], rows: Rows, path: str, options: EvaluateOptions, with_features: bool
) -> EvaluationResult:
    """Add what was evaluated, on what, and why."""
    data = rows.data
    notes = [*tuned_on_note(options.preset, data.pairs), *found["notes"], *_overlap_note(rows, options)]
    if data.kind == "relations" and data.is_multilabel and not data.group_column and not options.label_sets:
        notes.append("Some pairs have two labels in the data; every row counts by itself (see --label-sets).")
    notes += [f"There are {similar_labels_sentence(group)}." for group in similar_labels(data.labels)]
    notes += outside_note(rows.matrix)
    if with_features and len(data) > MOST_ROWS_FOR_FEATURES:
        notes.append(
            f"With more than {MOST_ROWS_FOR_FEATURES:,} rows, no learning curve and no strongest features are "
            "computed; bagpack train --no-scores, then bagpack explain, shows what a model has learned."
        )
    split = "test file" if rows.n_train is not None else options.split
    settings = {**found["settings"], "split": split, "seed": options.seed}
    labels = {"labels": data.label_counts} if data.kind == "relations" else {}
    result = with_facts({**found, "settings": settings, "notes": notes}, rows.matrix, path, **labels)
    if with_features and len(data) <= MOST_ROWS_FOR_FEATURES:
        svm = SvmSettings(options.cost, options.epsilon)
        model = fit_counts(rows.matrix, rows.targets, options.conditions[-1], options.preset, svm)
        result["features"] = features_of(model)
    if options.features:
        _add_sentences(cast(EvaluationResult, result), rows.matrix)
    return cast(EvaluationResult, without_nan(result))


def _overlap_note(rows: Rows, options: EvaluateOptions) -> list[str]:
    """How many training rows repeat a pair of the test file."""
    if rows.n_train is None:
        return []
    (split,) = splits_of(rows, replace(options, keep_overlap=False))
    if not split.dropped:
        return []
    repeat, were = ("repeats", "was") if split.dropped == 1 else ("repeat", "were")
    rows_that = f"{split.dropped:,} of {rows.n_train:,} training rows {repeat} a pair of the test file"
    if options.keep_overlap:
        return [f"{rows_that} and {were} kept (--keep-overlap), so the scores are optimistic."]
    return [
        f"{rows_that} (in either order, or with the same lemmas) and {were} excluded; --keep-overlap keeps such rows."
    ]


def _add_sentences(result: EvaluationResult, matrix: BlockMatrix) -> None:
    """Lines of the store, if it can still be found."""
    source = counted_source(matrix)
    if source is not None:
        windows = matrix.settings.windows
        add_sentences(result, lambda w1, w2: source.contexts(w1, w2, limit=SENTENCES, windows=windows))


def features_of(model: LinearModel) -> dict[str, list[Feature]]:
    """The features with the largest weights for each label of a model."""
    labels = model.classes or (None,)
    return {
        "rating" if label is None else str(label): [
            {"name": name, "weight": weight} for name, weight in model.strongest(label, STRONGEST)
        ]
        for label in labels
    }
