import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC

from bagpack.errors import UsageError
from bagpack.evaluate.rows import reliability
from bagpack.learn.calibration import (
    Answers,
    Calibration,
    Curve,
    Threshold,
    accepted_answers,
    calibration_folds,
    choose_threshold,
    fit_calibration,
    held_out_decisions,
    held_out_probabilities,
    held_out_threshold,
    pair_groups,
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


def test_classes_that_all_have_no_chance_are_equal():
    steep = Calibration("multiclass", (Curve(1e6, 0.0), Curve(1e6, 0.0)))
    np.testing.assert_array_equal(steep.probabilities(np.array([[-1.0, -1.0]])), [[0.5, 0.5]])


def test_a_calibration_is_stored_as_json():
    X, y, _ = made_up(300)
    found = fit_calibration(X[:, :3], y[:, None] == np.arange(3), "multiclass")
    again = Calibration.from_json(json.loads(json.dumps(asdict(found))))
    np.testing.assert_array_equal(again.probabilities(X[:, :3]), found.probabilities(X[:, :3]))


def test_calibration_lowers_the_error():
    """Decision values squeezed into a wrong sigmoid are repaired on rows that were not used for it."""
    rng = np.random.default_rng(4)
    true = rng.normal(size=(3000, 1)) * 2
    holds = rng.random((3000, 1)) < 1 / (1 + np.exp(-true))
    wrong = 5 * true + 3
    fold = rng.integers(5, size=3000)
    before = reliability(1 / (1 + np.exp(-wrong[:, 0])), holds[:, 0]).error
    after = held_out_probabilities(wrong, holds, "binary", fold)[:, 1]
    assert reliability(after, holds[:, 0]).error < 0.03 < before


def test_duplicates_and_reversed_pairs_share_a_fold():
    rng = np.random.default_rng(0)
    w1, w2 = rng.integers(12, size=300), rng.integers(12, size=300)
    groups = pair_groups(w1, w2)
    columns = rng.random((300, 1)) < 0.3
    fold = calibration_folds(columns, groups)
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]
    for i in range(300):
        same = ((w1 == w1[i]) & (w2 == w2[i])) | ((w1 == w2[i]) & (w2 == w1[i]))
        assert len(set(groups[same])) == len(set(fold[same])) == 1
        assert (groups == groups[i]).sum() == same.sum()
    by_words = calibration_folds(columns, w1, 3)
    assert all(len(set(by_words[w1 == word])) == 1 for word in range(12))
    np.testing.assert_array_equal(fold, calibration_folds(columns, groups))
    with pytest.raises(UsageError, match="two folds"):
        calibration_folds(columns, np.zeros(300))


def test_no_row_is_judged_by_a_model_that_saw_it():
    X, y, fold = made_up(100, 2)
    seen = []

    def decide(train, test):
        seen.append((set(train.tolist()), set(test.tolist())))
        return LogisticRegression().fit(X[train], y[train]).decision_function(X[test])[:, None]

    found = held_out_decisions(fold, decide)
    assert found.shape == (100, 1)
    for train, test in seen:
        assert not train & test
        assert not set(fold[list(train)]) & set(fold[list(test)])
    expected = cross_val_predict(
        LogisticRegression(), X, y, cv=PredefinedSplit(fold), method="decision_function"
    )
    np.testing.assert_allclose(found[:, 0], expected)


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


def test_one_lucky_answer_is_no_precision():
    correct = np.arange(100) == 0
    found = Answers(np.linspace(1, 0.5, 100), correct)
    assert choose_threshold(found, 0.9).value is None
    assert choose_threshold(found, 0.9, least=1).value == 1.0


def test_precision_of_a_threshold_is_measured_on_other_rows():
    rng = np.random.default_rng(2)
    probability = rng.random(4000)
    found = Answers(probability, rng.random(4000) < probability)
    fold = rng.integers(5, size=4000)
    chosen = held_out_threshold(found, fold, 0.8)
    assert chosen.value == choose_threshold(found, 0.8).value
    assert chosen.precision == pytest.approx(0.8, abs=0.03)
    assert chosen.coverage == pytest.approx(0.4, abs=0.05)  # above p the mean is (1 + p) / 2
    few = Answers(probability[:200], rng.random(200) < probability[:200])
    right = given = 0
    for number in range(5):
        rest, own = fold[:200] != number, fold[:200] == number
        value = brute_force(Answers(few.probability[rest], few.correct[rest]), 0.8, 20)[0]
        right += few.correct[own & (few.probability >= value)].sum()
        given += (few.probability[own] >= value).sum()
    measured = held_out_threshold(few, fold[:200], 0.8)
    assert (measured.precision, measured.coverage) == (
        pytest.approx(right / given),
        pytest.approx(given / 200),
    )
    assert measured.precision != choose_threshold(few, 0.8).precision
    noise = Answers(probability, rng.random(4000) < 0.5)
    assert held_out_threshold(noise, fold, 0.95).value is None


def test_thresholds_are_chosen_on_the_other_folds_by_known_rows_that_were_tested():
    answers = Answers(np.tile([0.9, 0.8, 0.2], 40), np.tile([True, True, False], 40))
    fold = np.repeat([0, 1], 60)
    answers.correct[fold == 1] = False
    # Fold 1 is wrong everywhere, so nothing of fold 0 is answered; fold 0 is right from 0.8.
    assert accepted_answers(answers, fold, 0.9).tolist() == [False] * 60 + [True, True, False] * 20
    assert not accepted_answers(answers, fold, 0.9, known=fold == 1).any()
    untested = Answers(np.repeat([0.9, 0.9, np.nan], 30), np.ones(90, bool))
    assert accepted_answers(untested, np.repeat([0, 1, -1], 30), 0.9).tolist() == [True] * 60 + [False] * 30
