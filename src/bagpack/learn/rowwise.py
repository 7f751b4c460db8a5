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

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from bagpack.learn.gram import block_gram
from bagpack.learn.svm import Dual, constant_output

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Csr, Floats, Index, Ints, Matrix

CACHE_BYTES = 1_000_000_000
# A block whose distinct rows are at most this many is multiplied out once (256 MB in single precision).
GRAM_DISTINCT = 8_000


class KernelParts(NamedTuple):
    """What kernel rows are made of, as flat arrays.

    Block b of pair i is distinct row ``row_of[b, i]``. Blocks with ``gram_at[b]`` ≥ 0 have their products in
    ``grams`` from there, ``width[b]`` to a row; the others have their sparse rows from ``first[b]`` in the
    stacked matrix.
    """

    row_of: Index
    gram_at: Ints
    width: Ints
    grams: Matrix
    first: Ints
    indptr: Ints
    indices: Ints
    data: Floats
    n_columns: int


def kernel_parts(blocks: Sequence[tuple[Csr, Index | None]]) -> KernelParts:
    """Prepare the (distinct rows, index) of each block."""
    n = max(rows.shape[0] if index is None else len(index) for rows, index in blocks)
    indexes, gram_at, width, first, grams, stacked = [], [], [], [], [], []
    at = below = 0
    for rows, index in blocks:
        distinct = rows.shape[0]
        indexes.append(np.arange(n) if index is None else index)
        width.append(distinct)
        if index is not None and distinct <= GRAM_DISTINCT:
            grams.append(block_gram(rows).astype(np.float32).ravel())
            gram_at.append(at)
            first.append(-1)
            at += distinct * distinct
        else:
            gram_at.append(-1)
            first.append(below)
            stacked.append(sparse.csr_array(rows))
            below += distinct
    n_columns = max([rows.shape[1] for rows in stacked], default=1)
    lengths = [np.diff(rows.indptr) for rows in stacked]
    return KernelParts(
        np.array(indexes, dtype=np.intp),
        np.array(gram_at),
        np.array(width),
        np.concatenate(grams) if grams else np.empty(0, np.float32),
        np.array(first),
        np.concatenate([[0], *(np.cumsum(np.concatenate(lengths))[None] if lengths else [])]).astype(
            np.int64
        ),
        np.concatenate([rows.indices for rows in stacked]) if stacked else np.empty(0, np.int32),
        np.concatenate([rows.data for rows in stacked]) if stacked else np.empty(0),
        n_columns,
    )


@njit(cache=True, nogil=True)
def _kernel_row(parts: KernelParts, i: int, dense: Floats, products: Floats, out: Matrix) -> None:
    """Fill ``out`` with K(i, ·); ``dense`` is all zero before and after."""
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
        own = parts.first[b] + index[i]
        for p in range(parts.indptr[own], parts.indptr[own + 1]):
            dense[parts.indices[p]] = parts.data[p]
        for r in range(width):
            total = 0.0
            for p in range(parts.indptr[parts.first[b] + r], parts.indptr[parts.first[b] + r + 1]):
                total += dense[parts.indices[p]] * parts.data[p]
            products[r] = total
        for k in range(n):
            out[k] += products[index[k]]
        for p in range(parts.indptr[own], parts.indptr[own + 1]):
            dense[parts.indices[p]] = 0.0


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


@njit(cache=True, nogil=True)
def _cached_row(
    parts: KernelParts,
    i: int,
    keep: int,
    slot_of: Ints,
    owner: Ints,
    used: Bools,
    hand: Ints,
    cache: Matrix,
    dense: Floats,
    products: Floats,
) -> int:
    """The slot of row i, made now if it must be; the slot ``keep`` is not given away (second-chance order)."""
    slot: int = slot_of[i]
    if slot >= 0:
        used[slot] = True
        return slot
    while True:
        slot = hand[0]
        hand[0] = (hand[0] + 1) % len(owner)
        if slot == keep:
            continue
        if used[slot]:
            used[slot] = False
            continue
        break
    if owner[slot] >= 0:
        slot_of[owner[slot]] = -1
    owner[slot] = i
    slot_of[i] = slot
    used[slot] = True
    _kernel_row(parts, i, dense, products, cache[slot])
    return slot


@njit(cache=True, nogil=True)
def _optimise(
    parts: KernelParts,
    p: Floats,
    low: Floats,
    high: Floats,
    tol: float,
    max_steps: int,
    cache: Matrix,
    beta: Floats,
) -> tuple[float, int]:
    """Move pairs of variables until the largest violation is below ``tol``. p, low, high, beta: variables × pairs."""
    sides, n = p.shape
    diagonal = _diagonal(parts, n)
    f = np.zeros(n)
    slot_of = np.full(n, -1)
    owner = np.full(cache.shape[0], -1)
    used = np.zeros(cache.shape[0], dtype=np.bool_)
    hand = np.zeros(1, dtype=np.int64)
    dense = np.zeros(parts.n_columns)
    products = np.zeros(parts.width.max())
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
        slot = _cached_row(parts, up, -1, slot_of, owner, used, hand, cache, dense, products)
        row = cache[slot]
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
        other = cache[_cached_row(parts, down, slot, slot_of, owner, used, hand, cache, dense, products)]
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
    parts: KernelParts, p: Floats, low: Floats, high: Floats, tol: float, max_steps: int
) -> tuple[Floats, float, int]:
    n = p.shape[1]
    slots = int(min(n, max(2, CACHE_BYTES // (4 * n))))
    beta = np.zeros_like(p)
    cache = np.empty((slots, n), dtype=np.float32)
    bias, steps = _optimise(parts, p, low, high, tol, max_steps, cache, beta)
    return beta.sum(axis=0), float(bias), int(steps)


def rowwise_classes(
    blocks: Sequence[tuple[Csr, Index | None]],
    targets: Bools,
    C: float = 1.0,
    tol: float = 1e-3,
    max_steps: int = 50_000_000,
) -> Dual:
    """One C-SVM per column of ``targets``."""
    parts = kernel_parts(blocks)
    n, outputs = targets.shape
    coef, intercept = np.zeros((n, outputs)), np.zeros(outputs)
    steps = np.zeros(outputs, dtype=np.int64)
    for k in range(outputs):
        positive = targets[:, k]
        constant = constant_output(positive)
        if constant is not None:
            intercept[k] = constant
            continue
        p, low, high = np.where(positive, 1.0, -1.0), np.where(positive, 0.0, -C), np.where(positive, C, 0.0)
        coef[:, k], intercept[k], steps[k] = _solve(parts, p[None], low[None], high[None], tol, max_steps)
    return Dual(coef, intercept, steps)


def rowwise_ratings(
    blocks: Sequence[tuple[Csr, Index | None]],
    ratings: Floats,
    C: float = 1.0,
    epsilon: float = 0.2,
    tol: float = 1e-3,
    max_steps: int = 50_000_000,
) -> Dual:
    """ε-SVR on the raw scale of ``ratings``."""
    n = len(ratings)
    p = np.vstack([ratings - epsilon, ratings + epsilon])
    low = np.repeat([[0.0], [-C]], n, axis=1)
    high = np.repeat([[C], [0.0]], n, axis=1)
    coef, bias, steps = _solve(kernel_parts(blocks), p, low, high, tol, max_steps)
    return Dual(coef[:, None], np.array([bias]), np.array([steps]))
