"""Keys and queries are composed and case-folded alike, whatever way a text writes its letters."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.contexts.concordance import find_contexts
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.text.casefold import fold, fold_case


def indexed(source, options):
    store = source.with_name("store.bp")
    index_corpus([str(source)], store, options)
    return Corpus.open(store)


COMPOSED, DECOMPOSED = "Müller", "Mu\N{COMBINING DIAERESIS}ller"


@given(st.text(max_size=12) | st.text("AÄäa\u0308\u0327\u0307ΐẞßǰİ", max_size=8))
def test_how_letters_are_put_together_makes_no_difference(text):
    keys = {fold_case(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(keys) == 1
    assert unicodedata.is_normalized("NFC", keys.pop())


@pytest.mark.parametrize("case", ["fold", "keep"])
@pytest.mark.parametrize("written", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("kind", ["text", "vertical"])
def test_composed_and_decomposed_letters_are_one_word(tmp_path, written, case, kind):
    text = f"Frau {written} singt.\n" if kind == "text" else f"<s>\nFrau\tFrau\n{written}\t{written}\n</s>\n"
    source = tmp_path / f"corpus.{'txt' if kind == 'text' else 'vert'}"
    source.write_text(text, encoding="utf-8")
    options = TextOptions(format=kind, lang="de", case=case)
    corpus = indexed(source, options)
    for asked in (COMPOSED, DECOMPOSED):
        assert corpus.keys_of([asked]) == [fold(COMPOSED, options)]
        assert corpus.count(asked) == 1
        [line] = find_contexts(corpus, asked)
        assert written in line.text  # the text stays as it was


def test_a_decomposed_form_has_the_lemma_of_the_composed_one(tmp_path):
    forms = ["Häuser", unicodedata.normalize("NFD", "Häuser")]
    (tmp_path / "text.txt").write_text(f"Zwei {forms[0]} und drei {forms[1]}.\n", encoding="utf-8")
    corpus = indexed(tmp_path / "text.txt", TextOptions(lang="de"))
    assert corpus.count("Haus") == 2
    assert [corpus.keys_of([form]) for form in forms] == [["Haus"]] * 2
