"""Dual coordinate descent against scikit-learn's solvers, and the operations on features that it uses."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC
from tests.learn.learn_oracle import objective
from tests.synthetic import make_counts

from bagpack.learn import solver
from bagpack.learn.features import Features, get_preset
from bagpack.learn.solver import descend
from bagpack.learn.svm import SvmSettings


def random_rows(rng, n, columns, density=0.5):
    return sparse.csr_array(rng.normal(size=(n, columns)) * (rng.random((n, columns)) < density))


def random_features(seed, n=60, words=12, product=True, own=7):
    rng = np.random.default_rng(seed)
    table = random_rows(rng, 15, words)
    w1, w2 = rng.integers(15, size=(2, n))
    second = table if product else random_rows(rng, 15, words)
    blocks = {"v1": words, "v2": words, "product": words if product else 0, "v12": own}
    lengths = rng.random(n) if product else np.zeros(0)
    return Features(blocks, w1, w2, table, second, random_rows(rng, n, own), lengths)


SHAPES = [(12, True, 7), (12, False, 7), (0, False, 7), (12, True, 0)]  # words, product, own


@given(st.integers(0, 10_000), st.sampled_from(SHAPES))
@settings(max_examples=20)
def test_operations_agree_with_the_matrix_written_out(seed, shape):
    features = random_features(seed, 60, *shape)
    rng = np.random.default_rng(seed)
    one, two = features.first.toarray()[features.w1], features.second.toarray()[features.w2]
    products = [features.product[:, None] * one * two] if shape[1] else []
    X = np.hstack([one, two, *products, features.own.toarray()])
    weights = rng.normal(size=(X.shape[1], 5))
    coef = rng.normal(size=(len(X), 2)) * (rng.random((len(X), 2)) < 0.5)
    rows = rng.permutation(len(X))[:20]
    for found, expected in (
        (features.matrix().toarray(), X), (features.squares(), (X**2).sum(axis=1)),
        (features.decisions(weights), X @ weights), (features.combine(coef), X.T @ coef),
        (features.take(rows).decisions(weights), (X @ weights)[rows]),
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert [len(part) for part in features.split(weights).values()] == list(features.blocks.values())


def synthetic(preset, n=400):
    """Features of a made-up set, and its labels."""
    counts, y = make_counts(n_pairs=n, n_words=120, n_terms=120, n_labels=3, seed=7)
    preset = get_preset(preset)
    return preset.features(preset.learn(counts, "v1v2v12"), counts, "v1v2v12"), y


PROBLEMS = {
    "random": lambda: (random_features(3, 80), np.random.default_rng(1).integers(3, size=80)),
    "modern": lambda: synthetic("modern"),
    "paper": lambda: synthetic("paper"),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def problem(request):
    features, y = PROBLEMS[request.param]()
    return features, features.matrix().toarray(), y


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(solver, "MAX_EPOCHS", 20_000)


def classes(features, columns, C=1.0, tol=1e-3):
    return descend(features, columns, SvmSettings(C, tol=tol))


def of_rows(rows):
    none = sparse.csr_array((1, 0))
    words = np.zeros((2, len(rows)), int)
    return Features({"v12": rows.shape[1]}, *words, none, none, sparse.csr_array(rows))


@pytest.mark.parametrize("C", [0.01, 20.0])  # 1 is compared with SVC in test_learn_svm
def test_objective_is_that_of_svc(problem, C):
    features, X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = classes(features, y[:, None] == np.arange(3), C, tol=1e-4)
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    assert (found.coef * signs >= 0).all() and (found.coef * signs <= C).all()
    np.testing.assert_allclose(found.coef.sum(axis=0), 0, atol=1e-9)
    weights = X.T @ found.coef
    for k in range(3):
        sign = np.where(y == k, 1.0, -1.0)
        reference = SVC(kernel="linear", C=C, tol=1e-6).fit(X, sign)
        best = objective(reference.decision_function(X), reference.coef_, sign, C)
        own = objective(X @ weights[:, k] + found.intercept[k], weights[:, k], sign, C)
        assert own <= best * (1 + 1e-4)
        if C <= 1:  # liblinear takes half a minute for C = 20
            penalised = LinearSVC(loss="hinge", C=C, tol=1e-6, max_iter=100_000).fit(X, sign)
            assert own <= 1.0001 * objective(penalised.decision_function(X), penalised.coef_, sign, C)


@pytest.mark.parametrize(("C", "epsilon"), [(1.0, 0.2), (0.05, 0.0), (3.0, 1.0)])
def test_objective_is_that_of_svr(problem, C, epsilon):
    features, X, y = problem
    ratings = 1.0 + 2 * y + np.random.default_rng(0).normal(size=len(y))
    found = descend(features, ratings[:, None], SvmSettings(C, epsilon, tol=1e-4))
    reference = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-6).fit(X, ratings)
    best = objective(reference.predict(X), reference.coef_, ratings, C, epsilon)
    weights = X.T @ found.coef
    own = objective(X @ weights[:, 0] + found.intercept[0], weights, ratings, C, epsilon)
    assert own <= best * (1 + 1e-4)
    assert np.abs(found.coef).max() <= C and abs(found.coef.sum()) < 1e-9


def test_an_output_does_not_depend_on_the_others(problem):
    features, _, y = problem
    columns = y[:, None] == np.arange(3)
    both, one = classes(features, columns), classes(features, columns[:, 1:2])
    np.testing.assert_array_equal(one.coef[:, 0], both.coef[:, 1])


def test_the_bias_is_free():
    """A constant added to every feature of a block changes the bias, not the weights."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.random(60) < 0.3
    plain, moved = (classes(of_rows(rows), y[:, None], tol=1e-7) for rows in (X, X + 3.0))
    one, two = X.T @ plain.coef, (X + 3.0).T @ moved.coef
    np.testing.assert_allclose(one, two, atol=1e-3)
    np.testing.assert_allclose(plain.intercept, moved.intercept + 3.0 * two.sum(axis=0), atol=2e-3)


@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_rows_of_very_different_length_converge(monkeypatch, epsilon):
    """As the paper's scaling makes them: coordinate descent alone is far from the optimum after many epochs."""
    monkeypatch.setattr(solver, "MAX_EPOCHS", 200)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 400)) * np.exp(rng.normal(size=(300, 1)) * 2) + 3 * rng.random(400)
    features = of_rows(rows)
    y = rng.random(300) < 0.5

    answers = (y if epsilon is None else y + rows[:, 0] / 10)[:, None]
    how = SvmSettings(epsilon=epsilon or 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert descend(features, answers, how).converged
    monkeypatch.setattr(solver, "EXACT_ROWS", 0)
    with pytest.warns(ConvergenceWarning):
        assert not descend(features, answers, how).converged


@pytest.mark.parametrize("C", [1e6, 1e9])
def test_it_ends_and_says_that_it_did_not_converge(monkeypatch, C):
    monkeypatch.setattr(solver, "MAX_EPOCHS", 30)
    rng = np.random.default_rng(0)
    features = of_rows(random_rows(rng, 200, 10).toarray())
    with pytest.warns(ConvergenceWarning, match=r" 30 epochs .* [\d.]+ % "):
        found = classes(features, (rng.random(200) < 0.5)[:, None], C)
    assert not found.converged and np.isfinite(found.coef).all()
