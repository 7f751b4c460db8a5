"""A bound on the time that a server may take, however it spends it.

The time-outs of sockets and drivers count from the last byte: a server that sends a byte per second, or that accepts
a request and then does nothing, is never too slow for them. Here the connection is shut down at the deadline, which
ends every pending read.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Deadline:
    """Whether the time ran out."""

    expired = False


@contextmanager
def deadline(descriptor: int, seconds: float) -> Iterator[Deadline]:
    """Shut the connection behind a file descriptor down if the block takes longer."""
    state = Deadline()
    own = socket.socket(fileno=os.dup(descriptor))  # the number itself may belong to another file by then
    lock = threading.Lock()

    def expire() -> None:
        with lock:
            if own.fileno() >= 0:
                state.expired = True
                with suppress(OSError):
                    own.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(seconds, 0.0), expire)
    timer.daemon = True
    timer.start()
    try:
        yield state
    finally:
        timer.cancel()
        with lock:
            own.close()
