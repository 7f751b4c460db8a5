"""infini-gram's HTTP API. `infinigram+https://HOST/?index=NAME`.

The protocol is that of https://api.infini-gram.io/: a POST of JSON with `index`, `query_type` and `query`, an answer
with the results, `latency`, and `error` if there was one. Documents are fetched one by one, so that a query with a
limit of N snippets takes N + 1 requests. The server's tokens are not ours: it finds the words near each other, and the
snippets are checked as those of any foreign index are.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bagpack.engines.base import Snippet, chunks
from bagpack.engines.http import HttpEngine, clean_text
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Query

TERMS = 4  # strings that the service takes in one clause
# max_clause_freq is the service's maximum (above, it looks at a part of the occurrences); max_diff_tokens are tokens of
# the server: six words and their pieces.
NEAR = {"max_clause_freq": 500_000, "max_diff_tokens": 20}
MAX_DISP_LEN = 200  # tokens of a document around a match


def clauses(query: Query) -> list[str]:
    """The query in the service's language, in parts of at most `TERMS` strings a clause; OR binds closer than AND.

    The words of a pair in a fixed order: the service does not distinguish them, so its queries are asked as one.
    """
    both = sorted(forms for forms in (query.forms1, query.forms2) if forms)
    parts = [[" OR ".join(map(" ".join, chunk)) for chunk in chunks(forms, TERMS)] for forms in both]
    return [" AND ".join(chosen) for chosen in itertools.product(*parts)]


class InfiniGram(HttpEngine):
    def open(self) -> None:
        """Check the URL; no request is needed."""
        self._index = self.address.options.get("index", "")
        if not self._index:
            raise UsageError(
                f"{self.address} must name an index, as in {self.address.scheme}://HOST/?index=v4_pileval_llama"
            )
        self.start(f"{self.address.scheme.partition('+')[2]}://{self.address.parts.netloc}")

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """Documents in which the words are near each other, by shard and position."""
        found: list[Snippet] = []
        for text in clauses(query):
            places = itertools.islice(self._places(text), limit - len(found))
            found.extend(self._document(text, *place) for place in places)
        return found

    def _places(self, text: str) -> Iterator[tuple[str, dict[str, int]]]:
        """Where the documents are, in the terms of the service."""
        if " OR " not in text and " AND " not in text:
            for shard, segment in enumerate(self._list(self._post("find", text).get("segment_by_shard"))):
                for rank in range(*(*self._numbers(segment), 0, 0)[:2]):
                    yield "get_doc_by_rank", {"s": shard, "rank": rank}
            return
        found = self._post("find_cnf", text, **NEAR).get("ptrs_by_shard")
        for shard, pointers in enumerate(self._list(found)):
            for pointer in sorted(self._numbers(pointers)):
                yield "get_doc_by_ptr", {"s": shard, "ptr": pointer}

    def _document(self, text: str, kind: str, place: dict[str, int]) -> Snippet:
        answer = self._post(kind, text, **place, max_disp_len=MAX_DISP_LEN)
        spans = self._list(answer.get("spans"))
        texts = [clean_text(span[0]) if isinstance(span, list) and span else None for span in spans]
        if None in texts:
            raise self.unexpected("JSON without spans")
        return Snippet(f"{self._index}:{answer.get('doc_ix')}", "".join(filter(None, texts)))

    def _post(self, kind: str, text: str, **more: int) -> dict[str, Any]:
        request = {"index": self._index, "query_type": kind, "query": text, **more}
        payload = json.dumps(request, ensure_ascii=False)
        return self.request("POST", self.address.parts.path or "/", payload, payload, self._check)

    def _check(self, answer: dict[str, Any]) -> None:
        if error := answer.get("error"):
            reason = self.address.scrub(error)[:300]
            raise self.failure(f"could not answer: {reason}; check index= in the URL")

    def most_requests(self, query: Query, limit: int) -> int:
        """Finding, and each document; the queries of a pair are asked as one."""
        return 0 if query.is_repeated else len(clauses(query)) + limit

    def _list(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.unexpected("JSON without a list where one belongs")
        return value

    def _numbers(self, value: Any) -> list[int]:
        found = self._list(value)
        if not all(isinstance(number, int) and 0 <= number < 2**63 for number in found):
            raise self.unexpected("JSON without a number where one belongs")
        return found
