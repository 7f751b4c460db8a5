"""Putting rows of several tables side by side, with no more memory than the result takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.contexts.distribute import Csr, canonical
from bagpack.jit import kernel, read_only

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Rows of a table, -1 for a row of zeros; where `swapped`, the left and the right half of the row change places."""

    table: Csr
    rows: I64
    swapped: NDArray[np.bool_] | None = None

    @property
    def lengths(self) -> I64:
        """Entries of each row."""
        if not self.table.shape[0]:
            return np.zeros(self.rows.size, np.int64)
        lengths = np.diff(self.table.indptr).astype(np.int64)
        return np.where(self.rows >= 0, lengths[np.maximum(self.rows, 0)], 0)


@kernel
def _copy_rows(indptr, indices, data, rows, swapped, half, offset, cursor, out_indices, out_data):  # type: ignore[no-untyped-def]
    """Copy rows[i] of a table to cursor[i].., columns shifted by `offset`; the cursors move on."""
    for i in range(rows.size):
        if rows[i] < 0:
            continue
        low, high = np.int64(indptr[rows[i]]), np.int64(indptr[rows[i] + 1])
        at = cursor[i]
        turned = swapped.size > 0 and swapped[i]
        # A swapped row's right half comes first. Nothing relies on sorted columns: a file may say anything.
        for k in range(low, high):
            if not turned or indices[k] >= half:
                out_indices[at] = indices[k] + offset - (half if turned else 0)
                out_data[at] = data[k]
                at += 1
        if turned:
            for k in range(low, high):
                if indices[k] < half:
                    out_indices[at] = indices[k] + offset + half
                    out_data[at] = data[k]
                    at += 1
        cursor[i] = at


def assemble(parts: Sequence[Part]) -> Csr:
    """The parts side by side, as CSR with sorted indices."""
    ends = np.cumsum(np.sum([part.lengths for part in parts], axis=0, dtype=np.int64))
    rows = parts[0].rows.size
    size = int(ends[-1]) if rows else 0
    indptr: NDArray[Any] = np.zeros(rows + 1, np.int32 if size < 1 << 31 else np.int64)
    indptr[1:] = ends
    # scipy wants one type for both, and would otherwise make copies of everything.
    data: NDArray[Any] = np.empty(size, np.result_type(*(part.table.dtype for part in parts)))
    indices = np.empty(size, indptr.dtype)
    cursor = indptr[:-1].astype(np.int64)
    width = 0
    for part in parts:
        table = part.table
        swapped = np.zeros(0, np.bool_) if part.swapped is None else part.swapped
        _copy_rows(
            read_only(table.indptr), read_only(table.indices), read_only(table.data), read_only(part.rows),
            read_only(swapped), table.shape[1] // 2, width, cursor, indices, data,
        )  # fmt: skip
        width += table.shape[1]
    return canonical(sparse.csr_array((data, indices, indptr), shape=(rows, width)))
