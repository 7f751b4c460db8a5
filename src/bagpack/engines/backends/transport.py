"""HTTP requests whose time and memory are bounded, whatever the server sends.

All HTTP requests go through `Transport`: those of the clients of OpenSearch and Elasticsearch, which take another
transport, of infini-gram's API and of the declared search APIs.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bagpack.engines.backends.deadline import deadline
from bagpack.engines.base import Address, BusyError, EngineError
from bagpack.errors import UsageError

MAX_BYTES = 64 << 20  # of one answer, decompressed
_CHUNK = 1 << 16
_SURROGATE = re.compile("[\ud800-\udfff]")


class Response(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def wait(self) -> float | None:
        """The seconds that the server asks to wait (`Retry-After`: a number, or a date)."""
        return retry_after(self.headers.get("retry-after", ""))


class Transport:
    """Sends requests to one server, over one connection per thread.

    Parameters
    ----------
    base
        ``http://HOST:PORT`` or ``https://HOST:PORT``.
    address
        The engine's URL, for messages.
    ca_certs
        A file of certificates that are trusted instead of the system's.
    """

    def __init__(self, base: str, address: Address, timeout: float, ca_certs: str | None = None) -> None:
        parts = urlsplit(base)
        self._host, self._port = parts.hostname or "localhost", parts.port
        self._address = address
        self._timeout = timeout
        self._context = _trusted(ca_certs) if parts.scheme == "https" else None
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Response:
        """Send a request, once; any status is an answer.

        Raises
        ------
        BusyError
            No answer came, or not all of it within the timeout.
        EngineError
            The answer is larger than `MAX_BYTES`, or not HTTP.
        """
        end = time.monotonic() + self._timeout
        reused = getattr(self._local, "connection", None) is not None
        while True:
            try:
                return self._exchange(method, target, headers, body, end)
            except _ClosedError:
                if not reused:
                    raise self._unreachable("it closed the connection") from None
                # The server has closed the idle connection: nothing was processed, so it is sent again.
                reused = False

    def _exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, end: float
    ) -> Response:
        connection = self._connection()
        sock = connection.sock
        try:
            with deadline(sock.fileno(), end - time.monotonic()) as limit:
                try:
                    connection.request(method, target, body=body, headers=dict(headers))
                    answer = connection.getresponse()
                    found = {name.lower(): value for name, value in answer.getheaders()}
                    content = _content(answer, found.get("content-encoding", ""), self._address)
                    answer.close()  # it is read to its end; the connection stays open for the next request
                except TimeoutError:
                    limit.expired = True
                    raise
                finally:
                    if limit.expired:
                        raise self._too_slow() from None
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._drop()
            raise _ClosedError from None
        except EngineError:
            self._drop()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._drop()
            if isinstance(error, http.client.IncompleteRead | OSError):
                raise self._unreachable(error) from None
            raise EngineError(
                f"{self._address} answered something that is not HTTP ({type(error).__name__}); check its host and "
                f"port"
            ) from None
        if answer.will_close:
            self._drop()
        return Response(answer.status, found, content)

    def _connection(self) -> http.client.HTTPConnection:
        """The connection of the calling thread, opened if it is not."""
        held: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if held is not None and held.sock is not None:
            return held
        if self._context is None:
            made = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        else:
            made = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=self._context
            )
        try:
            made.connect()
        except TimeoutError:
            raise self._too_slow() from None
        except ssl.SSLError as error:
            raise EngineError(
                f"{self._address} has no certificate that is trusted here ({error.reason or 'TLS failed'}); name its "
                f"authority with ca_certs=FILE in the URL, or use +http"
            ) from None
        except (OSError, UnicodeError) as error:
            raise self._unreachable(error) from None
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._local.connection = made
        with self._lock:
            self._open.append(made)
        return made

    def _drop(self) -> None:
        held = getattr(self._local, "connection", None)
        self._local.connection = None
        if held is not None:
            with suppress(OSError):
                held.close()
            with self._lock, suppress(ValueError):
                self._open.remove(held)

    def _too_slow(self) -> BusyError:
        return BusyError(
            f"{self._address} did not answer within {self._timeout:g} s; raise --timeout, or ask it less at once"
        )

    def _unreachable(self, error: object) -> BusyError:
        reason = getattr(error, "strerror", None) or str(error)
        return BusyError(
            f"{self._address} does not answer ({self._address.scrub(reason)}); check that the server runs, and its "
            f"host and port"
        )

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()


class _ClosedError(Exception):
    """The server closed the connection before it answered."""


def _trusted(ca_certs: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_certs)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"ca_certs={ca_certs} is not a file of certificates ({error.strerror or error}); correct it in the URL"
        ) from None


def _content(answer: http.client.HTTPResponse, encoding: str, address: Address) -> bytes:
    """The body, decompressed, at most `MAX_BYTES` of it."""
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "deflate"):
        raise EngineError(f"{address} answered with the unknown content encoding {encoding[:40]!r}")
    unpack = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
    found = bytearray()
    while chunk := answer.read1(_CHUNK):
        while chunk:
            if unpack is None:
                found += chunk
                break
            try:
                found += unpack.decompress(chunk, MAX_BYTES + 1 - len(found))
            except zlib.error:
                raise EngineError(f"{address} answered damaged {encoding} data; try again later") from None
            chunk = unpack.unconsumed_tail
            if len(found) > MAX_BYTES:
                break
        if len(found) > MAX_BYTES:
            raise EngineError(
                f"{address} answered with more than {MAX_BYTES >> 20} MiB; lower --limit, or search a field with "
                f"shorter texts"
            )
    if answer.length:  # read1 returns what there is when the server closes the connection early
        raise http.client.IncompleteRead(b"", answer.length)
    if unpack is not None and found and not unpack.eof:
        raise EngineError(f"{address} answered damaged {encoding} data; try again later")
    return bytes(found)


def retry_after(value: str) -> float | None:
    """The seconds of a `Retry-After` header.

    >>> retry_after("120")
    120.0
    >>> retry_after("soon")
    """
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def parse_json(text: str | bytes, address: Address) -> Any:
    """JSON, without lone surrogates."""
    try:
        return json.loads(text)
    except RecursionError:
        raise EngineError(f"{address} answered JSON that is nested too deeply; check the URL") from None
    except ValueError:
        raise EngineError(
            f"{address} answered something that is not JSON; is it a proxy or a login page? Check the URL"
        ) from None


def lookup(value: Any, path: str) -> Any:
    """What is at a path such as `web.results` of JSON; None if there is nothing."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def clean_text(value: Any) -> str | None:
    """A string from JSON as text that can be stored (lone surrogates become U+FFFD); None for anything else."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else None
