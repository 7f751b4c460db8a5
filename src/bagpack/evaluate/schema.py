"""The result of an evaluation: what ``--json`` prints, what a report is made from, and what it embeds.

This is the only declaration of that data; docs/evaluation.md describes it for users. Every key but ``kind`` and
``conditions`` may be missing, and reports omit what is not there. Fractions are fractions (0.843); reports show them as
percentages. ``format`` is raised whenever the meaning of a key changes or a key is removed.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NotRequired, Required, TypedDict, cast

import numpy as np

from bagpack.errors import InputError

RESULT_FORMAT = 2
Kind = Literal["relations", "ratings", "analogies", "synonyms"]
KINDS: tuple[Kind, ...] = ("relations", "ratings", "analogies", "synonyms")


class Score(TypedDict):
    """A score over folds (rounds, groups): mean, the bounds of its 95 % interval, and each fold's value."""

    mean: float | None
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    folds: NotRequired[list[float | None]]


class Condition(TypedDict):
    """A condition (v1v2, v12, v1v2v12) or a baseline (majority, words-only) with its scores by metric."""

    name: str
    metrics: dict[str, Score]
    zero_rows: NotRequired[int]


class Fold(TypedDict):
    """Number of rows of a fold, and the seconds it took."""

    name: str
    train: int
    test: int
    dropped: int
    seconds: float


class Comparison(TypedDict):
    """A paired comparison of two conditions over the same folds: ``a`` minus ``b``."""

    a: str
    b: str
    metric: str
    difference: float | None
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    p: NotRequired[float | None]
    p_plain: NotRequired[float | None]
    test: NotRequired[str]


class Confusion(TypedDict):
    """Counts of rows by true label (down) and predicted label (across), for one condition."""

    condition: str
    labels: list[str]
    counts: list[list[int]]


class BreakdownRow(TypedDict):
    """One bucket or group: its size and each condition's score there (None where there is none)."""

    name: str
    n: int
    scores: dict[str, float | None]


class Breakdown(TypedDict):
    """A metric by bucket of co-occurrence frequency (0, 1–9, 10–99, 100+) or by group (verb, relation)."""

    metric: str
    rows: list[BreakdownRow]
    column: NotRequired[str]


class Feature(TypedDict):
    """A feature's stable name (``v12:-betw:such as``) and its weight in the model for one label."""

    name: str
    weight: float


class Reference(TypedDict):
    """Published numbers for comparison: condition → metric → value."""

    name: str
    scores: dict[str, dict[str, float]]


class QuestionAnswer(TypedDict):
    """A multiple-choice question, its answer (None if unknown), and what each condition picked."""

    id: str
    stem: str | list[str]
    choices: list[Any]
    answer: int | None
    picked: dict[str, int]
    complete: dict[str, bool]


class CorpusFacts(TypedDict, total=False):
    """The corpus that was counted."""

    path: str
    tokens: int
    sentences: int
    documents: int
    types: int
    content_hash: str


class DataFacts(TypedDict, total=False):
    """The data set, and how much of it the corpus has. Lists may be truncated; the numbers are complete."""

    path: str
    rows: int
    questions: int
    pairs: int
    words: int
    duplicates: int
    equal_words: int
    labels: dict[str, int]
    unknown_words: int
    unknown_word_list: list[str]
    unseen_pairs: int
    capped_words: int
    capped_word_list: list[str]
    capped_pairs: int
    capped_pair_list: list[str]


class RelationScore(TypedDict):
    """One relation of balanced rounds: its pairs, the size of each sample, and the AUC of each condition."""

    relation: str
    positive: int
    sampled: int
    auc: dict[str, Score]


class Sentence(TypedDict):
    """A line of the concordance: its document and its seven pieces (before, left, w, between, w, right, after)."""

    document: str
    pieces: list[str]


class Prediction(TypedDict):
    """A row of the data set with its out-of-fold prediction by the last condition.

    ``label`` and ``predicted`` are labels (label sets joined by ", ") or ratings; ``predicted`` is None for rows that
    no fold tested. ``probability`` is the calibrated probability of the predicted label, ``label_probability`` that of
    the given one; both are None for ratings. ``abstained``: the probability is below the threshold of ``abstention``,
    or a word is unknown. ``together`` is how often the pair was seen; None if a word is unknown.
    """

    line: int
    w1: str
    w2: str
    label: str | float
    predicted: str | float | None
    fold: str | None
    probability: float | None
    label_probability: float | None
    abstained: bool | None
    together: int | None
    sentences: NotRequired[list[Sentence]]


class ReliabilityBin(TypedDict):
    """Predictions of similar probability: how many, their mean probability, and the share that is right."""

    n: int
    probability: float
    accuracy: float


class Reliability(TypedDict):
    """Whether probabilities are what they say: bins, and the expected calibration error (mean gap over rows)."""

    bins: list[ReliabilityBin]
    error: float


class Abstention(TypedDict):
    """What happens if predictions below ``threshold`` are withheld.

    The threshold of each fold is chosen on the other folds for the wanted ``precision``; ``threshold`` is the one of
    all folds together. ``coverage`` is the share of rows that are answered, ``precision_found`` the share of those
    that is right.
    """

    precision: float
    threshold: float | None
    coverage: float
    precision_found: float | None


class CurvePoint(TypedDict):
    """The main score with a part of the training rows."""

    rows: int
    score: Score


class LearningCurve(TypedDict):
    """The main score of one condition by number of training rows.

    ``gain`` is what the last doubling of the training rows brought (as a `Comparison` over the folds), ``next_gain``
    what another doubling would bring if gains keep shrinking at the same rate.
    """

    condition: str
    metric: str
    points: list[CurvePoint]
    gain: Comparison
    next_gain: float | None


class EvaluationResult(TypedDict, total=False):
    """Everything a report can show.

    ``suspicious`` are the numbers of the ``predictions`` whose label the model contradicts with confidence, the surest
    first.
    """

    format: int
    kind: Required[Kind]
    conditions: Required[list[Condition]]
    rows: int
    tested: int
    dropped: int
    transductive: bool
    title: str
    created: str
    main_metric: str
    corpus: CorpusFacts
    data: DataFacts
    baselines: list[Condition]
    references: list[Reference]
    comparisons: list[Comparison]
    folds: list[Fold]
    confusion: Confusion
    buckets: Breakdown
    groups: Breakdown
    features: dict[str, list[Feature]]
    relations: list[RelationScore]
    answers: list[QuestionAnswer]
    predictions: list[Prediction]
    suspicious: list[int]
    reliability: Reliability
    abstention: Abstention
    learning_curve: LearningCurve
    notes: list[str]
    settings: dict[str, Any]
    versions: dict[str, str]
    command: str


def check_result(data: object, source: str) -> EvaluationResult:
    """Raise unless ``data`` is the result of an evaluation in the current format."""
    if (
        not isinstance(data, dict)
        or data.get("kind") not in KINDS
        or not isinstance(data.get("conditions"), list)
        or not data["conditions"]
    ):
        raise InputError(
            f"{source} is not the result of an evaluation; make one with: bagpack evaluate --json"
        )
    if data.get("format", RESULT_FORMAT) != RESULT_FORMAT:
        raise InputError(
            f"{source} is a result of format {data['format']}, and this version reads {RESULT_FORMAT}; "
            f"evaluate again, or install the version that wrote it"
        )
    return cast(EvaluationResult, data)


def without_nan(value: object) -> object:
    """The same data for JSON: None for NaN and the infinities, Python's numbers for numpy's."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value
