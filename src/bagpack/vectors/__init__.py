"""Pair vectors: `PairVectorizer` makes them, `BlockMatrix` keeps them. Both load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.vectors.matrix import BlockMatrix as BlockMatrix
    from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer

_NAMES = {"bagpack.vectors.matrix": ("BlockMatrix",), "bagpack.vectors.vectorizer": ("PairVectorizer",)}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
