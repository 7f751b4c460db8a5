"""OpenSearch and Elasticsearch: `intervals` queries over HTTP.

`opensearch+https://[USER:PASSWORD@]HOST:PORT/INDEX`, likewise `elasticsearch+https://…` (or `+http`). By default the
index is one that `bagpack engine build` filled, a document per sentence. In an index of the user's own, `field`
names the text field to search and to read. User and password may also come from BAGPACK_ENGINE_USER and
BAGPACK_ENGINE_PASSWORD, an API key of Elasticsearch from BAGPACK_ENGINE_API_KEY.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bagpack.engines.base import Address, BusyError, EngineError, Snippet
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.engines.http import HttpEngine, RefusedError, clean_text, clean_texts, lookup
from bagpack.engines.sentences import index_word, index_words
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query

FORMAT_VERSION = 1
MOST_HITS = 10_000  # index.max_result_window, as servers are delivered
BULK = 2_000  # documents in one request
BULK_TIMEOUT = 120.0
BULK_RETRIES = 8
SETTINGS = {
    "analysis": {"analyzer": {"bagpack": {"type": "custom", "tokenizer": "whitespace"}}},
    "index": {"refresh_interval": "-1"},  # it is refreshed once, when it is full
}
FIELDS = {
    "number": {"type": "long"},
    "document": {"type": "keyword", "index": False, "doc_values": False},
    "sentence": {"type": "text", "index": False},
    "words": {"type": "text", "analyzer": "bagpack", "norms": False},
}


def intervals(query: Query) -> dict[str, Any]:
    """The `intervals` rule: `any_of` forms, both words `all_of` in order, exactly `gap` positions between."""

    def any_of(forms: tuple[Form, ...]) -> dict[str, Any]:
        written = [" ".join(map(index_word, form)) for form in forms]
        rules = [{"match": {"query": text, "ordered": True, "max_gaps": 0}} for text in written]
        return {"any_of": {"intervals": rules}}

    if query.kind == "word":
        return any_of(query.forms1)
    both = [any_of(query.forms1), any_of(query.forms2)]
    rule: dict[str, Any] = {"ordered": True, "max_gaps": query.gap, "intervals": both}
    if query.gap:
        rule["filter"] = {"script": {"source": f"interval.gaps == {query.gap:d}"}}
    return {"all_of": rule}


class OpenSearch(HttpEngine):
    """An index on a server."""

    credentials = "set BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD, or put them into the URL"

    def __init__(self, address: Address, timeout: float = 30.0) -> None:
        super().__init__(address, timeout)
        self._field = address.options.get("field")  # of an index that is not ours

    def _start(self) -> None:
        address, parts = self.address, self.address.parts
        self._index = name = parts.path.strip("/")
        if not name or any(letter in name for letter in '/*?"<>| ,#\\') or name[0] in "_-+":
            raise UsageError(
                f"{address} must end in the name of one index, as in {address.scheme}://localhost:9200/docs"
            )
        protocol = address.scheme.partition("+")[2]
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "localhost"
        port = parts.port or (443 if protocol == "https" else 9200)
        key, user, password = (
            os.environ.get(f"BAGPACK_ENGINE_{n}", "") for n in ("API_KEY", "USER", "PASSWORD")
        )
        user, own = unquote(parts.username or "") or user, unquote(parts.password or "") or password
        headers = {}
        if key and address.scheme.startswith("elasticsearch"):
            headers["authorization"] = f"ApiKey {key}"
        elif user:
            encoded = base64.b64encode(f"{user}:{own}".encode()).decode()
            headers["authorization"] = f"Basic {encoded}"
        self.start(f"{protocol}://{host}:{port}", headers, [password, key])

    def _call(self, method: str, path: str, body: Any = None) -> str:
        return self.send(method, path, None if body is None else json.dumps(body))

    def _mappings(self) -> dict[str, dict[str, Any]]:
        """The mappings of each index that has the name; none if there is none."""
        try:
            found = self.request("GET", f"/{self._index}/_mapping")
        except RefusedError as error:
            if error.status == 404:
                return {}
            raise
        mappings = {name: lookup(entry, "mappings") for name, entry in found.items()}
        if not mappings or not all(isinstance(mapping, dict) for mapping in mappings.values()):
            raise self.unexpected("JSON without an index mapping")
        return mappings

    def open(self) -> None:
        """Look at the index's mapping: whether it is ours, or has the field that the URL names."""
        self._start()
        found = list(self._mappings().values())
        if not found:
            fix = "correct its name, or fill one with bagpack engine build"
            raise self.failure(f"has no index {self._index!r}; {fix}")
        if self._field is not None:
            # Servers answer nothing, without an error, where a field does not exist.
            if not any(_has_field(mapping, self._field) for mapping in found):
                raise self.failure(f"has no field {self._field!r}; correct field= in the URL")
            return
        facts = lookup(found[0], "_meta.bagpack") if len(found) == 1 else None
        if not isinstance(facts, dict):
            raise UsageError(
                f"{self.address} was not filled by bagpack engine build; name the field that holds its text "
                f"({self.address.shown}?field=…)"
            )
        if facts.get("format_version") != FORMAT_VERSION:
            version = facts.get("format_version")
            raise self.failure(f"has format version {version}, not {FORMAT_VERSION}; build it again")
        self.exact = True
        self.identity = f"{self.address.scheme.partition('+')[0]}:{facts.get('build')}"

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first documents, by number in an index of ours."""
        if limit > MOST_HITS:
            raise UsageError(
                f"the server gives at most {MOST_HITS:,} snippets a query; lower --limit {limit}"
            )
        body = {
            "size": limit,
            "track_total_hits": False,
            # In a foreign index the index order, which `preference` keeps the same from search to search.
            "sort": [{"_doc" if self._field else "number": "asc"}],
            "_source": [self._field] if self._field else ["document", "sentence"],
            "query": {"intervals": {self._field or "words": intervals(query)}},
        }
        path, text = f"/{self._index}/_search?preference=bagpack", json.dumps(body)
        hits = lookup(self.request("POST", path, text, text, self._check_shards), "hits.hits")
        if not isinstance(hits, list):
            raise self.unexpected("JSON without search results")
        if len(hits) > limit:
            raise self.unexpected(f"{len(hits):,} hits where at most {limit:,} were asked for")
        return list(map(self._snippet, hits))

    def _check_shards(self, answer: dict[str, Any]) -> None:
        if answer.get("timed_out") or lookup(answer, "_shards.failed"):
            raise BusyError(f"{self.address} answered from a part of its shards only; try again later")

    def _snippet(self, hit: Any) -> Snippet:
        source = lookup(hit, "_source")
        if not isinstance(source, dict):
            raise self.failure("answered a hit without _source; enable it in the index")
        if self._field is None:
            return Snippet(self._text(source, "document"), self._text(source, "sentence"))
        return Snippet(clean_text(str(hit.get("_id", ""))) or "", self._text(source, self._field))

    def _text(self, source: dict[str, Any], name: str) -> str:
        texts = clean_texts(source[name] if name in source else lookup(source, name))
        if texts is None:
            raise self.failure(
                f"answered a hit whose field {name!r} is not text in _source; name another field"
            )
        return "\n".join(texts)

    def fill(self, sentences: Iterable[tuple[str, str]], overwrite: bool) -> None:
        """Fill a fresh index, and then give it its name as an alias."""
        if self._field is not None:
            raise UsageError("bagpack engine build names its own fields; remove field= from the URL")
        self.timeout = BULK_TIMEOUT
        self.requests = Requests(None, self.address.shown, RequestPolicy(retries=BULK_RETRIES), BULK_TIMEOUT)
        self._start()
        try:
            old = self._mappings()
            if not all(lookup(mapping, "_meta.bagpack") for mapping in old.values()):
                raise self.failure("was not made by BagPack, so it is not replaced; name another index")
            if old and not overwrite:
                raise self.failure("exists already; --overwrite it, or name another index")
            self._replace(old, sentences)
        finally:
            self.close()

    def _replace(self, old: Iterable[str], sentences: Iterable[tuple[str, str]]) -> None:
        build = uuid.uuid4().hex
        fresh = f"{self._index}-{build[:12]}"
        meta = {"bagpack": {"format_version": FORMAT_VERSION, "build": build}}
        mapping = {"dynamic": "strict", "_meta": meta, "properties": FIELDS}
        self._call("PUT", f"/{fresh}", {"settings": SETTINGS, "mappings": mapping})
        try:
            numbered = enumerate(sentences)
            while part := list(itertools.islice(numbered, BULK)):
                self._bulk(fresh, part)
            self._call("POST", f"/{fresh}/_refresh")
            # In one request, so that a reader sees the old index or the new one.
            actions: list[dict[str, Any]] = [{"remove_index": {"index": name}} for name in old]
            actions.append({"add": {"index": fresh, "alias": self._index}})
            self._call("POST", "/_aliases", {"actions": actions})
        except BaseException:
            with suppress(EngineError):  # the first error is the one to report
                self._call("DELETE", f"/{fresh}")
            raise

    def _bulk(self, index: str, part: Iterable[tuple[int, tuple[str, str]]]) -> None:
        """Index documents. They have ids, so that none is indexed twice if the request is repeated."""
        lines: list[dict[str, Any]] = []
        for number, (document, marked) in part:
            lines.append({"index": {"_index": index, "_id": str(number)}})
            words = " ".join(index_words(marked))
            lines.append({"number": number, "document": document, "sentence": marked, "words": words})
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        self.request("POST", "/_bulk", text, check=self._check_bulk)

    def _check_bulk(self, answer: dict[str, Any]) -> None:
        items = answer.get("items")
        if not isinstance(items, list):
            raise self.unexpected("JSON without the result of a bulk request")
        results = [(lookup(item, "index.status"), lookup(item, "index.error")) for item in items]
        for status, error in results:
            if status not in (200, 201, 429):
                reason = self.address.scrub(lookup(error, "reason") or error or status)[:300]
                raise self.failure(f"could not index a sentence: {reason}; run the command again")
        if any(status == 429 for status, _ in results):
            raise BusyError(f"{self.address} is too busy to index everything; try again later")


def _has_field(mapping: Any, name: str) -> bool:
    first, _, rest = name.partition(".")
    entries = [lookup(mapping, f"{part}.{first}") for part in ("properties", "fields")]
    return any(isinstance(entry, dict) and (not rest or _has_field(entry, rest)) for entry in entries)


ENGINE = OpenSearch
