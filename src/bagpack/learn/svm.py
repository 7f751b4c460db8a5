"""Linear C-SVM and ε-SVR from a Gram matrix, through scikit-learn's libsvm.

libsvm keeps its kernel rows in single precision. The Gram matrix of the plain scaled features of preset `paper` has a
part that all rows share, which dominates the rest: on thousands of rows the rounding errors exceed ``tol``, and libsvm
never stops (nor does it on the dense matrix). Shifted features, whose image of zero was subtracted, have no such part
and the same solution, because the bias is free.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from bagpack.parallel import delayed, run_threads

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats


MAX_STEPS = 20_000_000  # some minutes; an SVM of unit-length rows needs thousands


@dataclass(frozen=True)
class Dual:
    """Coefficients per training row and output: f(x) = intercept + Σ_i coef_i · k(x_i, x)."""

    coef: Floats
    intercept: Floats
    converged: bool = True


def constant_output(column: Bools) -> float | None:
    """The decision value where every training row says the same (no SVM can be trained), else None."""
    if column.all():
        return 1.0
    return None if column.any() else -1.0


def _cache_mb(n: int) -> float:
    """Cache size for all of libsvm's single-precision kernel rows, from 50 to 500 MB."""
    return float(min(max(50.0, 4.4e-6 * n * n), 500.0))


def _fit(
    svm: SVC | SVR, gram: Floats, y: Bools | Floats, weight: Floats | None
) -> tuple[Floats, float, bool]:
    """Coefficients, intercept, and whether libsvm converged."""
    coef = np.zeros(len(gram))
    rows = np.arange(len(gram))
    if weight is not None and not weight.all():
        # libsvm drops rows of weight 0, and then numbers the others differently.
        rows = np.flatnonzero(weight)
        gram, y, weight = gram[np.ix_(rows, rows)], y[rows], weight[rows]
    svm.fit(gram, y, sample_weight=weight)
    coef[rows[svm.support_]] = svm.dual_coef_[0]
    return coef, float(svm.intercept_[0]), not svm.fit_status_


def _solve(tasks: Iterable[Any], n_jobs: int | None) -> list[tuple[Floats, float, bool]]:
    """Results of `_fit`, in threads; one warning if any did not converge, instead of scikit-learn's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = run_threads(tasks, n_jobs)
    if not all(converged for *_, converged in found):
        warnings.warn(
            f"the SVM did not converge within {MAX_STEPS:,} steps; its scores are approximate. A smaller C, or "
            f"a larger tol, converges sooner",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


def solve_classes(
    gram: Floats, targets: Bools, C: float = 1.0, tol: float = 1e-3, weight: Floats | None = None,
    n_jobs: int | None = 1,
) -> Dual:  # fmt: skip
    """One C-SVM per column of ``targets`` (rows × outputs), all on the one Gram matrix; ``n_jobs`` of them at once."""
    n, outputs = targets.shape
    own = [None if weight is None else np.ascontiguousarray(weight[:, k]) for k in range(outputs)]
    constant = [
        constant_output(targets[:, k] if cost is None else targets[cost > 0, k]) for k, cost in enumerate(own)
    ]
    learned = [k for k, value in enumerate(constant) if value is None]
    coef = np.zeros((n, outputs))
    intercept = np.array([0.0 if value is None else value for value in constant])
    converged = True
    settings = {"C": C, "tol": tol, "cache_size": _cache_mb(n), "max_iter": MAX_STEPS}
    tasks = (
        delayed(_fit)(SVC(kernel="precomputed", **settings), gram, targets[:, k], own[k]) for k in learned
    )
    for k, found in zip(learned, _solve(tasks, n_jobs), strict=True):
        coef[:, k], intercept[k], well = found
        converged &= well
    return Dual(coef, intercept, converged)


def solve_ratings(
    gram: Floats, ratings: Floats, C: float = 1.0, epsilon: float = 0.2, tol: float = 1e-3,
    weight: Floats | None = None,
) -> Dual:  # fmt: skip
    """ε-SVR on the raw scale of ``ratings``."""
    svm = SVR(
        kernel="precomputed",
        C=C,
        epsilon=epsilon,
        tol=tol,
        cache_size=_cache_mb(len(ratings)),
        max_iter=MAX_STEPS,
    )
    own = None if weight is None else np.ascontiguousarray(weight[:, 0])
    ((coef, intercept, converged),) = _solve([delayed(_fit)(svm, gram, ratings, own)], 1)
    return Dual(coef[:, None], np.array([intercept]), converged)
