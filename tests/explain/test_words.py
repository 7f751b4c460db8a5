"""Word sketches against plain counting, and patterns by hand."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.explain import collocates as collocates_module
from bagpack.explain.keyness import log_dice, log_likelihood
from bagpack.explain.word import sketch_word
from bagpack.sources import as_source
from tests.explain.test_sketch import g2

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


def vertical(sentences, tags=True):
    lines = ["<text id='t'>"]
    for sentence in sentences:
        pairs = [token.rsplit("/", 1) for token in sentence.split()]
        lines += ["<s>", *(f"{word}\t{tag if tags else 'Q'}\t{word.lower()}" for word, tag in pairs), "</s>"]
    return "\n".join([*lines, "</text>", ""])


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """The same text with and without parts of speech."""
    folder = tmp_path_factory.mktemp("words")
    made = []
    for name, tags in (("tagged", True), ("plain", False)):
        (folder / f"{name}.vert").write_text(vertical(SENTENCES * 4 + NOISE, tags))
        made.append(
            index_corpus([str(folder / f"{name}.vert")], folder / f"{name}.bp", part_bytes=1500).corpus
        )
    assert made[0].tags and len(made[0].segments) > 1
    return made


def counts(found):
    return {p.pattern: {item.term: item.count for item in p.words} for p in found.patterns}


def test_patterns_of_a_tagged_corpus(corpora):
    found = sketch_word(corpora[0], "doctor")
    assert counts(found) == {
        "adjective before": {"old": 4, "good": 4, "young": 4},
        "noun before": {"family": 4},
        "verb before": {"pay": 4},
        "verb after": {"see": 4, "helped": 4, "came": 4},
        "of …": {"medicine": 4},
        "… of": {"advice": 4},
        "and, or": {"nurse": 8},
        "nouns nearby": {"family": 4, "child": 4, "nurse": 8, "medicine": 4, "advice": 4},
        "verbs nearby": {"see": 4, "pay": 4, "sleeps": 4, "helped": 4, "came": 4},
        "adjectives nearby": {"old": 4, "sick": 4, "good": 4, "great": 4, "young": 4},
        "adverbs nearby": {"badly": 4},
    }
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
    for found in (sketch_word(corpora[0], "doctor", top=100), sketch_word(corpora[1], "doctor", top=100)):
        assert sum(len(pattern.words) for pattern in found.patterns) > 10
        for pattern in found.patterns:
            for item in pattern.words:
                f_y, whole = corpus.count(item.term), corpus.tokens
                assert item.logdice == pytest.approx(14 + math.log2(2 * item.count / (28 + f_y)), abs=0.005)
                assert item.llr == pytest.approx(g2(item.count, pattern.count, f_y, whole), abs=0.051)
                assert item.expected == pytest.approx(f_y * pattern.count / whole, abs=0.001)


def test_log_likelihood_agrees_with_scipy_and_log_dice_with_its_definition():
    rng = np.random.default_rng(5)
    for _ in range(200):
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
    tagged = [" ".join(f"{word}/Q" for word in sentence) for sentence in sentences]
    (tmp_path / "r.vert").write_text(vertical(tagged, tags=False))
    corpus = index_corpus([str(tmp_path / "r.vert")], tmp_path / "r.bp", part_bytes=3000).corpus
    places = collocates_module.WordPlaces(as_source(corpus), Target(("za",)), Windows())
    before, near = Counter(), Counter()
    for sentence in sentences:
        for at in (i for i, word in enumerate(sentence) if word == "za"):
            near.update(
                w for w in sentence[max(0, at - 6) : at] + sentence[at + 1 : at + 7] if w not in ("the", ",")
            )
            for word in reversed(sentence[max(0, at - 3) : at]):
                if word == ",":
                    break
                if word != "the":
                    before[word] += 1
                    break
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
