"""Requests: counted before they are sent, over all runs; paced, repeated, and every answer that was paid for kept."""

import random
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from bagpack.engines.base import BusyError, EngineError
from bagpack.engines.cache import AnswerCache, RequestPolicy, Requests, default_cache
from bagpack.errors import StoreError, UsageError

QUICK = {"first_wait": 0.001}


@pytest.fixture
def cache(tmp_path):
    with AnswerCache(tmp_path / "deep" / "cache.sqlite3") as opened:
        yield opened


class Server:
    """Answers every request with its own text; `trouble(number)` may raise."""

    def __init__(self, trouble=lambda number: None):
        self.trouble = trouble
        self.calls = []

    def ask(self, requests, asked, **more):
        def send():
            self.calls.append(time.monotonic())
            self.trouble(len(self.calls))
            return f"found {asked}"

        return requests.ask(asked, send, **more)


def busy(number):
    raise BusyError("too busy")


def test_a_second_run_asks_nothing(cache):
    server = Server()
    for _ in range(2):
        requests = Requests(cache, "a")
        assert [server.ask(requests, text) for text in "xyz"] == ["found x", "found y", "found z"]
    assert len(server.calls) == cache.spent("a") == 3
    assert requests.sent == 0
    Server().ask(Requests(cache, "a"), "w")
    assert cache.spent("a") == 4


def test_retries_are_paid_from_the_budget(cache):
    server = Server(busy)
    with pytest.raises(EngineError, match=r"budget is used up: 5 requests were sent to a .*--budget 5"):
        server.ask(Requests(cache, "a", RequestPolicy(budget=5, retries=9, **QUICK)), "x")
    assert len(server.calls) == 5
    with pytest.raises(BusyError, match="too busy"):
        server.ask(Requests(cache, "b", RequestPolicy(retries=2, **QUICK)), "x")
    assert cache.spent("b") == 3


def test_a_budget_holds_over_all_runs_and_for_one_engine(cache, tmp_path):
    server = Server()
    with AnswerCache(cache.path) as other:
        for number in range(10):
            server.ask(Requests((cache, other)[number % 2], "a", RequestPolicy(budget=10)), str(number))
        for held in (cache, other):
            with pytest.raises(EngineError, match="budget is used up"):
                server.ask(Requests(held, "a", RequestPolicy(budget=10)), "more")
            assert server.ask(Requests(held, "a", RequestPolicy(budget=0)), "3") == "found 3", "it was kept"
    server.ask(Requests(cache, "b", RequestPolicy(budget=1)), "more")
    assert len(server.calls) == 11


def test_many_threads_spend_no_more_than_the_budget(cache):
    server, refused = Server(lambda number: time.sleep(0.001)), []
    requests = Requests(cache, "a", RequestPolicy(budget=20))

    def work(name):
        for number in range(10):
            try:
                server.ask(requests, f"{name} {number}")
            except EngineError as error:
                refused.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(server.calls), len(refused), cache.spent("a")) == (20, 20, 20)


def test_a_request_is_on_disk_before_it_is_sent(cache):
    """What dies in flight was paid for."""
    seen = []

    def look(number):
        with AnswerCache(cache.path) as other:
            seen.append(other.spent("a"))

    server = Server(look)
    for text in "xyz":
        server.ask(Requests(cache, "a"), text)
    assert seen == [1, 2, 3]


def test_answers_of_an_index_that_may_change_expire(cache):
    server = Server()
    requests = Requests(cache, "a")
    server.ask(requests, "x")
    cache._database.execute("UPDATE request SET sent = sent - 31 * 86400")
    assert server.ask(requests, "x", lasting=True) == "found x"
    server.ask(Requests(cache, "a", RequestPolicy(max_age=32)), "x")
    assert len(server.calls) == 1
    server.ask(requests, "x")
    server.ask(requests, "x")
    assert len(server.calls) == 2
    assert cache._database.execute("SELECT count(answer), count(*) FROM request").fetchone() == (1, 2)


def test_pauses_grow_and_are_those_that_the_server_asks_for(cache, monkeypatch):
    pauses = []
    requests = Requests(cache, "a", RequestPolicy(first_wait=1.0))
    monkeypatch.setattr(requests.stopped, "wait", pauses.append)

    def trouble(number):
        if number <= 4:
            raise BusyError("too busy", wait=30.0 if number == 4 else None)

    assert Server(trouble).ask(requests, "x") == "found x"
    for attempt, pause in enumerate(pauses[:3]):
        assert 2**attempt <= pause <= 2**attempt + 1, "doubled each time, with jitter"
    assert pauses[3] == 30.0


def test_a_server_that_asks_for_a_long_pause_ends_the_run(cache):
    def trouble(number):
        raise BusyError("too busy; it asks to wait 3,600 s", wait=3600)

    server = Server(trouble)
    with pytest.raises(BusyError, match="asks to wait 3,600 s"):
        server.ask(Requests(cache, "a"), "x")
    assert len(server.calls) == 1


def test_an_error_for_good_is_not_tried_again_and_nothing_is_sent_after_the_end(cache):
    def trouble(number):
        raise EngineError("refused the credentials")

    server, requests = Server(trouble), Requests(cache, "a")
    with pytest.raises(EngineError, match="refused the credentials"):
        server.ask(requests, "x")
    requests.stopped.set()
    with pytest.raises(EngineError, match="the run is ending"):
        server.ask(requests, "y")
    assert len(server.calls) == 1


def test_rate(cache):
    server = Server()
    requests = Requests(cache, "a", RequestPolicy(rate=100))
    for number in range(20):
        server.ask(requests, str(number))
    assert server.calls[-1] - server.calls[0] >= 0.95 * 19 / 100


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": 2**31}, {"limit": 10**30}, {"connections": 0}, {"rate": 0.0}, {"rate": float("nan")},
     {"retries": -1}, {"budget": -1}],
)  # fmt: skip
def test_policies_out_of_range(wrong):
    with pytest.raises(UsageError, match=f"--{next(iter(wrong))} "):
        RequestPolicy(**wrong)
    with pytest.raises(UsageError, match="too short"):
        Requests(None, "a", timeout=0)


def test_a_full_disk_is_reported_and_what_was_fetched_stays(cache):
    cache._database.execute("PRAGMA max_page_count = 30")
    chance, server = random.Random(1), Server()
    long = [chance.randbytes(9000).hex() for _ in range(27)]

    def fetch():
        for text in long:
            server.ask(Requests(cache, "a"), text)

    with pytest.raises(StoreError, match=r"disk is full.*run the command again"):
        fetch()
    answered = len(server.calls) - 1
    cache._database.execute("PRAGMA max_page_count = 1000000")
    server.calls.clear()
    fetch()
    assert 0 < len(server.calls) == 27 - answered


def test_a_cache_that_is_none(tmp_path):
    (tmp_path / "text").write_text("this is no database, " * 100)
    with pytest.raises(StoreError, match=r"cannot be used .*not a database.*move it elsewhere"):
        AnswerCache(tmp_path / "text")
    with pytest.raises(StoreError, match="cannot be"):
        AnswerCache(tmp_path / "text" / "below")
    for version, statement in ((99, "PRAGMA user_version = 99"), (3, "CREATE TABLE request (x)")):
        other = sqlite3.connect(tmp_path / str(version))
        other.execute(statement)
        other.close()
        with pytest.raises(StoreError, match=r"format version 99|cannot be used"):
            AnswerCache(tmp_path / str(version))


def test_a_damaged_cache_answers_what_it_was_told_or_nothing(tmp_path):
    """Every byte of a small cache is changed in turn (a sample of them): no answer differs, no error is unforeseen."""
    path = tmp_path / "cache"
    texts = [f"The {'lion ' * 30}{number}" for number in range(6)]
    with AnswerCache(path) as cache:
        for text in texts:
            Server().ask(Requests(cache, "a"), text)
    whole = path.read_bytes()
    outcomes = set()
    for at in [*range(0, 110, 3), *range(110, len(whole), 97)]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        for left in tmp_path.glob("cache-*"):
            left.unlink()
        try:
            with AnswerCache(path) as cache:
                found = [Server().ask(Requests(cache, "a"), text) for text in texts]
                outcomes.add(cache.spent("a"))
        except StoreError as error:
            outcomes.add("sentence")
            assert "\n" not in str(error)
        else:
            assert found == [f"found {text}" for text in texts]
    assert "sentence" in outcomes
    assert 7 in outcomes, "a damaged answer is asked for again, and paid"


@pytest.mark.parametrize("value", ["7", "'text'", "x'00'", "NULL"])
def test_values_of_another_kind_are_no_answers(value, cache):
    server = Server()
    server.ask(Requests(cache, "a"), "x")
    cache._database.execute(f"UPDATE request SET answer = {value}, sent = {value if value != 'NULL' else 0}")
    assert server.ask(Requests(cache, "a"), "x", lasting=True) == "found x"
    assert len(server.calls) == 2


def test_where_answers_are_kept_by_default(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "bagpack" / "requests.sqlite3"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(UsageError, match="no home directory to keep the answers in; set XDG_CACHE_HOME"):
        default_cache()
