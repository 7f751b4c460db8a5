"""Lemmas of forms, and a spaCy pipeline assembled on the spot."""

import pytest

from bagpack import Corpus, TextOptions
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.text.lemmas import AnnotatedToken, get_annotator
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


def test_every_language_answers_for_every_kind_of_form():
    forms = ["a", "-", "…", "1,5", "x'y", "日", "l'", "'s", "\u0301", "😀", "A.B.", "co-op"]
    for lang in ("ca", "el", "en", "fr", "hi", "tr"):
        lemmas = get_annotator("simplemma", lang).lemmatize(forms)
        assert len(lemmas) == len(forms)
        assert all(lemmas)


def test_none_leaves_forms_alone_in_any_language():
    assert get_annotator("none", "xx").lemmatize(["Lions", "’s"]) == ["Lions", "’s"]


@pytest.mark.parametrize("spec", ["spacy", "spacy:", "treetagger", "", "none:x", "simplemma:en"])
def test_unknown_annotator(spec):
    with pytest.raises(UsageError, match="choose auto, simplemma, jieba, fugashi, none or spacy:MODEL"):
        get_annotator(spec, "en")


def test_unknown_language_lists_what_there_is():
    with pytest.raises(UsageError, match=r"'xx'.* de .* en "):
        get_annotator("simplemma", "xx")
    assert "en" in simplemma_languages()


def test_spacy_pipeline_in_context(tmp_path):
    spacy = pytest.importorskip("spacy", reason="spaCy is an extra: pip install 'bagpack[spacy]'")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "left"}, {"LOWER": "the"}]], {"LEMMA": "leave", "POS": "VERB"}, index=0)
    pipeline.to_disk(tmp_path / "tiny")

    annotator = get_annotator(f"spacy:{tmp_path / 'tiny'}", "en")
    assert annotator.in_context
    first, empty, second = annotator.annotate(["She left the  house. Turn left!", " ", "Lion's"])
    assert [[token.form for token in sentence] for sentence in first] == [
        ["She", "left", "the", "house", "."],
        ["Turn", "left", "!"],
    ]
    assert first[0][1] == AnnotatedToken("left", "leave", False, "VERB")
    assert first[1][1] == AnnotatedToken("left", "left", False)
    assert [token.glued for token in first[0]] == [False, False, False, False, True]
    assert empty == []
    assert second == [[AnnotatedToken("Lion", "Lion", False), AnnotatedToken("'s", "'s", True)]]

    (tmp_path / "a.txt").write_text("She left the house. Turn left!\n")
    options = TextOptions(annotator=f"spacy:{tmp_path / 'tiny'}")
    index_corpus([str(tmp_path / "a.txt")], tmp_path / "s", options)
    corpus = Corpus.open(tmp_path / "s")
    assert corpus.tags == {"X": 7, "VERB": 1}
    assert (corpus.contexts("leave/VERB").total, corpus.contexts("left").total) == (1, 1)


def test_spacy_pipeline_that_is_not_there():
    with pytest.raises(UsageError, match=r"no_such_pipeline|bagpack\[spacy\]"):
        get_annotator("spacy:no_such_pipeline", "en")


def test_the_quick_search_gives_what_the_whole_search_gives():
    """On forms made of the dictionary's own parts, hyphens, apostrophes and made-up names."""
    annotator = get_annotator("simplemma", "en")
    stems = [
        "walk",
        "study",
        "bus",
        "happy",
        "child",
        "run",
        "mouse",
        "Paris",
        "Zorbl",
        "quarter",
        "singer",
        "x",
        "re",
    ]
    ends = [
        "",
        "s",
        "es",
        "ed",
        "ing",
        "ies",
        "er",
        "est",
        "ness",
        "'s",
        "ʼs",
        "-file",
        "-Ups",
        "ly",
        "ization",
    ]
    starts = ["", "un", "re", "over", "north-", "All-", "O'", "pre-"]
    forms = [start + stem + end for start in starts for stem in stems for end in ends]
    forms += [form.upper() for form in forms] + [
        "10",
        "１２",
        "½",
        "X-Files",
        "quarter-finals",
        "19th-century",
    ]
    for form in forms:
        assert annotator._look_up(form, "en") == annotator._search_all(form, "en"), form
