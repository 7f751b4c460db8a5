"""Nothing is deleted that BagPack did not write, and no append is lost or counted twice."""

import multiprocessing
import os
import time

import pytest
from corpus_oracle import files_of, lexicon_of, segment_of, words
from tests.forging import forge

from bagpack import Corpus, index_corpus
from bagpack.errors import InputError, StoreError, UsageError

BUILD = {"jobs": 1}


@pytest.fixture
def lions(write):
    return str(write("lions.txt", "Lions sleep.\n"))


@pytest.fixture
def cats(write):
    return str(write("cats.txt", "Cats hunt at night.\n"))


@pytest.mark.parametrize("name", ["index.html", "lock", "segments/thesis.tex"])
def test_what_is_no_store_is_not_replaced_nor_taken_for_an_unfinished_build(
    name, lions, tmp_path, write, monkeypatch
):
    """A web app has a manifest.json too; and a directory may be called NAME.partial."""
    other = '{"kind": "pair-matrix", "format_version": 1}'
    for place in ("app", "t.partial"):
        write(f"{place}/{name}", "mine")
    for content in (
        None, '{"name": "my app"}', '{"kind": "model"}', '{"kind": "corpus"}', other, "[]", "not JSON",
    ):  # fmt: skip
        if content is not None:
            write("app/manifest.json", content)
        for options in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(StoreError, match=r"app .*BagPack store,"):
                index_corpus([lions], tmp_path / "app", **BUILD, **options)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="BagPack store,"):
        index_corpus([lions], ".", **BUILD)
    index_corpus([lions], tmp_path / "t", **BUILD)
    assert [(tmp_path / place / name).read_text() for place in ("app", "t.partial")] == ["mine"] * 2


def inside(store, name):
    """A path in a store, with the names of its segment and lexicon filled in."""
    return name.replace("SEGMENT", segment_of(store).name).replace("LEXICON", lexicon_of(store).name)


@pytest.mark.parametrize(
    "name", ["notes.txt", "segments/notes.txt", "segments/SEGMENT/notes.txt", "mine/a", "work/b", "LEXICON/c"]
)
def test_files_of_the_user_inside_a_store(name, lions, cats, tmp_path, write):
    store = tmp_path / "s"
    index_corpus([lions], store, **BUILD)
    name = inside(store, name)
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
    def everything():
        return {path: path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()}

    index_corpus([lions], tmp_path / "s", **BUILD)
    write("home/thesis.tex", "mine")
    name = inside(tmp_path / "s", name)
    os.rename(tmp_path / "s" / name, tmp_path / "home" / "inner")
    (tmp_path / "s" / name).symlink_to(tmp_path / "home" / "inner")
    before = everything()
    with pytest.raises(StoreError, match=rf"{name}.* (link|missing)"):
        index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    assert everything() == before


def test_a_store_opened_by_a_relative_path_stays_open(lions, tmp_path, monkeypatch):
    index_corpus([lions], tmp_path / "s", **BUILD)
    monkeypatch.chdir(tmp_path)
    corpus = Corpus.open("s")
    monkeypatch.chdir("/")
    assert words(corpus) == [["Lions", "sleep", "."]]
    assert corpus.verify() == []


def test_a_source_that_the_store_holds_is_not_added_again(lions, cats, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").symlink_to("lions.txt")
    index_corpus([lions], tmp_path / "s", **BUILD)
    index_corpus(["other.txt"], tmp_path / "linked", **BUILD)
    # Together with another file, by another path, by a link with another name, and what was held by its link.
    for store, given in (
        ("s", [cats, lions]), ("s", ["lions.txt"]), ("s", ["other.txt"]), ("linked", [lions]),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=rf"{store} .*lions.txt"):
            index_corpus(given, tmp_path / store, append=True, **BUILD)
    index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    said = []
    again = index_corpus([cats], tmp_path / "s", append=True, notice=said.append, **BUILD)
    assert again.corpus.documents == 2
    assert len(said) == 1 and "added" in said[0]


def append_each(store, sources):
    for source in sources:
        while True:
            try:
                index_corpus([source], store, append=True, **BUILD)
                break
            except StoreError as error:
                assert "working" in str(error), error
                time.sleep(0.005)


def test_appends_at_the_same_time_and_a_reader_that_is_open(lions, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    reader = Corpus.open(tmp_path / "s")
    sources = [str(write(f"{n}.txt", f"Number{n} sleeps.\n")) for n in range(6)]
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=append_each, args=(tmp_path / "s", sources[k::2])) for k in range(2)]
    for process in running:
        process.start()
    opened = 0
    while any(process.is_alive() for process in running):
        corpus = Corpus.open(tmp_path / "s")  # never damaged, whenever it is opened
        assert len(words(corpus)) == corpus.sentences
        assert corpus.count("lion") == 1
        opened += 1
        time.sleep(0.01)
    assert [process.exitcode for process in running] == [0, 0] and opened > 1
    corpus = Corpus.open(tmp_path / "s")
    assert corpus.verify() == []
    assert sorted(line[0] for line in words(corpus)) == ["Lions", *(f"Number{n}" for n in range(6))]
    # The one that was open all the time still answers, from what it opened.
    assert reader.keys_of(["lion", "number3"]) == ["lion", None]
    assert words(reader) == [["Lions", "sleep", "."]]


@pytest.fixture
def unfinished(tmp_path):
    """Six files that make a part each, and options; the fourth has a line that does not fit, so three are kept."""
    names = []
    for n in range(6):
        path = tmp_path / f"{n}.vert"
        more = {0: "x\tN\tx\ny\tN\ty", 3: "oops"}.get(n, "x\tN\tx")
        path.write_text(f"<s>\nword{n}\tN\tword{n}\n{more}\n</s>\n")
        names.append(str(path))
    with pytest.raises(InputError, match=r"3\.vert:3 .* \(3 finished parts kept: .* add --resume\)"):
        index_corpus(names, tmp_path / "s", OPTIONS, **PARTS)
    return names


OPTIONS, PARTS = {"format": "vertical", "columns": "word,tag,lemma"}, {"jobs": 1, "part_bytes": 20}


def test_skipping_a_bad_line_uses_the_finished_parts(unfinished, tmp_path):
    skipping = {**OPTIONS, "bad_lines": "skip"}
    skipped = index_corpus(unfinished, tmp_path / "s", skipping, resume=True, **PARTS)
    whole = index_corpus(unfinished, tmp_path / "w", skipping, **PARTS)
    assert skipped.problems["skipped_lines"] == 1
    assert skipped.read_tokens < skipped.new_tokens == whole.read_tokens
    assert files_of(tmp_path / "s") == files_of(tmp_path / "w")


def test_a_finished_part_with_a_sentence_that_is_too_long_now_is_not_used(unfinished, tmp_path):
    lower = {**OPTIONS, "bad_lines": "skip", "max_sentence": 2}
    with pytest.raises(InputError, match=r"0\.vert:4 .*--max-sentence"):
        index_corpus(unfinished, tmp_path / "s", lower, resume=True, **PARTS)


def test_a_finished_part_without_its_bad_lines_is_not_used_where_these_are_errors(unfinished, tmp_path):
    lower = {**OPTIONS, "bad_lines": "skip", "max_sentence": 2}
    for options, problem in ((lower, r"0\.vert:4 "), (OPTIONS, r"3\.vert:3 ")):
        with pytest.raises(InputError, match=problem):
            index_corpus(unfinished[::-1], tmp_path / "r", options, resume=options is OPTIONS, **PARTS)


def test_correcting_a_file_uses_the_finished_parts_of_the_others(unfinished, tmp_path):
    """But not of one that was edited since, even if its size is the same."""
    (tmp_path / "3.vert").write_text("<s>\nword3\tN\tword3\nx\tN\tx\n</s>\n")
    (tmp_path / "1.vert").write_text((tmp_path / "1.vert").read_text().replace("word1", "term1"))
    os.utime(tmp_path / "1.vert", ns=(1, os.stat(tmp_path / "1.vert").st_mtime_ns + 1))
    corrected = index_corpus(unfinished, tmp_path / "s", OPTIONS, resume=True, **PARTS)
    assert corrected.read_tokens == 4 * 2
    assert corrected.corpus.tokens == 13
    expected = ["word0", "term1", *(f"word{n}" for n in range(2, 6))]
    assert [line[0] for line in words(corrected.corpus)] == expected


def test_a_store_of_another_version_is_neither_opened_nor_replaced(lions, tmp_path, cli):
    store = tmp_path / "s"
    index_corpus([lions], store, **BUILD)
    for version, advice in ((3, "--upgrade bagpack"), (1, "bagpack index")):
        forge(store, format_version=version)
        for options in ((), ("--verify",)):
            said = cli("info", store, *options).sentence()
            assert f"{store} has format version {version}, this BagPack reads 2; " in said and advice in said
    for overwrite in (True, False):  # without it, no advice that would not help
        with pytest.raises(StoreError, match="another version"):
            index_corpus([lions], store, overwrite=overwrite, **BUILD)
