"""The whole way of an evaluation: read → count → split → cross-validate → predictions → learning curve → facts."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from bagpack._version import __version__
from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.evaluate import questions as choice
from bagpack.evaluate.crossval import CONDITIONS, cross_validate, learning_curve
from bagpack.evaluate.result import Evaluation, Feature, Prediction
from bagpack.evaluate.rows import PRECISION, add_predictions, add_sentences, calibration_splits
from bagpack.evaluate.splits import Split, fixed_split, group_codes, make_splits, same_pairs, separate
from bagpack.learn import LinearModel, Targets, encode_targets, fit_counts
from bagpack.learn.features import get_preset
from bagpack.learn.svm import SvmSettings
from bagpack.numbers import many
from bagpack.parallel import progress
from bagpack.sources import find_store, open_source
from bagpack.tasks.checks import similar_labels, similar_labels_sentence
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Dataset, distinct_words, read_dataset
from bagpack.tasks.questions import has_questions, read_questions
from bagpack.vectors.counts import Pair, PairCounts, count_cached
from bagpack.vectors.storage import is_matrix

DEFAULT_B = 1500
LISTED = 50  # names that a result lists; the numbers are always whole
STRONGEST = 12
# More rows have no learning curve and no features: they take as long as the folds.
MOST_ROWS_FOR_FEATURES = 20_000


@dataclass(frozen=True)
class CountOptions:
    """How pairs are counted when they have to be."""

    b: int | None = None  # the task's own: 1500, unless it has another
    basis: str | None = None
    settings: CountSettings = field(default_factory=CountSettings)


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of an evaluation, as the command line has them."""

    preset: str = "modern"
    conditions: tuple[str, ...] = CONDITIONS
    split: str = "random"
    folds: int | None = None
    test: str | None = None  # a file to test on, instead of folds
    seed: int = 0
    transductive: bool = False
    C: float | None = None  # the preset's own
    epsilon: float = 0.2
    columns: Mapping[str, str] | None = None
    features: bool = True  # and the learning curve, and sentences of mistakes
    precision: float = PRECISION
    counting: CountOptions = field(default_factory=CountOptions)

    def __post_init__(self) -> None:
        if not 0 < self.precision <= 1:
            raise UsageError(
                f"--precision {self.precision:g} is not a share; give a number above 0 and up to 1"
            )
        if self.test is not None and (self.split != "random" or self.folds is not None):
            raise UsageError(
                "--test takes the place of folds, so --split and --folds cannot be used; remove them"
            )

    @property
    def svm(self) -> SvmSettings:
        """The SVM's settings; C as given, or the preset's."""
        return SvmSettings(self.C if self.C is not None else get_preset(self.preset).C, self.epsilon)


@dataclass(frozen=True)
class Rows:
    """A data set ready to learn from: vectors and answers row by row, training rows first if a test file is given."""

    data: Dataset
    matrix: PairCounts
    n_train: int | None = None

    @property
    def targets(self) -> Targets:
        """The answers as the learners take them."""
        if self.data.kind == "ratings":
            return encode_targets(self.data.scores, kind="rating")
        return encode_targets(self.data.labels)

    @property
    def task_column(self) -> str | None:
        """The column whose values are tasks of their own: true or false within each relation."""
        return self.data.group_column if self.data.kind == "relations" else None

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """First and second words, the same if the corpus takes them for the same (vein, veins)."""
        matrix = self.matrix
        names = zip(matrix.targets, matrix.name_list, strict=True)
        shown = [str(target or name.casefold()) for target, name in names]
        return [shown[name] for name in matrix.rows[:, 0]], [shown[name] for name in matrix.rows[:, 1]]


# The way of an evaluation ------------------------------------------------------------------------------------------


def evaluate_file(
    source: str, path: str | Path | TextFile, options: EvaluateOptions | None = None
) -> Evaluation:
    """Evaluate the labels, ratings or questions of a file on a source of counts: a store, snippets or a matrix."""
    options = options or EvaluateOptions()
    file = read_text_file(path)
    if not has_questions(file):
        return evaluate_rows(load_rows(source, file, options), options)
    if options.test is not None or options.split != "random":
        raise UsageError(f"{file.name} holds questions, which have no --test and no --split; remove them")
    return answer_questions(source, file, options)


def load_rows(source: str, path: str | Path | TextFile, options: EvaluateOptions) -> Rows:
    """Read the data and count its pairs."""
    data = read_dataset(path, columns=options.columns)
    n_train: int | None = None
    if options.test is not None:
        other = read_dataset(options.test, columns=options.columns)
        if other.kind != data.kind:
            raise InputError(
                f"{data.path} holds {data.kind} and {options.test} {other.kind}; both must hold the same"
            )
        n_train = len(data)
        data = data.joined(other)
    learned = data.scores[:n_train]
    if learned.size and learned.min() == learned.max():
        raise InputError(
            f"every pair has the rating {learned[0]:g}; at least two different ratings are needed"
        )
    return Rows(data, matrix_of(source, data.pairs, options.counting), n_train)


def evaluate_rows(rows: Rows, options: EvaluateOptions) -> Evaluation:
    """Evaluate rows that are counted already."""
    data, matrix, targets = rows.data, rows.matrix, rows.targets
    splits = splits_of(rows, options)
    how: dict[str, Any] = {
        "preset": options.preset, "C": options.svm.C, "epsilon": options.epsilon, "transductive": options.transductive
    }  # fmt: skip
    groups: dict[str, Any] = {}
    if data.group_column and (targets.kind == "rating" or rows.task_column):
        groups = {"groups": data.column(data.group_column), "group_column": data.group_column}
    found = cross_validate(matrix, targets, splits, options.conditions, **how, **groups)
    training = None
    if rows.n_train is not None and targets.kind != "rating":
        pairs = same_pairs(*rows.words)
        folds = [fold for split in splits for fold in calibration_splits(targets, split, pairs)]
        last = options.conditions[-1:]
        training = cross_validate(matrix, targets, folds, last, baselines=False, **how) if folds else None
    found = add_predictions(
        found, targets, _blank_rows(rows), [split.name for split in splits], options.precision, training
    )
    notes, features, curve = [*found.notes, *_data_notes(rows, found.dropped)], {}, None
    if options.features and len(data) > MOST_ROWS_FOR_FEATURES:
        notes.append(
            f"With more than {MOST_ROWS_FOR_FEATURES:,} rows, no learning curve and no strongest features are "
            "computed; bagpack train --no-scores, then bagpack explain, shows what a model has learned."
        )
    elif options.features:
        curve = learning_curve(found, matrix, targets, splits, options.seed, **how, **groups)
        if not rows.task_column:
            progress()("model", 0, 0)
            features = features_of(
                fit_counts(matrix, targets, options.conditions[-1], options.preset, options.svm)
            )
    split = "test file" if rows.n_train is not None else options.split
    found = replace(
        found, notes=notes, features=features, learning_curve=curve,
        settings={**found.settings, "split": split, "seed": options.seed},
    )  # fmt: skip
    labels = {"labels": data.label_counts} if data.kind == "relations" else {}
    found = with_facts(found, matrix, data.path, **labels)
    if options.features and (counted := counted_source(matrix)) is not None:
        add_sentences(found, counted, matrix.settings.windows)
    return found


def splits_of(rows: Rows, options: EvaluateOptions) -> list[Split]:
    """The folds that the options ask for; each task of several in one file has folds of its own."""
    column = options.split.removeprefix("group:")
    groups = rows.data.column(column) if column != options.split else None
    targets, (w1, w2) = rows.targets, rows.words
    named = rows.data.column(rows.task_column) if rows.task_column else [""] * len(rows.data)
    names, codes = group_codes(named)
    found = []
    for code, name in enumerate(names):
        own = np.flatnonzero(codes == code)
        words = [w1[i] for i in own], [w2[i] for i in own]
        try:
            if rows.n_train is not None:
                n_train = int((own < rows.n_train).sum())
                splits = separate(fixed_split(n_train, len(own) - n_train), same_pairs(*words))
                if not len(splits[0].train):
                    raise InputError(
                        "every training row repeats a pair of the test file, so nothing is left to train on; test on "
                        "other pairs, or omit --test to cross-validate"
                    )
            else:
                own_groups = None if groups is None else [groups[i] for i in own]
                splits = make_splits(
                    options.split, targets[own], words=words, groups=own_groups, folds=options.folds, seed=options.seed
                )  # fmt: skip
        except InputError as error:
            raise type(error)(f"{rows.task_column} {name}: {error}" if name else str(error)) from error
        found += [
            Split(f"{name} {split.name}".lstrip(), own[split.train], own[split.test], split.dropped)
            for split in splits
        ]
    return found


def _blank_rows(rows: Rows) -> list[Prediction]:
    """The rows of the data, before anything is predicted."""
    data, matrix = rows.data, rows.matrix
    answers = data.scores.tolist() if data.kind == "ratings" else data.labels
    facts = zip(data.lines, data.pairs, answers, matrix.seen.tolist(), matrix.unknown.tolist(), strict=True)
    return [
        Prediction(line, *pair, answer, together=None if unknown else seen)
        for line, pair, answer, seen, unknown in facts
    ]


def _data_notes(rows: Rows, dropped: int) -> list[str]:
    """Sentences about the data set that qualify the scores."""
    data, notes = rows.data, []
    if rows.task_column:
        tasks = many(len(set(data.column(rows.task_column))), "task")
        notes.append(
            f"Each {rows.task_column} is a task of its own; scores are means over the folds of the {tasks}."
        )
    if rows.n_train is not None and dropped:
        repeat, were = ("repeats", "was") if dropped == 1 else ("repeat", "were")
        notes.append(
            f"{dropped:,} of {rows.n_train:,} training rows {repeat} a pair of the test file (in either order, or with "
            f"the same lemmas) and {were} excluded."
        )
    return notes + [f"There are {similar_labels_sentence(group)}." for group in similar_labels(data.labels)]


def features_of(model: LinearModel) -> dict[str, list[Feature]]:
    """The features with the largest weights for each label of a model."""
    return {
        "rating" if label is None else str(label): [
            Feature(*one) for one in model.strongest(label, STRONGEST)
        ]
        for label in model.classes or (None,)
    }


def answer_questions(source: str, path: str | Path | TextFile, options: EvaluateOptions) -> Evaluation:
    """Answer the multiple-choice questions of a file as the paper did."""
    questions = read_questions(path)
    matrix = matrix_of(source, questions.pairs, options.counting)
    rows = choice.question_rows([(len(q.choices), q.answer) for q in questions.questions], questions.kind)
    how: dict[str, Any] = {"seed": options.seed, "C": options.svm.C}
    if questions.kind == "analogies":
        found = choice.solve_analogies(matrix, rows, options.conditions, options.preset, **how)
    else:
        how |= {"folds": options.folds or 10, "transductive": options.transductive}
        found = choice.solve_synonyms(matrix, rows, options.conditions, options.preset, **how)
    answers = [
        replace(own, id=asked.id or f"line {asked.line}", stem=asked.stem, choices=list(asked.choices))
        for own, asked in zip(found.answers, questions.questions, strict=True)
    ]
    return with_facts(
        replace(found, answers=answers), matrix, questions.path, questions=len(questions.questions)
    )


# Counts and facts --------------------------------------------------------------------------------------------------


def matrix_of(path: str | Path, pairs: Sequence[Pair], options: CountOptions) -> PairCounts:
    """The pairs' matrix; `path` is a store, snippets, or a matrix that holds the pairs already."""
    if is_matrix(Path(path)):
        return PairCounts.open(path).rows_of(pairs)
    source = open_source(path)
    progress()("basis", 0, 0)
    if options.basis is None:
        basis = source.pick_basis(DEFAULT_B if options.b is None else options.b)
    else:
        basis = Basis.open_for(options.basis, source)
    return count_cached(source, pairs, basis, options.settings)


def counted_source(matrix: PairCounts) -> ContextSource | None:
    """The source that a matrix was counted from; None if it is not found any more, was changed or is damaged."""
    store = find_store(matrix.source_path, matrix.source_hash, matrix.place)
    try:
        source = None if store is None else open_source(store)
    except StoreError:
        return None
    return source if source is not None and source.content_hash == matrix.source_hash else None


def corpus_facts(matrix: PairCounts) -> dict[str, Any]:
    """What a report says of the corpus; only its path and hash if it is out of reach."""
    source, names = counted_source(matrix), ("tokens", "sentences", "documents", "types")
    if isinstance(source, Corpus):
        sizes = {name: getattr(source, name) for name in names}
    else:
        sizes = {name: own for name, own in getattr(source, "manifest", {}).items() if name in names}
    return {"path": matrix.source_path, "content_hash": matrix.source_hash, **sizes}


def data_facts(matrix: PairCounts, path: str) -> dict[str, Any]:
    """What a report says of the data set, and of what the corpus has of it."""
    unknown, words, pairs = matrix.unknown_words, matrix.capped_words, matrix.capped_pairs
    return {
        "path": path,
        "rows": len(matrix),
        "pairs": len(set(matrix.pairs)),
        "words": len(distinct_words(matrix.pairs)),
        "duplicates": len(matrix) - len(set(matrix.pairs)),
        "equal_words": sum(w1 == w2 for w1, w2 in matrix.pairs),
        "unknown_words": len(unknown),
        "unknown_word_list": unknown[:LISTED],
        "unseen_pairs": int((matrix.seen == 0).sum()),
        "capped_words": len(words),
        "capped_word_list": list(words)[:LISTED],
        "capped_pairs": len(pairs),
        "capped_pair_list": list(pairs)[:LISTED],
    }


def with_facts(found: Evaluation, matrix: PairCounts, path: str, **data: Any) -> Evaluation:
    """Add the corpus, the data set (and more about it), the counting settings and the versions."""
    counted = matrix.settings
    return replace(
        found, corpus=corpus_facts(matrix), data={**data_facts(matrix, path), **data}, versions=versions(),
        settings={
            **found.settings, "b": len(matrix.basis.unigrams), "windows": str(counted.windows),
            "limit": "none" if counted.limit is None else counted.limit,
        },
    )  # fmt: skip


def versions() -> dict[str, str]:
    """Versions that a result depends on."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"bagpack": __version__, "python": platform.python_version(), **libraries}
