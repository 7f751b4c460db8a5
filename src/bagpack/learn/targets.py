"""What is to be learned: labels (one or several per pair) or ratings, checked and encoded once."""

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
Kind = Literal["binary", "multiclass", "multilabel", "rating"]


@dataclass(frozen=True)
class Targets:
    """Encoded targets of n pairs.

    ``columns`` has one bool column per SVM: one for two classes (true: the second), one per class or
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
    if isinstance(y, np.ndarray) and y.ndim > 2:
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


def _check_labels(labels: Sequence[Any], rows: Sequence[int] | None = None) -> None:
    """Raise for what is no label; ``rows`` has the row of each label, where a row can have several."""
    rows = range(len(labels)) if rows is None else rows
    missing = dict.fromkeys(
        row
        for row, label in zip(rows, labels, strict=True)
        if label is None or label != label  # noqa: PLR0124
    )
    if missing:
        others = f", and {many(len(missing) - 1, 'more row')}" if len(missing) > 1 else ""
        raise InputError(
            f"row {next(iter(missing)) + 1} has no label, or an empty one{others}: fill it in, or drop the row"
        )
    uneven = [label for label in labels if isinstance(label, float) and not label.is_integer()]
    if uneven:
        raise InputError(
            f"Unknown label type: continuous, such as {uneven[0]}; labels name classes, and ratings are for "
            f"RatingRegressor"
        )


def _multilabel(columns: Bools, classes: tuple[Any, ...], as_sets: bool) -> Targets:
    n = len(columns)
    return Targets("multilabel", classes, columns, np.full(n, -1, np.intp), np.full(n, np.nan), as_sets)


def _indicator(values: np.ndarray, names: tuple[Any, ...] | None) -> Targets:
    """From a matrix with a column of 0 and 1 for each label."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if not np.isin(numbers, (0.0, 1.0)).all():
        raise InputError(
            f"y has the shape {values.shape}: a matrix of labels holds a column of 0 and 1 for each label; give one "
            f"label per pair otherwise"
        )
    classes = tuple(range(values.shape[1])) if names is None else names
    _check_number(classes, len(values))
    return _multilabel(numbers.astype(bool), classes, as_sets=False)


def _is_indicator(values: Sequence[Any] | np.ndarray) -> bool:
    """Whether rows are lists of 0 and 1, a place for each label, and not collections of labels."""
    lengths = {len(row) for row in values}
    return len(lengths) == 1 and all(
        isinstance(row, list | np.ndarray)
        and all(type(python_value(value)) is int and value in (0, 1) for value in row)
        for row in values
    )


def encode_targets(y: Answers, *, kind: Literal["labels", "rating"] = "labels") -> Targets:
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
    if isinstance(y, str | bytes) or not (hasattr(y, "__iter__") or hasattr(y, "__array__")):
        raise InputError(f"y is {y!r}; one label per pair is needed")
    names = tuple(map(python_value, y.columns)) if hasattr(y, "columns") else None
    y = _column(y)
    values = y if isinstance(y, np.ndarray) else list(y)
    if len(values) == 0:
        raise InputError("there is no labelled pair to learn from")
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return _indicator(values, names)
    sets = [isinstance(value, set | frozenset | list | tuple | np.ndarray) for value in values]
    if any(sets):
        if not all(sets):
            raise InputError(
                f"row {sets.index(False) + 1} has one label and others a collection of labels; give every row a "
                f"collection, such as {{'part'}}"
            )
        if _is_indicator(values):
            return _indicator(np.array(values), names)
        return _label_sets([[python_value(label) for label in labels] for labels in values])
    return _single_labels([python_value(value) for value in values])


def _label_sets(values: list[list[Any]]) -> Targets:
    from sklearn.preprocessing import MultiLabelBinarizer

    found = [label for labels in values for label in labels]
    _check_labels(found, [row for row, labels in enumerate(values) for _ in labels])
    names = _sorted_labels(found)
    if not names:
        raise InputError("no pair has a label: nothing can be learned")
    _check_number(names, len(values))
    columns = MultiLabelBinarizer(classes=names, sparse_output=True).fit_transform(values)
    return _multilabel(columns.astype(bool).toarray(), names, as_sets=True)


def _check_number(names: Sequence[Any], pairs: int) -> None:
    if len(names) > MOST_LABELS:
        raise InputError(
            f"there are {len(names):,} different labels for {pairs:,} pairs, and at most {MOST_LABELS:,} can be "
            f"learned: each is an SVM with a weight per feature. Check that the right column is the label, or keep the "
            f"labels with the most pairs"
        )


def _single_labels(labels: list[Any]) -> Targets:
    _check_labels(labels)
    names = _sorted_labels(labels)
    _check_number(names, len(labels))
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
    if targets.kind in ("binary", "multiclass") and len(np.unique(targets.codes)) < 2:
        only = targets.classes[targets.codes[0]]
        n = len(targets)
        all_have = f"all {n} pairs among {where} have" if n > 1 else f"the only pair among {where} has"
        raise InputError(f"{all_have} the label {only!r}: two are needed")
    if targets.kind == "multilabel" and not targets.columns.any():
        raise InputError(f"no pair among {where} has a label")


def decode(kind: Kind, decisions: Floats) -> Answers:
    """Class codes (labels), bool columns (several labels) or ratings from decision values, pairs × outputs.

    Of equal values the first class wins, and so it does for 0 of two.
    """
    if kind == "binary":
        return (decisions[:, 0] > 0).astype(np.intp)
    if kind == "multiclass":
        return np.asarray(decisions.argmax(axis=1))
    if kind == "multilabel":
        return decisions > 0
    return decisions[:, 0]


def chosen_labels(kind: Kind, decisions: Floats) -> Bools:
    """Which classes `decode` gives each pair, pairs × classes."""
    if kind == "binary":
        return np.hstack([decisions <= 0, decisions > 0])
    if kind == "multilabel":
        return decisions > 0
    return np.asarray(decode(kind, decisions)[:, None] == np.arange(decisions.shape[1]))
