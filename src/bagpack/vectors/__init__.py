"""Pair vectors: `PairVectorizer` makes them, `BlockMatrix` keeps them. Both load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.vectors.matrix import BlockMatrix as BlockMatrix
    from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer

_MODULES = {"BlockMatrix": "bagpack.vectors.matrix", "PairVectorizer": "bagpack.vectors.vectorizer"}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__ = lazy_names(__name__, _MODULES)
