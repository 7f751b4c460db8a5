"""What an evaluation found, as plain data; ``to_dict`` gives what the report and ``--json`` show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bagpack.evaluate.comparison import Comparison, Score
from bagpack.evaluate.schema import RESULT_FORMAT, without_nan
from bagpack.notebook import html_table
from bagpack.numbers import metric_label, show_interval, show_score

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints, Json


@dataclass(frozen=True)
class Fold:
    """One fold's sizes and time."""

    name: str
    train: int
    test: int
    dropped: int
    seconds: float

    def to_dict(self) -> dict[str, Json]:
        """As JSON."""
        return {**asdict(self), "seconds": round(self.seconds, 4)}


@dataclass(frozen=True)
class ConditionResult:
    """One condition's (or baseline's) scores and its out-of-fold answers.

    ``decisions`` (rows × outputs) and ``predicted`` (class codes, bool columns or ratings) have a row per
    pair; rows that no fold tested hold NaN, −1 or False.
    """

    name: str
    metrics: dict[str, Score]
    decisions: Floats
    predicted: Any
    confusion: Ints | None = None
    zero_rows: int | None = None

    def to_dict(self) -> dict[str, Json]:
        """As JSON, without the row-by-row answers."""
        out: dict[str, Json] = {
            "name": self.name,
            "metrics": {name: score.to_dict() for name, score in self.metrics.items()},
        }
        if self.zero_rows is not None:
            out["zero_rows"] = self.zero_rows
        return out


@dataclass(frozen=True)
class Bucket:
    """A part of the rows, and each condition's score there."""

    name: str
    n: int
    scores: dict[str, float]


@dataclass(frozen=True)
class Breakdown:
    """A metric by bucket."""

    metric: str
    rows: list[Bucket]
    column: str = ""

    def to_dict(self) -> dict[str, Json]:
        """As JSON."""
        out = cast("dict[str, Json]", without_nan(asdict(self)))
        return out if self.column else {name: out[name] for name in ("metric", "rows")}


@dataclass(frozen=True)
class Evaluation:
    """The result of `cross_validate`.

    ``kind`` is ``relations`` or ``ratings``; ``fold_of`` has the number of the fold that tested each row, ``units``
    that of the fold (or group) within which its rating is ranked; −1 for rows that were not tested.
    """

    kind: str
    classes: tuple[Any, ...]
    main_metric: str
    fold_of: Ints
    units: Ints
    folds: list[Fold]
    conditions: list[ConditionResult]
    baselines: list[ConditionResult]
    comparisons: list[Comparison]
    buckets: Breakdown | None
    groups: Breakdown | None
    transductive: bool
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def tested(self) -> Bools:
        """Which rows some fold tested."""
        return np.asarray(self.fold_of >= 0)

    def __getitem__(self, name: str) -> ConditionResult:
        """The condition or baseline called ``name``."""
        return {result.name: result for result in (*self.conditions, *self.baselines)}[name]

    @property
    def n_dropped(self) -> int:
        """Training rows that were dropped from folds, summed over the folds."""
        return sum(fold.dropped for fold in self.folds)

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for result in self.conditions for name in result.metrics))
        header = ["condition", *(metric_label(name) for name in names)]
        rows = [[result.name, *(_shown(result.metrics.get(name), name) for name in names)]
                for result in (*self.conditions, *self.baselines)]  # fmt: skip
        return html_table(
            f"{self.kind}: {int(self.tested.sum()):,} rows in {len(self.folds)} folds", header, rows
        )

    def to_dict(self) -> dict[str, Json]:
        """As JSON, in the form that a report is made from."""
        out: dict[str, Json] = {
            "format": RESULT_FORMAT,
            "kind": self.kind,
            "main_metric": self.main_metric,
            "conditions": [result.to_dict() for result in self.conditions],
            "baselines": [result.to_dict() for result in self.baselines],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "folds": [fold.to_dict() for fold in self.folds],
            "rows": len(self.tested),
            "tested": int(self.tested.sum()),
            "dropped": self.n_dropped,
            "transductive": self.transductive,
            "settings": self.settings,
            "notes": self.notes,
        }
        shown = next((result for result in reversed(self.conditions) if result.confusion is not None), None)
        if shown is not None and shown.confusion is not None:
            out["confusion"] = {
                "condition": shown.name,
                "labels": [str(label) for label in self.classes],
                "counts": shown.confusion.tolist(),
            }
        for name, breakdown in (("buckets", self.buckets), ("groups", self.groups)):
            if breakdown is not None:
                out[name] = breakdown.to_dict()
        return out


def _shown(score: Score | None, metric: str) -> str:
    """A score and its interval, as a table shows them."""
    if score is None:
        return ""
    interval = show_interval(score.low, score.high, metric)
    return show_score(score.mean, metric) + (f" ({interval})" if interval else "")
