"""JSON twins, OpenAPI, and everything that must be refused."""

import html
import re
import socket
from pathlib import Path

import httpx
import jsonschema
import pytest
from starlette.formparsers import MultiPartParser

from bagpack.app import Library, create_app, pages
from bagpack.app.pool import Limits
from bagpack.app.security import own_names
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.explain.explanation import explain_pair
from bagpack.explain.pair import sketch_pair
from bagpack.learn.model_io import load_model
from bagpack.sources import open_source
from tests.app.conftest import in_process
from tests.conftest import run_apart


def test_the_twin_says_what_python_says(web, world):
    source, model = open_source(world.store), load_model(world.model())
    found = web.get("/pair/kinda01/kindb01.json").json()
    sketch = sketch_pair(source, "kinda01", "kindb01").to_dict()
    assert found["sketch"]["terms"] == sketch["terms"] and found["sketch"]["together"] == sketch["together"]
    why = explain_pair(model, source, "kinda01", "kindb01", lines=0).to_dict()
    assert found["explanation"]["answer"] == why["answer"] and len(why["decisions"]) == 3
    for mine, theirs in zip(found["explanation"]["decisions"], why["decisions"], strict=True):
        assert mine["value"] == pytest.approx(theirs["value"], abs=1e-9)


def test_words_pairs_and_lines_have_the_windows_of_the_model(world):
    library = Library(str(world.store), str(world.model()))
    library.settings = CountSettings(Windows.parse("3/1-2-1"))
    found = pages.word(library, "the"), pages.pair(library, "the", "a")
    assert {page.sketch.windows for page in found} == {"3/1-2-1"}
    assert library.browser(["the", "a"]).windows == library.settings.windows


def test_pages_of_a_model_with_every_kind_of_feature_and_of_none(world):
    pair = "/pair/kinda01/kindb01"

    async def scene():
        async with in_process(world.store, world.model()) as client:
            decisions = (await client.get(f"{pair}.json")).json()["explanation"]["decisions"]
            assert not any(decision["reasons"] for decision in decisions)
            link = re.search('href="([^"]*)">Sum over features', (await client.get(pair)).text)[1]
            assert "by-features" in (await client.get(html.unescape(link))).text
            decisions = (await client.get(f"{pair}.json?features=true")).json()["explanation"]["decisions"]
            strongest = (await client.get("/model.json?top=200")).json()["strongest"].values()
            rows = [row for own in strongest for row in own]
            for row in rows:
                assert row["pattern"] != row["name"], row
                assert row["place"] or row["name"].startswith(("pair:", "v1·v2:", "cosine:")), row
            reasons = [reason for decision in decisions for reason in decision["reasons"]]
            names = {own["name"] for reason in reasons for own in reason["features"]}
            names |= {row["name"] for row in rows}
            by_block = {name.partition(":")[0]: name for name in sorted(names)}
            assert {"v1", "v2", "v12", "v1·v2", "cosine", "pair"} <= by_block.keys()
            for name in by_block.values():
                query = {"w1": "kinda01", "w2": "kindb01", "feature": name}
                page = (await client.get("/lines", params=query)).text
                found = (await client.get("/lines.json", params=query)).json()
                if found["shown"]:
                    assert '<mark class="w1">' in page or '<mark class="w2">' in page, name
                    assert ('<mark class="term">' in page) == (not name.startswith("pair:")), name
                assert found["shown"] == len(found["lines"]) == min(found["total"], 100)
                assert f"{found['shown']} of {found['total']} line" in page
                assert found["count"] == found["total"] or not found["place"] or found["evidence"] in page
        async with in_process(world.store) as client:  # without a model
            assert "--model" in (await client.get("/")).text
            for path, status in (("/model", 200), ("/model.json?top=200", 404), (pair, 200)):
                assert (await client.get(path)).status_code == status

    run_apart(scene())


def test_any_word_has_a_page(web):
    for url in ("/word?w=and/or", "/word/and%2For", "/word?w=."):
        assert web.get(url, follow_redirects=True).status_code == 200, url
    assert web.get("/pair?w1=and/or&w2=.").status_code == 200
    assert web.get("/look?w1=kinda01&w2=kindb01").headers["location"] == "/pair/kinda01/kindb01"
    assert web.get("/look?w1=kinda01").headers["location"] == "/word/kinda01"
    for url in ("/word/{}", "/word/{}.json", "/pair/a/{}", "/concordance?w1={}"):
        answer = web.get(url.format("nosuchword"))
        assert answer.status_code == 404 and "nosuchword" in answer.text, url


def test_a_bad_request_is_answered_with_a_sentence(web):
    for url, hint in (
        ("/concordance.json?w1=the&sort=colour", "colour"), ("/concordance.json?w1=the&page=0", "page"),
        ("/concordance.json?w1=the&size=100000", "size"), ("/lines.json?w1=the&w2=a&feature=nonsense", "nonsense"),
        ("/pair/" + "x" * 300 + "/y.json", "200"), ("/nosuch.json", "no such"),
    ):  # fmt: skip
        answer = web.get(url)
        assert 400 <= answer.status_code < 500 and hint in answer.json()["error"], url


def test_only_its_own_names_are_answered(web, server):
    port = httpx.URL(server).port
    for names, status in (
        (("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "localhost:", "a@localhost",
          "localhost/b"), 400),
        (("localhost", f"localhost:{port}", "127.0.0.1", "[::1]", "LOCALHOST"), 200),
    ):  # fmt: skip
        for name in names:
            answer = web.get("/", headers={"Host": name})
            assert answer.status_code == status and ("own names" in answer.text) == (status == 400), name
    assert "corpus.lan" in own_names("0.0.0.0", ("Corpus.LAN",))


def test_every_answer_has_its_headers(web):
    for url in ("/", "/pair/kinda01/kindb01", "/nosuch", "/index.json", "/static/app.js"):
        headers = web.get(url).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_what_is_no_http_is_answered_with_headers_too(server):
    with socket.create_connection((httpx.URL(server).host, httpx.URL(server).port), 10) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\n\r\n")  # without a Host
        head = raw.makefile("rb").read()
    assert head.startswith(b"HTTP/1.1 400 ") and b"\r\nContent-Security-Policy: default-src 'none'" in head


def test_no_file_can_be_named(web, server, world):
    for path in (
        "/static/../../../../etc/passwd", "/static/%2e%2e%2f%2e%2e%2fpyproject.toml", "/static/..%5capp.css",
        "/static//etc/passwd", "/static/__init__.py",
    ):  # fmt: skip
        # As a client would send it that does not tidy up paths.
        with socket.create_connection((httpx.URL(server).host, httpx.URL(server).port), 10) as raw:
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            status = raw.makefile("rb").readline()
        assert b" 404 " in status, path
    shown = web.get("/index.json").text + web.get("/model.json?top=200").text
    assert str(world.folder) not in shown  # no page shows where files are stored


def test_a_body_never_reaches_the_disk():
    # Beyond this size the form reader would turn to a file.
    assert Limits().body_bytes < MultiPartParser.spool_max_size


def test_an_unexpected_error_is_not_shown_to_visitors(world):
    app = create_app(Library(str(world.store)))

    @app.get("/broken.json")
    async def broken():
        return 1 / 0

    async def scene():
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/broken.json")

    answer = run_apart(scene())
    assert answer.status_code == 500 and "ZeroDivision" not in answer.text
    assert "unexpected" in answer.json()["error"]


def test_pairs_of_frequent_words_have_a_lane_of_their_own(world, monkeypatch):
    library = Library(str(world.store))
    monkeypatch.setattr("bagpack.app.library.SLOW_COUNT", 50)  # in this small corpus
    assert library.is_slow("the", "a")
    assert not library.is_slow("the") and not library.is_slow("the", "kinda01")


def test_serve_command_refuses_in_sentences(cli, world, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = cli("serve", world.store, "--port", taken.getsockname()[1])
    assert busy.code == 2 and "--port" in busy.sentence(2)
    assert cli("serve", world.store, "--port", 0).code == 2
    assert cli("serve", tmp_path / "none.bp").code == 1


# The API description --------------------------------------------------------------------------------------------------


PATHS = Path(__file__).with_name("paths.txt").read_text().splitlines()


def described(api, path):
    """The path of the API description that answers a request."""
    asked = path.partition("?")[0]
    patterns = {own: re.sub(r"\{\w+\}", "[^/.]+", own) for own in api["paths"]}
    return next(own for own, pattern in patterns.items() if re.fullmatch(pattern, asked))


@pytest.fixture(scope="module")
def api(server):
    return httpx.get(server + "/openapi.json").json()


def check_answer(api, operation, answer):
    """Validate an answer against the description of what is answered."""
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": api["components"]}).validate(answer)


def test_every_path_is_asked_for(api):
    offered = {path for path, own in api["paths"].items() if "get" in own and ".json" in path}
    assert {described(api, path) for path in PATHS} == offered


@pytest.mark.parametrize("path", PATHS)
def test_a_response_is_what_the_api_description_says(web, api, path):
    answer = web.get(path)
    assert answer.headers["content-type"] == "application/json"
    if isinstance(answer.json(), dict) and set(answer.json()) == {"error"}:
        assert 400 <= answer.status_code < 500 and answer.json()["error"]
        return
    check_answer(api, api["paths"][described(api, path)]["get"], answer.json())


def test_descriptions_are_complete_and_no_page_needs_the_network(web, api):
    for path, methods in api["paths"].items():
        for operation in methods.values():
            assert operation["summary"] and operation["description"], path
            assert all(parameter.get("description") for parameter in operation.get("parameters", [])), path
    assert web.get("/docs").status_code == web.get("/redoc").status_code == 404
    for path in ("/", "/pair/kinda01/kindb01", "/model"):
        text = web.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
        assert "<style" not in text and " style=" not in text and "onclick" not in text
