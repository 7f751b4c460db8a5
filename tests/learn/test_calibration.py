"""Probabilities and thresholds, and the held-out decision values that they are fitted on."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC
from tests.synthetic import make_counts

from bagpack.errors import UsageError
from bagpack.learn.calibration import (
    Threshold,
    accepted_answers,
    choose_threshold,
    fit_calibration,
    held_out_threshold,
    probabilities_of,
)
from bagpack.learn.fitting import fit_counts, hold_out
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets


def made_up(n=600, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, 5))
    X[np.arange(n), y] += 1.0
    return X, y, rng.integers(4, size=n)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(classes):
    X, y, fold = made_up(classes=classes)
    model, splits = LinearSVC(random_state=0), PredefinedSplit(fold)
    decisions = cross_val_predict(model, X, y, cv=splits, method="decision_function")
    decisions = decisions.reshape(len(y), -1)
    columns = (y == 1)[:, None] if classes == 2 else y[:, None] == np.arange(classes)
    found = fit_calibration(decisions, columns)
    reference = CalibratedClassifierCV(model, cv=splits, ensemble=False).fit(X, y)
    final = model.fit(X, y).decision_function(X).reshape(len(y), -1)
    np.testing.assert_allclose(probabilities_of(final, found), reference.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize("n", [4, 7, 12])
def test_a_handful_of_examples_gives_moderate_probabilities(n):
    x = np.linspace(-5, 5, n)[:, None]
    curves = fit_calibration(x, x > 0)
    found = probabilities_of(np.array([[-100.0], [0.0], [100.0]]), curves)
    margin = 0.3 / ((x <= 0).sum() + 2)  # of Platt's priors, not 0 and 1
    separated = probabilities_of(x, curves)[:, 1]
    assert margin <= separated.min() < separated.max() <= 1 - margin
    assert found[0, 1] < found[1, 1] < found[2, 1] and np.isfinite(found).all()


def test_values_without_information_give_the_prior():
    for x, holds, probability in (
        ([1.0, 2.0, 3.0], [False, False, False], 1 / 5),  # Platt's prior for three negatives
        ([1.0, 2.0, 3.0], [True, True, True], 4 / 5),
        ([1.0, 1.0, 1.0, 1.0], [True, False, True, False], 1 / 2),
        ([-2.0, -1.0, 1.0, 2.0], [True, True, False, False], 1 / 2),  # wrong way round
    ):
        curves = fit_calibration(np.array(x)[:, None], np.array(holds)[:, None])
        found = probabilities_of(np.array([[-9.0], [9.0]]), curves)
        np.testing.assert_allclose(found[:, 1], probability, atol=1e-9)


def brute_force(probability, correct, precision, least=20):
    """The most answers with that precision, by trying every threshold."""
    best = None
    for value in np.unique(probability):
        given = probability >= value
        enough = given.sum() >= min(least, len(given))
        if enough and correct[given].mean() >= precision and (best is None or given.sum() > best[1]):
            best = value, given.sum(), correct[given].mean()
    return best


@given(st.integers(0, 1000), st.sampled_from([0.6, 0.9, 1.0]), st.sampled_from([1, 3]))
def test_the_threshold_with_the_most_answers(seed, precision, decimals):
    rng = np.random.default_rng(seed)
    probability = rng.random(80).round(decimals)
    correct = rng.random(80) < probability
    chosen = choose_threshold(probability, correct, precision)
    wanted = brute_force(probability, correct, precision)
    if wanted is None:
        assert chosen.value is None and chosen.precision < precision
        assert not chosen.accepts(probability).any()
    else:
        assert chosen.value == wanted[0]
        assert (chosen.precision, chosen.coverage) == pytest.approx((wanted[2], wanted[1] / 80))
        assert chosen.accepts(probability).sum() == wanted[1]


def test_a_precision_out_of_reach_is_reported():
    answers = np.linspace(0.5, 1, 100), np.arange(100) % 2 == 0
    chosen = choose_threshold(*answers, 0.9)
    assert chosen.value is None
    assert chosen.sentence().startswith("no threshold") and "90 %: " in chosen.sentence()
    assert Threshold(**json.loads(json.dumps(asdict(chosen)))) == chosen
    with pytest.raises(UsageError, match=r"--precision .* 1, not 90"):
        choose_threshold(*answers, 90)


def test_thresholds_are_chosen_on_the_other_folds_by_rows_that_may_choose():
    probability, fold = np.tile([0.9, 0.8, 0.2], 40), np.repeat([0, 1], 60)
    correct = np.tile([True, True, False], 40) & (fold == 0)
    # Fold 1 is wrong everywhere, so nothing of fold 0 is answered; fold 0 is right from 0.8.
    found = accepted_answers(probability, correct, fold, 0.9)
    assert found.tolist() == [False] * 60 + [True, True, False] * 20
    none_right = np.where(fold == 0, -1, fold)  # only rows of fold 1 choose, and they are wrong
    assert not accepted_answers(probability, correct, none_right, 0.9).any()
    untested, fold = np.repeat([0.9, 0.9, np.nan], 30), np.repeat([0, 1, -1], 30)
    found = accepted_answers(untested, np.ones(90, bool), fold, 0.9)
    assert found.tolist() == [True] * 60 + [False] * 30


def test_precision_of_a_threshold_is_measured_on_rows_that_did_not_choose_it():
    rng = np.random.default_rng(2)
    probability, fold = rng.random(200), rng.integers(5, size=200)
    correct = rng.random(200) < probability
    right = given = 0
    for number in range(5):
        rest, own = fold != number, fold == number
        accepted = own & (probability >= brute_force(probability[rest], correct[rest], 0.8)[0])
        right += correct[accepted].sum()
        given += accepted.sum()
    chosen = choose_threshold(probability, correct, 0.8)
    measured = held_out_threshold(probability, correct, fold, 0.8)
    assert measured.value == chosen.value and measured.precision != chosen.precision
    assert (measured.precision, measured.coverage) == pytest.approx((right / given, given / 200))


# Which rows share a fold, and by which models held-out values are ------------------------------


@pytest.fixture(scope="module")
def data():
    counts, y = make_counts(n_pairs=120, n_words=30, n_terms=20, n_labels=3, seed=1)
    return counts, encode_targets(y)


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_repeated_and_reversed_pairs_are_in_one_fold(data, preset):
    """Else a model would be calibrated on rows that it was trained on."""
    counts, targets = data
    rows = np.tile(np.arange(60), 3)
    both = counts[rows]
    both = replace(both, rows=np.concatenate([both.rows[:120], both.rows[120:, ::-1]]))
    folds = [hold_out(both, targets[rows], own, preset, SvmSettings()).fold for own in ("v1v2v12", "v12")]
    np.testing.assert_array_equal(*folds)
    groups = np.sort(np.stack([both.w1, both.w2], axis=1), axis=1)
    for group in np.unique(groups, axis=0):
        assert len(set(folds[0][(groups == group).all(axis=1)])) == 1
    assert len(set(folds[0])) == 5
    few = encode_targets([True, *[False] * 29])
    alone = hold_out(counts[:30], few, "v12", preset, SvmSettings())
    assert (alone.decisions[alone.fold == alone.fold[0]] == -1).all()  # the other folds have no positive pair
    one_pair = np.zeros(9, int)
    assert hold_out(both[one_pair], targets[rows][one_pair], "v12", preset, SvmSettings()) is None


# By one Gram matrix of all rows, and by models of their own.
@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_held_out_values_are_those_of_models_of_the_other_folds(data, preset):
    counts, targets = data
    svm = SvmSettings(C=0.1, tol=1e-6)
    found = hold_out(counts, targets, "v1v2v12", preset, svm)
    for number in range(5):
        train, test = found.fold != number, found.fold == number
        model = fit_counts(counts[train], targets[train], preset=preset, svm=svm)
        np.testing.assert_allclose(found.decisions[test], model.decisions(counts[test]), atol=1e-3)
