import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from bagpack.evaluate.metrics import fold_scores, pooled_correlation, rank_correlation
from bagpack.evaluate.result import Score, correlation_interval, interval, plain
from bagpack.learn.targets import decode, encode_targets


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=25)
def test_label_scores_are_scikit_learns(seed, n_labels):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_labels), rng.integers(n_labels, size=30)])
    targets = encode_targets(y)
    decisions = np.round(rng.normal(size=(len(y), targets.columns.shape[1])), 1)
    predicted = decode(targets.kind, decisions)
    found = fold_scores(targets, decisions)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted))
    for average in ("macro", "weighted"):
        assert found[f"f1_{average}"] == pytest.approx(metrics.f1_score(y, predicted, average=average))
    if n_labels == 2:
        assert found["f1"] == pytest.approx(metrics.f1_score(y, predicted))
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, decisions[:, 0]))
    else:
        areas = [metrics.roc_auc_score(y == k, decisions[:, k]) for k in range(n_labels)]
        assert found["auc"] == pytest.approx(np.mean(areas))


def test_labels_that_not_every_fold_has():
    targets = encode_targets(["a", "b", "c", "a", "b"])[[0, 1, 3]]
    decisions = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0]])  # c is neither there nor predicted
    expected = metrics.f1_score(["a", "b", "a"], ["a", "a", "a"], average="macro")
    assert fold_scores(targets, decisions)["f1_macro"] == pytest.approx(expected)
    # A label of every row has no area.
    assert math.isnan(fold_scores(targets[[0, 2]], np.array([[1.0, 2, 0], [3, -1, 0]]))["auc"])
    assert math.isnan(fold_scores(encode_targets([0, 1, 1])[1:], np.array([[1.0], [2.0]]))["auc"])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40))
def test_rank_correlation_is_spearmans(rows):
    x, y = np.array(rows, dtype=float).T
    scores = fold_scores(encode_targets(y, kind="rating"), x[:, None])
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert math.isnan(rank_correlation(x, y))
        assert math.isnan(scores["pearson"])
    else:
        assert rank_correlation(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
        assert scores["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert scores["mae"] == pytest.approx(np.abs(x - y).mean())


def test_interval_is_students():
    values = [0.5, 0.6, 0.7, 0.9]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    score = interval(values)
    assert (score.mean, score.low, score.high) == pytest.approx((0.675, low, high))
    assert interval([0.5, math.nan, 0.7]).mean == pytest.approx(0.6)
    assert math.isnan(interval([math.nan]).mean)
    assert math.isnan(interval([0.5]).low)
    # Rounds over the same rows: Nadeau and Bengio's variance.
    half = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) * math.sqrt(1 / 4 + 1 / 9)
    assert interval(values, test_share=1 / 9).high == pytest.approx(0.675 + half)
    assert plain(interval([math.nan, 0.5]))["folds"] == [None, 0.5]


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "auc", "spearman", "score"])
def test_intervals_end_where_the_metric_does(metric):
    low = interval([0.9, 1.0, 1.0], metric)
    assert (low.high, low.low) == (1.0, pytest.approx(0.8232, abs=1e-4))
    least = -1.0 if metric == "spearman" else 0.0
    assert interval([least, least, least + 0.1], metric).low == least
    assert interval([0.9, 1.0, 1.0]).high > 1  # differences have no bounds


def test_correlation_interval_is_bonett_and_wrights():
    score = correlation_interval(0.6, 400)
    half = 1.959964 * math.sqrt((1 + 0.6**2 / 2) / 397)
    assert score.low == pytest.approx(math.tanh(math.atanh(0.6) - half))
    assert score.high == pytest.approx(math.tanh(math.atanh(0.6) + half))
    assert (score.low, score.high) == pytest.approx((0.527224, 0.664038), abs=1e-6)
    assert math.isnan(correlation_interval(math.nan, 5).mean)
    assert plain(correlation_interval(1.0, 10)) == plain(Score(1.0))


def test_a_constant_predictor_has_no_rank_correlation():
    ratings = np.arange(20.0)
    folds = np.repeat([0, 1], 10)
    means = np.where(folds == 0, 14.5, 4.5)  # the mean of the other fold: ranks the folds the wrong way round
    assert stats.spearmanr(means, ratings).statistic < -0.8
    assert math.isnan(pooled_correlation(means, ratings, folds))
    assert math.isnan(rank_correlation(0.1 + np.array([0, 1e-17, 0, 0, 0]), np.arange(5.0)))
    some = means + (np.arange(20) == 3)
    assert pooled_correlation(some, ratings, folds) == pytest.approx(stats.spearmanr(some, ratings).statistic)
