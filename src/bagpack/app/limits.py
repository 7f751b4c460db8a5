"""Bounds on what one visitor can ask for: time, memory, place in the queue, sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bagpack.errors import BagpackError


@dataclass(frozen=True)
class Limits:
    """What the explorer allows; tests and `bagpack serve` set other values."""

    seconds: float = 10.0  # computing a page
    data_seconds: float = 60.0  # computing a file to download, or retraining in `bagpack teach`
    workers: int = 2  # processes for pages; slow pairs and downloads have one more each
    waiting_seconds: float = 60.0  # for a worker to become free
    waiting: int = 256  # requests waiting for a worker of one kind; further ones get a 503
    worker_bytes: int = 2**30  # memory that a worker may allocate
    kept_bytes: int = 2**26  # answers kept in memory
    body_bytes: int = (
        1_000_000  # of a request; less than what the form parser keeps in memory before it uses a file
    )
    transfer_seconds: float = 30.0  # receiving the body of a request, sending a response
    download: int = 5_000  # lines of a concordance in one file
    word: int = 200  # characters
    connections: int = 1_000  # open at once; the longest idle is closed first
    head_seconds: float = 10.0  # receiving the head of a request


class UnavailableError(BagpackError):
    """The explorer cannot answer now; `retry_after` is the number of seconds to wait before asking again."""

    retry_after = 1


class TooLongError(UnavailableError):
    """The computation reached its time or memory limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"this took longer than {seconds:g} s and was stopped; ask for rarer words or less at once, or use the "
            f"command line, which has no time limit"
        )
        self.retry_after = math.ceil(seconds)


class TooBusyError(UnavailableError):
    """Too many requests are waiting already."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("too many requests are waiting; try again in a moment")
        self.retry_after = max(1, math.ceil(retry_after))


class TooLargeError(UnavailableError):
    """The computation needed more memory than a worker may use."""

    def __init__(
        self, message: str = "this needs more memory than the explorer allows; use the command line"
    ) -> None:
        super().__init__(message)  # an argument, so that it can be pickled


class WorkerError(Exception):
    """A computation failed in a way that was not foreseen; its traceback is on the terminal."""
