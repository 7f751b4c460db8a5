"""Requests to OpenSearch and Elasticsearch through their own clients: credentials, and what went wrong in sentences."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from bagpack.engines.base import Address, BusyError, EngineError
from bagpack.errors import UsageError, missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterable

BULK = 2_000  # documents in one request


class NoIndexError(EngineError):
    """The server answers, but has no index of that name."""


class _Client(Protocol):
    """What the two official clients are used for."""

    def call(self, method: str, path: str, body: Any = None) -> Any: ...

    def bulk(self, actions: Iterable[dict[str, Any]]) -> None: ...

    def close(self) -> None: ...


class _OpenSearch:
    def __init__(self, address: Address, timeout: float) -> None:
        try:
            import opensearchpy
        except ImportError:
            raise missing_extra("opensearch-py", "opensearch", "an opensearch+http: engine") from None
        self._library: Any = opensearchpy
        self._client: Any = opensearchpy.OpenSearch(
            hosts=[_host(address)],
            headers=_authorization(address),
            timeout=timeout,
            max_retries=0,
            ssl_show_warn=False,
        )

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self._client.transport.perform_request(method, path, body=body)

    def bulk(self, actions: Iterable[dict[str, Any]]) -> None:
        self._library.helpers.bulk(self._client, actions, chunk_size=BULK, refresh=False)

    def close(self) -> None:
        self._client.close()


class _Elasticsearch(_OpenSearch):
    def __init__(self, address: Address, timeout: float) -> None:
        try:
            import elasticsearch
            import elasticsearch.helpers
        except ImportError:
            raise missing_extra("elasticsearch", "elasticsearch", "an elasticsearch+http: engine") from None
        self._library = elasticsearch
        key = os.environ.get("BAGPACK_ENGINE_API_KEY")
        auth = {"api_key": key} if key else {"basic_auth": _credentials(address)}
        self._client = elasticsearch.Elasticsearch(
            [_host(address)], request_timeout=timeout, max_retries=0, retry_on_timeout=False, **auth
        )

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"accept": "application/json"} | (
            {"content-type": "application/json"} if body is not None else {}
        )
        return self._client.perform_request(method, path, headers=headers, body=body).body


def _host(address: Address) -> str:
    parts = address.parts
    protocol = address.scheme.partition("+")[2]
    host = parts.hostname or "localhost"
    host = f"[{host}]" if ":" in host else host
    return f"{protocol}://{host}:{parts.port or (443 if protocol == 'https' else 9200)}"


def _credentials(address: Address) -> tuple[str, str] | None:
    parts = address.parts
    user = unquote(parts.username or "") or os.environ.get("BAGPACK_ENGINE_USER", "")
    password = unquote(parts.password or "") or os.environ.get("BAGPACK_ENGINE_PASSWORD", "")
    return (user, password) if user else None


def _authorization(address: Address) -> dict[str, str]:
    """The header itself: left to the client, a password beyond Latin-1 would be refused."""
    found = _credentials(address)
    if found is None:
        return {}
    return {"authorization": "Basic " + base64.b64encode(":".join(found).encode()).decode()}


def _index_name(address: Address) -> str:
    name = address.parts.path.strip("/")
    if not name or "/" in name or any(letter in name for letter in '*?"<>| ,#\\') or name[0] in "_-+":
        raise UsageError(
            f"{address} must end in the name of one index, as in {address.scheme}://localhost:9200/docs"
        )
    return name


class Server:
    """Requests, and sentences about what went wrong with them."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self.index = _index_name(address)
        maker = _Elasticsearch if address.scheme.startswith("elasticsearch") else _OpenSearch
        self._client: _Client = maker(address, timeout)

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """One request; its JSON object."""
        try:
            answer = self._client.call(method, path, body)
        except Exception as error:
            raise self._sentence(error) from None
        if not isinstance(answer, dict):
            raise self._not_json()
        return answer

    def bulk(self, actions: Iterable[dict[str, Any]]) -> None:
        """Many documents at once."""
        try:
            self._client.bulk(actions)
        except Exception as error:
            raise self._sentence(error) from None

    def close(self) -> None:
        """Give back the client's connections."""
        self._client.close()

    def _not_json(self) -> EngineError:
        return EngineError(
            f"{self.address} answered something that is not JSON; is it a proxy or a login page? Check the URL"
        )

    def _sentence(self, error: Exception) -> BaseException:
        """What went wrong, where, and the cure; foreign exceptions stay as they are."""
        kind = {parent.__name__ for parent in type(error).__mro__}
        where = self.address
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            status = getattr(getattr(error, "meta", None), "status", None)
        if "ConnectionTimeout" in kind:
            return BusyError(
                f"{where} did not answer within {self.timeout:g} s; raise --timeout, or ask it less at once"
            )
        if "SerializationError" in kind or "UnsupportedProductError" in kind:
            return self._not_json()
        if {"TlsError", "SSLError"} & kind:
            return EngineError(
                f"{where} has no certificate that this machine trusts; use +http, or install it"
            )
        if "ConnectionError" in kind or isinstance(error, OSError):
            return BusyError(f"{where} does not answer; check that the server runs, and its host and port")
        if status in (401, 403):
            return EngineError(
                f"{where} refused the credentials; set BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD, or put them "
                f"into the URL"
            )
        if status == 404:
            return NoIndexError(
                f"{where} has no index {self.index!r}; correct its name, or fill one with bagpack engine build"
            )
        if status == 429 or (status or 0) >= 500:
            return BusyError(
                f"{where} is too busy (status {status}); lower --rate or --connections", _wait(error)
            )
        if status or {"TransportError", "ApiError", "BulkIndexError"} & kind:
            return EngineError(f"{where} could not answer: {where.scrub(_reason(error))[:300]}")
        return error


def _reason(error: Exception) -> str:
    """The reason that the server gave, wherever the client keeps it."""
    for place in (getattr(error, "info", None), getattr(error, "body", None)):
        if isinstance(place, dict) and isinstance(place.get("error"), dict):
            return str(place["error"].get("reason") or place["error"])
    return str(error)


def _wait(error: Exception) -> float | None:
    headers = getattr(getattr(error, "meta", None), "headers", None) or {}
    told = headers.get("retry-after", "")
    return float(told) if str(told).isdigit() else None
