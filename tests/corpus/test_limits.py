"""Limits of the operating system: one sentence each, and nothing left behind."""

import bz2
import errno
import gzip
import lzma
import os
import resource
import subprocess
import sys
from contextlib import suppress

import pytest

from bagpack import files
from bagpack.corpus.build.estimate import _plain_size
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.readers.compression import zstd
from bagpack.corpus.readers.sources import inspect
from bagpack.corpus.store import format
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


def test_too_many_open_files_are_not_a_matter_of_permissions(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"12345678")

    def refuse(*arguments):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(files, "_allow_more_files", lambda: False)
    with pytest.raises(
        StoreError, match=r"too many open files \(this process may open [\d,]+\); raise the limit"
    ):
        files.map_array(tmp_path / "a", "<i8")


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
            inspect(str(source))
    finally:
        for handle in held:
            handle.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "permission" not in str(raised.value)


BOMB = """
import sys
from bagpack.corpus.build.estimate import _plain_size
from bagpack.corpus.readers.sources import inspect
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
source = inspect(sys.argv[1])
before = peak()
print(_plain_size(source), (peak() - before) >> 10)
"""


def test_the_size_of_a_bomb_is_estimated_from_its_beginning(tmp_path):
    """In bounded memory; the end of each bomb is missing, which is not noticed because it is not read."""
    packer = bz2.BZ2Compressor()
    bombs = {
        "a.txt.bz2": b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(150)), packer.flush()]),
        "b.txt.zst": zstd.compress(bytes(150 << 20)),
        "c.txt.gz": gzip.compress(bytes(150 << 20)),
    }
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content[: len(content) * 3 // 4])
        done = subprocess.run(
            [sys.executable, "-c", BOMB, tmp_path / name],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        size, grown = map(int, done.stdout.split())
        assert size >= 64 << 20
        assert grown < 100


def test_the_size_of_compressed_text_is_estimated(tmp_path):
    text = "".join(f"Lion number {n % 997} sleeps.\n" for n in range(300_000)).encode()
    for name, content in {
        "a.gz": gzip.compress(text), "a.bz2": bz2.compress(text), "a.xz": lzma.compress(text, preset=0),
        "a.zst": zstd.compress(text),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
        assert _plain_size(inspect(str(tmp_path / name))) == pytest.approx(len(text), rel=0.3), name


def test_a_limit_beyond_64_bits(cli, tmp_path, write):
    assert cli("index", write("a.txt", "A lion met a cat.\n"), "--out", tmp_path / "s", "-j", 1).code == 0
    for command in (("contexts", tmp_path / "s", "lion"), ("contexts", tmp_path / "s", "lion", "cat")):
        done = cli(*command, "--limit", 2**63 + 1)
        assert done.code == 2
        assert "--limit 9223372036854775809 is above 9223372036854775807" in done.err
