"""The budget of an engine: how many requests may be sent, how fast, and how many were sent before.

Every HTTP request (every query, for an engine without HTTP) passes through `Budget.take`, whether it opens an index,
fetches another page or repeats a request that failed. The count is stored in the answer cache before the request is
sent, so that it holds over all runs and outlives a crash.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bagpack.engines.base import EngineError
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.fetch.cache import AnswerCache


@dataclass(frozen=True)
class RequestPolicy:
    """How many requests an engine gets, how fast, and how often one that failed is repeated."""

    limit: int = 1000  # snippets per query
    rate: float | None = None  # requests per second; None: as fast as the engine answers
    connections: int = 1
    retries: int = 5  # of one request, after a busy answer
    first_wait: float = 0.5  # seconds; doubled with every retry, with jitter
    longest_wait: float = 60.0
    spend: int | None = None  # requests that may be sent to this engine, over all runs that share the cache
    max_age: float = 30.0  # days for which answers of an index that BagPack did not fill are reused

    def __post_init__(self) -> None:
        for name, least in (("limit", 1), ("connections", 1), ("retries", 0), ("spend", 0), ("max_age", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} {value:g} is too small; give at least {least}")
        if self.rate is not None and not self.rate > 0:
            raise UsageError(f"--rate {self.rate:g} allows no request; give requests per second, such as 5")


Manners = RequestPolicy  # its name in earlier versions


class SpendingError(EngineError):
    """The spending limit is reached."""


class StoppedError(EngineError):
    """The run is ending; this request is not sent."""


class Budget:
    """Counts and paces the requests that are sent to one engine.

    Parameters
    ----------
    cache
        Where the number of requests is stored.
    account
        The name under which it is stored: the engine's URL without credentials.
    """

    def __init__(self, cache: AnswerCache, account: str, policy: RequestPolicy) -> None:
        self.account = account
        self.limit = policy.spend
        self._cache = cache
        self._interval = 1.0 / policy.rate if policy.rate else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def take(self, stopped: threading.Event) -> None:
        """Return when a request may be sent; it is counted.

        Raises
        ------
        SpendingError
            No request is left.
        """
        if self.limit is not None and self._cache.spent(self.account) >= self.limit:
            raise self._exhausted()
        if self._interval:  # at most `rate` callers per second pass, whatever thread they come from
            with self._lock:
                turn = max(self._next, time.monotonic())
                self._next = turn + self._interval
            stopped.wait(max(0.0, turn - time.monotonic()))
        if stopped.is_set():
            raise StoppedError("the run is ending")
        if not self._cache.spend(self.account, self.limit):
            raise self._exhausted()

    def _exhausted(self) -> SpendingError:
        spent = self._cache.spent(self.account)
        return SpendingError(
            f"the spending limit is reached: {spent:,} requests were sent to {self.account} in all, retries and "
            f"pages included; raise --spend {self.limit} to continue"
        )
