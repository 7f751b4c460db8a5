"""What every answer carries and every request must: own host names, security headers, uploads of a known size."""

from __future__ import annotations

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


def own_names(host: str, more: tuple[str, ...] = ()) -> frozenset[str]:
    """The host names that a server bound to `host` answers to."""
    names = {*LOCAL, *(name.lower() for name in more)}
    names.add(socket.gethostname().lower() if host in ANYWHERE else host.lower().strip("[]"))
    return frozenset(names)


def host_name(value: str) -> str | None:
    """The name in a Host header, without its port; None if it is not one."""
    try:
        parts = urlsplit(f"//{value}")
        if (
            parts.path
            or parts.query
            or parts.username is not None
            or (parts.port is None and value.endswith(":"))
        ):
            return None
        return parts.hostname
    except ValueError:
        return None


class Guard:
    """Refuses foreign hosts (a page elsewhere that had its name point here) and foreign or oversized uploads."""

    def __init__(self, app: ASGIApp, names: frozenset[str], anywhere: bool, upload_bytes: int) -> None:
        self.app = app
        self.names = names
        self.anywhere = anywhere
        self.upload_bytes = upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, pass on, add headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send_safely)
        else:
            status, sentence = refusal
            # The body was not read, so the connection cannot be used again.
            response = PlainTextResponse(sentence + "\n", status, {"Connection": "close"})
            await response(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        name = host_name(headers.get("host", ""))
        if not self._is_own(name, scope):
            return 400, (
                f"This is not {name or 'a host that is known here'}: the explorer answers only to its own names. "
                f"Start it with --allow-host NAME to add one."
            )
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")  # http://HOST:PORT, or null
        if origin is not None and not self._is_own(host_name(origin.partition("://")[2]), scope):
            return 403, "Uploads are taken from the explorer's own pages only."
        length = headers.get("content-length", "")
        if not length.isdigit():
            return 411, "Say how long the upload is (Content-Length)."
        if int(length) > self.upload_bytes:
            return 413, (
                f"The upload has {int(length):,} bytes, and {self.upload_bytes:,} are allowed; use a smaller file, or "
                f"name it with --data when starting the explorer."
            )
        return None

    def _is_own(self, name: str | None, scope: Scope) -> bool:
        if name is None:
            return False
        # Bound to every address, the one that this visitor reached is our own too.
        server = scope.get("server") or ("", 0)
        return name in self.names or (self.anywhere and name == server[0])
