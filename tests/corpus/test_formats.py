"""Every format in every wrapping; which format a file is taken for; damaged files end in one sentence."""

import gzip
import random
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_oracle import COMPRESSORS, build, sentences, words

from bagpack.corpus.build.plan import make_plan
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Slice
from bagpack.corpus.readers.look import look
from bagpack.corpus.readers.text import is_wrapped
from bagpack.errors import InputError

COMPRESSIONS = {"": bytes, **{f".{kind}": compress for kind, compress in COMPRESSORS.items()}}
FILES = {
    "text": ("a.txt", "Lions sleep. Cats don't.\n\nDogs bark.\n"),
    "vertical": (
        "a.vert",
        "<text id='a'>\n<s>\nLions\tN\tlion\nsleep\tV\tsleep\n.\tS\t.\n</s>\n<s>\nCats\tN\tcat\ndo\tV\tdo\n<g/>\n"
        "n't\tR\tnot\n<g/>\n.\tS\t.\n</s>\n<s>\nDogs\tN\tdog\nbark\tV\tbark\n.\tS\t.\n</s>\n",
    ),
    "conllu": (
        "a.conllu",
        "".join(
            "".join(f"{i}\t{w}\t{w}" + "\t_" * 7 + "\n" for i, w in enumerate(s.split(), 1)) + "\n"
            for s in ["Lions sleep .", "Cats do n't .", "Dogs bark ."]
        ),
    ),
    "jsonl": ("a.jsonl", '{"id": 7, "text": "Lions sleep. Cats don\'t."}\n\n{"text": "Dogs bark."}\n'),
}
EXPECTED = [["Lions", "sleep", "."], ["Cats", "do", "n't", "."], ["Dogs", "bark", "."]]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("format", FILES)
def test_every_format_in_every_compression(format, suffix, tmp_path, write):
    name, text = FILES[format]
    source = write(name + suffix, COMPRESSIONS[suffix](text.encode()))
    corpus = build(source, tmp_path / "s")
    assert corpus.manifest["sources"][0]["format"] == format
    assert words(corpus) == EXPECTED


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_files_in_several_pieces_are_read_to_the_end(suffix, tmp_path, write):
    halves = FILES["text"][1].encode()[:20], FILES["text"][1].encode()[20:]
    source = write("a.txt" + suffix, b"".join(COMPRESSIONS[suffix](half) for half in halves))
    assert words(build(source, tmp_path / "s")) == EXPECTED


@pytest.mark.parametrize("columns", [{"id": ["x", "y"]}, {}])
def test_parquet(columns, tmp_path):
    source = tmp_path / "a.parquet"
    table = pa.table({**columns, "text": ["Lions sleep. Cats don't.", "Dogs bark."], "other": [1, 2]})
    pq.write_table(table, source, row_group_size=1)
    plan = make_plan([str(source)], TextOptions(), 50)
    assert len(plan.parts) == 2
    assert plan.weight == 2 * source.stat().st_size
    corpus = build(source, tmp_path / "s", part_bytes=50)
    assert words(corpus) == EXPECTED
    named = ["x", "x", "y"] if columns else [f"{source}:1", f"{source}:1", f"{source}:2"]
    assert [document for document, _ in sentences(corpus)] == named


def test_parquet_without_the_column_or_with_nulls(tmp_path):
    source = tmp_path / "a.parquet"
    for table in ({"text": [1, 2]}, {"text": [b"Lions sleep.", b"Caf\xe9."]}, {"body": ["Yes.", None]}):
        pq.write_table(pa.table(table), source)
        with pytest.raises(
            InputError, match=r"no column 'text' with strings \(columns with strings: (body)?\)"
        ):
            build(source, tmp_path / "s")
    corpus = build(source, tmp_path / "s", text_field="body")
    assert words(corpus) == [["Yes", "."]]
    assert corpus.manifest["problems"]["skipped_lines"] == 1


def test_json_ids_and_fields(tmp_path, write):
    source = write("a.jsonl", '{"key": "k", "body": "One."}\n{"body": "Two."}\n{"key": null, "body": ""}\n')
    corpus = build(source, tmp_path / "s", text_field="body", id_field="key")
    assert [document for document, _ in sentences(corpus)] == ["k", f"{source}:2"]
    assert corpus.documents == 3


def test_half_a_surrogate_pair_in_json(tmp_path, write):
    source = write("a.jsonl", '{"text": "Smile \\ud83d now \\ud83d\\ude00."}\n')
    corpus = build(source, tmp_path / "s")
    assert words(corpus) == [["Smile", "?", "now", "😀", "."]]
    assert corpus.manifest["problems"]["undecodable"] == 1


RECOGNISED = {
    "a.dat": ("jsonl", '{"text": "x"}\n'),
    "b.xml": ("vertical", FILES["vertical"][1]),
    "c": ("conllu", "# sent_id = 1\n" + FILES["conllu"][1]),
    "d.txt": ("vertical", FILES["vertical"][1]),  # content tells more than a name
    "e.conllu": ("conllu", "# nothing but a comment\n"),
    "f.txt": ("text", "<p>Some HTML</p>\nwith no tabs\n"),
    "g": ("text", "{not json}\n"),
    "k.txt": ("text", "A page begins with <html>.\n"),
    "l.txt": ("text", "<htmlish> words\n"),
    "m.txt": ("text", "<!-- note -->\nThe lion.\n"),
    "h.vert": ("vertical", "one\ntwo\n"),
    "i.csv": ("text", "a\tb\tc\nd\te\tf\n"),
    "j": ("vertical", "\ufeff" + FILES["vertical"][1]),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_recognition(name, write):
    format, text = RECOGNISED[name]
    options = TextOptions(level="form")
    assert look(str(write(name, text)), options).format == format
    packed = write(name + ".gz", gzip.compress(text.encode()))
    assert look(str(packed), options).format == format


def test_hard_wrapped_text_is_unwrapped(tmp_path, write):
    text = (
        "The lion is a large cat of the genus Panthera that\nlives in Africa and in India.\n\n"
        "It sleeps for most of the day, in the shade of the\ntrees that grow there, and hunts with its whole\n"
        "pride.\n\n"
    ) * 3
    assert is_wrapped(text.encode())
    corpus = build(write("a.txt", text), tmp_path / "s")
    assert [line[-2] for line in words(corpus)[:2]] == ["India", "pride"]
    assert len(words(corpus)) == 6
    assert len(words(build(write("a.txt", text), tmp_path / "s", paragraphs="line"))) == 15
    crlf = build(write("a.txt", text.replace("\n", "\r\n")), tmp_path / "s")
    assert words(crlf) == words(corpus)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_line_has_a_greatest_length_wherever_blocks_end(suffix, write, monkeypatch):
    """Also where the block that it begins in holds some of it, which used to be allowed on top."""
    monkeypatch.setattr("bagpack.corpus.readers.files.BLOCK", 700)
    for length, allowed in ((999, True), (1000, False), (1600, False)):
        line = b"Lions sleep.\n" + b"x" * length + b"\nCats hunt.\n"
        part = Slice(look(str(write(f"a.txt{suffix}", COMPRESSIONS[suffix](line))), TextOptions()))
        with nullcontext() if allowed else pytest.raises(InputError, match=r":2 is a line of more than"):
            assert b"".join(block.data for block in part.blocks(TextOptions(max_line=1000))) == line


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
