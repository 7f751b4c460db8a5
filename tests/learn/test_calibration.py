import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC

from bagpack.errors import UsageError
from bagpack.learn.calibration import (
    Threshold,
    accepted_answers,
    choose_threshold,
    fit_calibration,
    held_out_threshold,
    probabilities_of,
)


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
    holds = x > 0
    curves = fit_calibration(x, holds)
    found = probabilities_of(np.array([[-100.0], [0.0], [100.0]]), curves)
    prior = 1 / ((~holds).sum() + 2)
    separated = probabilities_of(x, curves)[:, 1]
    assert separated.min() >= prior * 0.3  # Platt's priors, not 0 and 1
    assert separated.max() <= 1 - prior * 0.3
    assert found[0, 1] < found[1, 1] < found[2, 1]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("x", "holds", "probability"),
    [
        ([1.0, 2.0, 3.0], [False, False, False], 1 / 5),  # Platt's prior for three negatives
        ([1.0, 2.0, 3.0], [True, True, True], 4 / 5),
        ([1.0, 1.0, 1.0, 1.0], [True, False, True, False], 1 / 2),
        ([-2.0, -1.0, 1.0, 2.0], [True, True, False, False], 1 / 2),  # wrong way round: no information
    ],
)
def test_values_without_information_give_the_prior(x, holds, probability):
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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("precision", [0.6, 0.9, 1.0])
def test_the_threshold_with_the_most_answers(seed, precision):
    rng = np.random.default_rng(seed)
    probability = rng.random(80).round(1 if seed % 2 else 3)
    correct = rng.random(80) < probability
    chosen = choose_threshold(probability, correct, precision)
    wanted = brute_force(probability, correct, precision)
    if wanted is None:
        assert chosen.value is None
        assert not chosen.accepts(probability).any()
        assert chosen.precision < precision
    else:
        assert chosen.value == wanted[0]
        assert chosen.precision == pytest.approx(wanted[2])
        assert chosen.coverage == pytest.approx(wanted[1] / 80)
        assert chosen.accepts(probability).sum() == wanted[1]


def test_a_precision_out_of_reach_is_reported():
    answers = np.linspace(0.5, 1, 100), np.arange(100) % 2 == 0
    chosen = choose_threshold(*answers, 0.9)
    assert chosen.value is None
    assert chosen.sentence().startswith("no threshold reaches a precision of 90 %: the best is 5")
    assert Threshold(**json.loads(json.dumps(asdict(chosen)))) == chosen
    with pytest.raises(UsageError, match="at most 1, not 90"):
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
