"""OpenSearch and Elasticsearch: `intervals` queries over HTTP, in an index of the user's own.

`opensearch+https://[USER:PASSWORD@]HOST:PORT/INDEX?field=NAME`, or `elasticsearch+https://…` (both also with `+http`);
`field` is the text field to search and to read. User and password may also come from BAGPACK_ENGINE_USER and
BAGPACK_ENGINE_PASSWORD, an API key of Elasticsearch from BAGPACK_ENGINE_API_KEY.
"""

from __future__ import annotations

import base64
import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bagpack.engines.base import BusyError, Snippet
from bagpack.engines.http import HttpEngine, RefusedError, clean_text, clean_texts, lookup
from bagpack.engines.sentences import index_word
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Form, Query


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
    credentials = "set BAGPACK_ENGINE_USER and BAGPACK_ENGINE_PASSWORD, or put them into the URL"

    def open(self) -> None:
        """Check that the index has the field: servers answer nothing, without an error, where there is none."""
        address, parts = self.address, self.address.parts
        self._index, self._field = parts.path.strip("/"), address.options.get("field", "")
        wrong = not self._index or any(letter in self._index for letter in '/*?"<>| ,#\\')
        if wrong or self._index[0] in "_-+" or not self._field:
            raise UsageError(
                f"{address} must name one index and the field that holds its text, as in "
                f"{address.scheme}://localhost:9200/docs?field=body"
            )
        protocol = address.scheme.partition("+")[2]
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or "localhost"
        port = parts.port or (443 if protocol == "https" else 9200)
        key, user, password = (
            os.environ.get(f"BAGPACK_ENGINE_{n}", "") for n in ("API_KEY", "USER", "PASSWORD")
        )
        user, own = unquote(parts.username or "") or user, unquote(parts.password or "") or password
        headers, encoded = {}, base64.b64encode(f"{user}:{own}".encode()).decode()
        if key and address.scheme.startswith("elasticsearch"):
            headers["authorization"] = f"ApiKey {key}"
        elif user:
            headers["authorization"] = f"Basic {encoded}"
        self.start(f"{protocol}://{host}:{port}", headers, [password, key, encoded])
        try:
            found = self.request("GET", f"/{self._index}/_mapping")
        except RefusedError as error:
            if error.status == 404:
                raise self.failure(f"has no index {self._index!r}; correct its name") from None
            raise
        if not any(_has_field(lookup(entry, "mappings"), self._field) for entry in found.values()):
            raise self.failure(f"has no field {self._field!r}; correct field= in the URL")

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first documents in the index order, which `preference` keeps the same from search to search."""
        body = {
            "size": limit,
            "track_total_hits": False,
            "sort": [{"_doc": "asc"}],
            "_source": [self._field],
            "query": {"intervals": {self._field: intervals(query)}},
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
        name, source = self._field, lookup(hit, "_source")
        if not isinstance(source, dict):
            raise self.failure("answered a hit without _source; enable it in the index")
        texts = clean_texts(source[name] if name in source else lookup(source, name))
        if texts is None:
            raise self.failure(
                f"answered a hit whose field {name!r} is not text in _source; name another field"
            )
        return Snippet(clean_text(str(hit.get("_id", ""))) or "", "\n".join(texts))


def _has_field(mapping: Any, name: str) -> bool:
    first, _, rest = name.partition(".")
    entries = [lookup(mapping, f"{part}.{first}") for part in ("properties", "fields")]
    return any(isinstance(entry, dict) and (not rest or _has_field(entry, rest)) for entry in entries)
