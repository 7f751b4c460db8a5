"""infini-gram's HTTP API. `infinigram+https://HOST/?index=NAME[&max_disp_len=200]`.

The protocol is that of https://api.infini-gram.io/: a POST of JSON with `index`, `query_type` and `query`, an answer
with the results, `latency`, and `error` if there was one. Documents are fetched one by one, so that a query with a
limit of N snippets takes N + 1 requests; counts take one. The server's tokens are not ours: it finds the words near
each other, and the snippets are checked as those of any foreign index are.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from bagpack.engines.backends.memo import Memo
from bagpack.engines.backends.transport import Transport, clean_text, parse_json
from bagpack.engines.base import (
    DIRECT,
    Address,
    Builder,
    BusyError,
    Count,
    EngineError,
    EngineKind,
    Sender,
    Snippet,
    chunks,
)
from bagpack.engines.queries import Query
from bagpack.errors import UsageError

TERMS = 4  # strings that the service takes in one clause
MAX_DIFF_TOKENS = 20  # of the server: six words and their pieces
MAX_CLAUSE_FREQ = 500_000  # the service's maximum; above, it estimates


def clauses(query: Query) -> list[str]:
    """The query in the service's language, in parts of at most `TERMS` strings a clause; OR binds closer than AND.

    The words of a pair in a fixed order: the service does not distinguish them.
    """
    both = sorted(forms for forms in (query.forms1, query.forms2) if forms)
    parts = [[" OR ".join(map(" ".join, chunk)) for chunk in chunks(forms, TERMS)] for forms in both]
    return [" AND ".join(chosen) for chosen in itertools.product(*parts)]


class InfiniGramApi:
    """An index behind the API."""

    name = "infinigram"
    exact = False

    def __init__(self, address: Address, timeout: float) -> None:
        self._address = address
        options = address.options
        if not options.get("index"):
            raise UsageError(
                f"{address} must name an index, as in {address.scheme}://HOST/?index=v4_pileval_llama"
            )
        self._index = options["index"]
        try:
            self._length = int(options.get("max_disp_len", 200))
        except ValueError:
            raise UsageError(
                f"max_disp_len={options['max_disp_len']} is not an integer; correct it in the URL"
            ) from None
        parts = address.parts
        scheme = address.scheme.partition("+")[2]
        self._transport = Transport(f"{scheme}://{parts.netloc.rpartition('@')[2]}", address, timeout)
        self._target = parts.path or "/"
        self.identity = address.shown
        self._memo = Memo()

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """Documents in which the words are near each other, by shard and position.

        The queries of a pair differ in order and gap, which the service does not know: they are asked as one.
        """
        asked = clauses(query)
        return self._memo.get((*sorted(asked), str(limit)), lambda: self._search(asked, limit, sender))

    def _search(self, asked: list[str], limit: int, sender: Sender) -> list[Snippet]:
        found: list[Snippet] = []
        for text in asked:
            places = itertools.islice(self._places(text, sender), limit - len(found))
            found.extend(self._document(text, place, sender) for place in places)
        return found

    def _places(self, text: str, sender: Sender) -> Iterator[dict[str, Any]]:
        """Where the documents are, in the terms of the service."""
        if " OR " not in text and " AND " not in text:
            segments = self._ask("find", text, sender).get("segment_by_shard")
            for shard, segment in enumerate(self._list(segments)):
                start, end = self._numbers(segment)[:2] or (0, 0)
                for rank in range(start, end):
                    yield {"query_type": "get_doc_by_rank", "s": shard, "rank": rank}
            return
        answer = self._ask("find_cnf", text, sender, **self._bounds(text))
        for shard, pointers in enumerate(self._list(answer.get("ptrs_by_shard"))):
            for pointer in sorted(self._numbers(pointers)):
                yield {"query_type": "get_doc_by_ptr", "s": shard, "ptr": pointer}

    def _document(self, text: str, place: dict[str, Any], sender: Sender) -> Snippet:
        place = dict(place)
        answer = self._ask(place.pop("query_type"), text, sender, **place, max_disp_len=self._length)
        spans = answer.get("spans")
        texts = [
            clean_text(span[0]) if isinstance(span, list) and span else None for span in self._list(spans)
        ]
        if None in texts:
            raise self._unexpected("spans")
        name = answer.get("doc_ix")
        return Snippet(f"{self._index}:{name}", "".join(filter(None, texts)))

    def count(self, query: Query, sender: Sender = DIRECT) -> Count:
        """How often a word occurs, or a pair without words between; no document is fetched.

        Counts of phrases are exact; an estimate is marked as the service marks it.
        """
        if query.kind == "word":
            phrases = query.forms1
        elif query.gap == 0:
            phrases = tuple(first + second for first, second in itertools.product(query.forms1, query.forms2))
        else:
            raise UsageError(
                f"{self._address} counts words that touch, or words near each other in either order"
            )
        return self._total(clauses(Query("word", phrases)), sender)

    def together(self, query: Query, sender: Sender = DIRECT) -> Count:
        """How often the words of a pair occur near each other, in either order."""
        return self._total(clauses(query), sender)

    def tokens(self, sender: Sender = DIRECT) -> int:
        """The size of the corpus, in the service's own tokens: the count of an empty query."""
        return self._total([""], sender).occurrences

    def _total(self, texts: list[str], sender: Sender) -> Count:
        total, approximate = 0, False
        for text in texts:
            answer = self._ask("count", text, sender, **self._bounds(text))
            (number,) = self._numbers([answer.get("count")])
            total += number
            approximate |= bool(answer.get("approx"))
        return Count(total, approximate)

    def _bounds(self, text: str) -> dict[str, int]:
        if " AND " not in text and " OR " not in text:
            return {}
        return {"max_clause_freq": MAX_CLAUSE_FREQ, "max_diff_tokens": MAX_DIFF_TOKENS}

    def _ask(self, kind: str, text: str, sender: Sender, **more: int) -> dict[str, Any]:
        payload = json.dumps(
            {"index": self._index, "query_type": kind, "query": text, **more}, ensure_ascii=False
        )
        answer = parse_json(sender.page(payload, lambda: self._send(payload)), self._address)
        assert isinstance(answer, dict)  # `_send` keeps nothing else
        return answer

    def _send(self, payload: str) -> str:
        json_type = "application/json"
        headers = {"content-type": json_type, "accept": json_type, "accept-encoding": "gzip"}
        answer = self._transport.request("POST", self._target, headers, payload.encode())
        if answer.status == 429 or answer.status >= 500:
            raise BusyError(
                f"{self._address} is too busy (status {answer.status}); lower --rate or --connections",
                answer.wait,
            )
        held = parse_json(answer.body, self._address)
        error = held.get("error") if isinstance(held, dict) else "no JSON object"
        if error or answer.status >= 400:
            raise EngineError(
                f"{self._address} could not answer: {self._address.scrub(error or answer.status)[:300]}; check index= "
                f"in the URL"
            )
        return answer.body.decode("utf-8", "replace")

    def _list(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self._unexpected("a list")
        return value

    def _numbers(self, value: Any) -> list[int]:
        found = self._list(value)
        if not all(isinstance(number, int) and 0 <= number < 2**63 for number in found):
            raise self._unexpected("a number")
        return found

    def _unexpected(self, what: str) -> EngineError:
        return EngineError(f"{self._address} answered JSON without {what} where one belongs; check the URL")

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


class InfiniGramApiKind(EngineKind):
    """`infinigram+https://…`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> InfiniGramApi:
        """No request is needed."""
        return InfiniGramApi(address, timeout)

    def build(self, address: Address, overwrite: bool) -> Builder:
        """Not possible."""
        raise UsageError(f"{address} cannot be filled; build an index of your own with infinigram:DIRECTORY")

    def native(self, query: Query, address: Address) -> str:
        """What is sent as `query`."""
        return " ; ".join(clauses(query))

    def requests(self, query: Query, limit: int, address: Address) -> int:
        """Finding, and each document; the queries of a pair are asked as one."""
        if query.kind == "pair" and (query.gap or query.forms1 > query.forms2):
            return 0
        return len(clauses(query)) + limit


ENGINE = InfiniGramApiKind()
