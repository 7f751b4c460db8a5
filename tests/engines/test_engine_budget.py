"""Spending: every request counts, over all runs, and no answer that was paid for is lost."""

import _thread
import sqlite3
import time

import pytest
from engine_fakes import FakeEngine

from bagpack.engines.base import BusyError, EngineError, Snippet
from bagpack.engines.fetch.ask import ask_all
from bagpack.engines.fetch.budget import RequestPolicy, StoppedError
from bagpack.engines.fetch.cache import AnswerCache, answer_key
from bagpack.engines.fetch.client import Client
from bagpack.engines.inflect import Inflector
from bagpack.engines.queries import plan_queries

# Without inflected forms: their tables take a second to load, and this module is imported by each worker.
QUERIES = plan_queries([("cat", "lion"), ("dog", "cat")], Inflector("none")).queries
OLD_SCHEMA = """
CREATE TABLE sentence (
  number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, document TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE answer (
  digest BLOB PRIMARY KEY, identity TEXT NOT NULL, query TEXT NOT NULL, snippets INTEGER NOT NULL,
  full INTEGER NOT NULL, numbers BLOB NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


@pytest.fixture
def cache(tmp_path):
    with AnswerCache(tmp_path / "cache.sqlite3") as opened:
        yield opened


def busy(number, query):
    raise BusyError("too busy")


@pytest.mark.parametrize("connections", [1, 4])
def test_retries_are_paid_from_the_budget(cache, connections):
    engine = FakeEngine(busy)
    policy = RequestPolicy(spend=5, retries=5, first_wait=0.001, connections=connections)
    with pytest.raises(EngineError, match=r"spending limit.*5 requests"):
        ask_all(engine, QUERIES, cache, policy)
    assert len(engine.calls) == 5


def test_what_stopped_the_run_is_reported_and_not_that_others_were_busy(cache):
    client = Client(cache, "fake:1", RequestPolicy(retries=5, first_wait=0.001))

    def request():
        client.stopped.set()  # by another connection, while this one is being answered
        raise BusyError("too busy")

    with pytest.raises(StoppedError):
        client.send(request)


def test_spending_is_counted_over_all_runs(cache, tmp_path):
    engine = FakeEngine()
    with pytest.raises(EngineError, match=r"spending limit .* 10 requests were sent"):
        ask_all(engine, QUERIES, cache, RequestPolicy(spend=10))
    with AnswerCache(tmp_path / "cache.sqlite3") as again:
        with pytest.raises(EngineError, match="spending limit"):
            ask_all(engine, QUERIES, again, RequestPolicy(spend=10))
        assert len(engine.calls) == 10
        with pytest.raises(EngineError, match=r"15 requests were sent"):
            ask_all(engine, QUERIES, again, RequestPolicy(spend=15))
        assert ask_all(engine, QUERIES, again, RequestPolicy(spend=27)).asked == 12
    assert len(engine.calls) == 27


def test_another_engine_has_a_budget_of_its_own(cache):
    ask_all(FakeEngine(), QUERIES[:10], cache, RequestPolicy(spend=10))
    assert ask_all(FakeEngine(identity="fake:2"), QUERIES[:10], cache, RequestPolicy(spend=10)).asked == 10


def test_answers_in_flight_are_kept_when_one_fails(cache):
    def trouble(number, query):
        if query == QUERIES[8]:
            raise EngineError("refused")
        time.sleep(0.05)  # the others are still on their way when it fails

    engine = FakeEngine(trouble)
    with pytest.raises(EngineError, match="refused"):
        ask_all(engine, QUERIES, cache, RequestPolicy(connections=9))
    answered = len(engine.calls) - 1
    assert answered >= 8
    engine = FakeEngine()
    assert ask_all(engine, QUERIES, cache).asked == len(QUERIES) - answered


@pytest.mark.parametrize("connections", [1, 4])
def test_answers_in_flight_are_kept_after_ctrl_c(ctrl_c, cache, connections):
    def trouble(number, query):
        if number == 5:
            _thread.interrupt_main()  # a signal would end the process where a JVM has its own handler
        time.sleep(0.1)  # on their way when the signal arrives

    engine = FakeEngine(trouble)
    with pytest.raises(KeyboardInterrupt):
        ask_all(engine, QUERIES, cache, RequestPolicy(connections=connections))
    paid = len(engine.calls)
    assert 5 <= paid < len(QUERIES)
    engine = FakeEngine()
    assert ask_all(engine, QUERIES, cache).asked == len(QUERIES) - paid


def test_spent_requests_are_known_after_a_kill(cache, tmp_path):
    """The count is on disk before a request is sent: what dies in flight was paid for."""
    seen = []

    def trouble(number, query):
        with AnswerCache(tmp_path / "cache.sqlite3") as other:
            seen.append(other.spent("fake:1"))

    ask_all(FakeEngine(trouble), QUERIES[:5], cache)
    assert seen == [1, 2, 3, 4, 5]


def test_nothing_to_ask_needs_no_budget(cache):
    ask_all(FakeEngine(), QUERIES, cache)
    assert ask_all(FakeEngine(), QUERIES, cache, RequestPolicy(spend=0)).asked == 0
    with pytest.raises(EngineError, match="spending limit"):
        ask_all(FakeEngine(identity="fake:2"), QUERIES, cache, RequestPolicy(spend=0))


def test_answers_of_an_index_that_may_change_expire(cache):
    engine = FakeEngine()
    engine.exact = False
    ask_all(engine, QUERIES[:3], cache)
    assert ask_all(engine, QUERIES[:3], cache).asked == 0
    cache._database.execute("UPDATE answer SET asked = asked - 31 * 86400")
    assert ask_all(engine, QUERIES[:3], cache, RequestPolicy(max_age=32)).asked == 0
    assert ask_all(engine, QUERIES[:3], cache).asked == 3
    cache._database.execute("UPDATE answer SET asked = asked - 31 * 86400")
    engine.exact = True
    assert ask_all(engine, QUERIES[:3], cache).asked == 0, (
        "an index of ours has another identity when it changes"
    )


def test_a_cache_of_the_last_version_keeps_its_answers(tmp_path):
    old = sqlite3.connect(tmp_path / "old")
    old.executescript(OLD_SCHEMA)
    numbers = (1).to_bytes(8, "little")
    old.execute("INSERT INTO sentence VALUES (1, x'00', 'd', 'found')")
    key = answer_key("fake:1", str(QUERIES[0]), 1000)
    old.execute("INSERT INTO answer VALUES (?, 'fake:1', ?, 1, 0, ?)", (key, str(QUERIES[0]), numbers))
    old.commit()
    old.close()
    for _ in range(2):
        with AnswerCache(tmp_path / "old") as opened:
            engine = FakeEngine()
            engine.exact = False
            answers = ask_all(engine, QUERIES[:1], opened)
            assert (answers.asked, list(answers.numbers[0])) == (0, [1])


def test_a_server_that_asks_for_a_long_pause_ends_the_run(cache):
    def trouble(number, query):
        raise BusyError("too busy", wait=3600)

    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"asks to wait 3,600 s: run the same command again then"):
        ask_all(FakeEngine(trouble), QUERIES, cache)
    assert time.monotonic() - begun < 1


def test_pages_are_paid_once(cache):
    """An answer of three pages whose third fails: the next run fetches the third alone."""

    class Paging(FakeEngine):
        def search(self, query, limit, sender):
            return [Snippet("d", sender.page(str(at), lambda at=at: self.fetch(at))) for at in range(3)]

        def fetch(self, at):
            self.calls.append(at)
            if at == 2 and len(self.calls) < 4:
                raise EngineError("gone")
            return f"page {at}"

    engine = Paging()
    with pytest.raises(EngineError, match="gone"):
        ask_all(engine, QUERIES[:1], cache)
    answers = ask_all(engine, QUERIES[:1], cache)
    assert engine.calls == [0, 1, 2, 2]
    assert [s.text for s in cache.sentences(answers.numbers[0])] == ["page 0", "page 1", "page 2"]
    assert cache._database.execute("SELECT count(*) FROM page").fetchone() == (0,), "no longer needed"


def test_no_request_is_counted_beyond_the_limit(tmp_path):
    with AnswerCache(tmp_path / "c") as cache:
        assert not cache.spend("none", 0)
        assert cache.spent("none") == 0
        assert [cache.spend("two", 2) for _ in range(4)] == [True, True, False, False]
        assert cache.spent("two") == 2


def test_a_request_is_repeated_as_often_as_allowed(tmp_path):
    asked = []

    def busy():
        asked.append(1)
        raise BusyError("not now")

    with AnswerCache(tmp_path / "c") as cache:
        with pytest.raises(BusyError, match="not now"):
            Client(cache, "engine", RequestPolicy(retries=2, first_wait=0.001)).send(busy)
        assert len(asked) == cache.spent("engine") == 3
