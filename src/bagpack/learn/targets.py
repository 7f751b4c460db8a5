"""Targets of training: labels or ratings, checked and encoded once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError
from bagpack.numbers import many

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.types import Answers, Bools, Floats, Index

MOST_LABELS = 1_000
Kind = Literal["binary", "multiclass", "rating"]


@dataclass(frozen=True)
class Targets:
    """Encoded targets of n pairs.

    ``columns`` has one bool column per SVM: one for two classes (true: the second), one per class otherwise.
    ``codes`` are class numbers, ``ratings`` the raw numbers.
    """

    kind: Kind
    classes: tuple[Any, ...]
    columns: Bools
    codes: Index
    ratings: Floats

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


def _column(y: Answers) -> Answers:
    """A data frame or series as an array; a single column as one value per pair."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif hasattr(y, "__array__") and not isinstance(y, np.ndarray):
        y = np.asarray(y)
    if isinstance(y, np.ndarray) and y.dtype.kind == "c":
        raise InputError("Complex data not supported: y holds complex numbers")
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; y[:, 0] is used",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y[:, 0]
    if isinstance(y, np.ndarray) and y.ndim > 1:
        raise InputError(f"y has the shape {y.shape}; one answer per pair is needed")
    return y


def check_ratings(y: Answers) -> Floats:
    """Ratings as floats, every one of them a number."""
    y = _column(y)
    try:
        ratings = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the ratings are not all numbers: correct or drop the rows that are not") from None
    if ratings.ndim != 1:
        raise InputError(f"ratings must be one number per pair, and these have the shape {ratings.shape}")
    bad = np.flatnonzero(~np.isfinite(ratings))
    if len(bad):
        others = f", and {many(len(bad) - 1, 'more row')}" if len(bad) > 1 else ""
        raise InputError(
            f"the rating of row {bad[0] + 1} is not a finite number (NaN or infinity){others}: fill it in, or drop the "
            f"row"
        )
    if not len(ratings):
        raise InputError("there is no rated pair to learn from")
    return ratings


def _kind_of(label: object) -> str:
    if isinstance(label, (bool, np.bool_)):
        return "true or false"
    if isinstance(label, (int, float, np.number)):
        return "numbers"
    return "text" if isinstance(label, str) else type(label).__name__


def _sorted_labels(labels: Sequence[Any]) -> tuple[Any, ...]:
    kinds = sorted({_kind_of(label) for label in labels})
    if len(kinds) > 1:
        raise InputError(
            f"the labels are of mixed types, {' and '.join(kinds)}: write them all as one type, such as text"
        )
    try:
        return tuple(sorted(set(labels)))
    except TypeError:
        raise InputError(
            f"labels of type {kinds[0]} cannot be sorted; write them as text or numbers"
        ) from None


def python_value(label: Any) -> Any:
    """A scalar of numpy as Python's own type."""
    return label.item() if isinstance(label, np.generic) else label


def _check_labels(labels: Sequence[Any]) -> None:
    """Raise for what is no label."""
    missing = [row for row, label in enumerate(labels) if label is None or label != label]  # noqa: PLR0124
    if missing:
        others = f", and {many(len(missing) - 1, 'more row')}" if len(missing) > 1 else ""
        raise InputError(
            f"row {missing[0] + 1} has no label, or an empty one{others}: fill it in, or drop the row"
        )
    several = [
        row
        for row, label in enumerate(labels)
        if isinstance(label, set | frozenset | list | tuple | np.ndarray)
    ]
    if several:
        raise InputError(
            f"row {several[0] + 1} has a collection of labels; give each pair one label, in a row of its own"
        )
    uneven = [label for label in labels if isinstance(label, float) and not label.is_integer()]
    if uneven:
        raise InputError(
            f"Unknown label type: continuous, such as {uneven[0]}; labels name classes, and ratings are for "
            f"RatingRegressor"
        )


def encode_targets(y: Answers, *, kind: Literal["labels", "rating"] = "labels") -> Targets:
    """Encode ``y``: one label per pair, or ratings.

    Examples
    --------
    >>> encode_targets(["part", "kind", "kind"]).classes
    ('kind', 'part')
    """
    if isinstance(y, Targets):
        return y
    if kind == "rating":
        ratings = check_ratings(y)
        n = len(ratings)
        return Targets("rating", (), np.zeros((n, 0), bool), np.full(n, -1, np.intp), ratings)
    if isinstance(y, str | bytes) or not (hasattr(y, "__iter__") or hasattr(y, "__array__")):
        raise InputError(f"y is {y!r}; one label per pair is needed")
    labels = [python_value(value) for value in _column(y)]
    if not labels:
        raise InputError("there is no labelled pair to learn from")
    _check_labels(labels)
    names = _sorted_labels(labels)
    if len(names) > MOST_LABELS:
        raise InputError(
            f"there are {len(names):,} different labels for {len(labels):,} pairs, and at most {MOST_LABELS:,} can be "
            f"learned: each is an SVM with a weight per feature. Check that the right column is the label, or keep the "
            f"labels with the most pairs"
        )
    if len(names) < 2:
        raise InputError(f"every pair has the label {names[0]!r} (1 class): at least two labels are needed")
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
    if targets.kind != "rating" and len(np.unique(targets.codes)) < 2:
        only = targets.classes[targets.codes[0]]
        n = len(targets)
        all_have = f"all {n} pairs among {where} have" if n > 1 else f"the only pair among {where} has"
        raise InputError(f"{all_have} the label {only!r}: two are needed")


def decode(kind: Kind, decisions: Floats) -> Answers:
    """Class codes or ratings from decision values, pairs × outputs.

    Of equal values the first class wins, and so it does for 0 of two.
    """
    if kind == "binary":
        return (decisions[:, 0] > 0).astype(np.intp)
    if kind == "multiclass":
        return np.asarray(decisions.argmax(axis=1))
    return decisions[:, 0]


def chosen_labels(kind: Kind, decisions: Floats) -> Bools:
    """Which classes `decode` gives each pair, pairs × classes."""
    if kind == "binary":
        return np.hstack([decisions <= 0, decisions > 0])
    return np.asarray(decode(kind, decisions)[:, None] == np.arange(decisions.shape[1]))
