"""Search APIs declared in TOML, against a loopback server that pages, throttles and fails."""

import json
from contextlib import closing
from importlib import resources
from urllib.parse import parse_qs, urlsplit

import pytest
from engine_servers import serve

from bagpack.engines.base import BusyError, EngineError
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.queries import Query
from bagpack.errors import BagpackError

KEY = "s3cret-key-of-mine"
CAT = Query("word", (("cat",), ("cats",)))
DECLARATION = """
name = "Test"
url = "{option:host}/search?q={query}&n={size}&p={page}"
price = 0.01
paid = true
[headers]
X-Key = "{env:TEST_KEY}"
[query]
wildcard = "*"
[paging]
size = 10
first = 1
last = 5
[answer]
hits = "data.hits"
text = "body"
document = "link"
html = true
"""


class Api:
    """Answers with forty hits for every query, ten a page; `misbehave(number)` may answer a request in its own way."""

    def __init__(self):
        self.requests = []
        self.misbehave = lambda number: None

    def answer(self, method, path, headers, body):
        asked = {name: value[0] for name, value in parse_qs(urlsplit(path).query).items()}
        self.requests.append((asked, dict(headers)))
        if odd := self.misbehave(len(self.requests)):
            return odd
        start = 10 * (int(asked["p"]) - 1)
        text = f"A <b>cat</b> &amp; a lion, {asked['q'][:20]}"
        hits = [{"body": f"{text} {n}.", "link": f"u{n}"} for n in range(start, min(start + 10, 40))]
        return 200, json.dumps({"data": {"hits": hits}}), {}


@pytest.fixture
def api(monkeypatch, tmp_path):
    """The server; `api.url` is the engine's URL."""
    held = Api()
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")  # as a file that it may come from ends
    (tmp_path / "test.toml").write_text(DECLARATION)
    with serve(held.answer) as place:
        held.url = f"api:{tmp_path / 'test.toml'}?host=http://{place}"
        yield held


def test_pages_are_fetched_until_there_are_enough(api, connect):
    engine = connect(api.url)
    found = engine.search(CAT, 25)
    assert len(found) == 25
    assert found[0] == ("u0", 'A cat & a lion, "cat" OR "cats" 0.')
    assert [request["p"] for request, _ in api.requests] == ["1", "2", "3"]
    assert api.requests[0][1]["X-Key"] == KEY
    api.requests.clear()
    assert len(engine.search(Query("word", (("dog",),)), 1000)) == 40
    assert len(api.requests) == 5, "the last page that the API gives"


def test_throttling_is_waited_for_and_a_failed_page_is_paid_alone(api, connect, tmp_path):
    answers = {2: (429, "{}", {"Retry-After": "0"}), 4: (400, '{"error": "page is gone"}', {})}
    api.misbehave = answers.get
    policy = RequestPolicy(first_wait=0.01, budget=100, rate=1000)
    with closing(Requests(tmp_path / "c", "account", policy)) as requests:
        with pytest.raises(EngineError, match=r"status 400.: page is gone"):
            connect(api.url, requests=requests).search(CAT, 25)
        assert len(connect(api.url, requests=requests).search(CAT, 25)) == 25
        assert [request["p"] for request, _ in api.requests] == ["1", "2", "2", "3", "3"]
        assert requests.spent == requests.sent == 5


ANSWERS = {
    '{"data": {"hits": 3}}': (200, "'data.hits'"),
    '{"data": {"hits": [{"link": "u"}]}}': (200, "text in body"),
    '{"data": {"hits": [3]}}': (200, "text in body"),
    f'{{"error": "bad key {KEY}"}}': (401, r"refused .*401.: bad key \*\*\*; check the key and its quota"),
}


def test_answers_that_are_none(api, connect):
    for answer, (status, message) in ANSWERS.items():
        api.misbehave = lambda number, own=(status, answer, {}): own
        with pytest.raises(EngineError, match=message) as error:
            connect(api.url).search(CAT, 25)
        assert KEY not in str(error.value) and not isinstance(error.value, BusyError)


def test_from_pairs_to_snippets_within_the_budget(api, tmp_path):
    def fetch(out, **policy):
        how = {"cache": tmp_path / "c", "policy": RequestPolicy(**policy)}
        return fetch_snippets([("cat", "lion")], api.url, tmp_path / out, **how)

    for policy in ({}, {"budget": 10}, {"rate": 1}):
        with pytest.raises(BagpackError, match=r"costs money: give --budget .* and --rate"):
            fetch("s.bps", **policy)
    assert api.requests == []
    found = fetch("s.bps", limit=10, budget=200, rate=10_000)
    assert found.corpus.contexts("cat", "lion").total > 0
    assert len(api.requests) == 14, "one page for each query"
    for path in [*tmp_path.glob("c*"), *(tmp_path / "s.bps").rglob("*")]:
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
    (tmp_path / "test.toml").write_text(DECLARATION.replace('wildcard = "*"', "terms = 8"))
    api.requests.clear()
    fetch("t.bps", limit=10, budget=200, rate=10_000)
    assert len(api.requests) == 1, "without wildcards the queries of a pair are one; those of words are kept"


HIT = {"title": "T", "url": "https://x", "link": "https://x", "content": "A cat.", "snippet": "A cat."}
ANSWERED = {
    "brave": {"query": {"more_results_available": False}, "web": {"results": [
        HIT | {"description": "A <strong>cat</strong>.", "extra_snippets": ["Two cats."]}]}},
    "google": {"items": [HIT], "queries": {}},
    "searxng": {"results": [HIT]},
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERED)
def test_answers_in_the_form_of_each_service(name, api, connect, tmp_path, monkeypatch):
    """The declaration as it is, but for the host: the documented answers are read."""
    declared = (resources.files("bagpack.engines") / "declared" / f"{name}.toml").read_text()
    for real in ("https://api.search.brave.com", "https://customsearch.googleapis.com"):
        declared = declared.replace(real, "{option:host}")
    (tmp_path / "service.toml").write_text(declared)
    for variable in ("BRAVE_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID"):
        monkeypatch.setenv(variable, KEY)
    api.misbehave = lambda number: (200, json.dumps(ANSWERED[name] if number == 1 else {}), {})
    engine = connect(f"api:{tmp_path / 'service.toml'}?host={api.url.partition('host=')[2]}")
    text = "A cat.\nTwo cats." if name == "brave" else "A cat."
    assert engine.search(CAT, 5) == [("https://x", text)]


WRONG = {
    "'nmae'": ("name = ", "nmae = "),
    "'hits'": ('hits = "data.hits"', ""),
    "{query}": ("q={query}", "q=x"),
    "test.toml must have a size, step and terms of at least 1; docs/engines.md": ("size = 10", "size = 0"),
    "not TOML": ("[answer]", "[answer"),
    " TEST_KEY_MISSING;": ("TEST_KEY", "TEST_KEY_MISSING"),
    "?hots=…": ("{option:host}", "{option:hots}"),
    "https://;": ("{option:host}", "ftp://x"),
}


def test_wrong_declarations(api, connect, tmp_path):
    for message, change in WRONG.items():
        (tmp_path / "test.toml").write_text(DECLARATION.replace(*change))
        with pytest.raises(BagpackError) as error:
            connect(api.url)
        assert message in str(error.value)
