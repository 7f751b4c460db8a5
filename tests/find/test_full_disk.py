"""A full disk and files that may not be written: one sentence, and nothing is lost."""

import subprocess
from contextlib import suppress

import pytest

from bagpack.errors import BagpackError
from bagpack.find.answers import Answers, read_answers
from tests.corpus.corpus_oracle import small_disk
from tests.made_up import table

from .conftest import GIVEN, HELD_OUT

TABLE = table((*pair, "part") for pair in GIVEN)


@pytest.fixture
def disk(tmp_path):
    """A file system of 64 KiB, and how to fill and to empty it."""
    (tmp_path / "disk").mkdir()
    with small_disk(tmp_path / "disk", "64k"):
        yield Disk(tmp_path / "disk")


class Disk:
    def __init__(self, place):
        self.place, self.filler = place, place / "filler"

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(512))

    def remount(self, how):
        subprocess.run(["mount", "-o", f"remount,{how}", self.place], check=True)

    @property
    def files(self):
        return {path.name: path.read_bytes() for path in self.place.iterdir() if path != self.filler}


def one_sentence(done, *words):
    assert done.code == 1 and done.err.strip().count("\n") == 0, done.err
    assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize("name", ["found.xlsx", "found.ttl"])
def test_pairs_found_that_do_not_fit(cli, store, examples, disk, name):
    out = disk.place / name
    out.write_text("rank\tw1\tw2\n")
    disk.fill()
    before = disk.files
    done = cli("find", store, examples, "--out", out, "--overwrite", "--top", 200, "--quiet", "--jobs", 1)
    one_sentence(done, "disk", str(out))
    assert disk.files == before
    disk.filler.unlink()
    assert cli("find", store, examples, "--out", out, "--overwrite", "--top", 5, "--quiet").code == 0
    assert set(disk.files) == {name} and disk.files != before


def test_workers_whose_results_do_not_fit(cli, store, examples, disk, tmp_path, monkeypatch):
    disk.fill()
    monkeypatch.setenv("BAGPACK_SCRATCH", str(disk.place))
    # With a basis that no test before it asked for, and that is counted.
    done = cli("vectors", store, examples, "--out", tmp_path / "m.bpm", "--quiet", "--jobs", 2, "-b", 31)
    one_sentence(done, "disk", f"{disk.place} ")
    assert ".bagpack-" not in done.err and disk.files == {}


def test_answers_on_a_full_disk(disk):
    path = disk.place / "parts.tsv"
    path.write_text(TABLE)
    file = Answers(path, annotator="Ann")
    file.add(HELD_OUT[0], True)
    disk.fill()
    answers = 0
    with pytest.raises(BagpackError, match="disk"):
        for number in range(1000):  # the last block of the file takes some
            file.add((f"left{number}", "right"), False)
            answers += 1
    rows = file.path.read_text().splitlines()
    assert len(rows) == 2 + answers and rows[-1].count("\t") == rows[0].count("\t")
    disk.filler.unlink()
    file.add(HELD_OUT[1], True)
    assert read_answers(file.path)[HELD_OUT[1]] == "part"


def test_teaching_on_a_file_system_that_is_read_only(cli, store, disk):
    path = disk.place / "parts.tsv"
    path.write_text(TABLE)
    disk.remount("ro")
    one_sentence(cli("teach", store, path), "parts.answers.tsv ", "elsewhere")
    disk.remount("rw")
    assert disk.files == {"parts.tsv": TABLE.encode()}
