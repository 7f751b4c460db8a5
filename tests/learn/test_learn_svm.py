import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn_oracle import CONDITIONS, columns_of, dense_scaled, objective
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR
from tests.synthetic import make_counts

from bagpack import parallel
from bagpack.errors import BagpackError, UsageError
from bagpack.evaluate.crossval import folds_at_once
from bagpack.learn import svm
from bagpack.learn.features import get_preset
from bagpack.learn.fitting import calibrate, fit_counts
from bagpack.learn.svm import SvmSettings, row_gram
from bagpack.learn.targets import encode_targets

TRAIN = np.arange(300) % 5 != 0


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=300, n_words=120, n_terms=120, n_labels=3, seed=7)


@pytest.fixture(scope="module")
def ratings(data):
    return 1.0 + 2 * data[1] + np.random.default_rng(0).normal(size=300)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.02, 0.3, 0.9]), st.sampled_from([0.0, 0.2, 1.0]))
def test_row_gram_is_the_plain_product(seed, density, threshold):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(9, 30)) * (rng.random((9, 30)) < density)
    before = svm.DENSE_ABOVE, svm.CHUNK_ENTRIES
    svm.DENSE_ABOVE, svm.CHUNK_ENTRIES = threshold, 50
    try:
        found = row_gram(sparse.csr_array(rows))
    finally:
        svm.DENSE_ABOVE, svm.CHUNK_ENTRIES = before
    np.testing.assert_allclose(found, rows @ rows.T, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def answers_of(y, ratings, kind):
    """Labels, or ratings; what `objective` takes of them; and the loss's epsilon."""
    return (ratings, ratings, 0.2) if kind == "rating" else (y == 1, np.where(y == 1, 1, -1), None)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(("kind", "transductive"), [("labels", False), ("labels", True), ("rating", False)])
def test_decision_values_are_those_of_the_dense_svc_and_svr(data, ratings, kind, tol, transductive):
    counts, y = data
    answers, signs, epsilon = answers_of(y, ratings, kind)
    scaled = dense_scaled(counts, slice(None) if transductive else TRAIN)
    learned = get_preset("paper").learn(counts, "v1v2v12") if transductive else None
    targets = encode_targets(answers[TRAIN], kind=kind)
    how = "paper", SvmSettings(tol=tol)
    models = {own: fit_counts(counts[TRAIN], targets, own, *how, learned=learned) for own in CONDITIONS}
    for condition in CONDITIONS:
        X = scaled[:, columns_of(condition, counts)]
        reference = SVR(epsilon=epsilon) if kind == "rating" else SVC()
        reference.set_params(kernel="linear", C=1, tol=tol).fit(X[TRAIN], answers[TRAIN])
        wanted = reference.predict(X) if kind == "rating" else reference.decision_function(X)
        found = models[condition].decisions(counts)[:, 0]
        np.testing.assert_allclose(found, wanted, atol=max(5e-3, 20 * tol), rtol=0)
        weights = models[condition].weight_matrix(), reference.coef_
        values = found[TRAIN], wanted[TRAIN]
        ours, theirs = map(partial(objective, y=signs[TRAIN], epsilon=epsilon), values, weights)
        assert ours == pytest.approx(theirs, rel=1e-4)


def test_several_classes_are_one_against_the_rest(data):
    counts, y = data
    X, targets = dense_scaled(counts, TRAIN), encode_targets(y[TRAIN])
    reference = OneVsRestClassifier(SVC(kernel="linear", C=0.3, tol=1e-6)).fit(X[TRAIN], y[TRAIN])
    model = fit_counts(counts[TRAIN], targets, preset="paper", svm=SvmSettings(C=0.3, tol=1e-6))
    np.testing.assert_allclose(model.decisions(counts), reference.decision_function(X), atol=1e-4, rtol=0)


@pytest.fixture(params=["gram", "blocks"])
def solver(request, monkeypatch):
    """Each of the two solvers, whatever the number of rows."""
    monkeypatch.setattr(svm, "GRAM_ROWS", 10**6 if request.param == "gram" else 0)
    return request.param


@pytest.mark.parametrize("kind", ["labels", "rating"])
@pytest.mark.parametrize("preset", ["paper", "modern"])
def test_both_solvers_find_the_same_optimum(monkeypatch, data, ratings, kind, preset):
    counts, y = data
    answers, signs, epsilon = answers_of(y, ratings, kind)
    targets = encode_targets(answers, kind=kind)
    for condition in CONDITIONS:
        models = []
        for rows, tol in ((300, 1e-6), (299, 1e-4)):
            monkeypatch.setattr(svm, "GRAM_ROWS", rows)
            models.append(fit_counts(counts, targets, condition, preset, SvmSettings(tol=tol)))
        exact, other = (model.decisions(counts)[:, 0] for model in models)
        weights = [model.weight_matrix() for model in models]
        best, own = map(partial(objective, y=signs, epsilon=epsilon), (exact, other), weights)
        assert own == pytest.approx(best, rel=1e-3)
        np.testing.assert_allclose(other, exact, atol=0.1)
        shown = [(model.settings["solver"], model.settings["converged"]) for model in models]
        assert shown == [("gram", True), ("blocks", True)]


def test_paper_converges_on_many_rows():
    """libsvm in single precision never stopped on so many rows of this preset."""
    counts, y = make_counts(n_pairs=12_500, n_words=800, n_terms=20, n_labels=2, signal=0.5, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = fit_counts(counts, encode_targets(y), preset="paper")
    assert model.settings["solver"] == "blocks" and model.settings["converged"]
    assert (model.predict(counts) == y).mean() > 0.6


@pytest.mark.usefixtures("solver")
def test_an_svm_that_does_not_converge_says_so(monkeypatch, data):
    counts, y = data
    monkeypatch.setattr("bagpack.learn.svm.MAX_STEPS", 3)
    monkeypatch.setattr("bagpack.learn.solver.MAX_EPOCHS", 1)
    with pytest.warns(ConvergenceWarning, match="converge|optimum"):
        model = fit_counts(counts, encode_targets(y == 1))
    assert model.settings["converged"] is False


@pytest.mark.costly
@pytest.mark.usefixtures("solver")
def test_the_same_model_bit_for_bit_for_any_number_of_workers(data):
    counts, y = data
    targets, settings = encode_targets(y), SvmSettings()
    found = []
    for jobs in (1, 3):
        with parallel.settings(n_jobs=jobs):
            model = fit_counts(counts, targets, svm=settings)
            found.append(calibrate(model, counts, targets, settings, precision=0.7))
    one, two = found
    np.testing.assert_array_equal(one.weight_matrix(), two.weight_matrix())
    np.testing.assert_array_equal(one.intercept, two.intercept)
    np.testing.assert_array_equal(one.predict_proba(counts), two.predict_proba(counts))
    assert one.threshold == two.threshold


def test_memory_is_bounded_for_all_workers_together(monkeypatch, data, solver):
    counts, _ = data
    with parallel.settings(n_jobs=4):
        assert folds_at_once(counts) == 1  # few rows
        monkeypatch.setattr("bagpack.evaluate.crossval.FEWEST_ROWS", len(counts))
        assert folds_at_once(counts) == 4
        one = 21 * len(counts) ** 2 if solver == "gram" else 40 * (counts.words.nnz + counts.together.nnz)
        monkeypatch.setattr("bagpack.evaluate.crossval.MEMORY", 2 * one)
        assert folds_at_once(counts) == 2
        monkeypatch.setattr("bagpack.evaluate.crossval.MEMORY", one // 2)
        assert folds_at_once(counts) == 1


def test_settings_that_make_no_sense(data):
    counts, y = data
    targets = encode_targets(y)
    for wrong, message in (
        *((partial(SvmSettings, C=own), "^C must") for own in (0, -1, 1e300, np.inf, np.nan)),
        (lambda: SvmSettings(epsilon=float("nan")), "^epsilon must"),
        (lambda: SvmSettings(tol=0), "^tol must"),
        (lambda: fit_counts(counts, targets, "v3"), "condition 'v3' is unknown"),
        (lambda: fit_counts(counts[:10], targets), "10"),
    ):
        with pytest.raises(UsageError, match=message):
            wrong()
    with pytest.raises(BagpackError, match="label"):
        fit_counts(counts[y == 0], targets[y == 0])
