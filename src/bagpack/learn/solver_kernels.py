"""Kernels of the SVM solver: one epoch of dual coordinate descent, and exact steps on a Gram matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bagpack.jit import kernel
from bagpack.learn.design_kernels import Arrays, add_product, add_row, dot_product, dot_row, spread_row

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Index


@kernel
def descend(
    arrays: Arrays,
    order: Index,
    squares: Floats,
    means: Floats,
    mean: float,
    target: Floats,
    low: Floats,
    high: Floats,
    epsilon: float,
    gain: float,
    limit: float,
    offset: float,
    weights: Floats,
    beta: Floats,
    active: Bools,
    dense: Floats,
) -> float:
    """One step for each pair in ``order``; returns the largest violation.

    ``squares`` are the rows' squared lengths, ``means`` their products with the mean row, ``mean`` its squared length.
    A variable at a bound (or at 0 inside the ε band) whose gradient points beyond it by more than ``limit`` becomes
    inactive. The leading block's product is kept while its row stays the same, and its weights are written when the
    row changes.
    """
    blocks = len(arrays.first) - 1
    leads = len(order) > 0 and arrays.other[0, order[0]] < 0
    lead, lead_dot, lead_square, pending = -1, 0.0, 0.0, 0.0
    lead_weights = weights[: arrays.first[1]]
    spread = np.int64(-1)
    worst = 0.0
    total = beta.sum()
    along = beta @ means
    for i in order:
        value = offset + (gain + mean - means[i]) * total - along - target[i]
        if leads:
            row = arrays.row[0, i]
            if row != lead:
                if pending != 0.0:
                    add_row(arrays, lead, pending, lead_weights)
                    pending = 0.0
                lead = row
                lead_dot = dot_row(arrays, row, lead_weights)
                lead_square = 0.0
                for q in range(arrays.indptr[row], arrays.indptr[row + 1]):
                    lead_square += arrays.data[q] * arrays.data[q]
            value += arrays.scale[0, i] * lead_dot
        for b in range(1 if leads else 0, blocks):
            own = weights[arrays.first[b] : arrays.first[b + 1]]
            other = np.int64(arrays.other[b, i])
            if other < 0:
                value += arrays.scale[b, i] * dot_row(arrays, arrays.row[b, i], own)
                continue
            if other != spread:
                spread_row(arrays, spread, other, dense)
                spread = other
            value += arrays.scale[b, i] * dot_product(arrays, arrays.row[b, i], dense, own)
        before = beta[i]
        rising = value + epsilon if before >= 0.0 else value - epsilon
        falling = value - epsilon if before <= 0.0 else value + epsilon
        if before < high[i] and rising < 0.0:
            worst = max(worst, -rising)
        elif before > low[i] and falling > 0.0:
            worst = max(worst, falling)
        else:
            if (before >= high[i] or rising > limit) and (before <= low[i] or falling < -limit):
                active[i] = False
            continue
        curve = max(squares[i] - 2.0 * means[i] + mean, 0.0) + gain
        after = before - value / curve
        if epsilon > 0.0:
            after = max(after - epsilon / curve, 0.0) if after > 0.0 else min(after + epsilon / curve, 0.0)
        after = min(max(after, low[i]), high[i])
        step = after - before
        if step == 0.0:
            continue
        beta[i] = after
        total += step
        along += means[i] * step
        if leads:
            pending += arrays.scale[0, i] * step
            lead_dot += arrays.scale[0, i] * step * lead_square
        for b in range(1 if leads else 0, blocks):
            own = weights[arrays.first[b] : arrays.first[b + 1]]
            other = np.int64(arrays.other[b, i])
            if other < 0:
                add_row(arrays, arrays.row[b, i], arrays.scale[b, i] * step, own)
                continue
            if other != spread:
                spread_row(arrays, spread, other, dense)
                spread = other
            add_product(arrays, arrays.row[b, i], dense, arrays.scale[b, i] * step, own)
    if pending != 0.0:
        add_row(arrays, lead, pending, lead_weights)
    spread_row(arrays, spread, np.int64(-1), dense)
    return worst


@kernel
def optimise_exactly(
    gram: Floats,
    target: Floats,
    low: Floats,
    high: Floats,
    epsilon: float,
    tol: float,
    max_steps: int,
    values: Floats,
    beta: Floats,
) -> None:
    """Sequential minimal optimisation (Fan, Chen and Lin 2005) of a few variables whose Gram matrix is at hand.

    Moves the steepest variable that can grow against the partner that promises most, which leaves Σ β as it is, until
    no two slopes differ by more than ``tol``. ``values`` are the decision values without a bias.
    """
    n = len(beta)
    for _ in range(max_steps):
        best, worst, up = -np.inf, np.inf, -1
        for k in range(n):
            slope = target[k] - values[k]
            if beta[k] < high[k]:
                rise = slope - epsilon if beta[k] >= 0.0 else slope + epsilon
                if rise > best:
                    best, up = rise, k
            if beta[k] > low[k]:
                worst = min(worst, slope - epsilon if beta[k] > 0.0 else slope + epsilon)
        if best - worst < tol:
            break
        row = gram[up]
        gain, down, move = -1.0, -1, 0.0
        for k in range(n):
            if beta[k] > low[k]:
                slope = target[k] - values[k]
                fall = best - (slope - epsilon if beta[k] > 0.0 else slope + epsilon)
                if fall > 0.0:
                    curve = max(row[up] + gram[k, k] - 2.0 * row[k], 1e-12)
                    if fall * fall > gain * curve:
                        gain, down, move = fall * fall / curve, k, fall / curve
        # A step ends where a variable reaches a bound, or 0, where the slope changes if there is an ε.
        top = 0.0 if epsilon > 0.0 and beta[up] < 0.0 else high[up]
        bottom = 0.0 if epsilon > 0.0 and beta[down] > 0.0 else low[down]
        move = min(move, top - beta[up], beta[down] - bottom)
        beta[up] = top if move == top - beta[up] else beta[up] + move
        beta[down] = bottom if move == beta[down] - bottom else beta[down] - move
        other = gram[down]
        for k in range(n):
            values[k] += move * (row[k] - other[k])
