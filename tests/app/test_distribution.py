"""How often a word or a pair occurs by an attribute of the documents, as a page and JSON."""

import signal
import subprocess

import httpx
import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from tests.app.conftest import ask
from tests.conftest import LIMIT, bagpack_command, free_port


@pytest.mark.parametrize(("words", "by"), [(("the",), "genre"), (("kinda01", "kindb01"), "year:20")])
def test_counts_are_those_of_the_corpus(web, world, words, by):
    query = {"w1": words[0], "w2": words[1] if len(words) > 1 else "", "by": by}
    data = web.get("/distribution.json", params=query).json()
    corpus = Corpus.open(world.store)
    assert data["total"] == corpus.contexts(*words, limit=None).total > 0
    assert sum(row["count"] for row in data["rows"]) == data["total"]
    for row in data["rows"]:
        value = row["value"]
        decades = "" if by == "genre" else f"year >= {value} and year < {int(value) + 20}"
        part = corpus.where(decades or f"genre == {value}")
        assert (row["count"], row["tokens"]) == (part.contexts(*words, limit=None).total, part.tokens)


def test_the_explorer_of_a_subcorpus_says_where_it_is_and_ends_quietly(world, tmp_path, monkeypatch):
    """`bagpack serve --where`: all pages count the selected documents alone. Ctrl-C is no error."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "c[v2].bp").symlink_to(world.store)
    where, port, corpus = "genre == news and year < 1950", free_port(), Corpus.open(world.store)
    command = bagpack_command("serve", tmp_path / "c[v2].bp", "--port", port, "--where", where)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    said, base = process.stderr.readline().decode(), f"http://127.0.0.1:{port}"
    assert said.startswith(f"{base} shows c[v2].bp") and "Ctrl-C" in said
    part = corpus.where(where)
    with httpx.Client(base_url=base, timeout=LIMIT) as client:  # answers as soon as the address is shown
        home = client.get("/").text
        assert f"{part.tokens:,}" in home and "genre == news and year &lt; 1950" in home
        shown = client.get("/word/the.json").json()["sketch"]["count"]
        assert 0 < shown == part.count("the") < corpus.count("the")
        rows = client.get("/distribution.json?w1=the&by=genre").json()["rows"]
        assert [(row["value"], row["tokens"]) for row in rows] == [("news", part.tokens)]
        rows = client.get("/distribution.json?w1=the&by=year").json()["rows"]
        assert [row["value"] for row in rows] == ["1900", "1920", "1940"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0 and out == b"" and b"Traceback" not in err


def test_attributes_to_choose_and_wrong_ones(web):
    found = web.get("/word/the.json").json()
    assert found["by"] == ["year:10", "year", "genre"] == web.get("/pair/the/a.json").json()["by"]
    assert web.get("/distribution.json?w1=the").json()["by"] == "year:10"
    wrong = web.get("/distribution.json?w1=the&by=colour")
    assert wrong.status_code == 400 and wrong.json()["error"].endswith("colour; they have genre, year")
    assert web.get("/distribution.json?w1=the&by=year:x").status_code == 400
    assert web.get("/distribution?w1=nosuchword").status_code == 404


TEXT = "A hammer in the living room. They make livings. He saw it. Saws and a hammer.\n"


def test_a_small_store_without_attributes(write, tmp_path):
    """It offers no distribution; a pair may be a run of words, and a misspelt word has suggestions."""
    store = index_corpus([str(write("saw.txt", TEXT))], tmp_path / "saw.bp").corpus.path
    found = ask("/pair/hammer/living%20room.json", store).json()
    assert found["sketch"]["together"] == 1 and found["by"] == []
    assert "/distribution" not in ask("/pair/hammer/saw", store).text
    answer = ask("/distribution?w1=hammer", store)
    assert answer.status_code == 404 and "no attributes" in answer.text
    for url in ("/word/hamer", "/pair/hamer/saw"):  # a link leads to the same page with the other spelling
        page = ask(url, store)
        assert page.status_code == 404
        assert f'Similar spellings: <a href="{url.replace("hamer", "hammer")}">hammer</a>' in page.text
