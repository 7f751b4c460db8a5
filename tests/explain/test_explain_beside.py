"""Content words and whole stretches are explained as everything else is: exact sums, lines, words."""

import json

import pytest

from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError
from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file
from bagpack.experiments.training import model_source, predict_pairs
from bagpack.explain import explain_pair
from bagpack.explain.judge import judge
from bagpack.learn import RelationClassifier, load_model
from bagpack.tasks import read_dataset
from bagpack.vectors.matrix import PairMatrix
from tests.experiments.conftest import made_up_pairs, relations, store  # noqa: F401 (fixtures)
from tests.explain.models import COUNTING, train

PRESET = "modern:content=20,whole=15"


@pytest.fixture
def trained(store, relations, tmp_path):  # noqa: F811
    return train(store, relations, tmp_path / "m.model", PRESET)


def test_sums_are_exact_and_every_line_holds_what_its_feature_says(trained):
    model = load_model(trained)
    assert len(model.beside.content) == 20 and 0 < len(model.beside.whole) <= 15
    w1, w2, _ = made_up_pairs()[3]
    source = model_source(model, None)
    found = explain_pair(model, source, w1, w2, top=100_000, lines=10_000)
    matrix = PairMatrix.count(source, [(w1, w2)], source.pick_basis(40), CountSettings())
    scores = dict(
        zip(model.classes, model.label_scores(matrix.counts(beside=model.beside))[0].tolist(), strict=True)
    )
    for decision in found.decisions:
        assert decision.value == pytest.approx(scores[decision.label], abs=1e-12)
        assert decision.bias + sum(decision.blocks.values()) == pytest.approx(decision.value, abs=1e-12)
    parts = {feature.name: feature for feature in found.decisions[0].features}
    whole = {name: part for name, part in parts.items() if name.startswith("whole:")}
    wide = {name: part for name, part in parts.items() if name.startswith("wide")}
    assert whole and {name[:5] for name in wide} == {"wide1", "wide2"}
    for name, part in {**whole, **wide}.items():
        assert part.lines.total == part.lines.count == part.count == len(part.lines.lines) > 0, name
    for name, part in whole.items():
        _, order, stretch = name.split(":", 2)
        for line in part.lines.lines:
            assert line.order == order and line.pieces[3].casefold().split() == stretch.split()
    for name, part in wide.items():
        place = 1 if ":pre:" in name else 5
        term = name.split(":", 2)[2]
        assert all(term in line.pieces[place].casefold().split() for line in part.lines.lines), name
    told = next(iter(whole.values())).to_dict(w1, w2)
    assert "all that stands between" in told["place"]
    assert "all that stands between" in found.to_html()


def test_saved_models_predict_as_they_were_evaluated(trained, store, relations, tmp_path):  # noqa: F811
    pairs = [pair[:2] for pair in made_up_pairs()]
    model, matrix, answers, scores = predict_pairs(str(trained), pairs)
    few = predict_pairs(
        str(trained), pairs[:3]
    )  # over the model's stretches, not over those that three pairs share
    assert few[3] == pytest.approx(scores[:3], abs=1e-9)
    data = read_dataset(str(relations))
    assert [row.predicted for row in judge(model, matrix, data).rows] == list(answers)
    kept = tmp_path / "pairs.bpm"
    matrix.save(kept)
    classifier = RelationClassifier(PairMatrix.open(kept), preset=PRESET).fit(pairs, data.labels)
    assert list(classifier.predict(pairs)) == list(answers)
    assert list(classifier.predict(pairs[:3])) == list(answers[:3])
    again = classifier.fit(pairs[:40], data.labels[:40])  # what it knew before does not matter
    assert len(again.model_.beside.whole) <= 15
    more = RelationClassifier(PairMatrix.open(kept), preset=PRESET, transductive=True)
    more.fit(pairs[:40], data.labels[:40], unlabelled=pairs[40:])
    assert len(more.predict(pairs[40:])) == len(pairs) - 40
    result = evaluate_file(str(store), str(relations), None, COUNTING, EvaluateOptions(PRESET, folds=3))
    assert result["settings"]["preset"] == PRESET


def test_a_model_whose_terms_are_gone_or_made_up_is_told(trained):
    (trained / "terms.whole.json").unlink()
    with pytest.raises(StoreError, match=r"lacks terms\.whole\.json"):
        load_model(trained)
    document = json.loads((trained / "model.json").read_text(encoding="utf-8"))
    document["vocabularies"] = ["../../secrets"]
    (trained / "model.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(
        StoreError, match=r"terms called '\.\./\.\./secrets', which this version does not know"
    ):
        load_model(trained)


def test_on_the_terminal(cli, trained):
    w1, w2, _ = made_up_pairs()[3]
    done = cli("explain", trained, w1, w2, "--top", 200, "--lines", 1)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "all that stands between" in said and "in a wider window" in said


def test_where_no_stretch_is_shared_and_no_content_word_there_is_nothing_to_add(cli, write, tmp_path):
    said = "\n".join(f"The cat{i} sees{i} the dog{i} near home ." for i in range(12))
    text = write("t.txt", said + "\n")
    forms = ("--annotator", "none", "--level", "form")
    assert cli("index", text, "--out", tmp_path / "s.bp", *forms).code == 0
    rows = "".join(f"cat{i}\tdog{i}\t{'even' if i % 2 == 0 else 'odd'}\n" for i in range(12))
    data = write("r.tsv", "w1\tw2\tlabel\n" + rows)
    out = tmp_path / "m.model"
    preset = "modern:whole=5,content=3"
    done = cli("train", tmp_path / "s.bp", data, "--preset", preset, "-b", 20, "--folds", 2, "--out", out)
    assert done.code == 0, done.err
    assert load_model(out).beside.whole == ()
    assert cli("predict", out, data).out.count("\n") == 13
    assert cli("explain", out, "cat1", "dog1").code == 0
