import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from learn_oracle import dense_scaled
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagpack.errors import UsageError
from bagpack.learn import RelationClassifier, TfidfWeighter, TwoSigmaScaler, get_preset
from bagpack.learn.association import Trust
from bagpack.learn.block_weighting import BlockWeighting, same_weightings
from bagpack.learn.fitting import weight_blocks
from bagpack.learn.synthetic import make_counts
from bagpack.learn.transformers import LogPpmi, UnitLength
from bagpack.vectors.matrix import BlockMatrix

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
            block.weighting.apply(counts.blocks[block.weighting.name]).rows.toarray() + block.weighting.zero
        )
        index = counts.blocks[block.weighting.name].index
        rows.append(features if index is None else features[index])
    fitted_on = slice(None) if transductive else train
    np.testing.assert_allclose(np.hstack(rows), dense_scaled(counts, fitted_on), atol=1e-12)


def test_large_counts_do_not_cancel():
    X = np.array([[10**9], [10**9 + 1], [10**9 + 2]])
    scaler = TwoSigmaScaler().fit(sparse.csr_array(X))
    assert scaler.width_[0] == pytest.approx(4 * np.sqrt(2 / 3), rel=1e-9)


def test_steps_map_a_block_matrix_to_itself():
    counts, _ = make_counts(n_pairs=50, n_words=20, n_terms=8, seed=2)
    weighted = counts
    for step in (TfidfWeighter(), TwoSigmaScaler()):
        weighted = step.fit(weighted).transform(weighted)
        assert isinstance(weighted, BlockMatrix) and weighted.is_weighted and weighted.pairs == counts.pairs
    plain = TwoSigmaScaler().fit_transform(TfidfWeighter().fit_transform(counts.copy()))
    np.testing.assert_allclose(weighted.toarray(), plain.toarray(), atol=1e-12)
    np.testing.assert_allclose(weighted[[4, 2]].toarray(), plain.toarray()[[4, 2]], atol=1e-12)
    lengths = LogPpmi().fit_transform(counts)
    for block in UnitLength().fit_transform(lengths).blocks.values():
        size = np.linalg.norm(block.expanded().toarray(), axis=1)
        assert np.all((np.abs(size - 1) < 1e-9) | (size == 0))
    step = TfidfWeighter().fit(counts)
    with pytest.raises(UsageError, match="was fitted on 80 columns of v1, v2, v12, and X has 48 of v12"):
        step.transform(counts.block("v12"))
    with pytest.raises(UsageError, match="was fitted on a BlockMatrix"):
        step.transform(counts.copy())
    with pytest.raises(UsageError, match="X was weighted already"):
        RelationClassifier().fit(weighted, np.arange(50) % 2)


def test_weightings_are_the_same_if_steps_parameters_and_what_they_learned_are():
    def of(steps, name="v12", factor=1.0):
        return [BlockWeighting(name, tuple(steps), factor)]

    fitted, other = TfidfWeighter(), TfidfWeighter()
    fitted.idf_, other.idf_ = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    one = of([fitted, Trust(1.0)])
    assert same_weightings(one, of([fitted, Trust(1.0)]))
    for two in (
        of([fitted, Trust(2.0)]), of([other, Trust(1.0)]), of([fitted, UnitLength()]), of([fitted]), [],
        of([fitted, Trust(1.0)], name="v1"), of([fitted, Trust(1.0)], factor=2.0),
    ):  # fmt: skip
        assert not same_weightings(one, two)
