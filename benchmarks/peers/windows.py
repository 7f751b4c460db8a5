"""Window co-occurrence counts of words: `python -m benchmarks.peers.windows PEER`.

For each word, how many of its windows (4 before, 4 after; its first 5,000) hold each basis term. The peers get the
windows ready-made as text, without charge; ours begins at the store. One core.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import chain

import numpy as np

from benchmarks.peers.material import SENTENCES, STORE, B, quickest, read_pairs, report

REACH, LIMIT = 4, 5000


def words() -> list[str]:
    """The different words of the pairs, in a fixed order."""
    return list(dict.fromkeys(chain.from_iterable(read_pairs())))


def our_rows(chosen):
    """Rows (pre, post) of the words, the basis, and the seconds that they took."""
    from bagpack import Basis, Corpus
    from bagpack.contexts import count as counting
    from bagpack.contexts.targets import Target
    from bagpack.contexts.windows import CountSettings

    corpus = Corpus.open(STORE)
    basis = Basis.of(corpus, B)
    settings = CountSettings(limit=LIMIT)
    counting.count_words(corpus, [Target((chosen[0],))], basis, settings)
    targets = [Target((word,)) for word in chosen]
    (rows, _), seconds = quickest(lambda: counting.count_words(corpus, targets, basis, settings))
    return rows, basis, seconds


def extract(chosen) -> tuple[list[str], list[str], np.ndarray]:
    """Windows before and after every occurrence, with the word's number, in one scan."""
    numbers = {word: number for number, word in enumerate(chosen)}
    left = [LIMIT] * len(chosen)
    before, after, owners = [], [], []
    with open(SENTENCES, encoding="utf-8") as lines:
        for line in lines:
            sentence = line.split()
            for place, word in enumerate(sentence):
                number = numbers.get(word)
                if number is None or not left[number]:
                    continue
                left[number] -= 1
                before.append(" ".join(sentence[max(0, place - REACH) : place]))
                after.append(" ".join(sentence[place + 1 : place + 1 + REACH]))
                owners.append(number)
    return before, after, np.array(owners)


def ours() -> None:
    """All words."""
    chosen = words()
    rows, _, seconds = our_rows(chosen)
    report(seconds=seconds, words=len(chosen), counts=int(rows.sum()))


def sklearn() -> None:
    """CountVectorizer over the basis, unigrams and bigrams, then one sparse product that sums by word."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer

    chosen = words()
    before, after, owners = extract(chosen)
    rows, basis, _ = our_rows(chosen)
    vectorizer = CountVectorizer(
        vocabulary=basis.terms, ngram_range=(1, 2), binary=True, tokenizer=str.split, token_pattern=None,
        lowercase=False, dtype=np.int32,
    )  # fmt: skip
    begun = time.perf_counter()
    by_word = sparse.csr_array(
        (np.ones(owners.size, np.int32), (owners, np.arange(owners.size))), shape=(len(chosen), owners.size)
    )
    found = sparse.hstack([by_word @ vectorizer.transform(side) for side in (before, after)])
    seconds = time.perf_counter() - begun
    assert abs(found - rows).nnz == 0, "scikit-learn counts otherwise"
    report(seconds=seconds, words=len(chosen), windows=int(owners.size), counts=int(found.sum()))


def gensim() -> None:
    """Dictionary.doc2bow on the windows: unigrams only, since it knows no bigrams inside a window."""
    from gensim.corpora import Dictionary

    chosen = words()
    before, after, owners = extract(chosen)
    rows, basis, _ = our_rows(chosen)
    dictionary = Dictionary()
    dictionary.token2id = {term: number for number, term in enumerate(basis.unigrams)}
    found = np.zeros((len(chosen), 2, len(basis.unigrams)), np.int64)
    begun = time.perf_counter()
    for side, windows in enumerate((before, after)):
        for owner, window in zip(owners.tolist(), windows, strict=True):
            for term, _ in dictionary.doc2bow(window.split()):
                found[owner, side, term] += 1
    seconds = time.perf_counter() - begun
    ours = rows.toarray().reshape(len(chosen), 2, len(basis))[:, :, : len(basis.unigrams)]
    assert (found == ours).all(), "gensim counts otherwise"
    report(seconds=seconds, words=len(chosen), windows=int(owners.size), counts=int(found.sum()))


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    {each.__name__: each for each in (ours, sklearn, gensim)}[sys.argv[1]]()
