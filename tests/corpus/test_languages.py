"""Languages: sentences, tokens, lemmas, and letters that are composed and case-folded alike."""

import json
import re
import unicodedata

import pytest
from corpus_oracle import DATA, build, sentences, text_of, words
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.kit import EXAMPLES

from bagpack.corpus.text.casefold import fold_case, folding
from bagpack.corpus.text.languages import LANGUAGES
from bagpack.corpus.text.lemmas import EnglishLemmatizer, get_annotator
from bagpack.errors import UsageError


def rows_of(name):
    """Language, text and what is expected: tokens with | between them and / between sentences, or lemmas."""
    return [line.split("\t") for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


TOKENS = rows_of("tokens.tsv")


@pytest.mark.parametrize("lang", dict.fromkeys(lang for lang, *_ in TOKENS))
def test_sentences_and_tokens(lang, tmp_path, write):
    texts, expected = zip(*(row for own, *row in TOKENS if own == lang), strict=True)
    forms = {"level": "form", "annotator": "none"} if lang == "oc" else {}  # no dictionary has it
    corpus = build(write("a.txt", "\n".join(texts) + "\n"), tmp_path / "s", lang=lang, **forms)
    assert "/".join("|".join(sentence) for sentence in words(corpus)) == "/".join(expected)
    assert text_of(corpus.segments[0], 0, corpus.tokens).replace(" ", "") == "".join(texts).replace(" ", "")


@pytest.mark.parametrize(("lang", "text", "expected"), rows_of("lemmas.tsv"))
def test_lemmas(lang, text, expected, tmp_path, write):
    corpus = build(write("a.txt", text + "\n"), tmp_path / "s", lang=lang)
    assert " ".join(key for _, tokens in sentences(corpus) for _, key, _ in tokens) == expected


def test_german_nouns_and_sharp_s_are_kept_apart(tmp_path, write):
    corpus = build(write("a.txt", "Die Maße der Masse. Der Arm ist arm.\n"), tmp_path / "s", lang="de")
    assert corpus.options.case == "keep"
    assert [corpus.count(key) for key in ("Maß", "Masse", "Arm", "arm")] == [1, 1, 1, 1]
    folded = build(write("a.txt", "Der Arm ist arm.\n"), tmp_path / "s", lang="de", case="fold")
    assert folded.count("arm") == 2


def test_a_text_in_another_language_gets_a_warning(tmp_path, write, cli):
    write(
        "c/a.txt", "The lion is the only cat that lives in large groups. It sleeps for most of the day.\n" * 3
    )
    write("c/b.txt", "Der Löwe ist die einzige Katze, die in großen Gruppen lebt. Er schläft am Tag.\n" * 3)
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--jobs", 1)
    assert done.code == 0
    assert f"{tmp_path}/c/b.txt (de)" in done.err and "--lang en" in done.err and "a.txt" not in done.err
    entries = json.loads(cli("info", tmp_path / "s", "--json").out)["sources"]
    assert [entry.get("looks_like") for entry in entries] == [None, "de"]


def test_every_profile_is_in_the_table_of_the_docs(pytestconfig):
    table = (pytestconfig.rootpath / "docs" / "corpus.md").read_text()
    for profile in filter(lambda own: own.name, LANGUAGES.values()):
        assert f"| {profile.name} (`{profile.code}`) |" in table


@pytest.mark.parametrize(("kind", "pairs"), rows_of("english.tsv"))
def test_english_lemmas(kind, pairs):
    forms, lemmas = zip(*(pair.split(" ") for pair in pairs.split(", ")), strict=True)
    answers = get_annotator("simplemma", "en").lemmatize(forms)
    assert [answer.casefold() for answer in answers] == list(lemmas)


def test_words_of_letters_need_no_more_strategies():
    """English asks some of simplemma's strategies only; their answers are those of all."""
    words = set(re.findall(r"\w+", "".join(text.read_text() for text in (EXAMPLES / "texts").iterdir())))
    forms = {form + end for form in words for end in ("", "s", "ed", "ing", "ness", "ʼs", "'s")}
    forms |= {f"{start}{form.lower()}" for form in words for start in ("re", "un", "Over")}
    english, every = get_annotator("simplemma", "en"), EnglishLemmatizer()
    every._of_letters = [every._look_up]
    assert english.lemmatize(sorted(forms)) == every.lemmatize(sorted(forms))


def test_unknown_annotators_and_languages():
    for spec in ("spacy:en", "treetagger", "", "simplemma:en"):
        with pytest.raises(UsageError, match="simplemma"):
            get_annotator(spec, "en")
    with pytest.raises(UsageError, match=r"'xx'.* de .* en "):
        get_annotator("simplemma", "xx")


COMPOSED, DECOMPOSED = "Müller", "Mu\N{COMBINING DIAERESIS}ller"


@given(st.text(max_size=12) | st.text("AÄäa\u0308\u0327\u0307ΐẞßǰİ", max_size=8))
def test_how_letters_are_put_together_makes_no_difference(text):
    keys = {fold_case(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(keys) == 1
    assert unicodedata.is_normalized("NFC", keys.pop())


@pytest.mark.parametrize("case", ["fold", "keep"])
@pytest.mark.parametrize("kind", ["text", "vertical"])
def test_composed_and_decomposed_letters_are_one_word(tmp_path, write, case, kind):
    text = "Frau {} singt.\n" if kind == "text" else "<s>\nFrau\tFrau\n{0}\t{0}\n</s>\n"
    for written in (COMPOSED, DECOMPOSED):
        source = write("corpus", text.format(written))
        corpus = build(source, tmp_path / "s", format=kind, lang="de", case=case)
        for asked in (COMPOSED, DECOMPOSED):
            assert corpus.keys_of([asked]) == [folding(corpus.options)(COMPOSED)]
            assert corpus.count(asked) == 1
            [line] = corpus.contexts(asked)
            assert written in line.text  # the text stays as it was


def test_a_decomposed_form_has_the_lemma_of_the_composed_one(tmp_path, write):
    forms = ["Häuser", unicodedata.normalize("NFD", "Häuser")]
    corpus = build(write("a.txt", f"Zwei {forms[0]} und drei {forms[1]}.\n"), tmp_path / "s", lang="de")
    assert corpus.count("Haus") == 2
    assert corpus.keys_of(forms) == ["Haus"] * 2
