import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC

from bagpack.errors import UsageError
from bagpack.learn.calibration import Threshold, calibration_folds, fit_calibration, pair_groups


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


def test_a_threshold_is_the_precision_asked_for_and_says_what_it_gave():
    probability, right = np.array([0.95, 0.8, 0.8, 0.6]), np.array([True, True, False, True])
    found = Threshold.of(0.8, probability, right)
    assert found.accepts(probability).tolist() == [True, True, True, False]
    assert (found.value, found.precision, found.coverage) == (0.8, pytest.approx(2 / 3), 0.75)
    assert "answered 75 % of the held-out pairs, 67 % of them correctly" in found.sentence()
    assert Threshold(**json.loads(json.dumps(asdict(found)))) == found
    assert not Threshold(0.9, None, 0.5, 0.1).accepts(probability).any()
    with pytest.raises(UsageError, match="at most 1, not 90"):
        Threshold.of(90, probability, right)
