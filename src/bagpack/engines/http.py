"""Engines behind HTTP: requests whose time and memory are bounded, whatever the server sends.

httpx's own time-outs count from the last byte, so that a server that sends one byte a second is never too slow for
them. Requests therefore run in an event loop in a thread of its own, where a whole exchange can be cancelled.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from bagpack.engines.base import BusyError, Engine, EngineError
from bagpack.errors import UsageError, import_extra

MAX_BYTES = 64 << 20  # of one answer, decompressed
ENCODINGS = ("identity", "gzip")  # several at once, or denser ones, could expand a chunk beyond all bounds
REASONS = ("reason", "detail", "message", "type")  # where services put what went wrong, inside `error`
_SURROGATE = re.compile("[\ud800-\udfff]")


class RefusedError(EngineError):
    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class HttpEngine(Engine):
    """An engine that is asked by HTTP requests, and answers with JSON objects."""

    credentials = "check the credentials"  # the advice if they are refused
    _stack: ExitStack | None = None

    def start(self, base: str, headers: Mapping[str, str] | None = None, secrets: Iterable[str] = ()) -> None:
        """Prepare connections to ``http://HOST:PORT`` or ``https://HOST:PORT``; nothing is sent yet.

        Messages must not show `secrets`, nor what the address knows of.
        """
        self._httpx = import_extra("httpx", "httpx", "http", "an engine behind HTTP")
        from anyio.from_thread import start_blocking_portal

        self._secrets = list(secrets)
        sent = {"accept": "application/json", "accept-encoding": "gzip", **(headers or {})}
        try:
            encoded = {name: value.encode() for name, value in sent.items()}
            trusted = ssl.create_default_context() if base.startswith("https") else False  # the system's
            self._client = self._httpx.AsyncClient(
                base_url=base, headers=encoded, timeout=self.timeout, verify=trusted
            )
        except (self._httpx.InvalidURL, UnicodeError):
            raise self._unusable() from None
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._stack.callback(self._portal.call, self._client.aclose)

    def close(self) -> None:
        if self._stack is not None:
            self._stack.close()

    def request(
        self, method: str, target: str, body: str | None = None, asked: str | None = None,
        check: Callable[[dict[str, Any]], None] = lambda answer: None,
    ) -> dict[str, Any]:  # fmt: skip
        """The answer to a request, which is repeated if the server is busy.

        With `asked`, everything that it depends on, it is kept. What `check` raises an error for is not.
        """

        def send() -> str:
            text = self.send(method, target, body)
            check(self.parse(text))
            return text

        if asked is None:
            return self.parse(self.requests.send(send))
        return self.parse(self.requests.ask(f"{self.address}\0{asked}", send))

    def send(self, method: str, target: str, body: str | None = None) -> str:
        """The text of the answer to one request, which is a JSON object of at most `MAX_BYTES`.

        Raises `BusyError` if the server is busy or does not answer completely within the timeout, `RefusedError` if
        it answers with an error status.
        """
        httpx = self._httpx
        try:
            answer, content = self._portal.call(self._exchange, method, target, body)
        except (TimeoutError, httpx.TimeoutException):
            late = f"{self.address} did not answer within {self.timeout:g} s; ask it less at once"
            raise BusyError(late) from None
        except httpx.DecodingError:
            raise self.failure("answered damaged gzip data; try again later") from None
        except httpx.TransportError as error:
            reason = self._scrub(error) or type(error).__name__
            closed = "disconnected" in reason or "peer closed" in reason
            if "[SSL" in reason:
                fix = "name the file of its authority in SSL_CERT_FILE, or use +http"
                raise self.failure(f"has no certificate that is trusted here ({reason}); {fix}") from None
            if isinstance(error, httpx.ProtocolError) and not closed:
                raise self.failure("answered something that is not HTTP; check its host and port") from None
            reason = "it closed the connection" if closed else reason
            fix = "check that the server runs, and its host and port"
            raise BusyError(f"{self.address} does not answer ({reason}); {fix}") from None
        except (httpx.InvalidURL, UnicodeError):
            raise self._unusable() from None
        if answer.status_code >= 300:
            raise self._refused(answer, content)
        self.parse(content)
        return str(content, "utf-8-sig")

    async def _exchange(self, method: str, target: str, body: str | None) -> tuple[Any, bytes]:
        import anyio

        found = bytearray()
        kind = {"content-type": "application/json"} if body is not None else {}
        content = None if body is None else body.encode()
        with anyio.fail_after(self.timeout):
            async with self._client.stream(method, target, content=content, headers=kind) as answer:
                if answer.headers.get("content-encoding", "identity").strip().lower() not in ENCODINGS:
                    raise self.failure("answered in an encoding that was not asked for")
                async for chunk in answer.aiter_bytes():
                    found += chunk
                    if len(found) > MAX_BYTES:
                        fix = "lower --limit, or search a field with shorter texts"
                        raise self.failure(f"answered with more than {MAX_BYTES >> 20} MiB; {fix}")
        return answer, bytes(found)

    def _refused(self, answer: Any, content: bytes) -> EngineError:
        where, status = self.address, answer.status_code
        try:
            error = self.parse(content).get("error")
        except EngineError:
            error = None
        if isinstance(error, dict):
            error = next((error[name] for name in REASONS if error.get(name)), None)
        said = f"(status {status})" + (f": {self._scrub(error)[:300]}" if error else "")
        if status == 429 or status >= 500:
            asked = answer.headers.get("retry-after", "")
            wait = float(asked) if asked.strip().isdecimal() else None
            asks = f"; it asks to wait {wait:,.0f} s" if wait else ""
            return BusyError(f"{where} is too busy {said}; lower --rate{asks}", wait)
        if status in (401, 403):
            return RefusedError(f"{where} refused the request {said}; {self.credentials}", status)
        return RefusedError(f"{where} could not answer {said}; check the URL", status)

    def _scrub(self, text: object) -> str:
        return self.address.scrub(text, self._secrets)

    def _unusable(self) -> UsageError:
        return UsageError(f"{self.address} is not a URL that HTTP can carry; check it")

    def failure(self, what: str) -> EngineError:
        return EngineError(f"{self.address} {what}")

    def unexpected(self, what: str) -> EngineError:
        """The error for an answer that is not as it should be."""
        return self.failure(f"answered {what}; check the URL")

    def parse(self, text: str | bytes) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except RecursionError:
            raise self.unexpected("JSON that is nested too deeply") from None
        except ValueError:
            raise self.unexpected("something that is not JSON, such as a login page") from None
        if not isinstance(found, dict):
            raise self.unexpected("JSON that is not an object")
        return found


def lookup(value: Any, path: str) -> Any:
    """What is at a path such as `web.results` of JSON; None if there is nothing."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def clean_text(value: Any) -> str | None:
    """A string from JSON as text that can be stored (lone surrogates become U+FFFD); None for anything else."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else None


def clean_texts(value: Any) -> list[str] | None:
    """The same for a string or a list of strings."""
    texts = [clean_text(part) for part in (value if isinstance(value, list) else [value])]
    return None if None in texts else [text for text in texts if text]
