"""Features of both presets against their formulas, written out over dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from tests.learn.learn_oracle import dense_scaled
from tests.synthetic import counts_of, make_counts

from bagpack import Basis
from bagpack.explain.decision import evidence
from bagpack.learn.features import modern_features, paper_features, paper_scaling, statistics_of, weigh
from bagpack.names import COSINE, PRODUCT, STATISTICS


@pytest.fixture(scope="module")
def counts_and_labels():
    counts, y = make_counts(n_pairs=90, n_words=40, seed=2)
    rng = np.random.default_rng(5)
    known = counts_of(
        counts.words, counts.w1, counts.w2, counts.together, counts.basis.unigrams,
        found=rng.integers(0, 6, (len(counts), 2)), occurrences=rng.integers(10, 500, counts.words.shape[0]),
        frequencies=rng.integers(1, 3000, len(counts.basis)).tolist(),
    )  # fmt: skip
    return known, y


def unit(rows):
    size = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(size == 0, 1, size)


def phi(rows, frequencies, segments):
    """φ, written out."""
    share = np.tile(np.array(frequencies) / np.sum(frequencies), segments)
    out = []
    for row in rows.astype(float):
        totals = np.repeat(row.reshape(segments, -1).sum(axis=1), len(frequencies))
        ppmi = np.where(row > 0, np.maximum(0, np.log((row + 1) / (totals * share + 1))), 0)
        out.append(unit(unit(np.log1p(row)) + unit(ppmi)))
    return np.array(out)


# Preset modern --------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([2, 6]))
def test_phi_is_its_formula(seed, segments):
    rng = np.random.default_rng(seed)
    frequencies = rng.integers(1, 1000, 5)
    rows = rng.poisson(20, (6, 5 * segments)) * (rng.random((6, 5 * segments)) < 0.4)
    rows[0, 0] = 123_456  # beyond the table of logarithms
    basis = Basis(tuple("abcde"), (), tuple(frequencies.tolist()))
    found = weigh(sparse.csr_array(rows), basis).toarray()
    np.testing.assert_allclose(found, phi(rows, frequencies, segments), atol=1e-12)


def test_a_basis_without_frequencies_has_no_ppmi():
    rows = np.array([[3, 0, 1, 2]])
    found = weigh(sparse.csr_array(rows), Basis(("a", "b"), ())).toarray()
    assert found == pytest.approx(unit(np.log1p(rows)))


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_modern_features_are_their_formulas(counts_and_labels, factor):
    counts, _ = counts_and_labels
    terms, frequencies = len(counts.basis), counts.basis.unigram_counts
    words = phi(counts.words.toarray(), frequencies, 2)
    one, two = words[counts.w1], words[counts.w2]
    trust = (counts.seen / (counts.seen + 1))[:, None]
    wanted = {
        "v1": one,
        "v2": two,
        PRODUCT: unit(one * two),
        COSINE: 2 * (one * two).sum(axis=1, keepdims=True),
        "v12": factor * trust * phi(counts.tocsr("v12").toarray(), frequencies, 6),
        STATISTICS: 0.55 * statistics_of(counts.totals, counts.basis, counts.settings),
    }
    blocks = {"v1v2": ("v1", "v2", PRODUCT, COSINE), "v12": ("v12", STATISTICS), "v1v2v12": tuple(wanted)}
    for condition, names in blocks.items():
        features = modern_features(counts, condition, factor)
        assert tuple(features.blocks) == names
        expected = np.hstack([wanted[name] for name in names])
        np.testing.assert_allclose(features.matrix().toarray(), expected, atol=1e-12)
    assert features.blocks["v1"] == 2 * terms
    some = modern_features(counts[[7, 3]], v12=factor).matrix().toarray()  # no row depends on the others
    np.testing.assert_allclose(some, features.matrix().toarray()[[7, 3]], atol=0)


def test_statistics_are_zero_for_what_was_never_seen(counts_and_labels):
    counts, _ = counts_and_labels
    values = statistics_of(counts.totals, counts.basis, counts.settings)
    assert not values[counts.seen == 0].any()
    assert values[counts.seen > 0].any(axis=1).all()
    row = int(np.argmax(values[:, 3]))
    n1, n2, plus, minus, seen = counts.totals[row].tolist()
    tokens = sum(counts.basis.unigram_counts)
    pmi = max(0.0, np.log((seen + 0.5) * tokens / (n1 * n2 * 12)))  # 12 places: 6 before, 6 after
    wanted = [np.log1p(plus) / 5, np.log1p(minus) / 5, 1 / 5, pmi / 15, np.log((plus + 1) / (minus + 1)) / 5]
    assert plus + minus > 0 and pmi > 0
    assert values[row] == pytest.approx(wanted)
    rare = statistics_of(np.array([[tokens, tokens, 1, 0, 1]]), counts.basis, counts.settings)
    assert rare[0, 3] == 0  # seen less often than by chance: not negative


def test_a_word_with_itself_is_seen_once_per_observation():
    """Each is of both orders, and was counted twice in the PMI and in explanations."""
    counts = counts_of(
        words=sparse.csr_array(np.array([[1, 0, 0, 1], [0, 0, 1, 0]])), w1=[0, 0], w2=[0, 1],
        pairs=sparse.csr_array(np.ones((2, 12), int)), found=[[111, 111], [60, 51]], occurrences=[500, 500],
        frequencies=[10**6, 10**6],
    )  # fmt: skip
    same, other = statistics_of(counts.totals, counts.basis, counts.settings)
    assert counts.seen.tolist() == [111, 111] and same[3] == other[3] > 0
    assert evidence(counts[[0]], STATISTICS, np.arange(5)).tolist() == [111, 111, 111, 111, 0]


# Preset paper ---------------------------------------------------------------------------------------------------

matrices = arrays(np.int64, st.tuples(st.integers(2, 12), st.just(6)), elements=st.integers(0, 9))


def of_pairs(rows):
    """Counts whose v12 are these rows."""
    words = sparse.csr_array(np.zeros((1, 2), int))
    return counts_of(words, [0] * len(rows), [0] * len(rows), sparse.csr_array(rows))


def test_large_counts_do_not_cancel():
    rows = np.zeros((3, 6), int)
    rows[:, 0] = [10**9, 0, 10**9 + 2]
    scaling = paper_scaling(of_pairs(rows), "v12")["v12"]
    plain = rows[:, 0] * np.log(3 / 2)
    assert scaling.width[0] == pytest.approx(4 * plain.std(), rel=1e-9)


@given(matrices)
def test_scaled_counts_plus_the_image_of_zero_are_the_plain_formula(rows):
    counts = of_pairs(rows)
    scaling = paper_scaling(counts, "v12")
    shifted = paper_features(scaling, counts, "v12").matrix()
    assert shifted.nnz <= np.count_nonzero(rows)
    wanted = dense_scaled(counts, slice(None))[:, 4:]
    np.testing.assert_allclose(shifted.toarray() + scaling["v12"].zero, wanted, atol=1e-12)


def test_words_that_pairs_share_count_once_per_pair():
    counts, _ = make_counts(n_pairs=80, n_words=30, n_terms=20, seed=4)
    train = np.arange(80) < 60
    scaling = paper_scaling(counts[train])
    features = paper_features(scaling, counts).matrix().toarray()
    zero = np.concatenate([scaling[block].zero for block in ("v1", "v2", "v12")])
    np.testing.assert_allclose(features + zero, dense_scaled(counts, train), atol=1e-12)
