"""Sending requests for an engine: within the budget, again after a while if the engine was busy."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from copy import copy
from typing import TypeVar

from bagpack.engines.base import BusyError
from bagpack.engines.fetch.budget import Budget, RequestPolicy, StoppedError
from bagpack.engines.fetch.cache import AnswerCache

T = TypeVar("T")


class Client:
    """Sends requests (`bagpack.engines.base.Sender`) with exponential back-off and jitter.

    A request, its retries and the pauses between them take at most `timeout` × (`retries` + 1) seconds.
    """

    def __init__(
        self, cache: AnswerCache, account: str, policy: RequestPolicy, timeout: float = 30.0
    ) -> None:
        self.cache = cache
        self.budget = Budget(cache, account, policy)
        self.policy = policy
        self.stopped = threading.Event()
        self._patience = timeout * (policy.retries + 1)
        self._answer: bytes | None = None

    def send(self, request: Callable[[], T]) -> T:
        """Call `request` until it is answered, at most `retries` times more."""
        end = time.monotonic() + self._patience
        attempt = 0
        while True:
            self.budget.take(self.stopped)
            try:
                return request()
            except BusyError as error:
                if attempt >= self.policy.retries:
                    raise
                if self.stopped.is_set():  # what stopped the run is reported, not this
                    raise StoppedError("the run is ending") from error
                pause = max(self._pause(attempt), error.wait or 0.0)
                if time.monotonic() + pause > end:
                    raise BusyError(
                        f"{error}; it asks to wait {pause:,.0f} s: run the same command again then"
                    ) from None
                self.stopped.wait(pause)
                attempt += 1

    def _pause(self, attempt: int) -> float:
        longest: float = min(self.policy.longest_wait, self.policy.first_wait * 2**attempt)
        return longest * random.uniform(0.5, 1.0)

    def page(self, name: str, request: Callable[[], str]) -> str:
        """The text of a page: the one that was kept, or a fresh one. Outside an answer there is nothing to keep."""
        if self._answer is None:
            return self.send(request)
        kept = self.cache.page(self._answer, name)
        if kept is None:
            kept = self.send(request)
            self.cache.keep_page(self._answer, name, kept)
        return kept

    def for_answer(self, answer: bytes) -> Client:
        """The same, keeping the pages of one answer until it is complete: an interrupted query pays for none twice."""
        own = copy(self)
        own._answer = answer
        return own
