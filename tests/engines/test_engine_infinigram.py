"""infini-gram's HTTP protocol, against a server with infini-gram's own engine behind it."""

import json
import random

import pytest
from engine_servers import serve

pytest.importorskip("infini_gram", reason="infini-gram's package answers: pip install infini-gram")

from engine_infinigram import Service

from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.base import BusyError, EngineError
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.queries import Query
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs

PAIRS = [("cat", "lion"), ("dog", "cat"), ("lion", "dog")]
WORDS = ["cat", "cats", "lion", "lions", "dog", "the", "of", "a", "big", "runs"]
DOG = Query("word", (("dog",), ("dogs",)))


def sentences(seed, count):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(2, 12))).capitalize() + "." for _ in range(count)]


@pytest.fixture
def service(tmp_path):
    """A service whose documents are several sentences, with filler that keeps matches apart; yields it and its URL."""
    (tmp_path / "index").mkdir()
    filler = " ".join(["x"] * 45) + "."
    held = Service([[*sentences(seed, 3), filler] for seed in range(40)], tmp_path / "index")

    def answer(method, path, headers, body):
        request = json.loads(body)
        held.requests.append(request)
        return *(held.misbehave(request) or (200, json.dumps(held.answer(request)))), {}

    with serve(answer) as place:
        yield held, f"infinigram+http://{place}/?index=v4_test"


def test_vectors_through_the_api_equal_those_of_a_store(service, tmp_path):
    held, url = service
    file = tmp_path / "documents.txt"
    file.write_text("".join(f"{document}\n\n" for document in held.documents))
    store = index_corpus([str(file)], tmp_path / "store.bp", TextOptions(paragraphs="blank")).corpus
    found = fetch_snippets(PAIRS, url, tmp_path / "s.bps", cache=tmp_path / "c")
    basis = Basis.of(store, 30)
    settings = CountSettings(limit=None)
    sources = map(as_source, (found.corpus, store))
    ours, theirs = (count_pairs(source, PAIRS, basis, settings) for source in sources)
    assert (ours.tocsr("v12") != theirs.tocsr("v12")).nnz == 0
    assert theirs.tocsr("v12").nnz > 100
    kinds = [request["query_type"] for request in held.requests]
    assert kinds.count("find_cnf") == 6, "three words with several forms, and each pair once"
    assert kinds.count("find") == 0
    assert all(request["max_disp_len"] == 200 for request in held.requests if "s" in request)
    assert found.requests == len(held.requests) == len({json.dumps(request) for request in held.requests})
    again = fetch_snippets(PAIRS, url, tmp_path / "t.bps", cache=tmp_path / "c")
    assert (again.requests, again.corpus.content_hash) == (0, found.corpus.content_hash)


def test_a_word_with_one_form_and_a_limit(service, connect):
    held, url = service
    found = connect(url).search(Query("word", (("runs",),)), 7)
    assert len(found) == 7
    assert all("runs" in snippet.text.lower() for snippet in found)
    assert [request["query_type"] for request in held.requests] == ["find", *["get_doc_by_rank"] * 7]


ANSWERS = {
    '{"error": "[Backend] Index not found: v4_test"}': "Index not found.*index=",
    "{}": "list",
    '{"segment_by_shard": 3, "ptrs_by_shard": 3}': "list",
    '{"segment_by_shard": [["a", "b"]], "ptrs_by_shard": [["a"]]}': "number",
    '{"segment_by_shard": [[0, 1]], "ptrs_by_shard": [[0]], "spans": [3]}': "spans",
}


def test_answers_that_are_none(service, connect):
    held, url = service
    for answer, message in ANSWERS.items():
        held.misbehave = lambda request, own=(200, answer): own
        with pytest.raises(EngineError, match=message) as error:
            connect(url).search(DOG, 5)
        assert not isinstance(error.value, BusyError)
    held.misbehave = lambda request: (503, "busy")
    with pytest.raises(BusyError, match="status 503"):
        connect(url).search(DOG, 5)
