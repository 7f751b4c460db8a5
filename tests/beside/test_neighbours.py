"""What pairs borrow, against the definition taken literally; and that it does not depend on how it is computed."""

import random
import shutil
from collections import Counter

import numpy as np
import pytest

from bagpack import Corpus, PairVectorizer
from bagpack.beside import neighbours
from bagpack.beside.annexes import source_of
from bagpack.beside.neighbours import GRAIN, Borrowed, borrow, frequent_targets
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError
from bagpack.learn.annex import BORROWED, Beside
from bagpack.vectors.matrix import PairMatrix
from tests.contexts.stores import make_store

BEASTS = ["cat", "lion", "puma", "dog", "wolf", "fox"]
PLACES = ["house", "wood", "field", "cave"]
PAIRS = [
    ("cat", "house"), ("puma", "cave"), ("house", "cat"), ("cat", "dog"), ("unicorn", "cat"), ("wolf", "fox"),
    ("cat", "cat"), ("cat", "house"),
]  # fmt: skip


def sentences():
    rng = random.Random(11)
    said = []
    for _ in range(160):
        one, two, place = rng.choice(BEASTS), rng.choice(BEASTS), rng.choice(PLACES)
        patterns = (
            f"the {one} live in the {place} .",
            f"a {place} with 2 {one} and a {two} .",
            f"{one} fear {two} near the {place} at night",
        )
        said.append(rng.choice(patterns).split())
    return said


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("neighbours"), sentences(), (50, 120)).path


@pytest.fixture
def source(place):
    return CorpusSource(Corpus.open(place))


@pytest.fixture
def matrix(source):
    return PairMatrix.count(source, PAIRS, source.pick_basis(8), CountSettings())


def unit(row):
    length = np.linalg.norm(row)
    return row / length if length else row


def literal(source, basis, pairs, k):
    """Rows and alternates, one pair and one word at a time."""
    frequency = Counter(word for sentence in sentences() for word in sentence if word.isalpha())
    ranked = sorted(frequency, key=lambda word: (-frequency[word], word))
    vocabulary = ranked[len(ranked) // 10 :]

    def count(w1, w2):
        return PairMatrix.count(source, [(w1, w2)], basis, CountSettings())

    raw = {word: count(word, word).block("v1").toarray()[0].astype(float) for word in vocabulary}
    total = sum(raw.values())

    def weigh(row):
        expected = row.sum() * total / total.sum()
        telling = np.where(row > 0, np.maximum(np.log((row + 1) / (expected + 1)), 0), 0)
        return unit(unit(np.log1p(row)) + unit(telling))

    mean = sum(weigh(raw[word]) for word in vocabulary) / len(vocabulary)

    def nearest(word):
        own = unit(weigh(count(word, word).block("v1").toarray()[0].astype(float)) - mean)
        near = [
            (round(float(own @ unit(weigh(raw[other]) - mean)) * GRAIN), -at, other)
            for at, other in enumerate(vocabulary)
            if other != word
        ]
        return [(other, grains / GRAIN) for grains, _, other in sorted(near, reverse=True)[:k] if grains > 0]

    rows, alternates = [], []
    for w1, w2 in pairs:
        row, found = np.zeros(6 * len(basis)), []
        if {w1, w2} <= frequency.keys():
            tried = [(w, w2, c) for w, c in nearest(w1)] + [(w1, w, c) for w, c in nearest(w2)]
            for a, b, cosine in tried:
                other = count(a, b)
                if a != b and other.seen[0]:
                    row += cosine * other.block("v12").toarray()[0]
                    found.append((a, b, cosine, int(other.seen[0])))
        rows.append(row)
        alternates.append(sorted(found, key=lambda item: (-item[2], item[0], item[1])))
    return np.array(rows), alternates


def plain(borrowed: Borrowed, row):
    return [(str(a.w1), str(a.w2), a.cosine, a.seen) for a in borrowed.alternates(row)]


@pytest.mark.parametrize("k", [1, 3, 50])
def test_rows_and_alternates_are_those_of_the_definition(source, matrix, k):
    rows, alternates = literal(source, matrix.basis, PAIRS, k)
    found = borrow(source, matrix, k)
    assert (found.rows.toarray() == rows).all()
    assert [plain(found, row) for row in range(len(PAIRS))] == alternates
    assert rows[0].any() and not rows[4].any()


def test_a_pair_borrows_the_same_alone_turned_round_in_pieces_and_by_any_number_of_workers(
    source, matrix, monkeypatch
):
    whole = borrow(source, matrix, 4)
    assert (borrow(source, matrix, 4, n_jobs=2).rows != whole.rows).nnz == 0
    for row in range(len(PAIRS)):
        alone = borrow(source, matrix.select([row]), 4)
        assert (alone.rows != whole.rows[[row]]).nnz == 0
        assert plain(alone, 0) == plain(whole, row)
    turned = matrix.counts(beside=Beside(neighbours=4)).swapped()
    assert (turned.annex(BORROWED).rows[[0]] != whole.rows[[2]]).nnz == 0
    monkeypatch.setattr(neighbours, "PAIRS_AT_ONCE", 3)
    monkeypatch.setattr(neighbours, "WORDS_AT_ONCE", 2)
    monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", 5)
    monkeypatch.setattr(neighbours, "_KEPT", {})
    assert (borrow(source, matrix, 4).rows != whole.rows).nnz == 0


def test_a_basis_without_counts_has_the_same_neighbours(source, matrix):
    from dataclasses import replace

    bare = replace(matrix.basis, unigram_counts=(), bigram_counts=())
    again = PairMatrix.count(source, PAIRS, bare, CountSettings())
    neighbours._KEPT.clear()
    assert (borrow(source, again, 4).rows != borrow(source, matrix, 4).rows).nnz == 0


def test_the_vocabulary_is_frequent_and_alphabetic(source):
    words = [str(target) for target in frequent_targets(source.corpus)]
    assert "the" not in words and "2" not in words and "." not in words
    assert set(BEASTS) <= set(words)
    assert len(frequent_targets(source.corpus, most=5)) == 5


def test_counts_carry_what_is_borrowed(source, matrix):
    counts = matrix.counts(beside=Beside(neighbours=3))
    own = PairVectorizer(source, basis=matrix.basis).counts(PAIRS, Beside(neighbours=3))
    rows = counts.annex(BORROWED).rows
    assert (rows != own.annex(BORROWED).rows).nnz == 0
    assert (counts[[5, 0]].annex(BORROWED).rows != rows[[5, 0]]).nnz == 0
    assert counts.followed_by(counts).annex(BORROWED).rows.shape[0] == 2 * len(PAIRS)
    assert BORROWED not in matrix.counts().annexes
    with pytest.raises(UsageError, match="counts\\(pairs, Beside\\(neighbours=20\\)\\)"):
        matrix.counts().block("v12~")


def test_a_store_that_is_gone_is_told(place, tmp_path):
    shutil.copytree(place, tmp_path / "copy.bp")
    source = CorpusSource(Corpus.open(tmp_path / "copy.bp"))
    matrix = PairMatrix.count(source, PAIRS, source.pick_basis(8), CountSettings())
    assert source_of(matrix).content_hash == source.content_hash
    shutil.rmtree(tmp_path / "copy.bp")
    with pytest.raises(StoreError, match=r"copy\.bp is not found \(nor beside the matrix\); put it back"):
        matrix.counts(beside=Beside(neighbours=3))


def test_snippets_have_nobody_to_borrow_from(matrix, source):
    class Snippets:
        path, content_hash = "cats.bps", source.content_hash

    with pytest.raises(UsageError, match=r"cats\.bps holds only the pairs that were fetched"):
        borrow(Snippets(), matrix, 3)
