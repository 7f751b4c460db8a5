"""Models of several labels for finding: pairs of none of them, drawn from the corpus, and content words alone."""

import json

import numpy as np
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError
from bagpack.find.background import background_answer, draw_background
from bagpack.find.ranking import find_pairs
from bagpack.find.vocabulary import corpus_vocabulary, is_number_or_letter
from bagpack.learn import load_model
from bagpack.sources import as_source

from ..contexts import oracle
from .conftest import PER_LABEL, SAYINGS, SENTENCES

PAIRS = [(f"{label}a{i:02d}", f"{label}b{i % 12:02d}", label) for label in SAYINGS for i in range(PER_LABEL)]
TRAINED = PAIRS[::2]
TABLE = "w1\tw2\tlabel\n" + "".join(f"{a}\t{b}\t{label}\n" for a, b, label in TRAINED)


def test_background_pairs_co_occur_and_are_not_in_the_data(source):
    given = [(a, b) for a, b, _ in TRAINED]
    drawn = draw_background(source, given, 60)
    assert len(drawn) == 60
    assert not {frozenset(pair) for pair in drawn} & {frozenset(pair) for pair in given}
    for one, two in drawn:
        assert list(oracle.pair_contexts(SENTENCES, (one,), (two,)))
    assert drawn == draw_background(source, [*given, ("unicorn", "horn")], 60, n_jobs=2)
    assert drawn != draw_background(source, given, 60, seed=1)


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        (["part", "kind"], "none"),
        (["part", "Random"], "Random"),
        (["part", "no", "random"], "none"),
        ([frozenset({"part"})], frozenset()),
    ],
)
def test_the_label_of_background_pairs(answers, label):
    assert background_answer(answers) == label


@pytest.fixture(scope="module")
def models(store, tmp_path_factory):
    from bagpack.experiments.counting import CountOptions
    from bagpack.experiments.evaluation import EvaluateOptions
    from bagpack.experiments.training import train_file

    place = tmp_path_factory.mktemp("models")
    data = place / "data.tsv"
    data.write_text(TABLE)
    for drawn in (0, 80):
        train_file(
            str(store), str(data), str(place / f"{drawn}.model"), CountOptions(n_jobs=1), EvaluateOptions(seed=4),
            evaluate=False, background=drawn,
        )  # fmt: skip
    return {drawn: place / f"{drawn}.model" for drawn in (0, 80)}


def test_unrelated_pairs_become_less_probable(models, source):
    """Also those that were not drawn; pairs of the relations stay probable."""
    plain, model = (load_model(path) for path in models.values())
    assert plain.classes == ("kind", "part", "tool") and model.classes == ("kind", "none", "part", "tool")
    given = {frozenset((a, b)) for a, b, _ in TRAINED}
    words = [word for a, b, _ in PAIRS for word in (a, b)]

    def co_occur(one, two):
        both = [sentence for sentence in SENTENCES if one in sentence and two in sentence]
        return bool(list(oracle.pair_contexts(both, (one,), (two,))))

    unrelated = [
        (one, two) for one in words[::3] for two in words[1::5] if one[:4] != two[:4] and co_occur(one, two)
    ]
    assert len(unrelated) > 20

    def best(own, pairs):
        labels = [own.classes.index(label) for label in SAYINGS]
        return own.predict_proba(own.count(pairs, source))[:, labels].max(axis=1).mean()

    related = [(a, b) for a, b, _ in PAIRS if frozenset((a, b)) not in given]
    assert best(model, unrelated) < 0.6 * best(plain, unrelated)
    assert best(model, related) > 1.5 * best(model, unrelated)


def test_a_model_says_what_was_drawn(models, cli):
    plain, path = models.values()
    model = load_model(path)
    drawn = model.manifest["background"]["pairs"]
    assert model.manifest["background"]["seed"] == 4 and 75 <= drawn <= 80
    assert np.asarray(model.trained).size == len(TRAINED)  # drawn pairs can be found
    assert model.settings["rows"] == len(TRAINED) + drawn
    card = (path / "README.md").read_text()
    assert f"{drawn} co-occurring pairs of the corpus (seed 4); scores are without them" in card
    assert "| background |" not in (plain / "README.md").read_text()
    assert f"pairs {drawn}, seed 4" in cli("info", path).out


def test_what_probabilities_refer_to_is_said(models, cli, store):
    plain, path = models.values()
    done = cli("find", store, "--model", path, "--label", "part", "--top", 30, "--json")
    drawn = load_model(path).manifest["background"]["pairs"]
    said = f"probabilities refer to its training pairs and {drawn} pairs drawn from the corpus"
    assert said in json.loads(done.out)["notes"]
    probabilities = [pair["probability"] for pair in json.loads(done.out)["pairs"]]
    assert probabilities == sorted(probabilities, reverse=True)
    done = cli("find", store, "--model", plain, "--label", "part", "--top", 3)
    assert "its training pairs alone" in done.err and "bagpack train --background" in done.err


def test_the_first_ranking_of_a_fixed_word_is_that_of_the_result(models, source, monkeypatch):
    """Without background pairs by odds and PMI, if all observations are counted at first."""
    monkeypatch.setattr("bagpack.find.pool.FIRST", 10**6)
    plain = load_model(models[0])
    options = {"w2": "partb03", "per_word": None, "sentences": False, "mark_known": True}
    every, few = (
        find_pairs(source, plain, "part", scored=number, top=number, **options) for number in (10**6, 5)
    )
    assert few.rows == every.rows[:5]
    assert {*few.rows} != {*sorted(every.rows, key=lambda row: -row.probability)[:5]}


def test_what_has_no_background(cli, store, write, tmp_path):
    rows = "".join(f"{a}\t{b}\t{at}\n" for at, (a, b, _) in enumerate(TRAINED[:9]))
    ratings = write("ratings.tsv", "w1\tw2\trating\n" + rows)
    out = tmp_path / "m.model"
    for data, source, number, said in (
        (ratings, store, 20, "--background is for labels, and this data set holds ratings"),
        (write("data.tsv", TABLE), store, -1, "--background must be at least 0, not -1"),
    ):
        done = cli("train", source, data, "--out", out, "--no-scores", "--background", number)
        assert done.code in (1, 2) and said in done.err and done.err.strip().count("\n") == 0
        assert not out.exists()
    matrix = tmp_path / "data.bpm"
    assert cli("vectors", store, write("data.tsv", TABLE), "--out", matrix, "-b", 50).code == 0
    done = cli("train", matrix, write("data.tsv", TABLE), "--out", out, "--background", 20)
    assert done.code == 2 and "is a matrix; name the store instead" in done.err


def test_sets_of_labels(store, cli, write, tmp_path):
    """Background pairs have none of the labels."""
    out = tmp_path / "sets.model"
    done = cli(
        "train",
        store,
        write("data.tsv", TABLE),
        "--out",
        out,
        "--no-scores",
        "--label-sets",
        "--background",
        50,
    )
    assert done.code == 0, done.err
    model = load_model(out)
    assert model.kind == "multilabel" and model.classes == ("kind", "part", "tool")
    assert model.manifest["background"]["pairs"] == 50


def test_a_corpus_of_words_that_never_co_occur(tmp_path):
    (tmp_path / "a.txt").write_text("Cat .\nDog .\n")
    index_corpus([str(tmp_path / "a.txt")], tmp_path / "a.bp")
    with pytest.raises(InputError, match="no background pair could be drawn"):
        draw_background(as_source(Corpus.open(tmp_path / "a.bp")), [("cat", "dog")], 10)


@pytest.mark.parametrize(("lang", "kept"), [("en", {"time", "year"}), ("de", set())])
def test_function_words_numbers_and_letters_are_no_candidates(tmp_path, lang, kept):
    """Function words of English by a list, so that frequent content words stay; of other languages by frequency."""
    from bagpack.corpus.options import TextOptions

    frequent = "time year each per out the of b seven twenty-five 19th".split()  # noqa: SIM905
    lines = [
        " ".join([*frequent, f"word{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}x"])
        for n in range(3100)
    ]
    (tmp_path / "a.txt").write_text(" .\n".join([*lines, *lines[:200]]))
    index_corpus([str(tmp_path / "a.txt")], tmp_path / "a.bp", TextOptions(lang=lang))
    words = {str(target) for target in corpus_vocabulary(as_source(Corpus.open(tmp_path / "a.bp"))).targets}
    assert words & set(frequent) == kept and len(words) > 2800


@pytest.mark.parametrize(
    ("word", "excluded"),
    [("c", True), ("C.", True), ("μ", True), ("Seven", True), ("twenty-five", True), ("1990s", True),
     ("大", False), ("ox", False), ("two-year", False), ("often", False), ("co2", False)],
)  # fmt: skip
def test_what_is_a_number_or_a_letter(word, excluded):
    assert is_number_or_letter(word) == excluded
