"""Comparing two ways of answering the same rows."""

import numpy as np
import pytest
from benchmarks.accuracy.paired import Outcome, Part, bootstrap_difference, bootstrap_score, ratings_part
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from bagpack.errors import InputError


def test_scores_are_scikit_learns_and_scipys():
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 4, (2, 200))
    assert Part("f1_macro", truth, found).score() == pytest.approx(f1_score(truth, found, average="macro"))
    assert Part("f1", truth % 2, found % 2).score() == pytest.approx(f1_score(truth % 2, found % 2))
    ratings = np.round(rng.normal(size=200), 1)
    guessed = ratings + rng.normal(size=200)
    assert ratings_part(ratings, guessed).score() == pytest.approx(spearmanr(ratings, guessed).statistic)
    assert Part("credit", np.ones(4), np.array([1, 0, 0.5, 0.5])).score() == 0.5
    folds = np.arange(200) // 50
    inside = [spearmanr(ratings[folds == k], guessed[folds == k]).statistic for k in range(4)]
    assert ratings_part(ratings, guessed, folds).score() == pytest.approx(np.mean(inside))


def test_a_label_that_is_only_predicted_counts_in_macro_f1_and_one_that_is_not_drawn_does_not():
    truth, found = np.array([0, 0, 1, 1, 1]), np.array([0, 2, 1, 1, 1])
    assert Part("f1_macro", truth, found).score() == pytest.approx(f1_score(truth, found, average="macro"))
    some = Part("f1_macro", np.array([0, 1, 2, 3]), np.array([0, 1, 2, 2]))
    assert some.score(np.array([0, 0, 3])) == pytest.approx(f1_score([0, 0, 3], [0, 0, 2], average="macro"))


def test_drawn_rows_are_ranked_anew():
    rng = np.random.default_rng(2)
    ratings = np.exp(rng.normal(size=40))
    guessed = ratings + rng.normal(size=40)
    rows = rng.integers(40, size=40)
    score = ratings_part(ratings, guessed).score(rows)
    assert score == pytest.approx(spearmanr(ratings[rows], guessed[rows]).statistic)
    assert np.isnan(ratings_part(np.ones(5), np.arange(5.0)).score())
    assert np.isnan(bootstrap_score(Outcome("none", (ratings_part(np.ones(5), np.arange(5.0)),))).low)


def test_a_score_is_the_mean_over_parts_and_lies_in_its_interval():
    truth = np.array([0, 1] * 30)
    half = np.where(np.arange(60) % 3 == 0, 1 - truth, truth)
    outcome = Outcome("half", (Part("f1_macro", truth, truth), Part("f1_macro", truth, half)))
    score = bootstrap_score(outcome)
    assert score.mean == pytest.approx((1 + Part("f1_macro", truth, half).score()) / 2)
    assert score.low < score.mean < score.high
    assert bootstrap_score(outcome) == score


def test_what_is_hard_for_both_cancels_out():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    noise = rng.random(300) < 0.4
    worse = np.where(noise, 1 - truth, truth)
    better = worse.copy()
    wrong = np.flatnonzero(noise)[:12]
    better[wrong] = truth[wrong]
    a, b = (Outcome(str(i), (Part("f1_macro", truth, x),)) for i, x in enumerate((better, worse)))
    less = bootstrap_difference(a, b)
    assert 0 < less.low < less.mean < less.high
    apart = bootstrap_score(a), bootstrap_score(b)
    assert less.high - less.low < apart[0].high - apart[0].low
    same = bootstrap_difference(a, a)
    assert (same.low, same.mean, same.high) == (0, 0, 0)


def test_other_rows_cannot_be_compared():
    one = Outcome("one", (Part("credit", np.ones(3), np.ones(3)),))
    two = Outcome("two", (Part("credit", np.ones(4), np.ones(4)),))
    with pytest.raises(InputError, match="one and two did not answer the same rows"):
        bootstrap_difference(one, two)
