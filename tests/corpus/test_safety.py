"""Nothing is deleted that BagPack did not write, and no append is lost or counted twice."""

import os
import subprocess
import sys
import time

import pytest
from corpus_oracle import files_of, lexicon_of, segment_of, words
from tests.forging import forge

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.errors import InputError, StoreError, UsageError

BUILD = {"jobs": 1}


@pytest.fixture
def lions(write):
    return str(write("lions.txt", "Lions sleep.\n"))


@pytest.fixture
def cats(write):
    return str(write("cats.txt", "Cats hunt at night.\n"))


def test_overwrite_replaces_nothing_but_a_store(lions, tmp_path, write, monkeypatch):
    """A web app has a manifest.json too."""
    other = '{"kind": "pair-matrix", "format_version": 1}'
    for content in ('{"name": "my app"}', '{"kind": "model"}', '{"kind": "corpus"}', other, "[]", "not JSON"):
        write("app/manifest.json", content)
        write("app/index.html", "mine")
        with pytest.raises(StoreError, match="app exists and is not a BagPack store"):
            index_corpus([lions], tmp_path / "app", overwrite=True, **BUILD)
        assert (tmp_path / "app" / "index.html").read_text() == "mine"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="exists and is not a BagPack store"):
        index_corpus([lions], ".", **BUILD)


@pytest.mark.parametrize(
    "name", ["notes.txt", "segments/notes.txt", "segments/SEGMENT/notes.txt", "mine/a", "work/b", "LEXICON/c"]
)
def test_files_of_the_user_inside_a_store(name, lions, cats, tmp_path, write):
    store = tmp_path / "s"
    index_corpus([lions], store, **BUILD)
    name = name.replace("SEGMENT", segment_of(store).name).replace("LEXICON", lexicon_of(store).name)
    write(f"s/{name}", "mine")
    for number in range(4):  # the first commits and the others sweep what it replaced
        more = str(write(f"{number}.txt", f"Cat {number} sleeps.\n"))
        index_corpus([more], store, **{"append" if number % 2 else "overwrite": True}, **BUILD)
    assert (store / name).read_text() == "mine"
    assert words(Corpus.open(store)) == [["Cat", "2", "sleeps", "."], ["Cat", "3", "sleeps", "."]]
    assert Corpus.open(store).verify() == []


def test_a_store_behind_a_link_is_replaced_and_the_link_stays(lions, cats, tmp_path):
    index_corpus([lions], tmp_path / "s", **BUILD)
    (tmp_path / "link").symlink_to(tmp_path / "s")
    for _ in range(2):
        index_corpus([cats], tmp_path / "link", overwrite=True, **BUILD)
    assert (tmp_path / "link").is_symlink()
    assert words(Corpus.open(tmp_path / "s")) == [["Cats", "hunt", "at", "night", "."]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cats.txt", "link", "lions.txt", "s"]


@pytest.mark.parametrize("name", ["segments", "segments/SEGMENT", "LEXICON"])
def test_a_link_inside_a_store_is_not_followed(name, lions, cats, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    thesis = write("home/thesis.tex", "mine")
    name = name.replace("SEGMENT", segment_of(tmp_path / "s").name)
    name = name.replace("LEXICON", lexicon_of(tmp_path / "s").name)
    os.rename(tmp_path / "s" / name, tmp_path / "home" / "inner")
    (tmp_path / "s" / name).symlink_to(tmp_path / "home" / "inner")
    before = everything(tmp_path / "home")
    with pytest.raises(StoreError, match=r"symbolic link|is missing"):
        index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    assert thesis.read_text() == "mine"
    assert everything(tmp_path / "home") == before


def everything(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["thesis.tex", "lock", "segments/thesis.tex"])
def test_a_directory_of_the_user_is_no_unfinished_build(name, lions, tmp_path, write):
    write(f"s/{name}", "mine")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(StoreError, match="is not a BagPack store"):
            index_corpus([lions], tmp_path / "s", **BUILD, **options)
    write("s.partial/lock", "mine")
    assert (tmp_path / "s" / name).read_text() == "mine"
    index_corpus([lions], tmp_path / "t", **BUILD)


def test_a_store_opened_by_a_relative_path_stays_open(lions, tmp_path, monkeypatch):
    index_corpus([lions], tmp_path / "s", **BUILD)
    monkeypatch.chdir(tmp_path)
    corpus = Corpus.open("s")
    monkeypatch.chdir("/")
    assert words(corpus) == [["Lions", "sleep", "."]]
    assert corpus.verify() == []


def test_a_source_that_the_store_holds_is_not_added_again(lions, cats, tmp_path, monkeypatch):
    index_corpus([lions], tmp_path / "s", **BUILD)
    with pytest.raises(UsageError, match=r"s holds .*lions.txt already, so its text would count twice"):
        index_corpus([cats, lions], tmp_path / "s", append=True, **BUILD)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"s holds lions.txt already"):  # by another path
        index_corpus(["lions.txt"], tmp_path / "s", append=True, **BUILD)
    (tmp_path / "other.txt").symlink_to("lions.txt")
    with pytest.raises(UsageError, match=r"s holds lions.txt already"):  # by a link with another name
        index_corpus(["other.txt"], tmp_path / "s", append=True, **BUILD)
    index_corpus(["other.txt"], tmp_path / "linked", **BUILD)
    with pytest.raises(UsageError, match=r"linked holds lions.txt already"):
        index_corpus([lions], tmp_path / "linked", append=True, **BUILD)
    index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    said = []
    again = index_corpus([cats], tmp_path / "s", append=True, notice=said.append, **BUILD)
    assert again.corpus.documents == 2
    assert "holds these sources already, from the append before; nothing was added" in said[0]


APPEND = """
import sys, time
from bagpack.corpus.build.index import index_corpus
from bagpack.errors import StoreError
from bagpack.files import DiskError
for source in sys.argv[2:]:
    while True:
        try:
            index_corpus([source], sys.argv[1], append=True, jobs=1)
            break
        except StoreError as error:
            assert "another bagpack command is working" in str(error), error
            time.sleep(0.005)
"""


def test_appends_at_the_same_time_and_a_reader_that_is_open(lions, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    reader = Corpus.open(tmp_path / "s")
    sources = [str(write(f"{n}.txt", f"Number{n} sleeps.\n")) for n in range(6)]
    command = [sys.executable, "-c", APPEND, tmp_path / "s"]
    running = [subprocess.Popen([*command, *sources[start::3]]) for start in range(3)]
    opened = 0
    while any(process.poll() is None for process in running):
        corpus = Corpus.open(tmp_path / "s")  # never damaged, whenever it is opened
        assert len(words(corpus)) == corpus.sentences
        assert corpus.count("lion") == 1
        opened += 1
        time.sleep(0.02)
    assert [process.wait() for process in running] == [0, 0, 0]
    assert opened > 5
    corpus = Corpus.open(tmp_path / "s")
    assert corpus.verify() == []
    assert sorted(line[0] for line in words(corpus)) == sorted(["Lions", *(f"Number{n}" for n in range(6))])
    # The one that was open all the time still answers, from what it opened.
    assert reader.keys_of(["lion", "number3"]) == ["lion", None]
    assert words(reader) == [["Lions", "sleep", "."]]


def parts(tmp_path):
    """Six files that make a part each; the first has a longer sentence, the fourth a line that does not fit."""
    names = []
    for n in range(6):
        path = tmp_path / f"{n}.vert"
        more = {0: "x\tN\tx\ny\tN\ty", 3: "oops"}.get(n, "x\tN\tx")
        path.write_text(f"<s>\nword{n}\tN\tword{n}\n{more}\n</s>\n")
        names.append(str(path))
    return names


OPTIONS = {"format": "vertical", "columns": "word,tag,lemma"}


def test_one_bad_line_keeps_the_finished_parts(tmp_path):
    names = parts(tmp_path)
    options = {"jobs": 1, "part_bytes": 20}
    with pytest.raises(InputError, match=r"3\.vert:3 .* \(3 finished parts kept: .* and add --resume\)"):
        index_corpus(names, tmp_path / "s", OPTIONS, **options)
    # Skipping the line uses the parts that have no such line.
    subprocess.run(["cp", "-r", tmp_path / "s", tmp_path / "t"], check=True)
    skipped = index_corpus(names, tmp_path / "t", {**OPTIONS, "bad_lines": "skip"}, resume=True, **options)
    whole = index_corpus(names, tmp_path / "w", {**OPTIONS, "bad_lines": "skip"}, **options)
    assert skipped.problems["skipped_lines"] == 1
    assert skipped.read_tokens < skipped.new_tokens
    assert files_of(tmp_path / "t") == files_of(tmp_path / "w")
    subprocess.run(["cp", "-r", tmp_path / "s", tmp_path / "l"], check=True)
    lower = {**OPTIONS, "bad_lines": "skip", "max_sentence": 2}
    # In a finished part, longer than is allowed now.
    with pytest.raises(InputError, match=r"0\.vert:4 .*sentence"):
        index_corpus(names, tmp_path / "l", lower, resume=True, **options)
    assert whole.read_tokens == whole.new_tokens
    # Correcting the file uses the parts of the other files, but not of one that was edited since, even if its size
    # is the same.
    (tmp_path / "3.vert").write_text("<s>\nword3\tN\tword3\nx\tN\tx\n</s>\n")
    (tmp_path / "1.vert").write_text((tmp_path / "1.vert").read_text().replace("word1", "term1"))
    os.utime(tmp_path / "1.vert", ns=(1, os.stat(tmp_path / "1.vert").st_mtime_ns + 1))
    corrected = index_corpus(names, tmp_path / "s", OPTIONS, resume=True, **options)
    assert corrected.read_tokens == 4 * 2
    assert corrected.corpus.tokens == 13
    expected = ["word0", "term1", *(f"word{n}" for n in range(2, 6))]
    assert [line[0] for line in words(corrected.corpus)] == expected


def test_a_store_of_another_version_is_neither_opened_nor_replaced(lions, tmp_path, cli):
    store = tmp_path / "s"
    index_corpus([lions], store, **BUILD)
    for version, advice in ((3, "update BagPack"), (1, "make it again with bagpack index")):
        forge(store, format_version=version)
        for options in ((), ("--verify",)):
            done = cli("info", store, *options)
            assert (done.code, done.err.count("\n")) == (1, 1)
            assert f"has format version {version}, this BagPack reads 2; " in done.err and advice in done.err
    with pytest.raises(StoreError, match="was written by another version of BagPack"):
        index_corpus([lions], store, overwrite=True, **BUILD)
