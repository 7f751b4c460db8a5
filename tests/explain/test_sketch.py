"""Sketches and concordance pages against plain counting over the sentences."""

import itertools
import json
import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.explain import collocates as collocates_module
from bagpack.explain import pair as sketch_module
from bagpack.explain.browse import Browser
from bagpack.explain.keyness import log_dice, log_likelihood, spread
from bagpack.explain.lines import PairEvidence
from bagpack.explain.pair import sketch_pair
from bagpack.explain.word import Form, sketch_word
from bagpack.sources import as_source
from tests.contexts.stores import make_store

WORDS = ["sun", "moon", "sky", "and", "the", "of", ",", "star"]
LONG = WORDS + [f"w{i}" for i in range(40)]


@pytest.fixture(scope="module")
def sentences():
    rng = random.Random(4)
    return [rng.choices(LONG, [9] * len(WORDS) + [1] * 40, k=rng.randint(1, 14)) for _ in range(900)]


@pytest.fixture(scope="module")
def source(sentences, tmp_path_factory):
    return as_source(make_store(tmp_path_factory.mktemp("sketch"), sentences, (300, 600)))


def cooccurrences(sentences, w1, w2):
    """(sentence, i, j, w1 first) of consecutive targets at most five tokens apart."""
    for sentence in sentences:
        places = [i for i, word in enumerate(sentence) if word in (w1, w2)]
        for i, j in itertools.pairwise(places):
            if {sentence[i], sentence[j]} == {w1, w2} and j - i - 1 <= 5:
                yield sentence, i, j, sentence[i] == w1


def test_the_expected_number_is_near_the_observed_one(source, sentences):
    """Words are drawn independently here, so that chance explains all co-occurrences, also of a word with itself."""
    inside = np.mean([min(len(s) - 1 - i, 6) for s in sentences for i in range(len(s))]) / 6  # sentences end
    for w1, w2 in (("sun", "moon"), ("sun", "sun"), ("star", "star")):
        found = sketch_pair(source, w1, w2)
        # A word between two others ends the search, so that there are fewer co-occurrences than by chance.
        assert 0.55 < found.together / (inside * found.expected) <= 1.1, (w1, w2)


def g2(k, n, total, whole):
    table = [[k, n - k], [total - k, whole - n - total + k]]
    return chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic


@pytest.mark.parametrize("pair", [("sun", "moon"), ("moon", "sun"), ("star", "w3"), ("sun", "sun")])
def test_a_pair_sketch_is_what_plain_counting_gives(source, sentences, pair):
    found = sketch_pair(source, *pair, top=1000)
    seen = list(cooccurrences(sentences, *pair))
    plain = Counter(word for sentence in sentences for word in sentence)
    whole = sum(plain.values())
    assert (found.n_w1, found.n_w2) == (plain[pair[0]], plain[pair[1]])
    assert found.together == found.sampled == len(seen)
    assert found.n_plus == sum(first for *_, first in seen)
    expected = (
        plain[pair[0]] * plain[pair[1]] / whole * (6 if pair[0] == pair[1] else 12)
    )  # places of the partner
    assert found.expected == pytest.approx(expected, abs=0.001)
    for row, first in ((found.distances_plus, True), (found.distances_minus, False)):
        assert list(row) == [sum(f == first and j - i - 1 == n for _, i, j, f in seen) for n in range(6)]
    cuts = {"pre": lambda s, i, j: s[max(0, i - 2) : i], "betw": lambda s, i, j: s[i + 1 : j],
            "post": lambda s, i, j: s[j + 1 : j + 3]}  # fmt: skip
    for sign, first in (("+", True), ("-", False)):
        for place, cut in cuts.items():
            counts = Counter(word for s, i, j, f in seen if f == first for word in cut(s, i, j))
            window = sum(counts.values())
            expected = {}
            for word, k in counts.items():
                value = g2(k, window, plain[word], whole)
                if k >= 2 and value > 10.83 and k > plain[word] * window / whole:
                    expected[word] = (k, pytest.approx(value, abs=0.06))
            assert {t.term: (t.count, t.llr) for t in found.terms[sign + place]} == expected
    middles = Counter(("+" if f else "-", " ".join(s[i + 1 : j])) for s, i, j, f in seen)
    assert {(m.order, m.text): m.count for m in found.middles} == middles
    assert all(line["key"].lower() in pair for line in found.examples)


def test_many_observations_are_sampled_evenly_and_it_is_reported(source, monkeypatch):
    whole = sketch_pair(source, "sun", "moon")
    evidence = PairEvidence.of(source, "sun", "moon", CountSettings(limit=3))
    limited = sketch_pair(source, "sun", "moon", evidence=evidence)
    assert limited == whole, "a limit of counts is none of sketches"
    monkeypatch.setattr(sketch_module, "MOST", 20)
    found = sketch_pair(source, "sun", "moon")
    assert found.sampled == 20 < found.together and sum(found.distances_plus) == found.n_plus
    picks = spread([7, 0, 5, 100], 16)
    assert [pick.size for pick in picks] == [1, 0, 1, 14] and sum(p.size for p in spread([3, 4], 100)) == 7


def test_a_word_sketch(source, sentences):
    found = sketch_word(source, "SUN")
    plain = Counter(word for sentence in sentences for word in sentence)
    assert found.count == plain["sun"] and found.forms == [Form("SUN", plain["sun"])]
    assert found.rank == 1 + sum(count > plain["sun"] for count in plain.values())
    assert found.per_million == pytest.approx(1e6 * found.count / sum(plain.values()), abs=0.01)
    terms = {item.term for pattern in found.patterns for item in pattern.words}
    assert not terms & {"the", "of", "and", ",", "sun"}


def test_unknown_words_are_shown_as_such(source):
    found = sketch_pair(source, "sun", "nosuch")
    assert found.unknown == ("nosuch",) and found.n_w1 > 0 and not found.examples
    assert sketch_word(source, "nosuch").unknown and json.dumps(found.to_dict())


PAGED = [
    (words, sort)
    for words in (["sun"], ["sun", "moon"], ["sun", "sun"], ["of the"])
    for sort in ("corpus", "left", "right", *["between"] * (len(words) > 1))
]


@pytest.mark.parametrize(("words", "sort"), PAGED)
def test_pages_make_the_whole_concordance(source, words, sort):
    browser = Browser(source, words)
    whole = source.contexts(*words, limit=None)
    pages = [browser.lines(start, 17, sort) for start in range(0, browser.total + 17, 17)]
    lines = [line for page in pages for line in page.lines]
    assert browser.total == whole.total == len(lines) and pages[-1].lines == ()
    if sort == "corpus":
        assert lines == list(whole)
        return
    assert sorted(line.text for line in lines) == sorted(line.text for line in whole)

    def key(line):
        pieces = {"left": line.pieces[:2], "right": line.pieces[5:], "between": line.pieces[3:4]}[sort]
        tokens = "".join(pieces).lower().split()
        return (tokens[::-1] if sort == "left" else tokens)[: 5 if sort == "between" else 3]

    assert [key(line) for line in lines] == sorted(map(key, lines))


def test_sorting_is_bounded_and_says_so(source, monkeypatch):
    monkeypatch.setattr("bagpack.explain.browse.SORTED", 25)
    page = Browser(source, ["sun"]).lines(20, 10, "left")
    assert len(page.lines) == 5 and page.reachable == 25 and "taken evenly" in page.note


# Words ----------------------------------------------------------------------------------------------------------------


SENTENCES = [
    "The/DET old/ADJ family/NOUN doctor/NOUN will/AUX not/PART see/VERB the/DET sick/ADJ child/NOUN ./PUNCT",
    "They/PRON pay/VERB their/PRON good/ADJ doctor/NOUN and/CCONJ a/DET nurse/NOUN ./PUNCT",
    "A/DET doctor/NOUN of/ADP great/ADJ medicine/NOUN sleeps/VERB badly/ADV ./PUNCT",
    "The/DET advice/NOUN of/ADP the/DET young/ADJ doctor/NOUN helped/VERB ./PUNCT",
    "The/DET nurse/NOUN or/CCONJ the/DET doctor/NOUN came/VERB ./PUNCT",
    '"/PUNCT the/DET "/PUNCT doctor/NOUN "/PUNCT',
    "The/DET doctor/NOUN has/VERB it/PRON ./PUNCT",  # as Penn tags, which do not know auxiliaries
    "The/DET fox/NOUN like/VERB it/PRON ./PUNCT",
]
NOISE = ["The/DET red/ADJ fox/NOUN jumped/VERB over/ADP it/PRON ./PUNCT"] * 30


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """The same text with and without parts of speech."""
    folder = tmp_path_factory.mktemp("words")
    pairs = [[token.rsplit("/", 1) for token in line.split()] for line in SENTENCES * 4 + NOISE]
    tagged = [[f"{word.lower()}/{tag}" for word, tag in line] for line in pairs]
    plain = [[f"{word.lower()}/Q" for word, _ in line] for line in pairs]
    return [make_store(folder, lines, (20, 40), f"{at}.bp") for at, lines in enumerate((tagged, plain))]


def counts(found):
    return {p.pattern: {item.term: item.count for item in p.words} for p in found.patterns}


def test_patterns_of_a_tagged_corpus(corpora):
    found = sketch_word(corpora[0], "doctor")
    assert counts(found) == {
        "adjective before": {"old": 4, "good": 4, "young": 4}, "noun before": {"family": 4},
        "verb before": {"pay": 4}, "verb after": {"see": 4, "helped": 4, "came": 4}, "of …": {"medicine": 4},
        "… of": {"advice": 4}, "and, or": {"nurse": 8},
        "nouns nearby": {"family": 4, "child": 4, "nurse": 8, "medicine": 4, "advice": 4},
        "verbs nearby": {"see": 4, "pay": 4, "sleeps": 4, "helped": 4, "came": 4},
        "adjectives nearby": {"old": 4, "sick": 4, "good": 4, "great": 4, "young": 4}, "adverbs nearby": {"badly": 4},
    }  # fmt: skip
    assert found.parts_of_speech == {"NOUN": 28}
    # With tags, the tag decides: *like* is a verb here, and would be a function word without tags.
    assert counts(sketch_word(corpora[0], "fox"))["verb after"] == {"jumped": 30, "like": 4}
    assert "like" not in counts(sketch_word(corpora[1], "fox"))["after"]
    verbs = counts(sketch_word(corpora[0], "see"))
    assert verbs["noun before"] == {"doctor": 4} and verbs["noun after"] == {"child": 4}
    assert counts(sketch_word(corpora[0], "sick"))["noun after"] == {"child": 4}


def test_patterns_without_tags_leave_out_function_words_and_punctuation(corpora):
    assert not corpora[1].tags or set(corpora[1].tags) == {"X"}
    found = counts(sketch_word(corpora[1], "doctor", top=100))
    assert found["of …"] == {"great": 4} and "… of" not in found  # which needs to know that young is no noun
    assert counts(sketch_word(corpora[1], "young"))["… of"] == {"advice": 4}
    assert found["and, or"] == {"nurse": 8}
    assert found["before"] == {"family": 4, "good": 4, "young": 4, "nurse": 4}
    assert found["after"] == {"see": 4, "nurse": 4, "great": 4, "helped": 4, "came": 4}
    for words in found.values():
        assert not {"the", "a", "of", "will", "not", "and", "or", '"', "."} & set(words)


def test_numbers_are_those_of_the_published_formulas(corpora):
    corpus = corpora[0]
    for found in (sketch_word(own, "doctor", top=100) for own in corpora):
        items = [(pattern, item) for pattern in found.patterns for item in pattern.words]
        assert len(items) > 10
        for pattern, item in items:
            f_y, whole = corpus.count(item.term), corpus.tokens
            assert item.logdice == pytest.approx(14 + math.log2(2 * item.count / (28 + f_y)), abs=0.005)
            assert item.llr == pytest.approx(g2(item.count, pattern.count, f_y, whole), abs=0.051)
            assert item.expected == pytest.approx(f_y * pattern.count / whole, abs=0.001)


def test_log_likelihood_agrees_with_scipy_and_log_dice_with_its_definition():
    rng = np.random.default_rng(5)
    for _ in range(60):
        whole = int(rng.integers(50, 10_000))
        window, total = (int(n) for n in rng.integers(2, whole // 2, 2))
        inside = int(rng.integers(1, min(window, total)))
        mine = log_likelihood(np.array([inside]), window, np.array([total]), whole)[0]
        assert abs(mine) == pytest.approx(g2(inside, window, total, whole), rel=1e-9, abs=1e-9)
        assert (mine >= 0) == (inside * whole >= window * total)
        dice = log_dice(np.array([inside]), window, np.array([total]))[0]
        assert dice == pytest.approx(14 + math.log2(2 * inside / (window + total)))
    values = log_likelihood(np.array([0, 1, 5, 10, 10]), 10, np.array([10, 1, 500, 10, 8]), 1000)
    assert np.isfinite(values).all() and values[0] < 0 and values[3] > 0


def test_a_random_text_by_plain_counting(tmp_path):
    rng = random.Random(3)
    sentences = [rng.choices([*(f"z{letter}" for letter in "abcdefgh"), "the", ","], k=9) for _ in range(200)]
    corpus = make_store(tmp_path, sentences, (70, 140))
    places = collocates_module.WordPlaces(as_source(corpus), Target(("za",)), Windows())
    before, near = Counter(), Counter()
    for sentence in sentences:
        for at in (i for i, word in enumerate(sentence) if word == "za"):
            around = sentence[max(0, at - 6) : at] + sentence[at + 1 : at + 7]
            near.update(word for word in around if word not in ("the", ","))
            nearest = [word for word in sentence[max(0, at - 3) : at][::-1] if word != "the"][:1]
            before.update(word for word in nearest if word != ",")
    for name, expected in (("before", before), ("words nearby", near)):
        found = Counter(corpus.lexicon.keys[int(number)] for number in places.found[name])
        assert found == expected


def test_many_occurrences_are_sampled(corpora, monkeypatch):
    monkeypatch.setattr(collocates_module, "MOST", 12)
    some = sketch_word(corpora[0], "doctor")
    assert some.sampled == 12 < some.count == 28
    assert some["and, or"]
    for item in some["and, or"]:  # scaled to all occurrences
        assert item.logdice == pytest.approx(14 + math.log2(2 * 28 / 12 * item.count / (28 + 8)), abs=0.005)
