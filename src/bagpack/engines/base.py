"""What a search engine has to offer, and how one is found by its URL.

An engine is a small class in a file of its own; another package adds one through the entry-point group
`bagpack.engines`, whose name is the URL scheme and whose value is an `EngineKind`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from bagpack.errors import BagpackError, UsageError, did_you_mean

if TYPE_CHECKING:
    from bagpack.engines.queries import Query

BUILT_IN = {
    "tantivy": "tantivy",
    "infinigram": "infinigram",
    "infinigram+http": "infinigram_http",
    "infinigram+https": "infinigram_http",
    "api": "http",
    "postgresql": "postgres",
    "postgres": "postgres",
    "opensearch+http": "opensearch",
    "opensearch+https": "opensearch",
    "elasticsearch+http": "opensearch",
    "elasticsearch+https": "opensearch",
}
HIDDEN = "***"
T = TypeVar("T")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_SECRET = re.compile(r"pass|secret|token|key|user|credential", re.IGNORECASE)


class EngineError(BagpackError):
    """An engine could not answer; the message says what to do."""


class BusyError(EngineError):
    """The engine may answer if it is asked again later (429, 5xx, a time-out, a broken connection)."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait  # seconds that the engine asked for


class Snippet(NamedTuple):
    """A sentence (or window) that a query found."""

    document: str
    text: str


class Count(NamedTuple):
    """How often a query occurs, and whether the engine says that this is an estimate."""

    occurrences: int
    approximate: bool


class Sender(Protocol):
    """Sends an engine's requests: counted, paced, and repeated if the engine was busy."""

    def send(self, request: Callable[[], T]) -> T:
        """Call `request`, which sends one request; again later if it raises `BusyError`."""

    def page(self, name: str, request: Callable[[], str]) -> str:
        """Like `send`; the text of a page is kept until the whole answer is there."""


class Direct:
    """Sends every request once."""

    def send(self, request: Callable[[], T]) -> T:
        """Call it."""
        return request()

    def page(self, name: str, request: Callable[[], str]) -> str:
        """Call it."""
        return request()


DIRECT = Direct()


class Engine(Protocol):
    """An open engine. `search` is called from several threads at once.

    Every request goes through the `sender`, one call of `send` per request.

    `exact` says that BagPack filled the index: it holds our tokens, so gaps count what the corpus counts, and the
    text of a snippet is marked (`bagpack.engines.words`). Where it is false, snippets are plain text.
    """

    name: str
    identity: str  # engine and index, without credentials: what the cache knows it by
    exact: bool

    def search(self, query: Query, limit: int, sender: Sender = DIRECT) -> list[Snippet]:
        """The first `limit` snippets in the engine's fixed order."""

    def close(self) -> None:
        """Close connections and files."""


class Builder(Protocol):
    """Fills an index; nothing is visible under its name before `finish`."""

    def add(self, document: str, marked: str) -> None:
        """One sentence, as marked text."""

    def finish(self) -> None:
        """Complete the index and give it its final name."""

    def abandon(self) -> None:
        """Remove the unfinished index."""


class EngineKind(Protocol):
    """The object that an entry point names. Subclass it; requests and prices have defaults."""

    def connect(self, address: Address, timeout: float, sender: Sender) -> Engine:
        """Open an index, or raise `EngineError`."""

    def build(self, address: Address, overwrite: bool) -> Builder:
        """Start to build an index."""

    def native(self, query: Query, address: Address) -> str:
        """The query in the engine's own language, without a connection."""

    def requests(self, query: Query, limit: int, address: Address) -> int:
        """How many requests a query takes at most."""
        return 1

    def price(self, address: Address) -> float:
        """Dollars per request."""
        return 0.0

    def paid(self, address: Address) -> bool:
        """Whether requests cost money: then a budget is required."""
        return False


@dataclass(frozen=True)
class Address:
    """An engine's URL, taken apart; shows itself without credentials."""

    scheme: str
    url: str = field(repr=False)

    @property
    def parts(self) -> SplitResult:
        """The URL's pieces."""
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError:  # its own words would show a part of the password
            raise _unreadable() from None
        if parts.netloc and "@" in parts.path and "@" not in parts.netloc:  # me:12/secret@host: 12 is no port
            raise _unreadable()
        return parts

    @property
    def path(self) -> str:
        """The part after `scheme:`, for engines that are files."""
        return self.url.partition(":")[2]

    @property
    def options(self) -> dict[str, str]:
        """The query string."""
        return dict(parse_qsl(self.parts.query, keep_blank_values=True))

    @property
    def secrets(self) -> list[str]:
        """What must never be shown: the password, alone or after the user's name, and options that look like one."""
        parts = self.parts
        found = [parts.password, *(value for name, value in self.options.items() if _SECRET.search(name))]
        if parts.username and parts.password is not None:
            found.append(f"{parts.username}:{parts.password}")
        return [secret for secret in found if secret]

    @property
    def shown(self) -> str:
        """The URL without user, password and secret options."""
        if self.scheme in ("tantivy", "infinigram"):
            return self.url
        parts = self.parts
        host = f"//{parts.netloc.rpartition('@')[2]}" if self.path.startswith("//") else ""
        kept = {name: value for name, value in self.options.items() if not _SECRET.search(name)}
        query = f"?{urlencode(kept)}" if kept else ""
        return f"{self.scheme}:{host}{parts.path}{query}"

    def scrub(self, text: object) -> str:
        """A message without anything secret in it, on one line."""
        message = " ".join(str(text).split())
        message = message.replace(self.url, self.shown)
        for secret in sorted(self.secrets, key=len, reverse=True):
            for written in {secret, unquote(secret), quote(secret, safe="")}:
                message = message.replace(written, HIDDEN)
        return re.sub(r"(://)[^/\s@]+@", rf"\1{HIDDEN}@", message)

    def __str__(self) -> str:
        return self.shown


def _unreadable() -> UsageError:
    return UsageError(
        "the engine's URL cannot be read; check its host and port, and write / as %2F and @ as %40 in a password"
    )


def parse_address(url: str) -> Address:
    """Take an engine's URL apart; a bare path is a tantivy index."""
    found = _SCHEME.fullmatch(url)
    if not url:
        raise UsageError("the engine's URL is empty; write tantivy:DIRECTORY, for example")
    if not found:
        return Address("tantivy", f"tantivy:{url}")
    scheme = found.group(1).lower()
    return Address(scheme, f"{scheme}:{found.group(2)}")


def engine_kind(scheme: str) -> EngineKind:
    """The engine of a URL scheme; an error if there is none."""
    if scheme in BUILT_IN:
        kind: EngineKind = importlib.import_module(f"bagpack.engines.backends.{BUILT_IN[scheme]}").ENGINE
        return kind
    added = {entry.name: entry for entry in entry_points(group="bagpack.engines")}
    if scheme not in added:
        known = sorted({*BUILT_IN, *added})
        raise UsageError(
            f"there is no engine {scheme!r}; {did_you_mean(scheme, known)}the URL begins with one of {', '.join(known)}"
        )
    loaded: EngineKind = added[scheme].load()
    return loaded


def connect(url: str, timeout: float = 30.0, sender: Sender = DIRECT) -> Engine:
    """Open the engine that a URL names, such as ``tantivy:./my-index`` or ``postgresql://localhost/corpus``."""
    if timeout <= 0:
        raise UsageError(f"--timeout {timeout:g} is too short; give more than 0")
    address = parse_address(url)
    return engine_kind(address.scheme).connect(address, timeout, sender)


def native_query(query: Query, url: str) -> str:
    """The query in the language of the engine that a URL names; no connection is made."""
    address = parse_address(url)
    return engine_kind(address.scheme).native(query, address)


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Items in parts of at most this size."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def distinct(snippets: Iterable[Snippet]) -> list[Snippet]:
    """Each text once, in order: a page that is copied to many places counts once."""
    first: dict[str, Snippet] = {}
    for snippet in snippets:
        first.setdefault(snippet.text, snippet)
    return list(first.values())
