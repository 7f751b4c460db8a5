"""JSON twins, OpenAPI, and everything that must be refused."""

import csv
import io
import json
import re
import signal
import socket
import subprocess

import httpx
import pytest
from starlette.formparsers import MultiPartParser

from bagpack.app import queries
from bagpack.app.limits import Limits
from bagpack.app.middleware import host_and_port, own_names, same_origin
from bagpack.app.server import create_app
from bagpack.app.state import DataEntry, Upload, Uploads, open_library
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions
from bagpack.experiments.training import train_file
from bagpack.explain import explain_pair, sketch_pair
from bagpack.learn import load_model
from bagpack.sources import open_source
from tests.app.conftest import free_port, in_process
from tests.conftest import bagpack_command, run_apart
from tests.tasks.sheets import xlsx


def test_the_twin_says_what_python_says(web, world):
    source, model = open_source(world / "c.bp"), load_model(world / "m.model")
    found = web.get("/pair/kinda01/kindb01.json").json()
    sketch = sketch_pair(source, "kinda01", "kindb01").to_dict()
    assert found["sketch"]["terms"] == sketch["terms"] and found["sketch"]["together"] == sketch["together"]
    why = explain_pair(model, source, "kinda01", "kindb01", lines=0).to_dict()
    assert found["explanation"]["answer"] == why["answer"] and len(why["decisions"]) == 3
    for mine, theirs in zip(found["explanation"]["decisions"], why["decisions"], strict=True):
        assert mine["value"] == pytest.approx(theirs["value"], abs=1e-9)
        assert mine["bias"] + sum(mine["blocks"].values()) == pytest.approx(mine["value"], abs=1e-9)


def test_the_explanation_is_that_of_the_command(world):
    library = open_library(str(world / "c.bp"), str(world / "m.model"))
    found = library.explanation("kinda01", "kindb01", "tool")
    own = explain_pair(
        library.model, library.source, "kinda01", "kindb01", against="tool", top=8, lines=0, in_full=False
    )
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(own.to_dict()))


def test_words_pairs_and_lines_have_the_windows_of_the_model(world):
    library = open_library(str(world / "c.bp"), str(world / "m.model"))
    library.settings = CountSettings(Windows.parse("3/1-2-1"))
    found = queries.word(library, "the"), queries.pair(library, "the", "a")
    assert {page["sketch"]["windows"] for page in found} == {"3/1-2-1"}
    assert library.browser(["the", "a"]).windows == library.settings.windows


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

    model, pages, by_block, lines = run_apart(scene())
    assert {"v1", "v2", "v12", "v1·v2", "cosine", "pair"} <= by_block.keys()
    assert [page.status_code for page in pages] == [200, 200]
    for rows in (*model["strongest"].values(), *model["weakest"].values()):
        for row in rows:
            assert row["pattern"] != row["name"], row
            assert row["place"] or row["name"].startswith(("pair:", "v1·v2:", "cosine:")), row
    for name, (page, twin) in lines.items():
        assert page.status_code == twin.status_code == 200, name
        found = twin.json()
        if found["shown"]:
            assert '<mark class="w1">' in page.text or '<mark class="w2">' in page.text, name
            assert ('<mark class="term">' in page.text) == (not name.startswith("pair:")), name
        assert found["shown"] == len(found["lines"]) == min(found["total"], 100)
        assert f"{found['shown']} of {found['total']} lines for" in page.text
        if found["count"] != found["total"] and found["place"]:
            assert found["evidence"] in page.text


def test_data_set_and_its_errors(web):
    entry = web.get("/dataset.json").json()["data"][0]
    page = web.get(f"/dataset/{entry['id']}.json?size=1000").json()
    found = page["predictions"]
    wrong = [row for row in found["rows"] if not row["right"]]
    assert found["errors"] == len(wrong) > 0 and found["total"] == found["matching"] == entry["rows"]
    assert found["scores"]["accuracy"] == pytest.approx(1 - len(wrong) / found["total"])
    assert page["coverage"]["unknown_words"] == ["nosuchword"]
    one = web.get(f"/dataset/{entry['id']}/error.json?at=0").json()
    assert one["row"]["gap"] == max(row["gap"] for row in wrong)
    assert one["explanation"]["w1"] == one["row"]["w1"]
    assert web.get(f"/dataset/{entry['id']}/error.json?at=9999").status_code == 400


def test_training_pairs_are_marked(web):
    trained, other = (web.get(f"/pair/{pair}").text for pair in ("kinda01/kindb01", "kindb01/kinda01"))
    assert "The model was trained on this pair" in trained and "trained on this pair" not in other
    entry = web.get("/dataset.json").json()["data"][0]
    rows = web.get(f"/dataset/{entry['id']}.json?size=1000").json()["predictions"]["rows"]
    known = {(row["w1"], row["w2"]): row["trained"] for row in rows}
    assert known.pop(("nosuchword", "kindb01")) is False and all(known.values())
    page = web.get(f"/dataset/{entry['id']}?size=1000").text
    assert page.count('<span class="soft">training pair</span>') == len(known) > 3
    error = web.get(f"/dataset/{entry['id']}/error?at=0").text
    assert "The model was trained on this pair" in error


def test_one_row_is_not_called_rows(web):
    rows = b"w1\tw2\tlabel\nkinda01\tkindb01\tnosuchlabel\n"
    place = web.post("/dataset", files={"file": ("one.tsv", rows)}).headers["location"]
    assert web.get(f"{place}.json").json()["notes"] == [
        "1 row has a label that the model does not have, so it cannot be right: nosuchlabel",
        "1 of the pairs is training data of the model: the scores below are optimistic",
    ]
    shown = re.sub("<[^>]*>", "", web.get(place).text)
    assert "1 row of relations" in shown and "1 of 1 row " in shown
    assert not re.search(r"\b1 (rows|pairs|words)\b", shown)


def test_rows_are_filtered_sorted_and_downloaded(web):
    key = web.get("/dataset.json").json()["data"][0]["id"]

    def rows(**query):
        return web.get(f"/dataset/{key}.json", params={"size": 1000, **query}).json()["predictions"]["rows"]

    everything = rows()
    assert [row["line"] for row in everything] == sorted(row["line"] for row in everything)
    surest = [row["probability"] for row in rows(sort="probability", descending="true")]
    assert surest == sorted(surest, reverse=True) and 0 < surest[0] <= 1
    wrong = [row["line"] for row in everything if not row["right"]]
    assert [row["line"] for row in rows(show="wrong")] == wrong
    for label in {row[name] for row in everything for name in ("given", "predicted")}:
        assert rows(label=label) == [row for row in everything if label in (row["given"], row["predicted"])]
    assert {row["w1"] for row in rows(q="NOSUCH")} == {"nosuchword"}
    answer = web.get(f"/dataset/{key}/rows.csv?show=wrong&sort=together")
    table = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert sorted(int(row["line"]) for row in table) == wrong
    assert "attachment" in answer.headers["content-disposition"]
    labels = [name for name in table[0] if name.startswith("p(")]
    assert sum(float(table[0][name]) for name in labels) == pytest.approx(1, abs=1e-4)
    for query, hint in (({"sort": "colour"}, "colour"), ({"show": "some"}, "some"), ({"page": 0}, "page")):
        refused = web.get(f"/dataset/{key}.json", params=query)
        assert refused.status_code == 400 and hint in refused.json()["error"]


def test_a_label_has_typical_and_uncertain_pairs(web):
    page = web.get("/label/kind.json").json()
    assert all(row["predicted"] == "kind" for row in page["typical"]) and page["typical"]
    surest = [row["probability"] for row in page["typical"]]
    assert surest == sorted(surest, reverse=True)
    assert page["strongest"][0]["weight"] > 0 > page["weakest"][0]["weight"]
    assert not any("nosuchword" in (row["w1"], row["w2"]) for row in page["typical"] + page["uncertain"])
    assert web.get("/label/none.json").status_code == 400


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


def test_a_bad_request_is_answered_with_a_sentence(web):
    for url, hint in (
        ("/concordance.json?w1=the&sort=colour", "colour"), ("/concordance.json?w1=the&page=0", "page"),
        ("/concordance.json?w1=the&size=100000", "size"), ("/lines.json?w1=the&w2=a&feature=nonsense", "nonsense"),
        ("/pair/" + "x" * 300 + "/y.json", "200"), ("/compare.json?a1=x", "a2"), ("/nosuch.json", "no such"),
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
    assert host_and_port("[::1]:80") == ("::1", 80) and host_and_port("a/b") is None
    assert same_origin("https://corpus.lan", "corpus.lan:443") and not same_origin("ftp://a", "a")


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
    assert str(world) not in shown  # no page shows where files are stored


def test_uploads_are_bounded_and_from_here(web):
    def send(name, content, **headers):
        return web.post("/dataset", files={"file": (name, content)}, headers=headers)

    assert send("big.tsv", b"w1\tw2\n" + b"a\tb\n" * 300_000).status_code == 413
    for origin in ("http://evil.example", "http://localhost.evil.example", "http://[", "null", ""):
        assert send("x.tsv", b"w1\tw2\na\tb\n", Origin=origin).status_code == 403, origin
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


def test_the_page_of_a_workbook_names_the_sheets_that_are_not_read(web):
    for sheets, notes in (
        (
            [[["w1", "w2"], ["kinda01", "kindb01"]], [["old"]]],
            ["only the sheet 'Sheet1' is read, not 'Sheet2'"],
        ),
        ([[["w1", "w2"], ["kinda01", "kindb02"]]], []),
    ):
        place = web.post("/dataset", files={"file": ("book.xlsx", xlsx(*sheets))}).headers["location"]
        shown = web.get(f"{place}.json").json()["notes"]
        assert [note for note in shown if "sheet" in note] == notes


def test_a_label_and_a_score_make_an_upload_a_list_of_pairs(web):
    both = web.post(
        "/dataset", files={"file": ("both.tsv", b"w1\tw2\tlabel\tscore\nkinda01\tkindb01\tkind\t1\n")}
    )
    assert both.status_code == 303
    assert web.get(f"{both.headers['location']}.json").json()["entry"]["kind"] == "pairs"


def test_the_oldest_upload_goes():
    uploads = Uploads(2)
    for name in ("a", "b", "c"):
        uploads.add(DataEntry(name, name, "pairs", 1, True), Upload(name, b""))
    assert [entry.id for entry in uploads.entries()] == ["b", "c"]


def test_an_upload_of_what_was_named_at_the_start_is_no_new_data_set(web, world):
    before = web.get("/dataset.json").json()["data"]
    answer = web.post("/dataset", files={"file": ("wrong.tsv", (world / "wrong.tsv").read_bytes())})
    assert answer.headers["location"] == f"/dataset/{before[0]['id']}"
    assert len(web.get("/dataset.json").json()["data"]) == len(before)


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
    said = process.stderr.readline()
    httpx.get(f"http://127.0.0.1:{port}/", timeout=30)  # is answered as soon as the address is shown
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 0 and out == b"" and b"Traceback" not in err
    assert said == f"http://127.0.0.1:{port} shows c[v2].bp; press Ctrl-C to stop\n".encode()


def test_a_csv_holds_no_formula(tmp_path):
    source = tmp_path / "c.vert"
    source.write_text("<s>\n=1+1\n@sum\nthe\n-\n-2+3\n</s>\n")
    index_corpus(
        [str(source)], tmp_path / "c.bp", TextOptions(format="vertical", columns="word", level="form")
    )
    library = open_library(str(tmp_path / "c.bp"), None, (), Limits())

    async def download():
        async with in_process(library) as client:
            return (await client.get("/concordance/lines.csv?w1=the")).content.decode("utf-8-sig")

    (row,) = csv.DictReader(io.StringIO(run_apart(download())))
    cells = [cell for cell in row.values() if cell]
    assert any("=1+1" in cell for cell in cells)
    assert not any(cell[:1] in "=+-@\t\r" and len(cell) > 1 for cell in cells)


def test_an_unexpected_error_is_not_shown_to_visitors(world):
    app = create_app(open_library(str(world / "c.bp")))

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
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_pairs_of_frequent_words_have_a_lane_of_their_own(world, monkeypatch):
    library = open_library(str(world / "c.bp"))
    monkeypatch.setattr("bagpack.app.state.SLOW_COUNT", 50)  # in this small corpus
    assert library.is_slow("the", "a")
    assert not library.is_slow("the") and not library.is_slow("the", "kinda01")


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

    assert run_apart(ask(b"192.0.2.7:8765", ("192.0.2.7", 8765))) == 200
    assert run_apart(ask(b"192.0.2.8:8765", ("192.0.2.7", 8765))) == 400


def test_without_a_model_pages_say_how_to_load_one(world):
    library = open_library(str(world / "c.bp"), None, [str(world / "wrong.tsv")])
    queries.warm_up(library)
    key = next(iter(library.data))

    async def scene():
        async with in_process(library) as client:
            return {
                path: await client.get(path)
                for path in ("/", "/model", "/model.json", "/pair/kinda01/kindb01", f"/dataset/{key}")
            }

    found = run_apart(scene())
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
