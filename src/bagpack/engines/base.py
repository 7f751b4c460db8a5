"""What a search engine has to offer, and how one is found by its URL."""

from __future__ import annotations

import base64
import pkgutil
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from bagpack.errors import BagpackError, UsageError, did_you_mean

if TYPE_CHECKING:
    from bagpack.engines.cache import Requests
    from bagpack.engines.queries import Query

CLASSES = {"tantivy": "tantivy:TantivyEngine", "api": "api:SearchApi"} | {
    f"{name}+{protocol}": "infinigram:InfiniGram" if name == "infinigram" else "opensearch:OpenSearch"
    for name in ("infinigram", "opensearch", "elasticsearch")
    for protocol in ("http", "https")
}
HIDDEN = "***"
T = TypeVar("T")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_NAMES = "pass|pwd|secret|token|key|user|auth|credential"  # parts of the names of options that are secret
_SECRET = re.compile(_NAMES, re.IGNORECASE)
# The lengths keep the time linear; a password may hold / and @, although a URL may not.
_USER = r"[^/\s@:'\"]{0,64}:(?!//)[^\s'\"]{0,2048}@|(?<=//)[^/\s@'\"]+@"
_CREDENTIALS = re.compile(rf"{_USER}|(?<=[?&])[\w-]{{0,64}}?(?:{_NAMES})[\w-]*=[^&\s'\"]*", re.IGNORECASE)


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


class Engine:
    """A search engine. Subclasses have at least `open` and `search`."""

    exact = False  # BagPack filled the index: gaps count what the corpus counts, and snippets are marked (`sentences`)
    paid = False  # so that a budget is required
    price = 0.0  # dollars per request
    requests: Requests  # set before the engine is opened

    def __init__(self, address: Address, timeout: float = 30.0) -> None:
        self.address = address
        self.timeout = timeout

    def open(self) -> None:
        """Open the index, or raise `EngineError`."""

    def search(self, query: Query, limit: int) -> list[Snippet]:
        """The first `limit` snippets in the engine's fixed order."""
        raise NotImplementedError

    def most_requests(self, query: Query, limit: int) -> int:
        """The number of requests that a query takes at most."""
        return 1

    def fill(self, sentences: Iterable[tuple[str, str]], overwrite: bool) -> None:
        """Build the index from (document, marked sentence); nothing is visible under its name before the end."""
        raise UsageError(
            f"{self.address} cannot be filled: the index belongs to someone else; name a directory"
        )

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Address:
    """An engine's URL, taken apart; shows itself without credentials."""

    scheme: str
    url: str = field(repr=False)

    @property
    def parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            # me:12/secret@host: 12 is no port; http:me:secret@host lacks its //
            hosted = bool(parts.netloc) or "+" in self.scheme
            split = hosted and "@" in parts.path and "@" not in parts.netloc
            unreadable = split or parts.port == 0
        except ValueError:  # its own words would show a part of the password
            unreadable = True
        if unreadable:
            raise UsageError(
                "the engine's URL cannot be read; check its host and port, and write / as %2F and @ as %40 in a "
                "password"
            ) from None
        return parts

    @property
    def path(self) -> str:
        """The part after `scheme:`, for engines that are files."""
        return self.url.partition(":")[2]

    @property
    def options(self) -> dict[str, str]:
        return dict(parse_qsl(self.parts.query, keep_blank_values=True))

    @property
    def shown(self) -> str:
        """The URL without user, password and secret options."""
        if self.scheme == "tantivy":
            return self.url
        host = f"//{self.parts.netloc.rpartition('@')[2]}" if self.path.startswith("//") else ""
        kept = {n: hide_credentials(value) for n, value in self.options.items() if not _SECRET.search(n)}
        return f"{self.scheme}:{host}{self.parts.path}{f'?{urlencode(kept)}' if kept else ''}"

    def scrub(self, text: object, secrets: Iterable[str] = ()) -> str:
        """A message on one line, without passwords, options that look like one, and `secrets`."""
        parts, message = self.parts, " ".join(str(text).split()).replace(self.url, self.shown)
        own = [value for name, value in self.options.items() if _SECRET.search(name)]
        for found in re.findall(_USER, " ".join([f"//{parts.netloc}", *self.options.values()])):
            if password := found[:-1].partition(":")[2]:
                encoded = base64.b64encode(unquote(found[:-1]).encode()).decode()  # as the request has them
                own += [password, found[:-1], encoded]
        for secret in sorted(filter(None, [*own, *secrets]), key=len, reverse=True):
            for written in {secret, unquote(secret), quote(secret, safe="")}:
                message = message.replace(written, HIDDEN)
        return hide_credentials(message)

    def __str__(self) -> str:
        return self.shown


def hide_credentials(text: str) -> str:
    """A text without the users, passwords and secret options of the addresses in it."""
    return _CREDENTIALS.sub("", text)


def parse_address(url: str) -> Address:
    """Take an engine's URL apart; a bare path is a tantivy index."""
    if not url:
        raise UsageError("the engine's URL is empty; write tantivy:DIRECTORY, for example")
    found = _SCHEME.fullmatch(url)
    scheme, rest = (found.group(1).lower(), found.group(2)) if found else ("tantivy", url)
    return Address(scheme, f"{scheme}:{rest}")


def make_engine(url: str, timeout: float = 30.0) -> Engine:
    """The engine that a URL names, not open yet; an error if there is none."""
    address = parse_address(url)
    scheme = address.scheme
    if scheme not in CLASSES:
        raise UsageError(
            f"there is no engine {scheme!r}; {did_you_mean(scheme, CLASSES)}the URL begins with one of "
            f"{', '.join(sorted(CLASSES))}"
        )
    made: type[Engine] = pkgutil.resolve_name(f"bagpack.engines.{CLASSES[scheme]}")
    return made(address, timeout)


def connect(url: str, timeout: float = 30.0, requests: Requests | None = None) -> Engine:
    """Open the engine that a URL names, such as ``tantivy:./my-index`` or ``opensearch+https://localhost/docs``.

    Without `requests`, no answer is kept, no request is repeated, and there is no budget.
    """
    from bagpack.engines.cache import RequestPolicy, Requests

    engine = make_engine(url, timeout)
    engine.requests = requests or Requests(None, engine.address.shown, RequestPolicy(retries=0), timeout)
    try:
        engine.open()
    except BaseException:
        engine.close()
        raise
    return engine


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Items in parts of at most this size."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def distinct(snippets: Iterable[Snippet]) -> list[Snippet]:
    """Each text once, in order: a page that is copied to many places counts once."""
    first: dict[str, Snippet] = {}
    for snippet in snippets:
        first.setdefault(snippet.text, snippet)
    return list(first.values())
