"""Ratings, two labels, sets of labels: explanations for every kind of model."""

import random

import pytest

from bagpack import Corpus, PairVectorizer, RelationClassifier
from bagpack.corpus.build.index import index_corpus
from bagpack.evaluate import CountOptions, TrainOptions, train_file
from bagpack.explain import explain_pair
from bagpack.sources import open_source
from tests.app.conftest import in_process
from tests.conftest import run_apart
from tests.evaluate.conftest import made_up_pairs, made_up_text
from tests.explain.explain_oracle import contributions

KINDS = ["rating", "binary", "modern"]


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
        "modern": "label\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in pairs),
    }
    for name, table in tables.items():
        (place / f"{name}.tsv").write_text("w1\tw2\t" + table)
    return place


@pytest.fixture(scope="module", params=KINDS)
def trained(folder, request):
    name = request.param
    preset = "modern" if name == "modern" else "paper"
    options = TrainOptions(preset=preset, scores=False, counting=CountOptions(40))
    places = (str(folder / place) for place in ("c.bp", f"{name}.tsv", f"{name}.model"))
    model, _ = train_file(*places, options)
    return name, model, model.open_source()


def test_an_explanation_is_the_models_own_sum(trained):
    name, model, source = trained
    pair = ("kinda03", "kindb03")
    found = explain_pair(model, source, *pair, top=10_000, lines=0)
    counts = model.count([pair], source)
    for label in [None] if name == "rating" else model.classes:
        expected, bias = contributions(model, counts, label)
        mine = found["rating" if label is None else str(label)]
        assert mine.value == pytest.approx(bias + sum(expected.values()), abs=1e-9) and mine.bias == bias
        listed = {feature.name: feature.value for feature in mine.features}
        assert {name: value for name, value in listed.items() if value} == pytest.approx(expected)


def test_a_model_of_an_estimator_explains_itself(folder):
    corpus = Corpus.open(folder / "c.bp")
    pairs = [(a, b) for a, b, _ in made_up_pairs()]
    classifier = RelationClassifier(PairVectorizer(corpus, b=20)).fit(pairs, [c for *_, c in made_up_pairs()])
    label = classifier.predict(pairs[:1])[0]
    found = explain_pair(classifier.model_, open_source(folder / "c.bp"), *pairs[0])
    scores = dict(zip(classifier.classes_, classifier.decision_function(pairs[:1])[0], strict=True))
    assert found.answer == label and found[label].value == pytest.approx(scores[label], abs=1e-9)


def test_pages_of_every_kind(trained, folder):
    name, _, _ = trained
    paths = ["/", "/model", "/model.json", "/pair/kinda03/kindb03"]
    if name == "modern":  # products of v1 and v2 are features too, and open the lines of both words
        paths.append("/lines.json?w1=kinda03&w2=kindb03&feature=v1·v2:pre:a")

    async def scene():
        async with in_process(folder / "c.bp", folder / f"{name}.model") as client:
            return [(await client.get(path)).status_code for path in paths]

    assert run_apart(scene()) == [200] * len(paths)
