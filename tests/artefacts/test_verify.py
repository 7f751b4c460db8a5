"""`bagpack verify` finds a changed byte in every kind of artefact."""

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
    ):
        done = cli(*command)
        assert done.code == 0, (command, done.err)
    return tmp_path


def test_every_kind(made, cli):
    for name in ("s.bp", "m.bpm", "index"):
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


def test_a_basis(made, cli):
    assert cli("basis", "s.bp", "-b", 20, "--out", "saved.tsv").code == 0
    assert cli("basis", "s.bp", "-b", 20).out == (made / "saved.tsv").read_text()
    assert cli("info", "saved.tsv", "--verify").code == 0
    (made / "saved.tsv").write_text((made / "saved.tsv").read_text() + "unigram\n")
    assert cli("info", "saved.tsv", "--verify").code == 1
