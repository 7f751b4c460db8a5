"""The whole way of an evaluation: read → count → split → cross-validate → predictions → learning curve → facts."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from bagpack._version import __version__
from bagpack.basis import DEFAULT_B, Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.evaluate import questions as choice
from bagpack.evaluate.crossval import CONDITIONS, cross_validate, learning_curve
from bagpack.evaluate.result import Evaluation, Prediction
from bagpack.evaluate.rows import PRECISION, add_predictions, add_sentences
from bagpack.evaluate.splits import Split, fixed_split, make_splits, same_pairs, separate
from bagpack.learn.fitting import hold_out
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import Targets, encode_targets
from bagpack.parallel import progress
from bagpack.sources import find_store, open_source
from bagpack.tasks.checks import similar_labels, similar_labels_sentence
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Dataset, distinct_words, read_dataset
from bagpack.tasks.questions import has_questions, read_questions
from bagpack.vectors.counts import Pair, PairCounts, count_cached
from bagpack.vectors.storage import is_matrix

LISTED = 50  # names that a result lists; the numbers are always whole
MOST_ROWS_FOR_CURVE = 20_000  # a learning curve takes as long as the folds


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
    C: float | None = None  # that of both presets, 1
    columns: Mapping[str, str] | None = None
    details: bool = True  # the learning curve, and sentences of mistakes
    precision: float | None = None  # of the answers that are not withheld
    counting: CountOptions = field(default_factory=CountOptions)

    def __post_init__(self) -> None:
        if self.precision is not None and not 0 < self.precision <= 1:
            raise UsageError(f"--precision {self.precision:g} is not above 0 and up to 1; give such a share")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed} is negative; give an integer from 0")
        if self.folds is not None and self.folds < 2:
            raise UsageError(f"--folds {self.folds} is too few; give at least 2")
        if not re.fullmatch("random|lexical|group:.+", self.split):
            raise UsageError(f"--split {self.split} is unknown; choose random, lexical or group:COLUMN")
        if self.test is not None and (self.split != "random" or self.folds is not None):
            raise UsageError("--test takes the place of folds; remove --split and --folds")

    @property
    def svm(self) -> SvmSettings:
        return SvmSettings() if self.C is None else SvmSettings(self.C)


@dataclass(frozen=True)
class Rows:
    """A data set ready to learn from: vectors and answers row by row, training rows first if a test file is given."""

    data: Dataset
    matrix: PairCounts
    n_train: int | None = None

    @property
    def targets(self) -> Targets:
        rated = self.data.kind == "ratings"
        return encode_targets(self.data.scores, kind="rating") if rated else encode_targets(self.data.labels)

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """First and second words, the same if the corpus takes them for the same (vein, veins)."""
        names = zip(self.matrix.targets, self.matrix.name_list, strict=True)
        shown = [str(target or name.casefold()) for target, name in names]
        first, second = self.matrix.rows[:, :2].T
        return [shown[name] for name in first], [shown[name] for name in second]


def evaluate_file(source: str, path: str | TextFile, options: EvaluateOptions | None = None) -> Evaluation:
    """Evaluate the labels, ratings or questions of a file on a source of counts: a store, snippets or a matrix."""
    options = options or EvaluateOptions()
    file = read_text_file(path)
    if not has_questions(file):
        return evaluate_rows(load_rows(source, file, options), options)
    if options.test is not None or options.split != "random" or options.columns:
        raise UsageError(f"{file.name} holds questions; remove --test, --split and --columns")
    return answer_questions(source, file, options)


def load_rows(source: str, path: str | TextFile, options: EvaluateOptions, b: int = DEFAULT_B) -> Rows:
    """Read and count a data set; ``b`` is that of the task."""
    data, n_train = read_dataset(path, columns=options.columns), None
    if options.test is not None:
        other, n_train = read_dataset(options.test, columns=options.columns), len(data)
        if other.kind != data.kind:
            raise InputError(f"{data.path} holds {data.kind}, {other.path} {other.kind}; give the same kind")
        data = data.joined(other)
    learned = data.scores[:n_train]
    if learned.size and learned.min() == learned.max():
        raise InputError(f"every pair has the rating {learned[0]:g}; different ratings are needed")
    return Rows(data, matrix_of(source, data.pairs, options.counting, b), n_train)


def evaluate_rows(rows: Rows, options: EvaluateOptions) -> Evaluation:
    data, matrix, targets, last = rows.data, rows.matrix, rows.targets, options.conditions[-1]
    splits = splits_of(rows, options)
    how: dict[str, Any] = {"preset": options.preset, "svm": options.svm, "transductive": options.transductive}
    if data.group_column:
        how["groups"] = data.column(data.group_column)
    found = cross_validate(matrix, targets, splits, options.conditions, **how)
    training = None
    if rows.n_train is not None and targets.kind != "rating":
        train = splits[0].train
        held_out = hold_out(matrix[train], targets[train], last, options.preset, options.svm)
        training = None if held_out is None else (train, held_out)
    answers = data.scores.tolist() if data.kind == "ratings" else data.labels
    facts = zip(data.lines, data.pairs, answers, matrix.seen.tolist(), matrix.unknown.tolist(), strict=True)
    blank = [Prediction(line, *pair, own, together=None if lost else n) for line, pair, own, n, lost in facts]
    names, precision = [split.name for split in splits], options.precision or PRECISION
    found = add_predictions(found, targets, blank, names, precision, training)
    notes, curve = [*found.notes], {}
    notes += [f"There are {similar_labels_sentence(group)}." for group in similar_labels(data.labels)]
    if options.details and len(data) > MOST_ROWS_FOR_CURVE:
        notes.append(f"There is no learning curve for more than {MOST_ROWS_FOR_CURVE:,} rows.")
    elif options.details:
        curve = learning_curve(found, matrix, targets, splits, options.seed, **how)
    split = "test file" if rows.n_train is not None else options.split
    settings = {**found.settings, "split": split, "seed": options.seed}
    found = replace(found, notes=notes, learning_curve=curve, settings=settings)
    found = with_facts(found, matrix, data.path, labels=data.label_counts)
    if options.details and (counted := counted_source(matrix)) is not None:
        add_sentences(found, counted, matrix.settings.windows)
    return found


def splits_of(rows: Rows, options: EvaluateOptions) -> list[Split]:
    """The folds that the options ask for, or the test file as one fold."""
    if rows.n_train is None:
        column = options.split.removeprefix("group:")
        groups = rows.data.column(column) if column != options.split else None
        how: dict[str, Any] = {"groups": groups, "folds": options.folds, "seed": options.seed}
        return make_splits(options.split, rows.targets, words=rows.words, **how)
    splits = separate(fixed_split(rows.n_train, len(rows.data) - rows.n_train), same_pairs(*rows.words))
    if not len(splits[0].train):
        raise InputError("every training row repeats a pair of the test file; test on other pairs")
    return splits


def answer_questions(source: str, path: str | TextFile, options: EvaluateOptions) -> Evaluation:
    read = read_questions(path)
    if unknown := [question.line for question in read.questions if question.answer is None]:
        raise InputError(f'{read.path}:{unknown[0]}: the question has no "answer"; give each one')
    matrix = matrix_of(source, read.pairs, options.counting)
    rows = choice.question_rows([(len(q.choices), q.answer or 0) for q in read.questions], read.kind)
    corpus = None if is_matrix(Path(source)) else open_source(source).for_basis
    how: dict[str, Any] = {"corpus": corpus, "seed": options.seed, "C": options.svm.C}
    if read.kind == "analogies":
        if options.folds is not None:
            raise UsageError(f"{read.path} holds analogies, which need no folds; remove --folds")
        found = choice.solve_analogies(matrix, rows, options.conditions, options.preset, **how)
    else:
        how |= {"folds": options.folds or 10, "transductive": options.transductive}
        found = choice.solve_synonyms(matrix, rows, options.conditions, options.preset, **how)
    answers = [
        {
            "id": asked.id or f"line {asked.line}", "stem": asked.stem, "choices": list(asked.choices),
            "answer": asked.answer, "picked": {one.name: int(one.picked[i]) for one in found.conditions},
            "complete": {one.name: bool(one.complete[i]) for one in found.conditions},
        }
        for i, asked in enumerate(read.questions)
    ]  # fmt: skip
    return with_facts(replace(found, answers=answers), matrix, read.path, questions=len(read.questions))


def matrix_of(
    path: str | Path, pairs: Sequence[Pair], options: CountOptions, b: int = DEFAULT_B
) -> PairCounts:
    """The pairs' matrix; `path` is a store, snippets, or a matrix that holds the pairs already."""
    if is_matrix(Path(path)):
        if options not in (CountOptions(), CountOptions(DEFAULT_B)):
            raise UsageError(f"{path} is counted; remove -b, --basis, --limit and --windows, or name a store")
        return PairCounts.open(path).rows_of(pairs)
    source = open_source(path)
    progress()("basis", 0, 0)
    size = b if options.b is None else options.b
    basis = source.pick_basis(size) if options.basis is None else Basis.open_for(options.basis, source)
    return count_cached(source, pairs, basis, options.settings)


def counted_source(matrix: PairCounts) -> ContextSource | None:
    """The source that a matrix was counted from; None if it is not found any more, was changed or is damaged."""
    store = find_store(matrix.source_path, matrix.source_hash, matrix.place)
    with suppress(StoreError):
        if store is not None and (source := open_source(store)).content_hash == matrix.source_hash:
            return source
    return None


def corpus_facts(matrix: PairCounts) -> dict[str, Any]:
    """What a report says of the corpus; only its path and hash if it is out of reach."""
    facts: dict[str, Any] = getattr(counted_source(matrix), "info", dict)()
    sizes = ("tokens", "sentences", "documents", "types")
    known = {name: size for name, size in facts.items() if name in sizes}
    return {"path": matrix.source_path, "content_hash": matrix.source_hash, **known}


def data_facts(matrix: PairCounts, path: str) -> dict[str, Any]:
    unknown, words, pairs = matrix.unknown_words, matrix.capped_words, matrix.capped_pairs
    distinct = len(set(matrix.pairs))
    return {
        "path": path, "rows": len(matrix), "pairs": distinct, "words": len(distinct_words(matrix.pairs)),
        "duplicates": len(matrix) - distinct, "unseen_pairs": int((matrix.seen == 0).sum()),
        "unknown_words": len(unknown), "unknown_word_list": unknown[:LISTED],
        "capped_words": len(words), "capped_word_list": list(words)[:LISTED],
        "capped_pairs": len(pairs), "capped_pair_list": list(pairs)[:LISTED],
    }  # fmt: skip


def with_facts(found: Evaluation, matrix: PairCounts, path: str, **data: Any) -> Evaluation:
    """Add the corpus, the data set (and more about it), the counting settings and the versions."""
    limit = "none" if matrix.settings.limit is None else matrix.settings.limit
    counting = {"b": len(matrix.basis.unigrams), "windows": str(matrix.settings.windows), "limit": limit}
    settings, data = {**found.settings, **counting}, {**data_facts(matrix, path), **data}
    return replace(found, corpus=corpus_facts(matrix), data=data, versions=versions(), settings=settings)


def versions() -> dict[str, str]:
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"bagpack": __version__, "python": platform.python_version(), **libraries}
