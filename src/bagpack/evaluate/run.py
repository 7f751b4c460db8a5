"""The whole way of an evaluation: read → count → split → cross-validate → rows → learning curve → facts."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from bagpack._version import __version__
from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.evaluate.by_task import merge_tasks
from bagpack.evaluate.crossval import CONDITIONS, cross_validate
from bagpack.evaluate.learning_curve import learning_curve
from bagpack.evaluate.questions import question_rows, solve_analogies, solve_synonyms
from bagpack.evaluate.result import (
    Evaluation,
    Feature,
)
from bagpack.evaluate.rows import (
    PRECISION,
    RowFacts,
    add_predictions,
    add_sentences,
    calibration_splits,
)
from bagpack.evaluate.splits import Split, fixed_split, make_splits, same_pairs, separate
from bagpack.learn import LinearModel, Targets, encode_targets, fit_counts
from bagpack.learn.features import get_preset
from bagpack.learn.svm import SvmSettings
from bagpack.parallel import progress, settings
from bagpack.sources import find_store, open_source
from bagpack.tasks.checks import equal_ratings, similar_labels, similar_labels_sentence
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Dataset, distinct_words, read_dataset
from bagpack.tasks.questions import has_questions, read_questions
from bagpack.vectors.counting import count_cached
from bagpack.vectors.counts import Pair, PairCounts
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
    def cost(self) -> float:
        """C as given, or the preset's."""
        return self.C if self.C is not None else get_preset(self.preset).C


@dataclass(frozen=True)
class Rows:
    """A data set ready to learn from: vectors and answers row by row, training rows first if a test file is given."""

    data: Dataset
    matrix: PairCounts
    n_train: int | None = None

    @property
    def answers(self) -> Any:
        """The rating or label of each row."""
        return self.data.scores if self.data.kind == "ratings" else list(self.data.labels)

    @property
    def targets(self) -> Targets:
        """The answers as the learners take them."""
        return encode_targets(self.answers, kind="rating" if self.data.kind == "ratings" else "labels")

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """First and second words, the same if the corpus takes them for the same (vein, veins)."""
        matrix = self.matrix
        names = zip(matrix.targets, matrix.name_list, strict=True)
        shown = [str(target or name.casefold()) for target, name in names]
        return [shown[name] for name in matrix.rows[:, 0]], [shown[name] for name in matrix.rows[:, 1]]

    @property
    def together(self) -> list[int | None]:
        """How often each pair was seen; None if the corpus does not have one of its words."""
        seen = zip(self.matrix.seen, self.matrix.unknown, strict=True)
        return [None if lost else int(count) for count, lost in seen]

    def select(self, rows: Sequence[int]) -> Rows:
        """Some rows; the number of training rows follows."""
        index = np.asarray(rows, np.intp)
        n_train = None if self.n_train is None else int((index < self.n_train).sum())
        return Rows(self.data.select(index), self.matrix[index], n_train)


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
        raise InputError(equal_ratings(learned[0]))
    return Rows(data, matrix_of(source, data.pairs, options.counting), n_train)


def evaluate_rows(rows: Rows, options: EvaluateOptions) -> Evaluation:
    """Evaluate rows that are counted already."""
    data, matrix = rows.data, rows.matrix
    by = data.group_column if data.kind == "relations" else None
    found = _evaluate_tasks(rows, by, options) if by else _evaluate_once(rows, options)
    notes = [*found.notes, *_overlap_note(rows, found.dropped)]
    if data.kind == "relations" and data.is_multilabel and not by:
        notes.append("Some pairs have two labels in the data; every row counts by itself.")
    notes += [f"There are {similar_labels_sentence(group)}." for group in similar_labels(data.labels)]
    features: dict[str, list[Feature]] = {}
    if options.features and not by:
        if len(data) > MOST_ROWS_FOR_FEATURES:
            notes.append(
                f"With more than {MOST_ROWS_FOR_FEATURES:,} rows, no learning curve and no strongest features are "
                "computed; bagpack train --no-scores, then bagpack explain, shows what a model has learned."
            )
        else:
            progress()("model", 0, 0)
            svm = SvmSettings(options.cost, options.epsilon)
            features = features_of(
                fit_counts(matrix, rows.targets, options.conditions[-1], options.preset, svm)
            )
    split = "test file" if rows.n_train is not None else options.split
    found = replace(
        found, notes=notes, features=features,
        settings={**found.settings, "split": split, "seed": options.seed},
    )  # fmt: skip
    labels = {"labels": data.label_counts} if data.kind == "relations" else {}
    found = with_facts(found, matrix, data.path, **labels)
    if options.features and (counted := counted_source(matrix)) is not None:
        add_sentences(found, counted, matrix.settings.windows)
    return found


def _evaluate_once(rows: Rows, options: EvaluateOptions) -> Evaluation:
    """One cross-validation over all rows, its predictions, and its learning curve."""
    column = rows.data.group_column
    splits, targets = splits_of(rows, options), rows.targets
    how: dict[str, Any] = {
        "preset": options.preset, "C": options.cost, "epsilon": options.epsilon, "transductive": options.transductive
    }  # fmt: skip
    if targets.kind == "rating" and column:
        how |= {"groups": rows.data.column(column), "group_column": column}
    found = cross_validate(rows.matrix, targets, splits, options.conditions, **how)
    training = None
    if rows.n_train is not None and targets.kind != "rating":
        folds = calibration_splits(targets, splits[0], same_pairs(*rows.words))
        last = options.conditions[-1:]
        training = (
            cross_validate(rows.matrix, targets, folds, last, baselines=False, **how) if folds else None
        )
    facts = RowFacts(rows.data.pairs, rows.data.lines, rows.together)
    found = add_predictions(found, targets, facts, options.precision, training)
    if not options.features or len(targets) > MOST_ROWS_FOR_FEATURES:
        return found
    curve = learning_curve(found, rows.matrix, targets, splits, options.seed, **how)
    return replace(found, learning_curve=curve)


def splits_of(rows: Rows, options: EvaluateOptions) -> list[Split]:
    """The folds that the options ask for."""
    if rows.n_train is not None:
        splits = fixed_split(rows.n_train, len(rows.data) - rows.n_train)
        apart = separate(splits, same_pairs(*rows.words))
        if not len(apart[0].train):
            raise InputError(
                "every training row repeats a pair of the test file, so nothing is left to train on; test on other "
                "pairs, or omit --test to cross-validate"
            )
        return apart
    groups = None
    if options.split.startswith("group:"):
        groups = rows.data.column(options.split.removeprefix("group:"))
    return make_splits(
        options.split, rows.targets, words=rows.words, groups=groups, folds=options.folds, seed=options.seed
    )


def _overlap_note(rows: Rows, dropped: int) -> list[str]:
    """How many training rows repeat a pair of the test file."""
    if rows.n_train is None or not dropped:
        return []
    repeat, were = ("repeats", "was") if dropped == 1 else ("repeat", "were")
    return [
        f"{dropped:,} of {rows.n_train:,} training rows {repeat} a pair of the test file (in either order, or with the "
        f"same lemmas) and {were} excluded."
    ]


def features_of(model: LinearModel) -> dict[str, list[Feature]]:
    """The features with the largest weights for each label of a model."""
    return {
        "rating" if label is None else str(label): [
            Feature(*one) for one in model.strongest(label, STRONGEST)
        ]
        for label in model.classes or (None,)
    }


# Several tasks in one file -----------------------------------------------------------------------------------------


def _evaluate_tasks(rows: Rows, by: str, options: EvaluateOptions) -> Evaluation:
    """A data set that is divided into tasks of its own (true or false within each relation): one evaluation each."""
    values = rows.data.column(by)
    parts: dict[str, Evaluation] = {}
    for name in dict.fromkeys(values):
        index = [row for row, value in enumerate(values) if value == name]
        try:
            with settings(progress=_named(name, progress())):
                parts[name] = _evaluate_once(rows.select(index), options)
        except InputError as error:
            raise InputError(f"{by} {name}: {error}") from error
    return merge_tasks(parts, by, options.precision)


def _named(name: str, report: Callable[[str, int, int], None]) -> Callable[[str, int, int], None]:
    """Progress of one of several rounds of learning, which names it."""
    return lambda what, done, total: report(f"folds of {name}" if what == "folds" else what, done, total)


# Questions ---------------------------------------------------------------------------------------------------------


def answer_questions(source: str, path: str | Path | TextFile, options: EvaluateOptions) -> Evaluation:
    """Answer the multiple-choice questions of a file as the paper did."""
    questions = read_questions(path)
    pairs = [pair for question in questions for pair in question.pairs]
    matrix = matrix_of(source, pairs, options.counting)
    rows = question_rows([(len(q.choices), q.answer) for q in questions], questions.kind)
    how: dict[str, Any] = {"seed": options.seed, "C": options.cost}
    if questions.kind == "analogies":
        found = solve_analogies(matrix, rows, options.conditions, options.preset, **how)
    else:
        folds = options.folds or 10
        found = solve_synonyms(matrix, rows, options.conditions, options.preset, folds=folds, **how)
    answers = [
        replace(
            own, id=question.id or f"line {question.line}", stem=question.stem, choices=list(question.choices)
        )
        for own, question in zip(found.answers, questions, strict=True)
    ]
    return with_facts(replace(found, answers=answers), matrix, questions.path, questions=len(questions))


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
    facts: dict[str, Any] = {"path": matrix.source_path, "content_hash": matrix.source_hash}
    source = counted_source(matrix)
    if source is None:
        return facts
    for name in ("tokens", "sentences", "documents", "types"):
        if isinstance(source, Corpus):
            facts[name] = getattr(source, name)
        elif name in (snippets := getattr(source, "manifest", {})):
            facts[name] = int(snippets[name])
    return facts


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
