"""Targets of training: labels or ratings, checked and encoded once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError
from bagpack.numbers import many

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.features import Bools, Floats, Index

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
        own = rows if isinstance(rows, slice) else np.asarray(rows)
        return replace(self, columns=self.columns[own], codes=self.codes[own], ratings=self.ratings[own])

    def one_hot(self) -> Bools:
        if self.kind == "binary":
            return np.column_stack([~self.columns[:, 0], self.columns[:, 0]])
        return self.columns


def encode_targets(y: Any, *, kind: Literal["labels", "rating"] = "labels") -> Targets:
    """Encode ``y``: one label per pair, or ratings.

    Examples
    --------
    >>> encode_targets(["part", "kind", "kind"]).classes
    ('kind', 'part')
    """
    if isinstance(y, Targets):
        return y
    y = _column(y)
    if not len(y):
        raise InputError("there is no pair to learn from")
    if kind == "rating":
        try:
            ratings = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "the ratings are not all numbers: correct or drop the rows that are not"
            ) from None
        _no_row(~np.isfinite(ratings), "has a rating that is not a finite number (NaN or infinity)")
        n = len(ratings)
        return Targets("rating", (), np.zeros((n, 0), bool), np.full(n, -1, np.intp), ratings)
    labels = [python_value(value) for value in y]
    names = _label_names(labels)
    position = {label: k for k, label in enumerate(names)}
    codes = np.array([position[label] for label in labels], dtype=np.intp)
    nothing = np.full(len(codes), np.nan)
    if len(names) == 2:
        return Targets("binary", names, (codes == 1)[:, None], codes, nothing)
    return Targets("multiclass", names, codes[:, None] == np.arange(len(names)), codes, nothing)


def _column(y: Any) -> Any:
    """A data frame, series or iterable as a list or an array of one value per pair."""
    if y is None:
        raise InputError(
            "fit requires y to be passed, but the target y is None; one answer per pair is needed"
        )
    if isinstance(y, str | bytes) or not (hasattr(y, "__iter__") or hasattr(y, "__array__")):
        raise InputError(f"y is {y!r}; one answer per pair is needed")
    if not hasattr(y, "__array__"):
        return list(y)
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise InputError("Complex data not supported: y holds complex numbers")
    if y.ndim == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected; y[:, 0] is used"
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        y = y[:, 0]
    if y.ndim > 1:
        raise InputError(f"y has the shape {y.shape}; one answer per pair is needed")
    return y


def _no_row(wrong: Any, what: str) -> None:
    """Raise for the first row that is wrong."""
    bad = np.flatnonzero(wrong)
    if len(bad):
        others = f", and so have {many(len(bad) - 1, 'more row')}" if len(bad) > 1 else ""
        raise InputError(f"row {bad[0] + 1} {what}{others}: correct it, or drop the row")


def _label_names(labels: list[Any]) -> tuple[Any, ...]:
    """The distinct labels, sorted; raises for what is no label."""
    _no_row([label is None or label != label for label in labels], "has no label, or an empty one")  # noqa: PLR0124
    collections = (set, frozenset, list, tuple, np.ndarray)
    _no_row([isinstance(label, collections) for label in labels], "has a collection of labels and not one")
    uneven = [label for label in labels if isinstance(label, float) and not label.is_integer()]
    if uneven:
        raise InputError(
            f"Unknown label type: continuous, such as {uneven[0]}; ratings are for RatingRegressor"
        )
    types = sorted({type(label).__name__ for label in labels})
    if len(types) > 1 and set(types) != {"float", "int"}:
        raise InputError(f"the labels are of mixed types, {' and '.join(types)}: write them all as text")
    names = tuple(sorted(set(labels)))
    if len(names) > MOST_LABELS:
        raise InputError(
            f"there are {len(names):,} different labels for {len(labels):,} pairs, and at most {MOST_LABELS:,} can be "
            f"learned; check that the right column is the label"
        )
    if len(names) < 2:
        raise InputError(f"every pair has the label {names[0]!r} (1 class): at least two labels are needed")
    return names


def python_value(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def check_trainable(targets: Targets, where: str = "the training rows") -> None:
    """Raise where nothing can be learned from these rows."""
    if not len(targets):
        raise InputError(f"no pair is left among {where}")
    if targets.kind != "rating" and len(np.unique(targets.codes)) < 2:
        only = targets.classes[targets.codes[0]]
        raise InputError(f"all pairs among {where} have the label {only!r}: two are needed")


def decode(kind: Kind, decisions: Floats) -> Any:
    """Class codes or ratings from decision values; of equal values the first class wins, as for 0 of two."""
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
