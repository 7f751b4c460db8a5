"""Linear C-SVM and ε-SVR: libsvm on the Gram matrix up to 4,000 pairs, dual coordinate descent (`solver`) beyond.

libsvm keeps its kernel rows in single precision. The Gram matrix of the plain scaled features of preset `paper` has a
part that all rows share, which dominates the rest: on thousands of rows the rounding errors exceed ``tol``, and libsvm
never stops (nor does it on the dense matrix). Shifted features, whose image of zero was subtracted, have no such part
and the same solution, because the bias is free.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from bagpack.errors import UsageError
from bagpack.kernels import kernel
from bagpack.parallel import delayed, run_threads

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Csr, Floats
    from bagpack.learn.features import Features
    from bagpack.learn.targets import Targets

GRAM_ROWS = 4_000  # whose Gram matrix takes 128 MB, and one more is held with it
LARGEST_COST = 1e9
MAX_STEPS = 20_000_000  # some minutes; an SVM of unit-length rows needs thousands

# Above this density BLAS (some 20 multiplications per ns and core) beats the entry lists (about 1).
DENSE_ABOVE = 0.2
ROWS_AT_ONCE = 256
CHUNK_ENTRIES = 4_000_000  # 32 MB of densified columns at a time


@dataclass(frozen=True)
class SvmSettings:
    """Settings of the SVM.

    ``C`` is the cost of an error, ``epsilon`` half the width of the band without cost (ratings only). ``tol`` says when
    the solver stops: the largest violation (libsvm), or the share by which a better solution could exist.
    """

    C: float = 1.0
    epsilon: float = 0.2
    tol: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 < self.C <= LARGEST_COST:
            raise UsageError(f"C must be above 0 and at most {LARGEST_COST:g}, not {self.C}")
        if not (0 <= self.epsilon < math.inf):
            raise UsageError(f"epsilon must be a number from 0 on, not {self.epsilon}")
        if not 0 < self.tol < 1:
            raise UsageError(f"tol must be between 0 and 1, not {self.tol}")


def by_gram(n: int) -> bool:
    """Whether n rows are solved on their Gram matrix."""
    return n <= GRAM_ROWS


@dataclass(frozen=True)
class Dual:
    """Coefficients per training row and output: f(x) = intercept + Σ_i coef_i · k(x_i, x)."""

    coef: Floats
    intercept: Floats
    converged: bool = True


# Gram matrices --------------------------------------------------------------------------------------------------


@kernel
def _add_entry_products(  # type: ignore[no-untyped-def]
    indptr, indices, data, column_ptr, column_rows, column_data, out
):
    """out[i, k] += Σ_j a_ij·a_kj for k ≤ i; rows of a column come in ascending order."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            value = data[p]
            for q in range(column_ptr[j], column_ptr[j + 1]):
                k = column_rows[q]
                if k > i:
                    break
                out[i, k] += value * column_data[q]


def _mirror(out: Floats) -> None:
    """Fill the upper triangle from the lower one: in blocks, more than twice as fast as at once."""
    for start in range(0, len(out), ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, len(out))
        out[start:stop, stop:] = out[stop:, start:stop].T
        corner = out[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T


def row_gram(rows: Csr) -> Floats:
    """R Rᵀ for sparse rows R, never densifying more than a few hundred columns at a time.

    A column that holds few rows costs least through its list of entries, one that holds many through BLAS.
    """
    n = rows.shape[0]
    out = np.zeros((n, n))
    columns = sparse.csc_array(rows)
    columns.sort_indices()
    per_column = np.diff(columns.indptr)
    dense = np.flatnonzero(per_column > DENSE_ABOVE * n)
    thin = np.flatnonzero((per_column > 0) & (per_column <= DENSE_ABOVE * n))
    step = max(1, CHUNK_ENTRIES // max(n, 1))
    for start in range(0, len(dense), step):
        chunk = columns[:, dense[start : start + step]].toarray(order="F")
        # Fortran's upper triangle of the transpose is C's lower triangle of the matrix, updated in place.
        dsyrk(1.0, chunk, beta=1.0, c=out.T, lower=0, overwrite_c=1)
    if len(thin):
        by_column = columns[:, thin] if len(dense) else columns
        by_row = by_column.tocsr()
        arrays = (by_row.indptr, by_row.indices, by_row.data)
        _add_entry_products(*arrays, by_column.indptr, by_column.indices, by_column.data, out)
    _mirror(out)
    return out


def pair_gram(features: Features) -> Floats:
    """``G1[w1, w1] + G2[w2, w2]`` of the distinct words' rows, and the Gram matrices of products and own columns."""
    out = np.zeros((len(features), len(features)))
    words, same = np.zeros((0, 0)), None
    for table, rows in features.words if features.first.shape[1] else ():
        words, same = words if table is same else row_gram(table), table
        for start in range(0, len(rows), ROWS_AT_ONCE):
            own = slice(start, start + ROWS_AT_ONCE)
            out[own] += words[rows[own]][:, rows]
    for part in (features.products(), features.own):
        if part.shape[1]:
            out += row_gram(part)
    return out


# libsvm ---------------------------------------------------------------------------------------------------------


def _libsvm(svm: Any, gram: Floats, y: Bools | Floats) -> tuple[Floats, float, bool]:
    svm.fit(gram, y)
    coef = np.zeros(len(gram))
    coef[svm.support_] = svm.dual_coef_[0]
    return coef, float(svm.intercept_[0]), not svm.fit_status_


def _solve_gram(gram: Floats, y: Bools | Floats, svm: SvmSettings) -> Dual:
    """An SVM per column of ``y``, classes or ratings, all on one Gram matrix; in threads."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC, SVR

    cache = min(max(50.0, 4.4e-6 * len(gram) ** 2), 500.0)  # MB, for libsvm's single-precision kernel rows
    model = SVC() if y.dtype == bool else SVR(epsilon=svm.epsilon)
    model.set_params(kernel="precomputed", C=svm.C, tol=svm.tol, cache_size=cache, max_iter=MAX_STEPS)
    tasks = (delayed(_libsvm)(clone(model), gram, column) for column in y.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        coef, intercept, converged = zip(*run_threads(tasks), strict=True)
    if not all(converged):
        message = (
            f"the SVM did not converge within {MAX_STEPS:,} steps; its scores are approximate. A smaller C, or a "
            f"larger tol, converges sooner"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return Dual(np.stack(coef, axis=1), np.array(intercept), all(converged))


# Either solver --------------------------------------------------------------------------------------------------


def solve(rows: Features | Floats, targets: Targets, svm: SvmSettings) -> Dual:
    """The SVMs of all outputs, from features or from a Gram matrix.

    Where every training row says the same of a class, there is no SVM, and all decision values are 1 or −1.
    """
    from bagpack.learn.solver import descend

    rating = targets.kind == "rating"
    y: Any = targets.ratings[:, None] if rating else targets.columns
    learned = np.flatnonzero([True] if rating else (y != y[0]).any(axis=0))
    coef, intercept = np.zeros(y.shape), np.where(y[0], 1.0, -1.0)
    if not len(learned):
        return Dual(coef, intercept)
    if not isinstance(rows, np.ndarray) and by_gram(len(rows)):
        rows = pair_gram(rows)
    y = y[:, learned]
    found = _solve_gram(rows, y, svm) if isinstance(rows, np.ndarray) else descend(rows, y, svm)
    coef[:, learned], intercept[learned] = found.coef, found.intercept
    return Dual(coef, intercept, found.converged)
