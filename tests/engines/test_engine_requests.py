"""Requests: counted before they are sent, over all runs; paced, repeated, and every answer that was paid for kept."""

import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from bagpack.engines.base import BusyError, EngineError
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.errors import StoreError


@pytest.fixture
def make(tmp_path):
    """make(account, **policy) → requests that share a table; closed after the test."""
    with ExitStack() as opened:

        def open_requests(account="a", path="deep/cache", **policy):
            made = Requests(tmp_path / path, account, RequestPolicy(**{"first_wait": 0.001, **policy}))
            return opened.enter_context(closing(made))

        yield open_requests


class Server:
    """Answers every request with its own text; `trouble(number)` may raise."""

    def __init__(self, trouble=lambda number: None):
        self.trouble = trouble
        self.calls = []

    def ask(self, requests, asked):
        def send():
            self.calls.append(asked)
            self.trouble(len(self.calls))
            return f"found {asked}"

        return requests.ask(asked, send)


def raising(error):
    def trouble(number):
        raise error

    return trouble


def test_rate(make, monkeypatch):
    server, requests, pauses = Server(), make(rate=0.001), []
    monkeypatch.setattr(requests.stopped, "wait", pauses.append)
    for number in range(3):
        server.ask(requests, str(number))
    assert [round(pause, -2) for pause in pauses] == [0, 1000, 2000]  # less what the test itself takes


def test_a_budget_holds_over_all_runs_and_for_one_engine_retries_included(make):
    server, runs = Server(), [make(budget=10), make(budget=10)]
    for number in range(10):
        server.ask(runs[number % 2], str(number))
    for requests in runs:
        with pytest.raises(EngineError, match=r"budget is used up: 10 requests .*--budget 10"):
            server.ask(requests, "more")
        assert server.ask(make(budget=0), "3") == "found 3", "it was kept"
    server, requests = Server(raising(BusyError("too busy"))), make("b", retries=2, budget=5)
    for error, message in ((BusyError, "too busy"), (EngineError, "--budget 5")):
        with pytest.raises(error, match=message):
            server.ask(requests, "x")
    assert len(server.calls) == requests.spent == 5


def test_many_threads_spend_no_more_than_the_budget(make):
    server, requests = Server(lambda number: time.sleep(0.001)), make(budget=20)

    def work(number):
        try:
            return server.ask(requests, str(number))
        except EngineError:
            return None

    with ThreadPoolExecutor(4) as pool:
        refused = list(pool.map(work, range(40))).count(None)
    assert (len(server.calls), refused, requests.spent) == (20, 20, 20)


def test_answers_of_an_index_that_may_change_expire(make):
    server, requests = Server(), make()
    server.ask(requests, "x")
    with requests._database as database:
        database.execute("UPDATE request SET sent = sent - 31 * 86400")
    for _ in range(2):
        server.ask(requests, "x")
    assert len(server.calls) == 2
    assert requests._database.execute("SELECT count(answer), count(*) FROM request").fetchone() == (1, 2)


def test_pauses_grow_and_are_those_that_the_server_asks_for(make, monkeypatch):
    pauses, requests = [], make(first_wait=1.0)
    monkeypatch.setattr(requests.stopped, "wait", pauses.append)

    def trouble(number):
        if number <= 4:
            raise BusyError("too busy", wait=30.0 if number == 4 else None)

    assert Server(trouble).ask(requests, "x") == "found x"
    for attempt, pause in enumerate(pauses[:3]):
        assert 2**attempt <= pause <= 2**attempt + 1, "doubled each time, with jitter"
    assert pauses[3] == 30.0


@pytest.mark.parametrize("error", [BusyError("asks to wait 3,600 s", wait=3600), EngineError("refused")])
def test_what_ends_a_run_is_not_tried_again_and_nothing_is_sent_after_the_end(error, make):
    server, requests = Server(raising(error)), make()
    with pytest.raises(EngineError, match=str(error)):
        server.ask(requests, "x")
    requests.stopped.set()
    with pytest.raises(EngineError, match="ending"):
        server.ask(requests, "y")
    assert len(server.calls) == 1


def test_a_full_disk_is_reported_and_what_was_fetched_stays(make):
    requests, chance, server = make(), random.Random(1), Server()
    requests._database.execute("PRAGMA max_page_count = 30")
    long = [chance.randbytes(9000).hex() for _ in range(27)]
    with pytest.raises(StoreError, match=r"full\); free"):
        for text in long:
            server.ask(requests, text)
    answered = len(server.calls) - 1
    requests._database.execute("PRAGMA max_page_count = 1000000")
    server.calls.clear()
    for text in long:
        server.ask(requests, text)
    assert 0 < len(server.calls) == 27 - answered


def test_a_cache_that_is_none(make, tmp_path):
    (tmp_path / "text").write_text("this is no database, " * 100)
    for version, statement in ((99, "PRAGMA user_version = 99"), (3, "CREATE TABLE request (x)")):
        with closing(sqlite3.connect(tmp_path / str(version))) as other:
            other.execute(statement)
    for path, message in (
        ("text", r"/text cannot be used .*; move it elsewhere"), ("text/below", "XDG_CACHE_HOME"),
        ("99", "/99 .*version 99,"), ("3", "/3 .*elsewhere"),
    ):  # fmt: skip
        with pytest.raises(StoreError, match=message):
            make(path=path)


def test_a_damaged_cache_answers_what_it_was_told_or_nothing(make, tmp_path):
    """Every byte of a small cache is changed in turn (a sample of them): no answer differs, no error is unforeseen."""
    texts = [f"The {'lion ' * 30}{number}" for number in range(6)]
    requests, path = make(path="cache"), tmp_path / "cache"
    for text in texts:
        Server().ask(requests, text)
    requests.close()
    whole, outcomes = path.read_bytes(), set()
    for at in [*range(0, 110, 7), *range(110, len(whole), 197)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xC1]) + whole[at + 1 :])
        for left in tmp_path.glob("cache-*"):
            left.unlink()
        try:
            requests = make(path="cache")
            assert [Server().ask(requests, text) for text in texts] == [f"found {text}" for text in texts]
            outcomes.add(requests.spent)
        except StoreError as error:
            outcomes.add("sentence")
            assert "\n" not in str(error)
        requests.close()
    assert {"sentence", 7} <= outcomes, "a damaged answer is asked for again, and paid"


def test_values_of_another_kind_are_no_answers(make):
    server, requests = Server(), make()
    for number, value in enumerate(("7", "'text'", "x'00'")):
        server.ask(requests, str(number))
        with requests._database as database:
            database.execute(f"UPDATE request SET answer = {value}, sent = {value} + 1e12")
        assert server.ask(requests, str(number)) == f"found {number}"
    assert len(server.calls) == 6
