"""What every engine does alike: build, find, keep its order, and take any target as text."""

import random

import pytest
from engine_oracle import holds_couple, holds_gap, places

from bagpack.engines.build import build_engine
from bagpack.engines.queries import Query, plan_queries
from bagpack.engines.sentences import index_words, plain
from bagpack.errors import BagpackError


def fill(url, sentences, tmp_path, name="text.txt", **settings):
    file = tmp_path / name
    file.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    return build_engine(url, [str(file)], **settings)


def random_sentences(seed, count=150):
    chance = random.Random(seed)
    words = ["cat", "Cats", "lion", "lions", "ice", "cream", "the", "a", ",", "CAT", "x"]
    return [f"N{at} " + " ".join(chance.choices(words, k=chance.randint(1, 14))) for at in range(count)]


def test_finds_what_it_should_in_corpus_order(engine_url, connect, tmp_path):
    sentences = random_sentences(1)
    assert fill(engine_url, sentences, tmp_path).sentences == len(sentences)
    engine = connect(engine_url)
    assert engine.exact
    plan = plan_queries([("cat", "lion"), ("ice cream", "cat"), ("lion", "lion")])
    found_any, documents = 0, set()
    for query in plan.queries:
        found = engine.search(query, 1000)
        texts = [plain(snippet.text) for snippet in found]
        numbers = [int(text.split()[0][1:]) for text in texts]
        assert numbers == sorted(numbers)
        found_any += len(numbers)
        documents |= {snippet.document for snippet in found}
        for at, sentence in enumerate(sentences):
            words = index_words(sentence)
            if query.kind == "word":
                assert (at in numbers) == bool(places(words, query.forms1)), (str(query), sentence)
                continue
            # An engine may count any two words (that neither stands between is our own affair), and must find the rest.
            if holds_couple(words, query.forms1, query.forms2, query.gap):
                assert at in numbers, (str(query), sentence)
            if at in numbers:
                assert holds_gap(words, query.forms1, query.forms2, query.gap), (str(query), sentence)
        assert [s.text for s in engine.search(query, 2)] == [s.text for s in found[:2]]
    assert found_any > 200
    assert documents and all("text.txt" in name for name in documents)


NASTY = [
    "lion's", 'say "cat"', "cat*", "c?t", "cat~2", "cat OR lion", "cat AND NOT lion", "(cat", "cat)", "cat|lion",
    "a:b", "words:cat", "'); DROP TABLE x; --", "' OR '1'='1", "cat' <-> 'lion", "!cat", "cat & lion", "<5>",
    "cat\\", "\\'", "[a-z]+", ".*", "^cat$", "{cat}", '{"match_all":{}}', "cat^2", "+cat", "-cat", "%s", "%(x)s",
    "$1", "cat\tlion", "ünï*", "日本*", "cat;", "interval.gaps == 0", "AT&T", "//cat//", "cat -- lion", "''",
]  # fmt: skip


def test_no_target_breaks_out_of_the_query_language(engine_url, connect, tmp_path):
    sentences = [f"Here is {' '.join(text.split())} for a cat" for text in NASTY]
    sentences += ["a plain cat here", "a plain lion here", "nothing at all"]
    fill(engine_url, sentences, tmp_path)
    engine = connect(engine_url)
    corpus = [index_words(snippet_text) for snippet_text in all_texts(engine)]
    standing = next_to_cat = 0
    for target in NASTY:
        plan = plan_queries([(target, "cat")])
        word = plan.queries[0]
        texts = [index_words(snippet.text) for snippet in engine.search(word, 1000)]
        assert texts == [words for words in corpus if places(words, word.forms1)], target
        standing += bool(texts)
        pairs = [(query, snippet) for query in plan.queries[2:] for snippet in engine.search(query, 1000)]
        for query, snippet in pairs:
            assert holds_gap(index_words(snippet.text), query.forms1, query.forms2, query.gap)
        next_to_cat += bool(pairs)
    assert min(standing, next_to_cat) >= len(NASTY) - 3, "a few lose their context to a sentence end"
    assert len(all_texts(engine)) == len(corpus), "nothing was dropped or changed"


def all_texts(engine):
    """Every sentence has one of these words."""
    return [snippet.text for snippet in engine.search(Query("word", (("here",), ("nothing",))), 10_000)]


def test_case_accents_and_long_tokens(engine_url, connect, tmp_path):
    sentences = ["STRASSE straße Été", "long " + "y" * 500 + " cat", "http://x.org/" + "z" * 400 + " lion"]
    fill(engine_url, sentences, tmp_path)
    engine = connect(engine_url)
    found = engine.search(Query("word", (("strasse",),)), 10)
    assert [plain(snippet.text) for snippet in found] == sentences[:1]
    assert len(engine.search(Query("word", (("été",),)), 10)) == 1
    assert len(engine.search(Query("pair", (("long",),), (("cat",),), 1), 10)) == 1
    assert len(engine.search(Query("word", (("y" * 500,),)), 10)) == 1


def test_an_index_is_replaced_only_on_request(engine_url, connect, tmp_path):
    fill(engine_url, ["one cat"], tmp_path)
    with pytest.raises(BagpackError, match="exists already"):
        fill(engine_url, ["two cats"], tmp_path)
    first = connect(engine_url)
    identity = first.identity
    first.close()
    fill(engine_url, ["two cats"], tmp_path, overwrite=True)
    engine = connect(engine_url)
    assert engine.identity != identity, "answers of the old index must not be taken for those of the new one"
    assert [plain(s.text) for s in engine.search(Query("word", (("cat",), ("cats",))), 10)] == ["two cats"]


def test_a_failed_build_leaves_nothing(engine_url, connect, tmp_path):
    with pytest.raises(BagpackError, match=r"nowhere\.txt"):
        build_engine(engine_url, [str(tmp_path / "nowhere.txt")])
    fill(engine_url, ["one cat"], tmp_path)
    with pytest.raises(BagpackError, match=r"nowhere\.txt"):
        build_engine(engine_url, [str(tmp_path / "nowhere.txt")], overwrite=True)
    engine = connect(engine_url)
    assert len(engine.search(Query("word", (("cat",),)), 10)) == 1


def test_no_engine_of_that_name(connect):
    with pytest.raises(BagpackError, match=r"no engine 'solr'.*tantivy"):
        connect("solr:http://x")
    with pytest.raises(BagpackError, match="empty"):
        connect("")
    with pytest.raises(BagpackError, match=r"bagpack engine build"):
        connect("tantivy:/nowhere/at/all")
