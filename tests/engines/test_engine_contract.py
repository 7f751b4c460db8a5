"""What every engine does alike: find, keep its order, take any target as text; and how the default one is filled."""

import random

import pytest
from engine_oracle import holds_couple, holds_gap, places

from bagpack.engines.base import make_engine
from bagpack.engines.build import build_engine
from bagpack.engines.queries import Query, plan_queries
from bagpack.engines.sentences import index_words, plain
from bagpack.errors import BagpackError

CATS = Query("word", (("cat",), ("cats",)))


def random_sentences(seed, count=100):
    chance = random.Random(seed)
    words = ["cat", "Cats", "lion", "lions", "ice", "cream", "the", "a", ",", "CAT", "x"]
    return [f"N{at} " + " ".join(chance.choices(words, k=chance.randint(1, 14))) for at in range(count)]


def test_finds_what_it_should_in_corpus_order(fill_each, connect):
    sentences = random_sentences(1)
    engine = connect(fill_each(sentences))
    plan = plan_queries([("cat", "lion"), ("ice cream", "cat"), ("lion", "lion")])
    found_any = 0
    for query in plan.queries:
        found = engine.search(query, 1000)
        numbers = [int(plain(snippet.text).split()[0][1:]) for snippet in found]
        assert numbers == sorted(numbers)
        assert not engine.exact or all("text.txt" in snippet.document for snippet in found)
        found_any += len(numbers)
        for at, sentence in enumerate(sentences):
            words = index_words(sentence)
            if query.kind == "word":
                assert (at in numbers) == bool(places(words, query.forms1)), (str(query), sentence)
                continue
            # An engine may count any two words (that neither is between is our own affair), and must find the rest.
            if holds_couple(words, query.forms1, query.forms2, query.gap):
                assert at in numbers, (str(query), sentence)
            if at in numbers:
                assert holds_gap(words, query.forms1, query.forms2, query.gap), (str(query), sentence)
        assert [s.text for s in engine.search(query, 2)] == [s.text for s in found[:2]]
    assert found_any > 130


NASTY = [
    "lion's", 'say "cat"', "cat*", "c?t", "cat~2", "cat OR lion", "cat AND NOT lion", "(cat", "cat)", "cat|lion",
    "a:b", "words:cat", "'); DROP TABLE x; --", "' OR '1'='1", "cat' <-> 'lion", "!cat", "cat & lion", "<5>",
    "cat\\", "\\'", "[a-z]+", ".*", "^cat$", "{cat}", '{"match_all":{}}', "cat^2", "+cat", "-cat", "%s", "%(x)s",
    "$1", "cat\tlion", "ünï*", "日本*", "cat;", "interval.gaps == 0", "AT&T", "//cat//", "cat -- lion", "''",
]  # fmt: skip


def test_no_target_breaks_out_of_the_query_language(fill_each, connect):
    sentences = [f"Here is {' '.join(text.split())} for a cat" for text in NASTY]
    engine = connect(fill_each([*sentences, "a plain cat here", "a plain lion here", "nothing at all"]))
    every = Query("word", (("here",), ("nothing",)))  # each sentence has one of them
    corpus = [index_words(snippet.text) for snippet in engine.search(every, 10_000)]
    standing = next_to_cat = 0
    for target in NASTY:
        plan = plan_queries([(target, "cat")])
        word = plan.queries[0]
        texts = [index_words(snippet.text) for snippet in engine.search(word, 1000)]
        assert texts == [words for words in corpus if places(words, word.forms1)], target
        standing += bool(texts)
        pairs = [(query, snippet) for query in plan.queries[2:8] for snippet in engine.search(query, 1000)]
        for query, snippet in pairs:
            assert holds_gap(index_words(snippet.text), query.forms1, query.forms2, query.gap)
        next_to_cat += bool(pairs)
    assert min(standing, next_to_cat) >= len(NASTY) - 3, "a few lose their context to a sentence end"
    assert len(engine.search(every, 10_000)) == len(corpus), "nothing was dropped or changed"


def test_case_accents_and_long_tokens(fill_each, connect):
    sentences = ["STRASSE straße Été", "long " + "y" * 500 + " cat", "http://x.org/" + "z" * 400 + " lion"]
    engine = connect(fill_each(sentences))
    found = engine.search(Query("word", (("strasse",),)), 10)
    assert [plain(snippet.text) for snippet in found] == sentences[:1]
    words = [Query("word", ((word,),)) for word in ("été", "y" * 500)]
    for query in (*words, Query("pair", (("long",),), (("cat",),), 1)):
        assert len(engine.search(query, 10)) == 1


def test_no_engine_of_that_name(connect):
    for url, message in {
        "solr:http://x": r"no engine 'solr'; .* begins with one of .*tantivy",
        "": "empty",
        "tantivy:/nowhere/at/all": "bagpack engine build",
        "infinigram+http://127.0.0.1:9/": r"\?index=",
        "api:altavista": "'altavista'.*google",
        "opensearch+http://localhost:9200/docs": r"docs\?field=",
        "opensearch+http://localhost:9200/?field=body": r"docs\?field=",
    }.items():
        with pytest.raises(BagpackError, match=message):
            connect(url)
    for url in ("opensearch+http://x:9/x?field=y", "infinigram+http://x:9/?index=x", "api:brave"):
        with pytest.raises(BagpackError, match="filled"):
            build_engine(url, ["x"])
    pair = Query("pair", (("lion",),), (("cat",),), 1)
    assert make_engine("api:google").declared.written(pair) == ['"lion * cat"']
