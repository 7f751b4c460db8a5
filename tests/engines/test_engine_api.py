"""Search APIs declared in TOML, against a loopback server that pages, throttles and fails."""

import json
import threading
from contextlib import closing
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
    """Answers with forty hits for every query, ten a page."""

    def __init__(self):
        self.requests = []
        self.hits = 40
        self.misbehave = lambda number: None
        self.lock = threading.Lock()

    def answer(self, query, page):
        start = 10 * (page - 1)
        numbers = range(start, min(start + 10, self.hits))
        return {
            "data": {
                "hits": [
                    {"body": f"A <b>cat</b> &amp; a lion, {query[:20]} {n}.", "link": f"u{n}"}
                    for n in numbers
                ]
            }
        }


@pytest.fixture
def api(monkeypatch, tmp_path):
    """The server; `api.url` is the engine's URL."""
    held = Api()

    def answer(method, path, headers, body):
        asked = {name: value[0] for name, value in parse_qs(urlsplit(path).query).items()}
        with held.lock:
            held.requests.append((asked, dict(headers)))
            number = len(held.requests)
        odd = held.misbehave(number)
        return odd or (200, json.dumps(held.answer(asked["q"], int(asked["p"]))), {})

    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")  # as a file that it may come from ends
    (tmp_path / "test.toml").write_text(DECLARATION)
    with serve(answer) as place:
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


def test_throttling_is_waited_for_and_paid(api, connect, tmp_path):
    api.misbehave = lambda number: (429, "{}", {"Retry-After": "0"}) if number in (2, 3) else None
    policy = RequestPolicy(first_wait=0.01, budget=100, rate=1000)
    with closing(Requests(tmp_path / "c", "account", policy)) as requests:
        assert len(connect(api.url, requests=requests).search(CAT, 25)) == 25
        assert requests.spent == len(api.requests) == requests.sent == 5


def test_a_query_that_fails_on_its_last_page_pays_for_that_page_alone(api, connect, tmp_path):
    api.misbehave = lambda number: (400, '{"error": "page is gone"}', {}) if number == 3 else None
    with closing(Requests(tmp_path / "c", "a")) as requests:
        with pytest.raises(EngineError, match=r"could not answer .status 400.: page is gone"):
            connect(api.url, requests=requests).search(CAT, 25)
        assert len(connect(api.url, requests=requests).search(CAT, 25)) == 25
    assert [request["p"] for request, _ in api.requests] == ["1", "2", "3", "3"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, "<html>", {}), "not JSON"),
        ((200, "[]", {}), "not an object"),
        (
            (200, '{"data": {"hits": 3}}', {}),
            r"no list in 'data.hits', which the declaration names",
        ),
        ((200, '{"data": {"hits": [{"link": "u"}]}}', {}), r"without text in body"),
        ((200, '{"data": {"hits": [{"body": 3}]}}', {}), r"without text in body"),
        ((200, '{"data": {"hits": [3]}}', {}), r"without text in body"),
        ((302, "", {"Location": "http://127.0.0.1:9/"}), "status 302"),
        (
            (401, f'{{"error": "bad key {KEY}"}}', {}),
            r"refused the request .status 401.: bad key \*\*\*; check the key",
        ),
        ((403, "no", {}), "refused the request .status 403.; check the key and its quota"),
        ((404, "no", {}), "could not answer .status 404"),
    ],
)
def test_answers_that_are_none(api, connect, answer, message):
    api.misbehave = lambda number: answer
    with pytest.raises(EngineError, match=message) as error:
        connect(api.url).search(CAT, 25)
    assert KEY not in str(error.value)
    assert not isinstance(error.value, BusyError)


def test_a_paid_engine_needs_a_budget(api, tmp_path):
    for policy in (RequestPolicy(), RequestPolicy(budget=10), RequestPolicy(rate=1)):
        with pytest.raises(BagpackError, match=r"costs money: give --budget .* and --rate"):
            fetch_snippets(
                [("cat", "lion")], api.url, tmp_path / "s.bps", cache=tmp_path / "c", policy=policy
            )
    assert api.requests == []


def test_from_pairs_to_snippets_within_the_budget(api, tmp_path):
    policy = RequestPolicy(limit=10, budget=200, rate=10_000)
    found = fetch_snippets(
        [("cat", "lion")], api.url, tmp_path / "s.bps", cache=tmp_path / "c", policy=policy
    )
    assert found.corpus.contexts("cat", "lion").total > 0
    assert len(api.requests) == 14, "one page for each query"
    for path in [*tmp_path.glob("c*"), *(tmp_path / "s.bps").rglob("*")]:
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_queries_without_wildcards_are_asked_once_for_a_pair(api, tmp_path):
    file = tmp_path / "test.toml"
    file.write_text(DECLARATION.replace('wildcard = "*"', "terms = 8"))
    policy = RequestPolicy(limit=10, budget=100, rate=10_000)
    fetch_snippets([("cat", "lion")], api.url, tmp_path / "s.bps", cache=tmp_path / "c", policy=policy)
    assert len(api.requests) == 3, "each word, and the pair"


BRAVE = {"query": {"more_results_available": False},
         "web": {"results": [{"title": "T", "url": "https://x", "description": "A <strong>cat</strong>.",
                              "extra_snippets": ["Two cats."]}]}}  # fmt: skip
GOOGLE = {"items": [{"title": "T", "link": "https://x", "snippet": "A cat."}], "queries": {}}
SEARXNG = {"results": [{"title": "T", "url": "https://x", "content": "A cat."}]}


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [("brave", BRAVE, "A cat.\nTwo cats."), ("google", GOOGLE, "A cat."), ("searxng", SEARXNG, "A cat.")],
)
def test_answers_in_the_form_of_each_service(name, answer, text, api, connect, tmp_path, monkeypatch):
    """The declaration as it is, but for the host: the documented answers are read."""
    from importlib import resources

    declared_text = (resources.files("bagpack.engines") / "declared" / f"{name}.toml").read_text()
    host = api.url.partition("host=")[2]
    for real in ("https://api.search.brave.com", "https://customsearch.googleapis.com"):
        declared_text = declared_text.replace(real, "{option:host}")
    (tmp_path / "service.toml").write_text(declared_text)
    for variable in ("BRAVE_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID"):
        monkeypatch.setenv(variable, KEY)
    api.misbehave = lambda number: (200, json.dumps(answer if number == 1 else {}), {})
    engine = connect(f"api:{tmp_path / 'service.toml'}?host={host}")
    assert engine.search(CAT, 5) == [("https://x", text)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name = ", "nmae = "), "unknown field 'nmae'"),
        (("wildcard = ", "wild = "), "unknown field 'wild'"),
        (('hits = "data.hits"', ""), "does not say 'hits'"),
        (("q={query}", "q=x"), r"has a url without \{query\}"),
        (("size = 10", 'size = "ten"'), "size = 'ten'"),
        (("size = 10", "size = 0"), "of at least 1"),
        (('wildcard = "*"', "wildcard = 3"), "wildcard = 3"),
        (('X-Key = "{env:TEST_KEY}"', "X-Key = 3"), "headers = "),
        (('text = "body"', "text = 5"), "text = 5"),
        (("[answer]", "[answer"), "is not TOML"),
        (("TEST_KEY", "TEST_KEY_MISSING"), "set the environment variable TEST_KEY_MISSING"),
        (("{option:host}", "{option:hots}"), r"add \?hots=… to the URL"),
        (("{option:host}", "ftp://x"), "does not begin with http"),
    ],
)
def test_wrong_declarations(change, message, api, connect, tmp_path):
    (tmp_path / "test.toml").write_text(DECLARATION.replace(*change))
    with pytest.raises(BagpackError, match=message):
        connect(api.url)
