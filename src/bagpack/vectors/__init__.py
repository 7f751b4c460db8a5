"""Pair vectors: `PairVectorizer` makes them, `PairCounts` holds the counts. Both load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.lazy import lazy_names

if TYPE_CHECKING:
    from bagpack.vectors.counts import PairCounts as PairCounts
    from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer

_NAMES = {"bagpack.vectors.counts": ("PairCounts",), "bagpack.vectors.vectorizer": ("PairVectorizer",)}
__getattr__, __all__ = lazy_names(__name__, _NAMES)
