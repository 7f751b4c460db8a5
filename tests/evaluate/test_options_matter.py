"""Options reach the numbers: what evaluate and train are given changes what they find; defaults are as documented."""

import json

import pytest

import bagpack
from bagpack.contexts.windows import CountSettings
from bagpack.evaluate import EvaluateOptions


def decisions(cli, *args):
    done = cli(*args, "--json", "-j", 1)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize(
    ("options", "setting"),
    [
        (("-C", "0.001"), ("C", 0.001)),
        (("--preset", "paper"), ("preset", "paper")),
    ],
)
def test_evaluate_uses_what_it_is_given(cli, store, relations, tmp_path, options, setting):
    base = ("evaluate", store, relations, "-b", 40, "--folds", 3, "--condition", "v1v2v12")
    preset = () if "--preset" in options else ("--preset", "paper")
    plain_preset = ("--preset", "modern") if "--preset" in options else preset
    cli(*base, *plain_preset, "-j", 1, "--predictions", tmp_path / "plain.tsv")
    result = decisions(cli, *base, *preset, *options, "--predictions", tmp_path / "other.tsv")
    assert result["settings"][setting[0]] == setting[1]
    plain, other = ((tmp_path / f"{name}.tsv").read_text() for name in ("plain", "other"))
    assert plain != other


def test_cost_reaches_the_trained_model(cli, store, relations, tmp_path):
    sizes = []
    for C in ("0.001", "10"):
        out = tmp_path / f"{C}.model"
        done = cli("train", store, relations, "-b", 40, "-C", C, "--no-scores", "--out", out, "-j", 1)
        assert done.code == 0, done.err
        model = bagpack.load(out)
        assert model.settings["C"] == float(C) and model.preset.name == "modern"
        sizes.append(float((model.weight_matrix() ** 2).sum()))
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("value", ["inf", "1e300", "nan", "0", "-1"])
def test_costs_with_which_nothing_ends_are_refused(cli, store, relations, value):
    done = cli("evaluate", store, relations, "-b", 40, "-C", value, "-j", 1)
    assert done.code == 2 and "C must be above 0" in done.err


def test_reproduce_relations_takes_the_basis_that_is_asked(cli, store, relations):
    asked = decisions(cli, "reproduce", "relations", store, "--data", relations, "-b", 20)
    assert asked["settings"]["b"] == 20 and asked["settings"]["preset"] == "paper"
    assert asked["settings"]["limit"] == 5000  # of the command line


def test_defaults_are_those_of_the_documentation():
    assert EvaluateOptions().preset == "modern"
    assert CountSettings().limit == 5000
    assert bagpack.RelationClassifier().preset == bagpack.RatingRegressor().preset == "modern"
    assert bagpack.PairVectorizer("c").limit == 5000 and bagpack.PairVectorizer("c").b == 1500


def test_what_is_not_computed_for_many_rows_is_reported(cli, store, relations, monkeypatch):
    base = ("evaluate", store, relations, "-b", 40, "--folds", 3, "--condition", "v12")
    few = decisions(cli, *base)
    assert few["learning_curve"]
    monkeypatch.setattr("bagpack.evaluate.run.MOST_ROWS_FOR_CURVE", 10)
    many = decisions(cli, *base)
    assert "learning_curve" not in many
    (note,) = [note for note in many["notes"] if note not in few["notes"]]
    assert "no learning curve for more than 10 rows" in note


def test_a_label_for_every_pair_is_refused_at_once(cli, store, write):
    rows = "".join(f"w{i}\tv{i}\tlabel{i}\n" for i in range(1500))
    done = cli(
        "train", store, write("many.tsv", "w1\tw2\tlabel\n" + rows), "-b", 20, "--out", "m.model", "-j", 1
    )
    assert done.code != 0 and "1,500 different labels for 1,500 pairs" in done.err
