"""Connections of the web server: clients that open them and then say nothing cannot keep others out."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from bagpack.app.limits import Limits

SPARE_FILES = 200  # for stores, workers, and connections accepted at once
BACKLOG = 100


def bounded_protocol(limits: Limits) -> type[H11Protocol]:
    """Uvicorn's protocol with a limit on connections, and on the time to send a request and to read its answer.

    A connection is *idle* while no request is being answered on it, whether it sent nothing, a part of a request, or
    had an answer already. One that stays idle too long is closed; so is the longest idle one when there are too many.
    """
    import resource  # not on Windows, where the explorer does not run

    most = max(10, min(limits.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_FILES))
    idle: dict[BoundedProtocol, None] = {}  # the longest idle first

    class BoundedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._update()
            while len(self.connections) > most and idle:
                next(iter(idle))._abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._update()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._update()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._start_timer(limits.upload_seconds)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_timer()
            idle.pop(self, None)
            self._update()

        def connection_lost(self, exc: Exception | None) -> None:
            idle.pop(self, None)
            self._stop_timer()
            super().connection_lost(exc)

        def _update(self) -> None:
            """Note whether the connection is idle; the time counts from when it became so."""
            answering = self.cycle is not None and not self.cycle.response_complete
            answering = (
                answering or self.flow.write_paused
            )  # the client is still reading; that has its own limit
            if answering and self in idle:
                del idle[self]
                self._stop_timer()
            elif not answering and self not in idle and not self.transport.is_closing():
                idle[self] = None
                self._start_timer(limits.head_seconds)

        def _start_timer(self, seconds: float) -> None:
            self._stop_timer()
            self._timer = self.loop.call_later(seconds, self._abort)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _abort(self) -> None:
            idle.pop(self, None)
            self.connections.discard(self)
            self.transport.abort()

    return BoundedProtocol
