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
DAY = 86_400
SCHEMA = f"""
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
    connections: int = 1
    retries: int = 5  # of one request, after a busy answer
    first_wait: float = 0.5  # seconds; doubled with every retry, with jitter
    longest_wait: float = 60.0
    max_age: float = 30.0  # days for which answers of an index that BagPack did not fill are reused

    def __post_init__(self) -> None:
        for name, least in (("limit", 1), ("connections", 1), ("retries", 0), ("budget", 0), ("max_age", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise UsageError(f"--{name} {value:g} is too small; give at least {least}")
        if self.limit > MOST_SNIPPETS:
            raise UsageError(f"--limit {self.limit} is too large; give at most {MOST_SNIPPETS:,}")
        if self.rate is not None and not self.rate > 0:
            raise UsageError(f"--rate {self.rate:g} allows no request; give requests per second, such as 5")


def default_cache() -> Path:
    """The file in the user's cache directory."""
    place = cache_directory()
    if place is None:
        raise UsageError(
            "there is no home directory to keep the answers in; set XDG_CACHE_HOME to a directory"
        )
    return place / "requests.sqlite3"


class AnswerCache:
    """The table of requests; safe to use from several threads and processes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=60.0, check_same_thread=False)
        try:
            with self._errors():
                self._database.execute("PRAGMA journal_mode = WAL")
                # With a write-ahead log NORMAL outlives the death of the process; only a power cut costs an answer.
                self._database.execute("PRAGMA synchronous = NORMAL")
                version = self._database.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, FORMAT_VERSION):
                    raise StoreError(
                        f"the answer cache {self.path} has format version {version}, this BagPack reads "
                        f"{FORMAT_VERSION}; move it elsewhere"
                    )
                self._database.executescript(SCHEMA)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            reason, fix = str(error), "move it elsewhere: a new one is made"
            if isinstance(error, OSError):
                reason, fix = error.strerror or reason, "set XDG_CACHE_HOME to another directory"
            elif "disk is full" in reason:
                fix = "free some space there and run the command again to continue"
            raise StoreError(f"the answer cache {self.path} cannot be used ({reason}); {fix}") from None

    def find(self, asked: bytes, max_age: float | None) -> str | None:
        """The answer to a request; None if there is none, it is damaged, or older than `max_age` days."""
        oldest = -1.0 if max_age is None else time.time() - max_age * DAY
        with self._errors():
            row = self._database.execute(
                "SELECT answer, digest FROM request WHERE asked = ? AND answer IS NOT NULL AND sent > ? "
                "ORDER BY number DESC LIMIT 1",
                (asked, oldest),
            ).fetchone()
        if row is None or not isinstance(row[0], bytes) or _digest(asked, row[0]) != row[1]:
            return None
        return zlib.decompress(row[0]).decode()

    def begin(self, account: str, asked: bytes, budget: int | None) -> int | None:
        """Write down that a request is sent; returns its number, or None if the account has sent `budget` already."""
        with self._errors(), self._database as database:
            made = database.execute(
                "INSERT INTO request (account, asked, sent) SELECT ?, ?, ? "
                "WHERE ? IS NULL OR (SELECT count(*) FROM request WHERE account = ?) < ?",
                (account, asked, time.time(), budget, account, budget),
            )
            return made.lastrowid if made.rowcount == 1 else None

    def finish(self, number: int, asked: bytes, answer: str) -> None:
        """Keep the answer to a request instead of older ones; it is on disk when this returns."""
        packed = zlib.compress(answer.encode())
        with self._errors(), self._database as database:
            database.execute(
                "UPDATE request SET answer = NULL, digest = NULL WHERE asked = ? AND answer IS NOT NULL",
                (asked,),
            )
            database.execute(
                "UPDATE request SET answer = ?, digest = ? WHERE number = ?",
                (packed, _digest(asked, packed), number),
            )

    def spent(self, account: str) -> int:
        """The number of requests that were sent on an account, in all runs."""
        with self._errors():
            statement = "SELECT count(*) FROM request WHERE account = ?"
            return int(self._database.execute(statement, (account,)).fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def _digest(*parts: bytes) -> bytes:
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little") + part)
    return hasher.digest()


class Requests:
    """Sends the requests of one engine.

    A request, its retries and the pauses between them take at most `timeout` × (`retries` + 1) seconds.

    Parameters
    ----------
    cache
        Where requests are counted and answers kept; None: nowhere, so that there is no budget.
    account
        The name under which they are counted: the engine's URL without credentials.
    """

    def __init__(
        self, cache: AnswerCache | None, account: str, policy: RequestPolicy | None = None, timeout: float = 30.0
    ) -> None:  # fmt: skip
        if not timeout > 0:
            raise UsageError(f"a timeout of {timeout:g} s is too short; give more than 0")
        self.account = account
        self.policy = policy or RequestPolicy()
        self.sent = 0
        self.stopped = threading.Event()
        self._cache = cache
        self._patience = timeout * (self.policy.retries + 1)
        self._next = 0.0
        self._lock = threading.Lock()

    def ask(self, asked: str, send: Callable[[], str], lasting: bool = False) -> str:
        """The answer to a request: the one that was kept, or a fresh one.

        Parameters
        ----------
        asked
            The request with everything that its answer depends on.
        send
            Sends the request once; raises `BusyError` if it is worth another try.
        lasting
            Whether the answer never changes, so that it is used however old it is.
        """
        key = _digest(asked.encode())
        kept = self._cache.find(key, None if lasting else self.policy.max_age) if self._cache else None
        return self.send(send, key) if kept is None else kept

    def send(self, send: Callable[[], str], key: bytes = b"") -> str:
        """Send a request, again if the engine is busy; the answer is kept under the key, if there is one."""
        tenacity = import_extra("tenacity", "tenacity", "http", "an engine behind HTTP")
        first, longest = self.policy.first_wait, self.policy.longest_wait
        backoff = tenacity.wait_exponential(first, longest) + tenacity.wait_random(0, first)

        def pause(state: Any) -> float:
            return float(max(backoff(state), state.outcome.exception().wait or 0.0))

        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(BusyError),
            stop=tenacity.stop_after_attempt(self.policy.retries + 1)
            | tenacity.stop_before_delay(self._patience),
            wait=pause,
            sleep=self.stopped.wait,
            reraise=True,
        )
        return str(again(self._once, send, key))

    def _once(self, send: Callable[[], str], key: bytes) -> str:
        if self.policy.rate:  # at most `rate` callers per second pass, whatever thread they come from
            with self._lock:
                turn = max(self._next, time.monotonic())
                self._next = turn + 1.0 / self.policy.rate
            self.stopped.wait(max(0.0, turn - time.monotonic()))
        if self.stopped.is_set():
            raise EngineError("the run is ending")
        number = None
        if self._cache is not None:
            number = self._cache.begin(self.account, key, self.policy.budget)
            if number is None:
                raise EngineError(
                    f"the budget is used up: {self._cache.spent(self.account):,} requests were sent to {self.account} "
                    f"in all runs, retries and pages included; raise --budget {self.policy.budget} to continue"
                )
        with self._lock:
            self.sent += 1
        answer = send()
        if key and number is not None and self._cache:
            self._cache.finish(number, key, answer)
        return answer
