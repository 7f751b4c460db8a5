"""Small inputs that stand for gigabytes, or that take a careless parser forever: bounded memory, linear time."""

import gzip
import subprocess
import sys

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
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.errors import BagpackError
try:
    corpus = index_corpus([sys.argv[1]], sys.argv[2], TextOptions(level="form", annotator="none"), jobs=1).corpus
    print("TOKENS", corpus.tokens)
except BagpackError as error:
    print("ERROR", error)
# Not ru_maxrss: it starts at the size of the process that forked this one.
print("PEAK", next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) >> 10)
"""


def index_apart(source, out, timeout=300):
    """What indexing a file ends with, and the process's peak memory in MiB."""
    command = [sys.executable, "-c", INDEX, str(source), str(out)]
    done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    lines = done.stdout.decode().splitlines()
    assert lines, done.stderr.decode()[-2000:]
    return lines[0], int(lines[1].split()[1])


def pack(kind, piece, times, path):
    """A compressed file of a piece many times over, made without ever holding it: in one frame, or in many streams."""
    with open(path, "wb") as out:
        if kind == "zst":
            compressor = zstd.ZstdCompressor()
            for _ in range(times):
                out.write(compressor.compress(piece))
            out.write(compressor.flush())
        else:
            out.write(COMPRESSORS[kind](piece) * times)
    return path


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_one_endless_line(kind, tmp_path):
    bomb = pack(kind, b"a" * (1 << 20), 3000, tmp_path / f"a.txt.{kind}")
    assert bomb.stat().st_size < 8 << 20
    found, peak = index_apart(bomb, tmp_path / "s")
    assert "is a line of more than 32 MiB" in found
    assert peak < 700


def test_one_block_of_wrapped_lines(tmp_path):
    """Hard-wrapped text in which no paragraph ever ends."""
    line = b"lions sleep all day in the shade of the trees that grow there.\n"
    bomb = tmp_path / "a.txt.gz"
    bomb.write_bytes(gzip.compress(line + b"\n" + line * (1 << 14)) + gzip.compress(line * (1 << 14)) * 20)
    assert is_wrapped(gzip.decompress(bomb.read_bytes())[: 1 << 16])
    found, peak = index_apart(bomb, tmp_path / "s")
    assert found == f"TOKENS {14 * (1 + 21 * (1 << 14))}"
    assert peak < 450  # as one paragraph it would take 640


def test_a_dictionary_page_that_stands_for_gigabytes(tmp_path):
    text = pa.array(["lions sleep. " * 80_000])  # 1 MB
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 1024, pa.int32()), text)
    pq.write_table(pa.table({"text": rows}), tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 4000
    script = INDEX.replace("index_corpus(", "index_some(").replace(
        "from bagpack.errors",
        "from itertools import islice\nfrom bagpack.corpus.readers.parquet import ParquetReader\n"
        "read = ParquetReader.read\nParquetReader.read = lambda *arguments: islice(read(*arguments), 4)\n"
        "from bagpack.corpus.build.index import index_corpus as index_some\nfrom bagpack.errors",
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "a.parquet", tmp_path / "s"],
        capture_output=True, check=True, timeout=300,
    )  # fmt: skip
    tokens, peak = done.stdout.decode().splitlines()
    assert tokens == f"TOKENS {4 * 80_000 * 3}"
    assert int(peak.split()[1]) < 900


def test_long_ids_in_parquet(tmp_path):
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array(["x" * (5 << 20)]))
    plain = {"compression": "zstd", "store_schema": False}  # that would say that strings are a dictionary
    wide = pa.table({"other": ids, "text": ["Lions."] * 300})
    pq.write_table(wide, tmp_path / "b.parquet", **plain)
    found, peak = index_apart(tmp_path / "b.parquet", tmp_path / "b")  # no attribute is that long
    assert found.startswith("TOKENS 600")
    assert peak < 700
    pq.write_table(pa.table({"id": ids, "text": ["Lions."] * 300}), tmp_path / "a.parquet", **plain)
    found, peak = index_apart(tmp_path / "a.parquet", tmp_path / "s")
    assert "has an id of more than 65,536 characters; name another --id-field" in found
    assert peak < 700


@pytest.mark.parametrize("piece", [b"<pages\n", b"[[a|b]] {{c}} ''d''\n"])
def test_a_wiki_page_without_an_end(piece, tmp_path):
    head = b"<mediawiki>\n<page>\n<title>A</title>\n<ns>0</ns>\n<revision><text>"
    bomb = tmp_path / "a.xml.gz"
    bomb.write_bytes(
        gzip.compress(head) + gzip.compress(piece * (1 << 17)) * 80 + gzip.compress(b"</text></page>\n")
    )
    found, peak = index_apart(bomb, tmp_path / "s")
    assert found.startswith("ERROR")
    assert "has a page" in found
    assert peak < 600


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deeply_nested_json(opening, tmp_path, write, cli):
    deep = '{"text": "Lions.", "x": ' + opening * 100_000 + "\n"
    source = write("a.jsonl", '{"text": "Cats sleep."}\n' + deep)
    done = cli("index", source, "--out", tmp_path / "s", "--jobs", 1)
    assert (done.code, "a.jsonl:2 is" in done.err) == (1, True)
    assert cli("index", source, "--out", tmp_path / "s", "--jobs", 1, "--bad-lines", "skip").code == 0


def test_a_parquet_page_of_one_long_value(tmp_path):
    table = pa.table({"text": ["a" * (200 << 20)]})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd", use_dictionary=False)
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 20
    found, peak = index_apart(tmp_path / "a.parquet", tmp_path / "s")
    assert "expands to more bytes than text does" in found
    assert peak < 500


def test_a_long_line_of_punctuation(tmp_path):
    """No end of a sentence is followed by white space; as a whole, it took 1.1 GB."""
    (tmp_path / "a.txt").write_text("(.)!?' " * 3_000_000)
    found, peak = index_apart(tmp_path / "a.txt", tmp_path / "s")
    assert found == "TOKENS 18000000"
    assert peak < 700


@pytest.mark.parametrize("kilobytes", [100_000, 300_000])  # too little for numpy, and for numba
def test_little_address_space_is_one_sentence(kilobytes, tmp_path):
    (tmp_path / "a.txt").write_text("Lions sleep.\n")
    command = f"ulimit -v {kilobytes}; exec '{sys.executable}' -m bagpack index a.txt --out s --jobs 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("bagpack: ") and done.stderr.count("\n") == 1, done.stderr
