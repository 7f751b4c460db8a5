"""Bad input and bad luck, engine by engine: one sentence, the cure, no credentials; what was fetched stays."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from engine_servers import PASSWORD, free_port

from bagpack.engines.base import BusyError, EngineError, connect, parse_address
from bagpack.engines.build import build_engine
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.queries import Query
from bagpack.engines.snippets.corpus import SnippetCorpus
from bagpack.engines.snippets.fetching import fetch_snippets
from bagpack.errors import BagpackError

CAT = Query("word", (("cat",),))
SECRET = "hunter2%2Fx"
ONCE = RequestPolicy(retries=0)


def message(error):
    text = str(error.value)
    for secret in (PASSWORD, SECRET, "hunter2", "s3cret", "hunter2/x"):
        assert secret not in text
        assert secret not in repr(error.value)
    assert "\n" not in text
    return text


@pytest.fixture
def filled(tmp_path):
    def fill(url):
        file = tmp_path / "text.txt"
        file.write_text("A cat and a lion.\nThe lion saw a cat.\n")
        build_engine(url, [str(file)], jobs=1)
        return url

    return fill


# Not running, wrong index, refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["postgresql", "opensearch+http", "elasticsearch+http"])
def test_engine_not_running(scheme):
    pytest.importorskip({"p": "psycopg", "o": "opensearchpy", "e": "elasticsearch"}[scheme[0]])
    port = free_port()
    with pytest.raises(BusyError, match=r"does not answer.*check that the server runs") as error:
        connect(f"{scheme}://user:{SECRET}@127.0.0.1:{port}/docs", timeout=3)
    assert str(port) in message(error)


def test_wrong_index(make_url, tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(EngineError, match=r"mine is not a BagPack search index.*bagpack engine build"):
        connect(f"tantivy:{tmp_path / 'mine'}")
    for kind in ("opensearch", "elasticsearch"):
        with pytest.raises(EngineError, match=r"has no index 'docs'.*bagpack engine build"):
            connect(make_url(kind))
    with pytest.raises(BagpackError, match="must end in the name of one index"):
        connect("opensearch+http://localhost:9200/")


def test_wrong_database_table_and_column(postgres, filled):
    with pytest.raises(EngineError, match=r'"nowhere" does not exist.*database') as error:
        connect(postgres.replace("/postgres", "/nowhere"))
    message(error)
    with pytest.raises(EngineError, match=r"no_such_table.*\?table=…") as error:
        connect(f"{postgres}?table=no_such_table")
    message(error)
    url = filled(f"{postgres}?table=present")
    with pytest.raises(EngineError, match='column "no_such_column" does not exist; name the table'):
        connect(f"{url}&column=no_such_column")
    with pytest.raises(EngineError, match="config="):
        connect(f"{url}&column=sentence&config=klingon")
    with pytest.raises(BagpackError, match=r"cannot be read|cannot read|check"):
        connect("postgresql://localhost:nonsense/x")


def test_a_damaged_tantivy_index(filled, tmp_path):
    url = filled(f"tantivy:{tmp_path / 'index'}")
    (tmp_path / "index" / "meta.json").write_text("{")
    with pytest.raises(EngineError, match=r"cannot be opened.*build it again"):
        connect(url)
    (tmp_path / "index" / "ends").unlink()
    with pytest.raises(BagpackError, match="missing"):
        connect(url)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_place_that_no_tantivy_index_can_have(overwrite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("A cat.\n")
    for place in (".", "tantivy:", "tantivy:./"):
        with pytest.raises(
            BagpackError, match=r"does not name a directory of its own; write tantivy:my-index"
        ):
            build_engine(place, ["notes.txt"], overwrite=overwrite)
    with pytest.raises(BagpackError, match=r"notes\.txt exists and is not a BagPack search index.*another"):
        build_engine("notes.txt", ["notes.txt"], overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_refused_credentials(postgres, node, host):
    with pytest.raises(EngineError, match="refused the credentials; set PGUSER and PGPASSWORD") as error:
        connect(postgres.replace(postgres.split("@")[0], f"postgresql://bagpack:{SECRET}"))
    message(error)
    pytest.importorskip("opensearchpy")
    node.password = "Basic never"
    with pytest.raises(EngineError, match="refused the credentials; set BAGPACK_ENGINE_USER") as error:
        connect(f"opensearch+http://user:{SECRET}@{host}/docs")
    message(error)


def test_credentials_from_the_environment(node, host, filled, monkeypatch):
    pytest.importorskip("opensearchpy")
    node.password = "Basic bWU6cMOkc3M="  # me:päss
    monkeypatch.setenv("BAGPACK_ENGINE_USER", "me")
    monkeypatch.setenv("BAGPACK_ENGINE_PASSWORD", "päss")
    engine = connect(filled(f"opensearch+http://{host}/docs"))
    assert len(engine.search(CAT, 10)) == 2


# Answers that are none -----------------------------------------------------------------------------------------------

ODD = {
    "html": (200, "<html>Please log in</html>", "text/html"),
    "broken": (200, '{"hits": {"hi', "application/json"),
    "list": (200, "[1, 2]", "application/json"),
    "no hits": (200, '{"error": "quota"}', "application/json"),
}


@pytest.mark.parametrize("client", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize("kind", ODD)
def test_an_answer_that_is_no_search_result(kind, client, node, make_url, filled):
    engine = connect(filled(make_url(client)))
    node.misbehave = lambda method, path: ODD[kind] if path.endswith("_search") else None
    with pytest.raises(EngineError, match=r"not JSON|not a search result") as error:
        engine.search(CAT, 10)
    assert not isinstance(error.value, BusyError)


@pytest.mark.parametrize("client", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_busy_nodes_are_asked_again(status, client, node, make_url, filled, tmp_path):
    url = filled(make_url(client))
    failures = iter([(status, '{"error": {"reason": "circuit breaker"}}')] * 3)
    node.misbehave = lambda method, path: next(failures, None) if path.endswith("_search") else None
    policy = RequestPolicy(first_wait=0.001, connections=2)
    snippets = fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c", policy=policy)
    assert snippets.contexts("cat", "lion").total == 2


def test_a_query_that_the_node_refuses(node, make_url, filled):
    engine = connect(filled(make_url("opensearch")))
    node.misbehave = lambda method, path: (
        400,
        '{"error": {"reason": "scripts are disabled"}, "status": 400}',
    )
    with pytest.raises(EngineError, match="could not answer: scripts are disabled"):
        engine.search(CAT, 10)


# Time-outs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["opensearch", "elasticsearch"])
def test_a_time_out_in_the_middle(client, node, make_url, filled, tmp_path):
    url = filled(make_url(client))
    searches = []

    def slow(method, path):
        if path.endswith("_search"):
            searches.append(path)
            if len(searches) == 6:
                time.sleep(1.0)

    node.misbehave = slow
    with pytest.raises(BusyError, match=r"within 0\.3 s.*5 of 14 queries are answered and kept"):
        fetch_snippets(
            [("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c", policy=ONCE, timeout=0.3
        )
    assert not (tmp_path / "s.bps").exists()
    snippets = fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c", policy=ONCE)
    assert len(searches) == 6 + 9
    assert snippets.contexts("cat", "lion").total == 2


def test_a_time_out_in_postgresql(postgres, filled):
    import psycopg

    url = filled(f"{postgres}?table=slow")
    engine = connect(url, timeout=0.3)
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE slow IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(EngineError, match=r"more than 0\.3 s for a query; raise --timeout") as error:
            engine.search(CAT, 10)
        assert not isinstance(error.value, BusyError), "the same query would take as long again"
    assert len(engine.search(CAT, 10)) == 2


def test_a_connection_that_breaks_is_made_anew(postgres, filled):
    import psycopg

    engine = connect(filled(f"{postgres}?table=breaks"))
    assert len(engine.search(CAT, 10)) == 2
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND application_name = 'bagpack'"
        )
    with pytest.raises(BusyError):
        engine.search(CAT, 10)
    assert len(engine.search(CAT, 10)) == 2


def test_several_connections_at_once(engine_url, filled, tmp_path):
    url = filled(engine_url)
    pairs = [("cat", "lion"), ("cat", "dog"), ("lion", "dog")]
    policy = RequestPolicy(connections=4)
    snippets = fetch_snippets(pairs, url, tmp_path / "s.bps", cache=tmp_path / "c", policy=policy)
    plain = fetch_snippets(pairs, url, tmp_path / "p.bps", cache=tmp_path / "d")
    assert snippets.content_hash == plain.content_hash


# kill -9 -------------------------------------------------------------------------------------------------------------

FETCH = """
import sys
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.snippets.fetching import fetch_snippets
url, out, cache = sys.argv[1:]
fetch_snippets([("cat", "lion"), ("dog", "cat")], url, out, cache=cache, policy=RequestPolicy(connections=2))
"""


def test_kill_9_during_a_fetch(node, make_url, filled, tmp_path):
    url = filled(make_url("opensearch"))
    asked = []
    reached = threading.Event()

    def slow(method, path):
        if path.endswith("_search"):
            asked.append(node.requests[-1][2])
            if len(asked) == 12:
                reached.set()
            time.sleep(0.02)

    node.misbehave = slow
    out, cache = tmp_path / "s.bps", tmp_path / "c"
    command = [sys.executable, "-c", FETCH, url, str(out), str(cache)]
    running = subprocess.Popen(command, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    try:
        assert reached.wait(60)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait(30)
    assert not out.exists()
    time.sleep(0.2)
    before = len(asked)
    node.misbehave = lambda method, path: asked.append(path) if path.endswith("_search") else None
    snippets = fetch_snippets([("cat", "lion"), ("dog", "cat")], url, out, cache=cache)
    again = len(asked) - before
    assert 27 - 12 <= again <= 27 - 12 + 4, "only what was in flight is asked twice"
    assert snippets.contexts("cat", "lion").total == 2
    assert SnippetCorpus.open(out).verify() == []


# Credentials ---------------------------------------------------------------------------------------------------------


def test_addresses_never_show_credentials():
    url = f"postgresql://me:{SECRET}@host:5432/db?table=t&sslpassword=hunter2&column=c"
    address = parse_address(url)
    assert str(address) == address.shown == "postgresql://host:5432/db?table=t&column=c"
    assert "hunter2" not in repr(address)
    assert "hunter2" not in address.scrub(f"bad url {url} with hunter2/x and {SECRET}")
    assert parse_address("some/dir").shown == "tantivy:some/dir"
    assert parse_address("lines:some/file.lines?token=hunter2").shown == "lines:some/file.lines"
    assert parse_address("postgresql:///db").shown == "postgresql:///db"
    assert "hunter2" not in parse_address(f"opensearch+https://me:{SECRET}@h/i").scrub(
        f"https://me:{SECRET}@h/x"
    )


@pytest.mark.parametrize("password", ["hunter2/x", "22/hunter2", "hunter2#x", "hunter2?x"])
def test_a_password_that_is_not_written_as_in_a_url_is_not_shown(password):
    with pytest.raises(
        BagpackError, match=r"cannot be read; check its host and port, and write / as %2F"
    ) as error:
        connect(f"opensearch+https://me:{password}@host:9200/docs")
    message(error)


def test_caches_and_snippets_hold_no_credentials(postgres, filled, tmp_path):
    url = filled(f"{postgres}?table=secrets")
    fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c" / "cache")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        for secret in (b"s3cret", PASSWORD.encode(), b"bagpack:", b"P%C3%A4"):
            assert secret not in content, path


# A node of the user's ------------------------------------------------------------------------------------------------


def test_a_live_node(filled, tmp_path):
    """BAGPACK_OPENSEARCH_URL=opensearch+http://localhost:9200 (or elasticsearch+http://…) runs this."""
    live = os.environ.get("BAGPACK_OPENSEARCH_URL")
    if not live:
        pytest.skip("no live node: set BAGPACK_OPENSEARCH_URL to test against one")
    url = filled(f"{live.rstrip('/')}/bagpack-test-{os.getpid()}")
    snippets = fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c")
    assert snippets.contexts("cat", "lion").total == 2
    assert snippets.contexts("lion").total == 2


@pytest.mark.parametrize("place", ["/proc/index", "/proc/deep/index", "/sys/index"])
def test_a_place_that_cannot_be_written(place, tmp_path):
    (tmp_path / "text.txt").write_text("A cat.\n")
    with pytest.raises(BagpackError, match=r"^/(proc|sys).* cannot be written: .*; choose another place$"):
        build_engine(f"tantivy:{place}", [str(tmp_path / "text.txt")], jobs=1)
