"""Which files a name stands for: each file once, and nothing ignored without a word."""

import os

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.readers.files import expand
from bagpack.errors import InputError, UsageError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_no_name_of_a_document_has_control_characters(write, tmp_path):
    write("a\x01\tb.txt", "A cat.\n")
    write("v.vert", '<text id="a&#9;b&#1;c&#10;d">\n<s>\nA\tX\ta\nlion\tX\tlion\n</s>\n</text>\n')
    stores = [
        index_corpus([name], f"{n}.bp", jobs=1).corpus for n, name in enumerate(["a\x01\tb.txt", "v.vert"])
    ]
    assert [store.shards[0].documents[0] for store in stores] == ["a b.txt", "a bc d"]


def test_one_file_by_two_names(write, tmp_path):
    write("a.txt", "Lions sleep.\n")
    os.symlink("a.txt", "link.txt")
    os.link("a.txt", "hard.txt")
    for other in ("a.txt", "./a.txt", str(tmp_path / "a.txt"), "link.txt", "hard.txt"):
        with pytest.raises(
            UsageError, match=r"is named twice.*, so its text would count twice; name each file once"
        ):
            index_corpus(["a.txt", other], "s.bp", jobs=1)
    with pytest.raises(UsageError, match="- is named twice"):
        expand(["-", "-"])
    assert not (tmp_path / "s.bp").exists()


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
    assert "d/new.bp (an unfinished build of BagPack)" in done.err
    with pytest.raises(InputError, match=r"d/old\.bp was made by BagPack and holds no text to index"):
        index_corpus(["d/old.bp"], "t.bp", jobs=1)
