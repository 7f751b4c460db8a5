"""Suggestions for unknown words: words of the corpus with a similar spelling or the same beginning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.casefold import fold
from bagpack.jit import allocating_kernel

BEGINNING = 4  # characters that words with the same beginning share
SHORT = 6  # bytes; within two edits of a shorter word there are too many words
LONGEST = 60  # bytes of a word that is compared
WORTH_A_SLIP = 20  # a word with one more edit must be this many times as frequent


@dataclass(frozen=True)
class KnownWord:
    """A key and its count."""

    word: str
    count: int


@allocating_kernel
def slips(blob, offsets, word, most, out):  # type: ignore[no-untyped-def]
    """Edit distance (with transpositions) of each string to a word, in bytes; most + 1 means more than `most`."""
    size = word.size
    before = np.empty(size + 1, np.int64)
    last = np.empty(size + 1, np.int64)
    row = np.empty(size + 1, np.int64)
    for i in range(offsets.size - 1):
        start, length = np.int64(offsets[i]), np.int64(offsets[i + 1]) - np.int64(offsets[i])
        out[i] = most + 1
        if abs(length - size) > most:
            continue
        for k in range(size + 1):
            last[k] = k
        smallest = 0
        for j in range(1, length + 1):
            c = blob[start + j - 1]
            row[0] = smallest = j
            for k in range(1, size + 1):
                cost = min(last[k] + 1, row[k - 1] + 1, last[k - 1] + (c != word[k - 1]))
                if j > 1 and k > 1 and c == word[k - 2] and blob[start + j - 2] == word[k - 1]:
                    cost = min(cost, before[k - 2] + 1)
                row[k] = cost
                smallest = min(smallest, cost)
            before, last, row = last, row, before
            if smallest > most:
                break
        if smallest <= most:
            out[i] = min(last[size], most + 1)


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
    unknown = [at for at, key in enumerate(corpus.resolve(pieces)) if key is None]
    if not unknown:
        return []
    at = unknown[0]
    found = _misspelt(corpus, fold(pieces[at], corpus.options).encode(), most)
    found += [item for item in complete(corpus, pieces[at][:BEGINNING], most) if item not in found]
    return [
        KnownWord(" ".join([*pieces[:at], item.word, *pieces[at + 1 :]]), item.count) for item in found[:most]
    ]


def _misspelt(corpus: Corpus, word: bytes, most: int) -> list[KnownWord]:
    if len(word) > LONGEST:
        return []
    keys: Strings = corpus.lexicon.keys
    allowed = 1 if len(word) < SHORT else 2
    distance = np.empty(len(keys), np.int8)
    slips(keys.blob, keys.offsets, np.frombuffer(word, np.uint8), allowed, distance)
    near = np.flatnonzero(distance <= allowed)
    return _first(corpus, near, corpus.lexicon.counts[near] / float(WORTH_A_SLIP) ** distance[near], most)


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
