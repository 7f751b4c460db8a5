"""PostgreSQL: builds that lock nobody out, time limits that hold, and a warning where an index is missing."""

import os
import signal
import subprocess
import sys
import time
import warnings

import psycopg
import pytest

from bagpack.engines.backends import postgres_database
from bagpack.engines.backends.postgres_database import Database
from bagpack.engines.base import BusyError, EngineError, connect, engine_kind, parse_address
from bagpack.engines.build import build_engine
from bagpack.engines.fetch.budget import RequestPolicy
from bagpack.engines.queries import Query
from bagpack.engines.snippets.fetching import fetch_snippets
from bagpack.engines.words import mark

CAT = Query("word", (("cat",),))


def fill(url, tmp_path, text="A cat and a lion.\nThe lion saw a cat.\n", **settings):
    file = tmp_path / "text.txt"
    file.write_text(text)
    build_engine(url, [str(file)], jobs=1, **settings)
    return url


@pytest.fixture
def articles(postgres):
    """A table of the user's own, without an index."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS articles")
        connection.execute("CREATE TABLE articles (url text, body text)")
        rows = [(f"u{at % 5}", f"A cat, number {at}.") for at in range(20)]
        connection.cursor().executemany("INSERT INTO articles VALUES (%s, %s)", rows)
        yield connection


def test_readers_are_not_locked_out_by_a_rebuild(postgres, tmp_path):
    url = fill(f"{postgres}?table=rebuilt", tmp_path)
    engine = connect(url, timeout=2)
    builder = engine_kind("postgresql").build(parse_address(url), overwrite=True)
    builder.add("d", mark([("cat", False)]))
    assert len(engine.search(CAT, 10)) == 2, "the old table answers while the new one is made"
    builder.finish()
    assert len(connect(url).search(CAT, 10)) == 1
    engine.close()


def test_a_killed_build_leaves_the_old_table_and_nothing_else(postgres, tmp_path):
    url = fill(f"{postgres}?table=killed", tmp_path)
    code = (
        "import os, sys; from bagpack.engines.base import engine_kind, parse_address;"
        "from bagpack.engines.words import mark;"
        "b = engine_kind('postgresql').build(parse_address(sys.argv[1]), True);"
        "[b.add('d', mark([('cat', False)])) for _ in range(1000)]; os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, url], check=False).returncode == -signal.SIGKILL
    assert len(connect(url).search(CAT, 10)) == 2
    with psycopg.connect(postgres) as other:
        deadline = time.monotonic() + 10
        count = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'killed%%'"
        while other.execute(count).fetchone()[0] > 1 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert other.execute(count).fetchone() == (1,)


def test_a_frozen_server_is_given_up(postgres, tmp_path):
    engine = connect(fill(f"{postgres}?table=frozen", tmp_path), timeout=1)
    with engine._database.connection() as connection:
        pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with pytest.raises(BusyError, match=r"did not answer within 1 s"):
            engine.search(CAT, 10)
        assert time.monotonic() - begun < 20
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(engine.search(CAT, 10)) == 2, "another connection takes its place"
    engine.close()


def test_a_very_short_timeout_is_a_timeout(postgres, tmp_path):
    url = fill(f"{postgres}?table=short", tmp_path)
    with psycopg.connect(postgres) as other, other.transaction():
        other.execute("LOCK TABLE short IN ACCESS EXCLUSIVE MODE")
        begun = time.monotonic()
        with pytest.raises(EngineError, match=r"0\.0004 s"):
            connect(url, timeout=0.0004).search(CAT, 10)
        assert time.monotonic() - begun < 20


def test_no_timeout_means_no_limit_to_the_server():
    address = parse_address("postgresql://localhost/x")
    assert [Database(address, timeout)._milliseconds for timeout in (0.0004, 0.0015, 30)] == [1, 2, 30_000]


def test_statement_timeouts_are_not_tried_again(postgres, tmp_path, monkeypatch):
    monkeypatch.setattr(postgres_database, "GRACE", 60)  # a busy server may be late to cancel a query itself
    engine = connect(fill(f"{postgres}?table=once", tmp_path))
    engine._database.timeout = 0.3  # for queries; connecting to a busy server may take longer
    asked = []
    search = engine._search

    def count(query, limit):
        asked.append(query)
        return search(query, limit)

    monkeypatch.setattr(engine, "_search", count)
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE once IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(EngineError, match=r"more than 0\.3 s for a query"):
            fetch_snippets(
                [("cat", "lion")],
                engine,
                tmp_path / "s.bps",
                cache=tmp_path / "c",
                policy=RequestPolicy(retries=5),
            )
    assert 0 < len(asked) == len(set(asked))
    engine.close()


@pytest.mark.parametrize("vector", [False, True])
def test_a_missing_index_is_reported_with_the_statement_that_makes_one(articles, postgres, vector):
    url = f"{postgres}?table=articles&column=body&id=url"
    if vector:
        articles.execute("ALTER TABLE articles ADD words tsvector")
        articles.execute("UPDATE articles SET words = to_tsvector('simple', body)")
        url += "&vector=words"
    with pytest.warns(UserWarning, match=r"no index serves .* make one with: CREATE INDEX ON .*;$") as warned:
        connect(url).close()
    statement = str(warned[0].message).partition("make one with: ")[2]
    articles.execute(statement)
    for _ in range(50):  # PostgreSQL may leave a new index aside while something older than it is running
        with warnings.catch_warnings(record=True) as again:
            warnings.simplefilter("always")
            engine = connect(url)
        if not again:
            break
        engine.close()
        time.sleep(0.2)
    assert not again
    assert len(engine.search(CAT, 100)) == 20
    engine.close()


@pytest.mark.filterwarnings("ignore:.*no index serves")
def test_order_is_fixed_by_a_tiebreaker(articles, postgres):
    engine = connect(f"{postgres}?table=articles&column=body&id=url")
    found = engine.search(CAT, 100)
    articles.execute("SET enable_sort = off")
    assert [s.document for s in found] == sorted(s.document for s in found)
    numbers = [int(s.text.split()[-1].strip(".")) for s in found if s.document == "u0"]
    assert numbers == sorted(numbers)
    engine.close()


@pytest.mark.filterwarnings("ignore:.*no index serves")
def test_enormous_texts_are_refused_in_bounded_memory(articles, postgres):
    articles.execute("ALTER TABLE articles ADD words tsvector DEFAULT 'cat'")
    articles.execute("INSERT INTO articles VALUES ('big', repeat('x', 70000000))")
    engine = connect(f"{postgres}?table=articles&column=body&id=url&vector=words", timeout=60)
    with pytest.raises(EngineError, match=r"more than 64 MiB of text in its answer; lower --limit"):
        engine.search(CAT, 100)
    engine.close()
