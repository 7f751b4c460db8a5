"""Suggestions for unknown words: words of the corpus with a similar spelling or the same beginning."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.text.casefold import fold

BEGINNING = 4  # characters that words with the same beginning share
COMPARED = 50_000  # words, the most frequent ones
CLOSE = 0.75  # similarity as difflib measures it


@dataclass(frozen=True)
class KnownWord:
    """A key and its count."""

    word: str
    count: int


def complete(corpus: Corpus, start: str, most: int = 12) -> list[KnownWord]:
    """The most frequent words with this beginning."""
    wanted = fold(start, corpus.options).encode()
    if not wanted:
        return []
    low, high = corpus.lexicon.keys.first_not_below([wanted, wanted + b"\xff"]).tolist()
    return _first(corpus, np.arange(low, high), np.asarray(corpus.lexicon.counts[low:high]), most)


def nearby(corpus: Corpus, word: str, most: int = 8) -> list[KnownWord]:
    """Words similar to one that the corpus does not contain: first by spelling, then by beginning.

    Of several words, the first unknown one is replaced.
    """
    pieces = word.replace("_", " ").split()
    unknown = [at for at, key in enumerate(corpus.keys_of(pieces)) if key is None]
    if not unknown:
        return []
    at = unknown[0]
    found = _misspelt(corpus, fold(pieces[at], corpus.options), most)
    found += [item for item in complete(corpus, pieces[at][:BEGINNING], most) if item not in found]
    return [
        KnownWord(" ".join([*pieces[:at], item.word, *pieces[at + 1 :]]), item.count) for item in found[:most]
    ]


def _misspelt(corpus: Corpus, word: str, most: int) -> list[KnownWord]:
    """Frequent words that difflib finds similar; comparing with a million rare ones would take minutes."""
    lexicon = corpus.lexicon
    counts = np.asarray(lexicon.counts)
    frequent = np.flatnonzero(counts > 0)
    if frequent.size > COMPARED:
        frequent = np.argpartition(-counts, COMPARED)[:COMPARED]
    lengths = np.diff(lexicon.keys.offsets)[frequent]
    near = frequent[abs(lengths - len(word.encode())) <= 2]
    known = {lexicon.keys[number]: int(counts[number]) for number in near.tolist()}
    found = get_close_matches(word, known, most, CLOSE)
    return [KnownWord(own, known[own]) for own in found]


def _first(
    corpus: Corpus, indices: NDArray[np.int64], scores: NDArray[np.float64], most: int
) -> list[KnownWord]:
    """The keys with the highest scores; of equal ones those that come first."""
    best = np.flatnonzero(scores > 0)  # not all keys occur in a subcorpus
    if best.size > most:
        best = np.flatnonzero(scores >= np.partition(scores, indices.size - most)[indices.size - most])
    best = best[np.argsort(-scores[best], kind="stable")][:most]
    lexicon = corpus.lexicon
    return [KnownWord(lexicon.keys[i], int(lexicon.counts[i])) for i in indices[best].tolist()]
