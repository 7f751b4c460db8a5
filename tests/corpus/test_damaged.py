"""Files that change or are damaged while they are read, and readers that are broken: one sentence, nothing left."""

import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_oracle import build

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Slice
from bagpack.corpus.readers.look import look
from bagpack.errors import InputError


def test_a_file_that_became_shorter_while_it_was_read(write):
    source = look(str(write("a.txt", "Lions sleep.\n" * 100)), TextOptions())
    Path(source.path).write_text("Lions sleep.\n" * 50)
    with pytest.raises(InputError, match=r"a\.txt became shorter while it was read; index it again"):
        list(Slice(source, 0, source.size).blocks(TextOptions()))


def test_damaged_parquet_files_end_in_a_sentence(tmp_path):
    whole = tmp_path / "whole.parquet"
    rows = [f"The lion number {i} sleeps under tree {i * 7919 % 97}." for i in range(400)]
    pq.write_table(pa.table({"id": list(map(str, range(400))), "text": rows}), whole, row_group_size=100)
    data = whole.read_bytes()
    chance = random.Random(1)
    damaged = tmp_path / "damaged.parquet"
    failed = 0
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 8))):
            broken[chance.randrange(4, len(data))] ^= 1 << chance.randrange(8)
        damaged.write_bytes(broken[: chance.randrange(8, len(data))] if chance.random() < 0.2 else broken)
        out = tmp_path / "s"
        try:
            build(damaged, out, format="parquet")
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


@pytest.mark.parametrize("column", [[1, 2], [b"Lions sleep.", b"Caf\xe9."]])
def test_a_parquet_column_that_holds_no_strings(column, tmp_path):
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"has no column 'text' with strings"):
        build(tmp_path / "a.parquet", tmp_path / "s")
