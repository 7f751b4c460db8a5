"""Whole stretches between words: the oracle's counts, the most shared ones, and the same however they are counted."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagpack.contexts import couples as couples_module
from bagpack.contexts import wholes as wholes_module
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.targets import Target
from bagpack.contexts.wholes import count_wholes
from bagpack.contexts.windows import CountSettings, Windows
from tests.contexts import oracle
from tests.contexts.stores import make_store

WORDS = ["w0", "w1", "w2", "w3", "w7", "w30", "w3 w1", "w0 w0"]
PAIRS = [(one, two) for one in WORDS for two in WORDS]


def target(word):
    return Target(tuple(word.split()))


TARGETS = [(target(one), target(two)) for one, two in PAIRS]


@pytest.fixture(scope="module")
def sentences():
    rng = random.Random(9)
    words = [f"w{i}" for i in range(60)]
    return [
        rng.choices(words, [1 / (i + 1) for i in range(60)], k=rng.choice([1, 5, 40])) for _ in range(300)
    ]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory, sentences):
    folder = tmp_path_factory.mktemp("wholes")
    return [
        make_store(folder, sentences, cuts, f"s{n}.bp") for n, cuts in enumerate([(), (40, 41, 150), (299,)])
    ]


def expected_rows(sentences, stretches, limit, between=5):
    found = [
        oracle.wholes(sentences, tuple(one.split()), tuple(two.split()), limit, between) for one, two in PAIRS
    ]
    return [
        [counts.get((sign, tuple(text.split())), 0) for sign in "+-" for text in stretches]
        for counts in found
    ]


def most_shared(sentences, limit, most):
    shared = {}
    for pair, (one, two) in enumerate(PAIRS):
        for _, stretch in oracle.wholes(sentences, tuple(one.split()), tuple(two.split()), limit):
            shared.setdefault(" ".join(stretch), set()).add(pair)
    kept = [(-len(pairs), text) for text, pairs in shared.items() if len(pairs) > 1]
    return [text for _, text in sorted(kept)[:most]]


@pytest.mark.parametrize("limit", [None, 25])
def test_rows_and_the_most_shared_stretches_are_the_oracles(corpora, sentences, limit):
    chosen = most_shared(sentences, limit, 40)
    assert max(len(text.split()) for text in chosen) > 1
    for corpus in corpora:
        found = count_wholes(corpus, TARGETS, 40, CountSettings(limit=limit))
        assert list(found.stretches) == chosen
        assert found.rows.toarray().tolist() == expected_rows(sentences, chosen, limit)
    every = count_wholes(corpora[0], TARGETS, 10**6, CountSettings(limit=limit))
    assert list(every.stretches) == most_shared(sentences, limit, 10**6)


def test_stretches_that_were_chosen_before_are_counted_and_unknown_ones_are_zero(corpora, sentences):
    asked = ["w1", "w2 w0", "w1 w0 w0 w2", "zebra", "w1 zebra", "zebra w1", "w0 w1 w0 w0 w1 w0"]
    found = count_wholes(corpora[1], TARGETS, asked, CountSettings())
    assert list(found.stretches) == asked
    assert found.rows.toarray().tolist() == expected_rows(sentences, asked, None)
    assert found.rows[:, [3, 4, 5, 6]].nnz == 0 and found.rows[:, [0, 1]].nnz > 0
    none = count_wholes(corpora[1], [], asked, CountSettings())
    assert none.rows.shape == (0, 14) and none.stretches == found.stretches
    assert count_wholes(corpora[1], [], 5, CountSettings()).stretches == ()


@pytest.mark.parametrize("options", [{"limit": 30}, {"limit": None}, {"limit": 30, "sample": 3}])
def test_any_number_of_workers_and_any_shards_give_the_same(corpora, monkeypatch, options):
    first = count_wholes(corpora[0], TARGETS, 50, CountSettings(**options))
    monkeypatch.setattr(couples_module, "CHUNK_PAIRS", 5)
    monkeypatch.setattr(couples_module, "COUPLES_PER_TASK", 100)
    monkeypatch.setattr(couples_module, "COUPLES_AT_ONCE", 20)
    done = []
    for corpus in corpora:
        for n_jobs in (1, 2):
            again = count_wholes(corpus, TARGETS, 50, CountSettings(**options), n_jobs, done.append)
            assert again.stretches == first.stretches
            np.testing.assert_array_equal(again.rows.toarray(), first.rows.toarray())
    assert sum(done) == 6 * len(PAIRS)


def test_a_narrow_window_between_and_rare_words(corpora, sentences, monkeypatch):
    narrow = CountSettings(windows=Windows(between=2))
    found = count_wholes(corpora[0], TARGETS, 30, narrow)
    assert max(len(text.split()) for text in found.stretches) == 2
    assert found.rows.toarray().tolist() == expected_rows(sentences, found.stretches, None, between=2)
    # Only words that have a number can be part of a stretch.
    monkeypatch.setattr(wholes_module, "WORDS", 3)
    wholes_module.frequent_words.cache_clear()
    wholes_module._numbers_of.cache_clear()
    few = count_wholes(corpora[0], TARGETS, 1000, CountSettings())
    wholes_module.frequent_words.cache_clear()
    wholes_module._numbers_of.cache_clear()
    assert {word for text in few.stretches for word in text.split()} == {"w0", "w1", "w2"}
    assert few.rows.toarray().tolist() == expected_rows(sentences, few.stretches, None)


@settings(max_examples=25, deadline=None)
@given(
    said=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), min_size=1, max_size=8),
    limit=st.sampled_from([None, 1, 3]),
)
def test_any_corpus_equals_the_oracle(tmp_path_factory, said, limit):
    corpus = make_store(tmp_path_factory.mktemp("any"), said, (3,))
    pairs = [("a", "b"), ("b", "a"), ("a", "a"), ("a b", "c")]
    stretches = ["a", "b", "c", "a b", "c c", "b a c", "c b a c"]
    found = CorpusSource(corpus).count_wholes(
        [(target(one), target(two)) for one, two in pairs], stretches, CountSettings(limit=limit)
    )
    for row, (one, two) in zip(found.rows.toarray().tolist(), pairs, strict=True):
        counts = oracle.wholes(said, tuple(one.split()), tuple(two.split()), limit)
        assert row == [counts.get((sign, tuple(text.split())), 0) for sign in "+-" for text in stretches]
