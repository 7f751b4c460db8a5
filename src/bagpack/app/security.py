"""What applies to every request: own host names, same origin, limits on size and time, security headers."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
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
}
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
ANYWHERE = frozenset({"0.0.0.0", "::", ""})
PORTS = {"http": 80, "https": 443}
DROPPED = 64 << 20  # bytes of a body beyond what is allowed


def own_names(host: str, more: tuple[str, ...] = ()) -> frozenset[str]:
    """The host names that a server bound to `host` answers to."""
    names = {*LOCAL, *(name.lower() for name in more)}
    names.add(socket.gethostname().lower() if host in ANYWHERE else host.lower().strip("[]"))
    return frozenset(names)


def host_and_port(value: str) -> tuple[str, int | None] | None:
    """Host name and port of a Host header; None if it is not one."""
    try:
        parts = urlsplit(f"//{value}")
        wrong = parts.path or parts.query or parts.username is not None
        if wrong or parts.hostname is None or (parts.port is None and value.endswith(":")):
            return None
        return parts.hostname, parts.port
    except ValueError:
        return None


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host and port that the request was sent to."""
    scheme, _, rest = origin.partition("://")
    theirs, ours = host_and_port(rest), host_and_port(host)
    if scheme not in PORTS or theirs is None or ours is None:
        return False
    return (theirs[0], theirs[1] or PORTS[scheme]) == (ours[0], ours[1] or PORTS[scheme])


class Guard:
    """Refuses foreign hosts (DNS rebinding), writes from other origins and large or slow bodies; adds headers.

    HEAD is answered like GET; the web server sends no body.
    """

    def __init__(
        self, app: ASGIApp, names: frozenset[str], anywhere: bool, most: int, seconds: float
    ) -> None:
        self.app = app
        self.names, self.anywhere = names, anywhere
        self.most, self.seconds = most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, pass on, add headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        refusal = self._refusal(scope)
        writes = scope["method"] not in ("GET", "HEAD")
        if writes:  # the body is read in any case, and a refusal comes after it
            problem, receive = await self._with_body(receive)
            refusal = refusal or problem
        if refusal is not None:
            answer = PlainTextResponse(refusal[1] + "\n", refusal[0], {"Connection": "close"})
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope if writes else {**scope, "method": "GET"}, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        found = host_and_port(host)
        # Bound to every address, the one that this visitor reached is our own too.
        server = scope.get("server") or ("", 0)
        if found is None or not (found[0] in self.names or (self.anywhere and found[0] == server[0])):
            return 400, (
                f"This is not {found[0] if found else 'a host that is known here'}: the explorer answers only to its "
                f"own names. Start it with --allow-host NAME to add one."
            )
        origin = headers.get("origin")
        if scope["method"] not in ("GET", "HEAD") and origin is not None and not same_origin(origin, host):
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
