"""Linear C-SVM and ε-SVR from a Gram matrix, through scikit-learn's libsvm.

libsvm keeps its kernel rows in single precision, so what it is given decides the last digits of its answer, though
on paper a shift of the features changes nothing. Given the Gram matrix of the *plain* scaled features, its iterations
are those of ``SVC(kernel="linear")`` on the dense matrix, step by step. But there the part that all rows share drowns
the rest: on thousands of rows the rounding errors exceed ``tol``, and libsvm never stops (nor does it on the dense
matrix). The Gram matrix of the *shifted* features has no such part.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Dual:
    """Coefficients per training row and output: f(x) = intercept + Σ_i coef_i · k(x_i, x)."""

    coef: Floats
    intercept: Floats
    iterations: Ints


def constant_output(column: Bools) -> float | None:
    """The decision value where every training row says the same (no machine can be trained), else None."""
    if column.all():
        return 1.0
    return None if column.any() else -1.0


def _cache_mb(n: int) -> float:
    """Room for all of libsvm's single-precision kernel rows, within reason."""
    return float(min(max(200.0, 4.4e-6 * n * n), 1000.0))


class UnconvergedError(Exception):
    """libsvm was still moving after ``max_iter`` steps."""


def _fit(machine: SVC | SVR, gram: Floats, y: Bools | Floats) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(gram, y)
    if machine.fit_status_:
        raise UnconvergedError


def _dual_of(machine: SVC | SVR, n: int) -> tuple[Floats, float, int]:
    coef = np.zeros(n)
    coef[machine.support_] = machine.dual_coef_[0]
    return coef, float(machine.intercept_[0]), int(np.max(machine.n_iter_))


def solve_classes(
    gram: Floats, targets: Bools, C: float = 1.0, tol: float = 1e-3, max_iter: int = -1
) -> Dual:
    """One C-SVM per column of ``targets`` (rows × outputs), all on the one Gram matrix."""
    n, outputs = targets.shape
    coef, intercept = np.zeros((n, outputs)), np.zeros(outputs)
    iterations = np.zeros(outputs, dtype=np.int64)
    for k in range(outputs):
        constant = constant_output(targets[:, k])
        if constant is not None:
            intercept[k] = constant
            continue
        machine = SVC(kernel="precomputed", C=C, tol=tol, cache_size=_cache_mb(n), max_iter=max_iter)
        _fit(machine, gram, targets[:, k])
        coef[:, k], intercept[k], iterations[k] = _dual_of(machine, n)
    return Dual(coef, intercept, iterations)


def solve_ratings(
    gram: Floats,
    ratings: Floats,
    C: float = 1.0,
    epsilon: float = 0.2,
    tol: float = 1e-3,
    max_iter: int = -1,
) -> Dual:
    """ε-SVR on the raw scale of ``ratings``."""
    n = len(ratings)
    machine = SVR(
        kernel="precomputed", C=C, epsilon=epsilon, tol=tol, cache_size=_cache_mb(n), max_iter=max_iter
    )
    _fit(machine, gram, ratings)
    coef, intercept, iterations = _dual_of(machine, n)
    return Dual(coef[:, None], np.array([intercept]), np.array([iterations]))
