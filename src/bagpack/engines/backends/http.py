"""Search APIs that answer with JSON, each declared in a small TOML file. `api:NAME` or `api:FILE.toml`.

The declarations that come with BagPack are in `declared/`. docs/engines.md describes the fields.
"""

from __future__ import annotations

import html
import itertools
import os
import re
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from bagpack.engines.backends.memo import Memo
from bagpack.engines.backends.transport import Response, Transport, clean_text, lookup, parse_json
from bagpack.engines.base import (
    DIRECT,
    Address,
    Builder,
    BusyError,
    EngineError,
    EngineKind,
    Sender,
    Snippet,
    chunks,
)
from bagpack.errors import InputError, UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Query

_FIELD = re.compile(r"\{(env|option):([A-Za-z_][A-Za-z0-9_]*)\}")
_TAG = re.compile(r"<[^<>]*>")
_BUILT_IN = resources.files(__package__) / "declared"
_KNOWN = {
    "": {"name", "url", "price", "paid", "headers", "query", "paging", "answer", "errors"},
    "query": {"wildcard", "terms"},
    "paging": {"size", "first", "step", "last"},
    "answer": {"hits", "text", "document", "more", "html"},
    "errors": {"busy", "credentials", "message"},
}
_TYPES: dict[Any, tuple[str, ...]] = {
    str: ("name", "url", "hits", "wildcard", "document", "more", "message"),
    int: ("size", "first", "step", "last", "terms"),
    float | int: ("price",),
    bool: ("paid", "html"),
    dict: ("headers",),
    tuple: ("text", "busy", "credentials"),
}


@dataclass(frozen=True)
class Declaration:
    """What a TOML file says about an API."""

    file: str
    name: str
    url: str  # with {query}, {page}, {size}, {env:NAME}, {option:NAME}
    hits: str  # where the list of hits is, such as web.results
    text: tuple[str, ...]  # fields of a hit that hold text
    headers: dict[str, str] = field(default_factory=dict)
    price: float = 0.0  # dollars per request
    paid: bool = False
    wildcard: str = ""  # matches one word inside a phrase; empty: the API has no wildcard
    terms: int = 10  # alternatives in one request
    size: int = 10  # hits per page
    first: int = 0  # {page} of the first page
    step: int = 1
    last: int = 0  # {page} of the last page that the API gives
    document: str = "url"
    more: str = ""  # where the answer says whether there is another page
    html: bool = False
    busy: tuple[int, ...] = (429, 500, 502, 503, 504)
    credentials: tuple[int, ...] = (401, 403)
    message: str = "error"

    def pages(self, limit: int) -> range:
        """The values of {page} for `limit` hits."""
        wanted = -(-limit // self.size)
        return range(self.first, min(self.first + wanted * self.step, self.last + 1), self.step)


def read_declaration(address: Address) -> Declaration:
    """The declaration that a URL names; an error names the file and the field."""
    name = address.path.partition("?")[0]
    own = name.endswith(".toml")
    try:
        return _read(name, own, os.stat(name).st_mtime_ns if own else 0)
    except (OSError, UnicodeError):
        raise UsageError(
            f"there is no search API {name!r}; name one of {', '.join(declared())}, or a file such as my-api.toml"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}; correct it") from None


@lru_cache(maxsize=8)
def _read(name: str, own: bool, changed: int) -> Declaration:
    file = Path(name) if own else _BUILT_IN / f"{Path(name).name}.toml"
    return _declaration(name, tomllib.loads(file.read_text(encoding="utf-8")))


def declared() -> list[str]:
    """The names of the declarations that come with BagPack."""
    return sorted(file.name.removesuffix(".toml") for file in _BUILT_IN.iterdir())


def _declaration(file: str, found: dict[str, Any]) -> Declaration:
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if name not in _KNOWN[""]:
            raise InputError(
                f"{file} has the unknown field {name!r}; known are {', '.join(sorted(_KNOWN['']))}"
            )
        if name in _KNOWN:
            if not isinstance(value, dict):
                raise InputError(
                    f"{file}: {name} is {value!r}, which is not a table; begin one with [{name}]"
                )
            for inner, held in value.items():
                if inner not in _KNOWN[name]:
                    known = ", ".join(sorted(_KNOWN[name]))
                    raise InputError(f"{file} has the unknown field {inner!r} in [{name}]; known are {known}")
                flat[inner] = tuple(held) if isinstance(held, list) else held
        else:
            flat[name] = value
    flat["text"] = (flat["text"],) if isinstance(flat.get("text"), str) else flat.get("text", ())
    for needed in ("name", "url", "hits", "text"):
        if not flat.get(needed):
            raise InputError(f"{file} does not say {needed!r}; docs/engines.md describes the fields")
    for kind, names in _TYPES.items():
        for name in names:
            if name in flat and not isinstance(flat[name], kind):
                raise InputError(f"{file}: {name} is {flat[name]!r}, which is of the wrong type; correct it")
    if flat.get("size", 1) < 1 or flat.get("step", 1) < 1 or flat.get("terms", 1) < 1:
        raise InputError(f"{file}: size, step and terms must be at least 1; correct them")
    if "{query}" not in flat["url"]:
        raise InputError(f"{file}: url does not hold {{query}}; put it where the query belongs")
    return Declaration(file=file, **flat)


class SearchApi:
    """A declared API."""

    exact = False

    def __init__(self, address: Address, timeout: float) -> None:
        self._address = address
        self._declared = read_declaration(address)
        self.name = self._declared.name
        self._secrets: list[str] = []
        self._headers = {name: self._filled(value) for name, value in self._declared.headers.items()}
        self._url = self._filled(self._declared.url)
        base = urlsplit(self._url)
        if base.scheme not in ("http", "https"):
            raise InputError(
                f"{self._declared.file}: url does not begin with http:// or https://; correct it"
            )
        self._transport = Transport(f"{base.scheme}://{base.netloc}", address, timeout)
        self.identity = address.shown
        self._memo = Memo()

    def _filled(self, template: str) -> str:
        """A template with what comes from the environment and from the URL's options."""

        def value(found: re.Match[str]) -> str:
            source, name = found.groups()
            held = os.environ.get(name) if source == "env" else self._address.options.get(name)
            if held is None:
                where = (
                    f"set the environment variable {name}" if source == "env" else f"add ?{name}=… to the URL"
                )
                raise UsageError(f"{self._declared.name} needs {name}; {where}")
            if source == "env":
                held = held.strip()
                self._secrets.append(held)
            return held

        return _FIELD.sub(value, template)

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """Page after page, until there are enough hits or no more."""
        asked = written(query, self._declared)
        return self._memo.get((*asked, limit), lambda: self._search(asked, limit, sender))

    def _search(self, asked: list[str], limit: int, sender: Sender) -> list[Snippet]:
        found: list[Snippet] = []
        for text in asked:
            for page in self._declared.pages(limit - len(found)):
                hits, more = self._page(text, page, sender)
                found += hits
                if not more or len(found) >= limit:
                    break
            if len(found) >= limit:
                break
        return found[:limit]

    def _page(self, text: str, page: int, sender: Sender) -> tuple[list[Snippet], bool]:
        declared = self._declared
        url = self._url.replace("{query}", quote(text, safe="")).replace("{page}", str(page))
        url = url.replace("{size}", str(declared.size))
        parts = urlsplit(url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        answer = parse_json(sender.page(f"{text}\0{page}", lambda: self._send(target)), self._address)
        hits = lookup(answer, declared.hits)
        if hits is None:
            return [], False  # most APIs omit the list where nothing was found
        if not isinstance(hits, list):
            raise EngineError(
                f"{self._address}: {declared.name} answered JSON without a list in {declared.hits!r}; correct "
                f"answer.hits in {declared.file}"
            )
        snippets = [self._snippet(hit) for hit in hits]
        more = lookup(answer, declared.more) if declared.more else len(hits) > 0
        return snippets, bool(more) and bool(hits)

    def _snippet(self, hit: Any) -> Snippet:
        declared = self._declared
        texts = []
        for name in declared.text:
            held = lookup(hit, name)
            texts += held if isinstance(held, list) else [held]
        cleaned = [clean_text(text) for text in texts if text is not None]
        if not cleaned or None in cleaned:
            raise EngineError(
                f"{self._address}: {declared.name} answered a hit without text in {', '.join(declared.text)}; correct "
                f"answer.text in {declared.file}"
            )
        lines = [html.unescape(_TAG.sub("", text)) if declared.html else text for text in cleaned if text]
        return Snippet(clean_text(lookup(hit, declared.document)) or "", "\n".join(lines))

    def _send(self, target: str) -> str:
        headers = {"accept": "application/json", "accept-encoding": "gzip", **self._headers}
        answer = self._transport.request("GET", target, headers)
        if answer.status >= 300:
            raise self._refused(answer)
        held = parse_json(answer.body, self._address)
        if not isinstance(held, dict):
            raise EngineError(
                f"{self._address}: {self.name} answered JSON that is not an object; check its declaration"
            )
        return answer.body.decode("utf-8-sig", "replace")

    def _refused(self, answer: Response) -> EngineError:
        declared, status = self._declared, answer.status
        try:
            held = lookup(parse_json(answer.body, self._address), declared.message)
        except EngineError:
            held = None
        detail = f": {self._scrubbed(held)}" if held else ""
        if status in declared.busy:
            return BusyError(
                f"{self._address}: {declared.name} is too busy (status {status}){detail}", answer.wait
            )
        if status in declared.credentials:
            return EngineError(
                f"{self._address}: {declared.name} refused the request (status {status}){detail}; check the key and "
                f"its quota"
            )
        return EngineError(f"{self._address}: {declared.name} could not answer (status {status}){detail}")

    def _scrubbed(self, text: object) -> str:
        message = self._address.scrub(text)
        for secret in filter(None, self._secrets):
            message = message.replace(secret, "***")
        return message[:200]

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def written(query: Query, declared: Declaration) -> list[str]:
    """The query as the API takes it, in parts of at most `terms` alternatives."""
    if query.kind == "word":
        alternatives = [f'"{" ".join(form)}"' for form in query.forms1]
    elif declared.wildcard:
        gap = [declared.wildcard] * query.gap
        products = itertools.product(query.forms1, query.forms2)
        alternatives = [f'"{" ".join([*first, *gap, *second])}"' for first, second in products]
    else:  # the words in one text, in any order
        one, two = sorted((query.forms1, query.forms2))
        products = itertools.product(one, two)
        alternatives = [f'("{" ".join(first)}" "{" ".join(second)}")' for first, second in products]
    return [" OR ".join(chunk) for chunk in chunks(alternatives, declared.terms)]


class SearchApiKind(EngineKind):
    """`api:NAME`."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> SearchApi:
        """No request is needed."""
        return SearchApi(address, timeout)

    def build(self, address: Address, overwrite: bool) -> Builder:
        """Not possible."""
        raise UsageError(f"{address} cannot be filled: the index belongs to someone else")

    def native(self, query: Query, address: Address) -> str:
        """What is sent as {query}."""
        return " ; ".join(written(query, read_declaration(address)))

    def requests(self, query: Query, limit: int, address: Address) -> int:
        """At most: all pages of all parts. Without wildcards the queries of a pair are asked as one."""
        declared = read_declaration(address)
        if query.kind == "pair" and not declared.wildcard and (query.gap or query.forms1 > query.forms2):
            return 0
        return len(written(query, declared)) * len(declared.pages(limit))

    def price(self, address: Address) -> float:
        """Dollars per request."""
        return float(read_declaration(address).price)

    def paid(self, address: Address) -> bool:
        """Whether the declaration says so."""
        return read_declaration(address).paid


ENGINE = SearchApiKind()
