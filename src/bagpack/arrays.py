"""Names of array types, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

Bools = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Index = NDArray[np.intp]
Ints = NDArray[np.integer[Any]]
F32 = NDArray[np.float32]
Floats = NDArray[np.float64]
Values = NDArray[Any]
Csr: TypeAlias = "sparse.csr_array[Any, Any] | sparse.csr_matrix[Any]"  # scipy 1.13 has no subscripts
