"""Limits of the operating system: one sentence each, and nothing left behind."""

import errno
import os
import resource
import subprocess
import sys
from contextlib import suppress

import pytest

from bagpack import files
from bagpack.corpus import format
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.look import look
from bagpack.errors import StoreError

COMMAND = [sys.executable, "-c", "from bagpack.cli import main; main()"]


def limited(limit, value, *args, **options):
    return subprocess.run(
        [*COMMAND, *map(str, args)], capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)), **options,
    )  # fmt: skip


def test_a_file_size_limit(tmp_path, write):
    source = write("a.txt", "".join(f"Lions{n} sleep.\n" for n in range(5000)))
    done = limited(resource.RLIMIT_FSIZE, 20_000, "index", source, "--out", tmp_path / "s", "-j", 1)
    assert done.returncode == 1
    assert "would become larger than the file size limit" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(("descriptors", "code"), [(6, 1), (10, 1), (31, 1), (40, 0)])
def test_few_file_descriptors(descriptors, code, tmp_path, write):
    source = write("a.txt", "Lions sleep.\n")
    done = limited(resource.RLIMIT_NOFILE, descriptors, "index", source, "--out", tmp_path / "s", "-j", 1)
    assert done.returncode == code
    reported = (
        f"bagpack: this process may open {descriptors} files at a time, and bagpack needs 32; raise the limit "
        f"(ulimit -n 4096) and run the command again\n"
    )
    assert (done.stderr == reported) == bool(code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"] + ["s"] * (code == 0)


def test_a_store_is_not_called_damaged_when_no_descriptor_is_left(tmp_path, write, monkeypatch):
    source = write("a.txt", "Lions sleep.\n")
    shard = index_corpus([source], tmp_path / "s", jobs=1).corpus.shards[0]
    declared, numbers = shard.declared, shard.numbers

    def refuse(*arguments):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(files, "_allow_more_files", lambda: False)
    with pytest.raises(files.TooManyFilesError):
        list(format.damages(shard.directory, declared, numbers))


def test_a_text_that_no_descriptor_is_left_for(write):
    """Nothing is wrong with the name or the permissions of the text."""
    source = write("a.txt", "Lions sleep.\n")
    held = []
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, before[1]))
        with suppress(OSError):
            while True:
                held.append(open(source, "rb"))  # noqa: SIM115 (closed below)
        with pytest.raises(StoreError, match=r"a\.txt could not be opened: too many open files") as raised:
            look(str(source), TextOptions())
    finally:
        for handle in held:
            handle.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "permission" not in str(raised.value)
