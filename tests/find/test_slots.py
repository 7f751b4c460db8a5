"""How well words fit the places of a relation, against the formulas written out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bagpack.contexts.targets import Target
from bagpack.find.slots import Places, Slots, kinds_of
from bagpack.vectors.words import unit


@pytest.fixture
def slots():
    rng = np.random.default_rng(3)
    none = np.zeros((40, 0), np.float32)
    yes = [rng.uniform(-1, 1, (40, 6)).astype(np.float32) for _ in range(2)]
    return Slots(tuple(yes), (none, none))


def test_the_fit_is_the_mean_of_the_three_nearest(slots):
    first, second = np.array([0, 1, 2]), np.array([5, 6, 5])
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        one, two = (np.sort(own[w])[-3:].mean() for own, w in zip(slots.yes, (a, b), strict=True))
        assert slots.slot(first, second)[k] == pytest.approx(min(one, two))
        both = np.sort(np.minimum(slots.yes[0][a], slots.yes[1][b]))[-3:].mean()
        assert slots.pair(first, second)[k] == pytest.approx(both)
    given = Slots(slots.yes, slots.no, (True, False))  # of a given word, the fit says nothing
    np.testing.assert_array_equal(given.slot(first, second), slots.fits(1)[second])
    left = np.sort(np.delete(slots.yes[0], 2, axis=1), axis=1)
    np.testing.assert_allclose(slots.fits(0, without=2), left[:, -3:].mean(axis=1), rtol=1e-6)


def test_a_rejected_word_counts_only_where_it_is_nearer(slots):
    yes = slots.fits(0)
    far, near = np.full((40, 3), -1, np.float32), np.full((40, 3), 1, np.float32)
    np.testing.assert_array_equal(Slots(slots.yes, (far, far)).fits(0), yes)
    lowered = Slots(slots.yes, (near, far)).fits(0)
    np.testing.assert_allclose(lowered, yes - (1 - yes), rtol=1e-6)


class Vectors:
    """Vectors of made-up words, which are numbers."""

    def __init__(self, rows):
        self.rows = rows

    def vectors(self, targets):
        return self.rows[[int(target.keys[0]) for target in targets]]

    def class_of(self, targets):
        return np.ones(len(targets), np.uint8)


def places_of(rows, pairs, held_out, given=(False, False)):
    positives = [(Target((str(a),)), Target((str(b),))) for a, b in pairs]
    kinds = (frozenset(), frozenset())
    return Places(SimpleNamespace(held_out=held_out), Vectors(rows), positives, ([], []), kinds, given)


def words(number):
    return [Target((str(k),)) for k in range(number)]


@pytest.mark.parametrize("typed", [True, False])
def test_the_weight_is_chosen_by_leaving_examples_out(typed):
    """Slots count where examples are of one kind, and do not where they are of any kind."""
    rng = np.random.default_rng(0)
    centres = unit(rng.normal(size=(2, 60)).astype(np.float32))
    rows = rng.normal(size=(400, 60)).astype(np.float32)
    if typed:  # the first forty words are near the centre of one place, the next forty near that of the other
        rows[:40] = 4 * centres[0] + rows[:40] / 3
        rows[40:80] = 4 * centres[1] + rows[40:80] / 3
    else:  # no example is like another
        rows[[*range(30), *range(40, 70)]] = np.eye(60)
    held_out = rng.normal(size=30) if typed else np.full(30, 2.5)
    places = places_of(unit(rows), [(k, 40 + k) for k in range(30)], held_out)
    pairs = rng.integers(30, 400, (3000, 2))
    values, _, weight = places.rank(words(400), pairs, rng.normal(size=3000))
    assert (weight > 0) == typed
    if typed:
        first, second = pairs[np.argsort(-values)[:5]].T
        assert (np.isin(first, range(40)) & np.isin(second, range(40, 80))).mean() > 0.8


def test_slots_count_where_they_lose_nothing():
    """Each example is the first by the model alone."""
    rows = unit(np.random.default_rng(0).normal(size=(10, 20)).astype(np.float32))
    places = places_of(rows, [(0, 1), (2, 3), (4, 5)], np.full(3, 1e6))
    assert places.rank(words(10), np.array([(6, 7), (8, 9), (7, 8)]), np.arange(3.0))[2] == 0.5


def test_a_word_of_unknown_kind_is_of_any():
    places = replace(places_of(None, [], None), kinds=(frozenset([2]), frozenset()))
    places.vectors.class_of = lambda targets: np.arange(3)
    assert [own.tolist() for own in places.of_kind(words(3))] == [[True, False, True], [True] * 3]


def plain(places, asked, model):
    """The model's values and the mean of both fits, each with mean 0 and standard deviation 1."""
    slots = places.slots(words(10))
    z = [(v - v.mean()) / v.std() for v in (model, slots.slot(*asked.T), slots.pair(*asked.T))]
    return z[0] + (z[1] + z[2]) / 2


def test_partners_of_similar_words_are_predicted_by_a_ridge_regression():
    """Examples of the given word itself are left out, and the term counts as much as partners recur."""
    rows = unit(np.random.default_rng(1).normal(size=(10, 20)).astype(np.float32))
    pairs = [(0, 5), (1, 5), (2, 6), (3, 6), (4, 7), (9, 8)]
    asked = np.array([(9, k) for k in range(10)])
    model = np.linspace(-1, 1, 10)
    others = pairs[:-1]
    X = rows[[a for a, _ in others]].astype(float)
    taught = np.array([[b == k for k in range(10)] for _, b in others], float)
    predicted = rows[9] @ np.linalg.solve(X.T @ X + 10 * np.eye(20), X.T @ taught)
    added = 2 * 4 / 5 * (predicted - predicted.mean()) / predicted.std()  # four of five partners recur
    places = places_of(rows, pairs, np.zeros(6), (True, False))
    values, _, weight = places.rank(words(10), asked, model)
    np.testing.assert_allclose(values, plain(places, asked, model) + added, rtol=1e-5)
    assert weight == 1
    once = places_of(rows, [(0, 5), (2, 6), (4, 7)], np.zeros(3), (True, False))
    np.testing.assert_allclose(once.rank(words(10), asked, model)[0], plain(once, asked, model), rtol=1e-5)


def test_kinds_are_those_of_a_quarter_of_the_examples():
    assert kinds_of(np.array([1, 1, 1, 1, 1, 1, 3, 3, 4], np.uint8)) == {1}
    assert kinds_of(np.array([1, 1, 1, 3], np.uint8)) == {1, 3}
    assert kinds_of(np.array([1, 0], np.uint8)) == frozenset()  # a word of unknown kind
