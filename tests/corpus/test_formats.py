"""Every format in every wrapping and encoding; damaged files end in one sentence."""

import gzip
import io
import json
import os
import random
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_oracle import COMPRESSORS, DATA, build, files_of, sentences, words
from tests.conftest import samples

from bagpack import Corpus, index_corpus
from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Slice
from bagpack.corpus.readers.files import expand
from bagpack.corpus.readers.look import LeftOut, look
from bagpack.corpus.readers.text import is_wrapped
from bagpack.corpus.text.encoding import check_encoding, decode, detect_encoding
from bagpack.errors import InputError, UsageError

COMPRESSIONS = {"": bytes, **{f".{kind}": compress for kind, compress in COMPRESSORS.items()}}
NAMES = {"text": "a.txt", "vertical": "a.vert", "conllu": "a.conllu", "jsonl": "a.jsonl"}
FILES = {format: (name, (DATA / name).read_text()) for format, name in NAMES.items()}
EXPECTED = [["Lions", "sleep", "."], ["Cats", "do", "n't", "."], ["Dogs", "bark", "."]]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("format", FILES)
def test_every_format_in_every_compression(format, suffix, tmp_path, write):
    """And of several streams, with zeros between them and at the end, where that is allowed."""
    name, text = FILES[format]
    halves = [COMPRESSIONS[suffix](half) for half in (text.encode()[:20], text.encode()[20:])]
    padding = bytes(8) if suffix in (".gz", ".bz2", ".xz") else b""
    corpus = build(write(name + suffix, b"".join(half + padding for half in halves)), tmp_path / "s")
    assert corpus.manifest["sources"][0]["format"] == format
    assert words(corpus) == EXPECTED
    if padding:  # what is no stream is damage, not padding
        source = write(f"{name}.bad{suffix}", halves[0] + b"\xaa" * 40 + halves[1])
        with pytest.raises(InputError, match=r"\.bad.*damaged"):
            build(source, tmp_path / "s")


@pytest.mark.parametrize("ids", [{"id": ["x", "y"]}, {}])
def test_parquet(ids, tmp_path):
    source = tmp_path / "a.parquet"
    table = pa.table({**ids, "text": ["Lions sleep. Cats don't.", "Dogs bark."], "other": [1, 2]})
    pq.write_table(table, source, row_group_size=1)
    plan = make_plan([str(source)], TextOptions(), 50)
    assert (len(plan.parts), plan.weight) == (2, 2 * source.stat().st_size)
    corpus = build(source, tmp_path / "s", part_bytes=50)
    assert words(corpus) == EXPECTED
    one, two = ids.get("id", [f"{source}:1", f"{source}:2"])
    assert [document for document, _ in sentences(corpus)] == [one, one, two]
    for table in ({"text": [1, 2]}, {"text": [b"Lions sleep.", b"Caf\xe9."]}, {"body": ["Yes.", None]}):
        pq.write_table(pa.table(table), source)
        with pytest.raises(InputError, match=r"a\.parquet .*'text' .*: (body)?\).* --text-field"):
            build(source, tmp_path / "s")
    corpus = build(source, tmp_path / "s", text_field="body")
    assert words(corpus) == [["Yes", "."]]
    assert corpus.manifest["problems"]["skipped_lines"] == 1


def test_json_ids_and_fields(tmp_path, write):
    rows = '{"key": "k", "body": "Smile \\ud83d now \\ud83d\\ude00."}\n{"body": "Two."}\n{"key": null, "body": ""}\n'
    source = write("a.jsonl", rows)
    corpus = build(source, tmp_path / "s", text_field="body", id_field="key")
    assert [document for document, _ in sentences(corpus)] == ["k", f"{source}:2"]
    assert corpus.documents == 3
    assert words(corpus)[0] == ["Smile", "?", "now", "😀", "."]  # half a surrogate pair, and a whole one
    assert corpus.manifest["problems"]["undecodable"] == 1


@pytest.mark.parametrize(("name", "format", "text"), samples("corpus/data/recognised.jsonl"))
def test_recognition(name, format, text, write):
    """By the content first, which tells more than a name."""
    options = TextOptions(level="form")
    assert look(str(write(name, text)), options).format == format
    packed = write(name + ".gz", gzip.compress(text.encode()))
    assert look(str(packed), options).format == format


def test_hard_wrapped_text_is_unwrapped(tmp_path, write):
    text = (
        "The lion is a large cat of the genus Panthera that\nlives in Africa and in India.\n\n"
        "It sleeps for most of the day, in the shade of the\ntrees that grow there, and hunts with its whole\n"
        "pride.\n\n"
    ) * 3
    corpus = build(write("a.txt", text), tmp_path / "s")
    assert [line[-2] for line in words(corpus)] == ["India", "pride"] * 3
    assert len(words(build(write("a.txt", text), tmp_path / "s", paragraphs="line"))) == 15
    crlf = build(write("a.txt", text.replace("\n", "\r\n")), tmp_path / "s")
    assert words(crlf) == words(corpus)


LINE = "The lion sleeps for most of the day in the shade."
NOT_WRAPPED = {
    "short lines": "where is the lion\nin the house\n\nis he asleep\nyes\nhe is\n\nlook at him\noh\n\n" * 4,
    "lines of any length": (LINE + "\nYes, it does.\nDoes it?\nIt does not.\nNever.\n\n") * 4,
    "lines of half the length": (LINE + "\n" + "It sleeps in the warm shade.\n" * 2 + "\n") * 4,
    "even, but short lines": ("The lion sleeps tonight.\n" * 4 + "\n") * 4,
    "long lines": (" ".join([LINE] * 3) + "\n") * 4 + "\n",
    "too few to say": (LINE + "\nYes.\n\n") * 2,
    "no blank lines": (LINE + "\n") * 20,
}


@pytest.mark.parametrize("kind", NOT_WRAPPED)
def test_lines_that_are_not_wrapped_are_not_joined(kind, tmp_path, write):
    """Or words of two lines would co-occur."""
    lines = [line for line in NOT_WRAPPED[kind].split("\n") if line]
    corpus = build(write("a.txt", NOT_WRAPPED[kind]), tmp_path / "s", punctuation="drop")
    assert corpus.sentences >= len(lines)
    assert not is_wrapped(NOT_WRAPPED[kind].encode())


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_line_has_a_greatest_length_wherever_blocks_end(suffix, write, monkeypatch):
    """Also where the block that it begins in holds some of it, which used to be allowed on top."""
    monkeypatch.setattr("bagpack.corpus.readers.files.BLOCK", 700)
    for length, allowed in ((999, True), (1000, False), (1600, False)):
        line = b"Lions sleep.\n" + b"x" * length + b"\nCats hunt.\n"
        part = Slice(look(str(write(f"a.txt{suffix}", COMPRESSIONS[suffix](line))), TextOptions()))
        with nullcontext() if allowed else pytest.raises(InputError, match=":2 "):
            assert b"".join(block.data for block in part.blocks(TextOptions(max_line=1000))) == line


@pytest.mark.parametrize("format", FILES)
def test_a_line_that_is_too_long(format, tmp_path, write, monkeypatch):
    monkeypatch.setattr("bagpack.corpus.readers.files.BLOCK", 700)
    name, text = FILES[format]
    number = text.rstrip("\n").count("\n") + 2
    source = write(name, text.rstrip("\n") + "\n" + "x" * 5000 + "\nmore\n")
    with pytest.raises(InputError, match=f"{name}:{number} is a line of more than .*; break the text"):
        build(source, tmp_path / "s", max_line=1000)


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_truncated_and_a_damaged_compressed_file(kind, tmp_path, write):
    data = COMPRESSORS[kind]("".join(f"Line {i * 7919 % 100003} of many.\n" for i in range(40_000)).encode())
    half = len(data) // 2
    # A damaged stream may also be one that never ends, or text that is none.
    for content, problem in (
        (data[: len(data) * 2 // 3], "is truncated .*; fetch it again"),
        (data[:half] + b"\xaa" * 40 + data[half + 40 :], "fetch|utf-8"),
    ):
        with pytest.raises(InputError, match=rf"a\.txt\.{kind}.* {problem}"):
            build(write(f"a.txt.{kind}", content), tmp_path / "s")


def test_a_file_that_became_shorter_while_it_was_read(write):
    source = look(str(write("a.txt", "Lions sleep.\n" * 100)), TextOptions())
    Path(source.path).write_text("Lions sleep.\n" * 50)
    with pytest.raises(InputError, match=r"a\.txt"):
        list(Slice(source, 0, source.size).blocks(TextOptions()))


def test_damaged_parquet_files_end_in_a_sentence(tmp_path):
    whole, damaged = tmp_path / "whole.parquet", tmp_path / "damaged.parquet"
    rows = [f"The lion number {i} sleeps under tree {i * 7919 % 97}." for i in range(400)]
    pq.write_table(pa.table({"id": list(map(str, range(400))), "text": rows}), whole, row_group_size=100)
    data, chance, failed = whole.read_bytes(), random.Random(1), 0
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 8))):
            broken[chance.randrange(4, len(data))] ^= 1 << chance.randrange(8)
        damaged.write_bytes(broken[: chance.randrange(8, len(data))] if chance.random() < 0.2 else broken)
        try:
            build(damaged, tmp_path / "s", format="parquet")
        except InputError as error:
            failed += 1
            assert "\n" not in str(error)
        assert not list(tmp_path.glob("*.partial"))
    assert failed > 10


FOOTERS = """
import sys
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.look import look, reader_for
from bagpack.errors import InputError

path = sys.argv[1]
data = open(path, "rb").read()
for at in range(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data)):
    for bit in (1, 4, 16):
        with open(path, "wb") as file:
            file.write(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        try:
            reader_for("parquet").slices(look(path, TextOptions(format="parquet")), 1 << 20, TextOptions())
        except InputError:
            pass
"""


def test_no_damage_in_a_parquet_footer_ends_the_process(tmp_path):
    """pyarrow calls abort() where it is asked for a column whose statistics are wrong."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"] * 9, "text": ["Lions sleep."] * 9}), path, row_group_size=3)
    run = [sys.executable, "-c", FOOTERS, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-500:]


REFUSED = [
    "utf-7", "iso2022_jp", "iso-2022-jp-2", "iso2022_kr", "hz", "utf-16", "utf-32", "cp037", "unicode_escape",
    "raw_unicode_escape", "idna",
]  # fmt: skip


def test_encodings_that_are_refused(tmp_path, write):
    """Those whose lines cannot be found, and what is no encoding."""
    for name in [*REFUSED, "klingon", "rot13", "base64", "a\0b"]:
        problem = "UTF-8" if name in REFUSED else "latin-1"
        with pytest.raises(UsageError, match=f"--encoding {name} .*{problem}"):
            check_encoding(name)
    with pytest.raises(InputError, match=r"a.txt .*ISO-2022"):  # and is not taken for ASCII
        build(write("a.txt", "Lions sleep. 昨日.\n".encode("iso2022_jp")), tmp_path / "s")


def test_every_name_of_latin_1_is_read_as_browsers_read_it():
    for name in ("latin-1", "latin1", "LATIN_1", "iso-8859-1", "iso8859-1", "ISO_8859-1", "l1"):
        assert decode(b"caf\xe9 \x93x\x94 \x81", name) == "café “x” \x81"


@pytest.mark.parametrize(("lang", "encoding", "text"), samples("corpus/data/encodings.jsonl"))
def test_detection(lang, encoding, text):
    data = ("Some lines are plain.\n" * 3 + text + "\n").encode(encoding)
    assert decode(data, detect_encoding(data, lang)).endswith(text + "\n")
    assert detect_encoding(data.decode(encoding).encode(), lang) == "utf-8"
    assert detect_encoding(b"plain\n", lang) == "utf-8"


def test_a_folder_with_files_in_several_encodings(tmp_path, write, cli):
    write("c/a.txt", "The lion sleeps in the café.\n")
    write("c/b.txt", "The lion sleeps in the café at noon.\n".encode("latin-1"))
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--dry-run")
    assert done.code == 1
    assert "c/b.txt:1 " in done.err and "--encoding latin-1" in done.err
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--jobs", 1, "--encoding", "auto")
    assert f"{tmp_path}/c/b.txt (latin-1)" in done.err and "a.txt" not in done.err
    corpus = Corpus.open(tmp_path / "s")
    assert [entry.get("encoding") for entry in corpus.manifest["sources"]] == [None, "latin-1"]
    assert (corpus.tokens, corpus.count("café")) == (16, 2)


def test_every_repaired_file_is_named(tmp_path, write, cli):
    write("c/a.txt", b"Lions \xff sleep \xff.\n")
    write("c/b.vert", b"<s>\nLi\xffons\tN\tlion\nLi\xffons\tN\tlion\n</s>\n")
    write("c/c.vert", b"<s>\nCats\tN\tcat\n</s>\n")
    named = {f"{tmp_path}/c/{name}": count for name, count in {"a.txt": 2, "b.vert": 2}.items()}
    options = TextOptions(encoding_errors="replace")
    summary = index_corpus([str(tmp_path / "c")], tmp_path / "s", options, jobs=1)
    assert summary.about("repaired") == named
    assert summary.problems["undecodable"] == 4
    done = cli("index", tmp_path / "c", "--out", tmp_path / "t", "--jobs", 1, "--encoding-errors", "skip")
    assert f"{tmp_path}/c/a.txt (2), {tmp_path}/c/b.vert (2)" in done.err
    facts = json.loads(cli("info", tmp_path / "t", "--json").out)
    assert {entry["path"]: entry["repaired"] for entry in facts["sources"] if "repaired" in entry} == named


def test_a_wrong_encoding_deep_in_a_large_file_is_seen_before_the_work(tmp_path, write):
    source = write("a.txt", b"The lion sleeps all day.\n" * 150_000 + b"caf\xe9\n")
    with pytest.raises(InputError, match=r"a.txt:150,001 .*0xe9"):
        index_corpus(
            [str(source)], tmp_path / "s", jobs=1, planned=lambda plan: pytest.fail("the work began")
        )


def test_file_names_that_are_not_utf8(tmp_path, cli):
    directory = tmp_path / "c"
    directory.mkdir()
    (directory / os.fsdecode(b"caf\xe9.txt")).write_text("The lion sleeps.\n")
    (directory / os.fsdecode(b"empty\xe9.txt")).touch()
    done = cli("index", directory, "--out", tmp_path / "s", "--jobs", 1)
    assert done.code == 0
    assert "empty\\xe9.txt (empty)" in done.err
    assert cli("index", directory, "--out", tmp_path / "s", "--jobs", 1, "--resume").code == 0
    assert "caf\\xe9.txt" in cli("contexts", tmp_path / "s", "lion").out
    assert sentences(Corpus.open(tmp_path / "s"))[0][0] == f"{directory}/caf\\xe9.txt"


def archive():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("word/document.xml", "<w:t>The lion.</w:t>")
    return held.getvalue()


ODD = {
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF file"),
    "b.docx": (archive(), "a zip archive"),
    "deep/page.html": (b"\n<!DOCTYPE HTML>\n<html><p>A lion.</p></html>\n", "an HTML page"),
    "deep/page.html.gz": (gzip.compress(b"<html>\n<p>A lion.</p>\n"), "an HTML page"),
    "deep/strict.xhtml": (b'<?xml version="1.0"?>\n<!-- a\nb -->\n<html xmlns="x">', "an HTML page"),
    "doctype.xml": (b"<!DOCTYPE T>\n<T>Lions.</T>\n", "an XML file"),
    "list.json": (b'[{"text": "Lions sleep."},\n {"text": "Cats hunt."}]\n', "JSON, but not JSON lines"),
    "none.txt.gz": (gzip.compress(b""), "empty"),
    "photo.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "not text: it holds NUL bytes"),
    "record.json": (b'{\n  "text": "Lions sleep."\n}\n', "JSON, but not JSON lines"),
    "tei.xml": (b"<TEI><text><p>Lions sleep.</p></text></TEI>\n", "an XML file"),
    "zero.txt": (b"", "empty"),
}
LEFT_OUT = [LeftOut(f"c/{name}", reason) for name, (_, reason) in ODD.items()]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(write):
    """Texts, and what stands among them."""
    for name, (content, _) in ODD.items():
        write(f"c/{name}", content)
    for name in ("c/a.txt", "c/deep/m.txt", "c/z.txt"):
        for place in ("", "texts/"):
            write(f"{place}{name}", f"The lion of {name} sleeps.\nA tag such as <html> is a word here.\n")
    return "c"


@pytest.mark.parametrize("name", ODD)
def test_a_file_that_was_named_by_hand_is_refused(name, write, cli):
    write(f"c/{name}", ODD[name][0])
    for named in (f"c/{name}", f"c/{name[:-1]}?"):
        assert f"c/{name} is {ODD[name][1]}; " in cli("index", named, "--out", "s.bp").sentence()
    if name in ("deep/page.html", "list.json", "tei.xml"):
        corpus = index_corpus([f"c/{name}"], "s.bp", TextOptions(format="text"), jobs=1).corpus
        assert corpus.count("lion") == 1 and corpus.tokens > 5  # as it is, when that is asked for


def test_a_directory_is_read_without_them(folder, cli):
    one, two = (index_corpus([folder], f"{jobs}.bp", jobs=jobs, part_bytes=40) for jobs in (1, 2))
    assert files_of(Path("1.bp")) == files_of(Path("2.bp"))
    assert one.left_out == two.left_out == one.corpus.left_out == LEFT_OUT
    plain = index_corpus(["texts"], "plain.bp", jobs=1, part_bytes=40)
    assert (plain.left_out, plain.corpus.tokens) == ([], one.corpus.tokens)
    listed = json.loads(cli("index", folder, "--out", "3.bp", "--dry-run", "--json").out)
    assert (listed["left_out"], len(listed["files"])) == ([file._asdict() for file in LEFT_OUT], 3)
    assert not Path("3.bp").exists()
    built = cli("index", folder, "--out", "s.bp", "--jobs", 1).err
    assert "12 files" in built and "c/a.pdf (a PDF file), c/b.docx (a zip archive), " in built
    assert " 7 " in built and "bagpack info s.bp --json" in built and "zero.txt" not in built
    for path in ("c/deep/m.txt", "c/a.txt", "c/z.txt"):
        Path(path).unlink()
    said = cli("index", "c", "--out", "t.bp").sentence()
    assert "12 files" in said and "c/a.pdf" in said


def test_one_file_by_two_names(write, tmp_path):
    """A file and the directory that it is in, other paths, links of both kinds, and standard input."""
    write("d/a.txt", "Lions sleep.\n")
    os.symlink("a.txt", "d/link.txt")
    os.link("d/a.txt", "hard.txt")
    others = ["d/a.txt", "./d/a.txt", str(tmp_path / "d/a.txt"), "hard.txt"]
    done = index_corpus(["d", *others], "s.bp", jobs=1)
    assert done.left_out == [LeftOut(name, "the same file as d/a.txt") for name in ("d/link.txt", *others)]
    assert done.corpus.tokens == 3
    assert [bool(file.ignored) for file in expand(["-", "-"])] == [False, True]


def test_directories_that_are_not_walked_are_reported(write, cli):
    write("d/app/manifest.json", '{"text": "Bears fish."}')
    write("d/app/a.txt", "Lions sleep.\n")
    write("d/my.partial/b.txt", "Cats hunt.\n")
    write("d/.hidden/x.txt", "Never.\n")
    write("elsewhere/c.txt", "Tigers roar.\n")
    os.symlink("../elsewhere", "d/linked")
    index_corpus(["elsewhere"], "d/old.bp", jobs=1)
    write("d/new.bp/.bagpack-lock", "")
    write("d/new.bp/segments/x/tokens", "")
    done = cli("index", "d", "--out", "s.bp", "-j", 1)
    assert done.code == 0, done.err
    assert "3 sentences" in done.err  # those of the app, its manifest, and the user's own my.partial
    for left_out in ("linked (a link", "old.bp (made", "new.bp (made"):
        assert f"d/{left_out}" in done.err
    with pytest.raises(InputError, match=r"d/old\.bp"):
        index_corpus(["d/old.bp"], "t.bp", jobs=1)
