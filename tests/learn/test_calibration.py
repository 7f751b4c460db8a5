import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC

from bagpack.errors import UsageError
from bagpack.learn.calibration import (
    Answers,
    Threshold,
    accepted_answers,
    choose_threshold,
    fit_calibration,
    held_out_threshold,
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
    kind = "binary" if classes == 2 else "multiclass"
    found = fit_calibration(decisions, columns, kind)
    reference = CalibratedClassifierCV(model, cv=splits, ensemble=False).fit(X, y)
    final = model.fit(X, y).decision_function(X).reshape(len(y), -1)
    np.testing.assert_allclose(found.probabilities(final), reference.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize("n", [4, 7, 12])
def test_a_handful_of_examples_gives_moderate_probabilities(n):
    x = np.linspace(-5, 5, n)[:, None]
    holds = x > 0
    found = fit_calibration(x, holds, "binary").probabilities(np.array([[-100.0], [0.0], [100.0]]))
    prior = 1 / ((~holds).sum() + 2)
    separated = fit_calibration(x, holds, "binary").probabilities(x)[:, 1]
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
    found = fit_calibration(np.array(x)[:, None], np.array(holds)[:, None], "binary")
    np.testing.assert_allclose(found.probabilities(np.array([[-9.0], [9.0]]))[:, 1], probability, atol=1e-9)


def brute_force(found, precision, least):
    """The most answers with that precision, by trying every threshold."""
    best = None
    for value in np.unique(found.probability):
        given = found.probability >= value
        enough = given.sum() >= min(least, len(given))
        if enough and found.correct[given].mean() >= precision and (best is None or given.sum() > best[1]):
            best = value, given.sum(), found.correct[given].mean()
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("precision", [0.6, 0.9, 1.0])
def test_the_threshold_with_the_most_answers(seed, precision):
    rng = np.random.default_rng(seed)
    probability = rng.random(80).round(1 if seed % 2 else 3)
    found = Answers(probability, rng.random(80) < probability)
    chosen, wanted = choose_threshold(found, precision), brute_force(found, precision, 20)
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
    found = Answers(np.linspace(0.5, 1, 100), np.arange(100) % 2 == 0)
    chosen = choose_threshold(found, 0.9)
    assert chosen.value is None
    assert chosen.sentence().startswith("no threshold reaches a precision of 90 %: the best is 5")
    assert Threshold(**json.loads(json.dumps(asdict(chosen)))) == chosen
    with pytest.raises(UsageError, match="at most 1, not 90"):
        choose_threshold(found, 90)


def test_thresholds_are_chosen_on_the_other_folds_by_known_rows_that_were_tested():
    answers = Answers(np.tile([0.9, 0.8, 0.2], 40), np.tile([True, True, False], 40))
    fold = np.repeat([0, 1], 60)
    answers.correct[fold == 1] = False
    # Fold 1 is wrong everywhere, so nothing of fold 0 is answered; fold 0 is right from 0.8.
    assert accepted_answers(answers, fold, 0.9).tolist() == [False] * 60 + [True, True, False] * 20
    assert not accepted_answers(answers, fold, 0.9, known=fold == 1).any()
    untested = Answers(np.repeat([0.9, 0.9, np.nan], 30), np.ones(90, bool))
    assert accepted_answers(untested, np.repeat([0, 1, -1], 30), 0.9).tolist() == [True] * 60 + [False] * 30


def test_precision_of_a_threshold_is_measured_on_rows_that_did_not_choose_it():
    rng = np.random.default_rng(2)
    probability, fold = rng.random(200), rng.integers(5, size=200)
    few = Answers(probability, rng.random(200) < probability)
    right = given = 0
    for number in range(5):
        rest, own = fold != number, fold == number
        value = brute_force(Answers(few.probability[rest], few.correct[rest]), 0.8, 20)[0]
        right += few.correct[own & (few.probability >= value)].sum()
        given += (few.probability[own] >= value).sum()
    chosen, measured = choose_threshold(few, 0.8), held_out_threshold(few, fold, 0.8)
    assert measured.value == chosen.value and measured.precision != chosen.precision
    assert (measured.precision, measured.coverage) == pytest.approx((right / given, given / 200))
