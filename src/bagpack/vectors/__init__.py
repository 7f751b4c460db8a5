"""Pair vectors: `PairVectorizer` makes them, `PairCounts` holds the counts."""
