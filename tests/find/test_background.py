"""Models of several labels for finding: pairs of none of them, drawn from the corpus, and content words alone."""

import json
from functools import partial
from itertools import product

import numpy as np
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.errors import InputError
from bagpack.evaluate.run import CountOptions
from bagpack.evaluate.train import background_answer, shift_of_none
from bagpack.find.negatives import draw_background
from bagpack.find.vocabulary import corpus_vocabulary, is_number_or_letter
from bagpack.learn.model_io import load_model
from bagpack.learn.targets import decode
from bagpack.sources import as_source
from tests.contexts import oracle
from tests.made_up import ROWS, SAYINGS, table, train

from .conftest import SENTENCES

TRAINED = ROWS[::2]
TABLE = table(TRAINED)


def test_background_pairs_are_not_in_the_data(source):
    """They co-occur as negative examples do, which are drawn in the same way."""
    given = [(a, b) for a, b, _ in TRAINED]
    drawn = draw_background(source, given, 60)
    assert 55 <= len(drawn) == len(set(drawn)) <= 60
    assert not {frozenset(pair) for pair in drawn} & {frozenset(pair) for pair in given}
    assert drawn == draw_background(source, [*given, ("unicorn", "horn")], 60)
    assert drawn != draw_background(source, given, 60, seed=1)


def test_the_label_of_background_pairs():
    for given, label in (("part kind", "none"), ("part Random", "Random"), ("part no random", "none")):
        assert background_answer(given.split()) == label


@pytest.fixture(scope="module")
def models(store, tmp_path_factory):
    """Two models of the same pairs: without background pairs, and with up to 80."""
    place = tmp_path_factory.mktemp("models")
    (place / "data.tsv").write_text(table(TRAINED))
    how = {"seed": 4, "counting": CountOptions()}
    plain = train(store, place / "data.tsv", place / "plain.model", **how)
    draw = partial(draw_background, number=80, seed=4)
    return plain, train(store, place / "data.tsv", place / "drawn.model", background=draw, **how)


def test_unrelated_pairs_become_less_probable(models, source):
    """Also those that were not drawn; pairs of the relations stay probable."""
    plain, model = (load_model(path) for path in models)
    assert plain.classes == ("kind", "part", "tool") and model.classes == ("kind", "none", "part", "tool")
    given = {frozenset((a, b)) for a, b, _ in TRAINED}
    words = [word for a, b, _ in ROWS for word in (a, b)]

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

    related = [(a, b) for a, b, _ in ROWS if frozenset((a, b)) not in given]
    assert best(model, unrelated) < 0.6 * best(plain, unrelated)
    assert best(model, related) > 1.5 * best(model, unrelated)


def test_a_model_says_what_was_drawn(models, cli, store):
    plain, path = models
    model = load_model(path)
    drawn = model.manifest["background"]["pairs"]
    assert model.manifest["background"]["seed"] == 4 and 75 <= drawn <= 80
    assert np.asarray(model.trained).size == len(TRAINED)  # drawn pairs can be found
    assert model.settings["rows"] == len(TRAINED) + drawn
    card, turned = (path / "README.md").read_text(), model.manifest["background"]["reversed"]
    assert [part for part in (f"{drawn} co-occurring", f" {turned} of", "(seed 4)") if part not in card] == []
    assert "| background |" not in (plain / "README.md").read_text()
    assert f"pairs {drawn}, reversed {turned}, seed 4" in cli("info", path).out
    # Without background pairs, candidates are ranked with PMI.
    asked = ("--label", "part", "--top", 30, "--json")
    notes = [json.loads(cli("find", store, "--model", own, *asked).out)["notes"] for own in models]
    assert [any("PMI" in note for note in own) for own in notes] == [True, False]


def test_direction_is_learned_from_reversed_background_pairs(models, source, cli, write):
    plain, model = (load_model(path) for path in models)
    assert 15 <= model.manifest["background"]["reversed"] <= 20
    turned = [(b, a) for a, b, _ in TRAINED]
    labels = [label for *_, label in TRAINED]

    def as_trained(own):
        answers = own.predict(own.count(turned, source))
        return np.mean([got == label for got, label in zip(answers, labels, strict=True)])

    assert as_trained(model) < as_trained(plain)
    assert (plain.manifest["direction"], model.manifest["direction"]) == (False, True)
    pairs = write("p.tsv", "w1\tw2\nkinda01\tkindb01\n")
    for own, is_warned in ((plain, True), (model, False)):
        for text in (cli("predict", own.place, pairs).err, (own.place / "README.md").read_text()):
            assert ("--background adds" in text) == is_warned


def test_what_has_no_background(cli, store, write, tmp_path):
    rows = [(*pair, at) for at, (*pair, _) in enumerate(TRAINED[:9])]
    ratings = write("ratings.tsv", table(rows, "w1\tw2\trating"))
    data, out, matrix = write("data.tsv", TABLE), tmp_path / "m.model", tmp_path / "data.bpm"
    assert cli("vectors", store, data, "--out", matrix, "-b", 50).code == 0
    for source, given, number, said in (
        (store, ratings, 20, "ratings"),
        (store, data, -1, "--background -1"), (matrix, data, 20, str(matrix)),
    ):  # fmt: skip
        done = cli("train", source, given, "--out", out, "--no-scores", "--background", number)
        assert done.code in (1, 2) and said in done.err.splitlines()[0]
        assert not out.exists()
    corpus = index_corpus([str(write("a.txt", "Cat .\nDog .\n"))], tmp_path / "a.bp").corpus  # never co-occur
    with pytest.raises(InputError, match="background"):
        draw_background(as_source(corpus), [("cat", "dog")], 10)


@pytest.mark.parametrize(("lang", "kept"), [("en", {"time", "year"}), ("de", set())])
def test_function_words_numbers_and_letters_are_no_candidates(write, tmp_path, lang, kept):
    """Function words of English by a list, so that frequent content words stay; of other languages by frequency."""
    frequent = ["time", "year", "each", "per", "out", "the", "of", "b", "seven", "twenty-five", "19th"]
    rare = ["word" + "".join(own) for own in product("abcdefghijklmnop", repeat=3)][:3100]
    lines = [" ".join([*frequent, word]) for word in rare]
    text = write("a.txt", " .\n".join([*lines, *lines[:200]]))
    index_corpus([str(text)], tmp_path / "a.bp", TextOptions(lang=lang))
    words = {str(target) for target in corpus_vocabulary(Corpus.open(tmp_path / "a.bp"))}
    assert words & set(frequent) == kept and len(words) > 2800


def test_what_is_a_number_or_a_letter():
    words = ["c", "C.", "μ", "Seven", "twenty-five", "1990s", "大", "ox", "two-year", "often", "co2"]
    assert list(filter(is_number_or_letter, words)) == words[:6]


@pytest.mark.parametrize("none", [0, 1, 2])
@pytest.mark.parametrize("labels", [2, 4])
def test_reversed_background_pairs_cost_no_label(labels, none):
    """As many rows with a label get `none` as with other background pairs in place of the reversed ones."""
    none = min(none, labels - 1)
    chance = np.random.default_rng(3)
    codes = chance.integers(labels, size=200)
    alone = chance.normal(size=(260, 1 if labels == 2 else labels))  # rows, and some background pairs
    raised = np.zeros(alone.shape[1])
    raised[0 if labels == 2 else none] = -0.8 if labels == 2 and none == 0 else 0.8
    with_reversed = alone + raised + chance.normal(scale=0.1, size=alone.shape)

    def lost(decisions):
        answers = decode("binary" if labels == 2 else "multiclass", decisions[:200])
        return int((answers[codes != none] == none).sum())

    assert lost(with_reversed) > lost(alone) + 10
    shift = shift_of_none(with_reversed, alone, codes, none)
    assert lost(with_reversed + shift) == lost(alone)
    assert not shift_of_none(alone, with_reversed, codes, none).any(), "none is never raised"
