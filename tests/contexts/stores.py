"""Small stores for tests: sentences given as lists of lemmas or lemma/TAG, cut into segments where wanted."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from bagpack import Corpus, index_corpus


def token_line(token):
    lemma, _, tag = token.partition("/")
    return f"{lemma.upper()}\t{tag or 'X'}\t{lemma}"


def make_store(folder: Path, sentences, cuts=(), name="store.bp", line=token_line):
    """One segment per run of sentences between cuts, made by appending, which leaves old segments alone."""
    bounds = sorted({0, len(sentences), *(cut for cut in cuts if cut < len(sentences))})
    store = folder / name
    for number, (start, end) in enumerate(pairwise(bounds)):
        lines = []
        for sentence in sentences[start:end]:
            lines += ["<s>", *map(line, sentence), "</s>"]
        source = folder / f"{name}-part{number}.vert"
        source.write_text("\n".join([f'<text id="t{number}">', *lines, "</text>", ""]), encoding="utf-8")
        index_corpus([str(source)], store, append=number > 0, overwrite=number == 0)
    return Corpus.open(store)


def assert_equal(one, two):
    """All that two `PairCounts` say of their pairs is the same."""
    assert one.pairs == two.pairs
    words = ([[own.targets[name] for name in row] for row in own.rows.tolist()] for own in (one, two))
    assert next(words) == next(words)
    assert one.basis == two.basis
    assert one.settings == two.settings
    for condition in ("v1", "v2", "v12", "v1v2", "v1v2v12"):
        first, second = one.tocsr(condition), two.tocsr(condition)
        assert first.shape == second.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(first, part), getattr(second, part))
    for name in ("seen", "counted", "n_plus", "n_minus", "n_w1", "n_w2"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("unknown_words", "capped_words", "capped_pairs"):
        assert getattr(one, name) == getattr(two, name)
