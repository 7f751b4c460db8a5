"""Parts of speech of a million tokens, as `bagpack index --tag` finds them: `python -m benchmarks.peers.tagging PEER`.

NLTK's averaged perceptron tagger gets the same weights, so its Penn tags are compared with ours. One core.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.peers.material import PLACE, STORE, quickest, report

TOKENS, NLTK_TOKENS = 1_000_000, 50_000
TAGS = PLACE / "tags.npz"


def material():
    """Tokens of the first shard with their forms by type."""
    from bagpack import Corpus

    shard = Corpus.open(STORE).shards[0]
    return np.array(shard.tokens[:TOKENS]), [shard.forms[k] for k in range(len(shard.forms))]


def ours() -> None:
    """The compiled tagger; its tables are built before the clock starts, as NLTK's weights are loaded."""
    from bagpack.corpus.build.tagger import english_tagger

    tokens, forms = material()
    tagger = english_tagger()
    tagger.classify(tokens[:1000], forms)
    found, seconds = quickest(lambda: tagger.classify(tokens, forms))
    np.savez(TAGS, tags=np.array(tagger.classes)[found])
    report(seconds=seconds, tokens=len(tokens))


def nltk() -> None:
    """Sentence by sentence, as NLTK's `pos_tag_sents` does."""
    from nltk.tag.perceptron import PerceptronTagger

    from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK

    tokens, forms = material()
    tokens = tokens[:NLTK_TOKENS]
    tagger = PerceptronTagger(load=False)
    package = importlib.util.find_spec("textblob_aptagger")
    weights = Path(package.origin).parent / "trontagger-0.1.0.pickle"
    tagger.model.weights, tagger.tagdict, tagger.classes = pickle.loads(
        weights.read_bytes(), encoding="utf-8"
    )
    tagger.model.classes = tagger.classes
    starts = [*np.flatnonzero(tokens & SENTENCE_START).tolist(), tokens.size]
    words = [forms[k] for k in (tokens & TYPE_MASK).tolist()]
    sentences = [words[low:high] for low, high in pairwise(starts)]
    begun = time.perf_counter()
    tagged = [tag for sentence in sentences for _, tag in tagger.tag(sentence)]
    seconds = time.perf_counter() - begun
    same = float(np.mean(np.array(tagged) == np.load(TAGS)["tags"][: len(tagged)]))
    assert same > 0.98, f"only {same:.1%} of the tags agree"
    report(seconds=seconds, tokens=len(tagged), same=same)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    {each.__name__: each for each in (ours, nltk)}[sys.argv[1]]()
