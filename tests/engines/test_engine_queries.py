"""From words to queries: inflected forms, the fourteen queries of a pair, and text that remembers its tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.engines.inflect import Inflector, read_forms
from bagpack.engines.queries import plan_queries, target_forms
from bagpack.engines.sentences import index_word, index_words, mark, marked_sentences, plain, unmark
from bagpack.errors import BagpackError, UsageError

FORMS = """cat cats catting catted|lion lions|mouse mice|run runs running ran|good goods better best|1990|don't|?
be is am are being was were been|can could cans canning canned|bookshelf bookshelves|x-ray x-rays|bix bixes
smartphone smartphones|glitch-free glitch-frees|wonky-donky wonky-donkies"""


def test_forms():
    for forms in FORMS.replace("\n", "|").split("|"):
        assert " ".join(Inflector().forms(forms.split()[0].title())) == forms
    assert set(Inflector().forms("veins")) == set(Inflector().forms("vein"))
    assert {"went", "go", "going", "gone"} <= set(Inflector().forms("went"))
    assert Inflector().forms("radiation_therapy")[:2] == ("radiation therapy", "radiation therapies")
    assert target_forms("Mother-in-Law's", Inflector("xx"), "en") == (("mother-in-law", "'s"),)
    assert target_forms("l'eau", Inflector("fr"), "fr") == (("l'", "eau"),)
    with pytest.raises(UsageError, match=r"'\\u200b \\x00'"):
        target_forms("\u200b \x00", Inflector("xx"))


def test_other_languages_have_the_forms_they_are_given(write):
    file = write("forms.tsv", "# Deutsch\nHaus\tHauses\tHäuser\tHäusern\n\nhaus\thause\nIce cream\tices\n")
    inflector = Inflector("de", read_forms(file))
    assert inflector.forms("Haus") == ("haus", "hauses", "häuser", "häusern", "hause")
    assert inflector.forms("Katze") == ("katze",)
    assert Inflector("en", read_forms(file)).forms("ice_cream") == ("ice cream", "ices")
    for text, message in (("", "no forms"), ("# x\n", "no forms"), ("\tcats\n", "empty word")):
        with pytest.raises(BagpackError, match=message):
            read_forms(write("bad.tsv", text))
    with pytest.raises(BagpackError, match=r"nowhere\.tsv"):
        read_forms("nowhere.tsv")


def test_fourteen_queries_in_the_papers_notation():
    queries = [str(query) for query in plan_queries([("cat", "lion")]).queries]
    cat, lion = "(cat OR cats OR catting OR catted)", "(lion OR lions)"
    assert len(set(queries)) == 14 and queries[:3] == [cat, lion, f"{cat} {lion}"]
    assert queries[12] == f"{lion} * * * * {cat}" and queries[13].count("*") == 5
    plan = plan_queries([("cat", "lion"), ("lion", "cat"), ("cats", "lions"), ("dog", "cat")])
    assert len(plan.queries) == 14 + 13, "shared words and turned pairs are asked once"
    assert plan.listed == [("cat", "lion"), ("cats", "lions"), ("dog", "cat")]
    assert [query.gap for query in next(iter(plan.pairs.values()))] == [*range(6), *range(6)]
    assert len(plan_queries([("cat", "cat")]).queries) == 7
    plan = plan_queries([("ice cream", "lion's share")])
    assert plan.forms["ice cream"][1] == ("ice", "creams")
    assert plan.forms["lion's share"][0] == ("lion", "'s", "share")
    assert str(plan.queries[0]).startswith('("ice cream" OR "ice creams"')


WORDS = st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(bool)


@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=1))
def test_tokens_come_back(tokens):
    noncharacters = {"\0", "\ufdd0", "\ufdd1", "\ufdd2"}
    tokens = [(form, glued) for form, glued in tokens if not noncharacters & set(form)]
    if tokens:
        forms, glued = unmark(mark(tokens))
        assert forms == [form for form, _ in tokens]
        assert glued == [False, *(stuck for _, stuck in tokens[1:])]


@given(st.lists(st.tuples(st.text(min_size=1), st.booleans()), min_size=1))
def test_every_token_is_one_word_of_the_index(tokens):
    words = index_words(mark(tokens))
    assert words == [index_word(form) for form, _ in tokens]
    assert all(words)
    assert not any(character.isspace() or character == "\0" for word in words for character in word)


def test_marked_text_reads_as_it_was_written():
    found = list(marked_sentences("Dr. Smith's lion (the big one), isn't it? Yes.", "en"))
    assert [plain(sentence) for sentence in found] == ["Dr. Smith's lion (the big one), isn't it?", "Yes."]
    assert unmark(found[1])[0] == ["Yes", "."]
    assert list(marked_sentences(" \n ", "en")) == []
