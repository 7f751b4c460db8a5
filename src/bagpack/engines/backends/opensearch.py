"""OpenSearch and Elasticsearch: `intervals` queries through their own clients.

`opensearch+https://[USER:PASSWORD@]HOST:PORT/INDEX`, likewise `elasticsearch+https://…` (or `+http`). By default the
index is one that `bagpack engine build` filled, a document per sentence. In an index of the user's own, `field`
names the text field to search and to read; `id` may name the field that names the document, by which the hits are
sorted if it can be. `ca_certs` names a file of certificates to trust. User and password may also come from
BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD (Elasticsearch: an API key from BAGPACK_ENGINE_API_KEY).
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bagpack.engines.backends.opensearch_client import BULK, NoIndexError, Server
from bagpack.engines.backends.transport import clean_text, lookup
from bagpack.engines.base import DIRECT, Address, BusyError, EngineError, EngineKind, Sender, Snippet
from bagpack.engines.words import index_word, index_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

FORMAT_VERSION = 1
MOST_HITS = 10_000  # index.max_result_window, as servers are delivered
# While an index is filled it makes nothing visible and has no copies; `finish` sets both to the server's defaults.
LOADING = {"index": {"refresh_interval": "-1", "number_of_replicas": 0}}
LOADED = {"index": {"refresh_interval": None, "number_of_replicas": None}}
SORTABLE = frozenset(
    {"keyword", "long", "integer", "short", "byte", "double", "float", "date", "unsigned_long"}
)
MAPPING: dict[str, Any] = {
    "settings": {
        "analysis": {"analyzer": {"bagpack": {"type": "custom", "tokenizer": "whitespace"}}},
        **LOADING,
    },
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


def search_body(query: Query, limit: int, address: Address, sortable: bool = False) -> dict[str, Any]:
    """The whole search request; `sortable` says that the hits can be sorted by the field that `id` names."""
    options = address.options
    order: list[Any]
    if "field" not in options:
        shown, order = ["document", "sentence"], [{"number": "asc"}]
    else:
        shown = [options["field"], *filter(None, [options.get("id")])]
        # Ties, and hits without an id, in index order, which `preference` keeps the same from search to search.
        order = [
            *([{options["id"]: {"order": "asc", "missing": "_last"}}] if sortable else []),
            {"_doc": "asc"},
        ]
    return {
        "size": limit,
        "track_total_hits": False,
        "sort": order,
        "_source": shown,
        "query": search_query(query, address),
    }


def search_query(query: Query, address: Address) -> dict[str, Any]:
    """The value of `query` in the request."""
    return {"intervals": {address.options.get("field", "words"): intervals(query)}}


class OpenSearchEngine:
    """An index to be searched."""

    def __init__(self, address: Address, timeout: float, sender: Sender = DIRECT) -> None:
        self.name = address.scheme.partition("+")[0]
        self._server = Server(address, timeout)
        self._address = address
        options = address.options
        mapping = sender.send(lambda: self._server.call("GET", f"/{self._server.index}/_mapping"))
        mappings = [entry["mappings"] for entry in mapping.values() if _is_mapping(entry)]
        if not mappings:
            raise EngineError(f"{address} answered JSON that is not an index mapping; check the URL")
        facts = mappings[0].get("_meta", {}).get("bagpack") if len(mappings) == 1 else None
        built = facts if isinstance(facts, dict) else None
        self.exact = built is not None and "field" not in options
        if not self.exact and "field" not in options:
            raise UsageError(
                f"{address} was not filled by bagpack engine build; name the field that holds its text "
                f"({address.shown}?field=…)"
            )
        if built and built.get("format_version") != FORMAT_VERSION:
            raise EngineError(
                f"{address} has format version {built.get('format_version')}, this BagPack reads {FORMAT_VERSION}; "
                f"build it again"
            )
        self._sortable = False
        if not self.exact:
            self._check_fields(mappings)
        self.identity = f"{self.name}:{built.get('build')}" if self.exact and built else address.shown

    def _check_fields(self, mappings: list[dict[str, Any]]) -> None:
        """Servers answer nothing, without an error, where a field does not exist."""
        fields = {name: kind for mapping in mappings for name, kind in _fields(mapping)}
        options = self._address.options
        for option in ("field", "id"):
            if option in options and options[option] not in fields:
                known = ", ".join(sorted(fields)[:20]) or "none"
                raise EngineError(
                    f"{self._address} has no field {options[option]!r}; correct {option}= in the URL (its fields: "
                    f"{known})"
                )
        self._sortable = fields.get(options.get("id", "")) in SORTABLE

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """The first documents, by number in an index of ours."""
        if limit > MOST_HITS:
            raise UsageError(
                f"{self.name} gives at most {MOST_HITS:,} snippets a query; lower --limit {limit}"
            )
        return sender.send(lambda: self._search(query, limit))

    def _search(self, query: Query, limit: int) -> list[Snippet]:
        body = search_body(query, limit, self._address, self._sortable)
        path = f"/{self._server.index}/_search"
        answer = self._server.call("POST", path, body, {"preference": "bagpack"})
        shards = answer.get("_shards")
        if answer.get("timed_out") or (isinstance(shards, dict) and shards.get("failed")):
            raise BusyError(f"{self._address} answered from a part of its shards only; try again later")
        hits = answer.get("hits")
        found = hits.get("hits") if isinstance(hits, dict) else None
        if not isinstance(found, list):
            raise EngineError(f"{self._address} answered JSON that is not a search result; check the URL")
        if len(found) > limit:
            raise EngineError(
                f"{self._address} answered {len(found):,} hits where at most {limit:,} were asked for; check the URL"
            )
        return [self._snippet(hit) for hit in found]

    def _snippet(self, hit: Any) -> Snippet:
        source = hit.get("_source") if isinstance(hit, dict) else None
        if not isinstance(source, dict):
            raise EngineError(f"{self._address} answered a hit without _source; enable it in the index")
        options = self._address.options
        if "field" not in options:
            return Snippet(self._text(source, "document"), self._text(source, "sentence"))
        named = options.get("id")
        name = _lookup(source, named) if named else hit.get("_id")
        return Snippet(
            clean_text(name) or str(name if name is not None else ""), self._text(source, options["field"])
        )

    def _text(self, source: dict[str, Any], field: str) -> str:
        held = _lookup(source, field)
        texts = [clean_text(part) for part in held] if isinstance(held, list) else [clean_text(held)]
        found = [text for text in texts if text is not None]
        if len(found) < len(texts):
            raise EngineError(
                f"{self._address} answered a hit whose field {field!r} is not text in _source ({_kind(held)}); name "
                f"a field that is stored there"
            )
        return "\n".join(found)

    def close(self) -> None:
        """Close the client's connections."""
        self._server.close()


def _is_mapping(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("mappings"), dict)
        and isinstance(entry["mappings"].get("_meta", {}), dict)
    )


def _fields(mapping: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The full names of a mapping's fields, and their types."""
    for part in ("properties", "fields"):
        held = mapping.get(part)
        for name, field in held.items() if isinstance(held, dict) else ():
            if isinstance(field, dict):
                yield before + name, str(field.get("type", "object"))
                yield from _fields(field, f"{before}{name}.")


def _lookup(source: dict[str, Any], field: str) -> Any:
    """The value of a field in a document, which may hold it nested (`a.b`)."""
    return source[field] if field in source else lookup(source, field)


def _kind(value: Any) -> str:
    return "it is missing" if value is None else f"it is of type {type(value).__name__}"


class OpenSearchBuilder:
    """Fills a fresh index and then gives it its name as an alias."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        if "field" in address.options:
            raise UsageError("bagpack engine build names its own fields; remove field= from the URL")
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
        ours = all(
            _is_mapping(entry) and "bagpack" in entry["mappings"].get("_meta", {}) for entry in held.values()
        )
        if not ours:
            raise EngineError(
                f"{self._server.address} was not made by BagPack, so it is not replaced; name another index"
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
        self._server.call("PUT", f"/{self._fresh}/_settings", LOADED)
        self._server.call("POST", f"/{self._fresh}/_refresh")
        name = self._server.index
        # In one request, so that a reader sees the old index or the new one.
        actions: list[dict[str, Any]] = [{"remove_index": {"index": old}} for old in self._old]
        actions.append({"add": {"index": self._fresh, "alias": name}})
        self._server.call("POST", "/_aliases", {"actions": actions})
        self._server.close()

    def abandon(self) -> None:
        """Delete the unfinished index, if the server still listens."""
        with suppress(Exception):  # the first error is the one to report
            self._server.call("DELETE", f"/{self._fresh}")
        self._server.close()


class OpenSearchKind(EngineKind):
    """`opensearch+https://…`, `elasticsearch+https://…`, and both with `+http`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> OpenSearchEngine:
        """Open an index."""
        return OpenSearchEngine(address, timeout, sender)

    def build(self, address: Address, overwrite: bool) -> OpenSearchBuilder:
        """Start to build an index."""
        return OpenSearchBuilder(address, overwrite)

    def native(self, query: Query, address: Address) -> str:
        """The `intervals` query as JSON."""
        return json.dumps(search_query(query, address), ensure_ascii=False)


ENGINE = OpenSearchKind()
