"""Which files a name stands for; files that are no text are refused, or skipped and reported inside a directory."""

import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from corpus_oracle import files_of

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.build.plan import make_plan
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
    "none.txt.gz": (gzip.compress(b""), "empty"),
    "photo.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "not text: it holds NUL bytes"),
    "zero.txt": (b"", "empty"),
}
LEFT_OUT = [LeftOut(f"c/{name}", reason) for name, (_, reason) in ODD.items()]


@pytest.fixture
def folder(write, tmp_path, monkeypatch):
    """Texts, and what stands among them."""
    monkeypatch.chdir(tmp_path)
    for name, (content, _) in ODD.items():
        write(f"c/{name}", content)
    for name in ("a.txt", "deep/m.txt", "z.txt"):
        write(f"c/{name}", f"The lion of {name} sleeps.\nA tag such as <html> is a word here.\n")
        write(f"texts/{name}", f"The lion of {name} sleeps.\nA tag such as <html> is a word here.\n")
    return "c"


@pytest.mark.parametrize("name", ODD)
def test_a_file_that_was_named_by_hand_is_refused(name, folder, cli):
    for named in (f"c/{name}", f"c/{name[:-1]}?"):
        done = cli("index", named, "--out", "s.bp")
        assert done.code == 1
        assert done.err.startswith(f"bagpack: c/{name} is {ODD[name][1]}; ")
        assert done.err.count("\n") == 1


def test_a_page_is_taken_as_it_is_when_that_is_asked_for(folder):
    corpus = index_corpus(["c/deep/page.html"], "s.bp", TextOptions(format="text"), jobs=1).corpus
    assert corpus.keys_of(["html", "lion"]) == ["html", "lion"]


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
    first = (
        "8 files skipped: c/a.pdf (a PDF file), c/b.docx (a zip archive), c/deep/page.html (an HTML page), "
    )
    assert first in built
    assert built.endswith("and 3 more (bagpack info s.bp --json names them all)\n")
    for path in ("c/deep/m.txt", "c/a.txt", "c/z.txt"):
        Path(path).unlink()
    assert (
        "no text was found, 8 files skipped: c/a.pdf (a PDF file)" in cli("index", "c", "--out", "t.bp").err
    )


@pytest.mark.parametrize(
    "text", ["A page begins with <html>.\n", "<htmlish> words\n", "<!-- note -->\nThe lion.\n"]
)
def test_text_with_tags_in_it_is_text(text, write):
    assert make_plan([str(write("a.txt", text))], TextOptions()).sources[0].format == "text"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_no_name_of_a_document_has_control_characters(write, tmp_path):
    write("a\x01\tb.txt", "A cat.\n")
    write("v.vert", '<text id="a&#9;b&#1;c&#10;d">\n<s>\nA\tX\ta\nlion\tX\tlion\n</s>\n</text>\n')
    stores = [
        index_corpus([name], f"{n}.bp", jobs=1).corpus for n, name in enumerate(["a\x01\tb.txt", "v.vert"])
    ]
    assert [store.segments[0].documents[0] for store in stores] == ["a b.txt", "a bc d"]


def test_one_file_by_two_names(write, tmp_path):
    write("a.txt", "Lions sleep.\n")
    os.symlink("a.txt", "link.txt")
    os.link("a.txt", "hard.txt")
    for other in ("a.txt", "./a.txt", str(tmp_path / "a.txt"), "link.txt", "hard.txt"):
        done = index_corpus(["a.txt", other], "s.bp", jobs=1, overwrite=True)
        assert (done.corpus.tokens, done.left_out[0].reason) == (3, "the same file as a.txt")
    assert [bool(file.ignored) for file in expand(["-", "-"])] == [False, True]


def test_a_file_and_the_directory_it_is_in(write, cli):
    write("d/a.txt", "Lions sleep.\n")
    write("d/b.txt", "Cats hunt.\n")
    os.symlink("b.txt", "d/c.txt")
    done = cli("index", "d", "d/a.txt", "--out", "s.bp", "-j", 1)
    assert done.code == 0, done.err
    assert "2 sentences" in done.err
    assert "d/a.txt (the same file as d/a.txt)" in done.err
    assert "d/c.txt (the same file as d/b.txt)" in done.err


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
    assert "d/linked (a link to a directory; name it to read it)" in done.err
    assert "d/old.bp (made by BagPack)" in done.err
    assert "d/new.bp (made by BagPack)" in done.err
    with pytest.raises(InputError, match=r"d/old\.bp was made by BagPack"):
        index_corpus(["d/old.bp"], "t.bp", jobs=1)
