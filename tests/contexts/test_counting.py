"""Caps, workers and segments: the same integers, whichever way the work is cut."""

import random
from functools import cache

import numpy as np
import pytest

from bagpack import parallel
from bagpack.basis import Basis
from bagpack.contexts import count as count_module
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.vectors.counts import count_pairs
from tests.contexts import oracle
from tests.contexts.stores import assert_equal, make_store


@pytest.fixture(scope="module")
def random_sentences():
    """A Zipf-like corpus with long sentences, so that words lie many blocks apart."""
    rng = random.Random(4)
    words = [f"w{i}" for i in range(300)]
    weights = [1 / (i + 1) for i in range(300)]
    return [rng.choices(words, weights, k=rng.choice([1, 5, 30, 200])) for _ in range(300)]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory, random_sentences):
    folder, cuts = tmp_path_factory.mktemp("corpora"), [(), (40, 41, 150), (299,)]
    return [make_store(folder, random_sentences, own, f"store{n}.bp") for n, own in enumerate(cuts)]


def count(corpus, pairs, basis, n_jobs=None, **settings):
    with parallel.settings(n_jobs=n_jobs):
        return count_pairs(corpus, pairs, basis, CountSettings(**settings))


MANY = ["w0", "w1", "w7", "w40", "w150", "w151", "w299", "w3 w1", "w0 w0"]
MANY_PAIRS = [(one, two) for one in MANY for two in MANY]
TERMS = Basis(("w0", "w2", "w9"), (("w1", "w0"),))


@pytest.fixture(scope="module")
def expected(random_sentences):
    """What the oracle counts for each pair, once for each number of tokens between them."""
    terms = [("w0",), ("w2",), ("w9",), ("w1", "w0")]

    def vectors(between):
        return [
            oracle.vector(
                random_sentences, tuple(one.split()), tuple(two.split()), terms, 150, pair=(2, between, 2)
            )
            for one, two in MANY_PAIRS
        ]

    return cache(vectors)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("between", "marks_per_search", "first_mark", "at_once"),
    [
        (5, 0, 1, 1 << 18),
        (5, 32, 1, 100),
        (5, 1 << 30, 1, 64),
        (5, 1 << 30, (1 << 32) - 2000, 1 << 18),
        (100, 1 << 30, 1, 1 << 18),
    ],
)  # search or mark; start marks afresh when their numbers run out; a reach of several sentences; pairs in parts
def test_many_pairs_of_a_larger_corpus_equal_the_oracle(
    corpora, expected, monkeypatch, between, marks_per_search, first_mark, at_once
):
    monkeypatch.setattr(count_module, "AT_ONCE", at_once)
    monkeypatch.setattr(count_module, "MARKS_PER_SEARCH", marks_per_search)
    monkeypatch.setattr(count_module, "FIRST_MARK", first_mark)
    monkeypatch.setattr(count_module, "SUMS_BYTES", 100)  # one word, or a few, at once
    matrices = [
        count(corpus, MANY_PAIRS, TERMS, limit=150, windows=Windows(between=between)) for corpus in corpora
    ]
    for other in matrices[1:]:
        assert_equal(matrices[0], other)
    names = np.array(matrices[0].feature_names())
    rows = matrices[0].tocsr().toarray()
    for row, pair, counts in zip(rows, MANY_PAIRS, expected(between), strict=True):
        assert {names[i]: int(row[i]) for i in np.flatnonzero(row)} == counts, pair


@pytest.mark.costly
@pytest.mark.parametrize("settings", [{"limit": 30}, {"limit": None}])
def test_any_number_of_workers_and_any_segments_give_the_same_bits(corpora, monkeypatch, settings):
    monkeypatch.setattr(count_module, "CHUNK_WORDS", 7)
    monkeypatch.setattr(count_module, "CHUNK_PAIRS", 5)
    monkeypatch.setattr(count_module, "HELD_PER_TASK", 100)
    monkeypatch.setattr(count_module, "AT_ONCE", 20)
    asked = [(f"w{i}", f"w{i * 7 % 100}") for i in range(60)]
    basis = Basis.of(corpora[0], 20)
    first = count(corpora[0], asked, basis, 1, **settings)
    assert first.tocsr().nnz > 1000
    for n_jobs in (1, 2, 3):  # 2 and 3: real loky workers
        for corpus in corpora:
            assert_equal(first, count(corpus, asked, basis, n_jobs, **settings))
    swapped = count(corpora[1], [pair[::-1] for pair in asked], basis, **settings)
    np.testing.assert_array_equal(first.n_plus, swapped.n_minus)
    np.testing.assert_array_equal(first.counted, swapped.counted)
    half = 3 * len(basis)
    turned = swapped.tocsr("v12").toarray()
    np.testing.assert_array_equal(
        first.tocsr("v12").toarray(), np.hstack([turned[:, half:], turned[:, :half]])
    )


def test_pairs_with_an_unknown_word_are_in_no_task(corpora):
    one, two, unknown = corpora[0].resolve(["w0", "w1", "unicorn"])
    pairs = [(unknown, one), (one, two), (two, unknown), (two, two)]
    divided = list(count_module.divide_pairs(corpora[0], pairs, CountSettings()))
    assert sorted(np.concatenate([numbers for numbers, _ in divided]).tolist()) == [1, 3]
