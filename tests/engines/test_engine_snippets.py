"""Snippets as a corpus: the same integers as a store, from the queries' own snippets alone."""

import json
import random
import re

import numpy as np
import pytest
from engine_oracle import holds_gap, places

from bagpack import Corpus, PairVectorizer
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.base import connect
from bagpack.engines.build import build_engine
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.inflect import Inflector
from bagpack.engines.queries import plan_queries
from bagpack.engines.snippets.corpus import SnippetCorpus
from bagpack.engines.snippets.fetching import fetch_snippets
from bagpack.engines.words import index_words
from bagpack.errors import BagpackError, StoreError, UsageError
from bagpack.sources import as_source, open_source
from bagpack.vectors import BlockMatrix

WORDS = [
    "cat", "cats", "Cat", "lion", "lions", "dog", "dogs", "ice", "cream", "creams", "the", "The", "of", "a", ",",
    "big", "runs",
]  # fmt: skip
PAIRS = [
    ("cat", "lion"),
    ("lion", "cat"),
    ("dog", "cat"),
    ("ice cream", "cat"),
    ("cats", "dogs"),
    ("cat", "cat"),
]
PAIRS += [("ice_cream", "Lion"), ("unicorn", "cat")]


def make_sentences(seed, count, longest=16):
    chance = random.Random(seed)
    made = {" ".join(chance.choices(WORDS, k=chance.randint(1, longest))) for _ in range(count)}
    return sorted(made)


@pytest.fixture
def text(tmp_path):
    def write(sentences, name="text.txt"):
        file = tmp_path / name
        file.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
        return str(file)

    return write


def vectors(source, basis, pairs=PAIRS, **settings):
    settings = {"limit": None, **settings}
    return BlockMatrix.count(as_source(source), pairs, basis, CountSettings(**settings))


def assert_same_counts(one, two):
    for condition in ("v1v2", "v12"):
        assert (one.block(condition) != two.block(condition)).nnz == 0
    assert np.array_equal(one.seen, two.seen)
    assert one.unknown_words == two.unknown_words


def test_every_engine_gives_the_vectors_of_the_store(engine_url, text, tmp_path):
    source = text(make_sentences(1, 120))
    store = index_corpus([source], tmp_path / "store.bp", jobs=1).corpus
    build_engine(engine_url, [source], jobs=1)
    snippets = fetch_snippets(PAIRS, engine_url, tmp_path / "s.bps", cache=tmp_path / "cache")
    basis = Basis.of(store, 40)
    expected = vectors(store, basis)
    assert_same_counts(vectors(snippets, basis), expected)
    assert expected.seen.sum() > 50
    for path in (tmp_path / "s.bps").rglob("*"):
        assert not path.is_file() or b"s3cret" not in path.read_bytes()


@pytest.mark.parametrize("seed", range(6))
def test_the_vectors_of_the_store_on_random_texts(seed, text, tmp_path):
    source = text(make_sentences(100 + seed, 60, longest=(3, 6, 10, 20, 30, 40)[seed]))
    store = index_corpus([source], tmp_path / "store.bp", jobs=1, part_bytes=500).corpus
    build_engine(str(tmp_path / "index"), [str(tmp_path / "store.bp")])
    snippets = fetch_snippets(
        PAIRS, f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps", cache=tmp_path / "cache"
    )
    basis = Basis.of(store, 30)
    for settings in ({}, {"count": "token"}, {"windows": Windows.parse("2-1/1-3-4")}):
        assert_same_counts(vectors(snippets, basis, **settings), vectors(store, basis, **settings))


def test_marks_entities_and_tags_in_the_text_stay_what_they_are(text, tmp_path):
    source = text(
        [
            'cat http://x.org/?a=1&copy=2&amp=3 lion &amp; "dog" cat',
            "<s> cat </s> lion <text id=1> &lt; &amp;amp; cat <g/> lion . . .",
            "\u2022 cat \u2060 AT&T lion's <unknown> cat \N{EMPTY SET} lion",
        ]
    )
    store = index_corpus([source], tmp_path / "store.bp", jobs=1).corpus
    build_engine(str(tmp_path / "index"), [source], jobs=1)
    url = f"tantivy:{tmp_path / 'index'}"
    snippets = fetch_snippets(PAIRS[:3], url, tmp_path / "s.bps", cache=tmp_path / "cache")
    basis = Basis.of(store, 100)
    assert snippets.pick_basis(100).terms == basis.terms
    assert "\u2060" in basis.terms
    assert_same_counts(vectors(snippets, basis, PAIRS[:3]), vectors(store, basis, PAIRS[:3]))


def test_the_golden_sentence_from_raw_text(text, tmp_path):
    source = text(["Lion is the only cat that lives in large social groups."])
    build_engine(str(tmp_path / "index"), [source], jobs=1)
    snippets = fetch_snippets(
        [("cat", "lion")], f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps", cache=tmp_path / "c"
    )
    matrix = vectors(snippets, Basis(("only", "that"), ()), [("cat", "lion")])
    row = matrix.block("v1v2v12").toarray()[0]
    names = matrix.feature_names("v1v2v12")
    assert {name: int(n) for name, n in zip(names, row, strict=True) if n} == {
        "v1:pre:only": 1, "v1:post:that": 1, "v2:post:only": 1, "v12:-betw:only": 1, "v12:-post:that": 1,
    }  # fmt: skip


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_a_limit_bites_per_query_and_each_query_gives_its_own_order_and_gap(limit, text, tmp_path):
    sentences = make_sentences(7, 150, longest=12)
    build_engine(str(tmp_path / "index"), [text(sentences)], jobs=1)
    url = f"tantivy:{tmp_path / 'index'}"
    snippets = fetch_snippets(
        PAIRS, url, tmp_path / "s.bps", cache=tmp_path / "c", policy=RequestPolicy(limit=limit)
    )
    plan = plan_queries([("cat", "lion")])
    cat, lion = plan.targets["cat"], plan.targets["lion"]
    folded = [index_words(sentence) for sentence in sentences]

    def first(holds):
        return [words for words in folded if holds(words)][:limit]

    singles = sum(len(places(words, cat)) for words in first(lambda words: places(words, cat)))
    assert snippets.contexts("cat").total == singles
    orders = []
    for one, two in ((cat, lion), (lion, cat)):
        found = 0
        for gap in range(6):
            for words in first(lambda words, a=one, b=two, g=gap: holds_gap(words, a, b, g)):
                starts = {at for at, _ in places(words, cat) + places(words, lion)}
                found += sum(
                    (b, 1) in places(words, two) and not any(a < other < b for other in starts)
                    for a, _ in places(words, one)
                    if (b := a + 1 + gap) < len(words)
                )
        orders.append(found)
    couple = tuple(snippets.resolve(["cat", "lion"]))
    counted = snippets.count_pairs([couple], Basis(("the",), ()), CountSettings(limit=None))
    assert counted.found.tolist() == counted.taken.tolist() == [orders]
    assert snippets.manifest["queries_capped"] > 0
    assert snippets.contexts("cat", "lion").total == sum(orders)


def test_caps_and_samples_apply_to_snippets(text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(make_sentences(3, 200))], jobs=1)
    snippets = fetch_snippets(
        PAIRS, f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps", cache=tmp_path / "c"
    )
    basis = snippets.pick_basis(20)
    capped = vectors(snippets, basis, limit=5)
    assert "cat" in {word.removeprefix("\ufdd0") for word in capped.capped_words}
    assert capped.block("v12").max() <= 5 < capped.seen.max()
    couple = tuple(snippets.resolve(["cat", "lion"]))
    for settings in (CountSettings(limit=5), CountSettings(limit=5, sample=1)):
        assert snippets.count_pairs([couple], basis, settings).taken.sum() == 5


def test_it_serves_wherever_a_store_does(text, tmp_path, cli):
    build_engine(str(tmp_path / "index"), [text(make_sentences(3, 100))], jobs=1)
    out = tmp_path / "s.bps"
    fetch_snippets(PAIRS[:3], f"tantivy:{tmp_path / 'index'}", out, cache=tmp_path / "c")
    opened = open_source(out)
    assert isinstance(opened, SnippetCorpus)
    X = PairVectorizer(out, b=10).fit_transform(PAIRS[:2])
    assert X.shape == (2, 20 * 10)
    assert X.sum() > 0
    assert opened.verify() == []
    facts = opened.info()
    assert facts["kind"] == "snippets"
    assert {
        "tokens",
        "sentences",
        "documents",
        "types",
        "engine",
        "queries",
        "snippets_per_query",
    } <= facts.keys()
    assert facts["pairs"] == 2
    line = opened.contexts("cat", "lion", limit=1)[0]
    assert line.to_dict()["key"].lower().startswith(("cat", "lion"))
    assert Corpus.open(out / "sentences").sentences == facts["sentences"]


def test_single_contexts_come_from_the_words_own_query_alone(text, tmp_path):
    """With one snippet a query, the pair's queries find sentences that the word's own does not."""
    build_engine(
        str(tmp_path / "index"), [text(["cat one", "lion two", "cat lion three", "lion of cat four"])], jobs=1
    )
    snippets = fetch_snippets(
        [("cat", "lion")], f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps", cache=tmp_path / "c",
        policy=RequestPolicy(limit=1),
    )  # fmt: skip
    matrix = vectors(snippets, Basis(("one", "two", "three", "four", "of"), ()), [("cat", "lion")])
    row = dict(
        zip(matrix.feature_names("v1v2v12"), matrix.block("v1v2v12").toarray()[0].tolist(), strict=True)
    )
    assert {name for name, count in row.items() if count} == {
        "v1:post:one", "v2:post:two", "v12:+post:three", "v12:-betw:of", "v12:-post:four",
    }  # fmt: skip


def test_words_and_pairs_that_were_not_fetched_are_reported(text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(["cat lion dog"])], jobs=1)
    snippets = fetch_snippets(
        [("cat", "lion"), ("dog", "cat")],
        f"tantivy:{tmp_path / 'index'}",
        tmp_path / "s.bps",
        cache=tmp_path / "c",
    )
    basis = Basis(("dog",), ())
    with pytest.raises(StoreError, match=r"no snippets for 'zebra'.*bagpack fetch again"):
        vectors(snippets, basis, [("cat", "zebra")])
    with pytest.raises(StoreError, match=r"no snippets for the pair '(dog lion|lion dog)'"):
        vectors(snippets, basis, [("dog", "lion")])
    with pytest.raises(UsageError, match="at most 5 words between"):
        vectors(snippets, basis, [("cat", "lion")], windows=Windows.parse("4/2-6-2"))


def test_the_content_hash_is_of_the_content(text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(["cat lion", "cat dog lion"])], jobs=1)
    url = f"tantivy:{tmp_path / 'index'}"

    def fetched(name, **more):
        return fetch_snippets([("cat", "lion")], url, tmp_path / name, cache=tmp_path / "c", **more)

    first = fetched("a.bps")
    assert fetched("b.bps").content_hash == first.content_hash
    assert fetched("c.bps", policy=RequestPolicy(limit=1)).content_hash != first.content_hash
    assert fetched("d.bps", options=TextOptions(level="form")).content_hash != first.content_hash


def test_damage_is_found(text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(["cat lion"])], jobs=1)
    out = tmp_path / "s.bps"
    snippets = fetch_snippets([("cat", "lion")], f"tantivy:{tmp_path / 'index'}", out, cache=tmp_path / "c")
    (out / "targets.tsv").write_text("word\tkey\n")
    shard = next((out / "pairs" / "shards").glob("*/tokens"))
    shard.write_bytes(b"\0" * shard.stat().st_size)
    message = " ".join(snippets.verify())
    assert "targets.tsv" in message
    assert "tokens" in message
    for content in (b"word\tkey\n", b"word\tkey\n\xff\tcat\n"):
        (out / "targets.tsv").write_bytes(content)
        with pytest.raises(StoreError, match=r"targets\.tsv does not match its checksum .*--overwrite"):
            SnippetCorpus.open(out).resolve(["cat"])
    (out / "targets.tsv").unlink()
    with pytest.raises(StoreError, match=r"targets\.tsv is missing; fetch them again with --overwrite"):
        SnippetCorpus.open(out).resolve(["cat"])
    with pytest.raises(StoreError, match=r"targets\.tsv is missing; --overwrite rebuilds"):
        fetch_snippets([("cat", "lion")], f"tantivy:{tmp_path / 'index'}", out, cache=tmp_path / "c")
    manifest = out / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"pairs": 1,', '"pairs": 3,'))
    with pytest.raises(StoreError, match=r"manifest\.json does not match its own seal"):
        SnippetCorpus.open(out)


@pytest.mark.parametrize("case", ["newer", "kind", "nothing"])
def test_what_is_no_snippet_corpus(case, tmp_path):
    path = tmp_path / "x.bps"
    if case != "nothing":
        path.mkdir()
        made = {"kind": "snippets" if case == "newer" else "model", "format_version": 99}
        (path / "manifest.json").write_text(json.dumps(made))
    message = {"newer": "format version 99", "kind": "a BagPack model", "nothing": "no snippet corpus at"}[
        case
    ]
    with pytest.raises(StoreError, match=message):
        SnippetCorpus.open(path)


@pytest.mark.parametrize(
    "name, content", [("notes.txt", "mine"), ("manifest.json", "[1]"), ("manifest.json", "{")]
)
def test_what_is_no_snippet_corpus_is_left_alone(name, content, text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(["cat lion"])], jobs=1)
    url, other = f"tantivy:{tmp_path / 'index'}", tmp_path / "mine"
    other.mkdir()
    (other / name).write_text(content)
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="is not a BagPack snippet corpus, so it is not replaced"):
            fetch_snippets([("cat", "lion")], url, other, cache=tmp_path / "c", overwrite=overwrite)
    assert (other / name).read_text() == content
    with pytest.raises(UsageError, match="no pairs"):
        fetch_snippets([], url, tmp_path / "none.bps", cache=tmp_path / "c")


def test_fetching_again_asks_only_for_what_is_new(engine_url, text, tmp_path):
    build_engine(engine_url, [text(["cat lion", "a cat and a dog", "the dog saw a lion"])], jobs=1)
    out = tmp_path / "s.bps"
    backup = tmp_path / "s.bps.old"
    backup.mkdir()

    def fetch(pairs, place=out, **more):
        asked, message = [0], []
        corpus = fetch_snippets(
            pairs, engine_url, place, cache=tmp_path / "c", progress=lambda *numbers: asked.append(numbers[2]),
            notice=message.append, **more,
        )  # fmt: skip
        return corpus, asked[-1], message

    first, asked, message = fetch([("cat", "lion")])
    assert (asked, message) == (14, [])
    made = (out / "manifest.json").stat().st_ino
    _, asked, message = fetch([("cat", "lion")])
    assert asked == 0
    assert message == [
        f"{out} holds the answers to all 14 queries already: no query is left to send (--overwrite rebuilds it)"
    ]
    assert (out / "manifest.json").stat().st_ino == made, "left as it is"
    longer, asked, message = fetch([("cat", "lion"), ("dog", "cat")])
    assert (asked, message) == (13, [])
    assert longer.contexts("dog", "cat").total == 1
    assert longer.verify() == []
    elsewhere, asked, _ = fetch([("cat", "lion"), ("dog", "cat")], tmp_path / "other.bps")
    assert (asked, elsewhere.content_hash) == (0, longer.content_hash)
    anew, asked, message = fetch([("cat", "lion")], overwrite=True)
    assert (asked, message, anew.content_hash) == (0, [], first.content_hash)
    assert backup.is_dir(), "a copy of the user's own"
    assert sorted(path.name for path in tmp_path.glob("s.bps*")) == ["s.bps", "s.bps.old"]


def test_an_index_that_was_filled_anew_is_asked_anew(text, tmp_path):
    url, out = f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps"
    build_engine(url, [text(["cat lion"])], jobs=1)
    before = fetch_snippets([("cat", "lion")], url, out, cache=tmp_path / "c")
    build_engine(url, [text(["cat lion", "a lion saw a cat"])], jobs=1, overwrite=True)
    after = fetch_snippets([("cat", "lion")], url, out, cache=tmp_path / "c")
    assert (before.manifest["pair_contexts"], after.manifest["pair_contexts"]) == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": TextOptions(level="form", case="keep")},
         r"s\.bps was fetched with --level lemma \(now form\), --case fold \(now keep\); choose another --out, or "
         r"--overwrite it"),
        ({"policy": RequestPolicy(limit=7)}, r"--limit 1000 \(now 7\); choose another"),
        ({"inflector": Inflector("en", {"cat": ["kitten"]})},
         r"other --forms: 'cat' was cat \| cats \| catting \| catted, and is cat \| kitten now"),
        ({"pairs": [("cat", "lion")]}, "holds the pair 'dog cat' that the list does not have; add it to the list"),
        ({"pairs": [("cat", "cats")]}, "holds 2 pairs, such as 'cat lion', that the list does not have; add them"),
        ({"engine": "another"}, r"was fetched from tantivy:\S+index, not from tantivy:\S+another; choose another"),
    ],
)  # fmt: skip
def test_what_differs_from_an_existing_snippet_corpus_is_reported(change, message, text, tmp_path):
    for name in ("index", "another"):
        build_engine(str(tmp_path / name), [text(["cat lion"])], jobs=1)
    wanted = {"pairs": [("cat", "lion"), ("dog", "cat")], "engine": "index", **change}

    def fetch(pairs, engine, **more):
        url = f"tantivy:{tmp_path / engine}"
        return fetch_snippets(pairs, url, tmp_path / "s.bps", cache=tmp_path / "c", **more)

    before = fetch([("cat", "lion"), ("dog", "cat")], "index")
    with pytest.raises(StoreError, match=message):
        fetch(**wanted)
    assert SnippetCorpus.open(tmp_path / "s.bps").content_hash == before.content_hash
    assert fetch(**wanted, overwrite=True).verify() == []


def test_forms_that_overlap_serve_both_targets(text, tmp_path):
    """Found is a form of find and a word of its own: a place may be either."""
    build_engine(str(tmp_path / "index"), [text(["they found a find", "we find it"])], jobs=1)
    inflector = Inflector("xx", {"find": ["found"], "found": []})
    snippets = fetch_snippets(
        [("find", "found")], f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps", cache=tmp_path / "c",
        inflector=inflector, options=TextOptions(level="form", annotator="none"),
    )  # fmt: skip
    assert snippets.contexts("find").total == 3
    assert snippets.contexts("found").total == 1
    orders = [line.order for line in snippets.contexts("find", "found")]
    assert orders == ["-"]


@pytest.mark.parametrize("kind", ["postgresql", "opensearch"])
def test_a_foreign_index_is_split_into_our_sentences(kind, request, tmp_path):
    """The user's own table or index: long texts, the engine's own idea of words."""
    body = "Dr. Smith has a cat. A lion, so they say, is a big cat! Nothing here. The cat's lion sleeps."
    if kind == "postgresql":
        import psycopg

        base = request.getfixturevalue("postgres")
        with psycopg.connect(base) as connection:
            connection.execute("DROP TABLE IF EXISTS articles")
            connection.execute("CREATE TABLE articles (name text, body text)")
            connection.execute("INSERT INTO articles VALUES ('a', %s), ('b', 'no animals')", (body,))
        url = f"{base}?table=articles&column=body&id=name"
        with pytest.raises(UsageError, match="column"):
            connect(f"{base}?table=articles")
    else:
        pytest.importorskip("opensearchpy")
        node = request.getfixturevalue("node")
        node.indices["articles"] = {
            "mappings": {"properties": {"body": {"type": "text"}}},
            "documents": {0: {"body": body, "words": index_text(body)}, 1: {"body": "none", "words": "none"}},
        }
        base = f"opensearch+http://{request.getfixturevalue('host')}/articles"
        with pytest.raises(UsageError, match="field"):
            connect(base)
        url = f"{base}?field=body"
    snippets = fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c")
    assert snippets.contexts("cat").total == 3
    found = [(line.order, line.text) for line in snippets.contexts("cat", "lion")]
    assert ("+", "The cat's lion sleeps.") in found
    assert snippets.contexts("cat")[0].text == "Dr. Smith has a cat."


def index_text(body):
    """As a server's standard analyzer has it: words without punctuation."""
    return " ".join(re.findall(r"\w+(?:'\w+)?", body.lower()))


def test_a_full_disk_while_the_corpus_is_written(monkeypatch, text, tmp_path):
    build_engine(str(tmp_path / "index"), [text(["cat lion"])], jobs=1)
    url, out = f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps"
    from bagpack.engines.snippets import fetching as module

    real = module.write_vertical
    monkeypatch.setattr(module, "write_vertical", lambda path, lines: real(type(path)("/dev/full"), lines))
    with pytest.raises(BagpackError, match="disk is full"):
        fetch_snippets([("cat", "lion")], url, out, cache=tmp_path / "c")
    assert not out.exists()
    assert not out.with_name("s.bps.partial").exists()
    monkeypatch.undo()
    fetch_snippets([("cat", "lion")], url, out, cache=tmp_path / "c")
