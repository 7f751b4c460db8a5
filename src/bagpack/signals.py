"""Ending cleanly: SIGTERM and SIGHUP end a command as Ctrl-C does, and its workers end with it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import resource_tracker
from types import FrameType

POLL = 0.25  # seconds between two looks at whether the parent process is there

_received: list[int] = []


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does; a signal that is ignored (nohup) stays ignored."""
    deadly = [own for own in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(own) == signal.SIG_DFL]
    for number in deadly:
        signal.signal(number, _interrupt)
    if not deadly:
        return
    arrived, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    threading.Thread(target=_insist, args=(arrived, threading.get_ident()), daemon=True).start()


def _insist(arrived: int, main: int) -> None:
    """Send a signal again until it is seen: one that comes just before the main thread waits does not wake it up."""
    while numbers := os.read(arrived, 1):
        while numbers[0] in (signal.SIGTERM, signal.SIGHUP) and not _received:
            time.sleep(POLL)
            signal.pthread_kill(main, numbers[0])


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _received:
        _received.append(number)
        raise KeyboardInterrupt


def exit_code(code: int) -> int:
    """The exit code of a command: 128 + the number of the signal that ended it, by convention."""
    return 128 + _received[0] if _received and code == 128 + signal.SIGINT else code


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Processes that are started within never see Ctrl-C, which a terminal sends to them too; here it comes afterwards.

    Their parent ends them; a worker that is interrupted while it starts would print a traceback first.
    """
    resource_tracker.ensure_running()  # it would let the signal through again where it is started within
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def end_with(parent: int) -> None:
    """Let this worker process end when its parent does, whatever it is doing then."""
    if parent != os.getpid():
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os._exit(1)
