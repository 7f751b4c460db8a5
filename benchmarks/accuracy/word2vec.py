"""word2vec (gensim, skip-gram, 200 dimensions) on the lemmas of the same store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bagpack import Corpus
from benchmarks.corpora import sentences


def train(corpus: Corpus, out: Path) -> None:
    """Train and write the vectors, once."""
    from gensim.models import Word2Vec

    text = out.with_suffix(".lemmas.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.writelines(sentences(corpus))
    model = Word2Vec(
        corpus_file=str(text), vector_size=200, window=5, min_count=5, sg=1, negative=5, sample=1e-3, epochs=5,
        workers=os.cpu_count() or 1, seed=1,
    )  # fmt: skip
    model.wv.save(str(out))
    text.unlink()


def lookup(corpus: Corpus, path: Path) -> Callable[[str], np.ndarray]:
    """The vector of a word as the store understands it; zeros for words without one, the mean for several words."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load(str(path))
    known: dict[str, np.ndarray] = {}

    def vector(word: str) -> np.ndarray:
        if word not in known:
            parts = [key for key in corpus.keys_of(word.split()) if key is not None and key in vectors]
            none = np.zeros(vectors.vector_size, dtype=np.float32)
            known[word] = np.mean([vectors[key] for key in parts], axis=0) if parts else none
        return known[word]

    return vector
