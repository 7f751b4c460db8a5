import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from learn_oracle import dense_scaled
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagpack.learn import PairCounts, TfidfWeighter, TwoSigmaScaler, get_preset
from bagpack.learn.fitting import weight_blocks
from bagpack.learn.synthetic import make_counts

counts_matrices = arrays(
    np.int64, st.tuples(st.integers(2, 12), st.integers(1, 6)), elements=st.integers(0, 9)
)


@parametrize_with_checks([TfidfWeighter(), TwoSigmaScaler()])
def test_common_checks(estimator, check):
    check(estimator)


def test_tfidf_by_hand():
    X = sparse.csr_array(np.array([[2, 0, 1], [0, 0, 3], [1, 0, 1], [0, 0, 5]]))
    weighted = TfidfWeighter().fit_transform(X).toarray()
    assert weighted[:, 0].tolist() == pytest.approx([2 * np.log(2), 0, np.log(2), 0])
    assert not weighted[:, 1:].any(), "df = 0 and df = N are both worth nothing"


@given(counts_matrices)
@settings(max_examples=60, deadline=None)
def test_two_sigma_scaling_plus_image_of_zero_is_the_plain_formula(X):
    scaler = TwoSigmaScaler().fit(sparse.csr_array(X))
    shifted = scaler.transform(sparse.csr_array(X))
    assert shifted.nnz <= np.count_nonzero(X)
    mean, sigma = X.mean(axis=0), X.std(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.clip((X - (mean - 2 * sigma)) / (4 * sigma), 0, 1)
    plain[:, sigma == 0] = 0
    np.testing.assert_allclose(shifted.toarray() + scaler.zero_, plain, atol=1e-12)
    np.testing.assert_allclose(scaler.transform(X), shifted.toarray(), atol=1e-15)


@given(counts_matrices, st.data())
@settings(max_examples=60, deadline=None)
def test_sample_weight_is_repetition(X, data):
    times = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X))))
    if times.sum() == 0:
        times[0] = 1
    for transformer in (TfidfWeighter, TwoSigmaScaler):
        weighted = transformer().fit(sparse.csr_array(X), sample_weight=times)
        repeated = transformer().fit(sparse.csr_array(np.repeat(X, times, axis=0)))
        for name in transformer.learned:
            np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)


@pytest.mark.parametrize("transductive", [False, True])
def test_blocks_over_distinct_words_equal_the_matrix_of_all_pairs(transductive):
    counts, _ = make_counts(n_pairs=80, n_words=30, n_terms=20, seed=4)
    train = np.arange(80) < 60
    blocks = weight_blocks(
        counts[train], ("v1", "v2", "v12"), get_preset("paper"), counts if transductive else None
    )
    rows = []
    for block in blocks.values():
        features = (
            block.weighting.apply(counts.block(block.weighting.name)).rows.toarray() + block.weighting.zero
        )
        index = counts.block(block.weighting.name).index
        rows.append(features if index is None else features[index])
    fitted_on = slice(None) if transductive else train
    np.testing.assert_allclose(np.hstack(rows), dense_scaled(counts, fitted_on), atol=1e-12)


def test_large_counts_do_not_cancel():
    X = np.array([[10**9], [10**9 + 1], [10**9 + 2]])
    scaler = TwoSigmaScaler().fit(sparse.csr_array(X))
    assert scaler.width_[0] == pytest.approx(4 * np.sqrt(2 / 3), rel=1e-9)


def test_counts_select_rows_and_name_features():
    counts, _ = make_counts(n_pairs=20, n_terms=4, seed=2)
    picked = counts[[3, 1]]
    assert picked.words is counts.words
    np.testing.assert_array_equal(picked.matrix().toarray(), counts.matrix().toarray()[[3, 1]])
    np.testing.assert_array_equal(counts[counts.w1 >= 0].pairs.toarray(), counts.pairs.toarray())
    names = counts.feature_names()
    assert len(names) == len(set(names)) == counts.matrix().shape[1] == 10 * 4
    assert names[:2] == ["v1:pre:u0", "v1:pre:u1"]
    assert names[-1] == "v12:-post:b1 b"
    again = PairCounts.from_matrix(counts.matrix())
    np.testing.assert_array_equal(again.matrix().toarray(), counts.matrix().toarray())


def test_counts_refuse_parts_that_do_not_fit():
    counts, _ = make_counts(n_pairs=5, n_terms=4)
    with pytest.raises(ValueError, match="2 and 6 per basis term"):
        PairCounts(counts.words, counts.w1, counts.w2, counts.pairs[:, :-1])
    with pytest.raises(ValueError, match="must be rows of words"):
        PairCounts(counts.words, counts.w1 + 10_000, counts.w2, counts.pairs)
    with pytest.raises(ValueError, match="must agree"):
        PairCounts(counts.words, counts.w1[:-1], counts.w2, counts.pairs)


def test_zero_rows_per_condition():
    words = sparse.csr_array(np.array([[1, 0], [0, 0]]))
    counts = PairCounts(
        words, [0, 1, 1], [1, 1, 1], sparse.csr_array(np.array([[0] * 6, [0] * 6, [1] + [0] * 5]))
    )
    assert counts.zero_rows(("v1", "v2")).tolist() == [False, True, True]
    assert counts.zero_rows(("v12",)).tolist() == [True, True, False]
    assert counts.zero_rows().tolist() == [False, True, False]
