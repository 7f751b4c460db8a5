"""Reduced vectors of a corpus's words: how similarly two words are used, and each word's part of speech.

A word's contexts are the most frequent unigrams within four tokens, both sides together:

    PPMI(w, t) = max(0, ln(n(w, t) / (n(w) p(t)))),   p(t) ~ n(t)^0.75
    vector(w)  = unit(PPMI(w) V S^(-1/2) - mean),     PPMI = U S V' over the frequent words (300 dimensions)

The mean over the frequent words is subtracted, since all vectors share a large common part. They are computed once per
store and kept in it (`STORE/word-vectors`); words that are not among them are projected by the same formula.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import numpy as np
from scipy import sparse

from bagpack import parallel
from bagpack.arrays import F32, U8, Floats
from bagpack.artefacts import MANIFEST, Artefact, Kind, new_artefact, open_artefact
from bagpack.basis import Basis, top_unigrams
from bagpack.contexts.candidates import frequent_words
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import Array, below, check_entries, strings, write_arrays
from bagpack.corpus.strings import Strings
from bagpack.corpus.subcorpus import Subcorpus
from bagpack.corpus.words import CLASSES, word_classes
from bagpack.errors import StoreError
from bagpack.vectors.storage import open_arrays, strings_of

MOST_WORDS = 40_000
TERMS = 10_000
WIDE_TERMS = 5_000  # of analogies
DIMENSIONS = 300
SMOOTHING = 0.75  # of the terms' counts: rare terms would be surprising everywhere
NAME = "word-vectors"  # in the directory of a store
KIND = Kind("word-vectors", "directory of word vectors", 1, "bagpack find")
NUMBERS = ("words", "terms", "dimensions")
ARRAYS = {
    **strings("words", "words", "word bytes"),
    **strings("terms", "terms", "term bytes"),
    "classes": Array("|u1", "words", below("classes")),
    "rows": Array("<f4", "words × dimensions", lambda *_: ""),
    "shares": Array("<f8", "terms", lambda *_: ""),
    "projection": Array("<f4", "terms × dimensions", lambda *_: ""),
    "mean": Array("<f4", "dimensions", lambda *_: ""),
}


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of the frequent words of a corpus, and what others need to be projected."""

    corpus: Corpus
    words: Strings  # keys
    rows: F32  # of unit length
    classes: U8  # each word's part of speech: a place in `CLASSES`
    terms: Strings
    shares: Floats  # of the terms, smoothed
    projection: F32  # V S^(-1/2)
    mean: F32

    @classmethod
    def of(cls, corpus: Corpus) -> WordVectors:
        """The vectors of a corpus: from its store, or computed and, if the store can be written, kept there.

        Those of a part of a store are those of the whole: how similar words are is a property of the language.
        """
        whole = Corpus.open(corpus.path) if isinstance(corpus, Subcorpus) else corpus
        return _vectors_of(str(corpus.path), whole.content_hash)

    @classmethod
    def compute(cls, corpus: Corpus) -> WordVectors:
        from sklearn.utils.extmath import randomized_svd

        targets = sorted(frequent_words(corpus, MOST_WORDS), key=lambda target: target.keys[0].encode())
        keys = [target.keys[0] for target in targets]
        unigrams, _ = top_unigrams(corpus, TERMS)
        rows = count_words(corpus, targets, unigrams)
        totals = np.asarray(rows.sum(axis=0)).ravel() ** SMOOTHING
        shares = totals / max(totals.sum(), 1e-300)
        weighted = ppmi(rows, shares)
        parallel.progress()("word vectors", 0, 0)
        _, values, directions = randomized_svd(
            weighted, min(DIMENSIONS, *weighted.shape), n_iter=2, random_state=np.random.RandomState(0)
        )
        positive = values > 1e-9
        projection = (directions[positive].T / np.sqrt(values[positive])).astype(np.float32)
        raw = np.asarray(weighted @ projection, np.float32)
        mean = raw.mean(axis=0)
        return cls(
            corpus, Strings.of(keys), unit(raw - mean), word_classes(corpus, keys), Strings.of(unigrams), shares,
            projection, mean,
        )  # fmt: skip

    def vectors(self, targets: Sequence[Target]) -> F32:
        """A row of unit length for each target; for a phrase, the mean of its words."""
        words = [target.words for target in targets]
        lengths = np.array([len(own) for own in words], np.int64)
        rows = self._of_keys([word for own in words for word in own])
        return unit(np.add.reduceat(rows, np.cumsum(lengths) - lengths, axis=0))

    def class_of(self, targets: Sequence[Target]) -> U8:
        """The part of speech of each target, as a place in `CLASSES`; of a phrase, that of its last word."""
        keys = [target.words[-1] for target in targets]
        found = self.words.find(keys)
        out = np.where(found >= 0, self.classes[found], 0).astype(np.uint8)
        if len(new := np.flatnonzero(found < 0)):
            out[new] = word_classes(self.corpus, [keys[k] for k in new.tolist()])
        return out

    def nearest(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The words that are used most like a word, with the cosine of their vectors."""
        target = self.corpus.resolve([word])[0]
        if target is None:
            return []
        similar = self.rows @ self.vectors([target])[0]
        order = np.argsort(-similar, kind="stable")[: n + len(target.words)].tolist()
        found = [(self.words[k], float(similar[k])) for k in order if self.words[k] not in target.words]
        return found[:n]

    def _of_keys(self, keys: Sequence[str]) -> F32:
        found = self.words.find(keys)
        rows = np.zeros((len(keys), self.rows.shape[1]), np.float32)
        rows[found >= 0] = self.rows[found[found >= 0]]
        if len(new := np.flatnonzero(found < 0)):
            targets = [Target((keys[k],)) for k in new.tolist()]
            counts = count_words(self.corpus, targets, [term.decode() for term in self.terms])
            rows[new] = unit(np.asarray(ppmi(counts, self.shares) @ self.projection) - self.mean)
        return rows

    def save(self, path: Path) -> None:
        with new_artefact(path, KIND, overwrite=True) as draft:
            write_arrays(draft.directory, {name: attrgetter(name)(self) for name in ARRAYS}, ARRAYS)
            sizes = len(self.words), len(self.terms), self.rows.shape[1]
            numbers = dict(zip(NUMBERS, sizes, strict=True))
            draft.manifest = {"content_hash": self.corpus.content_hash, **numbers}

    @classmethod
    def open(cls, path: Path, corpus: Corpus) -> WordVectors:
        """Read vectors; a StoreError if they are damaged, or of another state of the corpus."""
        stored = open_artefact(path, KIND)
        if stored.manifest.get("content_hash") != corpus.content_hash:
            raise StoreError(f"{path} has the word vectors of another corpus")
        if problems := stored.damages():
            raise StoreError(problems[0])
        check_entries(stored.manifest, dict.fromkeys(NUMBERS, int), path)
        words, terms, dimensions = (stored.manifest[name] for name in NUMBERS)
        numbers = {
            "words": words, "terms": terms, "dimensions": dimensions, "words × dimensions": words * dimensions,
            "terms × dimensions": terms * dimensions, "classes": len(CLASSES),
        }  # fmt: skip
        arrays = open_arrays(stored, ARRAYS, numbers, "search again to compute them again")
        return cls(
            corpus, strings_of(arrays, "words"), arrays["rows"].reshape(words, dimensions), arrays["classes"],
            strings_of(arrays, "terms"), arrays["shares"], arrays["projection"].reshape(terms, dimensions),
            arrays["mean"],
        )  # fmt: skip


def stored_vectors(store: Path) -> Artefact | None:
    """The artefact of a store's word vectors, if it has them."""
    return open_artefact(store / NAME, KIND) if (store / NAME / MANIFEST).exists() else None


@lru_cache(maxsize=4)
def _vectors_of(path: str, content_hash: str) -> WordVectors:
    corpus = Corpus.open(path)
    try:
        return WordVectors.open(corpus.path / NAME, corpus)
    except StoreError:  # there are none, or they are of no use
        found = WordVectors.compute(corpus)
    if os.access(corpus.path, os.W_OK):
        try:
            found.save(corpus.path / NAME)
        except StoreError as error:  # a full disk, or another process writes them: they are kept in memory
            parallel.progress()(f"word vectors were not kept: {error}", 0, 0)
    return found


def count_words(corpus: Corpus, targets: Sequence[Target], unigrams: Sequence[str]) -> sparse.csr_array:
    """Contexts of each target, targets × unigrams, both sides together."""
    rows, _ = corpus.count_words(targets, Basis(tuple(unigrams), ()), CountSettings())
    return sparse.csr_array(rows[:, : len(unigrams)] + rows[:, len(unigrams) :])


def ppmi(counts: sparse.csr_array, shares: Floats) -> sparse.csr_array:
    """Positive pointwise mutual information of rows with terms that have these shares of all contexts."""
    totals = np.asarray(counts.sum(axis=1), np.float64).ravel()
    entries = counts.tocoo()
    with np.errstate(divide="ignore"):
        values = np.log(entries.data) - np.log(totals[entries.row]) - np.log(shares[entries.col])
    kept = values > 0
    rows, columns = entries.row[kept], entries.col[kept]
    return sparse.csr_array((values[kept], (rows, columns)), shape=counts.shape)


def wide_rows(corpus: Corpus, targets: Sequence[Target | None]) -> sparse.csr_array:
    """PPMI of each target with the 5,000 most frequent unigrams within four tokens, rows of unit length.

    The row of None is zero.
    """
    from sklearn.preprocessing import normalize

    unigrams, counts = top_unigrams(corpus, WIDE_TERMS)
    shares = np.array(counts, np.float64) ** SMOOTHING
    known = [k for k, target in enumerate(targets) if target is not None]
    found = count_words(corpus, [target for target in targets if target is not None], unigrams)
    spread = sparse.csr_array((np.ones(len(known)), (known, range(len(known)))), (len(targets), len(known)))
    return sparse.csr_array(normalize(spread @ ppmi(found, shares / shares.sum())))


def unit(rows: F32) -> F32:
    """Rows of length 1; all-zero rows are unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
