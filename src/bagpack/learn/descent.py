"""Dual coordinate descent for sets too large for a Gram matrix, with the same free bias.

Both machines are one problem in β (classification: β_i = y_i α_i):

    min ½‖Σ β_i x_i‖² − Σ p_i β_i + ε Σ |β_i|,   lo_i ≤ β_i ≤ hi_i,   Σ β_i = 0.

A single β cannot move under Σ β = 0. The method of multipliers takes the constraint into the objective:
rounds of coordinate descent on the box alone, with a bias that is pulled towards its last value, and between
the rounds the pull's centre moves to where the bias went. At the end nothing pulls: the bias is as free as
libsvm's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from bagpack.learn.svm import Dual, constant_output

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Csr, Floats, Index, Ints, Matrix


@njit(cache=True, nogil=True)
def _row_sums(indptr: Ints, indices: Ints, data: Matrix, index: Index, mean: Floats) -> tuple[Floats, Floats]:
    """Per pair, ‖x_i‖² and mean·x_i; its vector is the sum of the stacked rows that ``index`` names."""
    squares = np.zeros(len(indptr) - 1)
    products = np.zeros(len(indptr) - 1)
    for r in range(len(squares)):
        for p in range(indptr[r], indptr[r + 1]):
            squares[r] += data[p] * data[p]
            products[r] += data[p] * mean[indices[p]]
    norms = np.zeros(index.shape[0])
    along = np.zeros(index.shape[0])
    for i in range(index.shape[0]):
        for m in range(index.shape[1]):
            norms[i] += squares[index[i, m]]
            along[i] += products[index[i, m]]
    return norms, along


@njit(cache=True, nogil=True)
def _descend(
    indptr: Ints,
    indices: Ints,
    data: Matrix,
    index: Index,
    norms: Floats,
    along: Floats,
    p: Floats,
    low: Floats,
    high: Floats,
    epsilon: float,
    tol: float,
    max_passes: int,
    seed: int,
    beta: Floats,
    w: Floats,
) -> tuple[float, int, float]:
    """Run to ``tol`` on the largest violation; beta and w are updated. Gives bias, passes, violation.

    The vectors are taken around their mean m, without being touched: with S = Σ β and w = Σ β_i x_i,
    (w − S m)·(x_i − m) = w·x_i − S m·x_i − w·m + S m·m, and all but the first term are numbers at hand.
    """
    n = len(p)
    np.random.seed(seed)
    mean_square = along.mean()
    spread = norms - 2.0 * along + mean_square
    pull = max(spread.mean(), 1e-12)
    centre = 0.0
    total = 0.0
    w_mean = 0.0
    order = np.arange(n)
    active = n
    shrink_at = np.inf
    passes = 0
    worst = np.inf
    while passes < max_passes:
        passes += 1
        for t in range(active):
            other = t + np.random.randint(0, active - t)
            order[t], order[other] = order[other], order[t]
        worst = 0.0
        t = 0
        while t < active:
            i = order[t]
            f = centre + total * (pull - along[i] + mean_square) - w_mean - p[i]
            for m in range(index.shape[1]):
                r = index[i, m]
                for q in range(indptr[r], indptr[r + 1]):
                    f += w[indices[q]] * data[q]
            if (beta[i] == low[i] and f - epsilon > shrink_at) or (
                beta[i] == high[i] and f + epsilon < -shrink_at
            ):
                active -= 1
                order[t], order[active] = order[active], order[t]
                continue
            curvature = spread[i] + pull
            if f + epsilon < curvature * beta[i]:
                wanted = beta[i] - (f + epsilon) / curvature
            elif f - epsilon > curvature * beta[i]:
                wanted = beta[i] - (f - epsilon) / curvature
            else:
                wanted = 0.0
            wanted = min(max(wanted, low[i]), high[i])
            change = wanted - beta[i]
            if change != 0.0:
                beta[i] = wanted
                worst = max(worst, abs(change) * curvature)
                total += change
                w_mean += change * along[i]
                for m in range(index.shape[1]):
                    r = index[i, m]
                    for q in range(indptr[r], indptr[r + 1]):
                        w[indices[q]] += change * data[q]
            t += 1
        gap = abs(pull * total)
        if worst > max(tol, 0.1 * gap):
            shrink_at = max(worst, tol)
            continue
        if gap <= tol and worst <= tol and active == n:
            break
        # The multiplier step: the centre of the pull moves to where the bias stands.
        if gap > tol:
            centre += pull * total
        active = n
        shrink_at = np.inf
    return centre + total * (pull + mean_square) - w_mean, passes, worst


def _solve_one(
    stacked: Csr,
    index: Index,
    p: Floats,
    low: Floats,
    high: Floats,
    epsilon: float,
    tol: float,
    max_passes: int,
    seed: int,
) -> tuple[Floats, float, int]:
    beta = np.zeros(len(p))
    w = np.zeros(stacked.shape[1])
    uses = np.bincount(index.ravel(), minlength=stacked.shape[0]) / len(p)
    mean = np.asarray(stacked.T @ uses)
    csr = (stacked.indptr, stacked.indices, stacked.data)
    norms, along = _row_sums(*csr, index, mean)
    bias, passes, _ = _descend(
        *csr, index, norms, along, p, low, high, epsilon, tol, max_passes, seed, beta, w
    )
    return beta, float(bias), int(passes)


def descend_classes(
    stacked: Csr,
    index: Index,
    targets: Bools,
    C: float = 1.0,
    tol: float = 1e-3,
    max_passes: int = 2000,
    seed: int = 0,
) -> Dual:
    """One C-SVM per column of ``targets``; pair i's vector is the sum of ``stacked[index[i]]``."""
    n, outputs = targets.shape
    coef, intercept = np.zeros((n, outputs)), np.zeros(outputs)
    passes = np.zeros(outputs, dtype=np.int64)
    for k in range(outputs):
        constant = constant_output(targets[:, k])
        if constant is not None:
            intercept[k] = constant
            continue
        positive = targets[:, k]
        coef[:, k], intercept[k], passes[k] = _solve_one(
            stacked,
            index,
            np.where(positive, 1.0, -1.0),
            np.where(positive, 0.0, -C),
            np.where(positive, C, 0.0),
            0.0,
            tol,
            max_passes,
            seed,
        )
    return Dual(coef, intercept, passes)


def descend_ratings(
    stacked: Csr,
    index: Index,
    ratings: Floats,
    C: float = 1.0,
    epsilon: float = 0.2,
    tol: float = 1e-3,
    max_passes: int = 2000,
    seed: int = 0,
) -> Dual:
    """ε-SVR; pair i's vector is the sum of ``stacked[index[i]]``."""
    bound = np.full(len(ratings), C)
    coef, intercept, passes = _solve_one(
        stacked, index, ratings, -bound, bound, epsilon, tol, max_passes, seed
    )
    return Dual(coef[:, None], np.array([intercept]), np.array([passes]))
