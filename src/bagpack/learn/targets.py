"""What is to be learned: labels (one or several per pair) or ratings, checked and encoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.types import Answers, Bools, Floats, Index

Kind = Literal["binary", "multiclass", "multilabel", "rating"]


@dataclass(frozen=True)
class Targets:
    """Encoded targets of n pairs.

    ``columns`` has one bool column per machine: one for two classes (true: the second), one per class or
    label otherwise. ``codes`` are class numbers (−1 for several labels per pair), ``ratings`` the raw
    numbers.
    """

    kind: Kind
    classes: tuple[Any, ...]
    columns: Bools
    codes: Index
    ratings: Floats
    as_sets: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: ArrayLike | slice) -> Targets:
        """The targets at ``rows``; the classes stay those of the whole set."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
        return replace(self, columns=self.columns[rows], codes=self.codes[rows], ratings=self.ratings[rows])

    def one_hot(self) -> Bools:
        """Rows × classes, also for two classes."""
        if self.kind == "binary":
            return np.column_stack([~self.columns[:, 0], self.columns[:, 0]])
        return self.columns


def check_ratings(y: Answers) -> Floats:
    """Ratings as floats, every one of them a number."""
    try:
        ratings = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the ratings are not all numbers: mend or drop the rows that are not") from None
    if ratings.ndim != 1:
        raise InputError(f"ratings must be one number per pair, and these have the shape {ratings.shape}")
    bad = np.flatnonzero(~np.isfinite(ratings))
    if len(bad):
        raise InputError(
            f"{len(bad)} of {len(ratings)} ratings are not finite numbers, the first in row {bad[0] + 1}: "
            "fill them in or drop those rows"
        )
    if not len(ratings):
        raise InputError("there is no rated pair to learn from")
    return ratings


def _is_label_set(value: object) -> bool:
    return isinstance(value, (set, frozenset, list, tuple))


def _sorted_labels(labels: set[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(labels, key=lambda label: (type(label).__name__, str(label))))


def _multilabel(columns: Bools, classes: tuple[Any, ...], as_sets: bool) -> Targets:
    n = len(columns)
    return Targets("multilabel", classes, columns, np.full(n, -1, np.intp), np.full(n, np.nan), as_sets)


def encode_targets(
    y: Answers, *, kind: Literal["labels", "rating"] = "labels", classes: Sequence[Any] | None = None
) -> Targets:
    """Encode ``y``: one label per pair, a collection of labels per pair, an indicator matrix, or ratings.

    Examples
    --------
    >>> encode_targets(["part", "kind", "kind"]).classes
    ('kind', 'part')
    >>> encode_targets([{"kind"}, {"kind", "part"}, set()]).columns.astype(int).tolist()
    [[1, 0], [1, 1], [0, 0]]
    """
    if isinstance(y, Targets):
        return y
    if kind == "rating":
        ratings = check_ratings(y)
        n = len(ratings)
        return Targets("rating", (), np.zeros((n, 0), bool), np.full(n, -1, np.intp), ratings)
    values = y if isinstance(y, np.ndarray) else list(y)
    if len(values) == 0:
        raise InputError("there is no labelled pair to learn from")
    if isinstance(values, np.ndarray) and values.ndim == 2:
        names = tuple(classes) if classes is not None else tuple(range(values.shape[1]))
        return _multilabel(values.astype(bool), names, as_sets=False)
    if _is_label_set(values[0]):
        found = {label for labels in values for label in labels}
        names = tuple(classes) if classes is not None else _sorted_labels(found)
        if not names:
            raise InputError("no pair has a label: nothing can be learned")
        position = {label: k for k, label in enumerate(names)}
        columns = np.zeros((len(values), len(names)), dtype=bool)
        for i, labels in enumerate(values):
            for label in labels:
                columns[i, position[label]] = True
        return _multilabel(columns, names, as_sets=True)
    labels = [value.item() if isinstance(value, np.generic) else value for value in values]
    missing = [i for i, label in enumerate(labels) if label is None or label != label]  # noqa: PLR0124
    if missing:
        raise InputError(f"{len(missing)} pairs have no label, the first in row {missing[0] + 1}")
    names = tuple(classes) if classes is not None else _sorted_labels(set(labels))
    if len(names) < 2:
        raise InputError(
            f"all {len(labels)} pairs have the label {names[0]!r}: at least two labels are needed"
        )
    position = {label: k for k, label in enumerate(names)}
    codes = np.array([position[label] for label in labels], dtype=np.intp)
    nothing = np.full(len(codes), np.nan)
    if len(names) == 2:
        return Targets("binary", names, (codes == 1)[:, None], codes, nothing)
    return Targets("multiclass", names, codes[:, None] == np.arange(len(names)), codes, nothing)


def check_trainable(targets: Targets, where: str = "the training rows") -> None:
    """Raise where nothing can be learned from these rows."""
    if not len(targets):
        raise InputError(f"no pair is left among {where}")
    if targets.kind in ("binary", "multiclass") and len(np.unique(targets.codes)) < 2:
        only = targets.classes[targets.codes[0]]
        raise InputError(f"all {len(targets)} pairs among {where} have the label {only!r}: two are needed")
    if targets.kind == "multilabel" and not targets.columns.any():
        raise InputError(f"no pair among {where} has a label")


def decode(targets: Targets, decisions: Floats) -> Answers:
    """Class codes (labels), bool columns (several labels) or ratings from decision values [n × outputs]."""
    return decode_kind(targets.kind, decisions)


def decode_kind(kind: Kind, decisions: Floats) -> Answers:
    """As `decode`, from the kind alone. Of equal values the first class wins, and so it does for 0 of two."""
    if kind == "binary":
        return (decisions[:, 0] > 0).astype(np.intp)
    if kind == "multiclass":
        return np.asarray(decisions.argmax(axis=1))
    if kind == "multilabel":
        return decisions > 0
    return decisions[:, 0]


def label_counts(targets: Targets) -> dict[str, int]:
    """How many pairs carry each label."""
    if targets.kind == "rating":
        return {}
    if targets.kind == "multilabel":
        return dict(zip(map(str, targets.classes), targets.columns.sum(axis=0).tolist(), strict=True))
    counted = Counter(targets.codes.tolist())
    return {str(name): counted.get(k, 0) for k, name in enumerate(targets.classes)}
