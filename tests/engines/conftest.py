"""Engines of every kind, filled on demand, on loopback."""

import engine_lucene
import pytest
from engine_servers import BruteForce, Node, search_node

from bagpack.engines import base

KINDS = ["tantivy", "opensearch", "lucene"]


@pytest.fixture
def connect():
    """`bagpack.engines.base.connect`; what it opens is closed after the test."""
    opened = []

    def open_engine(*arguments, **settings):
        opened.append(base.connect(*arguments, **settings))
        return opened[-1]

    yield open_engine
    for engine in opened:
        engine.close()


@pytest.fixture
def node():
    """A node that executes intervals in plain Python; set node.misbehave to make it fail."""
    made = Node(BruteForce)
    yield made
    made.ready.clear()
    engine_lucene.detach_thread()


@pytest.fixture
def host(node):
    with search_node(node) as host:
        yield host


@pytest.fixture
def make_url(request, tmp_path):
    """make_url(kind) → a URL at which an index can be built."""

    def make(kind):
        if kind == "tantivy":
            pytest.importorskip("tantivy")
            return f"tantivy:{tmp_path / 'index'}"
        if kind == "lucene":
            if reason := engine_lucene.why_not():
                pytest.skip(reason)
            request.getfixturevalue("node").executor = engine_lucene.Lucene
        return f"opensearch+http://{request.getfixturevalue('host')}/docs"

    return make


@pytest.fixture(params=KINDS)
def engine_url(request, make_url):
    """Every kind of engine in turn."""
    return make_url(request.param)
