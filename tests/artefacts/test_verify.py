"""`bagpack verify` finds a changed byte in every kind of artefact."""

import json

import pytest


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.fixture
def made(tmp_path, write, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"A lion met a cat {n} times. The surgeon works in the hospital.\n" for n in range(20))
    write("a.txt", lines)
    write(
        "pairs.tsv", "w1\tw2\tlabel\nlion\tcat\tx\nsurgeon\thospital\ty\ncat\tlion\tx\nhospital\tsurgeon\ty\n"
    )
    for command in (
        ("index", "a.txt", "--out", "s.bp", "-j", 1),
        ("vectors", "s.bp", "pairs.tsv", "--out", "m.bpm", "-b", 20, "-j", 1),
        ("engine", "build", "tantivy:index", "a.txt"),
        ("train", "s.bp", "pairs.tsv", "--out", "m.model", "-b", 20, "-j", 1, "--no-scores"),
    ):
        done = cli(*command)
        assert done.code == 0, (command, done.err)
    return tmp_path


def test_every_kind(made, cli):
    for name in ("s.bp", "m.bpm", "index", "m.model"):
        assert cli("info", name, "--verify").code == 0, name
        assert cli("info", name).code == 0, name
        files = [path for path in (made / name).rglob("*") if path.is_file() and path.stat().st_size]
        assert len(files) > 4
        for path in files:
            content = path.read_bytes()
            damage(path)
            done = cli("info", name, "--verify")
            assert done.code == 1, path
            assert "unexpected error" not in done.err, path
            path.write_bytes(content)
        assert cli("info", name, "--verify").code == 0, name


def test_a_basis_out_of_rank_order(made, cli):
    done = cli("basis", "s.bp", "-b", 20)
    (made / "b.tsv").write_text(done.out)
    assert cli("info", "b.tsv", "--verify").code == 0
    assert not json.loads(cli("info", "b.tsv", "--json").out)["has_checksum"]  # printed, not saved
    assert cli("basis", "s.bp", "-b", 20, "--out", "saved.tsv").code == 0
    assert json.loads(cli("info", "saved.tsv", "--json").out)["has_checksum"]
    lines = done.out.splitlines(keepends=True)
    for first in (1, len(lines) - 2):  # a unigram, and a bigram of two with the same count
        (made / "b.tsv").write_text(
            "".join([*lines[:first], lines[first + 1], lines[first], *lines[first + 2 :]])
        )
        failed = cli("info", "b.tsv", "--verify")
        assert failed.code == 1
        assert "which is not rank order" in failed.out + failed.err
    (made / "b.tsv").write_text("kind\tterm\nunigram\tb\nunigram\ta\n")  # without counts it has no ranks
    assert cli("info", "b.tsv", "--verify").code == 0
