"""Bounds on what one visitor can ask for: time, place in the queue, sizes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from bagpack.errors import BagpackError
from bagpack.explain.telling import Tick

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """What the explorer allows; tests and `bagpack serve` set other values."""

    seconds: float = 10.0  # for a page
    data_seconds: float = 60.0  # for a data set
    upload_bytes: int = 1_000_000  # below what the form reader keeps in memory before it turns to the disk
    rows: int = 20_000  # of a data set
    uploads: int = 20  # kept at once; the oldest goes first
    download: int = 5_000  # lines in a file of them
    word: int = 200  # characters of a word
    waiting: int = 64  # requests that may wait for a worker


class TooLongError(BagpackError):
    """The answer would take longer than the explorer allows."""


class TooBusyError(BagpackError):
    """Too many requests are waiting already."""


class Workers:
    """Threads that do the work, apart from the one that answers.

    Data sets and what is known to be slow have threads of their own, so that nobody else waits for them.

    Work that runs out of time is told so by its `tick` and stops by itself at the next shard; its visitor has an answer
    by then.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lanes = {
            "pages": ThreadPoolExecutor(4, "bagpack-pages"),
            "slow": ThreadPoolExecutor(2, "bagpack-slow"),
            "data": ThreadPoolExecutor(2, "bagpack-data"),
        }
        self._waiting = 0

    async def run(self, work: Callable[[Tick], T], lane: str = "pages") -> T:
        """Do the work in a thread of a lane, within the time."""
        if self._waiting >= self.limits.waiting:
            raise TooBusyError("too many requests are waiting; try again in a moment")
        seconds = self.limits.data_seconds if lane == "data" else self.limits.seconds
        end = time.monotonic() + seconds
        late = TooLongError(
            f"this took longer than {seconds:g} s and was stopped; ask for rarer words or less at once, or use the "
            f"command line, which waits"
        )

        def tick() -> None:
            if time.monotonic() > end:
                raise late

        def job() -> T:
            tick()  # it may have waited too long already
            return work(tick)

        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await asyncio.wait_for(loop.run_in_executor(self._lanes[lane], job), seconds)
        except TimeoutError:
            raise late from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let go of the threads."""
        for pool in self._lanes.values():
            pool.shutdown(wait=False, cancel_futures=True)
