"""Calibrated probabilities, abstention, and a saved model used in Python as on the command line."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.evaluate.conftest import made_up_pairs, relations, store  # noqa: F401 (fixtures)
from tests.synthetic import make_counts

import bagpack
from bagpack import RelationClassifier
from bagpack.evaluate.run import CountOptions
from bagpack.evaluate.train import TrainOptions, answer_rows, train_file
from bagpack.learn.calibration import Threshold
from bagpack.learn.fitting import calibrate
from bagpack.learn.model_io import save_model

PAIRS = [(a, b) for a, b, _ in made_up_pairs()]
LABELS = [label for *_, label in made_up_pairs()]


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
    monkeypatch.setattr(
        "bagpack.learn.estimators.calibrate", lambda *given: calls.append(1) or calibrate(*given)
    )
    classifier = RelationClassifier().fit(X[:200], y[:200])
    classifier.score(X[200:], y[200:])
    assert not calls
    found = classifier.predict_proba(X[200:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.predict_proba(X[200:]), found)
    assert len(calls) == 1


def test_a_saved_estimator_has_its_probabilities(store, tmp_path):  # noqa: F811
    vectorizer = bagpack.PairVectorizer(str(store), b=40)
    classifier = RelationClassifier(vectorizer).fit(PAIRS, LABELS)
    path = save_model(classifier.model_, tmp_path / "m.model")
    found = bagpack.load(path).predict_proba(PAIRS)
    np.testing.assert_allclose(found, classifier.predict_proba(PAIRS), atol=1e-9)
    again = pickle.loads(pickle.dumps(RelationClassifier(vectorizer).fit(PAIRS, LABELS)))
    np.testing.assert_allclose(again.predict_proba(PAIRS), found, atol=1e-9)


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_a_loaded_model_answers_as_the_command_line_does(store, relations, tmp_path, preset):  # noqa: F811
    out = str(tmp_path / "m.model")
    options = TrainOptions(preset=preset, scores=False, precision=0.8, counting=CountOptions(40))
    train_file(str(store), str(relations), out, options)
    pairs = PAIRS[:6]
    asked = [*pairs, ("kinda00", "nosuchword")]
    model = bagpack.load(out)
    header, *rows = answer_rows(model, model.count(asked, model.open_source()))
    assert header == ["w1", "w2", "label", "probability", "kind", "part", "tool", "together", "trained"]
    assert rows[-1][2] == ""
    assert [row[-1] for row in rows] == ["yes"] * 6 + ["no"]
    assert list(model.predict(pairs)) == [max(zip(row[4:7], header[4:7], strict=True))[1] for row in rows[:6]]
    probabilities = model.predict_proba(pairs)
    labels = model.predict(pairs)
    own = [one[model.classes.index(label)] for one, label in zip(probabilities, labels, strict=True)]
    assert own == pytest.approx([row[3] for row in rows[:6]], abs=1e-5)
    # The same as an estimator over the same corpus.
    vectorizer = bagpack.PairVectorizer(str(store), b=40)
    direct = RelationClassifier(vectorizer, preset=preset).fit(PAIRS, LABELS).decision_function(PAIRS)
    np.testing.assert_allclose(direct, model.scores_of(model.decisions(PAIRS)), atol=1e-9)
