"""Snippets as a corpus: the same integers as a store, from the queries' own snippets alone."""

import random
import re
import shutil

import numpy as np
import pytest
from engine_oracle import holds_gap, places
from tests.app.conftest import ask
from tests.forging import data_of, forge

from bagpack import Corpus, PairVectorizer
from bagpack.app import Library
from bagpack.app.pages import home, warm_up
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines import fetch as fetch_module
from bagpack.engines.cache import RequestPolicy
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.inflect import Inflector
from bagpack.engines.queries import plan_queries
from bagpack.engines.sentences import index_words
from bagpack.engines.snippets import SnippetCorpus
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.explain.pair import sketch_pair
from bagpack.explain.word import sketch_word
from bagpack.sources import as_source, open_source
from bagpack.vectors.counts import count_pairs

WORDS = [*"cat cats Cat lion lions dog dogs ice cream creams the The of a , big runs".split()]  # noqa: SIM905
CAT_LION = [("cat", "lion")]
PAIRS = [
    ("cat", "lion"), ("lion", "cat"), ("dog", "cat"), ("ice cream", "cat"), ("cats", "dogs"), ("cat", "cat"),
    ("ice_cream", "Lion"), ("unicorn", "cat"),
]  # fmt: skip


def make_sentences(seed, count, longest=16):
    chance = random.Random(seed)
    return sorted({" ".join(chance.choices(WORDS, k=chance.randint(1, longest))) for _ in range(count)})


@pytest.fixture
def fetch(tmp_path):
    """fetch(pairs, url=…, out="s.bps", **settings) → what `fetch_snippets` returns."""

    def run(pairs, url=f"tantivy:{tmp_path / 'index'}", out="s.bps", **settings):
        return fetch_snippets(pairs, url, tmp_path / out, cache=tmp_path / "c", **settings)

    return run


@pytest.fixture
def snippets(fill, fetch):
    """snippets(sentences, pairs, **settings) → the corpus of what tantivy finds in them."""

    def make(sentences, pairs=CAT_LION, **settings):
        return fetch(pairs, fill("tantivy", sentences), **settings).corpus

    return make


def vectors(source, basis, pairs=PAIRS, **settings):
    return count_pairs(as_source(source), pairs, basis, CountSettings(**{"limit": None, **settings}))


def features(matrix):
    row, names = matrix.tocsr("v1v2v12").toarray()[0], matrix.feature_names("v1v2v12")
    return {name: int(count) for name, count in zip(names, row, strict=True) if count}


def assert_same_counts(one, two):
    for condition in ("v1v2", "v12"):
        assert (one.tocsr(condition) != two.tocsr(condition)).nnz == 0
    assert np.array_equal(one.seen, two.seen)
    assert one.unknown_words == two.unknown_words


# Counts ------------------------------------------------------------------------------------------------------------


def test_every_engine_gives_the_vectors_of_the_store(fill_each, text, fetch, tmp_path):
    sentences = make_sentences(3, 60, 3) + make_sentences(30, 60, 30)
    store = index_corpus([text(sentences)], tmp_path / "store.bp", part_bytes=500).corpus
    found, basis = fetch(PAIRS, fill_each(sentences)).corpus, Basis.of(store, 40)
    for settings in ({}, {"windows": Windows.parse("2-1/1-3-4")}):
        assert_same_counts(vectors(found, basis, **settings), vectors(store, basis, **settings))
    assert vectors(store, basis).seen.sum() > 10


def test_marks_entities_and_tags_in_the_text_stay_what_they_are(text, snippets, tmp_path):
    sentences = [
        'cat http://x.org/?a=1&copy=2&amp=3 lion &amp; "dog" cat',
        "<s> cat </s> lion <text id=1> &lt; &amp;amp; cat <g/> lion . . .",
        "\u2022 cat \u2060 AT&T lion's <unknown> cat \N{EMPTY SET} lion",
    ]
    store = index_corpus([text(sentences)], tmp_path / "store.bp").corpus
    found, basis = snippets(sentences, PAIRS[:3]), Basis.of(store, 100)
    assert found.pick_basis(100).terms == basis.terms and "\u2060" in basis.terms
    assert_same_counts(vectors(found, basis, PAIRS[:3]), vectors(store, basis, PAIRS[:3]))


def test_the_golden_sentence_from_raw_text(snippets):
    found = snippets(["Lion is the only cat that lives in large social groups."])
    assert features(vectors(found, Basis(("only", "that"), ()), CAT_LION)) == {
        "v1:pre:only": 1, "v1:post:that": 1, "v2:post:only": 1, "v12:-betw:only": 1, "v12:-post:that": 1,
    }  # fmt: skip


@pytest.mark.parametrize("limit", [1, 5])
def test_a_limit_applies_per_query_and_each_query_gives_its_own_order_and_gap(limit, snippets):
    sentences = make_sentences(7, 150, longest=12)
    found = snippets(sentences, PAIRS, policy=RequestPolicy(limit=limit))
    plan = plan_queries(CAT_LION)
    cat, lion = plan.forms["cat"], plan.forms["lion"]
    folded = [index_words(sentence) for sentence in sentences]

    def first(holds):
        return [words for words in folded if holds(words)][:limit]

    singles = sum(len(places(words, cat)) for words in first(lambda words: places(words, cat)))
    assert found.contexts("cat").total == singles
    orders = []
    for one, two in ((cat, lion), (lion, cat)):
        count = 0
        for gap in range(6):
            for words in first(lambda words, a=one, b=two, g=gap: holds_gap(words, a, b, g)):
                starts = {at for at, _ in places(words, cat) + places(words, lion)}
                ends = {b for b, size in places(words, two) if size == 1}
                couples = [(a, a + 1 + gap) for a, _ in places(words, one) if a + 1 + gap in ends]
                count += sum(not any(a < other < b for other in starts) for a, b in couples)
        orders.append(count)
    couple = tuple(found.resolve(["cat", "lion"]))
    _, counted = found.count_pairs([couple], Basis(("the",), ()), CountSettings(limit=None))
    assert counted.tolist() == [orders * 2]
    assert found.manifest["queries_capped"] > 0
    assert found.contexts("cat", "lion").total == sum(orders)


def test_forms_that_overlap_serve_both_targets(snippets):
    """Found is a form of find and a word of its own: a place may be either."""
    how = {"options": TextOptions(level="form", annotator="none")}
    how["inflector"] = Inflector("xx", {"find": ["found"], "found": []})
    found = snippets(["they found a find", "we find it"], [("find", "found")], **how)
    assert (found.contexts("find").total, found.contexts("found").total) == (3, 1)
    assert [line.order for line in found.contexts("find", "found")] == ["-"]


def test_a_foreign_index_is_split_into_our_sentences(node, host, fetch):
    """The user's own index: long texts, and words without punctuation, as a server's standard analyzer has them.

    The comma is no word for it, so that `lion, cat` is found with another gap than ours and must count nevertheless.
    """
    body = "Dr. Smith has a cat. A lion, so they say, is a big cat! Nothing here. The cat's lion sleeps. Lion, cat."
    words = " ".join(re.findall(r"\w+(?:'\w+)?", body.lower()))
    node.add("articles", {0: {"body": body, "words": words}, 1: {"body": "none", "words": "none"}})
    found = fetch(CAT_LION, f"opensearch+http://{host}/articles?field=body").corpus
    assert found.contexts("cat").total == 4
    assert found.contexts("cat")[0].text == "Dr. Smith has a cat."
    lines = [(line.order, line.text) for line in found.contexts("cat", "lion")]
    assert ("+", "The cat's lion sleeps.") in lines
    assert [line for line in lines if line[1] == "Lion, cat."] == [("-", "Lion, cat.")]


# As an artefact ----------------------------------------------------------------------------------------------------


def test_it_serves_wherever_a_store_does(snippets, tmp_path):
    out = tmp_path / "s.bps"
    snippets(make_sentences(3, 100), PAIRS[:3])
    opened = open_source(out)
    assert isinstance(opened, SnippetCorpus) and opened.verify() == []
    X = PairVectorizer(out, b=10).fit_transform(PAIRS[:2])
    assert X.shape == (2, 20 * 10) and X.sum() > 0
    facts = opened.info()
    expected = {"tokens", "sentences", "documents", "types", "engine", "queries", "snippets_per_query"}
    assert expected <= facts.keys() and (facts["kind"], facts["pairs"]) == ("snippets", 2)
    assert opened.contexts("cat", "lion", limit=1)[0].to_dict()["key"].lower().startswith(("cat", "lion"))
    assert Corpus.open(data_of(out) / "sentences").sentences == facts["sentences"]


def test_sketches_and_the_explorer_over_snippets(text, snippets, tmp_path):
    sentences, pairs = make_sentences(2, 300), [PAIRS[0], PAIRS[2], PAIRS[3], PAIRS[7]]
    store = index_corpus([text(sentences)], tmp_path / "store.bp").corpus
    found = snippets(sentences, pairs)
    for pair in pairs[:3]:
        one, two = (sketch_pair(as_source(source), *pair, top=100) for source in (store, found))
        assert (one.together, one.n_plus) == (two.together, two.n_plus) and one.together > 5
        assert one.distances_plus == two.distances_plus
        assert sum(m.count for m in one.middles) == sum(m.count for m in two.middles)
    assert sketch_pair(found, "unicorn", "cat").unknown == ("unicorn",)
    assert sketch_word(found, "cat").count == sketch_word(as_source(store), "cat").count
    library = Library(str(found.path))
    warm_up(library)
    assert [(own.w1, own.w2) for own in home(library).examples] == pairs, "only what was fetched can be asked"
    for path in ("/", "/word/cat", "/pair/cat/lion", "/concordance?w1=cat&w2=lion&sort=left"):
        assert ask(path, found.path).status_code == 200, path
    for path, message in (("/pair/dog/zebra", "bagpack fetch"), ("/pair/unicorn/cat", "<b>unicorn</b>")):
        answer = ask(path, found.path)
        assert answer.status_code == 404 and message in answer.text


def test_words_and_pairs_that_were_not_fetched_are_reported(snippets):
    found = snippets(["cat lion dog"], [("cat", "lion"), ("dog", "cat")])
    for pair, windows, error, message in (
        (("cat", "zebra"), Windows(), StoreError, r"no snippets for 'zebra'.*bagpack fetch again"),
        (("dog", "lion"), Windows(), StoreError, "pair '(dog lion|lion dog)'"),
        (("cat", "lion"), Windows.parse("4/2-6-2"), UsageError, " 5 .* 6 .*lower"),
    ):
        with pytest.raises(error, match=message):
            vectors(found, Basis(("dog",), ()), [pair], windows=windows)


def test_the_content_hash_is_of_the_content(snippets, fetch):
    first = snippets(["cat lion", "cat dog lion"])
    assert fetch(CAT_LION, out="b.bps").corpus.content_hash == first.content_hash
    limited = fetch(CAT_LION, out="c.bps", policy=RequestPolicy(limit=1)).corpus
    forms = fetch(CAT_LION, out="d.bps", options=TextOptions(level="form")).corpus
    assert len({first.content_hash, limited.content_hash, forms.content_hash}) == 3


def test_damage_is_found(snippets, tmp_path):
    found, out = snippets(["cat lion"]), tmp_path / "s.bps"
    for file in [path for path in sorted(out.rglob("*")) if path.is_file() and path.stat().st_size]:
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        if file.name == "targets.tsv":
            with pytest.raises(StoreError, match=r"targets\.tsv .*checksum.*--overwrite"):
                SnippetCorpus.open(out).resolve(["cat"])
        if file == out / "manifest.json":
            with pytest.raises(StoreError, match=r"seal|JSON"):
                SnippetCorpus.open(out)
        else:
            assert [str(file) in message for message in found.verify()] == [True]
        file.write_bytes(whole)
    assert found.verify() == []


FORGED = [
    {"options": 3}, {"options": {"lang": 5}}, {"checksums": 3}, {"checksums": {}},
    {"file": "targets.tsv", "content": b"word\tkey\ncat\n"}, {"file": "targets.tsv", "content": b""},
    {"file": "pairs.tsv", "content": b"\ncat"},
    {"file": "pairs.tsv", "content": b"w1\tw2\tcapped\nzebra\tunicorn\t0\n"},
]  # fmt: skip


def test_a_forged_corpus_gives_a_sentence(snippets, tmp_path):
    snippets(["cat lion"])
    for number, change in enumerate(FORGED):
        forged = shutil.copytree(tmp_path / "s.bps", tmp_path / f"{number}.bps")
        forge(forged, **change)
        with pytest.raises(BagpackError):
            vectors(SnippetCorpus.open(forged), Basis(("dog",), ()), CAT_LION)


# Writing it --------------------------------------------------------------------------------------------------------


def test_fetching_again_asks_only_for_what_is_new(fill_each, fetch, tmp_path):
    url = fill_each(["cat lion", "a cat and a dog", "the dog saw a lion"])
    per_query, opening = (0, 0) if url.startswith("tantivy") else (1, 1)
    assert fetch(CAT_LION, url).requests == 14 * per_query + opening
    both = [*CAT_LION, ("dog", "cat")]
    with pytest.raises(StoreError, match=r"s\.bps exists.*--overwrite"):
        fetch(both, url)
    longer = fetch(both, url, overwrite=True)
    assert longer.requests == 13 * per_query + opening
    assert longer.corpus.contexts("dog", "cat").total == 1 and longer.corpus.verify() == []
    elsewhere = fetch(both, url, out="other.bps")
    assert (elsewhere.requests, elsewhere.corpus.content_hash) == (opening, longer.corpus.content_hash)
    assert sorted(path.name for path in tmp_path.glob("s.bps*")) == ["s.bps"]


def test_a_full_disk_while_the_corpus_is_written(monkeypatch, snippets, fetch, tmp_path):
    real = fetch_module.VerticalFile
    monkeypatch.setattr(fetch_module, "VerticalFile", lambda path: real(type(path)("/dev/full")))
    with pytest.raises(BagpackError, match="disk"):
        snippets(["cat lion"])
    assert not list(tmp_path.glob("s.bps*"))
    monkeypatch.undo()
    fetch(CAT_LION)
