"""Worker processes: every computation runs in one, within limits on time and memory.

A task that is late is stopped by killing its process (pebble does both). Workers are started from a clean process that
has imported what they need; each opens the store and the model itself, which are mapped into memory and so shared.
There are three pools, so that slow pairs and searches do not delay ordinary pages.
"""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import signal
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from bagpack.app.library import Library, open_library
from bagpack.errors import BagpackError
from bagpack.signals import end_with

if TYPE_CHECKING:
    from pebble import ProcessPool

T = TypeVar("T")
A = TypeVarTuple("A")

PAGES, SLOW, FIND = "pages", "slow", "find"
KEPT = 300  # answers that are kept in memory


@dataclass(frozen=True)
class Limits:
    """What one visitor can ask for; tests and `bagpack serve` set other values."""

    seconds: float = 10.0  # computing a page
    long_seconds: float = 60.0  # computing a file to download, a page of two very frequent words
    find_seconds: float = 900.0  # a search; the first one of a store counts word vectors
    workers: int = 2  # processes for pages; slow pages and searches have one more each
    waiting: int = 256  # requests in a queue; further ones get a 503
    waiting_seconds: float = 60.0
    worker_bytes: int = 2**30  # memory that a worker for pages may allocate
    find_bytes: int = 4 * 2**30
    body_bytes: int = 1_000_000
    transfer_seconds: float = 30.0  # receiving a request, sending a response
    head_seconds: float = 10.0
    connections: int = 1_000
    download: int = 5_000  # lines of a concordance in one file


class UnavailableError(BagpackError):
    """The explorer cannot answer now; `retry_after` is the number of seconds to wait before asking again."""

    def __init__(self, message: str, retry_after: float = 1) -> None:
        super().__init__(message)
        self.retry_after = max(1, math.ceil(retry_after))


class WorkerError(Exception):
    """A computation failed in a way that was not foreseen; its traceback is on the terminal."""


TOO_LARGE = "this needs more memory than the explorer allows; use the command line"
TOO_BUSY = "too many requests are waiting; try again in a moment"


# In the workers ----------------------------------------------------------------------------------------------------

_library: list[Library] = []  # of this process


def _begin(opening: tuple[Any, ...], more: int) -> None:
    """Open the library in a new worker; a worker ends with the web server, whatever ends that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the whole process group; the web server ends us
    end_with(os.getppid())  # the fork server, which ends with the web server
    _library[:] = [open_library(*opening)]
    statm = Path("/proc/self/statm")
    if statm.exists():
        import resource

        used = int(statm.read_text().split()[5]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (used + more, hard))  # mapped files do not count


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(_library[0], *arguments)
    except BagpackError as error:
        return _Failure(type(error), str(error))
    except MemoryError:
        return _Failure(UnavailableError, TOO_LARGE)
    except Exception:
        with suppress(OSError):
            os.write(2, traceback.format_exc().encode())
        return _Failure(WorkerError, "see the terminal")


@dataclass(frozen=True)
class _Failure:
    """An error that a worker reports; exceptions themselves may not survive pickling."""

    kind: type[Exception]
    message: str


# In the web server -------------------------------------------------------------------------------------------------


class Pool:
    """Runs functions of the library in worker processes: `function(library, *arguments)`."""

    def __init__(self, opening: tuple[Any, ...], limits: Limits) -> None:
        self.opening, self.limits = opening, limits
        self.seconds = {PAGES: limits.seconds, SLOW: limits.long_seconds, FIND: limits.find_seconds}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["bagpack.app.pages", "bagpack.app.finding"])
        self._pools = {lane: self._start(lane) for lane in self.seconds}
        self._waiting = dict.fromkeys(self.seconds, 0)
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def _start(self, lane: str) -> ProcessPool:
        from pebble import ProcessPool

        return ProcessPool(
            self.limits.workers if lane == PAGES else 1, context=self._context, initializer=_begin,
            initargs=(self.opening, self.limits.find_bytes if lane == FIND else self.limits.worker_bytes),
        )  # fmt: skip

    async def run(
        self, function: Callable[[Library, *A], T], *arguments: *A, lane: str = PAGES, keep: bool = False
    ) -> T:
        """The result of a function, computed in a worker of `lane`; with `keep`, it is remembered."""
        key = (function, arguments)
        if keep and key in self._kept:
            self._kept.move_to_end(key)
            kept: T = self._kept[key]
            return kept
        if self._waiting[lane] >= self.limits.waiting:
            raise UnavailableError(TOO_BUSY, self.limits.waiting_seconds / 2)
        self._waiting[lane] += 1
        try:
            result = await self._compute(key, lane)
        finally:
            self._waiting[lane] -= 1
        if isinstance(result, _Failure):
            raise result.kind(result.message)
        if keep:
            self._kept[key] = result
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        answer: T = result
        return answer

    async def _compute(self, key: tuple[Any, tuple[Any, ...]], lane: str) -> Any:
        seconds = self.seconds[lane]
        try:
            future = self._pools[lane].schedule(_call, key, timeout=seconds)
        except RuntimeError:  # a worker that was killed while it waited takes its pool with it
            self._pools[lane] = self._start(lane)
            future = self._pools[lane].schedule(_call, key, timeout=seconds)
        try:
            return await asyncio.wait_for(
                asyncio.wrap_future(future), seconds + self.limits.waiting_seconds
            )  # a late caller cancels the task
        except TimeoutError:
            if not future.running() and not future.done():
                raise UnavailableError(TOO_BUSY, self.limits.waiting_seconds / 2) from None
            raise UnavailableError(
                f"this took longer than {seconds:g} s and was stopped; ask for rarer words or less at once, or use "
                f"the command line, which has no time limit",
                seconds,
            ) from None
        except CancelledError:
            raise
        except Exception as error:  # ProcessExpired: the system ended it for lack of memory, or a library did
            print(f"bagpack: a worker ended: {error}", file=sys.stderr)
            raise UnavailableError(TOO_LARGE) from None

    def close(self) -> None:
        """End all workers."""
        for pool in self._pools.values():
            pool.stop()  # type: ignore[no-untyped-call]
        for pool in self._pools.values():
            pool.join()
