"""Sketches and concordance pages against plain counting over the sentences."""

import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.explain import pair as sketch_module
from bagpack.explain.browse import Browser
from bagpack.explain.keyness import spread
from bagpack.explain.lines import PairEvidence
from bagpack.explain.pair import sketch_pair
from bagpack.explain.word import Form, sketch_word
from bagpack.sources import open_source

WORDS = ["sun", "moon", "sky", "and", "the", "of", ",", "star"]
LONG = WORDS + [f"w{i}" for i in range(40)]


@pytest.fixture(scope="module")
def sentences():
    rng = random.Random(4)
    return [rng.choices(LONG, [9] * len(WORDS) + [1] * 40, k=rng.randint(1, 14)) for _ in range(900)]


@pytest.fixture(scope="module")
def source(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sketch")
    rows = ["<text id='t'>"]
    for sentence in sentences:
        rows += ["<s>", *(f"{word.upper()}\tX\t{word}" for word in sentence), "</s>"]
    (folder / "c.vert").write_text("\n".join([*rows, "</text>", ""]))
    index_corpus([str(folder / "c.vert")], folder / "c.bp", part_bytes=9000)
    opened = open_source(folder / "c.bp")
    assert len(opened.segments) > 2
    return opened


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
    assert sketch_pair(source, "sun", "moon", evidence=evidence) == whole, (
        "a limit of counts is none of sketches"
    )
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
    assert sketch_word(source, "nosuch").unknown
    found = sketch_pair(source, "sun", "nosuch")
    assert found.unknown == ("nosuch",) and found.n_w1 > 0 and not found.examples
    json.dumps(found.to_dict())


@pytest.mark.parametrize("words", [("sun",), ("sun", "moon"), ("sun", "sun"), ("of the",)])
@pytest.mark.parametrize("sort", ["corpus", "left", "right", "between"])
def test_pages_make_the_whole_concordance(source, words, sort):
    if sort == "between" and len(words) == 1:
        return
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
        piece = {
            "left": line.pieces[0] + line.pieces[1],
            "right": line.pieces[5] + line.pieces[6],
            "between": line.pieces[3],
        }
        tokens = piece[sort].lower().split()
        return (tokens[::-1] if sort == "left" else tokens)[: 5 if sort == "between" else 3]

    assert [key(line) for line in lines] == sorted(map(key, lines))


def test_sorting_is_bounded_and_says_so(source, monkeypatch):
    monkeypatch.setattr("bagpack.explain.browse.SORTED", 25)
    page = Browser(source, ["sun"]).lines(20, 10, "left")
    assert len(page.lines) == 5 and page.reachable == 25 and "taken evenly" in page.note
