"""Worker processes: every computation runs in one, within limits on time and memory.

A task that is late is stopped by killing its process (pebble does both). Workers are started from a clean process that
has imported what they need; each opens the store and the model itself, which are mapped into memory and so shared.
There are three pools, so that slow pairs and searches do not delay ordinary pages.
"""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bagpack.app.library import Library
from bagpack.errors import BagpackError
from bagpack.signals import end_with

if TYPE_CHECKING:
    from pebble import ProcessPool

T = TypeVar("T")
A = TypeVarTuple("A")

PAGES, SLOW, FIND = "pages", "slow", "find"
KEPT = 300  # answers that are kept in memory
NOTE_BYTES = 200
NOTE_SECONDS = 0.2  # between two notes of progress


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


class UnavailableError(BagpackError):
    """The explorer cannot answer now; `retry_after` is the number of seconds to wait before asking again."""

    def __init__(self, message: str, retry_after: float = 1) -> None:
        super().__init__(message)
        self.retry_after = max(1, math.ceil(retry_after))


TOO_LARGE = "this needs more memory than the explorer allows; use the command line"
TOO_BUSY = "too many requests are waiting; try again in a moment"


# In the workers ----------------------------------------------------------------------------------------------------

_library: list[Library] = []  # of this process
_notes: list[Any] = []  # bytes that the web server reads


@dataclass(frozen=True)
class Progress:
    """What a search is doing; a total of 0 is unknown, an empty `what` means that nothing is being computed."""

    what: str = ""
    done: int = 0
    total: int = 0


class Note:
    """Shows the page that waits what its worker is doing, a few times a second."""

    def __init__(self) -> None:
        self.last, self.sums = 0.0, Counter[str]()
        self("", 0, 0)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take a report of progress."""
        self.sums[what] += done
        if _notes and (time.monotonic() - self.last > NOTE_SECONDS or not done):
            self.last = time.monotonic()
            _notes[0].value = json.dumps([what, self.sums[what], total]).encode()[: NOTE_BYTES - 1]


def _begin(opened: tuple[Any, ...], lane: str, more: int, note: Any) -> None:
    """Open the library in a new worker; a worker ends with the web server, whatever ends that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the whole process group; the web server ends us
    end_with(os.getppid())  # the fork server, which ends with the web server
    if lane != FIND:  # threads of several workers would wait for each other, and keep all cores busy
        threadpool_limits(1, "blas")
    _library[:], _notes[:] = [Library(*opened)], [note]
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
    except Exception:  # the web server prints it on the terminal
        return _Failure(RuntimeError, f"in a worker:\n{traceback.format_exc()}")


@dataclass(frozen=True)
class _Failure:
    """An error that a worker reports; exceptions themselves may not survive pickling."""

    kind: type[Exception]
    message: str


# In the web server -------------------------------------------------------------------------------------------------


class Pool:
    """Runs functions of the library in worker processes: `function(library, *arguments)`."""

    def __init__(self, opened: tuple[Any, ...], limits: Limits) -> None:
        self.opened, self.limits = opened, limits
        self.seconds = {PAGES: limits.seconds, SLOW: limits.long_seconds, FIND: limits.find_seconds}
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["bagpack.app.pages", "bagpack.app.finding"])
        # Without a lock: a worker that is killed would keep it.
        self._note: Any = self._context.RawArray("c", NOTE_BYTES)
        self._pools = {lane: self._start(lane) for lane in self.seconds}
        self._waiting = dict.fromkeys(self.seconds, 0)
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def _start(self, lane: str) -> ProcessPool:
        from pebble import ProcessPool

        memory = self.limits.find_bytes if lane == FIND else self.limits.worker_bytes
        return ProcessPool(
            self.limits.workers if lane == PAGES else 1, context=self._context, initializer=_begin,
            initargs=(self.opened, lane, memory, self._note),
        )  # fmt: skip

    @property
    def progress(self) -> Progress:
        """What the search that is under way is doing."""
        try:
            return Progress(*json.loads(self._note.value))
        except (ValueError, TypeError):  # none yet, or half of one
            return Progress()

    async def run(
        self, function: Callable[[Library, *A], T], *arguments: *A, lane: str = PAGES, keep: bool = False,
        seconds: float | None = None,
    ) -> T:  # fmt: skip
        """The result of a function, computed in a worker of `lane`; with `keep`, it is remembered."""
        key = (function, arguments)
        found: Any = self._kept.get(key) if keep else None
        if found is None:
            found = await self._compute(key, lane, seconds or self.seconds[lane])
            if isinstance(found, _Failure):
                raise found.kind(found.message)
        if keep:
            self._kept[key] = found
            self._kept.move_to_end(key)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        result: T = found
        return result

    async def _compute(self, key: tuple[Any, tuple[Any, ...]], lane: str, seconds: float) -> Any:
        if self._waiting[lane] >= self.limits.waiting:
            raise UnavailableError(TOO_BUSY, self.limits.waiting_seconds / 2)
        try:
            future = self._pools[lane].schedule(_call, key, timeout=seconds)
        except RuntimeError:  # a worker that was killed while it waited takes its pool with it
            self._pools[lane] = self._start(lane)
            future = self._pools[lane].schedule(_call, key, timeout=seconds)
        self._waiting[lane] += 1
        try:
            # A late caller cancels the task.
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds + self.limits.waiting_seconds)
        except TimeoutError:
            if not future.running() and not future.done():
                raise UnavailableError(TOO_BUSY, self.limits.waiting_seconds / 2) from None
            raise UnavailableError(
                f"this took longer than {seconds:g} s and was stopped; ask for rarer words or less at once, or use "
                f"the command line, which has no time limit",
                seconds,
            ) from None
        except Exception as error:  # ProcessExpired: the system ended it for lack of memory, or a library did
            print(f"bagpack: a worker ended: {error}", file=sys.stderr)
            raise UnavailableError(TOO_LARGE) from None
        finally:
            self._waiting[lane] -= 1

    def close(self) -> None:
        """End all workers."""
        for pool in self._pools.values():
            pool.stop()  # type: ignore[no-untyped-call]
        for pool in self._pools.values():
            pool.join()
