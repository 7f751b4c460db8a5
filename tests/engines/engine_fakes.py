"""An engine in this process that can be made to misbehave."""

import threading
import time

from bagpack.engines.base import DIRECT, Snippet


class FakeEngine:
    """Answers every query with its own text; `trouble(call number, query)` may raise."""

    name = "fake"
    exact = True

    def __init__(self, trouble=lambda number, query: None, identity="fake:1", pause=0.0, answer=None):
        self.identity = identity
        self.trouble = trouble
        self.pause = pause
        self.answer = answer or (lambda query: [Snippet("d", f"found {query}")])
        self.calls = []
        self.flying = self.most_flying = 0
        self.lock = threading.Lock()

    def search(self, query, limit, sender=DIRECT):
        return sender.send(lambda: self._answer(query, limit))

    def _answer(self, query, limit):
        with self.lock:
            self.calls.append((time.monotonic(), query))
            number = len(self.calls)
            self.flying += 1
            self.most_flying = max(self.flying, self.most_flying)
        try:
            time.sleep(self.pause)
            self.trouble(number, query)
            return self.answer(query)[:limit]
        finally:
            with self.lock:
                self.flying -= 1

    def close(self):
        pass
