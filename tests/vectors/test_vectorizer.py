"""`PairVectorizer` as scikit-learn uses it: clone, Pipeline, GridSearchCV, and its common checks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from bagpack import Basis, PairVectorizer
from bagpack.errors import InputError, UsageError
from tests.vectors.conftest import PAIRS, SENTENCES

NUMBERS = "it fits on columns of numbers; an item here is a pair of words"
MESSAGE = "it wants the message of an array of numbers; here the sentence names the item that is no pair"
# scikit-learn passes over all checks that need data where an estimator says that it takes no arrays of numbers. Those
# that pair input can meet are met below with pairs, by the tests named like them.
CANNOT = {
    "check_complex_data": MESSAGE,
    "check_dict_unchanged": NUMBERS,
    "check_dont_overwrite_parameters": NUMBERS,
    "check_dtype_object": NUMBERS,
    "check_estimators_dtypes": NUMBERS,
    "check_estimators_empty_data_messages": MESSAGE,
    "check_estimators_fit_returns_self": NUMBERS,
    "check_estimators_nan_inf": MESSAGE,
    "check_estimators_overwrite_params": NUMBERS,
    "check_estimators_pickle": NUMBERS,
    "check_f_contiguous_array_estimator": NUMBERS,
    "check_fit2d_1feature": MESSAGE,
    "check_fit2d_1sample": MESSAGE,
    "check_fit2d_predict1d": NUMBERS,
    "check_fit_check_is_fitted": NUMBERS,
    "check_fit_idempotent": NUMBERS,
    "check_fit_score_takes_y": NUMBERS,
    "check_methods_sample_order_invariance": NUMBERS,
    "check_methods_subset_invariance": NUMBERS,
    "check_n_features_in": NUMBERS,
    "check_n_features_in_after_fitting": NUMBERS,
    "check_pipeline_consistency": NUMBERS,
    "check_positive_only_tag_during_fit": NUMBERS,
    "check_readonly_memmap_input": NUMBERS,
    "check_transformer_data_not_an_array": NUMBERS,
    "check_transformer_general": NUMBERS,
    "check_transformer_preserve_dtypes": "counts are 32-bit integers, whatever comes in",
}


class AsIfOfNumbers(PairVectorizer):
    """Has all checks run."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def dense(vectorizer, pairs):
    return vectorizer.transform(pairs).toarray()


@pytest.fixture
def vectorizer(corpus):
    return PairVectorizer(corpus, b=4)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_common_checks(corpus):
    check_estimator(PairVectorizer(corpus, b=4))
    results = check_estimator(AsIfOfNumbers(corpus, b=4), expected_failed_checks=CANNOT, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == CANNOT.keys()
    assert sum(result["status"] == "passed" for result in results) >= 16


def test_a_vector_has_twenty_b_columns_by_name(corpus):
    vectorizer = PairVectorizer(corpus, b=4)
    X = vectorizer.fit_transform([("cat", "lion"), ("hammer", "nail")])
    assert X.shape == (2, 80)
    assert X.dtype == np.int32
    names = vectorizer.get_feature_names_out()
    assert len(names) == 80
    assert names[:4].tolist() == ["v1:pre:.", "v1:pre:cat", "v1:pre:the", "v1:pre:and"]
    assert len(set(names)) == 80


def test_fewer_terms_than_b(corpus):
    vectorizer = PairVectorizer(corpus, b=1000).fit(PAIRS)
    assert len(vectorizer.basis_.unigrams) == len({word for sentence in SENTENCES for word in sentence})
    assert vectorizer.transform(PAIRS).shape[1] == 10 * len(vectorizer.basis_) < 20_000


def test_clone_keeps_the_parameters_and_shares_the_corpus(vectorizer, corpus):
    copy = clone(vectorizer.set_params(limit=3, condition="v12"))
    assert copy.get_params() == vectorizer.get_params()
    assert copy.corpus is corpus
    with pytest.raises(NotFittedError):
        copy.transform(PAIRS)


def test_pipeline_and_grid_search(corpus):
    pairs = [
        ("cat", "lion"),
        ("lion", "cat"),
        ("dog", "cat"),
        ("hammer", "nail"),
        ("ice", "town"),
        ("cat", "dog"),
    ] * 3
    labels = [1, 1, 1, 0, 0, 1] * 3
    pipeline = Pipeline(
        [("counts", PairVectorizer(corpus, b=4)), ("tfidf", TfidfTransformer()), ("svm", LinearSVC())]
    )
    search = GridSearchCV(
        pipeline, {"counts__condition": ["v1v2", "v12", "v1v2v12"], "counts__b": [2, 4]}, cv=3
    ).fit(pairs, labels)
    assert search.best_score_ == 1
    assert search.predict([("lion", "cat")]).tolist() == [1]
    assert len(search.best_estimator_[0].get_feature_names_out()) == search.best_estimator_[1].n_features_in_


def test_fit_is_idempotent_and_leaves_the_parameters_alone(vectorizer):
    before = dict(vectorizer.get_params())
    first = dense(vectorizer.fit(PAIRS), PAIRS)
    np.testing.assert_array_equal(first, dense(vectorizer.fit(PAIRS, y=[0] * len(PAIRS)), PAIRS))
    np.testing.assert_array_equal(first, vectorizer.fit_transform(PAIRS).toarray())
    assert vectorizer.get_params() == before
    assert vectorizer.n_features_in_ == 2


def test_transform_leaves_the_estimator_as_it_is(vectorizer):
    vectorizer.fit(PAIRS)
    before = dict(vars(vectorizer))
    vectorizer.transform(PAIRS)
    assert vars(vectorizer) == before


def test_rows_do_not_depend_on_each_other(vectorizer):
    whole = dense(vectorizer.fit(PAIRS), PAIRS)
    order = np.random.default_rng(0).permutation(len(PAIRS))
    np.testing.assert_array_equal(dense(vectorizer, [PAIRS[i] for i in order]), whole[order])
    np.testing.assert_array_equal(np.vstack([dense(vectorizer, [pair]) for pair in PAIRS]), whole)


def test_pickled_it_gives_the_same(vectorizer):
    whole = dense(vectorizer.fit(PAIRS), PAIRS)
    np.testing.assert_array_equal(dense(pickle.loads(pickle.dumps(vectorizer)), PAIRS), whole)


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


def test_a_basis_of_ones_own(corpus):
    vectorizer = PairVectorizer(corpus, basis=Basis(("only", "that"), (("live", "in"),)))
    row = vectorizer.fit_transform([("cat", "lion")])
    names = vectorizer.get_feature_names_out()
    found = {names[i]: int(n) for i, n in zip(row.indices, row.data, strict=True)}
    assert found == {
        "v1:pre:only": 3, "v1:post:that": 3, "v1:post:live in": 3, "v2:post:only": 3,
        "v12:-betw:only": 3, "v12:-post:that": 3,
    }  # fmt: skip
