"""What stands beside the three vectors: content words in a wider window, whole stretches between."""

import numpy as np
import pytest

from bagpack import Corpus, PairVectorizer
from bagpack.beside.annexes import AROUND, count_annexes
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import UsageError
from bagpack.learn.annex import CONTENT, WHOLE, Beside
from bagpack.vectors.matrix import PairMatrix
from tests.beside.test_neighbours import PAIRS, sentences
from tests.contexts import oracle
from tests.contexts.stores import make_store

LONG = [one + two for one, two in zip(sentences()[::2], sentences()[1::2], strict=True)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("annexes"), LONG, (20, 60)).path


@pytest.fixture
def source(place):
    return CorpusSource(Corpus.open(place))


@pytest.fixture
def matrix(source):
    return PairMatrix.count(source, PAIRS, source.pick_basis(8), CountSettings(limit=40))


def test_content_words_are_counted_in_the_wider_window(matrix):
    counts = matrix.counts(beside=Beside(content=6))
    annex = counts.annex(CONTENT)
    assert len(annex.terms) == 6 and "the" not in annex.terms and "." not in annex.terms
    said = [word for sentence in LONG for word in sentence]
    assert annex.shares.tolist() == [said.count(term) for term in annex.terms]
    rows = annex.rows.toarray()
    for side, index in enumerate((counts.w1, counts.w2)):
        for pair, row in zip(PAIRS, index.tolist(), strict=True):
            contexts = list(oracle.single_contexts(LONG, (pair[side],), AROUND, AROUND))[:40]
            expected = [sum(t in c[part] for c in contexts) for part in ("pre", "post") for t in annex.terms]
            assert rows[row].tolist() == expected, pair[side]
    assert rows[counts.w1[0]].any() and not rows[counts.w1[4]].any()  # the cat, and the unicorn


def test_stretches_turn_with_the_pair_and_are_those_of_the_oracle(matrix):
    counts = matrix.counts(beside=Beside(whole=12))
    annex = counts.annex(WHOLE)
    rows = annex.rows.toarray()
    for (one, two), row in zip(PAIRS, rows.tolist(), strict=True):
        found = oracle.wholes(LONG, (one,), (two,), 40)
        assert row == [found.get((sign, tuple(t.split())), 0) for sign in "+-" for t in annex.terms]
    half = len(annex.terms)
    assert rows[0].any() and rows[2].tolist() == np.roll(rows[0], half).tolist()
    assert (counts.swapped().annex(WHOLE).rows != annex.turned().rows).nnz == 0
    assert counts.swapped().annex(WHOLE).rows.toarray()[0].tolist() == rows[2].tolist()


@pytest.mark.parametrize("name", [CONTENT, WHOLE])
def test_the_same_terms_give_the_same_rows_alone_and_together(source, matrix, name):
    beside = Beside(content=6, whole=12)
    counts = matrix.counts(beside=beside)
    fixed = beside.over(counts.vocabularies)
    assert fixed.content == counts.annex(CONTENT).terms and fixed.whole == counts.annex(WHOLE).terms
    block = {CONTENT: "wide2", WHOLE: WHOLE}[name]

    def row(found, number):
        made = found.block(block)
        return made.rows.toarray()[number if made.index is None else made.index[number]].tolist()

    for number, pair in enumerate(PAIRS):
        alone = matrix.counts([pair], fixed)
        assert alone.annex(name).terms == counts.annex(name).terms
        assert row(alone, 0) == row(counts, number)
        assert row(counts[[number]], 0) == row(counts, number)
    again = PairVectorizer(source, basis=matrix.basis, limit=40).counts(PAIRS, fixed)
    assert [row(again, i) for i in range(len(PAIRS))] == [row(counts, i) for i in range(len(PAIRS))]
    both = counts.followed_by(again[[3]])
    assert len(both) == len(PAIRS) + 1 and row(both, -1) == row(counts, 3)
    with pytest.raises(ValueError, match="over different terms"):
        counts.followed_by(matrix.counts(beside=Beside(content=5, whole=3)))


def test_what_was_not_counted_is_asked_for(matrix):
    with pytest.raises(UsageError, match=r"do not say which content words .*counts\(pairs, Beside\(content="):
        matrix.counts().block("wide1")
    with pytest.raises(UsageError, match=r"do not say what stands between .* a preset without whole"):
        matrix.counts().block("whole")


def test_snippets_have_no_wider_window(matrix, source):
    class Snippets:
        path, content_hash = "cats.bps", source.content_hash

    with pytest.raises(UsageError, match=r"cats\.bps holds only what stands close"):
        count_annexes(Snippets(), matrix, Beside(content=5))
