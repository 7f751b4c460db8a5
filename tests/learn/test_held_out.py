"""Held-out decision values of the training rows: which rows share a fold, and by which models they are."""

from dataclasses import replace

import numpy as np
import pytest
from tests.synthetic import make_counts

from bagpack.learn.fitting import fit_counts, hold_out
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets


@pytest.fixture(scope="module")
def data():
    counts, y = make_counts(n_pairs=120, n_words=30, n_terms=20, n_labels=3, seed=1)
    return counts, encode_targets(y)


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_repeated_and_reversed_pairs_are_in_one_fold(data, preset):
    """Else a model would be calibrated on rows that it was trained on."""
    counts, targets = data
    rows = np.tile(np.arange(60), 3)
    both = counts[rows]
    both = replace(both, rows=np.concatenate([both.rows[:120], both.rows[120:, ::-1]]))
    folds = [hold_out(both, targets[rows], own, preset, SvmSettings()).fold for own in ("v1v2v12", "v12")]
    np.testing.assert_array_equal(*folds)
    groups = np.sort(np.stack([both.w1, both.w2], axis=1), axis=1)
    for group in np.unique(groups, axis=0):
        assert len(set(folds[0][(groups == group).all(axis=1)])) == 1
    assert len(set(folds[0])) == 5
    few = encode_targets([True, *[False] * 29])
    alone = hold_out(counts[:30], few, "v12", preset, SvmSettings())
    assert (alone.decisions[alone.fold == alone.fold[0]] == -1).all()  # the other folds have no positive pair
    one_pair = np.zeros(9, int)
    assert hold_out(both[one_pair], targets[rows][one_pair], "v12", preset, SvmSettings()) is None


# By one Gram matrix of all rows, and by models of their own.
@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_held_out_values_are_those_of_models_of_the_other_folds(data, preset):
    counts, targets = data
    svm = SvmSettings(C=0.1, tol=1e-6)
    found = hold_out(counts, targets, "v1v2v12", preset, svm)
    for number in range(5):
        train, test = found.fold != number, found.fold == number
        model = fit_counts(counts[train], targets[train], preset=preset, svm=svm)
        np.testing.assert_allclose(found.decisions[test], model.decisions(counts[test]), atol=1e-3)
