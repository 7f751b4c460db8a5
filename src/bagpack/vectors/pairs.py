"""Pairs of words as Python code gives them: lists, arrays, data frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bagpack.errors import InputError
from bagpack.vectors.matrix import Pair


class PairInputError(InputError):
    """What was given is not a list of pairs."""

    exit_code = 2


def as_pairs(X: Iterable[Any]) -> list[Pair]:
    """Pairs of strings from a list of pairs, an array of shape (n, 2), or a data frame of two columns."""
    if isinstance(X, str):
        raise PairInputError("pairs are needed, such as [('cat', 'lion')], not one string")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if not hasattr(X, "__iter__") or hasattr(X, "tocsr"):
        raise PairInputError(
            f"pairs are needed, such as [('cat', 'lion')]; sparse or other data is not supported: {X!r}"
        )
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    pairs: list[Pair] = []
    if len(rows) == 2 and all(isinstance(word, str) for word in rows):
        raise PairInputError(f"a list of pairs is needed, and one pair was given: write [{tuple(rows)!r}]")
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
            raise PairInputError(f"item {number} is not a pair of words: {row!r}; give (w1, w2)")
        w1, w2 = row
        if not isinstance(w1, str) or not isinstance(w2, str) or not w1.strip() or not w2.strip():
            raise PairInputError(
                f"item {number} is not a pair of words: {row!r}; both must be non-empty strings"
            )
        pairs.append((str(w1), str(w2)))
    return pairs
