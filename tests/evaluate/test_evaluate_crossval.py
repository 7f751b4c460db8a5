import json
import re
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.svm import SVC

from bagpack.errors import InputError, UsageError
from bagpack.evaluate import result
from bagpack.evaluate.crossval import cross_validate
from bagpack.evaluate.splits import fixed_split, group_splits, lexical_splits, random_splits
from bagpack.learn import fitting
from bagpack.learn.features import Features, Preset, get_preset
from bagpack.learn.fitting import fit_counts
from bagpack.learn.targets import encode_targets
from bagpack.parallel import jobs, settings, share
from tests.learn.learn_oracle import without_counts
from tests.synthetic import make_counts

CONDITIONS = ("v1v2", "v12", "v1v2v12")


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=240, n_words=90, n_terms=60, n_labels=3, seed=21)


@pytest.fixture(scope="module")
def splits(data):
    return random_splits(encode_targets(data[1]), folds=5)


@pytest.fixture(scope="module")
def found(data, splits):
    return cross_validate(*data, splits)


def test_out_of_fold_answers_are_those_of_models_trained_on_the_rest(monkeypatch, data, splits, found):
    counts, y = data
    for split in splits[:2]:
        for condition in CONDITIONS:
            model = fit_counts(counts[split.train], encode_targets(y[split.train]), condition)
            decisions = model.decisions(counts[split.test])
            np.testing.assert_allclose(found[condition].decisions[split.test], decisions, atol=1e-8)
            np.testing.assert_array_equal(found[condition].predicted[split.test], decisions.argmax(axis=1))
    # The folds of `modern` shared one Gram matrix; others, and those of more rows, have their own.
    modern, paper = map(get_preset, ("modern", "paper"))
    assert fitting.shared_grams(counts, ("v12",), modern)
    assert not fitting.shared_grams(counts, ("v12",), paper)
    monkeypatch.setattr("bagpack.learn.svm.GRAM_ROWS", len(y) - 1)
    assert not fitting.shared_grams(counts, ("v12",), modern)


def test_scores_and_confusion_agree_with_the_answers(data, splits, found):
    _, y = data
    assert found.tested.all()
    for condition in CONDITIONS:
        predicted, score = found[condition].predicted, found[condition].metrics["accuracy"]
        assert score.low <= score.mean <= score.high
        assert score.folds == pytest.approx([(predicted == y)[split.test].mean() for split in splits])
    counts = np.array(found.confusion["counts"])
    assert counts.sum() == len(y) and np.trace(counts) == (found["v1v2v12"].predicted == y).sum()
    assert found["majority"].metrics["auc"].mean == pytest.approx(0.5)
    assert found["v1v2v12"].metrics["accuracy"].mean > found["majority"].metrics["accuracy"].mean


def test_words_only_never_sees_a_count(data, splits, found):
    counts, y = data
    one_hot = np.hstack([np.eye(90)[counts.w1], np.eye(90)[counts.w2]])
    svm = SVC(kernel="linear").fit(one_hot[splits[0].train], y[splits[0].train] == 1)
    expected = svm.decision_function(one_hot[splits[0].test])
    np.testing.assert_allclose(found["words-only"].decisions[splits[0].test, 1], expected, atol=1e-8)


def test_rows_are_broken_down_by_how_often_the_pair_was_seen(data, found):
    counts, y = data
    rows, never = found.buckets["rows"], counts.seen == 0
    assert [row["name"] for row in rows] == ["0", "1–9", "10–99", "100+"]
    assert (rows[0]["n"], sum(row["n"] for row in rows)) == (never.sum(), len(y))
    right = found["v12"].predicted == y
    assert rows[0]["scores"]["v12"] == pytest.approx(right[never].mean())


def test_zero_rows_are_counted_and_scores_are_given_without_them(data, splits, found):
    counts, y = data
    empty, result = counts.zero_rows(("v12",)), found["v12"]
    assert 0 < empty.sum() == result.zero_rows
    kept = [split.test[~empty[split.test]] for split in splits]
    scores = [f1_score(y[rows], result.predicted[rows], average="macro") for rows in kept]
    assert result.nonzero["f1_macro"].folds == pytest.approx(scores)
    (note,) = [note for note in found.notes if "all-zero in v12;" in note]
    assert note.startswith(f"{empty.sum()} of 240") and note.endswith(f" is {100 * np.mean(scores):.1f} %.")
    assert (found["v1v2"].zero_rows, found["v1v2"].nonzero) == (0, {})
    # Every row of one fold is all-zero, and of ratings both correlations are given.
    where = np.where(empty, "empty", [f"g{i % 3}" for i in range(len(y))]).tolist()
    ratings = y + np.linspace(0, 1, len(y))
    how = {"kind": "rating", "baselines": False, "groups": where}
    rated = cross_validate(counts, ratings, group_splits(where), ("v12",), **how)
    rest, predicted = rated["v12"].nonzero, rated["v12"].predicted
    expected = spearmanr(predicted[~empty], ratings[~empty]).statistic
    assert rest["spearman_pooled"].mean == pytest.approx(expected)
    inside = [np.array(where) == f"g{k}" for k in range(3)]
    expected = [spearmanr(predicted[own], ratings[own]).statistic for own in inside]
    assert rest["spearman"].mean == pytest.approx(np.mean(expected))
    assert sum(np.isnan(rest["mae"].folds)) == 1 and "ρ pooled is" in " ".join(rated.notes)


@dataclass(frozen=True)
class Plain(Preset):
    """A preset of one's own: counts as they are."""

    name: str = "plain"

    def features(self, learned, rows, condition):
        own = 0.01 * rows.tocsr(condition)
        return Features({"all": own.shape[1]}, rows.w1, rows.w2, rows.words[:, :0], rows.words[:, :0], own)


@pytest.mark.costly
def test_workers_do_not_change_a_digit(data, monkeypatch):
    """Of labels, of ratings, and with a preset of one's own."""
    monkeypatch.setattr("bagpack.evaluate.crossval.FEWEST_ROWS", 0)
    counts, y = data[0][:90], data[1][:90]
    for kind, preset in (("labels", Plain()), ("rating", "modern")):
        answers = y if kind == "labels" else y + np.linspace(0, 1, len(y))
        splits = random_splits(encode_targets(answers, kind=kind), folds=3)
        one = cross_validate(counts, answers, splits, ("v12", "v1v2v12"), preset, kind=kind)
        with settings(n_jobs=2):
            two = cross_validate(counts, answers, splits, ("v12", "v1v2v12"), preset, kind=kind)
        for a, b in zip(one.conditions + one.baselines, two.conditions + two.baselines, strict=True):
            np.testing.assert_array_equal(a.decisions, b.decisions)
        assert one.to_dict() == two.to_dict()
        if kind == "labels":
            X, split = 0.01 * counts.tocsr().toarray(), splits[0]
            svm = SVC(kernel="linear").fit(X[split.train], y[split.train] == 0)
            expected = svm.decision_function(X[split.test])
            np.testing.assert_allclose(two["v1v2v12"].decisions[split.test, 0], expected, atol=1e-6)


@pytest.mark.parametrize("by", ["group", "fold"])
def test_ratings_are_ranked_within_groups_or_where_folds_split_those_within_folds(data, by):
    counts, y = data
    ratings = 1 + 2 * y + np.random.default_rng(1).normal(size=len(y))
    verbs = [f"verb{i % 6}" for i in range(len(y))]
    targets = encode_targets(ratings, kind="rating")
    splits = group_splits(verbs) if by == "group" else random_splits(targets, folds=5)
    found = cross_validate(counts, ratings, splits, ("v12",), kind="rating", groups=verbs)
    assert found.kind == "ratings" and ("each fold" in found.notes[-1]) == (by == "fold")
    predicted, metrics = found["v12"].predicted, found["v12"].metrics
    inside = [spearmanr(predicted[own.test], ratings[own.test]).statistic for own in splits]
    assert metrics["spearman"].folds == pytest.approx(inside)
    assert metrics["spearman"].mean == pytest.approx(np.mean(inside))
    pooled = metrics["spearman_pooled"]
    assert pooled.mean == pytest.approx(spearmanr(predicted, ratings).statistic)
    assert pooled.low < pooled.mean < pooled.high
    assert found["mean"].metrics["mae"].mean > 0
    for metric in ("spearman", "spearman_pooled"):
        assert np.isnan(found["mean"].metrics[metric].mean)  # a constant predictor has no correlation
    json.dumps(found.to_dict(), allow_nan=False)


def test_lexical_split_counts_what_it_drops(data):
    counts, y = data
    splits = lexical_splits(counts.w1, counts.w2, folds=3, seed=2)
    found = cross_validate(counts, y, splits)
    assert found.dropped == sum(split.dropped for split in splits) > 0
    assert 0 < found.tested.sum() < len(y)
    assert np.isnan(found["v12"].decisions[~found.tested]).all()
    assert (found["v12"].predicted[~found.tested] == -1).all()
    assert any(note.startswith(f"{found.dropped} training rows") for note in found.notes)


def test_transductive_sees_the_test_rows(data, splits):
    counts, y = data
    args = (counts, y, splits, CONDITIONS, "paper")
    alone, whole = (cross_validate(*args, transductive=own) for own in (False, True))
    assert whole.settings["transductive"] and not alone.settings["transductive"]
    assert any("transductive" in note for note in whole.notes)
    preset, (train, test) = get_preset("paper"), (splits[0].train, splits[0].test)
    how = {"preset": preset, "learned": preset.learn(counts, "v1v2v12")}
    for name in CONDITIONS:
        model = fit_counts(counts[train], encode_targets(y[train]), name, **how)
        assert whole[name].decisions[test] == pytest.approx(model.decisions(counts[test]), abs=1e-6)
        assert not np.allclose(whole[name].decisions, alone[name].decisions)


def test_what_cannot_be_evaluated_is_said(data):
    counts, y = data
    splits, two = fixed_split(200, 40), group_splits(np.where(y == 0, "b", "a").tolist())
    for problem, message, given in (
        (UsageError, "100 pairs .* 240 ", (counts[:100], y, splits)),
        (UsageError, "split", (counts, y, [])),
        (UsageError, "condition 'v3'", (counts, y, splits, ("v3",))),
        (InputError, "240 pairs.*bagpack check", (without_counts(counts), y, splits)),
        (InputError, "fold a .*label 0", (counts, y, two)),
        (InputError, "row 1 .* 239 more rows", (counts, np.full(240, np.nan), splits)),
    ):
        with pytest.raises(problem, match=message):
            cross_validate(*given, kind="rating" if "239" in message else "labels")


def test_folds_that_do_not_converge_are_reported(monkeypatch, data, splits):
    monkeypatch.setattr("bagpack.learn.solver.MAX_EPOCHS", 1)
    settled = cross_validate(*data, splits, ["v12"], baselines=False)
    assert not any("converge" in note for note in settled.notes)
    monkeypatch.setattr("bagpack.learn.svm.GRAM_ROWS", 0)
    with pytest.warns(ConvergenceWarning, match="5 of 5 folds"):
        found = cross_validate(*data, splits, ["v12"], baselines=False)
    assert any("5 of 5 folds" in note for note in found.notes)


def test_folds_run_one_by_one_where_memory_does_not_suffice_for_two(monkeypatch, data, splits):
    asked = []

    def recorded(value, tasks):
        asked.append(jobs())
        return share(value, tasks)

    monkeypatch.setattr("bagpack.evaluate.crossval.share", recorded)
    monkeypatch.setattr("bagpack.evaluate.crossval.FEWEST_ROWS", 0)
    monkeypatch.setattr("bagpack.evaluate.crossval.MEMORY", 1)
    with settings(n_jobs=2):
        cross_validate(*data, splits, ["v12"], baselines=False)
    assert asked == [1]


# The result as JSON ---------------------------------------------------------------------------------------------------


def test_the_documentation_has_every_key():
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    part = page.partition("## The result as JSON")[2].partition("\n## ")[0]
    named = {*re.findall(r"`(\w+)`", part), "tested_rows"}
    kinds = [kind for kind in vars(result).values() if is_dataclass(kind)]
    shown = {one.name for kind in kinds for one in fields(kind) if one.metadata.get("json", True)}
    assert shown - named == set()
