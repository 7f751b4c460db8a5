"""Comparing two ways of answering the same rows, as the tables of docs/accuracy.md do."""

import numpy as np
import pytest
from benchmarks.accuracy.paired import Outcome, Part, bootstrap_difference, bootstrap_score, ratings_part
from scipy.stats import spearmanr
from sklearn.metrics import f1_score


def test_scores_are_scikit_learns_and_scipys():
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 4, (2, 200))
    assert Part("f1_macro", truth, found).score() == pytest.approx(f1_score(truth, found, average="macro"))
    assert Part("f1", truth % 2, found % 2).score() == pytest.approx(f1_score(truth % 2, found % 2))
    # A label that is only predicted counts, and one that is not drawn does not.
    some = Part("f1_macro", np.array([0, 1, 2, 3]), np.array([0, 1, 2, 2]))
    assert some.score() == pytest.approx(f1_score([0, 1, 2, 3], [0, 1, 2, 2], average="macro"))
    assert some.score(np.array([0, 0, 3])) == pytest.approx(f1_score([0, 0, 3], [0, 0, 2], average="macro"))
    ratings = np.exp(rng.normal(size=200))
    guessed, rows = ratings + rng.normal(size=200), rng.integers(200, size=40)
    drawn = spearmanr(ratings[rows], guessed[rows]).statistic  # ranked among the rows that are drawn
    assert ratings_part(ratings, guessed).score(rows) == pytest.approx(drawn)
    folds = np.arange(200) // 50
    inside = [spearmanr(ratings[folds == k], guessed[folds == k]).statistic for k in range(4)]
    assert ratings_part(ratings, guessed, folds).score() == pytest.approx(np.mean(inside))


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
