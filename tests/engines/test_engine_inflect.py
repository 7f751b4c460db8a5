"""Inflected forms of targets."""

import pytest

from bagpack.engines.inflect import Inflector, read_forms
from bagpack.engines.queries import target_forms
from bagpack.errors import BagpackError, UsageError

FORMS = {
    "cat": "cat cats catting catted",
    "lion": "lion lions",
    "mouse": "mouse mice",
    "run": "run runs running ran",
    "good": "good goods better best",
    "be": "be is am are being was were been",
    "can": "can could cans canning canned",
    "Cat": "cat cats catting catted",
    "bookshelf": "bookshelf bookshelves",
    "x-ray": "x-ray x-rays",
    "smartphone": "smartphone smartphones",
    "glitch-free": "glitch-free glitch-frees",
    "bix": "bix bixes",
    "wonky-donky": "wonky-donky wonky-donkies",
    "1990": "1990",
    "don't": "don't",
    "?": "?",
}


@pytest.mark.parametrize("word", FORMS)
def test_forms(word):
    assert " ".join(Inflector().forms(word)) == FORMS[word]


def test_an_inflected_target_has_the_forms_of_its_lemma():
    assert set(Inflector().forms("veins")) == set(Inflector().forms("vein"))
    assert {"went", "go", "going", "gone"} <= set(Inflector().forms("went"))


def test_a_target_of_several_words_inflects_the_last():
    assert Inflector().forms("ice cream")[:2] == ("ice cream", "ice creams")
    assert Inflector().forms("radiation_therapy")[:2] == ("radiation therapy", "radiation therapies")


def test_other_languages_have_the_forms_they_are_given(tmp_path):
    file = tmp_path / "forms.tsv"
    file.write_text(
        "# Deutsch\nHaus\tHauses\tHäuser\tHäusern\n\nhaus\thause\nIce cream\tices\n", encoding="utf-8"
    )
    inflector = Inflector("de", read_forms(file))
    assert inflector.forms("Haus") == ("haus", "hauses", "häuser", "häusern", "hause")
    assert inflector.forms("Katze") == ("katze",)
    assert Inflector("en", read_forms(file)).forms("ice_cream") == ("ice cream", "ices")


@pytest.mark.parametrize(
    ("text", "message"), [("", "no forms"), ("# x\n", "no forms"), ("\tcats\n", "empty word")]
)
def test_a_forms_file_that_says_nothing(tmp_path, text, message):
    file = tmp_path / "forms.tsv"
    file.write_text(text)
    with pytest.raises(BagpackError, match=message):
        read_forms(file)
    with pytest.raises(BagpackError, match=r"nowhere\.tsv"):
        read_forms(tmp_path / "nowhere.tsv")


def test_no_target():
    with pytest.raises(UsageError, match="nothing that could be found"):
        target_forms("\u200b \x00", Inflector("xx"))
