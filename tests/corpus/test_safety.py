"""Nothing is deleted that BagPack did not write, and no append is lost or counted twice."""

import json
import os
import subprocess
import sys
import time

import pytest
from corpus_oracle import files_of, words
from test_interruption import dying
from tests.kills import moments_of

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.build.workdir import owned
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import DiskError

BUILD = {"jobs": 1}


@pytest.fixture
def lions(write):
    return str(write("lions.txt", "Lions sleep.\n"))


@pytest.fixture
def cats(write):
    return str(write("cats.txt", "Cats hunt at night.\n"))


def test_overwrite_replaces_nothing_but_a_store(lions, tmp_path, write):
    """A web app has a manifest.json too."""
    other = '{"kind": "pair-matrix", "format_version": 1}'
    for content in ('{"name": "my app"}', '{"kind": "model"}', '{"kind": "corpus"}', other, "[]", "not JSON"):
        write("app/manifest.json", content)
        write("app/index.html", "mine")
        with pytest.raises(
            StoreError, match="app is not a BagPack store, so --overwrite does not replace it"
        ):
            index_corpus([lions], tmp_path / "app", overwrite=True, **BUILD)
        assert (tmp_path / "app" / "index.html").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["notes.txt", "shards/notes.txt", "shards/000000-000/notes.txt", "mine/a", "lexicon-0/b"]
)
def test_files_of_the_user_inside_a_store(name, lions, cats, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    write(f"s/{name}", "mine")
    corpus = index_corpus([cats], tmp_path / "s", append=True, **BUILD).corpus
    assert len(words(corpus)) == 2
    if not name.startswith("lexicon"):  # the lexicon is written anew
        assert (tmp_path / "s" / name).read_text() == "mine"
        with pytest.raises(StoreError, match=r"is not a file of the store .*; move it elsewhere"):
            index_corpus([lions], tmp_path / "s", overwrite=True, **BUILD)
        assert (tmp_path / "s" / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["shards", "shards/000000-000", "lexicon-0"])
def test_a_link_inside_a_store_is_not_followed(name, lions, cats, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    thesis = write("home/thesis.tex", "mine")
    write("home/000007-000/thesis.tex", "mine")
    os.rename(tmp_path / "s" / name, tmp_path / "home" / "inner")
    target = tmp_path / "home" if name == "shards" else tmp_path / "home" / "inner"
    if name == "shards":
        for path in (tmp_path / "home" / "inner").iterdir():
            os.rename(path, tmp_path / "home" / path.name)
        os.rmdir(tmp_path / "home" / "inner")
    (tmp_path / "s" / name).symlink_to(target)
    before = files_of(tmp_path / "home")
    with pytest.raises(StoreError, match=r"symbolic link|is missing"):
        index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    with pytest.raises(StoreError, match="is not a file of the store"):
        index_corpus([cats], tmp_path / "s", overwrite=True, **BUILD)
    assert thesis.read_text() == "mine"
    assert files_of(tmp_path / "home") == before


def test_a_directory_of_the_user_where_we_would_work(lions, tmp_path, write):
    write("s.partial/thesis.tex", "mine")
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(
            StoreError, match=r"s\.partial is needed while working and was not made by BagPack"
        ):
            index_corpus([lions], tmp_path / "s", **BUILD, **options)
    assert (tmp_path / "s.partial" / "thesis.tex").read_text() == "mine"


def test_an_append_killed_anywhere_and_repeated_as_it_was(lions, cats, tmp_path):
    """Whoever repeats the command, with --resume or without, has the text once."""
    index_corpus([lions], tmp_path / "base", **BUILD)
    killed = tmp_path / "killed"
    subprocess.run(["cp", "-r", tmp_path / "base", killed], check=True)
    moments = moments_of(lambda: index_corpus([cats], killed, append=True, **BUILD), every=3)
    subprocess.run(["rm", "-r", killed], check=True)
    for step in moments:
        subprocess.run(["cp", "-r", tmp_path / "base", killed], check=True)
        assert dying(step, [cats], killed, append=True, **BUILD) == (step != moments[-1])
        for repeated in ({}, {"resume": True}):
            out = tmp_path / "s"
            subprocess.run(["cp", "-r", killed, out], check=True)
            try:
                index_corpus([cats], out, append=True, **BUILD, **repeated)
            except StoreError as error:
                if repeated:
                    assert "no unfinished append" in str(error)
                    assert len(words(Corpus.open(out))) == 2 or not list(out.glob("append*"))
                    index_corpus([cats], out, append=True, **BUILD)
                else:
                    assert "resume it with --resume" in str(error)
                    index_corpus([cats], out, append=True, resume=True, **BUILD)
            corpus = Corpus.open(out)
            assert len(words(corpus)) == 2, step
            assert corpus.verify() == []
            assert sorted(path.name for path in out.iterdir()) == ["lexicon-1", "manifest.json", "shards"], (
                step
            )
            assert len(list((out / "shards").iterdir())) == 2
            subprocess.run(["rm", "-r", out], check=True)
        subprocess.run(["rm", "-r", killed], check=True)
    assert moments[-1] > 20


def test_an_append_on_a_full_disk_that_finished_nothing_is_repeated_as_it_was(
    lions, cats, tmp_path, monkeypatch
):
    """With --resume there would be nothing to resume, which is an error."""
    index_corpus([str(lions)], tmp_path / "s", jobs=1)

    def full(path, value):
        raise DiskError(
            f"the disk is full: {path} could not be written; free some space and run the command again"
        )

    with monkeypatch.context() as patch, pytest.raises(StoreError, match=r"run the command again$"):
        patch.setattr("bagpack.corpus.build.workdir.write_json", full)
        index_corpus([str(cats)], tmp_path / "s", append=True, jobs=1)
    index_corpus([str(cats)], tmp_path / "s", append=True, jobs=1)


def test_a_source_that_the_store_holds_is_not_added_again(lions, cats, tmp_path):
    index_corpus([lions], tmp_path / "s", **BUILD)
    with pytest.raises(UsageError, match=r"s holds .*lions.txt already, so its text would count twice"):
        index_corpus([cats, lions], tmp_path / "s", append=True, **BUILD)
    assert not list((tmp_path / "s").glob("append*"))
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


OWN = """
import sys
from pathlib import Path
from bagpack.artefacts import discard
from bagpack.corpus.build.workdir import owned
from bagpack.errors import StoreError
from bagpack.files import DiskError
counter, work = Path(sys.argv[1]), Path(sys.argv[2])
done = 0
while done < 100:
    try:
        with owned(work, resume=False, overwrite=False):
            number = int(counter.read_text())
            (work / "made").touch()
            counter.write_text(str(number + 1))
            discard(work)
        done += 1
    except StoreError as error:
        assert "another bagpack command is working" in str(error), error
"""


def test_a_directory_has_one_owner_at_a_time(tmp_path):
    """Another process that comes while the owner makes or removes the directory is refused, and nothing else."""
    (tmp_path / "counter").write_text("0")
    running = [
        subprocess.Popen([sys.executable, "-c", OWN, tmp_path / "counter", tmp_path / "work"])
        for _ in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert (tmp_path / "counter").read_text() == "300"


def test_appends_at_the_same_time_and_a_reader_that_is_open(lions, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    reader = Corpus.open(tmp_path / "s")
    sources = [str(write(f"{n}.txt", f"Number{n} sleeps.\n")) for n in range(12)]
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND, tmp_path / "s", *sources[start::3]])
        for start in range(3)
    ]
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
    assert sorted(line[0] for line in words(corpus)) == sorted(["Lions", *(f"Number{n}" for n in range(12))])
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        f"{corpus.manifest['lexicon']['directory']}",
        "manifest.json",
        "shards",
    ]
    # The one that was open all the time still answers, from what it opened.
    assert reader.resolve(["lion", "number3"]) == ["lion", None]
    assert words(reader) == [["Lions", "sleep", "."]]


def test_a_store_is_not_replaced_while_someone_appends_to_it(lions, cats, tmp_path):
    index_corpus([lions], tmp_path / "s", **BUILD)
    with owned(tmp_path / "s" / "append.partial", resume=False, overwrite=False):
        with pytest.raises(StoreError, match=r"another bagpack command is working in .*append\.partial"):
            index_corpus([cats], tmp_path / "s", overwrite=True, **BUILD)
        with pytest.raises(StoreError, match=r"another bagpack command is working in .*append\.partial"):
            index_corpus([cats], tmp_path / "s", append=True, **BUILD)
    index_corpus([cats], tmp_path / "s", overwrite=True, resume=True, **BUILD)
    assert words(Corpus.open(tmp_path / "s")) == [["Cats", "hunt", "at", "night", "."]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cats.txt", "lions.txt", "s"]


def test_a_file_that_was_edited_without_changing_its_size(lions, tmp_path, write):
    index_corpus([lions], tmp_path / "s", **BUILD)
    write("lions.txt", "Tiger sleep.\n")
    os.utime(lions, ns=(1, os.stat(lions).st_mtime_ns + 1))
    with pytest.raises(StoreError, match="was indexed with other sources"):
        index_corpus([lions], tmp_path / "s", resume=True, **BUILD)


def parts(tmp_path):
    """Six files that make a part each; the fourth has a line that does not fit."""
    names = []
    for n in range(6):
        path = tmp_path / f"{n}.vert"
        path.write_text(f"<s>\nword{n}\tN\tword{n}\n{'oops' if n == 3 else 'x	N	x'}\n</s>\n")
        names.append(str(path))
    return names


OPTIONS = {"format": "vertical", "columns": "word,tag,lemma"}


def test_one_bad_line_keeps_the_finished_parts(tmp_path):
    names = parts(tmp_path)
    options = {"jobs": 1, "part_bytes": 20}
    with pytest.raises(InputError, match=r"3\.vert:3 .* \(3 finished parts are kept: .* and add --resume\)"):
        index_corpus(names, tmp_path / "s", OPTIONS, **options)
    # Skipping the line uses the parts that have no such line.
    subprocess.run(["cp", "-r", tmp_path / "s.partial", tmp_path / "t.partial"], check=True)
    skipped = index_corpus(names, tmp_path / "t", {**OPTIONS, "bad_lines": "skip"}, resume=True, **options)
    whole = index_corpus(names, tmp_path / "w", {**OPTIONS, "bad_lines": "skip"}, **options)
    assert skipped.problems["skipped_lines"] == 1
    assert skipped.read_tokens < skipped.new_tokens
    assert files_of(tmp_path / "t") == files_of(tmp_path / "w")
    assert whole.read_tokens == whole.new_tokens
    # Correcting the file uses the parts of the other files, but not of one that was edited since, even if its size
    # is the same.
    (tmp_path / "3.vert").write_text("<s>\nword3\tN\tword3\nx\tN\tx\n</s>\n")
    (tmp_path / "1.vert").write_text((tmp_path / "1.vert").read_text().replace("word1", "term1"))
    os.utime(tmp_path / "1.vert", ns=(1, os.stat(tmp_path / "1.vert").st_mtime_ns + 1))
    corrected = index_corpus(names, tmp_path / "s", OPTIONS, resume=True, **options)
    assert corrected.read_tokens == 4 * 2
    assert sorted(path.name for path in tmp_path.glob("*.partial")) == []
    assert corrected.corpus.tokens == 12
    expected = ["word0", "term1", *(f"word{n}" for n in range(2, 6))]
    assert [line[0] for line in words(corrected.corpus)] == expected


def test_resuming_with_other_options_or_sources_is_refused(tmp_path, write):
    names = parts(tmp_path)
    options = {"jobs": 1, "part_bytes": 20}
    with pytest.raises(InputError, match=r"3\.vert"):
        index_corpus(names, tmp_path / "s", OPTIONS, **options)
    before = files_of(tmp_path / "s.partial")
    with pytest.raises(StoreError, match="was begun with other --level"):
        index_corpus(names, tmp_path / "s", {**OPTIONS, "level": "form"}, resume=True, **options)
    other = str(write("other.vert", "<s>\na\tN\ta\n</s>\n"))
    with pytest.raises(StoreError, match="was begun with other sources"):
        index_corpus([other], tmp_path / "s", OPTIONS, resume=True, **options)
    assert files_of(tmp_path / "s.partial") == before


def test_the_summary_of_an_append_is_about_the_append(tmp_path, write, cli):
    bad = write("a.vert", "<s>\na\tN\ta\noops\nb\tN\tb\n</s>\n")
    good = write("b.vert", "<s>\nc\tN\tc\n</s>\n")
    worse = write("c.vert", "<s>\nd\tN\td\noops\noops\nb\tN\tb\n</s>\n")
    given = ("--format", "vertical", "--columns", "word,tag,lemma", "--out", tmp_path / "s", "-j", 1)
    assert "1 line that did not fit" in cli("index", bad, *given, "--bad-lines", "skip").err
    done = cli("index", good, *given, "--append")
    assert done.code == 0
    assert "did not fit" not in done.err
    done = cli("index", worse, *given, "--append", "--bad-lines", "skip")
    assert "2 lines that did not fit" in done.err
    facts = json.loads(cli("info", tmp_path / "s", "--json").out)
    assert facts["problems"]["skipped_lines"] == 3
    assert [entry["problems"]["skipped_lines"] for entry in facts["appended"]] == [0, 2]
    assert [entry["sources"] for entry in facts["appended"]] == [1, 1]
    done = cli("index", write("d.vert", "<s>\ne\tN\te\n</s>\n"), *given, "--append", "--bad-lines", "error")
    assert done.code == 0, done.err
    facts = json.loads(cli("info", tmp_path / "s", "--json").out)
    assert [entry["options"] for entry in facts["appended"]] == [{}, {}, {"bad_lines": "error"}]
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert [entry["options"]["bad_lines"] for entry in manifest["appended"]] == ["skip", "skip", "error"]
