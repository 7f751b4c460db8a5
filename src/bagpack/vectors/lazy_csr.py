"""A sparse array whose entries are put together when something asks for them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bagpack.contexts.distribute import Csr, canonical


class LazyCsr(sparse.csr_array):
    """A ``scipy.sparse.csr_array`` whose three arrays are made on demand; it cannot be changed in place.

    Selected rows (``X[rows]``) are of the same class; any other result of arithmetic or indexing is an ordinary
    ``csr_array``. A subclass has `_assemble` and `select`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An ordinary sparse array: scipy calls the class of an operand to make the results of its operations."""
        return sparse.csr_array(*args, **kwargs) if args or kwargs else super().__new__(cls)

    def _set_shape(self, rows: int, width: int) -> None:
        """Set whatever scipy keeps next to the three arrays."""
        template = vars(sparse.csr_array((rows, width), dtype=np.int32))
        self.__dict__.update(
            {key: value for key, value in template.items() if key not in ("data", "indices", "indptr")}
        )
        canonical(self)

    def _assemble(self) -> Csr:
        """The ordinary sparse array."""
        raise NotImplementedError

    def select(self, rows: ArrayLike | slice) -> Any:
        """Some of the rows (numbers, a mask or a slice), in the given order."""
        raise NotImplementedError

    @cached_property
    def _csr(self) -> Csr:
        csr = self._assemble()
        for array in (csr.data, csr.indices, csr.indptr):
            array.flags.writeable = False
        return csr

    @property
    def data(self) -> NDArray[Any]:  # type: ignore[override]
        """Values of the non-zero entries."""
        return self._csr.data

    @property
    def indices(self) -> NDArray[Any]:  # type: ignore[override]
        """Column of each entry."""
        return self._csr.indices

    @property
    def indptr(self) -> NDArray[Any]:  # type: ignore[override]
        """Where each row's entries start."""
        return self._csr.indptr

    def tocsr(self, copy: bool = False) -> sparse.csr_array[Any]:
        """The matrix itself, of which scikit-learn then selects rows; with ``copy`` an ordinary array."""
        return self.copy() if copy else self

    def __getitem__(self, key: Any) -> Any:
        """Rows as `select` returns them; anything else as scipy does."""
        rows = key
        if isinstance(key, tuple):
            rest = [part for part in key[1:] if part is not Ellipsis and not _is_everything(part)]
            rows = key[0] if not rest and len(key) else None
        if isinstance(rows, slice) or np.ndim(rows) == 1:
            return self.select(rows)
        return super().__getitem__(key)


def _is_everything(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)
