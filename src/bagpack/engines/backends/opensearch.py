"""OpenSearch and Elasticsearch: `intervals` queries through their own clients.

`opensearch+https://[USER:PASSWORD@]HOST:PORT/INDEX`, likewise `elasticsearch+https://…` (or `+http`). By default the
index is one that `bagpack engine build` filled, a document per sentence. In an index of the user's own, `field`
names the text field to search and to read; `id` may name the field that names the document. User and password may
also come from BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD (Elasticsearch: an API key from
BAGPACK_ENGINE_API_KEY).
"""

from __future__ import annotations

import copy
import json
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bagpack.engines.backends.opensearch_server import BULK, NoIndexError, Server
from bagpack.engines.base import Address, BusyError, EngineError, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

FORMAT_VERSION = 1
MOST_HITS = 10_000  # index.max_result_window, as servers are delivered
MAPPING: dict[str, Any] = {
    "settings": {"analysis": {"analyzer": {"bagpack": {"type": "custom", "tokenizer": "whitespace"}}}},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "number": {"type": "long"},
            "document": {"type": "keyword", "index": False, "doc_values": False},
            "sentence": {"type": "text", "index": False},
            "words": {"type": "text", "analyzer": "bagpack", "norms": False},
        },
    },
}


def intervals(query: Query) -> dict[str, Any]:
    """The `intervals` rule: `any_of` forms, both words `all_of` in order, exactly `gap` positions between."""

    def any_of(forms: tuple[Form, ...]) -> dict[str, Any]:
        rules = [
            {"match": {"query": " ".join(map(index_word, form)), "ordered": True, "max_gaps": 0}}
            for form in forms
        ]
        return {"any_of": {"intervals": rules}}

    if query.kind == "word":
        return any_of(query.forms1)
    rule: dict[str, Any] = {
        "ordered": True,
        "max_gaps": query.gap,
        "intervals": [any_of(query.forms1), any_of(query.forms2)],
    }
    if query.gap:
        rule["filter"] = {"script": {"source": f"interval.gaps == {query.gap:d}"}}
    return {"all_of": rule}


def search_body(query: Query, limit: int, address: Address) -> dict[str, Any]:
    """The whole search request."""
    options = address.options
    shown = (
        [options["field"], *filter(None, [options.get("id")])]
        if "field" in options
        else ["document", "sentence"]
    )
    return {
        "size": limit,
        "track_total_hits": False,
        "sort": ["_doc"] if "field" in options else [{"number": "asc"}],
        "_source": shown,
        "query": search_query(query, address),
    }


def search_query(query: Query, address: Address) -> dict[str, Any]:
    """What stands under `query` in the request."""
    return {"intervals": {address.options.get("field", "words"): intervals(query)}}


class OpenSearchEngine:
    """An index to be searched."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.name = address.scheme.partition("+")[0]
        self._server = Server(address, timeout)
        self._address = address
        mapping = self._server.call("GET", f"/{self._server.index}/_mapping")
        facts = [entry.get("mappings", {}).get("_meta", {}).get("bagpack") for entry in mapping.values()]
        built = facts[0] if len(facts) == 1 else None
        self.exact = built is not None and "field" not in address.options
        if not self.exact and "field" not in address.options:
            raise UsageError(
                f"{address} was not filled by bagpack engine build; name the field that holds its text "
                f"({address.shown}?field=…)"
            )
        if built and built.get("format_version") != FORMAT_VERSION:
            raise EngineError(
                f"{address} has format version {built.get('format_version')}, this BagPack reads {FORMAT_VERSION}; "
                f"build it again"
            )
        self.identity = f"{self.name}:{built['build']}" if self.exact and built else address.shown

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first documents, by number in an index of ours."""
        if limit > MOST_HITS:
            raise UsageError(
                f"{self.name} gives at most {MOST_HITS:,} snippets a query; lower --limit {limit}"
            )
        body = search_body(query, limit, self._address)
        answer = self._server.call("POST", f"/{self._server.index}/_search", body)
        if answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
            raise BusyError(f"{self._address} answered from a part of its shards only; try again later")
        try:
            return [self._snippet(hit) for hit in answer["hits"]["hits"]]
        except (KeyError, TypeError):
            raise EngineError(
                f"{self._address} answered JSON that is no search result; check the URL"
            ) from None

    def _snippet(self, hit: dict[str, Any]) -> Snippet:
        source, options = hit.get("_source", {}), self._address.options
        if "field" not in options:
            return Snippet(source["document"], source["sentence"])
        text = source.get(options["field"]) or ""
        text = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
        return Snippet(str(source.get(options.get("id", ""), hit.get("_id", ""))), text)

    def native(self, query: Query) -> str:
        """As `ENGINE.native`."""
        return ENGINE.native(query, self._address)

    def close(self) -> None:
        """Close the client's connections."""
        self._server.close()


class OpenSearchBuilder:
    """Fills a fresh index and then gives it its name as an alias."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        if "field" in address.options:
            raise UsageError("bagpack engine build names its own fields; leave field= out of the URL")
        self._server = Server(address, timeout=120.0)
        self._old = self._existing(overwrite)
        self.number = 0
        self._build = uuid.uuid4().hex
        self._fresh = f"{self._server.index}-{self._build[:12]}"
        self._waiting: list[dict[str, Any]] = []
        body = copy.deepcopy(MAPPING)
        body["mappings"]["_meta"] = {"bagpack": {"format_version": FORMAT_VERSION, "build": self._build}}
        self._server.call("PUT", f"/{self._fresh}", body)

    def _existing(self, overwrite: bool) -> list[str]:
        name = self._server.index
        try:
            held = self._server.call("GET", f"/{name}/_mapping")
        except NoIndexError:
            return []
        ours = all("bagpack" in entry.get("mappings", {}).get("_meta", {}) for entry in held.values())
        if not ours:
            raise EngineError(
                f"{self._server.address} is not BagPack's index, so it is left alone; name another"
            )
        if not overwrite:
            raise EngineError(f"{self._server.address} exists already; --overwrite it, or name another index")
        return list(held)

    def add(self, document: str, marked: str) -> None:
        """One sentence."""
        source = {
            "number": self.number,
            "document": document,
            "sentence": marked,
            "words": " ".join(index_words(marked)),
        }
        self._waiting.append({"_index": self._fresh, "_id": str(self.number), "_source": source})
        self.number += 1
        if len(self._waiting) >= BULK:
            self._flush()

    def _flush(self) -> None:
        actions, self._waiting = self._waiting, []
        self._server.bulk(actions)

    def finish(self) -> None:
        """Refresh, and switch the alias from the old index to this one."""
        self._flush()
        self._server.call("POST", f"/{self._fresh}/_refresh")
        name = self._server.index
        # In one request, so that a reader sees the old index or the new one.
        actions: list[dict[str, Any]] = [{"remove_index": {"index": old}} for old in self._old]
        actions.append({"add": {"index": self._fresh, "alias": name}})
        self._server.call("POST", "/_aliases", {"actions": actions})
        self._server.close()

    def abandon(self) -> None:
        """Delete the unfinished index, if the server still listens."""
        with suppress(Exception):  # the first error is the one to tell
            self._server.call("DELETE", f"/{self._fresh}")
        self._server.close()


class OpenSearchKind:
    """`opensearch+https://…` and its kin."""

    def connect(self, address: Address, timeout: float) -> OpenSearchEngine:
        """Open an index."""
        return OpenSearchEngine(address, timeout)

    def build(self, address: Address, overwrite: bool) -> OpenSearchBuilder:
        """Begin an index."""
        return OpenSearchBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """The `intervals` query as JSON."""
        return json.dumps(search_query(query, address), ensure_ascii=False)


ENGINE = OpenSearchKind()
