"""The commands, as users run them."""

import functools
import json

import pytest
from engine_servers import PASSWORD

from bagpack.engines import cache as cache_module

SERVER = f"opensearch+http://me:{PASSWORD.replace('/', '%2F')}@127.0.0.1:9/x?field=y"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def pairs(write):
    return write("pairs.tsv", "w1\tw2\tlabel\ncat\tlion\tanimal\nlion\tcat\tanimal\ncat\tdog\tanimal\n")


def test_a_dry_run_prints_forms_queries_and_cost(cli, pairs, write):
    base = ("fetch", pairs, "--dry-run", "--engine")
    local = cli(*base, "tantivy:").out
    assert local.splitlines()[:2] == ["cat\tcat, cats, catting, catted", "lion\tlion, lions"]
    assert "\n(lion OR lions) * * * * (cat OR cats OR catting OR catted)\n" in local
    found = cli(*base, SERVER, "--json")
    assert len(json.loads(found.out)["examples"]) == 14
    assert "s3cret" not in found.out + found.err
    own = cli(*base, "tantivy:", "--forms", write("forms.tsv", "lion\tlioness\n"), "--json")
    assert json.loads(own.out)["forms"]["lion"] == ["lion", "lioness"]
    assert cli(*base, "tantivy:", "--forms", "nowhere.tsv").code == 1
    assert "no engine 'solr'" in cli(*base, "solr:x").sentence(2)
    paid = (*base, "api:google", "--limit", 20)
    assert "At most 150 requests (--limit 20), $0.75, " in cli(*paid, "--rate", 2).out
    facts = json.loads(cli(*paid, "--json").out)
    assert (facts["requests"], facts["dollars"], facts["seconds"]) == (150, 0.75, None)
    assert cli("fetch", pairs, "--engine", "api:google", "--out", "s.bps").code == 2


def test_from_text_to_vectors(cli, pairs, write, tmp_path):
    corpus = write("text.txt", "A cat and a lion.\nThe lion saw a cat.\nDogs bark.\n")
    index, out = tmp_path / "index", tmp_path / "s.bps"
    assert json.loads(cli("engine", "build", index, corpus, "--jobs", 1, "--json").out)["sentences"] == 3
    assert cli("engine", "build", index, corpus).code == 1
    arguments = ("fetch", pairs, "--engine", f"tantivy:{index}", "--out", out)
    facts = json.loads(cli(*arguments, "--dry-run", "--json").out)
    assert (facts["queries"], facts["words"], facts["pairs"]) == (27, 3, 2)
    assert not out.exists() and not list((tmp_path / "cache").rglob("requests*"))
    first = cli(*arguments, "--json")
    assert (first.code, json.loads(first.out)["requests"]) == (0, 0), "the index is a directory"
    assert "--overwrite" in cli(*arguments).sentence()
    assert "reached the limit of 1 snippets" in cli(*arguments, "--overwrite", "--limit", 1).err
    assert cli("vectors", out, pairs, "--out", tmp_path / "m.tsv", "-b", 5).code == 0
    assert "cat\tlion\tv12:" in (tmp_path / "m.tsv").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--rate", "0"), 2, "--rate 0"), (("--limit", "0"), 2, "--limit 0"),
        (("--limit", "2147483648"), 2, "2147483648"), (("--budget", "-1"), 2, "--budget -1"),
        (("--level", "stem"), 2, "--level stem"), (("--columns", "w1"), 2, "--columns w1"),
        (("--engine", "tantivy:nowhere"), 1, "nowhere does not exist"), (("--engine", SERVER), 1, "does not answer"),
    ],
)  # fmt: skip
def test_bad_requests(arguments, code, message, cli, pairs, tmp_path, monkeypatch):
    once = functools.partial(cache_module.RequestPolicy, retries=0)
    monkeypatch.setattr(cache_module, "RequestPolicy", once)
    result = cli("fetch", pairs, "--engine", "tantivy:x", "--out", tmp_path / "s.bps", *arguments)
    assert result.code == code and message in result.err
    assert "s3cret" not in result.err and result.err.startswith("bagpack: ")
