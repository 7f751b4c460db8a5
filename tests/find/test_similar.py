"""Partners of similar words: the regression is scikit-learn's, and it is added to what the model says."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge

from bagpack.find import find_pairs, similar, train_on_examples
from bagpack.find.examples import Examples
from bagpack.find.similar import PENALTY, WEIGHT, SimilarExamples
from bagpack.learn.association import unit_length
from bagpack.learn.calibration import fit_calibration

from .conftest import HELD_OUT, PARTS

SHOWN = {"top": 10**6, "per_word": None, "mark_known": True, "sentences": False}
# Some words have two partners, in each place.
EXAMPLES = (*PARTS[:18], *((f"parta{k:02d}", f"partb{11 - k:02d}") for k in range(4)))


@pytest.fixture(scope="module")
def many(source):
    return train_on_examples(source, Examples("part", EXAMPLES))


def vectors(source, model, words, side):
    """Weighted vectors of unit length of words in a place, counted with any partner."""
    pairs = [(word, "came") if side == 0 else ("came", word) for word in words]
    name = ("v1", "v2")[side]
    weighting = model.weightings[model.block_names.index(name)]
    return unit_length(sparse.csr_array(weighting.apply(model.count(pairs, source).blocks[name]).expanded()))


def expected(source, model, word, side, among):
    """Predictions of scikit-learn's regression from the examples of all other words."""
    others = [pair for pair in among if pair[side] != word]
    words = list(dict.fromkeys(pair[side] for pair in others))
    often = Counter(pair[1 - side] for pair in among)
    partners = list(often)
    weight = WEIGHT * np.mean([often[pair[1 - side]] > 1 for pair in among])
    taught = np.zeros((len(words), len(partners)))
    for pair in others:
        taught[words.index(pair[side]), partners.index(pair[1 - side])] = 1
    ridge = KernelRidge(alpha=PENALTY, kernel="linear").fit(
        vectors(source, model, words, side).toarray(), taught
    )
    predicted = ridge.predict(vectors(source, model, [word], side).toarray())[0]
    return dict(zip(partners, weight * predicted, strict=True))


@pytest.mark.parametrize("side", [0, 1])
def test_predictions_are_those_of_a_ridge_regression_without_the_words_own_examples(
    many, source, side, monkeypatch
):
    monkeypatch.setattr(similar, "AT_ONCE", 2)
    own = SimilarExamples(many.matrix[: len(EXAMPLES)], many.model, side)
    pairs, wanted = [], []
    for word in (EXAMPLES[2][side], PARTS[20][side], "kinda03"):
        values = expected(source, many.model, word, side, EXAMPLES)
        partners = [*(partner for partner in values if partner != word), "kindb01", "toolb02"]
        pairs += [(word, partner) if side == 0 else (partner, word) for partner in partners]
        wanted += [values.get(partner, 0.0) for partner in partners]
    found = own.added(many.model.count(pairs, source))
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert np.abs(found).max() > 0.01


def test_only_the_first_words_of_many_examples_are_learnt_from(many, source, monkeypatch):
    monkeypatch.setattr(similar, "MOST_WORDS", 14)
    own = SimilarExamples(many.matrix[: len(EXAMPLES)], many.model, 0)
    first = [pair for pair in EXAMPLES if pair[0] <= "parta13"]
    values = expected(source, many.model, "parta20", 0, first)
    pairs = [("parta20", f"partb{k:02d}") for k in range(12)]
    found = own.added(many.model.count(pairs, source))
    np.testing.assert_allclose(found, [values.get(partner, 0.0) for _, partner in pairs], atol=1e-9)


@pytest.mark.parametrize("fixed", [{"w1": "parta20"}, {"w2": "partb03"}])
def test_what_similar_examples_say_is_added_and_calibrated(many, source, fixed):
    side = 0 if "w1" in fixed else 1
    found = find_pairs(source, many, **fixed, **SHOWN)
    plain = find_pairs(source, many.model, **fixed, **SHOWN)
    pairs = [(row.w1, row.w2) for row in found]
    assert {*pairs} == {(row.w1, row.w2) for row in plain}
    own = SimilarExamples(many.matrix[: len(EXAMPLES)], many.model, side)
    label = many.model.classes.index("part")
    added = own.added(many.model.count(pairs, source))
    scores = many.model.label_scores(pairs)[:, label] + added
    np.testing.assert_allclose([row.score for row in found], scores, atol=1e-6)
    assert list(scores) == sorted(scores, reverse=True) and added.max() > 0.1
    truth = np.arange(len(many.matrix)) < len(EXAMPLES)
    held_out = many.held_out + own.added(many.matrix)
    curve = fit_calibration(held_out[:, None], truth[:, None], "binary").curves[0]
    np.testing.assert_allclose([row.probability for row in found], curve(scores), atol=1e-6)
    assert any("similar words" in note for note in found.notes)
    assert not any("similar words" in note for note in plain.notes)
    assert find_pairs(source, many, **fixed, n_jobs=2, **SHOWN) == found


@pytest.mark.parametrize("fixed", [{"w1": "parta20"}, {"w2": "partb03"}])
def test_the_first_ranking_knows_the_examples_too(many, source, fixed, monkeypatch):
    monkeypatch.setattr(similar, "WEIGHT", -1000.0)  # partners of the examples are last
    side = 0 if "w1" in fixed else 1
    everything = find_pairs(source, many, **fixed, **SHOWN)
    assert (everything[-1].w1, everything[-1].w2)[1 - side] in {pair[1 - side] for pair in EXAMPLES}
    few = find_pairs(source, many, **fixed, scored=3, **SHOWN)
    assert len(few) == 3 and (everything[-1].w1, everything[-1].w2) not in {(row.w1, row.w2) for row in few}


@pytest.mark.parametrize("side", [0, 1])
def test_pairs_that_never_meet_are_with_partners_of_the_examples(many, source, side, monkeypatch):
    monkeypatch.setattr(similar, "WEIGHT", 1000.0)  # nothing else counts
    word = ("parta20", "partb03")[side]
    asked = {("w1", "w2")[side]: word, "min_count": 1, **SHOWN}
    met = {(row.w1, row.w2)[1 - side] for row in find_pairs(source, many, **asked, min_together=1)}
    values = expected(source, many.model, word, side, EXAMPLES)
    apart = {partner for partner, value in values.items() if value > 0 and partner not in met}
    found = find_pairs(source, many, **asked, never_meeting=len(apart))
    assert {(row.w1, row.w2)[1 - side] for row in found if not row.together} == apart


def test_without_a_fixed_word_or_with_two_the_model_decides_alone(many, source):
    for fixed in ({}, {"w1": "parta20", "w2": "partb08"}):
        assert find_pairs(source, many, **fixed, **SHOWN) == find_pairs(source, many.model, **fixed, **SHOWN)
    assert ("parta20", "partb08") in HELD_OUT


def test_a_model_of_the_pair_contexts_alone_has_no_similar_examples(source):
    trained = train_on_examples(source, Examples("part", EXAMPLES), condition="v12", b=300)
    assert trained.similar(0) is None and trained.similar(1) is None
    found = find_pairs(source, trained, w2="partb03", **SHOWN)
    assert found == find_pairs(source, trained.model, w2="partb03", **SHOWN)


def test_examples_without_a_word_in_common_say_nothing(source, trained):
    assert trained.similar(0) is None and trained.similar(1) is None
    found = find_pairs(source, trained, w2="partb03", **SHOWN)
    assert found == find_pairs(source, trained.model, w2="partb03", **SHOWN)
