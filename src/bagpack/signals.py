"""Ending in time: SIGTERM and SIGHUP end a command and its workers within two seconds, with everything cleaned up."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from types import FrameType

GRACE = 1.5  # seconds for cleaning up, after which the process ends in any case
POLL = 0.25  # seconds between two looks at whether the parent process is there, where it cannot be waited for
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))

_received: list[int] = []
_watched: list[int] = []


class Terminated(KeyboardInterrupt):
    """A signal asked the process to end: handled wherever Ctrl-C is."""


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does; a signal that is ignored (nohup) stays ignored.

    Python runs a handler only between two steps of the main thread, which may be inside a kernel for a minute. So a
    thread waits for the signal too, and ends the process when cleaning up has not ended it in time.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    wanted = [number for number in ENDING if signal.getsignal(number) == signal.SIG_DFL]
    if not wanted:
        return
    reading, writing = socket.socketpair()  # Windows accepts no pipe here
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    for number in wanted:
        signal.signal(number, _raise)
    threading.Thread(target=_end_in_time, args=(reading, writing), daemon=True).start()


def _raise(number: int, frame: FrameType | None) -> None:
    if not _received:
        _received.append(number)
        raise Terminated


def _end_in_time(reading: socket.socket, writing: socket.socket) -> None:
    # `writing` is held open here as long as signals may arrive.
    while data := reading.recv(1):
        if data[0] in ENDING:
            time.sleep(GRACE)
            os._exit(128 + data[0])


def exit_code(code: int) -> int:
    """The exit code of a command: 128 + the number of the signal that ended it, by convention."""
    return 128 + _received[0] if _received and code == 128 + signal.SIGINT else code


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes that are started within never see Ctrl-C, which a terminal sends to them too; here it comes afterwards.

    Their parent ends them; a worker that is interrupted while it starts would print a traceback first.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it would let the signal through again where it is started within
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with(parent: int) -> None:
    """Let this worker process end when its parent does, whatever it is doing then."""
    if parent == os.getpid() or parent in _watched:
        return
    _watched.append(parent)

    threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: int) -> None:
    """End this process as soon as its parent has ended."""
    with suppress(AttributeError, OSError):  # only Linux has it
        ended = os.pidfd_open(parent)
        if os.getppid() == parent:  # else it has ended, and the number may be another process's
            waiting = select.poll()  # select() refuses descriptors above 1,023
            waiting.register(ended, select.POLLIN)
            waiting.poll()
    while os.getppid() == parent:  # on Windows this stays so, and the worker finishes its task first
        time.sleep(POLL)
    os._exit(1)
