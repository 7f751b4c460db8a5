"""JSON twins, OpenAPI, and everything that must be refused."""

import asyncio
import csv
import io
import signal
import socket
import subprocess
import threading
import time

import httpx
import pytest
from pydantic import TypeAdapter
from starlette.formparsers import MultiPartParser

from bagpack.app import answers
from bagpack.app.library import Library, open_library, read_upload
from bagpack.app.limits import Limits
from bagpack.app.safety import host_name, own_names
from bagpack.app.server import create_app
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions
from bagpack.experiments.training import train_file
from bagpack.explain import explain_pair, sketch_pair
from bagpack.explain.telling import no_tick
from bagpack.learn import load_model
from bagpack.sources import open_source
from tests.app.conftest import free_port
from tests.conftest import bagpack_command

SHAPES = {
    "/index.json": answers.Home,
    "/complete.json?q=kind": answers.Completions,
    "/word/kinda01.json": answers.WordPage,
    "/word.json?w=the": answers.WordPage,
    "/pair/kinda01/kindb01.json": answers.PairPage,
    "/pair.json?w1=kinda01&w2=kindb01": answers.PairPage,
    "/lines.json?w1=kinda01&w2=kindb01&feature=v12:%2Bbetw:of": answers.LinesPage,
    "/concordance.json?w1=the": answers.ConcordancePage,
    "/compare.json?a1=kinda01&a2=kindb01&b1=kinda02&b2=kindb02": answers.ComparePage,
    "/model.json": answers.ModelPage,
    "/dataset.json": answers.DataList,
}


@pytest.mark.parametrize("path", SHAPES)
def test_twins_have_the_shape_that_openapi_tells(web, path):
    answer = web.get(path)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    TypeAdapter(SHAPES[path]).validate_python(answer.json())


def test_the_twin_says_what_python_says(web, world):
    source, model = open_source(world / "c.bp"), load_model(world / "m.model")
    found = web.get("/pair/kinda01/kindb01.json").json()
    sketch = sketch_pair(source, "kinda01", "kindb01").to_dict()
    assert found["sketch"]["terms"] == sketch["terms"] and found["sketch"]["together"] == sketch["together"]
    why = explain_pair(model, source, "kinda01", "kindb01", lines=0).to_dict()
    assert found["explanation"]["answer"] == why["answer"]
    for mine, theirs in zip(found["explanation"]["decisions"], why["decisions"], strict=True):
        assert mine["value"] == pytest.approx(theirs["value"], abs=1e-9)
        assert mine["bias"] + sum(mine["blocks"].values()) == pytest.approx(mine["value"], abs=1e-9)


def test_words_pairs_and_lines_have_the_windows_of_the_model(world):
    library = open_library(str(world / "c.bp"), str(world / "m.model"))
    library.settings = CountSettings(Windows.parse("3/1-2-1"))
    assert library.word("the", no_tick).windows == library.pair("the", "a", no_tick).windows == "3/1-2-1"
    assert library.browser(["the", "a"], no_tick).windows == library.settings.windows


def test_pages_of_a_model_with_every_kind_of_feature(world, tmp_path):
    place = str(tmp_path / "all.model")
    options = EvaluateOptions(preset="modern")
    train_file(
        str(world / "c.bp"), str(world / "train.tsv"), place, CountOptions(40), options, evaluate=False
    )
    library = open_library(str(world / "c.bp"), place)

    async def scene():
        async with in_process(library) as client:
            pair = await client.get("/pair/kinda01/kindb01.json")
            model = await client.get("/model.json?top=200")
            pages = [await client.get(path) for path in ("/pair/kinda01/kindb01", "/model")]
            decisions = pair.json()["explanation"]["decisions"]
            names = {f["name"] for d in decisions for reason in d["reasons"] for f in reason["features"]}
            names |= {f["name"] for rows in model.json()["strongest"].values() for f in rows}
            by_block = {name.partition(":")[0]: name for name in sorted(names)}
            lines = {}
            for name in by_block.values():
                query = {"w1": "kinda01", "w2": "kindb01", "feature": name}
                lines[name] = [await client.get(path, params=query) for path in ("/lines", "/lines.json")]
            return model.json(), pages, by_block, lines

    model, pages, by_block, lines = asyncio.run(scene())
    assert {"v1", "v2", "v12", "v1·v2", "pair"} <= by_block.keys()
    assert [page.status_code for page in pages] == [200, 200]
    for rows in (*model["strongest"].values(), *model["weakest"].values()):
        for row in rows:
            assert row["pattern"] != row["name"], row
            assert row["place"] or row["name"].startswith(("pair:", "v1·v2:")), row
    for name, (page, twin) in lines.items():
        assert page.status_code == twin.status_code == 200, name
        found = twin.json()
        assert found["shown"] == len(found["lines"]) == min(found["total"], 100)
        assert f"{found['shown']} of {found['total']} lines for" in page.text
        if found["count"] != found["total"] and found["place"]:
            assert found["evidence"] in page.text


def test_data_set_and_its_errors(web):
    entry = web.get("/dataset.json").json()["data"][0]
    page = web.get(f"/dataset/{entry['id']}.json").json()
    TypeAdapter(answers.DataPage).validate_python(page)
    judged = page["judged"]
    wrong = [row for row in judged["rows"] if not row["right"]]
    assert len(judged["errors"]) == len(wrong) > 0
    assert judged["scores"]["accuracy"] == pytest.approx(1 - len(wrong) / len(judged["rows"]))
    assert page["coverage"]["unknown_words"] == ["nosuchword"]
    one = web.get(f"/dataset/{entry['id']}.json?at=0").json()
    assert one["explanation"]["w1"] == judged["rows"][judged["errors"][0]]["w1"]
    assert web.get(f"/dataset/{entry['id']}.json?at=9999").status_code == 400


def test_openapi_describes_every_twin_and_no_page_needs_the_network(web):
    api = web.get("/openapi.json").json()
    assert {path.split("?")[0] for path in SHAPES} - {
        "/word/kinda01.json",
        "/pair/kinda01/kindb01.json",
    } <= set(api["paths"])
    for path, methods in api["paths"].items():
        for operation in methods.values():
            assert operation["summary"] and operation["description"], path
            assert all(parameter.get("description") for parameter in operation.get("parameters", [])), path
    assert web.get("/docs").status_code == web.get("/redoc").status_code == 404
    for path in ("/", "/api", "/pair/kinda01/kindb01", "/model"):
        text = web.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
        assert "<style" not in text and " style=" not in text and "onclick" not in text


def test_any_word_has_a_page(web):
    for url in ("/word?w=and/or", "/word/and%2For", "/word?w=."):
        assert web.get(url, follow_redirects=True).status_code == 200, url
    assert web.get("/pair?w1=and/or&w2=.").status_code == 200
    assert web.get("/pair?w1=kinda01&w2=kindb01").headers["location"] == "/pair/kinda01/kindb01"
    assert web.get("/pair?w1=kinda01").headers["location"] == "/word/kinda01"
    for url in (
        "/word/nosuchword",
        "/word/nosuchword.json",
        "/pair/kinda01/nosuchword",
        "/concordance?w1=nosuchword",
    ):
        answer = web.get(url)
        assert answer.status_code == 404 and "nosuchword" in answer.text, url


def test_a_bad_request_is_told_in_a_sentence(web):
    for url, hint in (
        ("/concordance.json?w1=the&sort=colour", "colour"), ("/concordance.json?w1=the&page=0", "page"),
        ("/concordance.json?w1=the&size=100000", "size"), ("/lines.json?w1=the&w2=a&feature=nonsense", "nonsense"),
        ("/pair/" + "x" * 300 + "/y.json", "200"), ("/compare.json?a1=x", "both pairs"), ("/nosuch.json", "no such"),
        ("/dataset/0123.json", "no such data set"),
    ):  # fmt: skip
        answer = web.get(url)
        assert 400 <= answer.status_code < 500 and hint in answer.json()["error"], url


def test_only_its_own_names_are_answered(web, server):
    port = httpx.URL(server).port
    for name in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "",
        "localhost:",
        "a@localhost",
    ):
        answer = web.get("/", headers={"Host": name})
        assert answer.status_code == 400 and "own names" in answer.text, name
    for name in ("localhost", f"localhost:{port}", "127.0.0.1", "[::1]", "LOCALHOST"):
        assert web.get("/", headers={"Host": name}).status_code == 200, name
    assert own_names("0.0.0.0") >= {"localhost"} and "corpus.lan" in own_names("0.0.0.0", ("Corpus.LAN",))
    assert host_name("[::1]:80") == "::1" and host_name("a/b") is None


def test_every_answer_has_its_headers(web):
    for url in ("/", "/pair/kinda01/kindb01", "/nosuch", "/index.json", "/static/app.js", "/dataset/x"):
        headers = web.get(url).headers
        policy = headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_no_file_can_be_named(web, server, world):
    for path in (
        "/static/../../../../etc/passwd", "/static/%2e%2e%2f%2e%2e%2fpyproject.toml", "/static/..%5capp.css",
        "/static//etc/passwd", "/dataset/..%2f..%2fetc%2fpasswd", f"/dataset/{world}/wrong.tsv", "/static/__init__.py",
    ):  # fmt: skip
        # As a client would send it that does not tidy up paths.
        with socket.create_connection((httpx.URL(server).host, httpx.URL(server).port), 10) as raw:
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            status = raw.makefile("rb").readline()
        assert b" 404 " in status, path
    shown = web.get("/index.json").text + web.get("/model.json").text + web.get("/dataset.json").text
    assert str(world) not in shown  # nor does any page tell where things lie


def test_uploads_are_bounded_and_from_here(web):
    def send(name, content, **headers):
        return web.post("/dataset", files={"file": (name, content)}, headers=headers)

    assert send("big.tsv", b"w1\tw2\n" + b"a\tb\n" * 300_000).status_code == 413
    for origin in ("http://evil.example", "http://localhost.evil.example", "http://[", "null", ""):
        assert send("x.tsv", b"w1\tw2\na\tb\n", Origin=origin).status_code == 403, origin
    assert send("x.tsv", b"w1\tw2\na\tb\n", Origin="http://localhost:80").status_code == 303
    assert web.post("/dataset", content=iter([b"x"])).status_code == 411
    for content, hint in (
        (b"", "empty"), (b"\xff\xfe\x00", "UTF-16"), (b"\xe9", "UTF-8"), (b"w1\tw2\n", "no rows"),
        (b"a\tb\nc\td\n", "w1 and w2"),
        (b"w1\tw2\tscore\na\tb\tx\n", "x"), (b"w1\tw2\n\0\tb\n", "zero"),
        (b"w1\tw2\n" + b"a\tb\n" * 20_001, "20,001"),
    ):  # fmt: skip
        answer = send("../../etc/bad<b>.tsv", content)
        assert answer.status_code == 400 and hint in answer.text, content[:20]
        assert "<b>" not in answer.text and "../.." not in answer.text
    fine = send("ok.csv", b"w1,w2\nkinda01,kindb01\n")
    assert fine.status_code == 303 and fine.headers["location"].startswith("/dataset/")
    assert web.get(fine.headers["location"]).status_code == 200
    assert send("ok.csv", b"w1,w2\nkinda01,kindb01\n").headers["location"] == fine.headers["location"]


def test_a_label_and_a_score_make_an_upload_a_list_of_pairs(web):
    both = web.post(
        "/dataset", files={"file": ("both.tsv", b"w1\tw2\tlabel\tscore\nkinda01\tkindb01\tkind\t1\n")}
    )
    assert both.status_code == 303
    assert web.get(f"{both.headers['location']}.json").json()["entry"]["kind"] == "pairs"


def test_the_oldest_upload_goes_and_what_was_named_at_the_start_stays(world):
    library = open_library(str(world / "c.bp"), None, [str(world / "wrong.tsv")], Limits(uploads=2))
    library.add_upload(read_upload("wrong.tsv", (world / "wrong.tsv").read_bytes(), library.limits))
    for name in ("a.tsv", "b.tsv", "c.tsv"):
        library.add_upload(read_upload(name, b"w1\tw2\na\tb\n", library.limits))
    assert [entry.name for entry in library.data.values()] == ["wrong.tsv", "b.tsv", "c.tsv"]


def test_an_upload_never_reaches_the_disk():
    # Beyond this size the form reader would turn to a file.
    assert Limits().upload_bytes < MultiPartParser.spool_max_size


def test_it_says_where_it_is_and_ends_quietly_when_interrupted(world, tmp_path):
    port = free_port()
    (tmp_path / "c[v2].bp").symlink_to(world / "c.bp")
    process = subprocess.Popen(
        bagpack_command("serve", tmp_path / "c[v2].bp", "--port", port),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    for _ in range(200):
        try:
            httpx.get(f"http://127.0.0.1:{port}/", timeout=1)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 0 and out == b"" and b"Traceback" not in err
    assert f"http://127.0.0.1:{port} shows c[v2].bp; Ctrl-C ends it".encode() in err


def test_a_csv_holds_no_formula(tmp_path):
    source = tmp_path / "c.vert"
    source.write_text("<s>\n=1+1\n@sum\nthe\n-\n-2+3\n</s>\n")
    index_corpus(
        [str(source)], tmp_path / "c.bp", TextOptions(format="vertical", columns="word", level="form")
    )
    library = open_library(str(tmp_path / "c.bp"), None, (), Limits())

    async def download():
        async with in_process(library) as client:
            return (await client.get("/concordance/lines.csv?w1=the")).text

    (row,) = csv.DictReader(io.StringIO(asyncio.run(download())))
    cells = [cell for cell in row.values() if cell]
    assert any("=1+1" in cell for cell in cells)
    assert not any(cell[:1] in "=+-@\t\r" and len(cell) > 1 for cell in cells)


def in_process(library, **options):
    transport = httpx.ASGITransport(create_app(library, **options), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=20)


def test_a_long_query_ends_and_hurts_nobody(world, monkeypatch):
    library = open_library(str(world / "c.bp"), None, (), Limits(seconds=0.5))
    stopped = threading.Event()

    def endless(source, w1, w2, *, windows, tick):
        if w1 != "slow":
            return sketch_pair(source, w1, w2)
        try:
            while True:
                time.sleep(0.02)
                tick()
        finally:
            stopped.set()

    monkeypatch.setattr("bagpack.app.library.sketch_pair", endless)

    async def scene():
        async with in_process(library) as client:
            begun = time.monotonic()
            slow = [asyncio.create_task(client.get("/pair/slow/x.json")) for _ in range(3)]
            await asyncio.sleep(0.05)
            quick = await client.get("/pair/kinda01/kindb01.json")
            between = time.monotonic() - begun
            ended = [await task for task in slow]
            again = await client.get("/pair/kinda02/kindb02.json")
            return quick, between, ended, again

    quick, between, ended, again = asyncio.run(scene())
    assert quick.status_code == again.status_code == 200 and between < 0.5
    assert all(answer.status_code == 503 and "0.5 s" in answer.json()["error"] for answer in ended)
    assert stopped.wait(2)  # the thread is free again


def test_slow_questions_do_not_hold_up_quick_ones(world, monkeypatch):
    library = open_library(str(world / "c.bp"), None, (), Limits(seconds=5))
    # In this small corpus only the commonest words are as frequent.
    monkeypatch.setattr("bagpack.app.library.SLOW", 50)
    assert library.lane("the", "a") == "slow"
    assert library.lane("the") == library.lane("the", "kinda01") == "pages"

    def sleepy(source, w1, w2, *, windows, tick):
        time.sleep(0.4 if w1 == "the" else 0)
        return sketch_pair(source, w1, w2)

    monkeypatch.setattr("bagpack.app.library.sketch_pair", sleepy)

    async def scene():
        async with in_process(library) as client:
            slow = [
                asyncio.create_task(client.get(f"/pair/the/{word}.json"))
                for word in ("a", "of", ".", "it") * 2
            ]
            await asyncio.sleep(0.05)
            begun = time.monotonic()
            quick = await client.get("/pair/kinda01/kindb01.json")
            spent = time.monotonic() - begun
            return quick, spent, [await task for task in slow]

    quick, spent, slow = asyncio.run(scene())
    assert quick.status_code == 200 and spent < 0.35 and {answer.status_code for answer in slow} == {200}


def test_too_many_at_once_are_sent_away(world, monkeypatch):
    library = open_library(str(world / "c.bp"), None, (), Limits(seconds=1, waiting=2))
    monkeypatch.setattr(Library, "word", lambda self, word, tick: time.sleep(0.3))

    async def scene():
        async with in_process(library) as client:
            return await asyncio.gather(*(client.get("/word/the.json") for _ in range(6)))

    statuses = [answer.status_code for answer in asyncio.run(scene())]
    assert statuses.count(503) == 4


def test_an_unforeseen_error_is_not_told_to_the_world(world, monkeypatch):
    library = open_library(str(world / "c.bp"))
    monkeypatch.setattr(Library, "word", lambda self, word, tick: 1 / 0)

    async def scene():
        async with in_process(library) as client:
            return await client.get("/word/the.json")

    answer = asyncio.run(scene())
    assert (
        answer.status_code == 500
        and "ZeroDivision" not in answer.text
        and "unforeseen" in answer.json()["error"]
    )


def test_bound_to_every_address_it_answers_to_the_one_that_was_reached(world):
    app = create_app(open_library(str(world / "c.bp")), host="0.0.0.0")

    async def ask(host, server):
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {
            "type": "http", "method": "GET", "path": "/index.json", "raw_path": b"/index.json", "query_string": b"",
            "headers": [(b"host", host)], "server": server, "scheme": "http", "http_version": "1.1", "asgi": {},
        }  # fmt: skip
        await app(scope, receive, send)
        return sent[0]["status"]

    assert asyncio.run(ask(b"192.0.2.7:8765", ("192.0.2.7", 8765))) == 200
    assert asyncio.run(ask(b"192.0.2.8:8765", ("192.0.2.7", 8765))) == 400


def test_without_a_model_pages_say_how_to_load_one(world):
    library = open_library(str(world / "c.bp"), None, [str(world / "wrong.tsv")])
    library.warm_up()
    key = next(iter(library.data))

    async def scene():
        async with in_process(library) as client:
            return {
                path: await client.get(path)
                for path in ("/", "/model", "/model.json", "/pair/kinda01/kindb01", f"/dataset/{key}")
            }

    found = asyncio.run(scene())
    assert "--model" in found["/"].text and found["/model"].status_code == 200
    assert found["/model.json"].status_code == 404
    assert found["/pair/kinda01/kindb01"].status_code == 200 and found[f"/dataset/{key}"].status_code == 200


def test_serve_command_refuses_in_sentences(cli, world, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = cli("serve", world / "c.bp", "--port", taken.getsockname()[1])
    assert busy.code == 2 and "cannot listen" in busy.err
    assert cli("serve", world / "c.bp", "--port", 0).code == 2
    assert cli("serve", tmp_path / "none.bp").code == 1
    assert cli("serve", world / "c.bp", "--data", tmp_path / "none.tsv").code == 1
    other = tmp_path / "other.vert"
    other.write_text("<s>\na\tX\ta\n</s>\n")
    assert cli("index", other, "--out", tmp_path / "o.bp").code == 0
    mixed = cli("serve", tmp_path / "o.bp", "--model", world / "m.model")
    assert mixed.code == 1 and "another store" in mixed.err
