"""Small inputs that stand for gigabytes, or that take a careless parser forever: bounded memory, linear time."""

import gzip
import subprocess
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_oracle import COMPRESSORS

from bagpack.corpus.readers.files import zstd
from bagpack.corpus.readers.text import is_wrapped

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="bounds memory with RLIMIT_AS, which only Linux enforces"
)
INDEX = """
import resource, sys
from itertools import islice
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
from bagpack import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.parquet import ParquetReader
from bagpack.errors import BagpackError
read = ParquetReader.read
ParquetReader.read = lambda *arguments: islice(read(*arguments), int(sys.argv[3]))
try:
    corpus = index_corpus([sys.argv[1]], sys.argv[2], TextOptions(level="form", annotator="none"), jobs=1).corpus
    print("TOKENS", corpus.tokens)
except BagpackError as error:
    print("ERROR", error)
# Not ru_maxrss: it starts at the size of the process that forked this one.
print("PEAK", next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) >> 10)
"""


def endless_line(path, kind):
    """Made without ever holding it: in one frame, or in many streams."""
    piece, times = b"a" * (1 << 20), 3000
    with open(path, "wb") as out:
        if kind == "zst":
            compressor = zstd.ZstdCompressor()
            for _ in range(times):
                out.write(compressor.compress(piece))
            out.write(compressor.flush())
        else:
            out.write(COMPRESSORS[kind](piece) * times)


LINE = b"lions sleep all day in the shade of the trees that grow there.\n"


def wrapped_lines(path):
    """Hard-wrapped text in which no paragraph ever ends."""
    path.write_bytes(gzip.compress(LINE + b"\n" + LINE * (1 << 14)) + gzip.compress(LINE * (1 << 14)) * 20)
    assert is_wrapped(gzip.decompress(path.read_bytes())[: 1 << 16])


def endless_page(path, piece):
    head = b"<mediawiki>\n<page>\n<title>A</title>\n<ns>0</ns>\n<revision><text>"
    pieces = gzip.compress(piece * (1 << 17)) * 80
    path.write_bytes(gzip.compress(head) + pieces + gzip.compress(b"</text></page>\n"))


def parquet(path, **columns):
    """A value that comes with a number of times is held once, in a dictionary page; others have no dictionary."""
    table, repeated = {}, [name for name, value in columns.items() if isinstance(value, tuple)]
    for name, value in columns.items():
        table[name] = value
        if name in repeated:
            table[name] = pa.DictionaryArray.from_arrays(
                pa.array([0] * value[1], pa.int32()), pa.array([value[0]])
            )
    # The schema of Arrow, which is stored as well, would say that strings of an id are a dictionary.
    how = {"compression": "zstd", "use_dictionary": repeated, "store_schema": len(columns) == 1}
    pq.write_table(pa.table(table), path, **how)


LONG = ("x" * (5 << 20), 150)
# What each file is called, how it is made, what indexing it ends with, and the most memory in MiB.
BOMBS = {
    **{f"a.txt.{kind}": (partial(endless_line, kind=kind), "32 MiB", 700) for kind in COMPRESSORS},
    # As one paragraph it would take 640.
    "b.txt.gz": (wrapped_lines, f"TOKENS {14 * (1 + 21 * (1 << 14))}", 450),
    "c.xml.gz": (partial(endless_page, piece=b"<pages\n"), "c.xml.gz:2 ", 600),
    "dictionary.parquet": (
        partial(parquet, text=("lions sleep. " * 80_000, 1024)), f"TOKENS {4 * 80_000 * 3}", 900,
    ),
    # No attribute is that long, but an id may be meant to.
    "wide.parquet": (partial(parquet, other=LONG, text=["Lions."] * 150), "TOKENS 300", 700),
    "ids.parquet": (partial(parquet, id=LONG, text=["Lions."] * 150), "--id-field", 700),
    "long.parquet": (partial(parquet, text=["a" * (80 << 20)]), "long.parquet expands", 500),
    # A long line is read in pieces; as a whole, this one would take 0.7 GB.
    "e.txt": (lambda path: path.write_text("(.)!?' " * 2_000_000), "TOKENS 12000000", 500),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb(name, tmp_path):
    make, expected, most = BOMBS[name]
    make(tmp_path / name)
    assert name == "e.txt" or (tmp_path / name).stat().st_size < 8 << 20
    rows = "4" if name == "dictionary.parquet" else "1000"  # of a gigabyte, no more are needed
    command = [sys.executable, "-c", INDEX, tmp_path / name, tmp_path / "s", rows]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr[-2000:]
    found, peak = done.stdout.splitlines()
    print(name, found, peak)
    assert expected in found
    assert int(peak.split()[1]) < most


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deeply_nested_json(opening, tmp_path, write, cli):
    deep = '{"text": "Lions.", "x": ' + opening * 100_000 + "\n"
    source = write("a.jsonl", '{"text": "Cats sleep."}\n' + deep)
    done = cli("index", source, "--out", tmp_path / "s", "--jobs", 1)
    assert (done.code, "a.jsonl:2 " in done.err) == (1, True)
    assert cli("index", source, "--out", tmp_path / "s", "--jobs", 1, "--bad-lines", "skip").code == 0


@pytest.mark.parametrize("kilobytes", [100_000, 300_000, 530_000])  # for numpy, for numba, to compile
def test_little_address_space_is_one_sentence(kilobytes, tmp_path):
    (tmp_path / "a.txt").write_text("Lions sleep.\n")
    command = f"ulimit -v {kilobytes}; exec '{sys.executable}' -m bagpack index a.txt --out s --jobs 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("bagpack: ") and done.stderr.count("\n") == 1, done.stderr
