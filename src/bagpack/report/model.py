"""What a report is made from: the result of an evaluation as plain data, as ``evaluate --json`` prints it.

Nothing here computes. Whoever evaluates fills in what it has; every part but ``kind`` and ``conditions`` may
be missing, and the report leaves out what is not there. Fractions are fractions (0.843); the report writes
them as percentages where that is customary.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, Literal, NotRequired, Required, TypedDict, cast

import numpy as np

from bagpack import wording
from bagpack.errors import InputError

RESULT_FORMAT = 1
Kind = Literal["relations", "ratings", "analogies", "synonyms"]
KINDS: tuple[Kind, ...] = ("relations", "ratings", "analogies", "synonyms")
_EMBEDDED = re.compile(r'<script type="application/json" id="bagpack-result">(.*?)</script>', re.DOTALL)


class Score(TypedDict):
    """A score over folds (or rounds): mean, the bounds of its 95 % interval, and each fold's value."""

    mean: float | None
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    folds: NotRequired[list[float | None]]


class Condition(TypedDict):
    """A condition (v1v2, v12, v1v2v12) or a baseline (majority, words-only) with its scores by metric."""

    name: str
    metrics: dict[str, Score]


class Comparison(TypedDict):
    """A paired comparison of two conditions over the same folds: ``a`` minus ``b``."""

    a: str
    b: str
    metric: str
    difference: float
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    p: NotRequired[float | None]
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
    """Published numbers to stand beside ours: condition → metric → value."""

    name: str
    scores: dict[str, dict[str, float]]


class QuestionAnswer(TypedDict):
    """A multiple-choice question, its answer (None where nobody says), and what each condition picked."""

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
    """The data set, and what the corpus knows of it. Lists may be cut; the numbers are the whole."""

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


class EvaluationResult(TypedDict, total=False):
    """Everything a report can show."""

    format: int
    kind: Required[Kind]
    conditions: Required[list[Condition]]
    rows: int
    tested: int
    title: str
    created: str
    main_metric: str
    corpus: CorpusFacts
    data: DataFacts
    baselines: list[Condition]
    references: list[Reference]
    comparisons: list[Comparison]
    confusion: Confusion
    buckets: Breakdown
    groups: Breakdown
    features: dict[str, list[Feature]]
    answers: list[QuestionAnswer]
    notes: list[str]
    settings: dict[str, Any]
    versions: dict[str, str]
    command: str


def check_result(data: object, source: str) -> EvaluationResult:
    """Make sure that ``data`` is an evaluation's result of a format that is known here."""
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


def read_result(path: str | Path) -> EvaluationResult:
    """Read a result from the JSON of ``evaluate --json``, or back out of an HTML report."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not UTF-8 text, so it is neither a result nor a report; check the path"
        ) from None
    embedded = _EMBEDDED.search(text)
    try:
        data = json.loads(embedded[1] if embedded else text)
    except ValueError:
        data = None
    return check_result(data, str(path))


def main_metric(result: EvaluationResult) -> str:
    """The metric that the headline and the plot show: as said, or the first condition's first."""
    named = result.get("main_metric")
    return named or next(iter(result["conditions"][0]["metrics"]), "score")


def metric_names(result: EvaluationResult) -> list[str]:
    """Every metric of the conditions, the main one first, then in the order given."""
    names = [metric for condition in result["conditions"] for metric in condition["metrics"]]
    return list(dict.fromkeys([main_metric(result), *names]))


def label_of_metric(result: EvaluationResult, metric: str, unit: bool = True) -> str:
    """A metric as a table of this result names it, with the labels that it leaves out."""
    left_out = result.get("settings", {}).get("left_out") or ()
    return wording.metric_label(metric, [str(label) for label in left_out], unit)


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
