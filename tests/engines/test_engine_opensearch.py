"""OpenSearch and Elasticsearch: loading, order, certificates."""

import json
import shutil
import ssl
import subprocess

import pytest
from engine_servers import Node, search_node

from bagpack.engines import opensearch
from bagpack.engines.base import EngineError
from bagpack.engines.build import build_engine
from bagpack.engines.cache import RequestPolicy
from bagpack.engines.queries import Query

CAT = Query("word", (("cat",),))


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(
        opensearch, "RequestPolicy", lambda **settings: RequestPolicy(**settings, first_wait=0.001)
    )


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text.txt").write_text("".join(f"A cat, number {number}.\n" for number in range(50)))
    return str(tmp_path / "text.txt")


def test_documents_that_a_busy_node_refused_are_sent_again(node, make_url, connect, text):
    tries = {}

    def refuse(number):
        tries[number] = tries.get(number, 0) + 1
        if number % 7 == 0 and tries[number] < 3:
            return {
                "status": 429,
                "error": {"type": "es_rejected_execution_exception", "reason": "queue is full"},
            }
        return None

    node.refuse_document = refuse
    url = make_url("opensearch")
    build_engine(url, [text])
    assert len(connect(url).search(CAT, 100)) == 50
    assert tries[7] == 3


def test_a_document_that_is_refused_for_good(node, make_url, text):
    node.refuse_document = lambda number: (
        {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "too long"}}
        if number == 9
        else None
    )
    with pytest.raises(EngineError, match="could not index a sentence: too long"):
        build_engine(make_url("opensearch"), [text])
    assert node.indices == {}, "the unfinished index is removed"


def test_hits_of_a_foreign_index_are_in_index_order(node, make_url, connect):
    url = make_url("opensearch")
    fields = {"body": {"type": "text"}, "meta": {"properties": {"title": {"type": "text"}}}}
    node.indices["docs"] = {"mappings": {"properties": fields}, "settings": {}, "documents": {}}
    connect(f"{url}?field=body").search(CAT, 10)
    assert json.loads(node.requests[-1][2])["sort"] == [{"_doc": "asc"}]
    connect(f"{url}?field=meta.title")
    with pytest.raises(EngineError, match="has no field 'title'; correct field="):
        connect(f"{url}?field=title")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that nobody has signed."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed: apt install openssl")
    place = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", place / "key.pem", "-out", place / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return place


def test_certificates(certificate, connect, text, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with search_node(Node(), context) as host:
        url = f"elasticsearch+https://{host}/docs"
        with pytest.raises(EngineError, match=r"no certificate that is trusted here .* in SSL_CERT_FILE"):
            connect(url, timeout=5)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        build_engine(url, [text])
        assert len(connect(url).search(CAT, 100)) == 50
