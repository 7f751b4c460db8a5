"""Bad input and bad luck, engine by engine: one sentence, the fix, no credentials; what was fetched stays."""

import _thread
import contextlib
import shutil
import ssl
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from engine_servers import PASSWORD, Node, serve
from tests.conftest import LIMIT, free_port
from tests.forging import data_of, forge
from tests.kills import killed_at, moments_of

from bagpack.corpus.build.index import index_corpus
from bagpack.engines.base import BusyError, EngineError, connect, parse_address
from bagpack.engines.build import build_engine
from bagpack.engines.cache import Requests
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.queries import Query
from bagpack.engines.sentences import plain
from bagpack.engines.snippets import SnippetCorpus
from bagpack.errors import BagpackError

CAT = Query("word", (("cat",),))
SECRET = "hunter2%2Fx"
PAIRS = [("cat", "lion"), ("dog", "cat")]
SENTENCES = ["A cat and a lion.", "The lion saw a cat."]
FOREIGN = {n: {"body": text, "words": text.lower().replace(".", " .")} for n, text in enumerate(SENTENCES)}


def message(error):
    text = str(error.value)
    for secret in (PASSWORD, SECRET, "hunter2", "s3cret"):
        assert secret not in text + repr(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("scheme", ["opensearch+http", "elasticsearch+https", "infinigram+http"])
def test_engine_not_running(scheme, connect):
    port = free_port()
    with pytest.raises(BusyError, match=r"does not answer.*check that the server runs") as error:
        connect(f"{scheme}://user:{SECRET}@127.0.0.1:{port}/docs?index=x&field=y", timeout=3).search(CAT, 1)
    assert str(port) in message(error)


def test_a_place_where_no_index_can_be_is_not_touched(connect, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "notes.txt").write_text("A cat.\n")
    with pytest.raises(BagpackError, match=r"mine .*bagpack engine build"):
        connect("tantivy:mine")
    for place in (".", "tantivy:", "tantivy:./", "notes.txt"):
        for overwrite in (False, True):
            with pytest.raises(BagpackError, match=r"tantivy:my-index|notes\.txt exists"):
                build_engine(place, ["notes.txt"], overwrite=overwrite)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "notes.txt"}


def test_wrong_index_and_field(node, host, connect):
    url = f"opensearch+http://{host}/docs?field"
    with pytest.raises(EngineError, match="'docs'"):
        connect(f"{url}=body")
    node.add("docs", FOREIGN, meta={"properties": {"title": {"type": "text"}}})
    assert len(connect(f"{url}=body").search(CAT, 10)) == 2
    connect(f"{url}=meta.title")
    with pytest.raises(EngineError, match=r"'title'; .*field="):
        connect(f"{url}=title")


def test_a_damaged_tantivy_index_gives_a_sentence(fill, connect, tmp_path, cli, capfd):
    """A bit is changed in every file, in several places; tantivy's own code, which may panic, does not see it."""
    url, index = fill("tantivy", SENTENCES), tmp_path / "index"
    for file in sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size):
        whole = file.read_bytes()
        for at in sorted({0, len(whole) // 2, max(0, len(whole) - 5), len(whole) - 1}):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
            with pytest.raises(BagpackError, match=r"\A.*\Z"):  # one line
                connect(url).search(CAT, 10)
            assert cli("info", index, "--verify").code == 1
        file.write_bytes(whole)
    assert len(connect(url).search(CAT, 10)) == 2
    (data_of(index) / "sentences").unlink()
    assert "panicked" not in capfd.readouterr().err
    assert "/sentences " in cli("info", index).sentence()


def test_a_forged_description_of_an_index(fill, connect, tmp_path, cli):
    url, manifest = fill("tantivy", SENTENCES), tmp_path / "index" / "manifest.json"
    whole = manifest.read_bytes()
    for changes in (
        {"build": 3}, {"engine": []}, {"format_version": "1"}, {"sentences": "x"}, {"checksums": 3},
    ):  # fmt: skip
        manifest.write_bytes(whole)
        forge(manifest.parent, **changes)
        with contextlib.suppress(BagpackError):
            connect(url).search(CAT, 10)
        for option in ((), ("--verify",)):
            assert "unexpected" not in cli("info", manifest.parent, *option).err


def test_credentials(node, host, connect, monkeypatch, tmp_path):
    node.add("docs", FOREIGN)
    node.password = "Basic bWU6cMOkc3M="  # me:päss
    url = f"opensearch+http://{host}/docs?field=body"
    with pytest.raises(EngineError, match=r"refused .*status 401.*set BAGPACK_ENGINE_USER") as error:
        connect(url.replace(host, f"user:{SECRET}@{host}"))
    message(error)
    monkeypatch.setenv("BAGPACK_ENGINE_USER", "me")
    monkeypatch.setenv("BAGPACK_ENGINE_PASSWORD", "päss")
    assert len(connect(url).search(CAT, 10)) == 2
    node.password = "ApiKey abc"
    monkeypatch.setenv("BAGPACK_ENGINE_API_KEY", "abc")
    assert len(connect(url.replace("opensearch", "elasticsearch")).search(CAT, 10)) == 2
    node.password = None  # neither the cache nor the snippets have what is in the URL
    url = url.replace(host, f"bagpack:{SECRET}@{host}")
    fetch_snippets(PAIRS, url, tmp_path / "s.bps", cache=tmp_path / "c")
    held = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(held) > 10
    for secret in (b"hunter2", SECRET.encode(), b"bagpack:h"):
        assert secret not in b"".join(held)


def test_addresses_never_show_credentials(connect):
    url = f"opensearch+https://me:{SECRET}@host:5432/db?table=t&sslpassword=hunter2&column=c"
    address = parse_address(url)
    assert str(address) == address.shown == "opensearch+https://host:5432/db?table=t&column=c"
    assert "hunter2" not in repr(address) + address.scrub(f"bad url {url} with hunter2/x and {SECRET}")
    assert parse_address("some/dir").shown == "tantivy:some/dir"
    own = parse_address(
        f"api:my.toml?host=http://me:{SECRET}@host:80&auth=hunter2"
    )  # basic authentication echoed
    assert own.shown == "api:my.toml?host=http%3A%2F%2Fhost%3A80"
    assert own.scrub("bWU6aHVudGVyMi94 and hunter2/x") == "*** and ***"
    for user in ("//me:hunter2/x", "//me:22/hunter2", "//me:hunter2#x", "//me:hunter2?x", "me:hunter2"):
        with pytest.raises(BagpackError, match="check its host and port, and write / as %2F") as error:
            connect(f"opensearch+https:{user}@host:9200/docs")
        message(error)


def test_certificates(connect, tmp_path, monkeypatch):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed: apt install openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    node = Node()
    node.add("docs", FOREIGN)
    with serve(node.answer, context) as host:
        url = f"elasticsearch+https://{host}/docs?field=body"
        with pytest.raises(EngineError, match=r"certificate .*SSL_CERT_FILE"):
            connect(url, timeout=5)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert len(connect(url).search(CAT, 100)) == 2


# Failures in the middle ----------------------------------------------------------------------------------------------


@pytest.fixture
def searches(node, host):
    """The bodies of all searches; `searches.then(number)` is called when a search arrives at `searches.url`."""

    class Searches(list):
        url = f"opensearch+http://{host}/docs?field=body"
        then = staticmethod(lambda number: None)

    made = Searches()
    node.add("docs", FOREIGN)

    def look(method, path):
        if not path.endswith("_search"):
            return None
        made.append(node.requests[-1][2])
        return made.then(len(made))

    node.misbehave = look
    return made


def spent(searches, cache):
    with closing(Requests(cache, parse_address(searches.url).shown)) as held:
        return held.spent


@pytest.mark.parametrize("end", ["failure", "Ctrl-C"])
def test_no_answer_is_lost(end, ctrl_c, searches, tmp_path, monkeypatch):
    out, cache, made = tmp_path / "s.bps", tmp_path / "c", []
    monkeypatch.setattr(
        "bagpack.engines.fetch.Requests", lambda *how: made.append(Requests(*how)) or made[-1]
    )

    def fail(number):
        if end == "failure":
            return (400, '{"error": "gone"}') if number >= 6 else None
        if number == 5:
            _thread.interrupt_main()  # a signal would end the process where a JVM has its own handler
        return time.sleep(0.1)  # on its way when the signal arrives

    searches.then = fail
    with pytest.raises(EngineError if end == "failure" else KeyboardInterrupt) as raised:
        fetch_snippets(PAIRS, searches.url, out, cache=cache)
    assert end != "failure" or "kept" in str(raised.value)
    assert 5 <= len(searches) < 27 and not out.exists()
    assert made[0].stopped.is_set(), "no other try, no other page"
    answered = 5 if end == "failure" else len(searches)
    searches.clear()
    searches.then = lambda number: None
    found = fetch_snippets(PAIRS, searches.url, out, cache=cache).corpus
    assert len(searches) == 27 - answered, "nothing is asked twice"
    assert found.contexts("cat", "lion").total == 2


FETCH = """
import sys
from bagpack.engines.fetch import fetch_snippets
url, out, cache = sys.argv[1:]
fetch_snippets([("cat", "lion"), ("dog", "cat")], url, out, cache=cache)
"""


def test_kill_9_during_a_fetch(searches, tmp_path):
    reached, out, cache = threading.Event(), tmp_path / "s.bps", tmp_path / "c"

    def slow(number):
        if number == 12:
            reached.set()
        time.sleep(0.02)

    searches.then = slow
    running = subprocess.Popen([sys.executable, "-c", FETCH, searches.url, str(out), str(cache)])
    try:
        assert reached.wait(LIMIT)
    finally:
        running.kill()
        running.wait(LIMIT)
    assert not (out / "manifest.json").exists()
    time.sleep(0.2)
    before = len(searches)
    found = fetch_snippets(PAIRS, searches.url, out, cache=cache).corpus
    assert 27 - 12 <= len(searches) - before <= 27 - 12 + 4, "only what was in flight is asked twice"
    assert spent(searches, cache) >= len(searches), "what was in flight was paid for"
    assert found.contexts("cat", "lion").total == 2
    assert SnippetCorpus.open(out).verify() == []


# Kills ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(text, tmp_path):
    pytest.importorskip("tantivy")
    index_corpus([text([*SENTENCES, "A new cat and a dog."])], tmp_path / "store.bp")
    return str(tmp_path / "store.bp")


def texts(url):
    with closing(connect(url)) as engine:
        return [plain(s.text) for s in engine.search(CAT, 10)]


def test_an_index_survives_a_killed_rebuild(store, tmp_path):
    url = f"tantivy:{tmp_path / 'index'}"
    (tmp_path / "old.txt").write_text("One old cat.\n")
    build_engine(url, [str(tmp_path / "old.txt")])
    old, new = ["One old cat."], [*SENTENCES, "A new cat and a dog."]

    def rebuild():
        build_engine(url, [store], overwrite=True)

    moments = moments_of(lambda: build_engine(f"{url}-other", [store]))
    outcomes = []
    for moment in [*moments, *range(max(moments) + 1, max(moments) + 9)]:  # replacing takes more steps
        killed = killed_at(moment, rebuild)
        outcomes.append(texts(url))
        assert outcomes[-1] in (old, new), f"killed at step {moment}"
        if not killed:
            break
    assert outcomes[0] == old
    rebuild()
    assert texts(url) == new
    assert sorted(path.name for path in tmp_path.glob("index*")) == ["index", "index-other"]


def files_of(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_killed_fetch_finishes_with_the_same_bytes(store, tmp_path):
    url, out = f"tantivy:{tmp_path / 'index'}", tmp_path / "s.bps"
    build_engine(url, [store])

    def fetch():
        fetch_snippets(PAIRS, url, out, cache=tmp_path / "cache", overwrite=True)

    fetch()
    expected = files_of(out)
    assert len(expected) > 30
    for moment in moments_of(fetch):
        shutil.rmtree(out, ignore_errors=True)
        killed_at(moment, fetch)
        fetch()
        assert SnippetCorpus.open(out).verify() == []
        assert files_of(out) == expected, f"killed at step {moment}"
    assert sorted(path.name for path in tmp_path.glob("s.bps*")) == ["s.bps"]
