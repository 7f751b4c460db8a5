"""Inflected forms of targets."""

import json
import subprocess
import sys

import pytest

from bagpack.engines.inflect import _ORDER, Inflector, _inflections, read_forms
from bagpack.engines.queries import target_forms
from bagpack.errors import BagpackError, UsageError

FORMS = {
    "cat": "cat cats catting catted",
    "lion": "lion lions",
    "mouse": "mouse mice",
    "run": "run runs running ran",
    "good": "good goods better best",
    "be": "be is am are being was were been",
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


def test_generated_forms_are_letters():
    for word in ("ok", "bookshelf", "clubfoot", "caveman"):
        forms = Inflector().forms(word)
        assert len(forms) > 1 and all(form.isalpha() for form in forms)


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


def test_the_library_itself_is_not_imported():
    code = "import sys; from bagpack.engines.inflect import Inflector; Inflector().forms('cat'); " \
           "sys.exit('lemminflect' in sys.modules or 'spacy' in sys.modules)"  # fmt: skip
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_no_target():
    with pytest.raises(UsageError, match="nothing that could be found"):
        target_forms("\u200b \x00", Inflector("xx"))


PUBLIC = """
import json, sys
from lemminflect import getAllInflections
print(json.dumps({word: getAllInflections(word) for word in json.load(sys.stdin)}))
"""


def test_the_tables_say_what_lemminflect_says():
    """Its files are read directly: for a sample of lemmas they must give what its public function gives."""
    table = _inflections()
    lemmas = [word for word in sorted(table)[:: len(table) // 400] if word.isalpha()]
    run = subprocess.run(
        [sys.executable, "-c", PUBLIC], input=json.dumps(lemmas), capture_output=True, text=True, check=True
    )
    compared = 0
    for word, tagged in json.loads(run.stdout).items():
        expected = {form.casefold() for tag in tagged if tag in _ORDER for form in tagged[tag]} - {word}
        assert expected <= set(table[word]), word
        compared += expected == set(table[word])  # names (Polish) are folded into words (polish)
    assert compared > 0.85 * len(lemmas) > 250


def test_a_lemminflect_without_its_tables(monkeypatch, tmp_path):
    (tmp_path / "lemminflect").mkdir()
    (tmp_path / "lemminflect" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lemminflect", raising=False)
    with pytest.raises(BagpackError, match=r"lacks its table .*infl_lu.csv.gz; install it again"):
        _inflections.__wrapped__()
