"""A real server that is asked for too much, too slowly, or in a wrong way: it stays available to everybody else."""

import socket
import time
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psutil
import pytest

from tests.app.conftest import running
from tests.conftest import LIMIT, served


@pytest.fixture(scope="module")
def limited(world):
    """A server with little time, few connections and few places in its queues."""
    limits = {"head_seconds": 1, "transfer_seconds": 2, "seconds": 3, "waiting": 40, "connections": 300}
    with served("serve", world.store, "--model", world.model(), limits=limits) as started:
        yield started


@contextmanager
def connected(base, buffer=None):
    with socket.socket() as raw:
        if buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        raw.settimeout(LIMIT)
        raw.connect((httpx.URL(base).host, httpx.URL(base).port))
        yield raw


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()


def read_all(raw):
    """What is received until the connection is closed."""
    data = b""
    with suppress(ConnectionError):
        while received := raw.recv(65536):
            data += received
    return data


def workers_of(process):
    """The worker processes: started by the fork server, which is a child of the web server."""
    return [worker for child in psutil.Process(process.pid).children() for worker in child.children()]


def answered(client, path):
    """Ask until the page is there: a busy server answers 503 and says when to ask again."""
    while (answer := client.get(path)).status_code == 503:
        time.sleep(min(int(answer.headers["retry-after"]), 2))
    return answer


def test_a_worker_that_is_killed_is_replaced_and_all_end_with_the_server(world):
    with running(world) as (base, process), httpx.Client(base_url=base, timeout=LIMIT) as client:
        assert answered(client, "/word/kinda01").status_code == 200
        for worker in workers_of(process):
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        for path in ("/word/kinda02", "/pair/kinda01/kindb01", "/concordance?w1=kinda01"):
            assert answered(client, path).status_code == 200
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 3
        process.kill()
        assert psutil.wait_procs(family, timeout=LIMIT)[1] == []


def test_each_of_many_simultaneous_requests_is_answered(limited):
    """More than there are places in the queue: pages, or a 503 that says when to ask again; none is just closed."""
    base, _ = limited
    with ExitStack() as stack:
        open_ones = []
        for number in range(200):
            open_ones.append(stack.enter_context(connected(base)))
            open_ones[-1].sendall(get(f"/word/kinda{number % 40:02}"))
        answers = [read_all(raw) for raw in open_ones]
    statuses = {answer[9:12] for answer in answers}
    assert statuses <= {b"200", b"404", b"503"}, statuses
    for answer in answers:
        assert b" 503 " not in answer[:20] or b"retry-after: " in answer.lower()


def test_slow_clients_lose_their_connection(limited):
    base, _ = limited
    kept = get("/static/app.css").replace(b"Connection: close\r\n", b"")
    for start in (b"", b"GET / HTTP/1.1\r\nHost: local", kept):
        with connected(base) as raw:  # says nothing, half a head, or nothing more after an answer
            raw.sendall(start)
            answer = read_all(raw)  # ends when the server closes
            assert answer.startswith(b"HTTP/1.1 200") or not answer
    with connected(base) as raw:
        with suppress(OSError):
            for byte in get("/static/app.css") * 10:
                raw.send(bytes([byte]))
                time.sleep(0.05)
        with suppress(OSError):
            assert raw.recv(10) == b""


@pytest.mark.parametrize(("length", "status"), [(1000, 408), (5_000_000, 413)])
def test_a_slow_body_is_too_slow_or_too_large(limited, length, status):
    body = b"x" * (2_000_000 if status == 413 else 5)
    head = f"POST /find.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    with connected(limited[0]) as raw:
        raw.sendall(head.encode() + body)
        answer = read_all(raw)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-security-policy" in answer.lower()


def test_a_client_that_does_not_read_loses_its_connection(limited):
    base, _ = limited
    path = "/style/style.css"
    whole = len(httpx.get(base + path, timeout=LIMIT).content)
    times = 12_000_000 // whole  # more than the kernel keeps for a socket
    with connected(base, 4096) as raw:
        raw.sendall(get(path).replace(b"Connection: close\r\n", b"") * times)
        time.sleep(3)  # the limit is 2 s
        assert httpx.get(base + "/static/app.css", timeout=LIMIT).status_code == 200
        assert len(read_all(raw)) < times * whole


def test_half_open_connections_do_not_keep_others_out(limited):
    base, _ = limited
    with ExitStack() as stack:
        for number in range(250):
            half = stack.enter_context(connected(base))
            if number % 2:
                half.sendall(b"GET / HTTP/1.1\r\nHost: local")
        assert httpx.get(base + "/static/app.css", timeout=LIMIT).status_code == 200


def test_a_large_body_is_refused_with_a_sentence_not_a_reset(server):
    head = "POST /find.json HTTP/1.1\r\nHost: localhost\r\n"
    size = 30_000_000  # more than sockets buffer
    with connected(server) as raw:
        raw.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode() + b"x" * size)
        assert raw.recv(1000).startswith(b"HTTP/1.1 413")
    with connected(server) as raw:
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for _ in range(30):
            raw.sendall(b"%x\r\n" % 100_000 + b"x" * 100_000 + b"\r\n")
        raw.sendall(b"0\r\n\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 413")
    with connected(server) as raw, pytest.raises(ConnectionError):
        raw.sendall(f"{head}Content-Length: {1 << 40}\r\n\r\n".encode())
        for _ in range(2_000):  # 2 GB, of which a part is received
            raw.sendall(b"x" * 1_000_000)


def test_answers_come_from_the_same_origin_port_included(web, server):
    port = httpx.URL(server).port

    def send(origin):
        return web.post("/find/answer.json", json={"answer": "yes"}, headers={"Origin": origin}).status_code

    assert send(f"http://127.0.0.1:{port}") == 400  # nothing is taught here
    for origin in (f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", f"http://localhost:{port}", "null"):
        assert send(origin) == 403, origin


def test_what_is_no_feature_and_no_word(web):
    bad = ["v1:betw:of", "v1:+pre:of", "v12:pre:of", "v12:near:of", "v12:+betw:", "v12", ":", "pair:PMI:x", "pair:none",
           "v1·v2:betw:of", "v3:pre:of"]  # fmt: skip
    never = ["v12:+betw:\x00", "v1:pre:\u2028", "v12:+betw: ", "v12:+betw:a b c d"]  # terms that do not occur
    for feature in (*bad, *never):
        query = {"w1": "kinda01", "w2": "kindb01", "feature": feature}
        page, twin = (web.get(path, params=query) for path in ("/lines", "/lines.json"))
        if feature in bad:
            assert page.status_code == twin.status_code == 400 and "feature" in page.text
        else:
            assert twin.json()["total"] == 0
    for path in ("/concordance/lines.csv", "/word.json"):
        answer = web.get(path, params={"w1": "\u2028", "w": "\u2028"})
        assert answer.status_code == 400 and "missing" in answer.text, path


def test_head_is_answered_like_get_without_the_body(web):
    for path in ("/", "/word/the", "/word/the.json", "/static/app.css", "/nosuch"):
        got, head = web.get(path), web.head(path)
        assert head.status_code == got.status_code and head.content == b"", path
        assert head.headers["content-type"] == got.headers["content-type"]
        assert head.headers["content-length"] == str(len(got.content))
