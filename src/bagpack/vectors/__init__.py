"""Pair vectors: `PairVectorizer` makes them, `PairMatrix` keeps them."""

from bagpack.vectors.matrix import PairMatrix as PairMatrix
from bagpack.vectors.vectorizer import PairVectorizer as PairVectorizer
