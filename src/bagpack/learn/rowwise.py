"""The same machines for sets too large for a Gram matrix: kernel rows are made when needed, and kept while they fit.

Both machines are one problem in β (classification: β_i = y_i α_i, one variable per pair; ratings: one that
raises and one that lowers the prediction):

    min ½ βᵀKβ − pᵀβ,   low ≤ β ≤ high,   Σ β = 0.

Sequential minimal optimisation moves two variables at a time along Σ β = 0, the most violating one and the
partner that promises most (Fan, Chen and Lin 2005), as libsvm does; the bias is as free as libsvm's. A kernel
row is put together from the blocks: for v1 and v2 it is looked up among the distinct words, for v12 it is one
sparse product.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from bagpack.learn.gram import block_gram
from bagpack.learn.svm import Dual, constant_output

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Csr, Floats, Index, Ints, Matrix

CACHE_BYTES = 1_000_000_000
MAX_STEPS = 50_000_000
# A block whose distinct rows are at most this many is multiplied out once (256 MB in single precision).
GRAM_DISTINCT = 8_000


class KernelParts(NamedTuple):
    """What kernel rows are made of, as flat arrays.

    Block b of pair i is distinct row ``row_of[b, i]``. Blocks with ``gram_at[b]`` ≥ 0 have their products in ``grams``
    from there, ``width[b]`` to a row. The others have their sparse rows from ``first[b]`` in (``indptr``, ``indices``,
    ``data``), and the same by column from ``column_first[b]`` in (``column_ptr``, ``column_rows``, ``column_data``).
    """

    row_of: Index
    gram_at: Ints
    width: Ints
    grams: Matrix
    first: Ints
    indptr: Ints
    indices: Ints
    data: Floats
    column_first: Ints
    column_ptr: Ints
    column_rows: Ints
    column_data: Floats


class _Stack:
    """Compressed matrices one after the other."""

    def __init__(self) -> None:
        self.starts = [np.zeros(1, dtype=np.int64)]
        self.indices: list[Ints] = [np.empty(0, dtype=np.int32)]
        self.data: list[Floats] = [np.empty(0)]
        self.lines = self.entries = 0

    def add(self, matrix: Matrix) -> int:
        """Append a CSR or CSC matrix; gives the number of its first line."""
        at = self.lines
        self.starts.append(matrix.indptr[1:].astype(np.int64) + self.entries)
        self.indices.append(matrix.indices)
        self.data.append(matrix.data)
        self.lines += len(matrix.indptr) - 1
        self.entries += matrix.nnz
        return at

    def arrays(self) -> tuple[Ints, Ints, Floats]:
        """Where the lines start, and their entries."""
        return np.concatenate(self.starts), np.concatenate(self.indices), np.concatenate(self.data)


def kernel_parts(blocks: Sequence[tuple[Csr, Index | None]]) -> KernelParts:
    """Prepare the (distinct rows, index) of each block."""
    row_of, gram_at, width, first, column_first = [], [], [], [], []
    grams: list[Matrix] = [np.empty(0, np.float32)]
    by_row, by_column = _Stack(), _Stack()
    for rows, index in blocks:
        distinct = rows.shape[0]
        row_of.append(np.arange(distinct) if index is None else index)
        width.append(distinct)
        if index is not None and distinct <= GRAM_DISTINCT:
            gram_at.append(sum(map(len, grams)))
            grams.append(block_gram(rows).astype(np.float32).ravel())
            first.append(-1)
            column_first.append(-1)
        else:
            gram_at.append(-1)
            first.append(by_row.add(sparse.csr_array(rows)))
            column_first.append(by_column.add(sparse.csc_array(rows)))
    return KernelParts(
        np.array(row_of, dtype=np.intp),
        np.array(gram_at),
        np.array(width),
        np.concatenate(grams),
        np.array(first),
        *by_row.arrays(),
        np.array(column_first),
        *by_column.arrays(),
    )


@njit(cache=True, nogil=True)
def _kernel_row(parts: KernelParts, i: int, products: Floats, out: Matrix) -> None:
    """Fill ``out`` with K(i, ·)."""
    n = len(out)
    out[:] = 0.0
    for b in range(parts.row_of.shape[0]):
        index = parts.row_of[b]
        width = parts.width[b]
        if parts.gram_at[b] >= 0:
            begin = parts.gram_at[b] + index[i] * width
            row = parts.grams[begin : begin + width]
            for k in range(n):
                out[k] += row[index[k]]
            continue
        # Only the columns that row i has are walked, and most pairs have few.
        products[:width] = 0.0
        own = parts.first[b] + index[i]
        for p in range(parts.indptr[own], parts.indptr[own + 1]):
            value = parts.data[p]
            column = parts.column_first[b] + parts.indices[p]
            for q in range(parts.column_ptr[column], parts.column_ptr[column + 1]):
                products[parts.column_rows[q]] += value * parts.column_data[q]
        for k in range(n):
            out[k] += products[index[k]]


@njit(cache=True, nogil=True)
def _diagonal(parts: KernelParts, n: int) -> Floats:
    out = np.zeros(n)
    for b in range(parts.row_of.shape[0]):
        for i in range(n):
            r = parts.row_of[b, i]
            if parts.gram_at[b] >= 0:
                out[i] += parts.grams[parts.gram_at[b] + r * (parts.width[b] + 1)]
            else:
                row = parts.first[b] + r
                for p in range(parts.indptr[row], parts.indptr[row + 1]):
                    out[i] += parts.data[p] * parts.data[p]
    return out


class RowCache(NamedTuple):
    """Kernel rows that were made and are kept, for all machines on the same pairs.

    ``slot_of`` finds a pair's row in ``rows`` (−1: not there), ``owner`` the pair of a slot. A full cache gives away
    the next slot in turn that was not ``used`` since the turn before; ``hand`` is where the turn stands.
    """

    rows: Matrix
    slot_of: Ints
    owner: Ints
    used: Bools
    hand: Ints
    products: Floats


def row_cache(parts: KernelParts) -> RowCache:
    """An empty cache of at most `CACHE_BYTES`."""
    n = parts.row_of.shape[1]
    slots = int(min(n, max(2, CACHE_BYTES // (4 * n))))
    return RowCache(
        np.empty((slots, n), dtype=np.float32),
        np.full(n, -1),
        np.full(slots, -1),
        np.zeros(slots, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
        np.zeros(int(parts.width.max())),
    )


@njit(cache=True, nogil=True)
def _cached_row(parts: KernelParts, cache: RowCache, i: int, keep: int) -> int:
    """The slot of row i, made now if it must be; the slot ``keep`` is not given away."""
    slot: int = cache.slot_of[i]
    if slot >= 0:
        cache.used[slot] = True
        return slot
    while True:
        slot = cache.hand[0]
        cache.hand[0] = (slot + 1) % len(cache.owner)
        if slot == keep:
            continue
        if not cache.used[slot]:
            break
        cache.used[slot] = False
    if cache.owner[slot] >= 0:
        cache.slot_of[cache.owner[slot]] = -1
    cache.owner[slot] = i
    cache.slot_of[i] = slot
    cache.used[slot] = True
    _kernel_row(parts, i, cache.products, cache.rows[slot])
    return slot


@njit(cache=True, nogil=True)
def _optimise(
    parts: KernelParts,
    p: Floats,
    low: Floats,
    high: Floats,
    tol: float,
    max_steps: int,
    cache: RowCache,
    beta: Floats,
) -> tuple[float, int]:
    """Move pairs of variables until the largest violation is below ``tol``. p, low, high, beta: variables × pairs."""
    sides, n = p.shape
    diagonal = _diagonal(parts, n)
    f = np.zeros(n)
    steps = 0
    while True:
        # up: the steepest variable that can grow; down: the steepest that can shrink.
        best, worst = -np.inf, np.inf
        up_side, up = -1, -1
        for s in range(sides):
            for k in range(n):
                slope = p[s, k] - f[k]
                if beta[s, k] < high[s, k] and slope > best:
                    best, up_side, up = slope, s, k
                if beta[s, k] > low[s, k] and slope < worst:
                    worst = slope
        if best - worst < tol or steps >= max_steps:
            break
        steps += 1
        slot = _cached_row(parts, cache, up, -1)
        row = cache.rows[slot]
        gain = -1.0
        down_side, down = -1, -1
        for s in range(sides):
            for k in range(n):
                if beta[s, k] > low[s, k]:
                    gap = best - (p[s, k] - f[k])
                    if gap > 0.0:
                        curve = max(diagonal[up] + diagonal[k] - 2.0 * row[k], 1e-12)
                        if gap * gap > gain * curve:
                            gain = gap * gap / curve
                            down_side, down = s, k
        curve = max(diagonal[up] + diagonal[down] - 2.0 * row[down], 1e-12)
        move = (best - (p[down_side, down] - f[down])) / curve
        room_up = high[up_side, up] - beta[up_side, up]
        room_down = beta[down_side, down] - low[down_side, down]
        move = min(move, room_up, room_down)
        # Landing on a bound is exact, so that it is recognised as one.
        beta[up_side, up] = high[up_side, up] if move == room_up else beta[up_side, up] + move
        beta[down_side, down] = low[down_side, down] if move == room_down else beta[down_side, down] - move
        other = cache.rows[_cached_row(parts, cache, down, slot)]
        for k in range(n):
            f[k] += move * (row[k] - other[k])
    free, count = 0.0, 0
    for s in range(sides):
        for k in range(n):
            if low[s, k] < beta[s, k] < high[s, k]:
                free += p[s, k] - f[k]
                count += 1
    return (free / count if count else (best + worst) / 2.0), steps


def _solve(
    parts: KernelParts, cache: RowCache, p: Floats, low: Floats, high: Floats, tol: float, max_steps: int
) -> tuple[Floats, float, int]:
    beta = np.zeros_like(p)
    bias, steps = _optimise(parts, p, low, high, tol, max_steps, cache, beta)
    return beta.sum(axis=0), float(bias), int(steps)


def rowwise_classes(
    blocks: Sequence[tuple[Csr, Index | None]],
    targets: Bools,
    C: float = 1.0,
    tol: float = 1e-3,
    weight: Floats | None = None,
    max_steps: int = MAX_STEPS,
) -> Dual:
    """One C-SVM per column of ``targets``."""
    parts = kernel_parts(blocks)
    cache = row_cache(parts)
    n, outputs = targets.shape
    coef, intercept = np.zeros((n, outputs)), np.zeros(outputs)
    steps = np.zeros(outputs, dtype=np.int64)
    for k in range(outputs):
        positive = targets[:, k]
        constant = constant_output(positive)
        if constant is not None:
            intercept[k] = constant
            continue
        cost = np.full(n, C) if weight is None else C * weight[:, k]
        p, low, high = (
            np.where(positive, 1.0, -1.0),
            np.where(positive, 0.0, -cost),
            np.where(positive, cost, 0.0),
        )
        coef[:, k], intercept[k], steps[k] = _solve(
            parts, cache, p[None], low[None], high[None], tol, max_steps
        )
    return _reported(Dual(coef, intercept, steps, bool((steps < max_steps).all())))


def rowwise_ratings(
    blocks: Sequence[tuple[Csr, Index | None]],
    ratings: Floats,
    C: float = 1.0,
    epsilon: float = 0.2,
    tol: float = 1e-3,
    weight: Floats | None = None,
    max_steps: int = MAX_STEPS,
) -> Dual:
    """ε-SVR on the raw scale of ``ratings``."""
    n = len(ratings)
    parts = kernel_parts(blocks)
    p = np.vstack([ratings - epsilon, ratings + epsilon])
    cost = np.full(n, C) if weight is None else C * weight[:, 0]
    low, high = np.vstack([np.zeros(n), -cost]), np.vstack([cost, np.zeros(n)])
    coef, bias, steps = _solve(parts, row_cache(parts), p, low, high, tol, max_steps)
    return _reported(Dual(coef[:, None], np.array([bias]), np.array([steps]), steps < max_steps))


def _reported(dual: Dual) -> Dual:
    if not dual.converged:
        warnings.warn(
            f"the SVM did not converge within {int(dual.iterations.max()):,} steps; its scores are approximate",
            ConvergenceWarning,
            stacklevel=4,
        )
    return dual
