"""Asking an engine politely: a rate, few connections, patience with a busy server, and never twice the same.

`ask_all` answers a list of queries from the cache and asks the engine only for the rest. What has been answered is on
disk at once; running the same command again goes on where the last one stopped.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from bagpack.engines.base import BusyError, Engine, EngineError, Snippet, distinct
from bagpack.engines.snippets.split import split_snippets
from bagpack.errors import BagpackError, UsageError

if TYPE_CHECKING:
    from bagpack.engines.fetch.cache import I64, AnswerCache
    from bagpack.engines.queries import Query

Progress = Callable[[int, int, int], None]  # (queries answered, in all, of these asked now)


@dataclass(frozen=True)
class Manners:
    """How an engine is treated."""

    limit: int = 1000  # snippets a query
    rate: float | None = None  # queries a second, None: as fast as it answers
    connections: int = 1
    retries: int = 5  # after a busy answer
    first_wait: float = 0.5  # seconds; doubled with every retry, with jitter
    longest_wait: float = 60.0
    spend: int | None = None  # queries that may be asked in one run

    def __post_init__(self) -> None:
        for name, least in (("limit", 1), ("connections", 1), ("retries", 0), ("spend", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"--{name} {value} is too small; give at least {least}")
        if self.rate is not None and self.rate <= 0:
            raise UsageError(
                f"--rate {self.rate:g} would never ask anything; give queries a second, such as 5"
            )


class Pace:
    """Lets at most `rate` callers a second pass, whatever thread they come from."""

    def __init__(self, rate: float | None) -> None:
        self._interval = 1.0 / rate if rate else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self, stopped: threading.Event) -> None:
        """Return when it is this caller's turn."""
        if not self._interval:
            return
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._interval
        stopped.wait(max(0.0, turn - time.monotonic()))


@dataclass(frozen=True)
class Answers:
    """Sentence numbers (in the cache) per query, whether the limit bit, and how many were asked in this run."""

    numbers: list[I64]
    full: list[bool]
    asked: int


def ask_all(
    engine: Engine,
    queries: Sequence[Query],
    cache: AnswerCache,
    manners: Manners | None = None,
    lang: str = "en",
    progress: Progress | None = None,
) -> Answers:
    """Answer all queries, from the cache where it has them.

    Raises
    ------
    EngineError
        The engine failed for good, or the spending limit is reached; the sentence says how many answers are kept.
    """
    manners = manners or Manners()
    numbers: list[I64 | None] = []
    full: list[bool] = []
    for query in queries:
        held = cache.get(engine.identity, str(query), manners.limit)
        numbers.append(held[0] if held else None)
        full.append(held[1] if held else False)
    missing = [at for at, found in enumerate(numbers) if found is None]
    asked = 0
    if progress:
        progress(len(queries) - len(missing), len(queries), 0)
    affordable = missing if manners.spend is None else missing[: manners.spend]
    try:
        for at, snippets, bit in _stream(engine, queries, affordable, manners, lang):
            numbers[at] = cache.put(engine.identity, str(queries[at]), manners.limit, snippets, bit)
            full[at] = bit
            asked += 1
            if progress:
                progress(len(queries) - len(missing) + asked, len(queries), asked)
    except BagpackError as error:
        kept = len(queries) - len(missing) + asked
        error.args = (
            f"{error}; {kept:,} of {len(queries):,} queries are answered and kept: the same command again goes on",
        )
        raise
    if len(affordable) < len(missing):
        left = len(missing) - len(affordable)
        raise EngineError(
            f"the spending limit is reached: {asked:,} queries were asked, {left:,} are left; what was fetched is "
            f"kept, the same command again goes on (--spend {manners.spend})"
        )
    return Answers([found for found in numbers if found is not None], full, asked)


def _stream(
    engine: Engine, queries: Sequence[Query], wanted: Sequence[int], manners: Manners, lang: str
) -> Iterator[tuple[int, list[Snippet], bool]]:
    """Answers as they come, with a few queries in flight per connection."""
    stopped = threading.Event()
    pace = Pace(manners.rate)

    def ask(at: int) -> tuple[int, list[Snippet], bool]:
        found = _patiently(engine, queries[at], manners, pace, stopped)
        bit = len(found) >= manners.limit
        return at, distinct(found if engine.exact else split_snippets(queries[at], found, lang)), bit

    if manners.connections == 1:
        yield from map(ask, wanted)
        return
    pool = ThreadPoolExecutor(manners.connections, thread_name_prefix="bagpack-fetch")
    waiting = iter(wanted)
    flying: set[Future[tuple[int, list[Snippet], bool]]] = set()
    try:
        flying.update(pool.submit(ask, at) for at in islice(waiting, 2 * manners.connections))
        while flying:
            done, flying = wait(flying, return_when=FIRST_COMPLETED)
            # What came back is handed on before a failure beside it is: it was paid for.
            for future in sorted(done, key=lambda future: future.exception() is not None):
                yield future.result()
            flying.update(pool.submit(ask, at) for at in islice(waiting, len(done)))
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _patiently(
    engine: Engine, query: Query, manners: Manners, pace: Pace, stopped: threading.Event
) -> list[Snippet]:
    """Ask, and ask again after a while if the engine was busy: exponential back-off with jitter."""
    attempt = 0
    while True:
        pace.wait(stopped)
        try:
            return engine.search(query, manners.limit)
        except BusyError as error:
            if attempt >= manners.retries or stopped.is_set():
                raise
            pause = min(manners.longest_wait, manners.first_wait * 2**attempt) * random.uniform(0.5, 1.0)
            stopped.wait(min(manners.longest_wait, max(pause, error.wait or 0.0)))
            attempt += 1
