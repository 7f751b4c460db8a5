import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC

from bagpack.errors import UsageError
from bagpack.learn.design import ProductBlock, RowBlock, make_design, score_blocks
from bagpack.learn.features import block_of
from bagpack.learn.fitting import fit_weighting, weight_blocks
from bagpack.learn.presets import get_preset
from bagpack.learn.solver import fit_classes, fit_ratings
from bagpack.learn.synthetic import make_counts
from bagpack.names import JOINED


def random_rows(rng, n, columns, density=0.5, dtype=np.float64):
    return sparse.csr_array(
        (rng.normal(size=(n, columns)) * (rng.random((n, columns)) < density)).astype(dtype)
    )


def random_blocks(seed, n=60, dtype=np.float64):
    rng = np.random.default_rng(seed)
    words, pairs = random_rows(rng, 15, 12, dtype=dtype), random_rows(rng, n, 7, dtype=dtype)
    w1, w2 = rng.integers(15, size=n), rng.integers(15, size=n)
    return [
        RowBlock(pairs, None, 0.7),
        RowBlock(words, w1),
        RowBlock(words, w2, 1.5),
        ProductBlock(words, w1, w2, 0.8),
        ProductBlock(words, w1, w1, 0.3, unit=False),
    ]


def dense(blocks):
    """The features written out."""
    parts = []
    for block in blocks:
        rows = block.rows.toarray().astype(float)
        if isinstance(block, RowBlock):
            part = rows if block.index is None else rows[block.index]
        else:
            part = rows[block.left] * rows[block.right]
            if block.unit:
                length = np.linalg.norm(part, axis=1, keepdims=True)
                part = part / np.where(length > 0, length, 1)
        parts.append(block.factor * part)
    return parts


@given(st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=20)
def test_kernels_agree_with_numpy(seed, dtype):
    blocks = random_blocks(seed, dtype=dtype)
    parts, design = dense(blocks), make_design(blocks)
    rng = np.random.default_rng(seed)
    given_weights = [rng.normal(size=(part.shape[1], 3)) for part in parts]
    weights = np.vstack([given_weights[b] for b in np.argsort(design.places)])
    for one, other in zip(design.split(weights), given_weights, strict=True):
        np.testing.assert_array_equal(one, other)
    X = np.hstack(parts)
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(design.squares, (X**2).sum(axis=1), **close)
    np.testing.assert_allclose(design.decisions(weights), X @ np.vstack(given_weights), **close)
    np.testing.assert_allclose(score_blocks(blocks, given_weights), X @ np.vstack(given_weights), **close)
    in_order = np.hstack([parts[b] for b in np.argsort(design.places)])
    np.testing.assert_allclose(design.matrix().toarray(), in_order, **close)
    coef = rng.normal(size=len(X)) * (rng.random(len(X)) < 0.5)
    found = np.vstack(design.split(design.combine(coef)[:, None]))[:, 0]
    np.testing.assert_allclose(found, X.T @ coef, **close)
    rows = rng.permutation(len(X))[:20]
    np.testing.assert_allclose(
        design.take(rows).decisions(weights), (X @ np.vstack(given_weights))[rows], **close
    )


def test_a_table_used_by_several_blocks_is_stored_once():
    blocks = random_blocks(0)
    stored = blocks[0].rows.nnz + blocks[1].rows.nnz
    assert len(make_design(blocks).arrays.data) == stored


def objective(f, weights, y, C=1.0, epsilon=None, cost=1.0):
    loss = np.maximum(0, 1 - y * f) if epsilon is None else np.maximum(0, np.abs(y - f) - epsilon)
    return 0.5 * (weights**2).sum() + C * (cost * loss).sum()


def synthetic_blocks(preset, n=400):
    """The blocks of a made-up set as the preset weights them, and its labels."""
    counts, y = make_counts(n_pairs=n, n_words=120, n_terms=120, n_labels=3, seed=7)
    preset = get_preset(preset)
    names = [name for name in preset.blocks_of("v1v2v12") if name not in JOINED]
    weighted = [one.block for one in weight_blocks(counts, names, preset).values()]
    blocks = [RowBlock(block.rows, block.index) for block in weighted]
    if preset.name == "modern":
        words = block_of(counts, "v1")
        rows = fit_weighting(words, preset).apply(words).rows
        blocks.append(ProductBlock(rows, counts.w1, counts.w2))
    return blocks, y


PROBLEMS = {
    "random": lambda: (random_blocks(3, 80), np.random.default_rng(1).integers(3, size=80)),
    "modern": lambda: synthetic_blocks("modern"),
    "paper": lambda: synthetic_blocks("paper"),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def problem(request):
    blocks, y = PROBLEMS[request.param]()
    return make_design(blocks), np.hstack(dense(blocks)), y


@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
def test_objective_is_that_of_svc(problem, C):
    design, X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = fit_classes(design, y[:, None] == np.arange(3), C, tol=1e-4, max_epochs=20_000)
    for k in range(3):
        sign = np.where(y == k, 1.0, -1.0)
        reference = SVC(kernel="linear", C=C, tol=1e-6).fit(X, sign)
        best = objective(reference.decision_function(X), reference.coef_, sign, C)
        f = (design.decisions(found.weights) + found.intercept)[:, k]
        own = objective(f, found.weights[:, k], sign, C)
        assert own == pytest.approx(found.objective[k])
        assert own <= best * (1 + 1e-4)
        assert found.gap[k] <= 1e-4
        if C <= 1:  # liblinear takes half a minute for C = 20
            penalised = LinearSVC(loss="hinge", C=C, tol=1e-6, max_iter=100_000).fit(X, sign)
            assert own <= 1.0001 * objective(penalised.decision_function(X), penalised.coef_, sign, C)


def test_dual_coefficients_are_feasible_and_give_the_weights(problem):
    design, X, y = problem
    found = fit_classes(design, y[:, None] == np.arange(3), 0.5)
    sign = np.where(y[:, None] == np.arange(3), 1, -1)
    assert (found.coef * sign >= 0).all()
    assert (found.coef * sign <= 0.5).all()
    np.testing.assert_allclose(found.coef.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.vstack(design.split(found.weights)), X.T @ found.coef, atol=1e-9)


@pytest.mark.parametrize(("C", "epsilon"), [(1.0, 0.2), (0.05, 0.0), (3.0, 1.0)])
def test_objective_is_that_of_svr(problem, C, epsilon):
    design, X, y = problem
    ratings = 1.0 + 2 * y + np.random.default_rng(0).normal(size=len(y))
    found = fit_ratings(design, ratings, C, epsilon, tol=1e-4, max_epochs=20_000)
    reference = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-6).fit(X, ratings)
    best = objective(reference.predict(X), reference.coef_, ratings, C, epsilon)
    f = design.decisions(found.weights)[:, 0] + found.intercept[0]
    own = objective(f, found.weights, ratings, C, epsilon)
    assert own <= best * (1 + 1e-4)
    assert np.abs(found.coef).max() <= C
    assert abs(found.coef.sum()) < 1e-9


def test_a_weight_of_two_is_a_pair_given_twice(problem):
    design, _, y = problem
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 3, size=len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    columns = (y == 1)[:, None]
    one = fit_classes(design, columns, cost=weight, tol=1e-6, max_epochs=50_000)
    other = fit_classes(design.take(twice), columns[twice], tol=1e-6, max_epochs=50_000)
    np.testing.assert_allclose(one.objective, other.objective, rtol=2e-6)
    np.testing.assert_allclose(one.weights, other.weights, atol=2e-3)
    ratings = rng.normal(size=len(y))
    one = fit_ratings(design, ratings, cost=weight, tol=1e-6, max_epochs=50_000)
    other = fit_ratings(design.take(twice), ratings[twice], tol=1e-6, max_epochs=50_000)
    np.testing.assert_allclose(one.objective, other.objective, rtol=2e-6)


def test_costs_per_output_weight_the_classes(problem):
    design, X, y = problem
    columns = y[:, None] == np.arange(3)
    balanced = np.where(columns, 4.0, 1.0)
    found = fit_classes(design, columns, cost=balanced, tol=1e-4, max_epochs=20_000)
    reference = SVC(kernel="linear", tol=1e-6, class_weight={1.0: 4.0}).fit(
        X, np.where(columns[:, 2], 1.0, -1.0)
    )
    f = reference.decision_function(X)
    best = objective(f, reference.coef_, np.where(columns[:, 2], 1, -1), cost=balanced[:, 2])
    assert found.objective[2] == pytest.approx(best, rel=1e-4)


def test_the_same_solution_for_any_number_of_workers_and_any_other_outputs(problem):
    design, _, y = problem
    columns = y[:, None] == np.arange(3)
    one, two = (fit_classes(design, columns, n_jobs=jobs) for jobs in (1, 2))
    for name in ("weights", "intercept", "coef", "objective", "gap", "epochs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    alone = fit_classes(design, columns[:, 1:2])
    np.testing.assert_array_equal(alone.weights[:, 0], one.weights[:, 1])
    other_seed = fit_classes(design, columns, seed=1)
    assert (other_seed.weights != one.weights).any()


def test_the_bias_is_free():
    """A constant added to every feature of a block changes the bias, not the weights."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.random(60) < 0.3
    plain, moved = (
        fit_classes(make_design([RowBlock(sparse.csr_array(rows))]), y[:, None], tol=1e-7, max_epochs=50_000)
        for rows in (X, X + 3.0)
    )
    np.testing.assert_allclose(plain.weights, moved.weights, atol=1e-3)
    np.testing.assert_allclose(plain.intercept, moved.intercept + 3.0 * moved.weights.sum(axis=0), atol=2e-3)


def test_an_output_without_examples_is_constant(problem):
    design, _, y = problem
    columns = np.column_stack([y >= 0, y < 0, y == 0])
    found = fit_classes(design, columns)
    assert found.intercept[:2].tolist() == [1.0, -1.0]
    assert not found.weights[:, :2].any()
    unweighted = fit_classes(design, columns[:, 2:], cost=(y != 0).astype(float))
    assert unweighted.intercept.tolist() == [-1.0]


def test_pairs_without_features():
    design = make_design([RowBlock(sparse.csr_array((6, 4)))])
    found = fit_classes(design, np.array([[True], [True], [True], [True], [False], [False]]))
    assert found.converged
    assert found.intercept[0] == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_rows_of_very_different_length_converge(monkeypatch, epsilon):
    """As the paper's scaling makes them: coordinate descent alone is far from the optimum after many epochs."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 400)) * np.exp(rng.normal(size=(300, 1)) * 2) + 3 * rng.random(400)
    design = make_design([RowBlock(sparse.csr_array(rows))])
    y = rng.random(300) < 0.5

    def fit():
        if epsilon is None:
            return fit_classes(design, y[:, None], max_epochs=200)
        return fit_ratings(design, y + rows[:, 0] / 10, epsilon=epsilon, max_epochs=200)

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = fit()
    assert abs(found.coef.sum()) < 1e-9
    monkeypatch.setattr("bagpack.learn.solver.EXACT_ROWS", 0)
    with pytest.warns(ConvergenceWarning):
        alone = fit()
    assert found.objective[0] < alone.objective[0]


@pytest.mark.parametrize("C", [1e6, 1e300])
def test_it_ends_and_says_that_it_did_not_converge(C):
    rng = np.random.default_rng(0)
    design = make_design([RowBlock(random_rows(rng, 200, 10))])
    y = rng.random(200) < 0.5
    with pytest.warns(ConvergenceWarning, match=r"stopped after 30 epochs .* up to [\d.]+ % too high"):
        found = fit_classes(design, y[:, None], C, max_epochs=30)
    assert not found.converged
    assert np.isfinite(found.weights).all()
    assert found.epochs[0] == 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cost": np.ones(3)}, "one per pair"),
        ({"cost": np.full(60, -1.0)}, "every cost"),
        ({"ratings": np.zeros(5)}, "60 pairs and there are 5 targets"),
    ],
)
def test_costs_and_targets_that_do_not_fit_are_refused(change, words):
    design = make_design(random_blocks(0))
    with pytest.raises(UsageError, match=words):
        fit_ratings(design, **{"ratings": np.zeros(60), **change})


def test_blocks_that_do_not_fit_are_refused():
    rows = sparse.csr_array(np.eye(3))
    with pytest.raises(UsageError, match="at least one block"):
        make_design([])
    with pytest.raises(UsageError, match="block 1 has 2 pairs and block 0 has 3"):
        make_design([RowBlock(rows), RowBlock(rows, np.array([0, 1]))])
    with pytest.raises(UsageError, match="refers to row 3, and its table has the rows 0 to 2"):
        make_design([RowBlock(rows, np.array([0, 3]))])
    with pytest.raises(UsageError, match="block 0 refers to row 3, and its table has the rows 0 to 2"):
        score_blocks([RowBlock(rows, np.array([0, 3]))], [np.ones((3, 1))])
    with pytest.raises(UsageError, match="not a finite number"):
        make_design([RowBlock(rows * np.nan)])
