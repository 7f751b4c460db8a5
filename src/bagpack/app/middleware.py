"""What applies to every request: own host names, same origin, size of bodies, HEAD, security headers."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
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
DROPPED = 64 << 20  # bytes of an upload beyond what is allowed


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


class SecurityHeadersMiddleware:
    """Adds the security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; add headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        await self.app(scope, receive, send_with_headers)


class HeadMiddleware:
    """Answers HEAD like GET; the web server sends no body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on as GET."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)


class OriginMiddleware:
    """Refuses foreign host names (DNS rebinding) and uploads from pages of another origin."""

    def __init__(self, app: ASGIApp, names: frozenset[str], anywhere: bool) -> None:
        self.app = app
        self.names = names
        self.anywhere = anywhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the Host and Origin headers."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refuse(*refusal)(scope, receive, send)

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
            return 403, "Uploads are accepted from the explorer's own pages only."
        return None


class DisconnectMiddleware:
    """Cancels the work on a request when its client disconnects. The body was read before (`BodyLimitMiddleware`)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; stop when the client does not wait any more."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body: asyncio.Queue[Message] = asyncio.Queue()
        work = asyncio.ensure_future(self.app(scope, body.get, send))

        async def watch() -> None:
            more = True
            while more:
                message = await receive()
                body.put_nowait(message)
                more = message.get("more_body", False)
            if message["type"] == "http.disconnect" or (await receive())["type"] == "http.disconnect":
                work.cancel()

        watching = asyncio.ensure_future(watch())
        try:
            await asyncio.wait({work})
        finally:
            watching.cancel()
            work.cancel()  # does nothing if it is done
        with suppress(asyncio.CancelledError):
            await work


class BodyLimitMiddleware:
    """Reads the body of a request before anything else sees it, up to a size and for a limited time."""

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self.app = app
        self.most = most
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, and pass on what was read."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.seconds):
                body = await self._read(receive)
        except TimeoutError:
            if int(Headers(scope=scope).get("content-length", 0)) <= self.most:
                slow = f"The upload took longer than {self.seconds:g} s; use a faster connection or a smaller file."
                await refuse(408, slow)(scope, receive, send)
                return
            body = None
        if body is None:
            large = (
                f"The upload has more than the {self.most:,} bytes that are allowed; use a smaller file, or name it "
                f"with --data when starting the explorer."
            )
            await refuse(413, large)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body; None if it is too large.

        What is too much is received, and dropped: a client that still sends when the connection is closed gets a
        reset instead of the answer. Only after `DROPPED` bytes it is closed.
        """
        body, size = b"", 0
        while True:
            message = await receive()
            part = bytes(message.get("body", b""))
            size += len(part)
            body = body + part if size <= self.most else b""
            if not message.get("more_body") or size > self.most + DROPPED:  # a disconnect has no body either
                return body if size <= self.most else None


def refuse(status: int, sentence: str) -> Response:
    """A refusal; the body was not read, so the connection cannot be used again."""
    return PlainTextResponse(sentence + "\n", status, {"Connection": "close"})
