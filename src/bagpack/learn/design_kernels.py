"""Kernels over the rows of a design matrix; see `bagpack.learn.design`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bagpack.jit import allocating_kernel, kernel, subroutine

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Index, Ints


class Arrays(NamedTuple):
    """What the kernels take; see `Design`.

    ``indptr``, ``indices`` and ``data`` hold the rows of all tables one below the other. ``row``, ``other`` and
    ``scale`` are blocks × pairs; ``other`` is −1 where a block is not a product. Block b's weights begin at
    ``first[b]`` and end at ``first[b + 1]``. Block 0 leads: its row stays the same over runs of pairs.

    Unsigned integers spare the kernels the test for negative indices.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: Any
    row: NDArray[np.int32]
    other: NDArray[np.int32]
    scale: Floats
    first: Ints


@subroutine
def dot_row(arrays: Arrays, row: int, weights: Floats) -> float:
    """Product of one stored row with the weights of its block."""
    total = 0.0
    for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
        total += arrays.data[q] * weights[arrays.indices[q]]
    return total


@subroutine
def add_row(arrays: Arrays, row: int, step: float, weights: Floats) -> None:
    """Add step · row to the weights."""
    for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
        weights[arrays.indices[q]] += step * arrays.data[q]


@subroutine
def spread_row(arrays: Arrays, before: int, row: int, dense: Floats) -> None:
    """Write a row into an array that holds the row ``before`` (−1: nothing) and zeros; −1 for ``row`` only clears."""
    if before >= 0:
        for q in range(arrays.indptr[before], arrays.indptr[before + 1]):
            dense[arrays.indices[q]] = 0.0
    if row >= 0:
        for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
            dense[arrays.indices[q]] = arrays.data[q]


@subroutine
def dot_product(arrays: Arrays, row: int, dense: Floats, weights: Floats) -> float:
    """Σ row · dense · weights over the columns."""
    total = 0.0
    for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
        c = arrays.indices[q]
        total += arrays.data[q] * dense[c] * weights[c]
    return total


@subroutine
def add_product(arrays: Arrays, row: int, dense: Floats, step: float, weights: Floats) -> None:
    """Add step · row · dense to the weights."""
    for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
        c = arrays.indices[q]
        weights[c] += step * arrays.data[q] * dense[c]


@kernel
def row_squares(arrays: Arrays, rows: Index, out: Floats) -> None:
    """out[r] = squared length of stored row r, for each r in ``rows``."""
    for r in rows:
        total = 0.0
        for q in range(arrays.indptr[r], arrays.indptr[r + 1]):
            total += arrays.data[q] * arrays.data[q]
        out[r] = total


@kernel
def row_dots(arrays: Arrays, rows: Index, weights: Floats, out: Floats) -> None:
    """out[r] = stored row r times the weights (columns × outputs), for each r in ``rows``."""
    for r in rows:
        for q in range(arrays.indptr[r], arrays.indptr[r + 1]):
            own = weights[arrays.indices[q]]
            for k in range(weights.shape[1]):
                out[r, k] += arrays.data[q] * own[k]


@kernel
def product_totals(
    arrays: Arrays, block: int, order: Index, dense: Floats, squared: bool, out: Floats
) -> None:
    """Sums of a block's unscaled products, or of their squares, over the columns, for the pairs in ``order``."""
    spread = np.int64(-1)
    for i in order:
        if arrays.other[block, i] != spread:
            spread_row(arrays, spread, np.int64(arrays.other[block, i]), dense)
            spread = arrays.other[block, i]
        row = arrays.row[block, i]
        total = 0.0
        for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
            value = arrays.data[q] * dense[arrays.indices[q]]
            total += value * value if squared else value
        out[i] = total
    spread_row(arrays, spread, np.int64(-1), dense)


@allocating_kernel
def product_dots(
    arrays: Arrays, block: int, order: Index, dense: Floats, unit: bool, weights: Floats, out: Floats
) -> None:
    """out[i] += product of pair i with the weights (columns × outputs), for the pairs in ``order``.

    With ``unit`` each product is divided by its length.
    """
    spread = np.int64(-1)
    outputs = weights.shape[1]
    fours = outputs - outputs % 4
    totals = np.empty(outputs)
    columns, values = np.empty(len(dense), dtype=np.uint32), np.empty(len(dense))
    for i in order:
        if arrays.other[block, i] != spread:
            spread_row(arrays, spread, np.int64(arrays.other[block, i]), dense)
            spread = arrays.other[block, i]
        row = arrays.row[block, i]
        # Most products are zero: drop them first. A branch would be mispredicted half the time.
        filled = np.uint64(0)
        for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
            value = arrays.data[q] * dense[arrays.indices[q]]
            columns[filled] = arrays.indices[q]
            values[filled] = value
            filled += np.uint64(value != 0.0)
        square = 0.0
        for q in range(filled):
            square += values[q] * values[q]
        # Four outputs at a time, which the compiler turns into one instruction.
        for k in range(0, fours, 4):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for q in range(filled):
                value = values[q]
                own = weights[columns[q]]
                a += value * own[k]
                b += value * own[k + 1]
                c += value * own[k + 2]
                d += value * own[k + 3]
            totals[k], totals[k + 1], totals[k + 2], totals[k + 3] = a, b, c, d
        for k in range(fours, outputs):
            a = 0.0
            for q in range(filled):
                a += values[q] * weights[columns[q], k]
            totals[k] = a
        scale = arrays.scale[block, i]
        if unit and square > 0.0:
            scale /= np.sqrt(square)
        for k in range(outputs):
            out[i, k] += scale * totals[k]
    spread_row(arrays, spread, np.int64(-1), dense)


@kernel
def product_sums(
    arrays: Arrays, block: int, order: Index, dense: Floats, coef: Floats, weights: Floats
) -> None:
    """Add Σ_i coef_i · product of pair i to the weights, over the pairs in ``order``."""
    spread = np.int64(-1)
    for i in order:
        if coef[i] == 0.0:
            continue
        if arrays.other[block, i] != spread:
            spread_row(arrays, spread, np.int64(arrays.other[block, i]), dense)
            spread = arrays.other[block, i]
        add_product(arrays, arrays.row[block, i], dense, coef[i] * arrays.scale[block, i], weights)
    spread_row(arrays, spread, np.int64(-1), dense)


@kernel
def row_sums(arrays: Arrays, rows: Index, coef: Floats, weights: Floats) -> None:
    """Add Σ coef[r] · stored row r to the weights, over ``rows``."""
    for r in rows:
        if coef[r] != 0.0:
            add_row(arrays, r, coef[r], weights)
