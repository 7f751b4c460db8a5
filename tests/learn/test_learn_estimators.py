"""The estimators as scikit-learn uses them: common checks, pipelines, weights, and every form of X and y."""

import copy
import pickle
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.learn_oracle import without_counts
from tests.made_up import LABELS, PAIRS, train
from tests.synthetic import make_counts

import bagpack
from bagpack import PairVectorizer
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, UsageError
from bagpack.evaluate.train import answer_rows
from bagpack.learn.calibration import Threshold
from bagpack.learn.estimators import RatingRegressor, RelationClassifier
from bagpack.learn.fitting import calibrate
from bagpack.learn.model_io import save_model
from bagpack.learn.targets import encode_targets
from bagpack.vectors.counts import forget


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize("estimator", [RelationClassifier, RatingRegressor])
def test_common_checks(estimator, corpus):
    """Those that need columns of numbers are left out by scikit-learn: an item here is a pair of words."""
    check_estimator(estimator(PairVectorizer(corpus, b=20)))


@pytest.fixture(scope="module")
def data():
    X, y = make_counts(n_pairs=150, n_words=60, n_terms=40, n_labels=3, seed=11)
    return X, np.array(["hyper", "mero", "random"])[y]


@pytest.fixture(scope="session")
def corpus(world):
    return Corpus.open(world.store)


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_pairs_and_their_counts_give_the_same_decisions(corpus, preset):
    direct = RelationClassifier(PairVectorizer(corpus, b=40), preset=preset).fit(PAIRS, LABELS)
    wanted = direct.decision_function(PAIRS)
    X = PairVectorizer(corpus, b=40).fit(PAIRS).count(PAIRS)
    for source, asked in ((X, PAIRS), (None, X)):
        found = RelationClassifier(source, preset=preset).fit(asked, LABELS).decision_function(asked)
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(direct.model_.scores_of(direct.model_.decisions(PAIRS)), wanted)
    default = RelationClassifier(corpus).fit(PAIRS, LABELS)
    assert len(default.model_.basis.unigrams) == len(PairVectorizer(corpus).fit(PAIRS).basis_.unigrams)


def test_parameters_of_the_vectorizer_are_used_and_it_is_not_fitted_itself(corpus):
    vectorizer = PairVectorizer(corpus, b=40)
    classifier = RelationClassifier(vectorizer).fit(PAIRS, LABELS)
    assert not hasattr(vectorizer, "basis_")
    classifier.set_params(source__b=15).fit(PAIRS, LABELS)
    assert len(classifier.model_.basis.unigrams) == 15


def test_clone_shares_the_source_and_cross_validation_does_not_count_again(corpus):
    class Counting(Corpus):
        asked = 0

        def count_pairs(self, pairs, *args):
            Counting.asked += len(pairs)
            return super().count_pairs(pairs, *args)

    forget()
    source = Counting.open(corpus.path)
    classifier = RelationClassifier(PairVectorizer(source, b=30))
    assert len(cross_val_score(classifier, PAIRS, LABELS, cv=4, error_score="raise")) == 4
    assert Counting.asked == len(set(PAIRS))
    copied = clone(classifier.fit(PAIRS, LABELS))
    assert not hasattr(copied, "model_") and copied.source.corpus is source
    copied.fit(PAIRS, LABELS)
    assert Counting.asked == len(set(PAIRS))
    assert copy.deepcopy(classifier).model_.predict(PAIRS).tolist() == classifier.predict(PAIRS).tolist()


def test_a_single_column_is_one_answer_per_pair(data):
    X, y = data
    wanted = RelationClassifier().fit(X, y).predict(X)
    for column in (y[:, None], pd.DataFrame({"relation": y}), pd.Series(y)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            found = RelationClassifier().fit(X, column)
        np.testing.assert_array_equal(found.predict(X), wanted)
    ratings = np.arange(150.0)
    with pytest.warns(DataConversionWarning):
        found = RatingRegressor().fit(X, ratings[:, None])
    assert RatingRegressor(epsilon=0.5).fit(X, ratings).model_.settings["epsilon"] == 0.5
    np.testing.assert_array_equal(found.predict(X), RatingRegressor().fit(X, ratings).predict(X))


REFUSED = [
    (["a"] * 300, "label 'a'"),
    ([], "no pair"),
    (["a", 1, "b", 2], "mixed types, int and str"),
    (["b", {"a"}, "b"], "row 2 .*collection"),
    (["a", "b", None, None, None], "row 3 has no label, or .* 2 more rows: correct it, or drop the row"),
    (np.array([[1, 2], [3, 4]]), "shape"),
    ("abc", "'abc'"),
    ([f"label{i}" for i in range(1_001)], "1,001 different .* 1,000 "),
    ([1.5, 2.5], "continuous.* 1.5; .*RatingRegressor"),
    (["high"], "ratings .*numbers"),
    ([1.0, np.nan], "row 2 .*rating.* finite"),
    ([1.0, np.inf], "row 2 .*rating"),
]


@pytest.mark.parametrize(("y", "sentence"), REFUSED)
def test_answers_that_make_no_sense_are_refused(y, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        encode_targets(y, kind="rating" if "rating" in sentence else "labels")
    assert isinstance(raised.value, ValueError)


def test_what_cannot_be_used_is_refused(data, corpus):
    X, y = data
    for early in (RelationClassifier(), RatingRegressor()):
        with pytest.raises(NotFittedError):
            early.predict(X)
    unseen, labels = make_counts(n_pairs=20, n_terms=10, unseen=1.0)
    plain, pairs = RelationClassifier(), [("a", "b"), ("b", "a")]
    for estimator, given, answers, error, message in (
        (RelationClassifier(corpus), ["lion cat", "a b", "c d"], list("abb"), InputError, "item 0 .*'lion cat'"),
        (plain, pairs, ["a", "b"], UsageError, r"PairCounts .*RelationClassifier\(corpus\)"),
        (RelationClassifier(condition="v12"), unseen, labels, InputError, "condition v12: .*together"),
        (plain, without_counts(X), y, InputError, "condition v1v2v12: no word"),
        (plain, X, y[:-1], UsageError, f"{len(y)} pairs .* {len(y) - 1} "),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            estimator.fit(given, answers)
    assert not hasattr(PairVectorizer(corpus), "set_output")  # rows are sparse


# Probabilities ------------------------------


@pytest.fixture(scope="module")
def related():
    X, y = make_counts(n_pairs=400, n_words=80, n_terms=40, n_labels=3, signal=1.5, seed=4)
    return X, np.array(["kind", "part", "tool"])[y]


def test_probabilities_are_calibrated_on_held_out_rows(related):
    X, y = related
    classifier = RelationClassifier().fit(X[:300], y[:300])
    found = classifier.predict_proba(X[300:])
    assert found.shape == (100, 3) and np.allclose(found.sum(axis=1), 1)
    best = found.max(axis=1)
    right = classifier.predict(X[300:]) == y[300:]
    assert abs(best.mean() - right.mean()) < 0.12  # as sure as it is right, on rows it never saw


def test_the_probability_and_the_threshold_are_those_of_the_predicted_label(related):
    """Another class can be more probable than the one with the largest decision value; that one is not reported."""
    X, y = related
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
    assert [row[2] for row in rows] == np.where(own >= 0.4, labels, "").tolist()


def test_probabilities_are_calibrated_when_they_are_first_asked_for(related, monkeypatch):
    """Cross-validation and grids that never ask do not pay for them."""
    X, y = related
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
    search = partial(bagpack.find_pairs, world.store, label="part", top=20, sentences=False)
    found = search(model=classifier.model_)  # ranked by probabilities, which are not there yet
    saved = bagpack.load(save_model(classifier.model_, tmp_path / "saved.model"))
    assert found.rows == search(model=saved).rows and len(found) == 20
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
