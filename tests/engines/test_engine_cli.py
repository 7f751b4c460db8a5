"""The commands, as users run them."""

import json

import pytest
from engine_servers import PASSWORD

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
    assert len(json.loads(found.out)["examples"]) == 14 and "s3cret" not in found.out + found.err
    own = cli(*base, "tantivy:", "--forms", write("forms.tsv", "lion\tlioness\n"), "--json")
    assert json.loads(own.out)["forms"]["lion"] == ["lion", "lioness"]
    assert cli(*base, "tantivy:", "--forms", "nowhere.tsv").code == 1
    assert "'solr'" in cli(*base, "solr:x").sentence(2)
    paid = (*base, "api:google", "--limit", 20)
    assert "At most 150 requests (--limit 20), $0.75, " in cli(*paid, "--rate", 2).out
    facts = json.loads(cli(*paid, "--json").out)
    assert (facts["requests"], facts["dollars"], facts["seconds"]) == (150, 0.75, None)


WRONG = {
    1: ["tantivy:nowhere"],
    2: ["api:google", "x --rate 0", "x --limit 2147483648", "x --budget -1", "x --rate nan", "x --limit 0",
        "x --level stem", "x --columns w1"],
}  # fmt: skip


def test_wrong_options_are_refused(cli, pairs):
    for code, every in WRONG.items():
        for arguments in map(str.split, every):
            done = cli("fetch", pairs, "--out", "s.bps", "--engine", *arguments)
            assert done.code == code and done.err.startswith("bagpack: ")
            assert all(argument in done.err for argument in arguments[1:])


def test_from_text_to_vectors(cli, pairs, write, tmp_path, monkeypatch):
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
    assert "limit of 1 " in cli(*arguments, "--overwrite", "--limit", 1).err
    assert cli("vectors", out, pairs, "--out", tmp_path / "m.tsv", "-b", 5, "-j", 1).code == 0
    assert "cat\tlion\tv12:" in (tmp_path / "m.tsv").read_text()

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bagpack.engines.fetch.fetch_snippets", interrupted)
    assert "kept" in cli(*arguments).sentence(130)
