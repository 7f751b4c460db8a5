"""The answers of engines, and the number of requests that were sent for them: an SQLite file.

Every answer is committed as it arrives, so that a run that was interrupted, even by `kill -9`, resumes where it
stopped. Each sentence is stored once; an answer is a list of sentence numbers. The pages of an answer that is not
complete yet are kept until it is. There are no credentials in the file: the engine's identity has none.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.engines.base import Count, Snippet
from bagpack.errors import StoreError, UsageError
from bagpack.files import cache_directory

I64 = NDArray[np.int64]
FORMAT_VERSION = 2
VARIABLES = 500  # in one statement; every SQLite takes 999
SCHEMA = """
CREATE TABLE IF NOT EXISTS sentence (
  number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, document TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answer (
  digest BLOB PRIMARY KEY, identity TEXT NOT NULL, query TEXT NOT NULL, snippets INTEGER NOT NULL,
  full INTEGER NOT NULL, numbers BLOB NOT NULL, asked REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS page (
  answer BLOB NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (answer, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS count (
  digest BLOB PRIMARY KEY, identity TEXT NOT NULL, query TEXT NOT NULL, occurrences INTEGER NOT NULL,
  approximate INTEGER NOT NULL, asked REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (account TEXT PRIMARY KEY, requests INTEGER NOT NULL) WITHOUT ROWID;
"""


def default_cache() -> Path:
    """The default place."""
    place = cache_directory()
    if place is None:
        raise UsageError(
            "there is no home directory to keep the answers in; set XDG_CACHE_HOME to a directory"
        )
    return place / "engines.sqlite3"


def answer_key(identity: str, query: str, limit: int) -> bytes:
    """The name of an answer."""
    return _digest(identity, query, str(limit))


def count_key(identity: str, query: str) -> bytes:
    """The name of a count."""
    return _digest(identity, query)


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()


class AnswerCache:
    """Answers by (engine identity, query, limit), and requests by account; safe to use from several threads."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        with self._disk_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=60.0, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            # With a write-ahead log NORMAL outlives the death of the process; only a power cut can cost an answer.
            self._database.execute("PRAGMA synchronous = NORMAL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, 1, FORMAT_VERSION):
                raise StoreError(
                    f"the answer cache {self.path} has format version {version}, this BagPack reads "
                    f"{FORMAT_VERSION}; name another --cache, or delete it"
                )
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                if version == 1:  # answers without a date: their age counts from now on
                    self._database.execute(
                        f"ALTER TABLE answer ADD COLUMN asked REAL NOT NULL DEFAULT {time.time()}"
                    )
                for statement in SCHEMA.split(";"):
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.DatabaseError as error:
            reason = str(error)
            if "full" in reason:
                raise StoreError(
                    f"the disk is full: the answer cache {self.path} cannot grow; free some space there and run the "
                    f"command again to continue"
                ) from None
            if "malformed" in reason or "not a database" in reason:
                raise StoreError(
                    f"{self.path} is not an answer cache ({reason}); delete it, or name another --cache"
                ) from None
            raise StoreError(
                f"the answer cache {self.path} cannot be used ({reason}); name another --cache"
            ) from None
        except OSError as error:
            raise StoreError(
                f"the answer cache {self.path} cannot be written: {error.strerror}; name another --cache"
            ) from None

    def _row(self, statement: str, *values: Any) -> Any:
        """The first row of an answer of the database, or None."""
        with self._disk_errors():
            return self._database.execute(statement, values).fetchone()

    def get(
        self, identity: str, query: str, limit: int, max_age: float | None = None
    ) -> tuple[I64, bool] | None:
        """The numbers of an answer's sentences, and whether the limit was reached.

        None if the query was never asked, or more than `max_age` days ago.
        """
        oldest = -1.0 if max_age is None else time.time() - max_age * 86_400
        key = answer_key(identity, query, limit)
        row = self._row("SELECT numbers, full FROM answer WHERE digest = ? AND asked > ?", key, oldest)
        return None if row is None else (np.frombuffer(row[0], "<i8").astype(np.int64), bool(row[1]))

    def put(self, identity: str, query: str, limit: int, snippets: Sequence[Snippet], full: bool) -> I64:
        """Keep an answer; returns its sentences' numbers. It is on disk when this returns."""
        key = answer_key(identity, query, limit)
        with self._disk_errors(), self._database as database:
            numbers = np.array(self._sentences(snippets), "<i8")
            database.execute(
                "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, identity, query, len(snippets), full, numbers.tobytes(), time.time()),
            )
            database.execute("DELETE FROM page WHERE answer = ?", (key,))
        return numbers.astype(np.int64)

    def get_count(self, identity: str, query: str, max_age: float | None = None) -> Count | None:
        """A count; None if it was never asked for, or more than `max_age` days ago."""
        oldest = -1.0 if max_age is None else time.time() - max_age * 86_400
        statement = "SELECT occurrences, approximate FROM count WHERE digest = ? AND asked > ?"
        row = self._row(statement, count_key(identity, query), oldest)
        return None if row is None else Count(row[0], bool(row[1]))

    def put_count(self, identity: str, query: str, count: Count) -> None:
        """Keep a count."""
        key = count_key(identity, query)
        with self._disk_errors(), self._database as database:
            database.execute(
                "INSERT OR REPLACE INTO count VALUES (?, ?, ?, ?, ?, ?)",
                (key, identity, query, *count, time.time()),
            )
            database.execute("DELETE FROM page WHERE answer = ?", (key,))

    def page(self, answer: bytes, name: str) -> str | None:
        """A page of an answer that is not complete yet; None if it was not kept."""
        row = self._row("SELECT content FROM page WHERE answer = ? AND name = ?", answer, name)
        return None if row is None else zlib.decompress(row[0]).decode()

    def keep_page(self, answer: bytes, name: str, content: str) -> None:
        """Keep a page until its answer is complete."""
        packed = zlib.compress(content.encode())
        with self._disk_errors(), self._database as database:
            database.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", (answer, name, packed))

    def spent(self, account: str) -> int:
        """The number of requests that were sent on an account, in all runs."""
        row = self._row("SELECT requests FROM spent WHERE account = ?", account)
        return int(row[0]) if row else 0

    def spend(self, account: str, limit: int | None) -> bool:
        """Count one more request, unless `limit` are counted already; whether it was counted."""
        with self._disk_errors(), self._database as database:
            if limit is not None and limit < 1:
                return False
            counted = database.execute(
                "INSERT INTO spent VALUES (?, 1) ON CONFLICT (account) DO UPDATE SET requests = requests + 1 "
                "WHERE ? IS NULL OR requests < ?",
                (account, limit, limit),
            )
            return counted.rowcount == 1

    def _sentences(self, snippets: Sequence[Snippet]) -> list[int]:
        """The numbers of the sentences, which are added where they are new."""
        digests = [_digest(snippet.document, snippet.text) for snippet in snippets]
        rows = ((d, snippet.document, snippet.text) for d, snippet in zip(digests, snippets, strict=True))
        self._database.executemany(
            "INSERT OR IGNORE INTO sentence (digest, document, text) VALUES (?, ?, ?)", rows
        )
        numbers: dict[bytes, int] = {}
        for start in range(0, len(digests), VARIABLES):
            part = digests[start : start + VARIABLES]
            marks = ",".join("?" * len(part))
            numbers.update(
                self._database.execute(f"SELECT digest, number FROM sentence WHERE digest IN ({marks})", part)
            )
        return [numbers[digest] for digest in digests]

    def sentences(self, numbers: Iterable[int]) -> Iterator[Snippet]:
        """The sentences of these numbers, in this order."""
        for number in numbers:
            yield Snippet(*self._row("SELECT document, text FROM sentence WHERE number = ?", int(number)))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
