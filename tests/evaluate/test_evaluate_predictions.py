"""Predictions of single rows: probabilities, abstention, suspicious labels, sentences."""

import json
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t
from sklearn.calibration import _SigmoidCalibration, calibration_curve

from bagpack.contexts.windows import Windows
from bagpack.evaluate import rows as own
from bagpack.evaluate.crossval import cross_validate, fewer_rows, learning_curve
from bagpack.evaluate.result import Prediction
from bagpack.evaluate.rows import COLUMNS, add_predictions, calibrated, mistakes, predictions_table
from bagpack.evaluate.splits import fixed_split, random_splits
from bagpack.learn.calibration import fit_calibration, probabilities_of
from bagpack.learn.fitting import fit_counts, hold_out
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets
from bagpack.sheets import table_text
from tests.synthetic import make_counts


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=300, n_words=120, n_terms=40, n_labels=3, seed=8)


@pytest.fixture(scope="module")
def found(data):
    counts, y = data
    return cross_validate(counts, y, random_splits(encode_targets(y), folds=5), ("v1v2", "v12"))


FOLDS = ["1", "2", "3", "4", "5"]


def predicted(found, targets, *more, unknown=()):
    """The result with predictions, for rows whose labels are those of the targets."""
    rating = targets.kind == "rating"
    labels = targets.ratings.tolist() if rating else [str(targets.classes[k]) for k in targets.codes]
    rows = [
        Prediction(i + 2, f"a{i}", f"b{i}", label, together=None if i in unknown else i % 7)
        for i, label in enumerate(labels)
    ]
    return add_predictions(found, targets, rows, FOLDS, *more)


def test_the_sigmoid_is_platts_fitted_on_the_other_folds(data, found):
    _, y = data
    targets = encode_targets(y == 1)
    decisions = found["v12"].decisions[:, [1]]
    parts = found.fold_of
    probability = calibrated(targets, decisions, parts)
    for part in range(5):
        fit, use = parts != part, parts == part
        expected = _SigmoidCalibration().fit(decisions[fit, 0], y[fit] == 1).predict(decisions[use, 0])
        np.testing.assert_allclose(probability[use, 1], expected, atol=5e-3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_a_test_file_is_calibrated_on_training_rows_alone(data):
    counts, y = data
    (split,) = fixed_split(200, 100)
    targets = encode_targets(y)
    found = cross_validate(counts, y, [split], ("v12",), baselines=False)
    training = split.train, hold_out(counts[:200], targets[:200], "v12", "modern", SvmSettings())
    result = predicted(found, targets, 0.6, training)
    rows = result.predictions
    assert all(row.probability is row.predicted is None for row in rows[:200])
    # The same curves as those of a model trained on these rows.
    model = fit_counts(counts[:200], targets[:200], "v12")
    curves = fit_calibration(training[1].decisions, targets.columns[:200])
    decisions = model.decisions(counts[200:])
    expected = probabilities_of(decisions, curves)[np.arange(100), decisions.argmax(axis=1)]
    assert [row.probability for row in rows[200:]] == pytest.approx(expected, abs=1e-5)
    # Other labels in the test file change what is right, not the probabilities or what is answered.
    other = np.append(y[:200], (y[200:] + 1) % 3)
    again = predicted(found, encode_targets(other), 0.6, training)
    for name in ("probability", "abstained"):
        assert [getattr(row, name) for row in again.predictions] == [getattr(row, name) for row in rows]
    assert again.abstention["threshold"] == result.abstention["threshold"]
    assert 0 < result.abstention["coverage"] < 1
    without = predicted(found, targets, 0.6)
    assert not (without.abstention or without.reliability or without.suspicious)


def test_reliability_is_scikit_learns_curve():
    rng = np.random.default_rng(0)
    probability = rng.random(500)
    right = rng.random(500) < probability**2
    found = own.reliability(probability, right)
    true, mean = calibration_curve(right, probability, n_bins=10)
    assert [one["accuracy"] for one in found["bins"]] == pytest.approx(true.tolist())
    assert [one["probability"] for one in found["bins"]] == pytest.approx(mean.tolist())
    weights = np.array([one["n"] for one in found["bins"]]) / 500
    assert found["error"] == pytest.approx((weights * np.abs(true - mean)).sum(), abs=1e-6)


def test_every_row_has_its_prediction(data, found):
    _, y = data
    result = predicted(found, encode_targets(y), 0.6, unknown={5})
    json.dumps(result.to_dict(), allow_nan=False)
    rows = result.predictions
    assert len(rows) == 300
    targets, decisions = encode_targets(y), found.conditions[-1].decisions
    per_label = calibrated(targets, decisions, found.fold_of)
    for i, row in enumerate(rows):
        assert (row.w1, row.line, row.label) == (f"a{i}", i + 2, str(y[i]))
        assert (row.predicted, row.fold) == (str(found["v12"].predicted[i]), FOLDS[found.fold_of[i]])
        assert row.probability == pytest.approx(per_label[i, decisions[i].argmax()], abs=1e-6)
        assert row.predicted != row.label or row.probability == row.label_probability
    assert rows[5].abstained is True and rows[5].together is None
    answered = [row for row in rows if not row.abstained]
    assert 20 < len(answered) < 299
    part = result.abstention
    assert part["coverage"] == pytest.approx(len(answered) / 300)
    assert part["precision_found"] == pytest.approx(np.mean([r.label == r.predicted for r in answered]))
    wrong = mistakes(rows)
    assert sorted(wrong) == [i for i, row in enumerate(rows) if row.label != row.predicted]
    sure = [rows[i].probability for i in wrong]
    assert sure == sorted(sure, reverse=True)
    header, *table = predictions_table(result)
    assert header[:4] == ["w1", "w2", "label", "predicted"] and len(table) == 300
    assert table[5][header.index("together")] is None
    assert isinstance(table[0][header.index("probability")], float)


def test_labels_that_were_changed_are_suspicious(data, found):
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=300)
    decisions = 2.0 * (true[:, None] == np.arange(3)) - 1 + rng.normal(0, 0.5, (300, 3))
    given = true.copy()
    planted = rng.choice(300, 8, replace=False)
    given[planted] = (given[planted] + 1) % 3
    for larger, least in ((0, 5), (3, 2)):  # decision values of a label, as calibration does not see
        decisions[:, 0] += larger
        chosen = decisions.argmax(axis=1)
        shown = replace(found.conditions[-1], decisions=decisions, predicted=chosen)
        result = predicted(replace(found, conditions=[shown]), encode_targets(given))
        assert set(result.suspicious) <= set(planted.tolist()) & set(np.flatnonzero(chosen != given))
        assert len(result.suspicious) >= least


def test_rows_that_were_not_tested_and_ratings(data):
    counts, y = data
    found = cross_validate(counts, y, fixed_split(200, 100), ("v12",), baselines=False)
    rows = predicted(found, encode_targets(y)).predictions
    assert rows[0].predicted is rows[0].probability is rows[0].fold is None
    assert rows[250].predicted is not None
    ratings = y + np.linspace(0, 1, 300)
    targets = encode_targets(ratings, kind="rating")
    splits = random_splits(targets, 3)
    found = cross_validate(counts, ratings, splits, ("v12",), kind="rating", baselines=False)
    result = predicted(found, targets)
    json.dumps(result.to_dict(), allow_nan=False)
    rows, table = result.predictions, predictions_table(result)
    assert isinstance(table[1][COLUMNS.index("label")], float)
    table[1][COLUMNS.index("label")] = -1.25
    text = table_text(table, ",")  # for spreadsheets, which would take quoted numbers for text
    assert ",-1.25," in text and "'-" not in text
    assert rows[4].predicted == pytest.approx(found["v12"].predicted[4])
    errors = [abs(rows[i].label - rows[i].predicted) for i in mistakes(rows)]
    assert errors == sorted(errors, reverse=True)


def test_mistakes_get_a_bounded_number_of_sentences_of_bounded_length(data, found):
    _, y = data
    result = predicted(found, encode_targets(y))
    asked = []

    def contexts(w1, w2, limit, windows):
        asked.append((w1, w2))
        return [SimpleNamespace(document="d", pieces=("x" * 5000, " l", " k", " b", " k", " r", "y" * 5000))]

    own.add_sentences(result, SimpleNamespace(contexts=contexts), Windows())
    given = [row for row in result.predictions if row.sentences]
    assert 0 < len(given) == len(asked) <= 200
    assert all(row.together for row in given)
    assert len(json.dumps(given[0].sentences[0])) < 1000
    short = own.sentence("d", ("before", " left", " cat", "", " dog", " right", " after"))
    assert "".join(short["pieces"]) == "before left cat dog right after"
    assert len(own.sentence("d", ("x " * 500, "", "", "", "", "", ""))["pieces"][0]) <= own.PIECE + 1


def test_the_learning_curve_has_the_same_test_rows_and_fewer_training_rows(data):
    counts, y = data
    targets = encode_targets(y)
    splits = random_splits(targets, folds=4)
    found = cross_validate(counts, y, splits, ("v12",), baselines=False)
    curve = learning_curve(found, counts, targets, splits)
    assert [point["rows"] for point in curve["points"]] == pytest.approx([28, 56, 112, 225], abs=1)
    parts = [splits, *(fewer_rows(splits, targets, share) for share in (0.5, 0.25, 0.125))]
    for larger, smaller in pairwise(parts):
        for a, b in zip(smaller, larger, strict=True):
            assert set(a.train.tolist()) < set(b.train.tolist()) and a.test.tolist() == b.test.tolist()
    means = [point["score"].mean for point in curve["points"]]
    assert curve["gain"].mean == pytest.approx(means[-1] - means[-2])
    folds = np.subtract(*(point["score"].folds for point in curve["points"][:-3:-1]))
    error = folds.std(ddof=1) * np.sqrt(1 / 4 + 75 / 225)  # corrected: 4 folds of 300 rows
    assert curve["gain"].high - curve["gain"].mean == pytest.approx(t.ppf(0.975, 3) * error)
    few = fewer_rows(splits, targets, 0.001)
    assert all(set(y[split.train]) == {0, 1, 2} for split in few)  # no label is lost
    assert learning_curve(found, counts, targets, splits[:1]) == {}
