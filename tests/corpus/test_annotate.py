"""Lemmas of forms."""

import pytest

from bagpack.corpus.text.lemmas import get_annotator
from bagpack.errors import UsageError

ENGLISH = {
    "dictionary": "lions lion, Cats cat, went go, mice mouse, was be, The the, them they, would would",
    "corrected": "gone go, mixes mix, travelling travel, bigger big, wives wife, fixed fix, Skies sky",
    "clitics": "'s 's, ’s 's, n't not, N’T not, 'd would, 're be, 've have, 'm be, 'll will, wo will",
    "derived": "mining mining, fruit-eaters fruit-eater, sea-bathing sea-bathing, re-opened re-open",
    "not inflected": "1990s 1990s, 4th 4th, … …, ; ;, cats.org/dogs cats.org/dogs, a@cats.org a@cats.org",
    "unknown": "x x, qwzrtx qwzrtx",
}


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_lemmas(kind):
    forms, lemmas = zip(*(pair.split(" ") for pair in ENGLISH[kind].split(", ")), strict=True)
    answers = get_annotator("simplemma", "en").lemmatize(forms)
    assert [answer.casefold() for answer in answers] == list(lemmas)


def test_other_languages():
    assert get_annotator("simplemma", "de").lemmatize(["Häuser", "gegangen", "12"]) == ["Haus", "gehen", "12"]
    assert get_annotator("simplemma", "fr").lemmatize(["chevaux"]) == ["cheval"]


@pytest.mark.parametrize("spec", ["spacy:en", "treetagger", "", "simplemma:en"])
def test_unknown_annotator(spec):
    with pytest.raises(UsageError, match="choose auto, simplemma, jieba, fugashi or none"):
        get_annotator(spec, "en")


def test_unknown_language_lists_what_there_is():
    with pytest.raises(UsageError, match=r"'xx'.* de .* en "):
        get_annotator("simplemma", "xx")


def test_the_quick_search_gives_what_the_whole_search_gives():
    """On forms made of the dictionary's own parts, hyphens, apostrophes and made-up names."""
    annotator = get_annotator("simplemma", "en")
    stems = "walk study bus happy child run mouse Paris Zorbl quarter singer x re"
    ends = "s es ed ing ies er est ness 's ʼs -file -Ups ly ization"
    starts = "un re over north- All- O' pre-"
    forms = [a + b + c for a in ["", *starts.split()] for b in stems.split() for c in ["", *ends.split()]]
    forms += [*map(str.upper, forms), *["10", "１２", "½", "X-Files", "quarter-finals", "19th-century"]]
    for form in forms:
        assert annotator._look_up(form, "en") == annotator._search_all(form, "en"), form
