"""Linear C-SVM and ε-SVR with a free bias, by dual coordinate descent over word rows, pair rows and products.

Both are one problem in one variable per pair (classification: β_i = y_i α_i):

    min  ½ ‖w‖² − Σ p_i β_i + ε Σ |β_i|,   w = Σ β_i x_i,   low_i ≤ β_i ≤ high_i,   Σ β_i = 0.

Classification has p = ±1, ε = 0 and β between 0 and ±C; ratings have p = rating and |β| ≤ C. Each step minimises over
one β_i, and w follows (Hsieh et al. 2008, as in liblinear), so an epoch is linear in the number of pairs. The
condition Σ β = 0 is that of an unpenalised bias: liblinear, which drops it, penalises the bias like a weight. Here the
method of multipliers enforces it: the bias is ``offset + gain · Σ β``, which penalises only its distance from
``offset``, and ``offset`` moves to the bias after every epoch. Where Σ β = 0, subtracting the mean row from every row
changes nothing but the bias, so the steps are those of centred rows, which converge sooner; the mean row enters as two
numbers.

An optimum is certified: β is made feasible, the bias is the exact minimiser for w, and the duality gap between the
two objectives bounds the distance from the optimum. A gap above ``tol`` after ``MAX_EPOCHS`` is reported.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from bagpack.kernels import allocating_kernel, kernel
from bagpack.learn.features import Features, row_arrays, spread_row
from bagpack.learn.svm import Dual, SvmSettings, row_gram
from bagpack.parallel import delayed, run_threads

if TYPE_CHECKING:
    from bagpack.arrays import Floats, Index

MAX_EPOCHS = 1000
# Weight of the multipliers, as a share of the mean squared length of a row: less enforces Σ β = 0 more slowly, more
# slows every step down (epochs on two sets of 12,000 and 26,000 pairs: 60 and 66 with 0.1, 110 and 117 with 1).
GAIN = 0.1
# The first check of the gap comes when no gradient is above this share of the targets' scale; each later one at a
# third of the gradient before.
FIRST_CHECK = 0.1
# Coordinate descent is slow on rows that differ much in length. Every EXACT_EVERY epochs, the variables that are still
# active are optimised exactly, where they are few enough for a Gram matrix (128 MB). Rows of unit length converge in
# 35 to 75 epochs and need no Gram matrix, which would take as long as all their epochs.
EXACT_ROWS = 4000
EXACT_EVERY = 100
EXACT_STEPS = 100


# Kernels --------------------------------------------------------------------------------------------------------


@kernel
def _dot(indptr, indices, data, row, weights):  # type: ignore[no-untyped-def]
    """Product of a row with the weights of its block."""
    total = 0.0
    for q in range(indptr[row], indptr[row + 1]):
        total += data[q] * weights[indices[q]]
    return total


@kernel
def _add(indptr, indices, data, row, step, weights):  # type: ignore[no-untyped-def]
    """Add step · row to the weights."""
    for q in range(indptr[row], indptr[row + 1]):
        weights[indices[q]] += step * data[q]


@allocating_kernel
def _descend(  # type: ignore[no-untyped-def]
    first, second, own, w1, w2, product, order, squares, means, mean, target, low, high, epsilon, gain, limit, offset,
    of_first, of_second, of_product, of_own, beta, active,
):  # fmt: skip
    """One step for each pair in ``order``, in which pairs of a first word follow each other; the largest violation.

    ``first``, ``second`` and ``own`` are the arrays of rows; ``of_…`` the weights of their blocks, and of the products,
    which ``product`` scales (empty: no products). ``squares`` are the rows' squared lengths, ``means`` their products
    with the mean row, ``mean`` its squared length. A variable at a bound (or at 0 inside the ε band) whose gradient
    points beyond it by more than ``limit`` becomes inactive. The product of the weights with the first word's row is
    kept while the word stays the same, and its weights are written when the word changes.
    """
    f_ptr, f_col, f_data = first
    s_ptr, s_col, s_data = second
    o_ptr, o_col, o_data = own
    has_product = product.size > 0
    dense = np.zeros(of_product.size)
    word, word_dot, word_square, pending = np.int64(-1), 0.0, 0.0, 0.0
    worst = 0.0
    total = beta.sum()
    along = beta @ means
    for i in order:
        if w1[i] != word:
            if pending != 0.0:
                _add(f_ptr, f_col, f_data, word, pending, of_first)
                pending = 0.0
            if has_product:
                spread_row(f_ptr, f_col, f_data, word, w1[i], dense)
            word = w1[i]
            word_dot = _dot(f_ptr, f_col, f_data, word, of_first)
            word_square = 0.0
            for q in range(f_ptr[word], f_ptr[word + 1]):
                word_square += f_data[q] * f_data[q]
        value = offset + (gain + mean - means[i]) * total - along - target[i] + word_dot
        value += _dot(o_ptr, o_col, o_data, i, of_own)
        if has_product:
            joint = 0.0
            for q in range(s_ptr[w2[i]], s_ptr[w2[i] + 1]):
                c = s_col[q]
                value += s_data[q] * of_second[c]
                joint += s_data[q] * dense[c] * of_product[c]
            value += product[i] * joint
        else:
            value += _dot(s_ptr, s_col, s_data, w2[i], of_second)
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
        pending += step
        word_dot += step * word_square
        _add(o_ptr, o_col, o_data, i, step, of_own)
        if has_product:
            scaled = step * product[i]
            for q in range(s_ptr[w2[i]], s_ptr[w2[i] + 1]):
                c = s_col[q]
                of_second[c] += step * s_data[q]
                of_product[c] += scaled * s_data[q] * dense[c]
        else:
            _add(s_ptr, s_col, s_data, w2[i], step, of_second)
    if pending != 0.0:
        _add(f_ptr, f_col, f_data, word, pending, of_first)
    return worst


@kernel
def _optimise_exactly(  # type: ignore[no-untyped-def]
    gram, target, low, high, epsilon, tol, max_steps, values, beta
):
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


# One output -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Problem:
    """One output, after what all outputs share."""

    features: Features
    arrays: tuple[Any, ...]  # of first, second and own rows, w1, w2 and product
    bounds: Index  # where the weights of each of the four blocks begin
    squares: Floats
    means: Floats  # each pair's product with the mean of all pairs
    mean: float  # the squared length of that mean
    epsilon: float
    target: Floats
    low: Floats
    high: Floats

    def losses(self, values: Floats) -> Floats:
        error = self.target - values
        return np.maximum(
            np.maximum(self.high * (error - self.epsilon), self.low * (error + self.epsilon)), 0.0
        )

    def best_bias(self, values: Floats) -> float:
        """The bias that makes the losses smallest; the middle where several do.

        The sum of losses is piecewise linear in the bias. Its slope begins at −Σ high and grows by ``high`` and by
        −``low`` where a pair's error enters and leaves the band.
        """
        error = self.target - values
        points = np.concatenate([error - self.epsilon, error + self.epsilon])
        jumps = np.concatenate([self.high, -self.low])
        order = np.argsort(points, kind="stable")
        order = order[jumps[order] > 0]
        slopes = np.cumsum(jumps[order]) - self.high.sum()
        flat = 1e-9 * self.high.sum()
        first = min(int(np.searchsorted(slopes, -flat)), len(order) - 1)
        last = first + 1 if slopes[first] <= flat and first + 1 < len(order) else first
        return float(points[order[first]] + points[order[last]]) / 2

    def certify(self, beta: Floats) -> tuple[Floats, float, float, float]:
        """Make β feasible in place; weights, bias, and the primal and dual objective."""
        _balance(beta, self.low, self.high)
        weights = self.features.combine(beta[:, None])
        values = self.features.decisions(weights)[:, 0]
        bias = self.best_bias(values)
        half = 0.5 * float((weights * weights).sum())
        primal = half + float(self.losses(values + bias).sum())
        dual = float(self.target @ beta) - self.epsilon * float(np.abs(beta).sum()) - half
        return weights[:, 0], bias, primal, dual

    def refine(self, beta: Floats, pairs: Index, tol: float) -> None:
        """Optimise β of some pairs exactly, in place; the others stay."""
        _balance(beta, self.low, self.high)
        few = self.features.take(pairs)
        values = few.decisions(self.features.combine(beta[:, None]))[:, 0]
        own = beta[pairs]
        _optimise_exactly(
            row_gram(few.matrix()), self.target[pairs], self.low[pairs], self.high[pairs], self.epsilon, tol,
            EXACT_STEPS * len(pairs), values, own,
        )  # fmt: skip
        beta[pairs] = own

    def solve(self, tol: float) -> tuple[Floats, float, float]:
        """β, bias and relative duality gap: no solution's objective is better by a larger share."""
        n, w1 = len(self.target), self.arrays[3]
        gain = GAIN * float((self.squares - 2 * self.means + self.mean).mean()) or 1.0
        rng = np.random.default_rng(0)
        beta, active = np.zeros(n), np.ones(n, dtype=np.bool_)
        weights, dual = np.zeros(int(self.bounds[-1])), 0.0
        bias = offset = self.best_bias(np.zeros(n))
        primal = float(self.losses(np.full(n, bias)).sum())
        check = FIRST_CHECK * (float(self.target.std()) if self.epsilon else 1.0)
        limit = math.inf
        epochs = 0
        while primal - dual > tol * primal and epochs < MAX_EPOCHS:
            pairs = rng.permutation(np.flatnonzero(active))
            turn = rng.permutation(int(w1.max()) + 1)
            order = pairs[np.argsort(turn[w1[pairs]], kind="stable")]
            blocks = (weights[a:b] for a, b in pairwise(self.bounds))
            worst = _descend(
                *self.arrays, order, self.squares, self.means, self.mean, self.target, self.low, self.high,
                self.epsilon, gain, limit, offset, *blocks, beta, active,
            )  # fmt: skip
            epochs += 1
            offset += gain * float(beta.sum())
            limit = worst or math.inf
            slow = epochs % EXACT_EVERY == 0 and active.sum() <= EXACT_ROWS
            if slow or worst <= check or epochs == MAX_EPOCHS:
                if slow:
                    self.refine(beta, np.flatnonzero(active), 0.1 * check)
                weights, bias, primal, dual = self.certify(beta)
                offset = bias + float(beta @ self.means)
                # The gap shrinks about as fast as the violation does.
                wanted = tol * primal / max(primal - dual, 1e-300)
                check = min(check, worst) * min(max(wanted, 0.1), 0.7)
                active[:] = True
                limit = math.inf
        return beta, bias, (primal - dual) / primal if primal > 0 else 0.0


def _balance(beta: Floats, low: Floats, high: Floats) -> None:
    """Make Σ β zero in place, by variables between their bounds as far as these can, else by all."""
    for among in (beta != low) & (beta != high), np.ones(len(beta), dtype=bool):
        total = float(beta.sum())
        if abs(total) <= 1e-12 * float(np.abs(beta).sum()):
            break
        space = np.where(among, beta - low if total > 0 else high - beta, 0.0)
        beta -= (
            math.copysign(min(1.0, abs(total) / max(float(space.sum()), abs(total) * 1e-9)), total) * space
        )
    np.clip(beta, low, high, out=beta)


# All outputs ----------------------------------------------------------------------------------------------------


def descend(features: Features, y: Any, svm: SvmSettings) -> Dual:
    """One SVM per column of ``y`` (pairs × outputs): bools for classes, numbers for ratings; see the module.

    Outputs are solved at once, in threads; the solution is the same for any number.
    """
    n, width = len(features), features.first.shape[1]
    if not width:  # every pair is a word of its own, so that the order is random
        none = sparse.csr_array((n, 0))
        features = replace(features, first=none, second=none, w1=np.arange(n), w2=np.arange(n))
    rows = map(row_arrays, (features.first, features.second, features.own))
    words = (number.astype(np.int64) for number in (features.w1, features.w2))
    widths = (width, width, width if len(features.product) else 0, features.own.shape[1])
    mean = features.combine(np.full((n, 1), 1 / n))
    classes = y.dtype == bool
    shared = (
        features, (*rows, *words, features.product), np.cumsum([0, *widths]), features.squares(),
        features.decisions(mean)[:, 0], float((mean * mean).sum()), 0.0 if classes else svm.epsilon,
    )  # fmt: skip
    tasks = []
    for own in y.T:
        target = np.where(own, 1.0, -1.0) if classes else own.copy()
        low, high = np.full(n, -svm.C), np.full(n, svm.C)
        if classes:
            low[own] = high[~own] = 0.0
        tasks.append(delayed(_Problem.solve)(_Problem(*shared, target, low, high), svm.tol))
    coef, intercept, gaps = zip(*run_threads(tasks), strict=True)
    late = [gap for gap in gaps if gap > svm.tol]
    if late:
        message = (
            f"the solver stopped after {MAX_EPOCHS} epochs before it reached the optimum for {len(late)} of "
            f"{len(gaps)} outputs: the objective may be up to {100 * max(late):.2f} % too high "
            f"({100 * svm.tol:.2f} % was asked); a smaller C helps"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return Dual(np.stack(coef, axis=1), np.array(intercept), not late)
