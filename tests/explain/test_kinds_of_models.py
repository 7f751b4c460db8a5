"""Ratings, two labels, sets of labels: explanations and judgements for every kind of model."""

import json
import random
from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from bagpack import Corpus, PairVectorizer, RelationClassifier
from bagpack.app.state import open_library
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions
from bagpack.experiments.training import train_file
from bagpack.explain import explain_pair, sketch_pair
from bagpack.explain.judge import judge
from bagpack.sources import open_source
from bagpack.tasks import read_dataset, read_pairs
from tests.app.conftest import in_process
from tests.conftest import run_apart
from tests.experiments.conftest import made_up_pairs, made_up_text

KINDS = ["rating", "binary", "sets", "modern"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("kinds")
    rows = []
    for line in made_up_text():
        rows += ["<s>", *(f"{word}\tX\t{word}" for word in line.split()), "</s>"]
    (place / "c.vert").write_text("\n".join([*rows, ""]))
    index_corpus([str(place / "c.vert")], place / "c.bp", part_bytes=8000)
    chance = random.Random(3)
    pairs = made_up_pairs()
    tables = {
        "rating": "score\n"
        + "".join(f"{a}\t{b}\t{6 if c == 'kind' else chance.random():.2f}\n" for a, b, c in pairs),
        "binary": "label\n" + "".join(f"{a}\t{b}\t{'yes' if c == 'kind' else 'no'}\n" for a, b, c in pairs),
        "sets": "label\n" + "".join(f"{a}\t{b}\t{c}\n{a}\t{b}\tthing\n" for a, b, c in pairs),
        "modern": "label\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in pairs),
    }
    for name, table in tables.items():
        (place / f"{name}.tsv").write_text("w1\tw2\t" + table)
    return place


@pytest.fixture(scope="module", params=KINDS)
def trained(folder, request):
    name = request.param
    options = EvaluateOptions(preset="modern" if name == "modern" else "paper", label_sets=name == "sets")
    model, _ = train_file(
        str(folder / "c.bp"), str(folder / f"{name}.tsv"), str(folder / f"{name}.model"),
        CountOptions(40, None, CountSettings()), options, evaluate=False,
    )  # fmt: skip
    return name, model, model.open_source()


def test_an_explanation_is_the_models_own_sum(trained):
    name, model, source = trained
    pair = ("kinda03", "kindb03")
    found = explain_pair(model, source, *pair, top=10_000, lines=0)
    counts = model.count([pair], source)
    for label in [None] if name == "rating" else model.classes:
        own = model.contributions(counts, 0, label)
        mine = found["rating" if label is None else str(label)]
        assert mine.value == pytest.approx(own.decision, abs=1e-9) and mine.bias == own.intercept
        listed = {feature.name: feature.value for feature in mine.features}
        expected = {f: v for f, v in zip(own.features, own.values.tolist(), strict=True) if v}
        assert {name: value for name, value in listed.items() if value} == pytest.approx(expected)
        if name == "sets":  # each label is decided by itself
            assert all(r.decides == ((mine.value - r.value > 0) != (mine.value > 0)) for r in mine.reasons)
        if name == "rating":
            half = sum(abs(reason.value) for reason in mine.reasons) / 2
            assert all(reason.decides == (abs(reason.value) > half) for reason in mine.reasons)
    assert sketch_pair(source, *pair, model=model).explanation["answer"] == found.answer


def test_a_model_of_an_estimator_explains_itself(folder):
    corpus = Corpus.open(folder / "c.bp")
    pairs = [(a, b) for a, b, _ in made_up_pairs()]
    classifier = RelationClassifier(PairVectorizer(corpus, b=20)).fit(pairs, [c for *_, c in made_up_pairs()])
    label = classifier.predict(pairs[:1])[0]
    found = explain_pair(classifier.model_, open_source(folder / "c.bp"), *pairs[0])
    assert found.answer == label == classifier.explain(pairs[0]).label
    assert classifier.explain(pairs[0], label).decision == pytest.approx(found[label].value, abs=1e-9)


def test_a_judgement_agrees_with_the_predictions(trained, folder):
    name, model, source = trained
    data = read_dataset(folder / f"{name}.tsv")
    matrix = model.count(data.pairs, source)
    found = judge(model, matrix, data)
    answers = model.predict(matrix)
    if name == "rating":
        gaps = np.abs(np.asarray(answers, float) - data.scores)
        assert found.scores["mae"] == pytest.approx(gaps.mean(), abs=1e-5)
        assert found.errors[0] == int(gaps.argmax()) and 0 < found.scores["spearman"] <= 1
    else:
        given: dict = {}
        for pair, label in zip(data.pairs, data.labels, strict=True):
            given.setdefault(pair, set()).add(label)
        rows = range(0, len(data), 2 if name == "sets" else 1)  # a pair has two rows in "sets"
        chosen = [{str(label) for label in answers[i]} if name == "sets" else {str(answers[i])} for i in rows]
        check_label_scores(found, [given[data.pairs[i]] for i in rows], chosen)
        assert sorted(found.errors) == [
            i for i, answer in zip(rows, chosen, strict=True) if answer != given[data.pairs[i]]
        ]
    bare = judge(model, matrix.select(range(5)), read_pairs(folder / f"{name}.tsv"))
    assert bare.kind == "pairs" and len(bare.rows) == 5 and not bare.errors
    json.dumps(asdict(found))


def check_label_scores(found, given, chosen):
    """Compare with scikit-learn's numbers for label sets."""
    binarizer = MultiLabelBinarizer().fit([*given, *chosen])
    truth, predicted = binarizer.transform(given), binarizer.transform(chosen)
    assert found.scores["accuracy"] == pytest.approx(accuracy_score(truth, predicted), abs=1e-5)
    for k, label in enumerate(binarizer.classes_):
        score = found.per_label[label]
        assert score["rows"] == truth[:, k].sum() and score["predicted"] == predicted[:, k].sum()
        assert score["precision"] == pytest.approx(
            precision_score(truth[:, k], predicted[:, k], zero_division=0), abs=1e-5
        )
        assert score["recall"] == pytest.approx(
            recall_score(truth[:, k], predicted[:, k], zero_division=0), abs=1e-5
        )


def test_precision_and_recall_of_wrong_labels(trained, folder):
    """Half of the labels of a data set are changed, so that precision and recall differ."""
    name, model, source = trained
    if name == "rating":
        return
    data = read_dataset(folder / f"{name}.tsv")
    labels = [data.labels[0] if i % 3 == 0 else label for i, label in enumerate(data.labels)]
    changed = replace(data, labels=labels)
    matrix = model.count(data.pairs, source)
    found = judge(model, matrix, changed)
    scores = model.label_scores(matrix)
    for row in found.rows:
        if row.right is False:  # how much the best label is above the worst of those that the pair has
            own = [list(map(str, model.classes)).index(label) for label in row.given.split(", ")]
            assert row.gap == pytest.approx(scores[row.row].max() - scores[row.row, own].min(), abs=1e-5)
    given: dict = {}
    for pair, label in zip(changed.pairs, labels, strict=True):
        given.setdefault(pair, set()).add(label)
    rows = dict(zip(reversed(data.pairs), reversed(found.rows), strict=True)) if name == "sets" else None
    judged = found.rows if rows is None else sorted(rows.values(), key=lambda row: row.row)
    check_label_scores(
        found,
        [given[row.w1, row.w2] if name == "sets" else {row.given} for row in judged],
        [set(row.predicted.split(", ")) - {""} for row in judged],
    )
    assert any(score["precision"] != score["recall"] for score in found.per_label.values())


def test_pages_of_every_kind(trained, folder):
    name, _, _ = trained
    library = open_library(str(folder / "c.bp"), str(folder / f"{name}.model"), [str(folder / f"{name}.tsv")])
    key = next(iter(library.data))
    paths = ["/", "/model", "/model.json", "/pair/kinda03/kindb03", f"/dataset/{key}", f"/dataset/{key}.json",
             "/compare?a1=kinda01&a2=kindb01&b1=parta01&b2=partb01"]  # fmt: skip
    if name == "modern":  # products of v1 and v2 are features too, and open the lines of both words
        paths.append("/lines.json?w1=kinda03&w2=kindb03&feature=v1·v2:pre:a")
    if name == "rating":
        paths.append(f"/dataset/{key}/error")

    async def scene():
        async with in_process(library) as client:
            return [(await client.get(path)).status_code for path in paths]

    assert run_apart(scene()) == [200] * len(paths)


def test_sketch_command_with_a_model(cli, trained, folder):
    name, _, _ = trained
    shown = cli("sketch", folder / "c.bp", "kinda03", "kindb03", "--model", folder / f"{name}.model")
    assert shown.code == 0 and "…" in shown.out
    data = json.loads(
        cli(
            "sketch", folder / "c.bp", "kinda03", "kindb03", "--model", folder / f"{name}.model", "--json"
        ).out
    )
    assert data["explanation"]["decisions"]
    assert cli("sketch", folder / "c.bp", "kinda03", "--model", folder / f"{name}.model").code == 2
