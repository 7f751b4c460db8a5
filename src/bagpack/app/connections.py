"""Connections of the web server: clients that send or read too slowly cannot keep others out."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bagpack.app.limits import Limits

SPARE_FILES = 200  # for stores, workers, and connections accepted at once
BACKLOG = 512
IDLE = 50  # connections that may be idle when there are too many: a busy client does not send its request at once
TOO_SLOW = "The head of the request took longer than {seconds:g} s; use a faster connection.\n"


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
            transport.set_write_buffer_limits(0)  # writing is paused until all that was written is sent
            self._update()
            if len(self.connections) > most and len(idle) > IDLE:
                quiet = next((other for other in idle if not other._has_sent()), None)
                if quiet is not None:
                    quiet._abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._update()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._update()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._start_timer(limits.transfer_seconds, self._abort)

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
            if answering or self.flow.write_paused:
                if self in idle:
                    del idle[self]
                    self._stop_timer()
            elif self not in idle and not self.transport.is_closing():
                idle[self] = None
                self._start_timer(limits.head_seconds, self._close_idle)

        def _has_sent(self) -> bool:
            """Whether the client sent something that was not read yet, such as its request."""
            poll = select.poll()
            poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
            return bool(poll.poll(0))

        def _start_timer(self, seconds: float, at_end: Callable[[], None]) -> None:
            self._stop_timer()
            self._timer = self.loop.call_later(seconds, at_end)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _close_idle(self) -> None:
            """Close a connection whose client sends nothing, with an answer if it has begun a request."""
            idle.pop(self, None)
            if self.conn.trailing_data[0]:
                text = TOO_SLOW.format(seconds=limits.head_seconds).encode()
                headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close",
                           "Content-Length": str(len(text)), "X-Content-Type-Options": "nosniff"}  # fmt: skip
                for event in (
                    h11.Response(status_code=408, headers=list(headers.items()), reason="Request Timeout"),
                    h11.Data(data=text),
                    h11.EndOfMessage(),
                ):
                    self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def _abort(self) -> None:
            idle.pop(self, None)
            self.connections.discard(self)
            self.transport.abort()

    return BoundedProtocol
