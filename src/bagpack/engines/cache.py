"""Requests to engines: counted before they are sent, paced, repeated if the engine was busy, and their answers kept.

One SQLite table has a row per request. The row is written before the request is sent and gets the answer when it is
there, so that the rows of an account are its spending, and a run that was interrupted, even by `kill -9`, resumes where
it stopped. There are no credentials in the file: neither accounts nor identities have any.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bagpack.engines.base import BusyError, EngineError
from bagpack.errors import StoreError, UsageError, import_extra
from bagpack.files import cache_directory

FORMAT_VERSION = 3
MOST_SNIPPETS = 1_000_000  # an engine may reserve memory for all of them
LONGEST_WAIT = 60.0  # seconds between two tries
MAX_AGE = 30 * 86_400  # seconds for which answers are reused: an index may change
# With a write-ahead log NORMAL outlives the death of the process; only a power cut costs an answer.
SCHEMA = f"""
PRAGMA synchronous = NORMAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS request (
  number INTEGER PRIMARY KEY, account TEXT NOT NULL, asked BLOB NOT NULL, sent REAL NOT NULL, answer BLOB, digest BLOB);
CREATE INDEX IF NOT EXISTS request_account ON request (account);
CREATE INDEX IF NOT EXISTS request_asked ON request (asked) WHERE answer IS NOT NULL;
PRAGMA user_version = {FORMAT_VERSION};
COMMIT
"""


@dataclass(frozen=True)
class RequestPolicy:
    """How many requests an engine gets, how fast, and how often one that failed is repeated."""

    limit: int = 1000  # snippets per query
    rate: float | None = None  # requests per second; None: as fast as the engine answers
    budget: int | None = None  # requests that may be sent to this engine, over all runs that share the cache
    retries: int = 5  # of one request, after a busy answer
    first_wait: float = 0.5  # seconds; doubled with every retry, with jitter

    def __post_init__(self) -> None:
        bounds = {"limit": (1, MOST_SNIPPETS), "retries": (0, 100), "budget": (0, 2**62)}
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UsageError(f"--{name} {value} is out of range; give {low} to {high:,}")
        if self.rate is not None and not self.rate > 0:
            raise UsageError(f"--rate {self.rate:g} allows no request; give requests per second, such as 5")


def default_cache() -> Path:
    if (place := cache_directory()) is None:
        raise UsageError("there is no home directory to keep the answers in; set XDG_CACHE_HOME")
    return place / "requests.sqlite3"


class Requests:
    """The requests of one engine: how they are sent, and the table that counts them and keeps their answers.

    Several threads and processes may share a table (`cache`; None: there is none, and no budget). Requests are counted
    under `account`, the engine's URL without credentials. A request, its retries and the pauses between them take at
    most `timeout` × (`retries` + 1) seconds.
    """

    def __init__(
        self, cache: str | Path | None, account: str, policy: RequestPolicy | None = None, timeout: float = 30.0
    ) -> None:  # fmt: skip
        if not timeout > 0:
            raise UsageError(f"a timeout of {timeout:g} s is too short; give more than 0")
        self.cache, self.account, self.policy = cache, account, policy or RequestPolicy()
        self.sent = 0
        self.stopped = threading.Event()
        self._patience = timeout * (self.policy.retries + 1)
        self._next = 0.0
        self._lock = threading.RLock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        if cache is not None:
            try:
                with self._table():
                    self._open(Path(cache))
            except BaseException:
                self.close()
                raise

    def _open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, FORMAT_VERSION):
            text = f"has format version {version}, this BagPack reads {FORMAT_VERSION}; move it elsewhere"
            raise StoreError(f"the answer cache {path} {text}")
        self._database.executescript(SCHEMA)

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _table(self) -> Iterator[None]:
        """A transaction; what fails becomes a sentence."""
        try:
            with self._lock, self._database:
                yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last of a damaged schema
            fix = "move it elsewhere: a new one is made"
            if isinstance(error, OSError):
                fix = "set XDG_CACHE_HOME to another directory"
            elif "disk is full" in str(error):
                fix = "free some space there and run the command again to continue"
            raise StoreError(f"the answer cache {self.cache} cannot be used ({error}); {fix}") from None

    @property
    def spent(self) -> int:
        """The number of requests that were sent on the account, in all runs."""
        with self._table():
            found = self._database.execute("SELECT count(*) FROM request WHERE account = ?", (self.account,))
            return int(found.fetchone()[0])

    def ask(self, asked: str, send: Callable[[], str]) -> str:
        """The answer to a request: the one that was kept, or a fresh one.

        `asked` is everything that the answer depends on. `send` sends the request once, and raises `BusyError` if it
        is worth another try.
        """
        key = _digest(asked.encode())
        if self.cache is not None:
            with self._table():
                row = self._database.execute(
                    "SELECT answer, digest FROM request WHERE asked = ? AND answer IS NOT NULL AND sent > ? "
                    "ORDER BY number DESC LIMIT 1",
                    (key, time.time() - MAX_AGE),
                ).fetchone()
            answer, checksum = row or (None, None)
            if isinstance(answer, bytes) and _digest(key, answer) == checksum:  # else it is damaged
                return zlib.decompress(answer).decode()
        return self.send(send, key)

    def send(self, send: Callable[[], str], key: bytes = b"") -> str:
        """Send a request, again if the engine is busy; the answer is kept under the key, if there is one."""
        tenacity = import_extra("tenacity", "tenacity", "http", "an engine behind HTTP")
        first = self.policy.first_wait
        backoff = tenacity.wait_exponential(first, LONGEST_WAIT) + tenacity.wait_random(0, first)

        def pause(state: Any) -> float:
            return float(max(backoff(state), state.outcome.exception().wait or 0.0))

        stop = tenacity.stop_after_attempt(self.policy.retries + 1)
        stop |= tenacity.stop_before_delay(self._patience)
        busy = tenacity.retry_if_exception_type(BusyError)
        again = tenacity.Retrying(retry=busy, stop=stop, wait=pause, sleep=self.stopped.wait, reraise=True)
        return str(again(self._once, send, key))

    def _once(self, send: Callable[[], str], key: bytes) -> str:
        if self.policy.rate:  # at most `rate` callers per second pass, whatever thread they come from
            with self._lock:
                turn = max(self._next, time.monotonic())
                self._next = turn + 1.0 / self.policy.rate
            self.stopped.wait(max(0.0, turn - time.monotonic()))
        if self.stopped.is_set():
            raise EngineError("the run is ending")
        number = self._begin(key) if self.cache is not None else None
        with self._lock:
            self.sent += 1
        answer = send()
        if key and number is not None:
            packed = zlib.compress(answer.encode())
            with self._table():  # the answer is on disk, instead of older ones, when this ends
                self._database.execute(
                    "UPDATE request SET answer = NULL, digest = NULL WHERE asked = ? AND answer IS NOT NULL",
                    (key,),
                )
                self._database.execute(
                    "UPDATE request SET answer = ?, digest = ? WHERE number = ?",
                    (packed, _digest(key, packed), number),
                )
        return answer

    def _begin(self, key: bytes) -> int | None:
        """Write down that a request is sent; returns its number."""
        budget = self.policy.budget
        with self._table():
            made = self._database.execute(
                "INSERT INTO request (account, asked, sent) SELECT ?, ?, ? "
                "WHERE ? IS NULL OR (SELECT count(*) FROM request WHERE account = ?) < ?",
                (self.account, key, time.time(), budget, self.account, budget),
            )
        if made.rowcount != 1:
            raise EngineError(
                f"the budget is used up: {self.spent:,} requests were sent to {self.account} in all runs, retries and "
                f"pages included; raise --budget {budget} to continue"
            )
        return made.lastrowid


def _digest(*parts: bytes) -> bytes:
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little") + part)
    return hasher.digest()
