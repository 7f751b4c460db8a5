"""Which files a name stands for; files that are no text are refused, or skipped and reported inside a directory."""

import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from corpus_oracle import files_of

from bagpack import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.files import expand
from bagpack.corpus.readers.look import LeftOut
from bagpack.errors import InputError


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
    "doctype.xml": (
        b'<?xml version="1.0"?>\n<!DOCTYPE TEI>\n<TEI><p>Lions sleep.</p></TEI>\n',
        "an XML file",
    ),
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
    assert "12 files skipped: c/a.pdf (a PDF file), c/b.docx (a zip archive), " in built
    assert built.endswith("and 7 more (bagpack info s.bp --json names them all)\n")
    for path in ("c/deep/m.txt", "c/a.txt", "c/z.txt"):
        Path(path).unlink()
    assert "no text was found, 12 files skipped: c/a.pdf" in cli("index", "c", "--out", "t.bp").sentence()


def test_no_name_of_a_document_has_control_characters(write, tmp_path):
    write("a\x01\tb.txt", "A cat.\n")
    write("v.vert", '<text id="a&#9;b&#1;c&#10;d">\n<s>\nA\tX\ta\nlion\tX\tlion\n</s>\n</text>\n')
    corpus = index_corpus(["a\x01\tb.txt", "v.vert"], "s.bp", jobs=1).corpus
    assert [name for segment in corpus.segments for name in segment.documents] == [b"a b.txt", b"a bc d"]


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
    for left_out in (
        "linked (a link to a directory;",
        "old.bp (made by BagPack)",
        "new.bp (made by BagPack)",
    ):
        assert f"d/{left_out}" in done.err
    with pytest.raises(InputError, match=r"d/old\.bp was made by BagPack"):
        index_corpus(["d/old.bp"], "t.bp", jobs=1)
