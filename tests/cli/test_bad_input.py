"""Every bad input: one clear sentence with the place and the cure, exit 1, nothing under the final name."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.conftest import LIMIT

from bagpack.corpus.readers.files import zstd

VERTICAL = "<text id='a'>\n<s>\n" + "Lions\tNNS\tlion\n" * 9 + "</s>\n"
CONLLU = "".join(f"{i}\tw\tw" + "\t_" * 7 + "\n" for i in range(1, 4))


@pytest.fixture
def fails(cli, tmp_path):
    """Run `bagpack index`; it must fail cleanly, and the sentence is returned."""

    def run(source, *options, code=1, stdin=b""):
        out = tmp_path / "store.bp"
        done = cli("index", source, "--out", out, "--jobs", 1, *options, stdin=stdin)
        sentence = done.sentence(code)
        assert not (out / "manifest.json").exists()
        assert out.exists() == (" kept: correct it" in sentence)
        return sentence

    return run


@pytest.fixture
def builds(cli, tmp_path):
    """Run `bagpack index`; it must succeed, and the summary is returned."""

    def run(source, *options):
        done = cli("index", source, "--out", tmp_path / "good.bp", "--overwrite", "--jobs", 1, *options)
        assert done.code == 0, done.err
        return " ".join(done.err.split())

    return run


def test_a_name_that_is_too_long(cli, write, tmp_path):
    source, long = write("a.txt", "Lions sleep.\n"), tmp_path / ("x" * 300)
    for args in (
        ("index", long, "--out", tmp_path / "s"), ("index", source, "--out", long), ("info", long),
        ("info", long, "--verify"), ("contexts", long, "lion"), ("explain", long, "lion", "cat"),
    ):  # fmt: skip
        done = cli(*args)
        assert done.code == 1, args
        assert "x" * 300 in done.err and "File name too long; " in done.err, args
        assert "unexpected error" not in done.err, args
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
def test_names_that_are_not_utf8(cli, tmp_path):
    folder = tmp_path / os.fsdecode(b"texts\xff")
    folder.mkdir()
    (folder / "a.txt").write_text("Lions sleep.\n")
    (folder / os.fsdecode(b"link\xfe.txt")).symlink_to("a.txt")
    store = tmp_path / os.fsdecode(b"s\xff")
    made = cli("index", folder, "--out", store, "-j", 1)
    assert made.code == 0, made.err
    assert "s\ufffd: 3 tokens" in made.err
    assert cli("info", store).code == 0
    facts = json.loads(cli("info", store, "--json").out)
    assert facts["path"] == str(store)
    assert [file["path"].rpartition("/")[2] for file in facts["left_out"]] == ["link\\xfe.txt"]
    refused = cli(
        "vectors", store, "-", "--out", tmp_path / "m", "-b", 2, "-j", 1, stdin=b"w1\tw2\nlion\tsleep\n"
    )
    assert refused.code == 1
    assert "holds bytes that are not UTF-8; correct the word, or rename the file" in refused.err


# The first index loads every module that is needed, which another user may not be able to read.
AS_NOBODY = """
import os, sys
from bagpack.cli import main
readable, *wanted = sys.argv[1:]
sys.argv[1:] = ["index", readable, "--out", readable + ".bp", "-j", "1", "--quiet"]
main()
os.setgid(65534)
os.setuid(65534)
sys.argv[1:] = wanted
main()
"""


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)
def test_a_file_without_read_permission(write, tmp_path):
    source = write("secret.txt", "Lions sleep.\n")
    open_to_all = write("open.txt", "Lions sleep.\n")
    source.chmod(0)
    for directory in [tmp_path, *tmp_path.parents][:4]:  # pytest's own, up to the place for temporary files
        if directory != Path(tempfile.gettempdir()):
            directory.chmod(0o755)
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o777)
    mine.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, open_to_all, "index", source, "--out", mine / "store.bp", "-j", "1"],
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"bagpack: {source} cannot be read: Permission denied; check the name")
    assert list(mine.iterdir()) == []


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_truncated_and_a_damaged_compressed_file(kind, fails, write):
    data = COMPRESS[kind]("".join(f"Line {i * 7919 % 100003} of many.\n" for i in range(40_000)).encode())
    sentence = fails(write(f"a.txt.{kind}", data[: len(data) * 2 // 3]))
    assert f"a.txt.{kind} is truncated" in sentence
    assert "fetch it again" in sentence
    half = len(data) // 2
    sentence = fails(write(f"a.txt.{kind}", data[:half] + b"\xaa" * 40 + data[half + 40 :]))
    # A damaged stream may also be one that never ends, or text that is none.
    assert "fetch it again" in sentence or "is not utf-8" in sentence


# What a file is called and holds, and what is reported: exit 1, and nothing under the final name.
BAD = [
    ("a.txt.gz", "plain\n", "has the suffix .gz but does not contain gz data"),
    ("a.txt", "", "a.txt is empty; "),
    ("b.txt.gz", gzip.compress(b""), "is empty"),
    ("a.txt", "\n   \n\n", "no sentence was found in"),
    ("a.vert", "<text id='a'>\n<s>\n</s>\n</text>\n", "no sentence was found in"),
    ("a.conllu", "# only = comments\n\n", "no sentence was found in"),
    ("a.jsonl", '{"text": " "}\n', "no sentence was found in"),
    ("a.conllu", "".join(f"{i}\tw\tw" + "\t_" * 7 + "\n" for i in range(1, 100_010)), "a.conllu:100,001 is past"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "reported"), BAD, ids=range(len(BAD)))
def test_files_that_hold_no_text(name, content, reported, fails, write):
    assert reported in fails(write(name, content))


def test_places_without_files(fails, write, tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    for name in ("nope.txt", "*.nope", "link.txt", "empty"):
        assert f"there is no file {tmp_path / name}" in fails(tmp_path / name)
    assert "standard input is empty" in fails("-")
    made = write("made.bp/manifest.json", '{"kind": "corpus"}').parent
    (made / "segments").mkdir()
    assert "made.bp was made by BagPack" in fails(made)


# What can be skipped: what is reported, the option that skips it, and what the summary then says.
CAFE = b"<s>\ncaf\xe9\tN\tcaf\xe9\n</s>\n"
LINES = ("--bad-lines", "skip"), "1 line that did not fit the format was skipped"
SKIPPED = [
    ("a.txt", b"Fine.\n\nA caf\xe9 and na\xefve.\n",
     "a.txt:3 is not utf-8 (byte 0xe9); name the encoding (--encoding latin-1?)",
     ("--encoding-errors", "replace"), "2 places with invalid bytes"),
    ("a.vert", VERTICAL.encode() + CAFE, "a.vert:14 is not utf-8 (byte 0xe9)", ("--encoding", "latin-1"), "10 tokens"),
    ("a.vert", VERTICAL.encode() + CAFE, "--encoding-errors replace or skip", ("--encoding-errors", "skip"),
     "2 places with invalid bytes"),
    ("a.vert", VERTICAL.encode() + b"<text id='caf\xe9'>\n", "a.vert:13 is not utf-8", ("--encoding-errors", "skip"),
     "1 place "),
    ("a.vert", VERTICAL + "<s>\nbroken\tNN\nfine\tNN\tfine\n</s>\n",
     "a.vert:14 is not a line of word,tag,lemma: 'broken\\tNN'", *LINES),
    ("a.vert", VERTICAL + "<s>\n\tNN\tx\n</s>\n", "a.vert:14 is not a line of word,tag,lemma", *LINES),
    ("a.conllu", CONLLU + "4\tw\tw\n\n", "a.conllu:4 is not a line of CoNLL-U", *LINES),
    ("a.conllu", CONLLU + "x\tw\tw" + "\t_" * 7 + "\n\n", "a.conllu:4 is not a line of CoNLL-U", *LINES),
    ("a.conllu", CONLLU + "4-x\tw\tw" + "\t_" * 7 + "\n\n", "a.conllu:4 is not a line of CoNLL-U", *LINES),
    ("a.conllu", CONLLU + "4\t\tw" + "\t_" * 7 + "\n\n", "a.conllu:4 is not a line of CoNLL-U", *LINES),
    ("a.jsonl", '{"text": "Lions sleep."}\n{"body": "x"}\n',
     "a.jsonl:2 has no text in a field 'text' (it has: body); name the field with --text-field", *LINES),
    ("a.jsonl", '{"text": "Lions sleep."}\n{"text": 5}\n', "a.jsonl:2 has no text in a field 'text'", *LINES),
    ("a.jsonl", '{"text": "Lions sleep."}\n{"text": "x"\n', "a.jsonl:2 is not JSON", *LINES),
    ("a.jsonl", '{"text": "Lions sleep."}\n[1]\n', "a.jsonl:2 is JSON but no object", *LINES),
    ("a.vert", "<s>\n" + "lion\tN\tlion\n" * 150_000 + "</s>\n", "a.vert:100,002 is past 100,000 tokens",
     ("--max-sentence", 150_000), "150,000 tokens, 1 sentence"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "reported", "option", "summary"), SKIPPED, ids=range(len(SKIPPED))
)
def test_lines_and_bytes_that_can_be_skipped(name, content, reported, option, summary, fails, builds, write):
    source = write(name, content)
    sentence = fails(source)
    assert reported in sentence
    assert option[0] in sentence
    assert summary in builds(source, *option)


def test_the_line_is_right_in_a_compressed_file_and_behind_a_slice(fails, write, monkeypatch):
    lines = VERTICAL + "<s>\nok\tN\tok\n</s>\n" * 500 + "<s>\nbroken\n</s>\n"
    number = lines.count("\n", 0, lines.index("broken")) + 1
    assert f"a.vert.gz:{number:,} is not a line of" in fails(
        write("a.vert.gz", gzip.compress(lines.encode()))
    )
    monkeypatch.setattr("bagpack.corpus.build.plan.MIN_PART", 1000)
    assert f"a.vert:{number:,} is not a line of" in fails(write("a.vert", lines))


@pytest.mark.parametrize("name", ["a.txt", "a.vert", "a.jsonl", "a.conllu"])
def test_a_line_that_is_too_long(name, fails, write):
    start = {"a.vert": VERTICAL, "a.jsonl": '{"text": "ok"}\n', "a.conllu": CONLLU + "\n"}.get(
        name, "Fine.\n"
    )
    number = start.count("\n") + 1
    sentence = fails(write(name, start.encode() + b"x" * 100_000_000 + b"\nmore\n"))
    assert f"{name}:{number} is a line of more than 32 MiB; break the text into lines" in sentence


def test_an_output_that_exists(cli, write, tmp_path):
    source, out = write("a.txt", "Lions sleep.\n"), tmp_path / "s"
    for place, option, code, said in (
        (out, (), 0, ""), (out, (), 1, "exists already; choose another --out, --append to it, or --overwrite it"),
        (out, ("--overwrite",), 0, ""), (tmp_path / "none", ("--append",), 1, "does not exist; make one"),
        *((other, more, 1, "exists and is not a BagPack store")
          for other in (source, tmp_path) for more in ((), ("--overwrite",))),
    ):  # fmt: skip
        done = cli("index", source, "--out", place, "-j", 1, *option)
        assert done.code == code and said in done.err
    assert source.read_text() == "Lions sleep.\n" and not (tmp_path / "none").exists()
