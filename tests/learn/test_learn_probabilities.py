"""Calibrated probabilities, abstention, and a saved model used in Python as on the command line."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.made_up import LABELS, PAIRS, train
from tests.synthetic import make_counts

import bagpack
from bagpack import RelationClassifier
from bagpack.evaluate.train import answer_rows
from bagpack.learn.calibration import Threshold
from bagpack.learn.fitting import calibrate
from bagpack.learn.model_io import save_model


@pytest.fixture(scope="module")
def data():
    X, y = make_counts(n_pairs=400, n_words=80, n_terms=40, n_labels=3, signal=1.5, seed=4)
    return X, np.array(["kind", "part", "tool"])[y]


def test_probabilities_are_calibrated_on_held_out_rows(data):
    X, y = data
    classifier = RelationClassifier().fit(X[:300], y[:300])
    found = classifier.predict_proba(X[300:])
    assert found.shape == (100, 3) and np.allclose(found.sum(axis=1), 1)
    best = found.max(axis=1)
    right = classifier.predict(X[300:]) == y[300:]
    assert abs(best.mean() - right.mean()) < 0.12  # as sure as it is right, on rows it never saw


def test_the_probability_and_the_threshold_are_those_of_the_predicted_label(data):
    """Another class can be more probable than the one with the largest decision value; that one is not reported."""
    X, y = data
    model = RelationClassifier().fit(X[:300], y[:300]).model_
    # "kind" is always 95 % probable, before normalising.
    curves = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 0.0]])
    model = replace(model, calibration=curves, threshold=Threshold(0.9, 0.4, 0.9, 0.5))
    decisions, test = model.decisions(X[300:]), X[300:]
    labels, probabilities = model.predict(test), model.predict_proba(test)
    own = probabilities[np.arange(100), [model.classes.index(label) for label in labels]]
    assert (own < probabilities.max(axis=1)).sum() > 10
    np.testing.assert_array_equal(model.answer_probabilities(decisions), own)
    np.testing.assert_array_equal(model.answered(test, decisions), own >= 0.4)
    rows = list(answer_rows(model, test))[1:]
    assert [row[3] for row in rows] == own.round(6).tolist()
    assert [row[2] for row in rows] == [
        label if p >= 0.4 else "" for label, p in zip(labels, own, strict=True)
    ]


def test_probabilities_are_calibrated_when_they_are_first_asked_for(data, monkeypatch):
    """Cross-validation and grids that never ask do not pay for them."""
    X, y = data
    calls = []
    counted = "bagpack.learn.estimators.calibrate"
    monkeypatch.setattr(counted, lambda *given: calls.append(1) or calibrate(*given))
    classifier = RelationClassifier().fit(X[:200], y[:200])
    classifier.score(X[200:], y[200:])
    assert not calls
    found = classifier.predict_proba(X[200:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.predict_proba(X[200:]), found)
    assert len(calls) == 1


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_saved_pickled_and_trained_by_the_command_a_model_answers_alike(world, tmp_path, preset):
    vectorizer = bagpack.PairVectorizer(str(world.store), b=40)
    classifier = RelationClassifier(vectorizer, preset=preset).fit(PAIRS, LABELS)
    again = pickle.loads(pickle.dumps(RelationClassifier(vectorizer, preset=preset).fit(PAIRS, LABELS)))
    saved = bagpack.load(save_model(classifier.model_, tmp_path / "saved.model"))
    for own in (again, saved):
        np.testing.assert_allclose(own.predict_proba(PAIRS), classifier.predict_proba(PAIRS), atol=1e-9)
    model = bagpack.load(train(world.store, world.table, tmp_path / "m.model", preset=preset, precision=0.8))
    decisions = model.scores_of(model.decisions(PAIRS))
    np.testing.assert_allclose(classifier.decision_function(PAIRS), decisions, atol=1e-9)
    asked = [*PAIRS[:6], ("kinda00", "nosuchword")]
    header, *rows = answer_rows(model, model.count(asked, model.open_source()))
    assert rows[-1][2] == "" and [row[-1] for row in rows] == ["yes"] * 6 + ["no"]
    labels, probabilities = model.predict(PAIRS[:6]), model.predict_proba(PAIRS[:6])
    assert list(labels) == [max(zip(row[4:7], header[4:7], strict=True))[1] for row in rows[:6]]
    own = [one[model.classes.index(label)] for one, label in zip(probabilities, labels, strict=True)]
    assert own == pytest.approx([row[3] for row in rows[:6]], abs=1e-5)
