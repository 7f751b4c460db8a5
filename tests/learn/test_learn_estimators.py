import copy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from bagpack.errors import InputError, UsageError
from bagpack.learn import RatingRegressor, RelationClassifier
from bagpack.learn.synthetic import make_counts


class Source:
    """Pairs by name over made-up counts."""

    def __init__(self, n_labels=3):
        self.all, self.y = make_counts(n_pairs=150, n_words=60, n_terms=40, n_labels=n_labels, seed=11)
        self.pairs = [(f"a{i}", f"b{i}") for i in range(150)]
        self.labels = np.array(["hyper", "mero", "random"])[self.y]

    def counts(self, pairs):
        return self.all[[int(first[1:]) for first, _ in pairs]]

    def __deepcopy__(self, memo):
        return self


class Vectorizer(TransformerMixin, BaseEstimator):
    def __init__(self, source=None):
        self.source = source

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        return self.source.counts(X).matrix()


@pytest.fixture(scope="module")
def source():
    return Source()


def test_classifier_takes_pairs(source):
    classifier = RelationClassifier(source).fit(source.pairs[:120], source.labels[:120])
    assert classifier.classes_.tolist() == ["hyper", "mero", "random"]
    decisions = classifier.decision_function(source.pairs[120:])
    assert decisions.shape == (30, 3)
    predicted = classifier.predict(source.pairs[120:])
    np.testing.assert_array_equal(predicted, classifier.classes_[decisions.argmax(axis=1)])
    np.testing.assert_array_equal(predicted, classifier.predict(np.array(source.pairs[120:])))
    assert 0 <= classifier.score(source.pairs[120:], source.labels[120:]) <= 1
    assert classifier.coef_.shape == (3, len(classifier.feature_names_))
    parts = classifier.explain(source.pairs[3], "mero")
    assert parts.decision == pytest.approx(classifier.decision_function(source.pairs[3:4])[0, 1], abs=1e-9)


def test_two_classes_have_one_decision_value(source):
    classifier = RelationClassifier(source).fit(source.pairs, source.y == 1)
    decisions = classifier.decision_function(source.pairs)
    assert decisions.shape == (150,)
    np.testing.assert_array_equal(classifier.predict(source.pairs), decisions > 0)


def test_counts_and_matrices_serve_as_x(source):
    by_pairs = RelationClassifier(source).fit(source.pairs, source.labels).decision_function(source.pairs)
    by_counts = RelationClassifier().fit(source.all, source.labels).decision_function(source.all)
    matrix = source.all.matrix()
    by_matrix = RelationClassifier().fit(matrix, source.labels).decision_function(matrix)
    np.testing.assert_array_equal(by_pairs, by_counts)
    np.testing.assert_allclose(by_pairs, by_matrix, atol=1e-8)


def test_clone_shares_the_source_and_forgets_the_fit(source):
    fitted = RelationClassifier(source, C=2.0).fit(source.pairs, source.labels)
    copied = clone(fitted)
    assert copied.get_params() == fitted.get_params()
    assert copied.source is source
    assert not hasattr(copied, "model_")
    assert copy.deepcopy(fitted).source is source


def test_grid_search_and_pipeline(source):
    search = GridSearchCV(RelationClassifier(source), {"C": [0.01, 1.0], "condition": ["v12", "v1v2"]}, cv=3)
    search.fit(source.pairs, source.labels)
    assert search.best_params_["C"] in (0.01, 1.0)
    pipeline = Pipeline([("counts", Vectorizer(source)), ("classify", RelationClassifier())])
    assert len(cross_val_score(pipeline, source.pairs, source.labels, cv=3, error_score="raise")) == 3
    scores = cross_val_score(RatingRegressor(source), source.pairs, source.y.astype(float), cv=3)
    assert np.isfinite(scores).all()


def test_several_labels_per_pair_come_back_as_they_went_in(source):
    sets = [{"x"} if label == 0 else {"x", "y"} for label in source.y]
    predicted = RelationClassifier(source).fit(source.pairs, sets).predict(source.pairs)
    assert set().union(*predicted) <= {"x", "y"}
    indicator = np.array([[1, int("y" in labels)] for labels in sets])
    again = RelationClassifier(source).fit(source.pairs, indicator).predict(source.pairs)
    np.testing.assert_array_equal(again[:, 1] == 1, ["y" in labels for labels in predicted])


def test_transductive_fits_on_the_whole_matrix(source):
    train = source.pairs[:100], source.labels[:100]
    plain = RelationClassifier(source).fit(*train).decision_function(source.pairs)
    whole = RelationClassifier(source, transductive=True).fit(*train)
    named = RelationClassifier(source, transductive=True).fit(*train, unlabelled=source.pairs[100:])
    assert whole.model_.settings["transductive"]
    assert not np.allclose(plain, whole.decision_function(source.pairs))
    np.testing.assert_allclose(
        named.decision_function(source.pairs), whole.decision_function(source.pairs), atol=1e-8
    )
    with pytest.raises(UsageError, match="unlabelled"):
        RelationClassifier(transductive=True).fit(source.all, source.labels)


def test_what_cannot_be_used_is_said(source):
    with pytest.raises(InputError, match="two words are needed"):
        RelationClassifier(source).fit(["lion cat"], ["a"])
    with pytest.raises(UsageError, match="needs counts as X"):
        RelationClassifier().fit([("a", "b")], ["a"])
    with pytest.raises(UsageError, match="10 columns per basis term"):
        RelationClassifier().fit(np.ones((2, 7)), ["a", "b"])
    unseen, y = make_counts(n_pairs=20, n_terms=10, unseen=1.0)
    with pytest.raises(InputError, match="ever seen together"):
        RelationClassifier(condition="v12").fit(unseen, y)
    nothing = type(unseen).from_matrix(unseen.matrix() * 0)
    with pytest.raises(InputError, match="no word was found"):
        RelationClassifier().fit(nothing, y)
