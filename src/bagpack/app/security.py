"""What applies to every request: own host names, same origin, limits on size and time; headers of every response."""

from __future__ import annotations

import asyncio
import re
import socket

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
ANYWHERE = frozenset({"0.0.0.0", "::", ""})
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[\w.-]+)(:\d+)?", re.IGNORECASE)
ORIGIN = re.compile("^https?://")
DROPPED = 64 << 20  # bytes of a body beyond what is allowed


def own_names(host: str, more: tuple[str, ...] = ()) -> frozenset[str]:
    """The host names that a server bound to `host` answers to."""
    names = {*LOCAL, *(name.lower() for name in more)}
    names.add(socket.gethostname().lower() if host in ANYWHERE else host.lower().strip("[]"))
    return frozenset(names)


class Guard:
    """Refuses foreign hosts (DNS rebinding), writes from other origins, and large or slow bodies.

    HEAD is answered like GET; the web server sends no body.
    """

    def __init__(
        self, app: ASGIApp, names: frozenset[str], anywhere: bool, most: int, seconds: float
    ) -> None:
        self.app, self.names, self.anywhere = app, names, anywhere
        self.most, self.seconds = most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, and pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if scope["method"] in ("GET", "HEAD"):
            scope = {**scope, "method": "GET"}
        else:  # the body is read in any case, and a refusal comes after it
            problem, receive = await self._with_body(receive)
            refusal = refusal or problem
        answer: ASGIApp = self.app
        if refusal is not None:
            answer = PlainTextResponse(refusal[1] + "\n", refusal[0], {"Connection": "close"})
        await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        found = HOST.fullmatch(host)
        name = found[1].strip("[]").lower() if found else ""
        # Bound to every address, the one that this visitor reached is our own too.
        if not (name in self.names or (self.anywhere and name and name == (scope.get("server") or ("",))[0])):
            return 400, (
                f"This is not {name or 'a host that is known here'}: the explorer answers only to its own names. "
                f"Start it with --allow-host NAME to add one."
            )
        origin = ORIGIN.sub("", headers.get("origin", host), count=1)
        if origin != host and scope["method"] not in ("GET", "HEAD"):
            return 403, "Answers are accepted from the explorer's own pages only."
        return None

    async def _with_body(self, receive: Receive) -> tuple[tuple[int, str] | None, Receive]:
        """Read the whole body before anything else sees it; or why it is refused.

        What is too much is received, and dropped: a client that still sends when the connection is closed gets a
        reset instead of the answer.
        """
        body, size, more = b"", 0, True
        try:
            async with asyncio.timeout(self.seconds):
                while more and size <= self.most + DROPPED:
                    message = await receive()
                    part = bytes(message.get("body", b""))
                    size += len(part)
                    body = body + part if size <= self.most else b""
                    more = message.get("more_body", False)
        except TimeoutError:
            if size <= self.most:
                late = f"The request took longer than {self.seconds:g} s; use a faster connection."
                return (408, late), receive
        if size > self.most:
            return (413, f"The request has more than {self.most:,} bytes; send less at once."), receive
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        return None, replay
