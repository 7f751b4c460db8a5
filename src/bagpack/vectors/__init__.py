"""Pair vectors: `PairVectorizer` makes them, `BlockMatrix` keeps them."""

from bagpack.vectors.matrix import BlockMatrix as BlockMatrix
from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer
