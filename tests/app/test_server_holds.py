"""A real server that is asked for too much, too slowly, or in a wrong way: it stays available to everybody else."""

import os
import signal
import socket
from contextlib import suppress

import httpx
import psutil
import pytest

from tests.app.conftest import served

PAGES = (
    "/", "/complete.json?q=k", "/word/nosuchword", "/pair/the/a", "/lines?w1=the&w2=a&feature=v12:%2Bbetw:of",
    "/lines.json?w1=the&w2=a&feature=v1:pre:of", "/concordance.json?w1=the&w2=a&sort=left",
    "/model.json?top=200",
)  # fmt: skip


@pytest.fixture(scope="module")
def limited(world):
    """A server with little time and few open files."""
    with served(world / "c.bp", world / "m.model", files=512, limits={"seconds": 1.0}) as started:
        yield started


def address(base):
    return httpx.URL(base).host, httpx.URL(base).port


def test_every_page_is_computed_in_a_worker_that_is_stopped_at_its_limit(limited):
    base, process = limited
    with httpx.Client(base_url=base, timeout=30) as client:
        for path in PAGES:
            [fork_server] = psutil.Process(process.pid).children()
            workers = fork_server.children()
            assert len(workers) >= 4
            for worker in workers:
                os.kill(worker.pid, signal.SIGSTOP)
            answer = client.get(path)
            assert answer.status_code == 503 and int(answer.headers["retry-after"]) >= 1, path
            assert client.get("/static/app.css").status_code == 200
            for worker in workers:
                with suppress(psutil.NoSuchProcess):
                    worker.resume()
        # Workers that were killed are replaced; a busy machine may need more than one attempt.
        assert any(client.get("/pair/the/a").status_code == 200 for _ in range(20))


@pytest.mark.parametrize(
    "feature",
    ["v1:betw:of", "v1:+pre:of", "v12:pre:of", "v12:near:of", "v12:+betw:", "v12", ":", "pair:PMI:x", "pair:none",
     "v1·v2:betw:of", "v3:pre:of"],
)  # fmt: skip
def test_a_bad_feature_name_is_refused_in_a_sentence(web, feature):
    query = {"w1": "kinda01", "w2": "kindb01", "feature": feature}
    for path in ("/lines.json", "/lines"):
        answer = web.get(path, params=query)
        assert answer.status_code == 400 and "feature" in answer.text


@pytest.mark.parametrize("feature", ["v12:+betw:\x00", "v1:pre:\u2028", "v12:+betw: ", "v12:+betw:a b c d"])
def test_a_feature_of_a_term_that_does_not_occur_has_no_lines(web, feature):
    query = {"w1": "kinda01", "w2": "kindb01", "feature": feature}
    assert web.get("/lines.json", params=query).json()["total"] == 0
    assert "0 of 0 lines" in web.get("/lines", params=query).text


def test_a_word_of_blanks_is_refused(web):
    for path in ("/concordance/lines.csv", "/concordance/lines.json", "/word.json"):
        answer = web.get(path, params={"w1": "\u2028", "w": "\u2028"})
        assert answer.status_code == 400 and "word is missing" in answer.text, path


def test_a_chunked_upload_has_the_same_size_limit(server):
    head = (
        "POST /teach HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        "{length}Transfer-Encoding: chunked\r\n\r\n"
    )
    start = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.tsv"\r\n\r\nw1\tw2\n'
    for length in ("", "Content-Length: 5\r\n"):
        with socket.create_connection(address(server), 20) as raw:
            raw.sendall(head.format(length=length).encode())
            sent, status = 0, b""
            try:
                for chunk in (start, *[b"aaaa\tbbbb\n" * 6_553] * 40, b"\r\n--x--\r\n"):
                    raw.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                    sent += len(chunk)
                raw.sendall(b"0\r\n\r\n")
            except OSError:  # refused before all was sent
                pass
            with suppress(OSError):
                status = raw.makefile("rb").readline()
            assert b" 413 " in status or (not status and sent < 2_500_000), (length, status)


def test_a_large_upload_is_refused_with_a_sentence_not_a_reset(server):
    port = httpx.URL(server).port
    head = f"POST /teach HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {{}}\r\n\r\n"
    size = 30_000_000  # more than sockets buffer
    with socket.create_connection(address(server), 60) as connection:
        connection.sendall(head.format(size).encode() + b"x" * size)
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413") and b"more than the 1,000,000 bytes" in answer
    with socket.create_connection(address(server), 60) as connection, pytest.raises(ConnectionError):
        connection.sendall(head.format(1 << 40).encode())
        for _ in range(2_000):  # 2 GB, of which a part is received
            connection.sendall(b"x" * 1_000_000)


def test_uploads_come_from_the_same_origin_port_included(web, server):
    port = httpx.URL(server).port

    def send(origin):
        return web.post("/teach", data={"answer": "yes"}, headers={"Origin": origin}).status_code

    assert send(f"http://127.0.0.1:{port}") == 404  # nothing is taught here
    for origin in (f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", f"http://localhost:{port}"):
        assert send(origin) == 403, origin
    # The whole upload is read before it is refused: a client that still sends would lose the answer.
    head = f"POST /teach HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: null\r\nContent-Length: 2\r\n\r\n"
    with socket.create_connection(address(server), 60) as connection:
        connection.sendall(head.encode() + b"x")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(100)
        connection.settimeout(60)
        connection.sendall(b"y")
        assert connection.recv(100).startswith(b"HTTP/1.1 403")


def test_half_open_connections_do_not_keep_others_out(limited):
    base, _ = limited
    half_open = []
    try:
        for number in range(1_100):
            half_open.append(socket.create_connection(address(base), 20))
            if number % 2:
                half_open[-1].sendall(b"GET / HTTP/1.1\r\nHost: local")
        for _ in range(3):
            assert httpx.get(base + "/static/app.css", timeout=5).status_code == 200
    finally:
        for connection in half_open:
            connection.close()


def test_head_is_answered_like_get_without_the_body(web):
    for path in ("/", "/word/the", "/word/the.json", "/static/app.css", "/nosuch"):
        got, head = web.get(path), web.head(path)
        assert head.status_code == got.status_code and head.content == b"", path
        assert head.headers["content-type"] == got.headers["content-type"]
        assert head.headers["content-length"] == str(len(got.content))
