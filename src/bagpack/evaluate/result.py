"""What an evaluation found: one dataclass for every kind, from which JSON, the terminal and the report are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from bagpack.numbers import metric_info

FORMAT = 4  # raised whenever the meaning of a key of the JSON changes, or a key is removed
HIDDEN = {"json": False}  # metadata of a field with an array or the like, which JSON does not have


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval and the value of each fold; NaN where there is none."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    folds: tuple[float, ...] = ()


def interval(values: Sequence[float], metric: str = "", *, test_share: float = 0.0) -> Score:
    """Mean ± t·s·√(1/k + test_share) over the k values that are numbers, within the bounds of ``metric``.

    Rounds over the same rows, and differences between folds that share training rows, are not independent; for them
    ``test_share`` is n_test / n_train of a fold (the corrected resampled t interval of Nadeau and Bengio, 2003).
    """
    found = np.array([value for value in values if math.isfinite(value)])
    folds = tuple(float(value) for value in values)
    mean, k = float(found.mean()) if len(found) else math.nan, len(found)
    if k < 2:
        return Score(mean, folds=folds)
    half = float(stdtrit(k - 1, 0.975) * found.std(ddof=1) * math.sqrt(1 / k + test_share))
    bounds = metric_info(metric)
    # The mean may pass a bound by a rounding error, and the interval must contain it.
    low, high = max(mean - half, min(bounds.least, mean)), min(mean + half, max(bounds.most, mean))
    return Score(mean, low, high, folds)


def correlation_interval(rho: float, n: int) -> Score:
    """A rank correlation over n rows: Fisher's z with Bonett and Wright's variance (1 + ρ²/2)/(n − 3)."""
    if not math.isfinite(rho) or n < 4 or abs(rho) >= 1:
        return Score(rho)
    half = float(ndtri(0.975)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return Score(rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half))


@dataclass(frozen=True)
class Condition:
    """A condition (v1v2, v12, v1v2v12) or a baseline with its scores by metric, and its answers.

    ``nonzero`` are its scores without the rows that have an all-zero vector, ``zero_rows`` of them, if there are any.
    ``decisions`` (rows × outputs) and ``predicted`` (class codes or ratings) have a row per pair: NaN or −1 where no
    fold tested it. Of questions, ``picked`` has the choice of each, ``credit`` its point (ties share it), ``complete``
    whether all of its pairs have a vector.
    """

    name: str
    metrics: dict[str, Score]
    zero_rows: int | None = None
    nonzero: dict[str, Score] = field(default_factory=dict)
    decisions: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    predicted: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    picked: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    credit: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    complete: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)


@dataclass
class Prediction:
    """A row of the data set with its out-of-fold prediction by the last condition.

    ``predicted`` is None for rows that no fold tested, ``together`` None if a word is unknown. ``abstained``: the
    probability is below the threshold, or a word is unknown. ``sentences`` are lines of the concordance, each with its
    ``document`` and its seven ``pieces`` (before, left, w, between, w, right, after).
    """

    line: int
    w1: str
    w2: str
    label: str | float
    predicted: str | float | None = None
    fold: str | None = None
    probability: float | None = None
    label_probability: float | None = None
    abstained: bool | None = None
    together: int | None = None
    sentences: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation: ``kind`` is relations, ratings, analogies or synonyms.

    `cross_validate` and the question solvers fill the first part; a run over files adds the rest. The parts are those
    of the JSON, which docs/evaluation.md describes. ``fold_of`` has the number of the fold that tested each row, or −1.
    """

    kind: str
    main_metric: str
    conditions: list[Condition]
    baselines: list[Condition] = field(default_factory=list)
    fold_of: Any = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    rows: int = 0
    tested_rows: int = 0
    dropped: int = 0
    confusion: dict[str, Any] = field(default_factory=dict)
    buckets: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # What a run over files adds.
    command: str = ""
    corpus: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    predictions: list[Prediction] = field(default_factory=list)
    suspicious: list[int] = field(default_factory=list)
    reliability: dict[str, Any] = field(default_factory=dict)
    abstention: dict[str, Any] = field(default_factory=dict)
    learning_curve: dict[str, Any] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def tested(self) -> Any:
        return np.asarray(self.fold_of >= 0)

    def __getitem__(self, name: str) -> Condition:
        return {result.name: result for result in (*self.conditions, *self.baselines)}[name]

    @property
    def metric_names(self) -> list[str]:
        """Every metric of the conditions, the main one first."""
        names = [metric for condition in self.conditions for metric in condition.metrics]
        return list(dict.fromkeys([self.main_metric, *names]))

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without the arrays of the rows and without what is empty."""
        found = {"format": FORMAT, **plain(self)}
        found["tested"] = found.pop("tested_rows")
        kept = ("baselines", "notes", "settings")
        return {name: value for name, value in found.items() if value not in ([], {}, "") or name in kept}


def plain(value: Any) -> Any:
    """Dataclasses, numpy's numbers and NaN as JSON has them: dictionaries, numbers, null."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = [one.name for one in fields(value) if one.metadata.get("json", True)]
        items = ((name, getattr(value, name)) for name in shown)
        return {name: plain(item) for name, item in items if name != "sentences" or item}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
