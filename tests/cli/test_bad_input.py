"""Every bad input: one clear sentence with the place and the cure, exit 1, nothing under the final name."""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from tests.kills import as_nobody

from bagpack.corpus.build.index import index_corpus

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
        assert done.code == 1 and "File name too long; " in done.err, args
        assert "x" * 300 in done.err and "unexpected error" not in done.err, args
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
def test_a_store_whose_name_is_not_utf8(cli, write, tmp_path):
    store = tmp_path / os.fsdecode(b"s\xff")
    made = cli("index", write("a.txt", "Lions sleep.\n"), "--out", store, "-j", 1)
    assert made.code == 0 and "s\ufffd: 3 tokens" in made.err
    assert json.loads(cli("info", store, "--json").out)["path"] == str(store)
    pairs, matrix = write("p.tsv", "w1\tw2\nlion\tsleep\n"), tmp_path / "m"
    refused = cli("vectors", store, pairs, "--out", matrix, "-b", 2, "-j", 1).sentence()
    assert "holds bytes that are not UTF-8; correct the word, or rename the file" in refused


def test_a_file_without_read_permission():
    with tempfile.TemporaryDirectory() as place:  # not tmp_path, into which other users cannot look
        source, mine = Path(place) / "secret.txt", Path(place) / "mine"
        source.write_text("Lions sleep.\n")
        source.chmod(0)
        mine.mkdir()
        os.chmod(place, 0o755)
        mine.chmod(0o777)
        said = as_nobody(lambda: index_corpus([str(source)], mine / "store.bp", jobs=1))
        assert said.startswith(f"{source} cannot be read: Permission denied; check the name")
        assert list(mine.iterdir()) == []


def test_places_without_files(fails, write, tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    for name in ("nope.txt", "*.nope", "link.txt", "empty"):
        assert f"there is no file {tmp_path / name}" in fails(tmp_path / name)
    assert "standard input is empty" in fails("-")
    made = write("made.bp/manifest.json", '{"kind": "corpus"}').parent
    (made / "segments").mkdir()
    assert "made.bp was made by BagPack" in fails(made)


# What a file is called and holds, what is reported, the option that skips it, and what the summary then says.
CAFE = b"<s>\ncaf\xe9\tN\tcaf\xe9\n</s>\n"
NO_SENTENCE = "no sentence was found in"
LINES = ("--bad-lines", "skip"), "1 line that did not fit the format was skipped"
NO_OPTION = (), ""
SKIPPED = [
    ("a.txt.gz", "plain\n", "has the suffix .gz but does not contain gz data", *NO_OPTION),
    ("a.txt", "", "a.txt is empty; ", *NO_OPTION),
    ("b.txt.gz", gzip.compress(b""), "is empty", *NO_OPTION),
    ("a.txt", "\n   \n\n", NO_SENTENCE, *NO_OPTION),
    ("a.vert", "<text id='a'>\n<s>\n</s>\n</text>\n", NO_SENTENCE, *NO_OPTION),
    ("a.conllu", "# only = comments\n\n", NO_SENTENCE, *NO_OPTION),
    ("a.jsonl", '{"text": " "}\n', NO_SENTENCE, *NO_OPTION),
    ("a.conllu", CONLLU * 33_334, "a.conllu:100,001 is past", *NO_OPTION),
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
    ("a.conllu", CONLLU + "4\tw\tw\n\n", "a.conllu:4 is not a line of CoNLL-U", *LINES),
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
def test_files_that_do_not_fit(name, content, reported, option, summary, fails, builds, write):
    source = write(name, content)
    sentence = fails(source)
    assert reported in sentence
    if option:
        assert option[0] in sentence
        assert summary in builds(source, *option)


def test_the_line_is_right_in_a_compressed_file_and_behind_a_slice(fails, write, monkeypatch):
    lines = VERTICAL + "<s>\nok\tN\tok\n</s>\n" * 500 + "<s>\nbroken\n</s>\n"
    number = lines.count("\n", 0, lines.index("broken")) + 1
    packed = write("a.vert.gz", gzip.compress(lines.encode()))
    assert f"a.vert.gz:{number:,} is not a line of" in fails(packed)
    monkeypatch.setattr("bagpack.corpus.build.plan.MIN_PART", 1000)
    assert f"a.vert:{number:,} is not a line of" in fails(write("a.vert", lines))


def test_an_output_that_exists(cli, write, tmp_path):
    source, out = write("a.txt", "Lions sleep.\n"), tmp_path / "s"
    for place, option, code, said in (
        (out, (), 0, ""), (out, (), 1, "exists already; choose another --out, --append to it, or --overwrite it"),
        (out, ("--overwrite",), 0, ""), (tmp_path / "none", ("--append",), 1, "does not exist; make one"),
        (source, ("--overwrite",), 1, "exists and is not a BagPack store"),
    ):  # fmt: skip
        done = cli("index", source, "--out", place, "-j", 1, *option)
        assert done.code == code and said in done.err
    assert source.read_text() == "Lions sleep.\n" and not (tmp_path / "none").exists()
