"""Preset `modern`: its steps, its product block, and that its models keep all their promises."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagpack.evaluate import cross_validate, random_splits
from bagpack.learn import encode_targets, fit_counts, load_model, save_model
from bagpack.learn.modern import PRODUCT, LogCounts, UnitLength, product_block
from bagpack.learn.synthetic import make_counts


@parametrize_with_checks([LogCounts(), UnitLength()])
def test_common_checks(estimator, check):
    check(estimator)


def test_rows_have_unit_length_and_zero_rows_stay():
    rows = sparse.csr_array(np.array([[3, 0, 4], [0, 0, 0], [0, 2, 0]]))
    assert UnitLength().fit_transform(rows).toarray() == pytest.approx(
        np.array([[0.6, 0, 0.8], [0, 0, 0], [0, 1, 0]])
    )
    assert LogCounts().fit_transform(rows).toarray() == pytest.approx(np.log1p(rows.toarray()))


def test_the_product_is_that_of_the_weighted_words():
    counts, _ = make_counts(n_pairs=30, n_words=12, seed=1)
    logs = np.log1p(counts.words.toarray())
    lengths = np.linalg.norm(logs, axis=1, keepdims=True)
    unit = logs / np.where(lengths == 0, 1, lengths)
    assert product_block(counts).rows.toarray() == pytest.approx(unit[counts.w1] * unit[counts.w2])


def test_decisions_are_sums_of_named_features_and_survive_the_disk(tmp_path):
    counts, y = make_counts(n_pairs=80, n_words=40, seed=2)
    model = fit_counts(counts, encode_targets(y), preset="modern")
    assert any(name.startswith(f"{PRODUCT}:post:") for name in model.feature_names())
    label = model.classes[0]
    part = model.contributions(counts, 3, label)
    scores = model.label_scores(counts)
    assert part.decision == pytest.approx(scores[3, list(model.classes).index(label)], abs=1e-9)
    assert part.intercept + part.values.sum() == pytest.approx(part.decision, abs=1e-9)
    save_model(model, tmp_path / "m.model")
    assert load_model(tmp_path / "m.model").decisions(counts) == pytest.approx(
        model.decisions(counts), abs=1e-12
    )


def test_it_runs_in_cross_validation():
    counts, y = make_counts(n_pairs=120, n_words=60, seed=3)
    found = cross_validate(counts, y, random_splits(encode_targets(y), folds=4), preset="modern", C=10)
    assert [result.name for result in found.conditions] == ["v1v2", "v12", "v1v2v12"]
    assert found["v1v2v12"].metrics["accuracy"].mean > found["majority"].metrics["accuracy"].mean
