"""Answers that were paid for once: an SQLite file, keyed by engine, index and query.

Every answer is committed as it comes, so that a run that was interrupted, even by `kill -9`, goes on where it
stopped. Sentences are kept once each; an answer is a list of their numbers. There are no credentials in it: the
engine's identity has none.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bagpack.engines.base import Snippet
from bagpack.errors import StoreError

I64 = NDArray[np.int64]
FORMAT_VERSION = 1
VARIABLES = 500  # in one statement; every SQLite takes 999
SCHEMA = """
CREATE TABLE IF NOT EXISTS sentence (
  number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, document TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answer (
  digest BLOB PRIMARY KEY, identity TEXT NOT NULL, query TEXT NOT NULL, snippets INTEGER NOT NULL,
  full INTEGER NOT NULL, numbers BLOB NOT NULL) WITHOUT ROWID;
"""


def default_cache() -> Path:
    """Where answers are kept unless told otherwise."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bagpack" / "engines.sqlite3"


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()


class AnswerCache:
    """Answers by (engine identity, query, limit); used from one thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=60.0)
            self._database.execute("PRAGMA journal_mode = WAL")
            # With a write-ahead log NORMAL outlives the death of the process; only a power cut can cost an answer.
            self._database.execute("PRAGMA synchronous = NORMAL")
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, FORMAT_VERSION):
                raise StoreError(
                    f"the answer cache {self.path} has format version {version}, this BagPack reads "
                    f"{FORMAT_VERSION}; name another --cache, or delete it"
                )
            with self._database:
                for statement in SCHEMA.split(";"):
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            reason = str(error)
            if "full" in reason:
                raise StoreError(
                    f"the disk is full: the answer cache {self.path} cannot grow; free some space there and run the "
                    f"command again, it goes on where it stopped"
                ) from None
            if "malformed" in reason or "not a database" in reason:
                raise StoreError(
                    f"{self.path} is no answer cache ({reason}); delete it, or name another --cache"
                ) from None
            raise StoreError(
                f"the answer cache {self.path} cannot be used ({reason}); name another --cache"
            ) from None
        except OSError as error:
            raise StoreError(
                f"the answer cache {self.path} cannot be written: {error.strerror}; name another --cache"
            ) from None

    def get(self, identity: str, query: str, limit: int) -> tuple[I64, bool] | None:
        """The numbers of an answer's sentences, and whether the limit bit; None if it was never asked."""
        with self._told():
            row = self._database.execute(
                "SELECT numbers, full FROM answer WHERE digest = ?", (_digest(identity, query, str(limit)),)
            ).fetchone()
        return None if row is None else (np.frombuffer(row[0], "<i8").astype(np.int64), bool(row[1]))

    def put(self, identity: str, query: str, limit: int, snippets: Sequence[Snippet], full: bool) -> I64:
        """Keep an answer; returns its sentences' numbers. It is on disk when this returns."""
        with self._told(), self._database as database:
            numbers = np.array(self._sentences(snippets), "<i8")
            database.execute(
                "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)",
                (
                    _digest(identity, query, str(limit)),
                    identity,
                    query,
                    len(snippets),
                    full,
                    numbers.tobytes(),
                ),
            )
        return numbers.astype(np.int64)

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
        with self._told():
            for number in numbers:
                document, text = self._database.execute(
                    "SELECT document, text FROM sentence WHERE number = ?", (int(number),)
                ).fetchone()
                yield Snippet(document, text)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
