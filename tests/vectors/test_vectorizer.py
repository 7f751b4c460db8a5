"""`PairVectorizer` as scikit-learn uses it: clone, Pipeline, GridSearchCV, and its common checks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from bagpack import PairVectorizer
from bagpack.errors import InputError, UsageError
from tests.vectors.conftest import PAIRS


def dense(vectorizer, pairs):
    return vectorizer.transform(pairs).toarray()


@pytest.fixture
def vectorizer(corpus):
    return PairVectorizer(corpus, b=4)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_common_checks(corpus):
    """Those that need columns of numbers are left out by scikit-learn; the next test is in their place."""
    check_estimator(PairVectorizer(corpus, b=4))


def test_what_the_common_checks_ask_of_other_transformers(vectorizer):
    with pytest.raises(NotFittedError):
        vectorizer.transform(PAIRS)
    before = dict(vectorizer.get_params())
    whole = dense(vectorizer.fit(PAIRS), PAIRS)
    assert whole.shape == (len(PAIRS), 80) and len(set(vectorizer.get_feature_names_out())) == 80
    fitted = dict(vars(vectorizer))
    order = np.random.default_rng(0).permutation(len(PAIRS))
    np.testing.assert_array_equal(dense(vectorizer, [PAIRS[i] for i in order]), whole[order])
    np.testing.assert_array_equal(np.vstack([dense(vectorizer, [pair]) for pair in PAIRS]), whole)
    assert vars(vectorizer) == fitted
    np.testing.assert_array_equal(vectorizer.fit_transform(PAIRS, y=[0] * len(PAIRS)).toarray(), whole)
    np.testing.assert_array_equal(dense(pickle.loads(pickle.dumps(vectorizer)), PAIRS), whole)
    assert vectorizer.get_params() == before and vectorizer.n_features_in_ == 2


def test_pipeline_and_grid_search(corpus):
    pairs = [("cat", "lion"), ("lion", "cat"), ("dog", "cat"), ("hammer", "nail"), ("ice", "town")] * 3
    steps = [("counts", PairVectorizer(corpus, b=4)), ("tfidf", TfidfTransformer()), ("svm", LinearSVC())]
    grid = {"counts__condition": ["v1v2", "v12", "v1v2v12"], "counts__b": [2, 4]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3).fit(pairs, [1, 1, 1, 0, 0] * 3)
    assert search.best_score_ == 1
    assert search.predict([("lion", "cat")]).tolist() == [1]
    assert len(search.best_estimator_[0].get_feature_names_out()) == search.best_estimator_[1].n_features_in_


def test_pairs_may_come_as_lists_arrays_and_frames(vectorizer, store):
    whole = vectorizer.fit_transform(PAIRS).toarray()
    frames = pd.DataFrame(PAIRS, columns=["w1", "w2"]), pl.DataFrame(PAIRS, schema=["w1", "w2"], orient="row")
    arrays = np.array(PAIRS), np.array(PAIRS, dtype=object)
    for pairs in ([list(pair) for pair in PAIRS], *arrays, *frames, iter(PAIRS)):
        np.testing.assert_array_equal(dense(vectorizer, pairs), whole)
    np.testing.assert_array_equal(PairVectorizer(str(store), b=4).fit_transform(PAIRS).toarray(), whole)


WRONG = [
    "cat lion",
    ["cat lion"],
    [("a", "b"), ("a", "b", "c")],
    [("cat", "")],
    [("cat", None)],
    [(1, 2)],
    7,
    [],
]


@pytest.mark.parametrize("pairs", WRONG, ids=range(len(WRONG)))
def test_what_is_no_pair_is_reported(vectorizer, pairs):
    with pytest.raises(InputError, match="pair") as error:
        vectorizer.fit(pairs)
    assert isinstance(error.value, ValueError)
    assert pairs != WRONG[2] or "item 1 is not a pair of words" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("b", 0),
        ("limit", 0),
        ("limit", 2**63),
        ("windows", "4/2"),
        ("windows", "4/2-5000-2"),
        ("condition", "v3"),
    ],
)
def test_wrong_parameters_are_reported_when_fitting(corpus, name, value):
    with pytest.raises(UsageError):
        PairVectorizer(corpus, **{name: value}).fit(PAIRS)
