"""RequestPolicy towards an engine, and the cache of its answers."""

import sqlite3
import threading
from pathlib import Path

import pytest
from engine_fakes import FakeEngine

from bagpack.engines.base import BusyError, EngineError, Snippet
from bagpack.engines.fetch.ask import ask_all
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.fetch.cache import AnswerCache, default_cache
from bagpack.engines.queries import Query, plan_queries
from bagpack.errors import StoreError, UsageError

QUERIES = plan_queries([("cat", "lion"), ("dog", "cat")]).queries


@pytest.fixture
def cache(tmp_path):
    with AnswerCache(tmp_path / "deep" / "cache.sqlite3") as opened:
        yield opened


def texts(cache, numbers):
    return [snippet.text for snippet in cache.sentences(numbers)]


def test_a_second_run_asks_nothing(cache):
    engine = FakeEngine()
    first = ask_all(engine, QUERIES, cache)
    assert len(engine.calls) == first.asked == len(QUERIES)
    assert texts(cache, first.numbers[3]) == [f"found {QUERIES[3]}"]
    second = ask_all(engine, QUERIES, cache)
    assert second.asked == 0
    assert [list(a) for a in first.numbers] == [list(a) for a in second.numbers]
    assert len(engine.calls) == len(QUERIES)


@pytest.mark.parametrize("change", ["identity", "limit", "query"])
def test_another_index_limit_or_query_is_another_question(cache, change):
    ask_all(FakeEngine(), QUERIES, cache, RequestPolicy(limit=10))
    engine = FakeEngine(identity="fake:2" if change == "identity" else "fake:1")
    queries = [Query("word", (("zebra",),))] if change == "query" else QUERIES
    assert ask_all(engine, queries, cache, RequestPolicy(limit=11 if change == "limit" else 10)).asked == len(
        queries
    )


def test_snippets_are_distinct_within_a_query_and_the_limit_is_reported(cache):
    found = [Snippet("a", "one"), Snippet("b", "two"), Snippet("c", "one"), Snippet("d", "three")]
    answers = ask_all(FakeEngine(answer=lambda query: found), QUERIES[:2], cache, RequestPolicy(limit=4))
    assert texts(cache, answers.numbers[0]) == ["one", "two", "three"]
    assert [snippet.document for snippet in cache.sentences(answers.numbers[0])] == ["a", "b", "d"]
    assert answers.full == [True, True]
    assert not any(
        ask_all(FakeEngine(answer=lambda query: found), QUERIES[:2], cache, RequestPolicy(limit=5)).full
    )


def test_a_busy_engine_is_asked_again_with_growing_pauses(cache, monkeypatch):
    pauses = []
    wait = threading.Event.wait
    monkeypatch.setattr(
        "threading.Event.wait",
        lambda self, timeout=None: wait(self) if timeout is None else pauses.append(timeout),
    )

    def trouble(number, query):
        if number <= 4:
            raise BusyError("too busy", wait=30.0 if number == 4 else None)

    engine = FakeEngine(trouble)
    assert ask_all(engine, QUERIES[:1], cache, RequestPolicy(first_wait=1.0)).asked == 1
    assert len(engine.calls) == 5
    for attempt, pause in enumerate(pauses[:3]):
        assert 0.5 * 2**attempt <= pause <= 2**attempt, "doubled each time, with jitter"
    assert len({round(pause / 2**at, 6) for at, pause in enumerate(pauses[:3])}) > 1
    assert pauses[3] == 30.0, "what the engine asked for"


@pytest.mark.parametrize("connections", [1, 3])
def test_what_was_answered_stays_when_the_engine_fails(cache, connections):
    def trouble(number, query):
        if number > 5:
            raise BusyError("the server went away")

    policy = RequestPolicy(retries=1, first_wait=0.001, connections=connections)
    with pytest.raises(EngineError, match=r"went away; \d+ of 27 queries are answered and kept") as error:
        ask_all(FakeEngine(trouble), QUERIES, cache, policy)
    kept = int(str(error.value).split("; ")[1].split()[0])
    assert kept >= 5 - (connections - 1)
    engine = FakeEngine()
    assert ask_all(engine, QUERIES, cache, policy).asked == 27 - kept


def test_an_error_for_good_is_not_tried_again(cache):
    def trouble(number, query):
        raise EngineError("refused the credentials")

    engine = FakeEngine(trouble)
    with pytest.raises(EngineError, match="refused the credentials"):
        ask_all(engine, QUERIES, cache)
    assert len(engine.calls) == 1


def test_rate_and_connections(cache):
    engine = FakeEngine(pause=0.03)
    ask_all(engine, QUERIES, cache, RequestPolicy(rate=100, connections=4))
    assert 1 < engine.most_flying <= 4
    elapsed = engine.calls[-1][0] - engine.calls[0][0]
    assert elapsed >= 0.95 * (len(QUERIES) - 1) / 100


def test_progress_says_what_is_left(cache):
    calls = []
    ask_all(FakeEngine(), QUERIES[:5], cache)
    ask_all(FakeEngine(), QUERIES, cache, progress=lambda *numbers: calls.append(numbers))
    assert calls[0] == (5, 27, 0)
    assert calls[-1] == (27, 27, 22)


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"connections": 0},
        {"rate": 0.0},
        {"rate": -1.0},
        {"rate": float("nan")},
        {"retries": -1},
        {"spend": -1},
    ],
)
def test_policies_out_of_range(wrong):
    with pytest.raises(UsageError, match=f"--{next(iter(wrong))}"):
        RequestPolicy(**wrong)


def test_a_full_disk_is_told_and_what_was_fetched_stays(cache):
    cache._database.execute("PRAGMA max_page_count = 30")
    long_answer = lambda query: [Snippet("d", f"{query} {'x' * 9000}")]  # noqa: E731
    with pytest.raises(StoreError, match=r"disk is full.*answered and kept"):
        ask_all(FakeEngine(answer=long_answer), QUERIES, cache)
    cache._database.execute("PRAGMA max_page_count = 1000000")
    engine = FakeEngine(answer=long_answer)
    asked = ask_all(engine, QUERIES, cache).asked
    assert 0 < asked < 27


def test_a_cache_that_is_none(tmp_path):
    (tmp_path / "text").write_text("this is no database, " * 100)
    with pytest.raises(StoreError, match="not an answer cache"):
        AnswerCache(tmp_path / "text")
    with pytest.raises(StoreError, match="cannot be"):
        AnswerCache(tmp_path / "text" / "below")
    other = sqlite3.connect(tmp_path / "newer")
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(StoreError, match="has format version 99, this BagPack reads 2; name another --cache"):
        AnswerCache(tmp_path / "newer")


def test_where_answers_are_kept_by_default(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "bagpack" / "engines.sqlite3"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(UsageError, match="no home directory to keep the answers in; set XDG_CACHE_HOME"):
        default_cache()
