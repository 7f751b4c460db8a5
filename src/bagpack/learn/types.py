"""Type aliases."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = NDArray[np.intp]
Csr: TypeAlias = "sparse.csr_array[Any] | sparse.csr_matrix[Any]"

Matrix: TypeAlias = Any
"""Dense or sparse rows × columns, as scikit-learn takes them."""
Pairs: TypeAlias = Any
"""Pairs of words (a sequence, an n × 2 array or frame), or `PairCounts`."""
Label: TypeAlias = Any
"""Text or a number."""
Answers: TypeAlias = Any
"""One label or rating per pair."""
Json: TypeAlias = Any
"""What JSON can hold."""
Tags: TypeAlias = Any
"""scikit-learn's estimator tags."""
