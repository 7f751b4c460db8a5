"""Requests to OpenSearch and Elasticsearch through their own clients, over a transport with bounds.

Both clients take another transport by design (`connection_class`, `node_class`). Ours bounds time and memory, and
raises the errors of this package: no client has to be asked what its exceptions mean.
"""

from __future__ import annotations

import base64
import os
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote, urlencode

from bagpack.engines.backends.transport import Response, Transport, parse_json
from bagpack.engines.base import Address, BusyError, EngineError
from bagpack.errors import UsageError, import_extra

BULK = 2_000  # documents in one request
BULK_RETRIES = 8  # of documents that the server had no time for
FIRST_WAIT = 0.5  # seconds; doubled with every retry
LONGEST_WAIT = 60.0


class NoIndexError(EngineError):
    """The server answers, but has no index of that name."""


class _NodeAnswer(NamedTuple):
    """What elastic_transport expects of a node: its own class for it is not public."""

    meta: Any
    body: bytes


class _OpenSearch:
    def __init__(self, server: Server) -> None:
        opensearchpy = import_extra(
            "opensearchpy", "opensearch-py", "opensearch", "an opensearch+http: engine"
        )

        class Connection(opensearchpy.Connection):  # type: ignore[name-defined]
            def perform_request(
                self, method: str, url: str, params: Any = None, body: Any = None, timeout: Any = None,
                ignore: Any = (), headers: Any = None,
            ) -> tuple[int, dict[str, str], str]:  # fmt: skip
                target = f"{url}?{urlencode(params)}" if params else url
                answer = server.exchange(method, target, {**self.headers, **(headers or {})}, body)
                return answer.status, answer.headers, answer.body.decode("utf-8-sig", "replace")

            def close(self) -> None:
                """The server closes its transport."""

        self._library: Any = opensearchpy
        self._client: Any = opensearchpy.OpenSearch(
            hosts=[server.base],
            headers=_authorization(server.address),
            connection_class=Connection,
            max_retries=0,
        )

    def call(self, method: str, path: str, params: Mapping[str, str], body: Any) -> Any:
        return self._client.transport.perform_request(method, path, params=dict(params), body=body)

    def bulk(self, actions: Iterable[dict[str, Any]]) -> Iterable[tuple[bool, Any]]:
        found: Iterable[tuple[bool, Any]] = self._library.helpers.streaming_bulk(
            self._client, actions, chunk_size=BULK, max_retries=BULK_RETRIES, initial_backoff=FIRST_WAIT,
            raise_on_error=False,
        )  # fmt: skip
        return found

    def close(self) -> None:
        self._client.close()


class _Elasticsearch(_OpenSearch):
    def __init__(self, server: Server) -> None:
        elasticsearch, elastic_transport, _ = (
            import_extra(name, "elasticsearch", "elasticsearch", "an elasticsearch+http: engine")
            for name in ("elasticsearch", "elastic_transport", "elasticsearch.helpers")
        )

        class Node(elastic_transport.BaseNode):  # type: ignore[name-defined]
            _CLIENT_META_HTTP_CLIENT = ("bp", "0")

            def perform_request(
                self, method: str, target: str, body: bytes | None = None, headers: Any = None,
                request_timeout: Any = None,
            ) -> Any:  # fmt: skip
                merged = {**dict(self.headers), **dict(headers or {})}
                answer = server.exchange(method, target, merged, body)
                meta = elastic_transport.ApiResponseMeta(
                    node=self.config,
                    duration=0.0,
                    http_version="1.1",
                    status=answer.status,
                    headers=elastic_transport.HttpHeaders(answer.headers),
                )
                return _NodeAnswer(meta, answer.body)

        self._library = elasticsearch
        key = os.environ.get("BAGPACK_ENGINE_API_KEY")
        auth: dict[str, Any] = {"api_key": key} if key else {"basic_auth": _credentials(server.address)}
        self._client = elasticsearch.Elasticsearch([server.base], node_class=Node, max_retries=0, **auth)

    def call(self, method: str, path: str, params: Mapping[str, str], body: Any) -> Any:
        headers = {"accept": "application/json"} | (
            {"content-type": "application/json"} if body is not None else {}
        )
        return self._client.perform_request(
            method, path, params=dict(params) or None, headers=headers, body=body
        ).body


def _base(address: Address) -> str:
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
    """Requests to one index, and error messages for those that fail."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.index = _index_name(address)
        self.base = _base(address)
        self._transport = Transport(self.base, address, timeout, address.options.get("ca_certs"))
        made = _Elasticsearch if address.scheme.startswith("elasticsearch") else _OpenSearch
        self._client = made(self)

    def exchange(self, method: str, target: str, headers: Mapping[str, str], body: Any) -> Response:
        """One HTTP request of a client; an error status is raised."""
        data = body.encode() if isinstance(body, str) else body
        answer = self._transport.request(method, target, headers, data)
        if answer.status >= 400:
            raise self._refused(answer)
        parse_json(answer.body, self.address)  # what the clients make of something else differs
        return answer

    def call(
        self, method: str, path: str, body: Any = None, params: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """A request, and the JSON object that comes back."""
        try:
            answer = self._client.call(method, path, params or {}, body)
        except EngineError:
            raise
        except UnicodeError:
            raise UsageError(f"{self.address} holds characters that HTTP cannot carry; check it") from None
        except Exception:  # the clients' own: an answer that is not theirs
            raise self._not_ours() from None
        if not isinstance(answer, dict):
            raise self._not_ours()
        return answer

    def bulk(self, actions: Sequence[dict[str, Any]]) -> None:
        """Index documents; what the server had no time for is sent again, later each time."""
        for attempt in range(BULK_RETRIES + 1):
            try:
                for done, item in self._client.bulk(actions):
                    if not done:
                        raise self._not_indexed(item)
                return
            except BusyError as error:
                # The whole request; the documents have ids, so that none is indexed twice.
                if attempt == BULK_RETRIES:
                    raise
                pause = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.0)
                time.sleep(max(pause, min(LONGEST_WAIT, error.wait or 0.0)))

    def _not_indexed(self, item: Any) -> EngineError:
        result = next(iter(item.values()), None) if isinstance(item, dict) else None
        reason = result.get("error") if isinstance(result, dict) else result
        detail = reason.get("reason", reason) if isinstance(reason, dict) else reason
        return EngineError(
            f"{self.address} could not index a sentence: {self.address.scrub(detail)[:300]}; run the command again"
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._transport.close()

    def _not_ours(self) -> EngineError:
        return EngineError(f"{self.address} answered JSON that is not a search result; check the URL")

    def _refused(self, answer: Response) -> EngineError:
        """What an error status means, and how to fix it."""
        where, status = self.address, answer.status
        if status in (401, 403):
            return EngineError(
                f"{where} refused the credentials; set BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD, or put them "
                f"into the URL"
            )
        if status == 404:
            return NoIndexError(
                f"{where} has no index {self.index!r}; correct its name, or fill one with bagpack engine build"
            )
        if status == 429 or status >= 500:
            return BusyError(
                f"{where} is too busy (status {status}); lower --rate or --connections", answer.wait
            )
        return EngineError(f"{where} could not answer: {where.scrub(self._reason(answer))[:300]}")

    def _reason(self, answer: Response) -> str:
        """The reason that the server gave."""
        try:
            held = parse_json(answer.body, self.address)["error"]
            return (
                str(held.get("reason") or held.get("type") or held) if isinstance(held, dict) else str(held)
            )
        except (EngineError, KeyError, TypeError):
            return f"status {answer.status}"
