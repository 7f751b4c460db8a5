"""Worker processes: every computation runs in one, and is really stopped at its limit, because the process is killed.

The store, the model and the compiled kernels are loaded once, in the process that starts the explorer. From it a
*fork server* is forked before the web server starts any thread, and forks the workers, so a worker costs some
milliseconds and shares its memory with all others. The web server sends a worker a function and its arguments and
awaits the result on a socket; a late worker, or one whose client has disconnected, gets SIGKILL and is replaced. When
the web server exits, for whatever reason, the fork server sees its socket closed, kills the workers and exits. When the
fork server exits, the web server forks another.

Workers are divided into lanes, each with a queue of its own: pairs of very frequent words and data sets cannot delay
ordinary pages.
"""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import signal
import socket
import struct
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple, cast

from bagpack.app.limits import Limits, TooBusyError, TooLargeError, TooLongError, WorkerError
from bagpack.errors import BagpackError

T = TypeVar("T")
L = TypeVar("L")
A = TypeVarTuple("A")

LENGTH = struct.Struct(">Q")
PAGES, SLOW, DATA, TEACH = "pages", "slow", "data", "teach"


# In the fork server and the workers ------------------------------------------------------------------------------


def _serve_forks(control: socket.socket, library: object, limits: Limits) -> None:
    """Fork a worker for each socket received; when `control` is closed, kill the workers and return."""
    signal.set_wakeup_fd(-1)  # a signal of ours must not wake the parent, whose socket this is
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the whole process group; the web server ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    workers: set[int] = set()
    while True:
        message, handles, _, _ = socket.recv_fds(control, 1, 1)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                workers.discard(ended)
        if not message:
            break
        pid = os.fork()
        if pid == 0:
            control.close()
            _work(socket.socket(fileno=handles[0]), library, limits)
            os._exit(0)
        os.close(handles[0])
        workers.add(pid)
        control.sendall(LENGTH.pack(pid))
    for pid in workers:  # not waited for yet, so the numbers are still theirs
        os.kill(pid, signal.SIGKILL)


def _close_all_but(kept: int) -> None:
    """Close what was inherited: a pipe held open here would keep a process at its other end from seeing its end."""
    import resource  # not on Windows, where the explorer does not run

    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _work(channel: socket.socket, library: object, limits: Limits) -> None:
    """Answer requests until the channel is closed."""
    _limit_memory(limits.worker_bytes)
    with channel.makefile("rb") as requests:
        while True:
            try:
                function, arguments = pickle.load(requests)
            except EOFError:
                return
            answer = _answer(function, library, arguments)
            channel.sendall(LENGTH.pack(len(answer)) + answer)


def _answer(function: Callable[..., Any], library: object, arguments: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps((function(library, *arguments), None))
    except BagpackError as error:
        failure: Exception = error
    except MemoryError:
        failure = TooLargeError()
    except Exception:
        with suppress(OSError):
            os.write(2, traceback.format_exc().encode())
        failure = WorkerError("see the terminal")
    try:
        answer = pickle.dumps((None, failure))
        pickle.loads(answer)  # an exception may be pickled and yet not made again
        return answer
    except Exception:
        return pickle.dumps((None, BagpackError(str(failure))))


def _limit_memory(more: int) -> None:
    """Let the process allocate `more` bytes beyond what it has; files mapped into memory do not count."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        import resource

        used = int(statm.read_text().split()[5]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (used + more, hard))


# In the web server -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Worker:
    """A worker process, seen from the web server."""

    pid: int
    channel: socket.socket

    @property
    def alive(self) -> bool:
        """Whether it can be asked; an idle worker that died has closed its end of the channel."""
        try:
            return self.channel.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def ask(self, request: bytes) -> bytes:
        """Send a request and await the answer."""
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self.channel, request)
        (length,) = LENGTH.unpack(await self._receive(LENGTH.size))
        return await self._receive(length)

    async def _receive(self, length: int) -> bytes:
        data = bytearray(length)
        view = memoryview(data)
        while view:
            received = await asyncio.get_running_loop().sock_recv_into(self.channel, view)
            if not received:
                raise EOFError
            view = view[received:]
        return bytes(data)

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.channel.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


@dataclass
class Lane:
    """Idle workers, how many requests wait for one, and how long one may compute."""

    idle: asyncio.Queue[Worker]
    size: int
    seconds: float
    waiting: int = 0


class WorkerPool:
    """Runs functions of the library in worker processes; see the module's description.

    `run` takes any function that can be pickled (one at the top level of a module, or a method of the library's class)
    and calls it with the library and the arguments.
    """

    def __init__(self, library: object, limits: Limits) -> None:
        self.library = library
        self.limits = limits
        self.lanes = {
            PAGES: Lane(asyncio.Queue(), limits.workers, limits.seconds),
            SLOW: Lane(asyncio.Queue(), 1, limits.seconds),
            DATA: Lane(asyncio.Queue(), 1, limits.data_seconds),
        }
        if getattr(library, "teaching", None) is not None:
            self.lanes[TEACH] = Lane(asyncio.Queue(), 1, limits.data_seconds)
        self._control: socket.socket | None = None
        self._fork_lock = threading.Lock()
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._kept_bytes = 0

    def start(self) -> None:
        """Start the fork server and the workers. Call it before any thread is started; `run` does otherwise."""
        if self._control is not None:
            return
        gc.collect()
        gc.freeze()  # the collector would write to, and so copy, every page that the workers share
        self._start_fork_server()
        for lane in self.lanes.values():
            for _ in range(lane.size):
                lane.idle.put_nowait(self._fork())

    def _start_fork_server(self) -> None:
        self._control, theirs = socket.socketpair()
        self._fork_server = os.fork()
        if self._fork_server == 0:
            _close_all_but(theirs.fileno())
            try:
                _serve_forks(theirs, self.library, self.limits)
            finally:
                os._exit(0)
        theirs.close()

    def close(self) -> None:
        """End all workers and the fork server."""
        if self._control is not None:
            self._control.close()
            with suppress(ChildProcessError):
                os.waitpid(self._fork_server, 0)

    def _fork(self) -> Worker:
        """A new worker; if the fork server exited, a new one is started, from this process as it is now."""
        with self._fork_lock:
            worker = self._ask_fork_server()
            if worker is None:
                self.close()
                self._start_fork_server()
                worker = self._ask_fork_server()
        if worker is None:
            raise WorkerError("no worker process can be started")
        return worker

    def _ask_fork_server(self) -> Worker | None:
        assert self._control is not None
        mine, theirs = socket.socketpair()
        mine.setblocking(False)
        answer = b""
        with theirs, suppress(OSError):
            socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            answer = self._control.recv(LENGTH.size, socket.MSG_WAITALL)
        if len(answer) < LENGTH.size:
            mine.close()
            return None
        return Worker(LENGTH.unpack(answer)[0], mine)

    async def run(
        self,
        function: Callable[[L, *A], T],
        *arguments: *A,
        lane: str = PAGES,
        keep: bool = False,
    ) -> T:
        """`function(library, *arguments)`, computed in a worker of `lane`; with `keep`, the result is remembered."""
        request = pickle.dumps((function, arguments))
        answer = self._recall(request) if keep else None
        if answer is None:
            answer = await self._compute(request, self.lanes[lane])
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        if keep:
            self._remember(request, answer)
        return cast(T, result)

    async def _compute(self, request: bytes, lane: Lane) -> bytes:
        self.start()
        if lane.waiting >= self.limits.waiting:
            raise TooBusyError(self.limits.waiting_seconds / 2)
        lane.waiting += 1
        try:
            worker = await asyncio.wait_for(lane.idle.get(), self.limits.waiting_seconds)
        except TimeoutError:
            raise TooBusyError(self.limits.waiting_seconds / 2) from None
        finally:
            lane.waiting -= 1
        whole = False
        try:
            if not worker.alive:
                worker = await self._replace(worker)
            answer = await asyncio.wait_for(worker.ask(request), lane.seconds)
            whole = True
            return answer
        except TimeoutError:
            raise TooLongError(lane.seconds) from None
        except (EOFError, OSError):
            raise TooLargeError from None  # the kernel ended it for lack of memory, or a library did
        finally:
            if not whole:
                with suppress(OSError, WorkerError):  # the next request tries again
                    worker = await self._replace(worker)
            lane.idle.put_nowait(worker)

    async def _replace(self, worker: Worker) -> Worker:
        worker.kill()
        return await asyncio.get_running_loop().run_in_executor(None, self._fork)

    def _recall(self, request: bytes) -> bytes | None:
        if request in self._kept:
            self._kept.move_to_end(request)
        return self._kept.get(request)

    def _remember(self, request: bytes, answer: bytes) -> None:
        if request not in self._kept and len(answer) <= self.limits.kept_bytes // 16:
            self._kept[request] = answer
            self._kept_bytes += len(request) + len(answer)
        while self._kept_bytes > self.limits.kept_bytes:
            old_request, old_answer = self._kept.popitem(last=False)
            self._kept_bytes -= len(old_request) + len(old_answer)
