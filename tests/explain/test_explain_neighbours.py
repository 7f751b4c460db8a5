"""What a pair borrows from similar pairs is explained as such: exact sums, and lines that name their pair."""

import shutil

import pytest

from bagpack.beside.neighbours import borrow
from bagpack.beside.recounting import count_for
from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file
from bagpack.experiments.training import model_source, predict_pairs
from bagpack.explain import explain_pair
from bagpack.explain.judge import judge
from bagpack.learn import Beside, RelationClassifier, load_model
from bagpack.tasks import read_dataset
from bagpack.vectors.matrix import PairMatrix
from tests.experiments.conftest import made_up_pairs, relations, store  # noqa: F401 (fixtures)
from tests.explain.models import COUNTING, train

PRESET = "modern:neighbours=4"


@pytest.fixture
def trained(store, relations, tmp_path):  # noqa: F811
    return train(store, relations, tmp_path / "m.model", PRESET)


def test_decisions_are_sums_and_borrowed_lines_name_their_pair(trained):
    model = load_model(trained)
    source = model_source(model, None)
    pair = ("kinda03", "kindb07")  # never together
    found = explain_pair(model, source, *pair, top=100_000, lines=3)
    matrix = count_for(model, source, [pair])
    assert matrix.seen[0] == 0
    alternates = borrow(source, matrix, 4).alternates(0)
    assert alternates and all(alternate.seen > 0 for alternate in alternates)
    assert found.notes[-1].startswith(f"contexts are borrowed from {len(alternates)} similar pairs: ")
    names = {str(alternate) for alternate in alternates}
    scores = dict(
        zip(model.classes, model.label_scores(matrix.counts(beside=model.beside))[0].tolist(), strict=True)
    )
    for decision in found.decisions:
        assert decision.value == pytest.approx(scores[decision.label], abs=1e-12)
        for parts in (decision.blocks, decision.segments):
            assert decision.bias + sum(parts.values()) == pytest.approx(decision.value, abs=1e-12)
        assert decision.blocks["v12~"] != 0
    lent = [feature for feature in found.decisions[0].features if feature.name.startswith("v12~:")]
    assert lent
    counted = PairMatrix.count(
        source, [(str(a.w1), str(a.w2)) for a in alternates], matrix.basis, matrix.settings
    )
    columns = {name: i for i, name in enumerate(matrix.feature_names("v12"))}
    table = counted.block("v12").toarray()
    for feature in lent:
        column = table[:, columns[feature.name.replace("v12~", "v12")]]
        assert feature.lines.total == feature.lines.count == column.sum() > 0
        assert len(feature.lines.lines) == len(feature.lines.origins) == min(3, feature.lines.total)
        assert set(feature.lines.origins) <= names
        given = [a.cosine * n for a, n in zip(alternates, column, strict=True)]
        assert feature.lines.origins[0] == str(alternates[given.index(max(given))])
        assert feature.count == -(-sum(given) // 1)
    told = lent[0].to_dict(*pair)
    assert told["words"].endswith(", borrowed from similar pairs")
    assert told["lines"][0]["borrowed_from"] in names
    assert f"borrowed from {told['lines'][0]['borrowed_from']}" in found.to_html()


def test_saved_models_predict_as_they_were_evaluated(trained, store, relations, tmp_path):  # noqa: F811
    pairs = [pair[:2] for pair in made_up_pairs()]
    model, matrix, answers, scores = predict_pairs(str(trained), pairs)
    assert model.beside == Beside(neighbours=4)
    data = read_dataset(str(relations))
    assert [row.predicted for row in judge(model, matrix, data).rows] == list(answers)
    kept = tmp_path / "pairs.bpm"
    matrix.save(kept)
    again = predict_pairs(str(trained), pairs, store=str(kept))
    assert again[3] == pytest.approx(scores, abs=0)
    classifier = RelationClassifier(PairMatrix.open(kept), preset=PRESET).fit(pairs, data.labels)
    assert list(classifier.predict(pairs)) == list(answers)
    result = evaluate_file(str(store), str(relations), None, COUNTING, EvaluateOptions(PRESET, folds=3))
    assert result["settings"]["preset"] == PRESET


def test_on_the_terminal(cli, trained):
    done = cli("explain", trained, "kinda03", "kindb07", "--top", 40, "--lines", 1)
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "first, borrowed from similar pairs; " in text
    assert "[all, borrowed from " in text


def test_a_matrix_whose_store_is_gone_is_told(cli, store, relations, tmp_path):  # noqa: F811
    copy = tmp_path / "copy.bp"
    shutil.copytree(store, copy)
    kept = tmp_path / "pairs.bpm"
    assert cli("vectors", copy, relations, "-b", 40, "--out", kept).code == 0
    there = cli("evaluate", kept, relations, "--folds", 3, "--preset", PRESET)
    assert there.code == 0, there.err
    shutil.rmtree(copy)
    done = cli("evaluate", kept, relations, "--folds", 3, "--preset", PRESET)
    assert done.code != 0
    assert "copy.bp is not found (nor beside the matrix)" in " ".join(done.err.split())
