"""Gram matrices of sparse blocks, never densifying more than a few hundred columns at a time.

A column that holds few rows costs least through its list of entries, one that holds many through BLAS. Both
parts add into one matrix over the block's distinct rows, which the pairs then read through their index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from bagpack.jit import kernel

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Index, Ints, Matrix


# Above this density BLAS (some 20 multiplications per ns and core) beats the entry lists (about 1).
DENSE_ABOVE = 0.2
ROWS_AT_ONCE = 256
CHUNK_ENTRIES = 4_000_000  # 32 MB of densified columns at a time


@kernel
def _add_entry_products(
    indptr: Ints,
    indices: Ints,
    data: Matrix,
    column_ptr: Ints,
    column_rows: Ints,
    column_data: Floats,
    out: Floats,
) -> None:
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
    """Fill the upper triangle from the lower one."""
    for start in range(0, len(out), ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, len(out))
        out[start:stop, stop:] = out[stop:, start:stop].T
        corner = out[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T


def block_gram(rows: Csr) -> Floats:
    """R Rᵀ for sparse rows R."""
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
        thin_columns = columns[:, thin] if len(dense) else columns
        thin_rows = thin_columns.tocsr()
        _add_entry_products(
            thin_rows.indptr,
            thin_rows.indices,
            thin_rows.data,
            thin_columns.indptr,
            thin_columns.indices,
            thin_columns.data,
            out,
        )
    _mirror(out)
    return out


def add_block_gram(out: Floats | None, gram: Floats, index: Index | None) -> Floats:
    """Add a block's Gram matrix, spread over the pairs by ``index``, to ``out`` (None: a new matrix)."""
    if index is None:
        if out is None:
            return gram
        out += gram
        return out
    if out is None:
        out = np.zeros((len(index), len(index)))
    for start in range(0, len(index), ROWS_AT_ONCE):
        own = slice(start, start + ROWS_AT_ONCE)
        out[own] += gram[index[own]][:, index]
    return out


def back_project(rows: Csr, index: Index | None, coefficients: Floats) -> Floats:
    """Σ_i coefficient_i · row of pair i: primal weights (columns × outputs) from dual coefficients."""
    if index is not None:
        spread = sparse.csr_array(
            (np.ones(len(index)), (index, np.arange(len(index)))), shape=(rows.shape[0], len(index))
        )
        coefficients = np.asarray(spread @ coefficients)
    return np.asarray(rows.T @ coefficients)
