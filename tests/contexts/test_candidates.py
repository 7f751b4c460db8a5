"""Every candidate pair and its counts equal the brute-force oracle's and the pair counter's."""

import random
import tempfile
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bagpack import Basis, parallel
from bagpack.contexts import candidates as candidates_module
from bagpack.contexts.candidates import candidate_batches, find_candidates, frequent_words
from bagpack.contexts.count import count_pairs
from bagpack.contexts.targets import Target, resolve_targets
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.errors import UsageError

from . import oracle
from .stores import make_store

WORDS = ["a", "b", "c", "d", "e", "é"]
sentences_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), min_size=1, max_size=12
)
terms = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple)


def expected(sentences, vocabulary, between=5, min_together=1):
    """{pair in code-point order: (first first, second first)} of all that co-occur."""
    found = {}
    for one, two in combinations(sorted(vocabulary), 2):
        signs = [sign for sign, _, _ in oracle.pair_contexts(sentences, one, two, between=between)]
        if len(signs) >= min_together:
            found[one, two] = (signs.count("+"), signs.count("-"))
    return found


def as_dict(found):
    pairs = [(one.keys, two.keys) for one, two in found.pairs()]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    counts = zip(found.n_plus.tolist(), found.n_minus.tolist(), strict=True)
    rows = list(zip(pairs, counts, strict=True))
    return dict((pair, count) if pair[0] < pair[1] else (pair[::-1], count[::-1]) for pair, count in rows)


@given(
    sentences=sentences_of_words,
    vocabulary=st.lists(terms, min_size=1, max_size=9, unique=True),
    between=st.sampled_from([5, 0, 2, 9]),
    cuts=st.lists(st.integers(1, 11), max_size=2),
    min_together=st.integers(1, 3),
)
@example([list("abab"), list("babacb")], [("b",), ("b", "a"), ("a",)], 5, [], 1)
@example([list("cabcab")], [("a", "b"), ("c", "a"), ("b", "c", "a")], 5, [], 1)
@example([list("aaaa"), list("aabaa")], [("a",), ("a", "a"), ("b",)], 2, [1], 1)
@example([list("abdc"), list("eee")], [("a", "b"), ("c",), ("e", "e", "e")], 0, [], 1)  # too far before
def test_candidates_equal_the_oracle(sentences, vocabulary, between, cuts, min_together):
    targets = [Target(keys) for keys in vocabulary]
    with tempfile.TemporaryDirectory() as folder:
        corpus = make_store(Path(folder), sentences, cuts)
        windows = Windows(between=between)
        found = find_candidates(corpus, targets, windows=windows, min_together=min_together)
        every = as_dict(find_candidates(corpus, targets, windows=windows))
        for target in targets:
            for side in ("w1", "w2"):
                own = find_candidates(corpus, targets, windows=windows, **{side: target})
                fixed = own.first if side == "w1" else own.second
                assert {own.words[k] for k in fixed.tolist()} <= {target}
                assert as_dict(own) == {pair: n for pair, n in every.items() if target.keys in pair}
    assert as_dict(found) == expected(sentences, vocabulary, between, min_together)


def test_any_segments_and_workers_give_the_same_pairs_and_the_pair_counter_agrees(corpora, monkeypatch):
    words = [*frequent_words(corpora[0], 60), Target(("w0", "w1"))]
    first = find_candidates(corpora[0], words, min_together=2)
    assert len(first) > 500
    _, counted = count_pairs(corpora[1], list(first.pairs()), Basis(("w0",), ()), CountSettings(limit=1))
    np.testing.assert_array_equal(counted[:, :2], np.stack([first.n_plus, first.n_minus], axis=1))
    assert [int(n) for n in first.n_words[:2]] == [corpora[0].count("w0"), corpora[0].count("w1")]
    monkeypatch.setattr(candidates_module, "PARTNERS_PER_TASK", 500)
    monkeypatch.setattr("bagpack.contexts.count.POSTINGS_PER_TASK", 100)
    for corpus, n_jobs in ((corpora[0], 1), (corpora[1], 2)):
        with parallel.settings(n_jobs=n_jobs):
            other = find_candidates(corpus, words, min_together=2)
        for name in ("first", "second", "n_plus", "n_minus", "n_words"):
            np.testing.assert_array_equal(getattr(first, name), getattr(other, name))
        assert other.words == first.words
    assert len(list(candidate_batches(corpora[0], words))) > 5


def test_words_with_parts_of_speech(tmp_path):
    """Their candidates are those of the pair counter, which is tested with tags against the oracle."""

    def disjoint(pair):
        return not set(pair[0].words) & set(pair[1].words)

    rng = random.Random(19)
    tokens = [f"{word}/{tag}" for word in "abcd" for tag in ("NOUN", "VERB")]
    corpus = make_store(tmp_path, [rng.choices(tokens, k=rng.choice([1, 4, 9])) for _ in range(60)], (20,))
    words = ["a/NOUN", "a/VERB", "b/NOUN", "b", "c/VERB", "d", "a/NOUN b", "c/VERB d/NOUN"]
    targets = resolve_targets(corpus, words)
    assert [str(target) for target in targets] == words
    asked = [pair for pair in permutations(targets, 2) if disjoint(pair)]
    counted = count_pairs(corpus, asked, Basis(("a",), ()), CountSettings(limit=1))[1][:, :2].tolist()
    every = {pair: tuple(n) for pair, n in zip(asked, counted, strict=True) if sum(n)}
    for fixed in ({}, {"w1": targets[0]}, {"w2": targets[2]}, {"w1": targets[0], "w2": targets[4]}):
        found = find_candidates(corpus, targets, **fixed)
        for word, count in zip(found.words, found.n_words.tolist(), strict=True):
            assert count == corpus.contexts(str(word), limit=None).total, str(word)
        counts = zip(found.n_plus.tolist(), found.n_minus.tolist(), strict=True)
        own = {pair: n for pair, n in zip(found.pairs(), counts, strict=True) if disjoint(pair)}
        fitting = {
            p: n for p, n in every.items() if fixed.get("w1", p[0]) == p[0] and fixed.get("w2", p[1]) == p[1]
        }
        # Where neither word is fixed, a pair is found in one order.
        assert own == {p: n for p, n in fitting.items() if fixed or p[::-1] not in own}


def test_a_word_that_the_corpus_lacks_has_no_partners(corpora):
    words = frequent_words(corpora[0], 5)
    assert len(find_candidates(corpora[0], words, w1=Target(("unicorn",)))) == 0
    assert len(find_candidates(corpora[0], [])) == 0
    alone = find_candidates(corpora[0], words, w1=words[0], w2=words[1])
    assert [tuple(map(str, pair)) for pair in alone.pairs()] == [("w0", "w1")]
    assert len(find_candidates(corpora[0], words[:1], w1=words[4], min_count=10**6)) == 0
    with pytest.raises(UsageError):
        find_candidates(corpora[0], words, min_together=0)


def test_words_below_the_least_count_are_dropped(corpora, random_sentences):
    found = find_candidates(corpora[0], frequent_words(corpora[0]), min_count=50)
    assert found.n_words.min() >= 50
    counts = Counter(word for sentence in random_sentences for word in sentence)
    assert {word.keys for word in found.words} == {(word,) for word in counts if counts[word] >= 50}


def test_frequent_words_have_a_letter(tmp_path):
    corpus = make_store(tmp_path, [["the", ".", "cat", ",", "the", "1984", "cat", "é", "."]])
    found = frequent_words(corpus), frequent_words(corpus, min_count=2), frequent_words(corpus, 1)
    assert [" ".join(map(str, words)) for words in found] == ["cat the é", "cat the", "cat"]
