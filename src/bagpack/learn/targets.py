"""Targets of training: labels or ratings, checked and encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError
from bagpack.numbers import many

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Floats, Index

MOST_LABELS = 1_000
Kind = Literal["binary", "multiclass", "rating"]


def kind_of(classes: Sequence[Any]) -> Kind:
    return "rating" if not classes else "binary" if len(classes) == 2 else "multiclass"


@dataclass(frozen=True)
class Targets:
    """Targets of n pairs: class numbers (``codes``), or ratings and no classes."""

    classes: tuple[Any, ...]
    codes: Index
    ratings: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Targets:
        """The targets at ``rows``; the classes stay those of the whole set."""
        return replace(self, codes=self.codes[rows], ratings=self.ratings[rows])

    @property
    def kind(self) -> Kind:
        return kind_of(self.classes)

    def one_hot(self) -> Bools:
        return np.asarray(self.codes[:, None] == np.arange(len(self.classes)))

    @property
    def columns(self) -> Bools:
        """One column per SVM: one for two classes (true: the second), one per class otherwise."""
        return self.one_hot()[:, 1:] if self.kind == "binary" else self.one_hot()


def encode_targets(y: Any, *, kind: Literal["labels", "rating"] = "labels") -> Targets:
    """Encode ``y``: one label per pair, or ratings."""
    if isinstance(y, Targets):
        return y
    y = _column(y)
    if not len(y):
        raise InputError("there is no pair to learn from; give some, each with a label or a rating")
    if kind == "rating":
        try:
            ratings = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "the ratings are not all numbers: correct or drop the rows that are not"
            ) from None
        _no_row(~np.isfinite(ratings), "has a rating that is not a finite number (NaN or infinity)")
        return Targets((), np.full(len(ratings), -1, np.intp), ratings)
    labels = [python_value(value) for value in y]
    names = _label_names(labels)
    position = {label: k for k, label in enumerate(names)}
    codes = np.array([position[label] for label in labels], dtype=np.intp)
    return Targets(names, codes, np.full(len(codes), np.nan))


def _column(y: Any) -> Any:
    """A data frame, series or iterable as a list or an array of one value per pair."""
    from sklearn.utils import column_or_1d

    if y is None:
        raise InputError(
            "fit requires y to be passed, but the target y is None; one answer per pair is needed"
        )
    if hasattr(y, "__array__"):
        try:
            return column_or_1d(y, warn=True)
        except ValueError as error:
            raise InputError(f"{error} (one answer per pair is needed)") from None
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__"):
        raise InputError(f"y is {y!r}; one answer per pair is needed")
    return list(y)


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
    classes = 2 if kind == "binary" else decisions.shape[1]
    return np.asarray(decode(kind, decisions)[:, None] == np.arange(classes))
