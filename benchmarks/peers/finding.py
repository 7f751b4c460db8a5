"""All pairs of 2,000 words that co-occur, as `bagpack find` enumerates them: `python -m benchmarks.peers.finding PEER`.

The words are those of rank 500 to 2,500, about as frequent as terms that people look for. Answers are compared: the
number of co-occurrences of each pair must be ours. One core.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

import numpy as np

from benchmarks.peers.material import BETWEEN, PLACE, SENTENCES, STORE, quickest, report

FROM, TO = 500, 2500
CANDIDATES = PLACE / "candidates.npz"


def ours() -> None:
    """The kernel over postings; the counts are kept for the peer to be checked against."""
    from bagpack import Corpus
    from bagpack.contexts.candidates import find_candidates, frequent_words

    corpus = Corpus.open(STORE)
    words = frequent_words(corpus, TO)[FROM:]
    find_candidates(corpus, words[:10])
    found, seconds = quickest(lambda: find_candidates(corpus, words))
    names = np.array([str(word) for word in found.words])
    np.savez(CANDIDATES, words=names, first=found.first, second=found.second, together=found.together)
    report(seconds=seconds, words=len(words), pairs=len(found))


def python() -> None:
    """One pass over the sentences with a Counter."""
    kept = np.load(CANDIDATES)
    number = {word: k for k, word in enumerate(kept["words"].tolist())}
    found: Counter[tuple[int, int]] = Counter()
    begun = time.perf_counter()
    with open(SENTENCES, encoding="utf-8") as lines:
        for line in lines:
            places = [(at, number[word]) for at, word in enumerate(line.split()) if word in number]
            for k, (at, one) in enumerate(places):
                between = set()
                for other, two in places[k + 1 :]:
                    if other - at > BETWEEN + 1 or two == one:
                        break
                    if two not in between:
                        found[(one, two) if one < two else (two, one)] += 1
                        between.add(two)
    seconds = time.perf_counter() - begun
    pairs = zip(kept["first"].tolist(), kept["second"].tolist(), strict=True)
    expected = dict(zip(((min(pair), max(pair)) for pair in pairs), kept["together"].tolist(), strict=True))
    assert dict(found) == expected, "other co-occurrences than BagPack's"
    report(seconds=seconds)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    {each.__name__: each for each in (ours, python)}[sys.argv[1]]()
