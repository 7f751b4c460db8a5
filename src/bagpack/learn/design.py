"""`Features`: the design matrix of a linear model, stored once per word, however many pairs have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bagpack.kernels import allocating_kernel, kernel, read_only

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Index


@dataclass(frozen=True, eq=False)
class Features:
    """Features of n pairs, in blocks of columns.

    Pair i has ``first[w1[i]]``, ``second[w2[i]]``, ``product[i] · first[w1[i]] ∘ second[w2[i]]``, ``of_words[i]`` and
    ``of_pair[i]``; what is None is omitted. Products are formed where they are needed.

    Attributes
    ----------
    blocks
        Name and number of columns of each block, in this order.
    """

    blocks: Mapping[str, int]
    w1: Index
    w2: Index
    first: Csr | None = None
    second: Csr | None = None
    product: Floats | None = None
    of_words: Csr | None = None
    of_pair: Csr | None = None

    def __len__(self) -> int:
        return len(self.w1)

    @property
    def own(self) -> Csr | None:
        """Columns that are each pair's own, `of_words` before `of_pair`."""
        if self.of_words is None or self.of_pair is None:
            return self.of_pair if self.of_words is None else self.of_words
        return sparse.csr_array(sparse.hstack([self.of_words, self.of_pair], format="csr"))

    def take(self, rows: Any) -> Features:
        """The features of some of the pairs; word tables are shared."""
        product, of_words, of_pair = (
            None if part is None else part[rows] for part in (self.product, self.of_words, self.of_pair)
        )
        return replace(
            self, w1=self.w1[rows], w2=self.w2[rows], product=product, of_words=of_words, of_pair=of_pair
        )

    def products(self) -> Csr | None:
        """Products of the two words' rows, a row for each pair."""
        if self.product is None or self.first is None or self.second is None:
            return None
        rows = sparse.csr_array(self.first[self.w1].multiply(self.second[self.w2]))
        return with_values(rows, rows.data * np.repeat(self.product, np.diff(rows.indptr)))

    def matrix(self) -> Csr:
        """All features as one sparse array, a row for each pair."""
        words = [
            None if table is None else table[rows]
            for table, rows in ((self.first, self.w1), (self.second, self.w2))
        ]
        parts = [part for part in (*words, self.products(), self.own) if part is not None]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def split(self, weights: Floats) -> dict[str, Floats]:
        """Weights of all columns (columns × outputs) by block."""
        ends = np.cumsum(list(self.blocks.values()))
        return {
            name: weights[end - width : end]
            for (name, width), end in zip(self.blocks.items(), ends, strict=True)
        }

    def decisions(self, weights: Floats) -> Floats:
        """Features times weights, columns × outputs: once per word, products pair by pair."""
        out = np.zeros((len(self), weights.shape[1]))
        at = 0
        for table, rows in ((self.first, self.w1), (self.second, self.w2)):
            if table is not None:
                out += np.asarray(table @ weights[at : at + table.shape[1]])[rows]
                at += table.shape[1]
        if self.product is not None and self.first is not None and self.second is not None:
            own = np.ascontiguousarray(weights[at : at + self.first.shape[1]])
            at += self.first.shape[1]
            _product_dots(*self._product_arrays(), self.product, own, out)
        for part in (self.of_words, self.of_pair):
            if part is not None:
                out += np.asarray(part @ weights[at : at + part.shape[1]])
                at += part.shape[1]
        return out

    def combine(self, coef: Floats) -> Floats:
        """Σ_i coef_i · features of pair i, columns × outputs; ``coef`` is pairs × outputs."""
        parts = []
        for table, rows in ((self.first, self.w1), (self.second, self.w2)):
            if table is not None:
                shape = (table.shape[0], len(rows))
                spread = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=shape)
                parts.append(np.asarray(table.T @ np.asarray(spread @ coef)))
        if self.product is not None and self.first is not None:
            sums = np.zeros((self.first.shape[1], coef.shape[1]))
            for k in range(coef.shape[1]):
                column = np.zeros(len(sums))
                _product_sums(*self._product_arrays(), self.product * coef[:, k], column)
                sums[:, k] = column
            parts.append(sums)
        parts += [np.asarray(part.T @ coef) for part in (self.of_words, self.of_pair) if part is not None]
        return np.concatenate(parts)

    def squares(self) -> Floats:
        """Squared length of each pair's features."""
        out = np.zeros(len(self))
        for table, rows in ((self.first, self.w1), (self.second, self.w2)):
            if table is not None:
                out += _row_squares(table)[rows]
        if self.product is not None and self.first is not None and self.second is not None:
            out += self.product**2 * row_products(self.first, self.w1, self.w2)[1]
        return out + sum(_row_squares(part) for part in (self.of_words, self.of_pair) if part is not None)

    def _product_arrays(self) -> tuple[Any, ...]:
        assert self.first is not None
        return (*row_arrays(self.first), *_by_first(self.w1, self.w2))


def with_values(rows: Csr, values: Floats) -> Csr:
    """The same places with other values."""
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _row_squares(rows: Csr) -> Floats:
    return np.asarray(with_values(rows, rows.data.astype(np.float64) ** 2).sum(axis=1))


def row_arrays(rows: Csr) -> tuple[Any, Any, Any]:
    """Arrays of rows as kernels take them; unsigned integers spare them the test for negative indices."""
    return (
        read_only(rows.indptr.astype(np.uint64)),
        read_only(rows.indices.astype(np.uint32, copy=False)),
        read_only(rows.data),
    )


def _by_first(w1: Index, w2: Index) -> tuple[Index, Index, Index]:
    """An order of pairs in which those of the same first word follow each other, and the pairs."""
    return np.argsort(w1, kind="stable"), w1.astype(np.int64), w2.astype(np.int64)


# Products of two words' rows -----------------------------------------------------------------------------------
# The first word's row is spread over a dense array, which stays while pairs have the same first word.


@kernel
def spread_row(indptr, indices, data, before, row, dense):  # type: ignore[no-untyped-def]
    """Write a row into an array that holds the row ``before`` (−1: none) and zeros."""
    if before >= 0:
        for q in range(indptr[before], indptr[before + 1]):
            dense[indices[q]] = 0.0
    for q in range(indptr[row], indptr[row + 1]):
        dense[indices[q]] = data[q]


@kernel
def _product_totals(indptr, indices, data, order, w1, w2, dense, sums, squares):  # type: ignore[no-untyped-def]
    """Sum, and sum of the squares, of the product of each pair's two rows."""
    spread = np.int64(-1)
    for i in order:
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        total, square = 0.0, 0.0
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            value = data[q] * dense[indices[q]]
            total += value
            square += value * value
        sums[i], squares[i] = total, square


@allocating_kernel
def _product_dots(indptr, indices, data, order, w1, w2, scale, weights, out):  # type: ignore[no-untyped-def]
    """out[i] += scale[i] · product of pair i's rows · weights (columns × outputs)."""
    spread = np.int64(-1)
    outputs = weights.shape[1]
    fours = outputs - outputs % 4
    dense = np.zeros(weights.shape[0])
    columns, values = np.empty(len(dense), dtype=np.uint32), np.empty(len(dense))
    for i in order:
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        # Most products are zero: drop them first. A branch would be mispredicted half the time.
        filled = np.uint64(0)
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            value = data[q] * dense[indices[q]]
            columns[filled] = indices[q]
            values[filled] = value
            filled += np.uint64(value != 0.0)
        # Four outputs at a time, which the compiler turns into one instruction.
        for k in range(0, fours, 4):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for q in range(filled):
                own = weights[columns[q]]
                a += values[q] * own[k]
                b += values[q] * own[k + 1]
                c += values[q] * own[k + 2]
                d += values[q] * own[k + 3]
            out[i, k] += scale[i] * a
            out[i, k + 1] += scale[i] * b
            out[i, k + 2] += scale[i] * c
            out[i, k + 3] += scale[i] * d
        for k in range(fours, outputs):
            a = 0.0
            for q in range(filled):
                a += values[q] * weights[columns[q], k]
            out[i, k] += scale[i] * a


@allocating_kernel
def _product_sums(indptr, indices, data, order, w1, w2, coef, weights):  # type: ignore[no-untyped-def]
    """Add Σ_i coef_i · product of pair i's rows to the weights."""
    spread = np.int64(-1)
    dense = np.zeros(len(weights))
    for i in order:
        if coef[i] == 0.0:
            continue
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            weights[indices[q]] += coef[i] * data[q] * dense[indices[q]]


def row_products(rows: Csr, w1: Index, w2: Index) -> tuple[Floats, Floats]:
    """Inner product of each pair's two rows, and the squared length of their product column by column.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[0.6, 0.8], [1.0, 0.0]]))
    >>> [values.tolist() for values in row_products(rows, np.array([0, 1]), np.array([1, 1]))]
    [[0.6, 1.0], [0.36, 1.0]]
    """
    sums, squares = np.zeros(len(w1)), np.zeros(len(w1))
    _product_totals(*row_arrays(rows), *_by_first(w1, w2), np.zeros(rows.shape[1]), sums, squares)
    return sums, squares
