"""A server that lies: whatever it answers, a search ends in time, in bounded memory, with snippets or a sentence."""

import contextlib
import json
import re
import socketserver
import subprocess
import sys
import threading
import time
import zlib

import pytest
from tests.conftest import LIMIT

from bagpack.engines.base import BusyError, EngineError
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.queries import Query

TIMEOUT = 0.6
CAT = Query("word", (("cat",),))
MAPPING = {"docs": {"mappings": {"properties": {"body": {"type": "text"}, "url": {"type": "keyword"}}}}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def whole(value, status=b"200 OK", more=b""):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    head = HEAD.replace(b"200 OK", status)
    return head + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def hits(*found, **more):
    return whole({"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": list(found)}, **more})


def hit(body="A cat.", **more):
    return {"_id": "1", "_source": {"body": body, "url": "u"}, **more}


def bomb(size):
    """A small gzip file that expands to `size` bytes: a megabyte, repeated; so its checksum is wrong."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * ((size >> 20) - 1) + packer.flush()


@contextlib.contextmanager
def lying_server(answer, mapping=MAPPING):
    """Answers GET with a mapping, and everything else with bytes: all at once, or from a generator, piece by piece."""
    stopped, asked = threading.Event(), []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                while self.answer():
                    pass

        def answer(self):
            head = b""
            while (line := self.rfile.readline()).strip():
                head += line
            if not head:  # the client hung up
                return False
            if head.startswith(b"GET"):
                return self.wfile.write(whole(mapping))
            asked.append(self.rfile.read(int(re.search(rb"(?i)content-length: (\d+)", head)[1])))
            for piece in answer() if callable(answer) else [answer]:
                if stopped.is_set():
                    return False
                self.wfile.write(piece)
            return not callable(answer)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", asked
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()


def endless(head, piece, pause=0.0):
    def send():
        yield head
        while True:
            time.sleep(pause)
            yield piece

    return send


# What is answered to a search → what is said about it. A list of texts: these snippets are taken.
ANSWERS = {
    # Answers that are fine
    "nothing found": (hits(), []),
    "one hit": (hits(hit()), ["A cat."]),
    "a list of texts": (hits(hit(["A cat.", "Another."])), ["A cat.\nAnother."]),
    "an id that is a number": (hits({"_id": 7, "_source": {"body": "A cat."}}), ["A cat."]),
    "lone surrogate": (whole(b'{"hits":{"hits":[{"_source":{"body":"A \\ud800 cat."}}]}}'), ["A \ufffd cat."]),
    "control characters": (hits(hit("A\tcat\n\x00\x1b[31m.")), ["A\tcat\n\x00\x1b[31m."]),
    "byte order mark": (whole(b"\xef\xbb\xbf" + json.dumps({"hits": {"hits": [hit()]}}).encode()), ["A cat."]),
    "gzip": (whole(zlib.compress(json.dumps({"hits": {"hits": [hit()]}}).encode(), wbits=31),
                   more=b"Content-Encoding: gzip\r\n"), ["A cat."]),
    "chunked": (HEAD + b'Transfer-Encoding: chunked\r\n\r\n14\r\n{"hits":{"hits":[]}}\r\n0\r\n\r\n', []),
    # Hits that are none
    **{f"hit {found}": (hits(found), "_source") for found in ({"_id": "1"}, {"_source": []}, None)},
    "field is missing": (hits({"_source": {"url": "u"}}), "'body'.*_source"),
    **{f"text {text}": (hits(hit(), hit(text)), "'body'") for text in (None, 3, {"a": "A cat."}, [1, 2])},
    "more hits than asked for": (hits(*[hit()] * 50), "50 .* 10 "),
    "shards are a list": (hits(hit(), _shards=[]), ["A cat."]),
    "partial shards": (hits(hit(), _shards={"failed": 2}), "shards"),
    # JSON that is without search results, or none
    **{f"JSON {text}": (whole(text.encode()), "search results|object")
       for text in ("null", "1", '"hits"', "[]", "{}", '{"hits": null}', '{"hits": []}', '{"hits": {}}',
                    '{"hits": {"hits": null}}', '{"hits": {"hits": {}}}', '{"error": "quota"}', '{"hits": 3}')},
    **{f"body {text!r}": (whole(text), "not JSON")
       for text in (b"", b" ", b"<html>Please log in</html>", b'{"hits": {"hi', b"{'hits': []}", b"\xff\xfe\x00",
                    b'{"hits": {"hits": []}} trailing', b"\x00" * 100, b'{"a": "\x80"}', b'{"hits": NaN,}', b"[" * 10)},
    "nested 100,000 deep": (whole(b"[" * 100_000 + b"]" * 100_000), "nested"),
    "nested and cut": (whole(b'{"hits":' + b"[" * 200_000), "nested|not JSON"),
    "a number of a million digits": (whole(b'{"hits": ' + b"9" * 1_000_000 + b"}"), "not JSON|search results"),
    # Statuses
    **{f"status {status}": (whole({"error": {"reason": "because"}}, b"%d X" % status), message.format(status))
       for statuses, message in (((429, 500, 502, 503, 504, 599), "busy .status {}.: because; .*--rate"),
                                 ((401, 403), "refused .*status {}"),
                                 ((400, 404, 405, 413), "answer .status {}.: because; .*URL"))
       for status in statuses},
    "error without a reason": (whole(b"oops", b"400 Bad"), "answer .status 400"),
    "error nested deeply": (whole(b'{"error":' * 50_000, b"400 Bad"), "answer .status 400"),
    "redirect": (whole(b"", b"302 Found", b"Location: http://127.0.0.1:9/\r\n"), "answer .status 302"),
    # HTTP that is none
    "hangs up": (lambda: [], "closed"),
    "not HTTP": (lambda: [b"SSH-2.0-OpenSSH_9.2\r\n"], "not HTTP|closed"),
    "a status that is no number": (lambda: [b"HTTP/1.1 abc OK\r\n\r\n"], "not HTTP"),
    "headers without end": (endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 50), "not HTTP"),
    "a line without end": (endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65536), "not HTTP"),
    "length that is no number": (lambda: [HEAD + b"Content-Length: many\r\n\r\n{}"], "not HTTP"),
    "shorter than it says": (lambda: [HEAD + b"Content-Length: 1000\r\n\r\n{}"], "closed"),
    "chunks of no size": (lambda: [HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}"], "closed|HTTP"),
    "encoding gzip": (whole(b"abc", more=b"Content-Encoding: gzip\r\n"), "damaged gzip"),
    **{f"encoding {name}": (whole(b"abc", more=f"Content-Encoding: {name}\r\n".encode()), "encoding")
       for name in ("zstd", "gzip, gzip", "deflate")},
    # Too much
    "500 MB in the header": (lambda: [HEAD + b"Content-Length: 500000000\r\n\r\n" + b" " * 1000], "closed"),
    "endless body": (endless(HEAD + b"\r\n", b" " * (1 << 20)), "64 MiB|within 0.6 s"),
    "gzip bomb": (whole(bomb(1 << 30), more=b"Content-Encoding: gzip\r\n"), "64 MiB"),
    # Too slow
    "a byte at a time": (endless(HEAD + b"Content-Length: 1000000\r\n\r\n", b" ", 0.05), "within 0.6 s"),
    "continue for ever": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "within 0.6 s"),
    "silence": (endless(b"", b"", 0.05), "within 0.6 s"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ANSWERS)
def test_whatever_a_server_answers(kind, connect):
    answer, expected = ANSWERS[kind]
    timeout = TIMEOUT if "within" in expected else 20
    with lying_server(answer) as (host, _):
        engine = connect(f"opensearch+http://{host}/docs?field=body", timeout=timeout)
        try:
            found = engine.search(CAT, 10)
        except EngineError as error:
            assert isinstance(expected, str) and re.search(expected, str(error)), error
            assert "\n" not in str(error) and len(str(error)) < 600
        else:
            assert [snippet.text for snippet in found] == expected


@pytest.mark.parametrize("mapping", [{}, {"docs": None}, {"docs": {"mappings": None}}, {"docs": {"mappings": []}},
                                        {"docs": {"mappings": {"properties": []}}}, None, []])  # fmt: skip
def test_a_mapping_that_is_none(mapping, connect):
    message = "object|'body'"
    with lying_server(hits(), mapping) as (host, _), pytest.raises(EngineError, match=message):
        connect(f"opensearch+http://{host}/docs?field=body", timeout=TIMEOUT)


def test_odd_text_makes_no_odd_corpus(tmp_path):
    texts = ["A\tcat\tforged", "cat\n<s>\nforged\tkey", "cat\r\x00\x85", "  cat  ", "\u2060cat\u2060"]
    answer = hits(*({"_id": f'{n}"><text>', "_source": {"body": text}} for n, text in enumerate(texts)))
    with lying_server(answer) as (host, _):
        url = f"opensearch+http://{host}/docs?field=body"
        corpus = fetch_snippets([("cat", "lion")], url, tmp_path / "s.bps", cache=tmp_path / "c").corpus
    assert corpus.verify() == []
    found = corpus.for_basis
    assert (found.sentences, found.tokens) == (2, 4), "A cat forged; and cat, which the others are as well"


def test_endless_429_ends_and_retry_after_is_honoured(connect, tmp_path):
    busy = whole({"error": "busy"}, b"429 Too Many Requests", b"Retry-After: 0\r\n")
    policy = RequestPolicy(retries=3, first_wait=0.01)
    requests = Requests(tmp_path / "c", "a", policy, TIMEOUT)
    with lying_server(busy) as (host, asked), contextlib.closing(requests):
        engine = connect(f"opensearch+http://{host}/docs?field=body", TIMEOUT, requests)
        with pytest.raises(BusyError, match=r"too busy .status 429.: busy; lower --rate"):
            engine.search(CAT, 10)
        assert len(asked) == 4
        assert requests.spent == 5, "the mapping, the search and its three retries"
    with lying_server(busy.replace(b"After: 0", b"After: 7")) as (host, _):
        engine = connect(f"opensearch+http://{host}/docs?field=body", TIMEOUT)
        with pytest.raises(BusyError, match=" 7 s") as error:
            engine.search(CAT, 10)
    assert error.value.wait == 7


MEMORY = """
import sys
from bagpack.engines.base import EngineError, connect
from bagpack.engines.queries import Query

def peak():  # not ru_maxrss: it starts at the size of the process that forked this one
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

engine = connect(sys.argv[1], timeout=600)
before = peak()
try:
    engine.search(Query("word", (("cat",),)), 10)
except EngineError as error:
    print(error)
print(peak() - before)
engine.close()  # its thread would keep the process
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process as Linux shows it")
@pytest.mark.parametrize("kind", ["bomb", "document"])
def test_memory_is_bounded(kind):
    def document():
        yield HEAD + b"Content-Length: 500000100\r\n\r\n" + b'{"hits": {"hits": [{"_source": {"body": "'
        for _ in range(500):
            yield b"x" * 1_000_000

    answer = document if kind == "document" else ANSWERS["gzip bomb"][0]
    with lying_server(answer) as (host, _):
        run = [sys.executable, "-c", MEMORY, f"opensearch+http://{host}/docs?field=body"]
        done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=LIMIT)
    lines = done.stdout.splitlines()
    assert "64 MiB; lower --limit" in lines[0]
    assert int(lines[1]) < 300_000, "kB"
