"""The estimators as scikit-learn uses them: common checks, pipelines, weights, and every form of X and y."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.learn_oracle import without_counts
from tests.made_up import LABELS, PAIRS
from tests.synthetic import make_counts

from bagpack import PairVectorizer
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, UsageError
from bagpack.learn.estimators import RatingRegressor, RelationClassifier
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


def test_grid_search_finds_the_better_setting(corpus):
    order = np.random.default_rng(0).permutation(len(PAIRS))
    pairs, ratings = [PAIRS[i] for i in order], [float(LABELS[i] == "kind") for i in order]
    search = GridSearchCV(RatingRegressor(PairVectorizer(corpus, b=40)), {"C": [1e-8, 1.0]}, cv=3)
    search.fit(pairs, ratings)
    assert search.best_params_ == {"C": 1.0} and search.best_score_ > 0.2


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


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (["a"] * 300, "every pair has the label 'a'"),
        ([], "no pair to learn from"),
        (["a", 1, "b", 2], "mixed types, int and str"),
        (["b", {"a"}, "b"], "row 2 has a collection of labels"),
        (["a", "b", None, None, None], "row 3 has no label, or an empty one, and so have 2 more rows"),
        (np.array([[1, 2], [3, 4]]), "one answer per pair"),
        ([f"label{i}" for i in range(1_001)], "1,001 different labels for 1,001 pairs"),
        ([1.5, 2.5], "Unknown label type: continuous"),
        ("abc", "one answer per pair"),
    ],
)
def test_labels_that_make_no_sense_are_refused(y, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        encode_targets(y)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("ratings", [["high"], [1.0, np.nan], [1.0, np.inf]])
def test_ratings_that_are_no_numbers_are_refused(ratings):
    with pytest.raises(InputError, match="rating"):
        encode_targets(ratings, kind="rating")


def test_what_cannot_be_used_is_refused(data, corpus):
    X, y = data
    for early in (
        RelationClassifier().predict,
        RelationClassifier().predict_proba,
        RatingRegressor().predict,
    ):
        with pytest.raises(NotFittedError):
            early(X)
    with pytest.raises(InputError, match="item 0 is not a pair of words"):
        RelationClassifier(corpus).fit(["lion cat", "a b", "c d"], ["a", "b", "b"])
    with pytest.raises(UsageError, match="takes PairCounts as X; give it a corpus"):
        RelationClassifier().fit([("a", "b"), ("b", "a")], ["a", "b"])
    unseen, labels = make_counts(n_pairs=20, n_terms=10, unseen=1.0)
    with pytest.raises(InputError, match="ever seen together"):
        RelationClassifier(condition="v12").fit(unseen, labels)
    with pytest.raises(InputError, match="no word was found"):
        RelationClassifier().fit(without_counts(X), y)
    with pytest.raises(UsageError, match="one per pair is needed"):
        RelationClassifier().fit(X, y[:-1])
    assert not hasattr(PairVectorizer(corpus), "set_output")  # rows are sparse
