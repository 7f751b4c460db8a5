"""infini-gram: counts from a local index, and the HTTP protocol against a server with the real engine behind it."""

import _thread
import json
import random
import threading
import time

import pytest
from engine_servers import serve

pytest.importorskip("infini_gram", reason="infini-gram is an extra: pip install 'bagpack[infinigram]'")

from infini_gram.engine import InfiniGramEngine as Library

from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.backends.infinigram import InfiniGramEngine, _tokens
from bagpack.engines.base import BusyError, EngineError, connect, engine_kind, parse_address
from bagpack.engines.build import build_engine
from bagpack.engines.counts import corpus_statistics, pair_statistics
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.fetch.cache import AnswerCache
from bagpack.engines.queries import Query
from bagpack.engines.snippets.fetching import fetch_snippets
from bagpack.engines.snippets.split import marked_sentences
from bagpack.engines.words import index_word, plain
from bagpack.errors import BagpackError
from bagpack.sources import as_source
from bagpack.vectors import BlockMatrix

PAIRS = [("cat", "lion"), ("dog", "cat"), ("lion", "dog")]
WORDS = ["cat", "cats", "lion", "lions", "dog", "the", "of", "a", "big", "runs"]


def sentences(seed, count):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(2, 12))).capitalize() + "." for _ in range(count)]


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("\n".join(sentences(3, 80)) + "\n")
    return str(file)


class Service:
    """The HTTP API over an index of ours: what it tokenises and how it detokenises is its own affair."""

    def __init__(self, engine: InfiniGramEngine, directory: str) -> None:
        self.ours = engine
        self.library = Library(index_dir=directory, eos_token_id=65534, vocab_size=65535, token_dtype="u16")
        self.requests = []
        self.misbehave = lambda request: None

    def ids(self, text):
        found = [self.ours._ids.get(index_word(word), 10**8) for word in text.split()]
        return _tokens(found).tolist()

    def answer(self, request):
        kind, text = request["query_type"], request["query"]
        if request["index"] != "v4_test":
            return {"error": f"[Backend] Index not found: {request['index']}"}
        cnf = [[self.ids(term) for term in clause.split(" OR ")] for clause in text.split(" AND ")]
        simple = len(cnf) == 1 and len(cnf[0]) == 1
        # Two tokens of this index are a word.
        bounds = {"max_diff_tokens": 2 * request.get("max_diff_tokens", 100),
                  "max_clause_freq": request.get("max_clause_freq", 50_000)}  # fmt: skip
        if kind == "count":
            found = self.library.count(cnf[0][0]) if simple else self.library.count_cnf(cnf, **bounds)
        elif kind == "find":
            found = self.library.find(cnf[0][0])
        elif kind == "find_cnf":
            found = self.library.find_cnf(cnf, **bounds)
        elif kind == "get_doc_by_rank":
            found = self.library.get_doc_by_rank(request["s"], request["rank"], request["max_disp_len"])
        elif kind == "get_doc_by_ptr":
            found = self.library.get_doc_by_ptr(request["s"], request["ptr"], request["max_disp_len"])
        else:
            return {"error": f"[Backend] Invalid query_type: {kind}"}
        if "doc_ix" in found:
            whole = plain(self.ours._texts.read([found["doc_ix"]])[0].text)
            found["spans"] = [[whole[:5], None], [whole[5:], "0"]]
        return {**found, "latency": 0.5, "token_ids": [], "tokens": []}


@pytest.fixture
def service(tmp_path):
    """A service whose documents are several sentences, with filler that keeps matches apart; yields it and its URL."""
    documents = [" ".join(sentences(seed, 3)) + " " + " ".join(["x"] * 45) + "." for seed in range(40)]
    directory = tmp_path / "documents"
    builder = engine_kind("infinigram").build(parse_address(f"infinigram:{directory}"), False)
    for number, document in enumerate(documents):
        builder.add(str(number), " ".join(marked_sentences(document, "en")))
    builder.finish()
    held = Service(connect(f"infinigram:{directory}"), str(directory))
    held.documents = documents

    def answer(method, path, headers, body):
        request = json.loads(body)
        held.requests.append(request)
        return *(held.misbehave(request) or (200, json.dumps(held.answer(request)))), {}

    with serve(answer) as place:
        yield held, f"infinigram+http://{place}/?index=v4_test"


def brute_force(corpus_sentences, one, two, gap):
    total = 0
    for sentence in corpus_sentences:
        words = sentence.rstrip(".").lower().split()
        total += sum(words[at] in one and words[at + gap + 1] in two for at in range(len(words) - gap - 1))
    return total


def test_counts_of_a_local_index_are_exact(text, tmp_path):
    url = f"infinigram:{tmp_path / 'index'}"
    build_engine(url, [text], jobs=1)
    found = pair_statistics(PAIRS, url, cache=tmp_path / "c")
    cat, lion = ("cat", "cats"), ("lion", "lions")
    assert found[0].before == tuple(brute_force(sentences(3, 80), cat, lion, gap) for gap in range(6))
    assert found[0].after == tuple(brute_force(sentences(3, 80), lion, cat, gap) for gap in range(6))
    assert found[0].together == sum(found[0].before) + sum(found[0].after) > 50
    assert found[0].count1 == sum(
        s.lower().rstrip(".").split().count(w) for s in sentences(3, 80) for w in cat
    )
    assert not any(pair.approximate for pair in found)


def test_counts_are_kept(text, tmp_path):
    url = f"infinigram:{tmp_path / 'index'}"
    build_engine(url, [text], jobs=1)
    first = pair_statistics(PAIRS, url, cache=tmp_path / "c")
    with AnswerCache(tmp_path / "c") as cache:
        spent = cache.spent(url)
        assert spent == 3 + 36
    assert pair_statistics(PAIRS, url, cache=tmp_path / "c", policy=RequestPolicy(spend=spent)) == first


def test_evaluate_takes_pair_statistics_from_an_engine(tmp_path, cli, monkeypatch):
    """The store has the words, never together; the order in which they meet in the index gives the label."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pairs = [(f"mora{i:02d}", f"fino{i:02d}", "forth" if i % 2 else "back") for i in range(40)]
    home, web, data = tmp_path / "home.txt", tmp_path / "web.txt", tmp_path / "pairs.tsv"
    home.write_text("".join(f"We saw {a} there.\nWe saw {b} there.\n" for a, b, _ in pairs))
    web.write_text(
        "".join(f"A {a} {b}.\n" * 3 if label == "forth" else f"A {b} {a}.\n" * 3 for a, b, label in pairs)
    )
    data.write_text("w1\tw2\tlabel\n" + "".join("\t".join(row) + "\n" for row in pairs))
    store, url = tmp_path / "home.bp", f"infinigram:{tmp_path / 'index'}"
    index_corpus([str(home)], store, jobs=1)
    build_engine(url, [str(web)], jobs=1)
    args = ("evaluate", store, data, "-b", 20, "--folds", 5, "--condition", "v12", "--json", "-j", 1)
    # Without the index no pair has a v12 at all.
    alone, counted = (json.loads(cli(*args, *more).out) for more in ((), ("--counts", url)))
    scores = [one["conditions"][0]["metrics"]["accuracy"]["mean"] for one in (alone, counted)]
    assert scores[0] <= 0.6 and scores[1] == 1.0
    (note,) = [note for note in counted["notes"] if "was counted by infinigram:" in note]
    assert (
        "(480 tokens); contexts are those of the corpus" in note
    )  # three sentences a pair, four tokens each
    assert counted["data"]["unseen_pairs"] == 40  # of the store
    refused = cli(*args, "--counts", url, "--preset", "paper")
    assert refused.code == 2 and "preset paper has none" in refused.err
    monkeypatch.setattr(BlockMatrix, "count", None)  # a wrong URL is found out before anything is counted
    assert "index-other does not exist" in cli(*args, "--counts", f"{url}-other").sentence()
    assert "there is no engine 'infinigam'; did you mean infinigram?" in cli(
        *args, "--counts", "infinigam:x"
    ).sentence(2)


def test_the_order_of_words_that_touch_stands_for_that_of_words_that_are_near(service, tmp_path):
    held, url = service
    found = corpus_statistics(PAIRS, url, cache=tmp_path / "c")
    assert found.tokens == held.library.count([])["count"] > 1000
    pair = found.pairs[0]
    n1, n2, plus, minus = pair.totals
    assert (n1, n2, plus + minus) == (pair.count1, pair.count2, pair.together)
    share = (pair.before[0] + 1) / (pair.before[0] + pair.after[0] + 2)
    assert plus == pytest.approx(share * pair.together)
    held.misbehave = lambda request: (400, '{"error": "empty query"}') if not request["query"] else None
    assert corpus_statistics(PAIRS[:1], url, cache=tmp_path / "other").tokens == 0


def test_an_engine_that_does_not_count(tmp_path, text):
    pytest.importorskip("tantivy")
    build_engine(str(tmp_path / "index"), [text], jobs=1)
    with pytest.raises(BagpackError, match="gives no counts; use infinigram"):
        pair_statistics(PAIRS, str(tmp_path / "index"), cache=tmp_path / "c")


def test_vectors_through_the_api_equal_those_of_a_store(service, tmp_path):
    held, url = service
    file = tmp_path / "documents.txt"
    file.write_text("".join(f"{document}\n\n" for document in held.documents))
    store = index_corpus([str(file)], tmp_path / "store.bp", TextOptions(paragraphs="blank"), jobs=1).corpus
    snippets = fetch_snippets(PAIRS, url, tmp_path / "s.bps", cache=tmp_path / "c", jobs=1)
    basis = Basis.of(store, 30)
    settings = CountSettings(limit=None)
    ours, theirs = (
        BlockMatrix.count(as_source(source), PAIRS, basis, settings) for source in (snippets, store)
    )
    assert (ours.block("v12") != theirs.block("v12")).nnz == 0
    assert theirs.block("v12").nnz > 100
    kinds = [request["query_type"] for request in held.requests]
    assert kinds.count("find_cnf") == 6, "three words with several forms, and each pair once"
    assert kinds.count("find") == 0
    assert all(request["max_disp_len"] == 200 for request in held.requests if "s" in request)


def test_counts_through_the_api(service, tmp_path):
    held, url = service
    found = pair_statistics(PAIRS, url, cache=tmp_path / "c")
    body = [s for document in held.documents for s in document.split(". ")]
    assert found[0].before[0] == brute_force(body, ("cat", "cats"), ("lion", "lions"), 0)
    assert found[0].before[1:] == (None,) * 5
    assert found[0].together >= found[0].before[0] + found[0].after[0] > 0
    assert not found[0].approximate
    assert {request["query_type"] for request in held.requests} == {"count"}, "no document was fetched"


@pytest.mark.parametrize("connections", [1, 3])
def test_counts_that_are_on_their_way_are_kept_after_ctrl_c(ctrl_c, service, tmp_path, connections):
    held, url = service

    interrupted = threading.Event()

    def interrupt(request):
        if len(held.requests) >= 5 and not interrupted.is_set():
            interrupted.set()
            _thread.interrupt_main()  # a signal would end the process where a JVM has its own handler
        time.sleep(0.1)

    held.misbehave = interrupt
    with pytest.raises(KeyboardInterrupt):
        pair_statistics(PAIRS, url, cache=tmp_path / "c", policy=RequestPolicy(connections=connections))
    paid = [request["query"] for request in held.requests]
    assert len(paid) >= 5
    pair_statistics(PAIRS, url, cache=tmp_path / "c")
    counted = [request["query"] for request in held.requests]
    assert len(counted) == len(set(counted)) or connections > 1, "nothing is asked twice"
    with AnswerCache(tmp_path / "c") as cache:
        assert cache.spent(url) == len(counted)


def test_an_estimate_is_marked(service, tmp_path):
    held, url = service
    held.misbehave = lambda request: (200, '{"count": 3, "approx": true, "latency": 1.0}')
    assert pair_statistics(PAIRS[:1], url, cache=tmp_path / "c")[0].approximate


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            (200, '{"error": "[Backend] Index not found: v4_test"}'),
            "could not answer: .*Index not found.*index=",
        ),
        ((200, "[]"), "no JSON object"),
        ((200, "{}"), "without a list"),
        ((200, '{"segment_by_shard": 3, "ptrs_by_shard": 3}'), "without a list"),
        ((200, '{"segment_by_shard": [["a", "b"]], "ptrs_by_shard": [["a"]]}'), "without a number"),
        ((200, '{"segment_by_shard": [[0, 1]], "ptrs_by_shard": [[0]], "spans": [3]}'), "without spans"),
        ((400, '{"error": "query is too long"}'), "could not answer: query is too long"),
        ((200, "<html>"), "not JSON"),
    ],
)
def test_answers_that_are_none(service, answer, message):
    held, url = service
    held.misbehave = lambda request: answer
    with pytest.raises(EngineError, match=message) as error:
        connect(url).search(Query("word", (("dog",), ("dogs",))), 5)
    assert not isinstance(error.value, BusyError)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_service(service, status):
    held, url = service
    held.misbehave = lambda request: (status, "busy")
    with pytest.raises(BusyError, match=f"status {status}"):
        connect(url).search(Query("word", (("dog",),)), 5)


def test_wrong_urls(service):
    with pytest.raises(BagpackError, match="must name an index"):
        connect("infinigram+http://127.0.0.1:9/")
    with pytest.raises(BagpackError, match="cannot be filled"):
        build_engine("infinigram+http://127.0.0.1:9/?index=x", ["x"])


def test_a_store_is_not_an_index_of_another_engine(text, tmp_path):
    build_engine(f"infinigram:{tmp_path / 'index'}", [text], jobs=1)
    with pytest.raises(EngineError, match=r"is an index of infinigram; write infinigram:"):
        connect(f"tantivy:{tmp_path / 'index'}")
