"""Clients that are slow, many, or gone: each gets an answer in time or loses its connection, and others are served."""

import os
import signal
import socket
import time
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psutil
import pytest

from tests.app.conftest import running, served
from tests.conftest import LIMIT


@pytest.fixture(scope="module")
def short(world):
    """A server with little time for slow clients, and few connections."""
    limits = {"head_seconds": 1.0, "transfer_seconds": 2.0, "connections": 20, "waiting": 40, "seconds": 30.0}
    with served(world / "c.bp", limits=limits) as started:
        yield started


@contextmanager
def connected(base, buffer=None):
    with socket.socket() as raw:
        if buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        raw.settimeout(20)
        raw.connect((httpx.URL(base).host, httpx.URL(base).port))
        yield raw


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()


def read_all(raw):
    """What is received until the connection is closed, and the seconds that took."""
    begun, data = time.monotonic(), b""
    with suppress(ConnectionError):
        while received := raw.recv(65536):
            data += received
    return data, time.monotonic() - begun


def test_a_head_that_is_not_completed_gets_a_408(short):
    with connected(short[0]) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: local")
        answer, seconds = read_all(raw)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ") and b"longer than 1 s" in body and 0.5 < seconds < 10
    assert b"connection: close" in head.lower() and f"content-length: {len(body)}".encode() in head.lower()


def test_a_head_sent_byte_by_byte_has_the_same_limit(short):
    with connected(short[0]) as raw:
        begun = time.monotonic()
        with suppress(OSError):
            for byte in get("/static/app.css"):
                raw.send(bytes([byte]))
                time.sleep(0.1)
        assert time.monotonic() - begun < 4


def test_a_connection_that_says_nothing_is_closed(short):
    with connected(short[0]) as raw:
        answer, seconds = read_all(raw)
        assert answer == b"" and 0.5 < seconds < 10
    with connected(short[0]) as raw:  # after an answer too
        raw.sendall(b"GET /static/app.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer, seconds = read_all(raw)
        assert answer.startswith(b"HTTP/1.1 200 ") and seconds < 10


@pytest.mark.parametrize(
    "length, status, reason",
    [(1000, 408, "longer than 2 s"), (5_000_000, 413, "more than the 1,000,000 bytes that are allowed")],
)
def test_a_slow_body_is_too_slow_or_too_large(short, length, status, reason):
    with connected(short[0]) as raw:
        raw.sendall(
            b"POST /teach HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            b"Content-Length: %d\r\n\r\n--x\r\n" % length
        )
        answer, seconds = read_all(raw)
    assert answer.startswith(b"HTTP/1.1 %d " % status) and reason.encode() in answer and 1 < seconds < 12
    assert b"content-security-policy" in answer.lower()


def test_a_client_that_does_not_read_loses_its_connection(short):
    base, process = short
    path = "/static/report.css"
    whole = len(httpx.get(base + path, timeout=60).content)
    times = 12_000_000 // whole  # more than the kernel keeps for a socket

    def is_open(port):
        return any(c.raddr and c.raddr.port == port for c in psutil.Process(process.pid).net_connections())

    with connected(base, 4096) as raw:
        raw.sendall(get(path).replace(b"Connection: close\r\n", b"") * times)
        port = raw.getsockname()[1]
        deadline = time.monotonic() + 30
        while not is_open(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        while is_open(port) and time.monotonic() < deadline:
            assert httpx.get(base + "/static/app.css", timeout=5).status_code == 200
            time.sleep(0.2)
        assert not is_open(port) and len(read_all(raw)[0]) < times * whole
    with connected(base, 4096) as raw:  # a slow one that is in time gets everything
        raw.sendall(get(path))
        time.sleep(1)
        assert len(read_all(raw)[0]) > whole


def test_each_of_many_simultaneous_requests_is_answered(short):
    """More than there may be connections and places in the queue; none is closed without an answer."""
    base, process = short
    [fork_server] = psutil.Process(process.pid).children()
    with ExitStack() as stack:
        for worker in fork_server.children():
            worker.suspend()
        open_ones = []
        for number in range(150):
            open_ones.append(stack.enter_context(connected(base)))
            if number % 50 == 49:
                time.sleep(0.2)  # a busy client does not send at once
            open_ones[-1].sendall(get(f"/word/kinda{number % 40:02}"))
        time.sleep(1)
        for worker in fork_server.children():
            worker.resume()
        answers = [read_all(raw)[0] for raw in open_ones]
    statuses = [answer[9:12] for answer in answers]
    assert set(statuses) <= {b"200", b"404", b"503"} and b"503" in statuses, sorted(set(statuses))
    assert statuses.count(b"503") <= 110
    for answer in answers:
        assert b" 503 " not in answer[:20] or b"retry-after: " in answer.lower()


def test_work_for_clients_that_have_left_is_stopped(short):
    base, process = short
    [fork_server] = psutil.Process(process.pid).children()
    for worker in fork_server.children():
        worker.suspend()  # such a page would take 30 s
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(connected(base)).sendall(get("/pair/the/a"))
        time.sleep(0.5)
    begun = time.monotonic()
    assert httpx.get(base + "/pair/the/a", timeout=60).status_code == 200
    assert time.monotonic() - begun < 15
    for worker in fork_server.children():
        worker.resume()


def answered(address):
    """Ask until the page is there: a busy server answers 503 and says when to ask again."""
    while (answer := httpx.get(address, timeout=LIMIT)).status_code == 503:
        time.sleep(int(answer.headers["retry-after"]))
    assert answer.status_code == 200, address


def test_a_killed_fork_server_is_replaced(world):
    with running(world) as (base, process):
        explorer = psutil.Process(process.pid)
        for word in ("kinda01", "kinda02"):
            [fork_server] = explorer.children()
            workers = fork_server.children()
            os.kill(fork_server.pid, signal.SIGKILL)
            answered(f"{base}/word/{word}")  # its workers still run
            for worker in workers:
                worker.kill()
            while any(worker.is_running() and worker.status() != "zombie" for worker in workers):
                time.sleep(0.05)
            for path in ("/", f"/pair/{word}/a", f"/pair/{word}/the", f"/concordance?w1={word}"):
                answered(base + path)
            [again] = explorer.children()
            assert again.pid != fork_server.pid
        family = explorer.children(recursive=True)
        process.terminate()
        assert psutil.wait_procs(family, timeout=LIMIT)[1] == []
