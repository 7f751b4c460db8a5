"""How well words fit the places of a relation, against the formulas written out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bagpack.contexts.targets import Target
from bagpack.find.slots import Places, Slots, kinds_of, slot_scores
from bagpack.vectors.words import unit


def cosines(rng, words, examples):
    return rng.uniform(-1, 1, (words, examples)).astype(np.float32)


@pytest.fixture
def slots():
    rng = np.random.default_rng(3)
    none = np.zeros((40, 0), np.float32)
    return Slots((cosines(rng, 40, 6), cosines(rng, 40, 6)), (none, none))


def test_the_fit_is_the_mean_of_the_three_nearest(slots):
    first, second = np.array([0, 1, 2]), np.array([5, 6, 5])
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        one, two = (np.sort(own[w])[-3:].mean() for own, w in zip(slots.yes, (a, b), strict=True))
        assert slots.slot(first, second)[k] == pytest.approx(min(one, two))
        both = np.sort(np.minimum(slots.yes[0][a], slots.yes[1][b]))[-3:].mean()
        assert slots.pair(first, second)[k] == pytest.approx(both)
    left = np.delete(slots.yes[0], 2, axis=1)
    np.testing.assert_allclose(
        slots.fits(0, without=2), np.sort(left, axis=1)[:, -3:].mean(axis=1), rtol=1e-6
    )


def test_a_rejected_word_counts_only_where_it_is_nearer(slots):
    yes = slots.fits(0)
    far, near = np.full((40, 3), -1, np.float32), np.full((40, 3), 1, np.float32)
    np.testing.assert_array_equal(Slots(slots.yes, (far, far)).fits(0), yes)
    lowered = Slots(slots.yes, (near, far)).fits(0)
    np.testing.assert_allclose(lowered, yes - (1 - yes), rtol=1e-6)


@pytest.mark.parametrize("typed", [True, False])
def test_the_weight_is_chosen_by_leaving_examples_out(typed):
    """Slots count where examples are of one kind, and do not where they are of any kind."""
    rng = np.random.default_rng(0)
    centres = unit(rng.normal(size=(2, 60)).astype(np.float32))
    words = rng.normal(size=(400, 60)).astype(np.float32)
    if typed:  # the first forty words are near the centre of one place, the next forty near that of the other
        words[:40] = 4 * centres[0] + words[:40] / 3
        words[40:80] = 4 * centres[1] + words[40:80] / 3
    else:  # no example is like another
        words[[*range(30), *range(40, 70)]] = np.eye(60)
    words = unit(words)
    examples = [(k, 40 + k) for k in range(30)]
    positives = tuple(words[[pair[place] for pair in examples]] for place in (0, 1))
    none = np.zeros((400, 0), np.float32)
    slots = Slots((words @ positives[0].T, words @ positives[1].T), (none, none))
    first, second = rng.integers(30, 400, 3000), rng.integers(30, 400, 3000)
    model = rng.normal(size=3000)
    held_out = rng.normal(size=30) if typed else np.full(30, 2.5)
    values, weight = slot_scores(slots, first, second, model, examples, held_out, np.ones(3000, bool))
    assert (weight > 0) == typed
    if typed:
        best = np.argsort(-values)[:5]
        right = np.isin(first[best], range(40)) & np.isin(second[best], range(40, 80))
        assert right.mean() > 0.8


class Vectors:
    """Vectors of made-up words."""

    def __init__(self, words):
        rng = np.random.default_rng(1)
        self.rows = {word: unit(rng.normal(size=(1, 20)).astype(np.float32))[0] for word in words}

    def vectors(self, targets):
        return np.array([self.rows[target.keys[0]] for target in targets])

    def class_of(self, targets):
        return np.ones(len(targets), np.uint8)


def test_partners_of_similar_words_are_predicted_by_a_ridge_regression():
    """Examples of the given word itself are left out, and the term counts as much as partners recur."""
    pairs = [
        ("dog", "animal"),
        ("cat", "animal"),
        ("oak", "tree"),
        ("elm", "tree"),
        ("saw", "tool"),
        ("ox", "beast"),
    ]
    words = list(dict.fromkeys(word for pair in pairs for word in pair))
    targets = [Target((word,)) for word in words]
    vectors = Vectors(words)
    positives = [(Target((a,)), Target((b,))) for a, b in pairs]
    trained = SimpleNamespace(held_out=np.zeros(len(pairs)))
    places = Places(trained, vectors, positives, ([], []), (frozenset(), frozenset()), (True, False))
    rows = np.array([(words.index("ox"), k) for k in range(len(words))])
    model = np.linspace(-1, 1, len(words))
    others = pairs[:-1]
    X = np.array([vectors.rows[a] for a, _ in others], float)
    taught = np.array([[b == word for word in words] for _, b in others], float)
    predicted = vectors.rows["ox"] @ np.linalg.solve(X.T @ X + 10 * np.eye(20), X.T @ taught)
    plain, _ = slot_scores(
        places.slots(targets), *rows.T, model, [], trained.held_out, np.ones(len(words), bool)
    )
    values, of_kind, weight = places.rank(targets, rows, model)
    added = 2 * 4 / 5 * (predicted - predicted.mean()) / predicted.std()  # four of five partners recur
    np.testing.assert_allclose(values, plain + added, rtol=1e-5)
    assert weight == 1 and of_kind.all()
    once = replace(places, positives=[positives[0], positives[2], positives[4]])
    plain, _ = slot_scores(once.slots(targets), *rows.T, model, [], trained.held_out, of_kind)
    np.testing.assert_allclose(once.rank(targets, rows, model)[0], plain)


def test_kinds_are_those_of_a_quarter_of_the_examples():
    assert kinds_of(np.array([1, 1, 1, 1, 1, 1, 3, 3, 4], np.uint8)) == {1}
    assert kinds_of(np.array([1, 1, 3, 3], np.uint8)) == {1, 3}
    assert kinds_of(np.array([1, 0], np.uint8)) == frozenset()  # a word of unknown kind
