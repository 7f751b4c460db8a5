"""Search APIs that answer with JSON, each declared in a small TOML file. `api:NAME` or `api:FILE.toml`.

The declarations that come with BagPack are in `declared/`. docs/engines.md describes the fields.
"""

from __future__ import annotations

import html
import itertools
import os
import re
import tomllib
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from bagpack.engines.base import Address, Snippet, chunks
from bagpack.engines.http import HttpEngine, clean_text, clean_texts, lookup
from bagpack.errors import InputError, UsageError

if TYPE_CHECKING:
    from bagpack.engines.queries import Query

_FIELD = re.compile(r"\{(env|option):([A-Za-z_][A-Za-z0-9_]*)\}")
_TAG = re.compile(r"<[^<>]*>")
_BUILT_IN = resources.files(__package__) / "declared"
NEEDED = ("name", "url", "hits", "text")


@dataclass(frozen=True)
class Declaration:
    """What a TOML file says about an API. The types are those of the default values."""

    name: str = ""
    url: str = ""  # with {query}, {page}, {size}, {env:NAME}, {option:NAME}
    hits: str = ""  # where the list of hits is, such as web.results
    text: list[str] = field(default_factory=list)  # fields of a hit that hold text
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

    def problem(self) -> str:
        """What is wrong with the values; empty if nothing is."""
        for entry in fields(self):
            value = getattr(self, entry.name)
            kind = type(getattr(_DEFAULTS, entry.name))
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if type(value) is not kind or not all(isinstance(part, str) for part in inner):
                return f"has {entry.name} = {value!r}, which is of the wrong type"
        if missing := [name for name in NEEDED if not getattr(self, name)]:
            return f"does not say {missing[0]!r}"
        if min(self.size, self.step, self.terms) < 1:
            return "must have a size, step and terms of at least 1"
        return "" if "{query}" in self.url else "has a url without {query}"

    def pages(self, limit: int) -> range:
        """The values of {page} for `limit` hits."""
        wanted = -(-limit // self.size)
        return range(self.first, min(self.first + wanted * self.step, self.last + 1), self.step)

    def written(self, query: Query) -> list[str]:
        """The query as the API takes it, in parts of at most `terms` alternatives."""
        if query.kind == "word":
            alternatives = [f'"{" ".join(form)}"' for form in query.forms1]
        elif self.wildcard:
            gap = [self.wildcard] * query.gap
            products = itertools.product(query.forms1, query.forms2)
            alternatives = [f'"{" ".join([*first, *gap, *second])}"' for first, second in products]
        else:  # the words in one text, in any order
            one, two = sorted((query.forms1, query.forms2))
            products = itertools.product(one, two)
            alternatives = [f'("{" ".join(first)}" "{" ".join(second)}")' for first, second in products]
        return [" OR ".join(chunk) for chunk in chunks(alternatives, self.terms)]


_DEFAULTS = Declaration()


def read_declaration(address: Address) -> Declaration:
    """The declaration that a URL names; tables such as [paging] only group the fields."""
    name = address.path.partition("?")[0]
    file = Path(name) if name.endswith(".toml") else _BUILT_IN / f"{Path(name).name}.toml"
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeError):
        known = ", ".join(sorted(file.name.removesuffix(".toml") for file in _BUILT_IN.iterdir()))
        raise UsageError(
            f"there is no search API {name!r}; name one of {known}, or a file such as my-api.toml"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}; correct it") from None
    flat: dict[str, Any] = {}
    for key, value in found.items():
        flat.update(value if isinstance(value, dict) and key != "headers" else {key: value})
    if isinstance(flat.get("text"), str):
        flat["text"] = [flat["text"]]
    if isinstance(flat.get("price"), int):
        flat["price"] = float(flat["price"])
    unknown = sorted(set(flat) - {entry.name for entry in fields(Declaration)})
    problem = f"has the unknown field {unknown[0]!r}" if unknown else Declaration(**flat).problem()
    if problem:
        raise InputError(f"{name} {problem}; docs/engines.md describes the fields")
    return Declaration(**flat)


class SearchApi(HttpEngine):
    credentials = "check the key and its quota"

    def __init__(self, address: Address, timeout: float = 30.0) -> None:
        super().__init__(address, timeout)
        self.declared = read_declaration(address)
        self.paid, self.price = self.declared.paid, self.declared.price

    def open(self) -> None:
        """Fill in what comes from the environment and from the URL's options; no request is needed."""
        secrets: list[str] = []

        def value(found: re.Match[str]) -> str:
            env, name = found.group(1) == "env", found.group(2)
            held = os.environ.get(name) if env else self.address.options.get(name)
            if held is None:
                fix = f"set the environment variable {name}" if env else f"add ?{name}=… to the URL"
                raise UsageError(f"{self.declared.name} needs {name}; {fix}")
            secrets.extend([held.strip()] if env else [])
            return held.strip()

        headers = {name: _FIELD.sub(value, text) for name, text in self.declared.headers.items()}
        self._url = _FIELD.sub(value, self.declared.url)
        base = urlsplit(self._url)
        if base.scheme not in ("http", "https"):
            raise InputError(f"{self.address}: url does not begin with http:// or https://; correct it")
        self.start(f"{base.scheme}://{base.netloc}", headers, secrets)

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """Page after page, until there are enough hits or no more."""
        found: list[Snippet] = []
        for text in self.declared.written(query):
            for page in self.declared.pages(limit - len(found)):
                hits, more = self._page(text, page)
                found += hits
                if not more or len(found) >= limit:
                    break
        return found[:limit]

    def _page(self, text: str, page: int) -> tuple[list[Snippet], bool]:
        declared = self.declared
        url = self._url.replace("{query}", quote(text, safe="")).replace("{page}", str(page))
        target = urlsplit(url.replace("{size}", str(declared.size)))._replace(scheme="", netloc="").geturl()
        asked = f"{declared.url}\0{text}\0{page}\0{declared.size}"  # the template holds no key
        answer = self.request("GET", target or "/", asked=asked)
        hits = lookup(answer, declared.hits)
        if hits is None:
            return [], False  # most APIs omit the list where nothing was found
        if not isinstance(hits, list):
            raise self.unexpected(f"no list in {declared.hits!r}, which the declaration names as its hits")
        more = lookup(answer, declared.more) if declared.more else True
        return [self._snippet(hit) for hit in hits], bool(more) and bool(hits)

    def _snippet(self, hit: Any) -> Snippet:
        declared = self.declared
        held = [lookup(hit, name) for name in declared.text]
        texts = [clean_texts(value) for value in held if value is not None]
        if not texts or None in texts:
            raise self.unexpected(f"a hit without text in {', '.join(declared.text)}")
        lines = [text for own in texts for text in own or ()]
        if declared.html:
            lines = [html.unescape(_TAG.sub("", text)) for text in lines]
        return Snippet(clean_text(lookup(hit, declared.document)) or "", "\n".join(lines))

    def most_requests(self, query: Query, limit: int) -> int:
        """All pages of all parts. Without wildcards the queries of a pair are asked as one."""
        if query.is_repeated and not self.declared.wildcard:
            return 0
        return len(self.declared.written(query)) * len(self.declared.pages(limit))
