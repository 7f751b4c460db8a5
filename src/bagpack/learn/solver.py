"""Linear C-SVM and ε-SVR with a free bias, by dual coordinate descent over blocks.

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
two objectives bounds the distance from the optimum. A gap above ``tol`` after ``max_epochs`` is reported.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bagpack.errors import UsageError
from bagpack.learn.design import Design
from bagpack.learn.gram import block_gram
from bagpack.learn.solver_kernels import descend, optimise_exactly
from bagpack.parallel import delayed, run_threads

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Index

TOLERANCE = 1e-3
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


@dataclass(frozen=True)
class Solution:
    """Weights (columns × outputs), bias and dual coefficients (pairs × outputs): f(x) = intercept + x · weights.

    ``gap`` is (primal − dual) / primal objective: no solution is better than ``objective`` by a larger share.
    """

    weights: Floats
    intercept: Floats
    coef: Floats
    objective: Floats
    gap: Floats
    epochs: Index
    tol: float

    @property
    def converged(self) -> bool:
        """Whether every output's gap is within the tolerance."""
        return bool((self.gap <= self.tol).all())


@dataclass
class _Problem:
    """One output."""

    design: Design
    target: Floats
    low: Floats
    high: Floats
    epsilon: float

    def losses(self, values: Floats) -> Floats:
        """Cost of each pair's decision value."""
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
        first = int(np.searchsorted(slopes, -flat))
        first = min(first, len(order) - 1)
        last = first + 1 if slopes[first] <= flat and first + 1 < len(order) else first
        return float(points[order[first]] + points[order[last]]) / 2

    def certify(self, beta: Floats) -> tuple[Floats, float, float, float]:
        """Make β feasible in place; weights, bias, and the primal and dual objective."""
        _balance(beta, self.low, self.high)
        weights = self.design.combine(beta)
        values = self.design.decisions(weights[:, None])[:, 0]
        bias = self.best_bias(values)
        half = 0.5 * float(weights @ weights)
        primal = half + float(self.losses(values + bias).sum())
        dual = float(self.target @ beta) - self.epsilon * float(np.abs(beta).sum()) - half
        return weights, bias, primal, dual

    def refine(self, beta: Floats, pairs: Index, tol: float) -> None:
        """Optimise β of some pairs exactly, in place; the others stay."""
        _balance(beta, self.low, self.high)
        few = self.design.take(pairs)
        values = few.decisions(self.design.combine(beta)[:, None])[:, 0]
        own = beta[pairs]
        optimise_exactly(
            block_gram(few.matrix()), self.target[pairs], self.low[pairs], self.high[pairs], self.epsilon, tol,
            EXACT_STEPS * len(pairs), values, own,
        )  # fmt: skip
        beta[pairs] = own

    def solve(
        self, tol: float, max_epochs: int, seed: int
    ) -> tuple[Floats, float, Floats, float, float, int]:
        """Weights, bias, β, primal objective, gap and number of epochs."""
        n = len(self.target)
        if not self.high.any() or not self.low.any():  # only one side has examples that count
            side = float(self.high.any()) - float(self.low.any())
            return np.zeros(self.design.n_columns), side, np.zeros(n), 0.0, 0.0, 0
        arrays = self.design.arrays
        squares = self.design.squares
        means, mean = self.design.means
        gain = GAIN * float((squares - 2 * means + mean).mean()) or 1.0
        rng = np.random.default_rng(seed)
        lead = arrays.row[0].astype(np.int64)
        beta, active = np.zeros(n), np.ones(n, dtype=np.bool_)
        dense = np.zeros(int(np.diff(arrays.first).max()))
        weights, dual = np.zeros(self.design.n_columns), 0.0
        bias = offset = self.best_bias(np.zeros(n))
        primal = float(self.losses(np.full(n, bias)).sum())
        check = FIRST_CHECK * (float(self.target.std()) if self.epsilon else 1.0)
        limit = math.inf
        epochs = 0
        while primal - dual > tol * primal and epochs < max_epochs:
            pairs = rng.permutation(np.flatnonzero(active))
            turn = rng.permutation(len(arrays.indptr) - 1)
            order = pairs[np.argsort(turn[lead[pairs]], kind="stable")]
            worst = descend(
                arrays, order, squares, means, mean, self.target, self.low, self.high, self.epsilon, gain,
                limit, offset, weights, beta, active, dense,
            )  # fmt: skip
            epochs += 1
            offset += gain * float(beta.sum())
            limit = worst or math.inf
            slow = epochs % EXACT_EVERY == 0 and active.sum() <= EXACT_ROWS
            if slow or worst <= check or epochs == max_epochs:
                if slow:
                    self.refine(beta, np.flatnonzero(active), 0.1 * check)
                weights, bias, primal, dual = self.certify(beta)
                offset = bias + float(beta @ means)
                # The gap shrinks about as fast as the violation does.
                wanted = tol * primal / max(primal - dual, 1e-300)
                check = min(check, worst) * min(max(wanted, 0.1), 0.7)
                active[:] = True
                limit = math.inf
        return weights, bias, beta, primal, (primal - dual) / primal if primal > 0 else 0.0, epochs


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


def fit_classes(
    design: Design,
    columns: Bools,
    C: float = 1.0,
    cost: Floats | None = None,
    tol: float = TOLERANCE,
    max_epochs: int = MAX_EPOCHS,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> Solution:
    """One C-SVM per column of ``columns`` (pairs × outputs), each against the rest.

    Parameters
    ----------
    C
        Cost of an error.
    cost
        Factor on C per pair, or per pair and output (sample and class weights).
    tol
        Largest relative duality gap.
    max_epochs
        Steps per pair, at most; a gap above ``tol`` is then reported as a `ConvergenceWarning`.
    seed
        Of the order in which the pairs are visited.
    n_jobs
        Outputs solved at once, in threads. The solution is the same for any number.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from bagpack.learn.design import RowBlock, make_design
    >>> design = make_design([RowBlock(csr_array(np.array([[0.0], [1.0], [2.0], [3.0]])))])
    >>> found = fit_classes(design, np.array([[False], [False], [True], [True]]), C=10, tol=1e-6)
    >>> found.weights.round(2).tolist(), found.intercept.round(2).tolist()
    ([[2.0]], [-3.0])
    """
    columns = np.asarray(columns, dtype=bool)
    bounds = C * _costs(cost, columns.shape)
    target = np.where(columns, 1.0, -1.0)
    low, high = np.where(columns, 0.0, -bounds), np.where(columns, bounds, 0.0)
    return _fit(design, target, low, high, 0.0, tol, max_epochs, seed, n_jobs)


def fit_ratings(
    design: Design,
    ratings: Floats,
    C: float = 1.0,
    epsilon: float = 0.2,
    cost: Floats | None = None,
    tol: float = TOLERANCE,
    max_epochs: int = MAX_EPOCHS,
) -> Solution:
    """ε-SVR on the raw scale of ``ratings``; errors up to ``epsilon`` cost nothing. See `fit_classes`."""
    target = np.asarray(ratings, dtype=np.float64)[:, None]
    bounds = C * _costs(cost, target.shape)
    return _fit(design, target, -bounds, bounds, epsilon, tol, max_epochs, 0, 1)


def _costs(cost: Floats | None, shape: tuple[int, int]) -> Floats:
    """Pairs × outputs."""
    if cost is None:
        return np.ones(shape)
    cost = np.asarray(cost, dtype=np.float64)
    if cost.ndim == 1:
        cost = cost[:, None]
    if cost.shape[0] != shape[0] or cost.shape[1] not in (1, shape[1]):
        raise UsageError(f"the costs have the shape {cost.shape}; one per pair is needed, {shape[0]} in all")
    if not (np.isfinite(cost).all() and (cost >= 0).all()):
        raise UsageError("every cost must be a finite number, 0 or above")
    return np.broadcast_to(cost, shape)


def _fit(
    design: Design,
    target: Floats,
    low: Floats,
    high: Floats,
    epsilon: float,
    tol: float,
    max_epochs: int,
    seed: int,
    n_jobs: int | None,
) -> Solution:
    n, outputs = target.shape
    if n != len(design):
        raise UsageError(
            f"the design matrix has {len(design)} pairs and there are {n} targets: they must agree"
        )
    if not n:
        raise UsageError("there is no pair to learn from")
    design.squares, design.means  # noqa: B018 computed once for all outputs
    problems = (
        _Problem(design, target[:, k].copy(), low[:, k].copy(), high[:, k].copy(), epsilon)
        for k in range(outputs)
    )
    found = run_threads((delayed(_Problem.solve)(one, tol, max_epochs, seed) for one in problems), n_jobs)
    weights, intercept, coef, objective, gap, epochs = zip(*found, strict=True)
    out = Solution(
        np.stack(weights, axis=1),
        np.array(intercept),
        np.stack(coef, axis=1),
        np.array(objective),
        np.array(gap),
        np.array(epochs),
        tol,
    )
    if not out.converged:
        late = int((out.gap > tol).sum())
        warnings.warn(
            f"the solver stopped after {max_epochs} epochs before it reached the optimum for {late} of {outputs} "
            f"outputs: the objective may be up to {100 * out.gap.max():.2f} % too high ({100 * tol:.2f} % was asked); "
            "a smaller C or more epochs help",
            ConvergenceWarning,
            stacklevel=3,
        )
    return out
