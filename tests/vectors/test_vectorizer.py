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
    labels = [1, 1, 1, 0, 0] * 3
    pipeline = Pipeline(
        [("counts", PairVectorizer(corpus, b=4)), ("tfidf", TfidfTransformer()), ("svm", LinearSVC())]
    )
    search = GridSearchCV(
        pipeline, {"counts__condition": ["v1v2", "v12", "v1v2v12"], "counts__b": [2, 4]}, cv=3
    ).fit(pairs, labels)
    assert search.best_score_ == 1
    assert search.predict([("lion", "cat")]).tolist() == [1]
    assert len(search.best_estimator_[0].get_feature_names_out()) == search.best_estimator_[1].n_features_in_


def test_pairs_may_come_as_lists_arrays_and_frames(vectorizer, store):
    whole = vectorizer.fit_transform(PAIRS).toarray()
    for X in (
        [list(pair) for pair in PAIRS],
        np.array(PAIRS),
        np.array(PAIRS, dtype=object),
        pd.DataFrame(PAIRS, columns=["w1", "w2"]),
        pl.DataFrame(PAIRS, schema=["w1", "w2"], orient="row"),
        iter(PAIRS),
    ):
        np.testing.assert_array_equal(vectorizer.transform(X).toarray(), whole)
    np.testing.assert_array_equal(PairVectorizer(str(store), b=4).fit_transform(PAIRS).toarray(), whole)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("cat lion", "pairs are needed, such as"),
        (["cat lion"], "item 0 is not a pair of words: 'cat lion'; give"),
        ([("cat", "lion"), ("cat", "lion", "dog")], "item 1 is not a pair of words"),
        ([("cat", "")], "both non-empty strings"),
        ([("cat", None)], "both non-empty strings"),
        ([(1, 2)], "both non-empty strings"),
        (7, "pairs are needed"),
        ([], "there are no pairs to fit on"),
    ],
)
def test_what_is_no_pair_is_reported(vectorizer, X, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        vectorizer.fit(X)
    assert isinstance(error.value, InputError)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"b": 0}, "b = 0 gives no basis"),
        ({"limit": 0}, "out of range"),
        ({"limit": 2**63}, "out of range"),
        ({"windows": "4/2"}, "write it like 4/2-5-2"),
        ({"windows": "4/2-5000-2"}, "out of range"),
        ({"condition": "v3"}, "choose one of v1v2, v12, v1v2v12"),
    ],
)
def test_wrong_parameters_are_told_when_fitting(corpus, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        PairVectorizer(corpus, **options).fit(PAIRS)
