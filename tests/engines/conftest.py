"""Engines of every kind, filled on demand, on loopback."""

from contextlib import ExitStack, closing

import engine_lucene
import pytest
from engine_servers import BruteForce, Node, serve

from bagpack.corpus.build.index import index_corpus
from bagpack.engines import base
from bagpack.engines.build import build_engine, corpus_sentences
from bagpack.engines.sentences import index_words

KINDS = ["tantivy", "opensearch", "lucene"]


@pytest.fixture
def connect():
    """`bagpack.engines.base.connect`; what it opens is closed after the test."""
    with ExitStack() as opened:
        yield lambda *arguments, **how: opened.enter_context(closing(base.connect(*arguments, **how)))


@pytest.fixture
def node():
    """A node that executes intervals in plain Python; set node.misbehave to make it fail."""
    made = Node(BruteForce)
    yield made
    made.ready.clear()
    engine_lucene.detach_thread()


@pytest.fixture
def host(node):
    with serve(node.answer) as host:
        yield host


@pytest.fixture
def text(tmp_path):
    """text(sentences) → a file of them, one a line."""

    def write(sentences, name="text.txt"):
        (tmp_path / name).write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def fill(request, text, tmp_path):
    """fill(kind, sentences) → the URL of an engine that has them; a server's index holds our tokens."""

    def make(kind, sentences, **settings):
        source = text(sentences)
        if kind == "tantivy":
            pytest.importorskip("tantivy")
            build_engine(str(tmp_path / "index"), [source], **settings)
            return f"tantivy:{tmp_path / 'index'}"
        if kind == "lucene" and (reason := engine_lucene.why_not()):
            pytest.skip(reason)
        node = request.getfixturevalue("node")
        node.executor = engine_lucene.Lucene if kind == "lucene" else BruteForce
        store = index_corpus([source], tmp_path / f"node{len(node.requests)}.bp").corpus
        texts = [marked for _, marked in corpus_sentences(store)]
        words = [" ".join(index_words(own)) for own in texts]
        node.add("docs", {n: {"body": own, "words": words[n]} for n, own in enumerate(texts)})
        return f"opensearch+http://{request.getfixturevalue('host')}/docs?field=body"

    return make


@pytest.fixture(params=KINDS)
def fill_each(request, fill):
    """fill_each(sentences) → a URL; every kind of engine in turn."""
    return lambda sentences, **settings: fill(request.param, sentences, **settings)
