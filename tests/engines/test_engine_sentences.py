"""Marked text: sentences as written that remember their tokens."""

from hypothesis import given
from hypothesis import strategies as st

from bagpack.engines.inflect import Inflector
from bagpack.engines.queries import target_forms
from bagpack.engines.sentences import (
    index_word,
    index_words,
    mark,
    marked_sentences,
    plain,
    unmark,
)

FORMS = st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(bool)


@given(st.lists(st.tuples(FORMS, st.booleans()), min_size=1))
def test_tokens_come_back(tokens):
    noncharacters = {"\0", "\ufdd0", "\ufdd1", "\ufdd2"}
    tokens = [(form, glued) for form, glued in tokens if not noncharacters & set(form)]
    if not tokens:
        return
    forms, glued = unmark(mark(tokens))
    assert forms == [form for form, _ in tokens]
    assert glued == [False, *(stuck for _, stuck in tokens[1:])]


@given(st.lists(st.tuples(st.text(min_size=1), st.booleans()), min_size=1))
def test_every_token_is_one_word_of_the_index(tokens):
    marked = mark(tokens)
    words = index_words(marked)
    assert words == [index_word(form) for form, _ in tokens]
    assert all(words)
    assert not any(character.isspace() or character == "\0" for word in words for character in word)


def test_marked_text_reads_as_it_was_written():
    text = "Dr. Smith's lion (the big one), isn't it? Yes."
    found = list(marked_sentences(text, "en"))
    assert [plain(sentence) for sentence in found] == ["Dr. Smith's lion (the big one), isn't it?", "Yes."]
    assert unmark(found[1])[0] == ["Yes", "."]
    assert list(marked_sentences(" \n ", "en")) == []


def test_forms_are_split_as_text_is():
    assert target_forms("Mother-in-Law's", Inflector("xx"), "en") == (("mother-in-law", "'s"),)
    assert target_forms("l'eau", Inflector("fr"), "fr") == (("l'", "eau"),)
