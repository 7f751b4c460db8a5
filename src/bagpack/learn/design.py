"""The design matrix of a linear model, in blocks that share their rows.

Pair i has in block b the features ``scale[b, i] · rows[row[b, i]]``, or the column-by-column product of two such rows.
All pairs of a word use the same stored row, and products are formed where they are needed: nothing is copied per pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.errors import UsageError
from bagpack.learn.design_kernels import (
    Arrays,
    product_dots,
    product_sums,
    product_totals,
    row_dots,
    row_squares,
    row_sums,
)

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Index


@dataclass(frozen=True)
class RowBlock:
    """Pair i has ``factor · rows[index[i]]``, or ``factor · rows[i]`` where there is no index."""

    rows: Csr
    index: Index | None = None
    factor: float = 1.0


@dataclass(frozen=True)
class ProductBlock:
    """Pair i has ``rows[left[i]] * rows[right[i]]``, column by column, times ``factor``.

    With ``unit`` the product is brought to unit length first; all-zero products are unchanged.
    """

    rows: Csr
    left: Index
    right: Index
    factor: float = 1.0
    unit: bool = True


@dataclass(frozen=True, eq=False)
class Design:
    """Features of n pairs; made by `make_design`.

    ``places[k]`` is the position among the arrays of the k-th block that was given.
    """

    arrays: Arrays
    places: tuple[int, ...]

    def __len__(self) -> int:
        return int(self.arrays.row.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of features in all blocks."""
        return int(self.arrays.first[-1])

    def take(self, pairs: Any) -> Design:
        """The same features of some of the pairs (numbers, a mask or a slice); rows are shared."""
        arrays = self.arrays
        return Design(
            arrays._replace(
                row=np.ascontiguousarray(arrays.row[:, pairs]),
                other=np.ascontiguousarray(arrays.other[:, pairs]),
                scale=np.ascontiguousarray(arrays.scale[:, pairs]),
            ),
            self.places,
        )

    def split(self, weights: Floats) -> list[Floats]:
        """Weights of all columns (columns × outputs) as one array per block, in the order the blocks were given."""
        first = self.arrays.first
        return [weights[first[b] : first[b + 1]] for b in self.places]

    @cached_property
    def squares(self) -> Floats:
        """Squared length of each pair's features."""
        arrays = self.arrays
        out = np.zeros(len(self))
        for b in range(len(self.places)):
            squares = np.zeros(len(self))
            if _is_product(arrays.other, b):
                product_totals(arrays, b, self._order(b), np.zeros(self._width(b)), True, squares)
            else:
                by_row = np.zeros(len(arrays.indptr) - 1)
                row_squares(arrays, self._used(b), by_row)
                squares = by_row[arrays.row[b]]
            out += arrays.scale[b] ** 2 * squares
        return out

    @cached_property
    def means(self) -> tuple[Floats, float]:
        """Each pair's product with the mean of all pairs, and the squared length of that mean."""
        mean = self.combine(np.full(len(self), 1 / max(len(self), 1)))
        return self.decisions(mean[:, None])[:, 0], float(mean @ mean)

    def decisions(self, weights: Floats) -> Floats:
        """Features times weights (columns × outputs): once per stored row, products pair by pair."""
        arrays = self.arrays
        out = np.zeros((len(self), weights.shape[1]))
        for b in range(len(self.places)):
            own = np.ascontiguousarray(weights[arrays.first[b] : arrays.first[b + 1]])
            if _is_product(arrays.other, b):
                product_dots(arrays, b, self._order(b), np.zeros(self._width(b)), False, own, out)
            else:
                by_row = np.zeros((len(arrays.indptr) - 1, weights.shape[1]))
                row_dots(arrays, self._used(b), own, by_row)
                out += arrays.scale[b][:, None] * by_row[arrays.row[b]]
        return out

    def combine(self, coef: Floats) -> Floats:
        """Σ_i coef_i · features of pair i, one value per column."""
        arrays = self.arrays
        out = np.zeros(self.n_columns)
        for b in range(len(self.places)):
            own = out[arrays.first[b] : arrays.first[b + 1]]
            if _is_product(arrays.other, b):
                product_sums(arrays, b, self._order(b), np.zeros(len(own)), coef, own)
            else:
                sums = np.bincount(arrays.row[b], coef * arrays.scale[b], minlength=len(arrays.indptr) - 1)
                by_row = sums.astype(np.float64, copy=False)
                row_sums(arrays, self._used(b), by_row, own)
        return out

    def matrix(self) -> Csr:
        """All features as one sparse matrix, blocks in the order of the arrays."""
        arrays = self.arrays
        parts = []
        for b in range(len(self.places)):
            part = self._rows(b, arrays.row[b])
            if _is_product(arrays.other, b):
                part = sparse.csr_array(part.multiply(self._rows(b, arrays.other[b])))
            parts.append(part.multiply(arrays.scale[b][:, None]))
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def _rows(self, block: int, rows: NDArray[np.int32]) -> Csr:
        """Stored rows as a sparse matrix; a copy."""
        data, indices, indptr = self.arrays.data, self.arrays.indices.view(np.int32), self.arrays.indptr
        stored = sparse.csr_array(
            (data, indices, indptr.view(np.int64)), shape=(len(indptr) - 1, self._width(block))
        )
        return stored[rows].astype(np.float64)

    def _width(self, block: int) -> int:
        return int(self.arrays.first[block + 1] - self.arrays.first[block])

    def _used(self, block: int) -> Index:
        """Stored rows that occur in a block, in ascending order."""
        return np.flatnonzero(np.bincount(self.arrays.row[block], minlength=1))

    def _order(self, block: int) -> Index:
        """Pairs such that those with the same spread row follow each other."""
        return np.argsort(self.arrays.other[block], kind="stable")


def make_design(blocks: Sequence[RowBlock | ProductBlock]) -> Design:
    """Put blocks of the same pairs next to each other; a table that several blocks use is stored once.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> words = csr_array(np.array([[0.6, 0.8], [1.0, 0.0]]))
    >>> w1, w2 = np.array([0, 1, 1]), np.array([1, 0, 1])
    >>> design = make_design([RowBlock(words, w1), RowBlock(words, w2, 0.5), ProductBlock(words, w1, w2)])
    >>> design.decisions(np.ones((6, 1))).ravel().round(2).tolist()
    [2.9, 2.7, 2.5]
    """
    if not blocks:
        raise UsageError("a design matrix needs at least one block")
    n = _length(blocks[0])
    tables: dict[int, tuple[Csr, int]] = {}
    stored = 0
    row, other = (np.empty((len(blocks), n), dtype=np.int32) for _ in range(2))
    for b, block in enumerate(blocks):
        if _length(block) != n:
            raise UsageError(f"block {b} has {_length(block)} pairs and block 0 has {n}: they must agree")
        if id(block.rows) not in tables:
            tables[id(block.rows)] = block.rows, stored
            stored += block.rows.shape[0]
        at = tables[id(block.rows)][1]
        one, two = (block.index, None) if isinstance(block, RowBlock) else (block.right, block.left)
        row[b] = at + _checked(np.arange(n) if one is None else one, block.rows.shape[0], b)
        other[b] = -1 if two is None else at + _checked(two, block.rows.shape[0], b)
    order = _lead_first(row, other)
    row, other = row[order], other[order]
    given = [blocks[b] for b in order]
    scale = np.repeat([[block.factor] for block in given], n, axis=1).astype(np.float64)
    first = np.concatenate([[0], np.cumsum([block.rows.shape[1] for block in given])])
    arrays = Arrays(*_stack([rows for rows, _ in tables.values()]), row, other, scale, first)
    design = Design(arrays, tuple(np.argsort(order).tolist()))
    for b, block in enumerate(given):
        if isinstance(block, ProductBlock):
            if np.array_equal(row[b], row[0]):
                # Spread the row that changes least often.
                row[b], other[b] = other[b].copy(), row[b].copy()
            if block.unit:
                squares = np.zeros(n)
                product_totals(arrays, b, design._order(b), np.zeros(block.rows.shape[1]), True, squares)
                scale[b] *= np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1)), 0)
    return design


def score_blocks(blocks: Sequence[RowBlock | ProductBlock], weights: Sequence[Floats]) -> Floats:
    """Features times each block's weights (columns × outputs), pairs × outputs; tables are used where they are.

    The same as ``make_design(blocks).decisions(...)`` without putting the tables together.
    """
    out = np.zeros((_length(blocks[0]), weights[0].shape[1]))
    for b, (block, own) in enumerate(zip(blocks, weights, strict=True)):
        if isinstance(block, RowBlock):
            by_row = block.factor * np.asarray(block.rows @ own)
            out += by_row if block.index is None else by_row[_checked(block.index, block.rows.shape[0], b)]
            continue
        arrays, order = _product_arrays(block, b)
        product_dots(
            arrays, 0, order, np.zeros(block.rows.shape[1]), block.unit, np.ascontiguousarray(own), out
        )
    return out


def inner_products(rows: Csr, left: Index, right: Index) -> Floats:
    """The inner product of ``rows[left[i]]`` and ``rows[right[i]]``, for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> inner_products(csr_array(np.array([[0.6, 0.8], [1.0, 0.0]])), np.array([0, 1]), np.array([1, 1])).tolist()
    [0.6, 1.0]
    """
    arrays, order = _product_arrays(ProductBlock(rows, left, right), 0)
    out = np.zeros(len(left))
    product_totals(arrays, 0, order, np.zeros(rows.shape[1]), False, out)
    return out


def _product_arrays(block: ProductBlock, number: int) -> tuple[Arrays, Index]:
    """Arrays of a single block of products, and its pairs in an order that keeps those of a spread row together."""
    one, two = (_checked(index, block.rows.shape[0], number) for index in (block.left, block.right))
    row, other = (index.astype(np.int32)[None, :] for index in (two, one))
    scale, first = np.full((1, len(one)), block.factor), np.array([0, block.rows.shape[1]])
    return Arrays(*_stack([block.rows]), row, other, scale, first), np.argsort(one, kind="stable")


def _length(block: RowBlock | ProductBlock) -> int:
    if isinstance(block, ProductBlock):
        return len(block.left)
    return int(block.rows.shape[0]) if block.index is None else len(block.index)


def _checked(index: Index, rows: int, block: int) -> Index:
    """Row numbers, each of an existing row."""
    if len(index) and not 0 <= index.min() <= index.max() < rows:
        wrong = index[(index < 0) | (index >= rows)][0]
        raise UsageError(f"block {block} refers to row {wrong}, and its table has the rows 0 to {rows - 1}")
    return index


def _is_product(other: NDArray[np.int32], block: int) -> bool:
    return bool(other.shape[1]) and bool(other[block, 0] >= 0)


def _lead_first(row: NDArray[np.int32], other: NDArray[np.int32]) -> list[int]:
    """The blocks' numbers, that of the fewest distinct rows in front; products cannot lead."""
    blocks = range(len(row))
    plain = [b for b in blocks if not _is_product(other, b)]
    if not plain or not row.shape[1]:
        return list(blocks)
    lead = min(plain, key=lambda b: int(np.count_nonzero(np.bincount(row[b]))))
    return [lead, *(b for b in blocks if b != lead)]


def _stack(tables: Sequence[Csr]) -> tuple[Any, Any, Any]:
    """The rows of all tables one below the other: indptr, indices, data."""
    kept = []
    for table in tables:
        if not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        kept.append(table)
    ends = np.cumsum([0, *(table.nnz for table in kept)])
    indptr = np.concatenate(
        [[0], *(table.indptr[1:].astype(np.int64) + end for table, end in zip(kept, ends, strict=False))]
    )
    single = all(table.dtype == np.float32 for table in kept)
    data = _joined([table.data for table in kept]).astype(np.float32 if single else np.float64, copy=False)
    if not np.isfinite(data).all():
        raise UsageError("a feature is not a finite number; check the counts and the weighting")
    indices = _joined([table.indices for table in kept]).astype(np.int32, copy=False)
    return indptr.astype(np.int64).view(np.uint64), indices.view(np.uint32), data


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The arrays one after the other; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
