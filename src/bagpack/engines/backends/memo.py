"""Answers of this run that several queries share: some engines ignore the order or the gap of two words."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from bagpack.engines.base import Snippet

KEPT = 64


class Memo:
    """The last answers; a question that is being asked is waited for, not asked twice."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, list[Snippet]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, ask: Callable[[], list[Snippet]]) -> list[Snippet]:
        """The answer to a question; `ask` fetches it."""
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            with self._lock:
                if key in self._answers:
                    return self._answers[key]
            found = ask()
            with self._lock:
                self._answers[key] = found
                while len(self._answers) > KEPT:
                    self._locks.pop(self._answers.popitem(last=False)[0], None)
        return found
