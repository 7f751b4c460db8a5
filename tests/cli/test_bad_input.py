"""Bad input and wrong arguments: one clear sentence with the place and the cure, nothing under the final name."""

import gzip
import json
import os
import shlex
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from tests.cli.conftest import PAIRS
from tests.conftest import samples
from tests.contexts.stores import make_store
from tests.kills import as_nobody
from tests.vectors.conftest import SENTENCES

from bagpack import index_corpus
from bagpack.cli import app
from bagpack.cli.learn import typed_command
from bagpack.cli.look import address_of
from bagpack.cli.main import COMMANDS, GONE
from bagpack.corpus.options import TextOptions

VERTICAL = "<text id='a'>\n<s>\n" + "Lions\tNNS\tlion\n" * 9 + "</s>\n"
CONLLU = "".join(f"{i}\tw\tw" + "\t_" * 7 + "\n" for i in range(1, 4))


@pytest.fixture
def fails(cli, tmp_path):
    """Run `bagpack index`; it must fail cleanly, and the sentence is returned."""

    def run(source, *options):
        out = tmp_path / "store.bp"
        sentence = cli("index", source, "--out", out, "--jobs", 1, *options).sentence()
        assert not (out / "manifest.json").exists()
        assert out.exists() == ("add --resume" in sentence)
        return sentence

    return run


@pytest.fixture
def builds(cli, tmp_path):
    """Run `bagpack index`; it must succeed, and the summary is returned."""

    def run(source, *options):
        done = cli("index", source, "--out", tmp_path / "good.bp", "--overwrite", "--jobs", 1, *options)
        assert done.code == 0, done.err
        return " ".join(done.err.split())

    return run


def test_a_name_that_is_too_long(cli, write, tmp_path):
    source, long = write("a.txt", "Lions sleep.\n"), tmp_path / ("x" * 300)
    for args in (
        ("index", long, "--out", tmp_path / "s"), ("index", source, "--out", long), ("info", long),
        ("info", long, "--verify"), ("contexts", long, "lion"), ("explain", long, "lion", "cat"),
    ):  # fmt: skip
        done = cli(*args)
        assert done.code == 1 and "too long" in done.err, args
        assert "x" * 300 in done.err and "unexpected error" not in done.err, args
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 elsewhere")
def test_a_store_whose_name_is_not_utf8(cli, write, tmp_path):
    store = tmp_path / os.fsdecode(b"s\xff")
    made = cli("index", write("a.txt", "Lions sleep.\n"), "--out", store, "-j", 1)
    assert made.code == 0 and "s\ufffd: 3 tokens" in made.err
    assert json.loads(cli("info", store, "--json").out)["path"] == str(store)
    pairs, matrix = write("p.tsv", "w1\tw2\nlion\tsleep\n"), tmp_path / "m"
    refused = cli("vectors", store, pairs, "--out", matrix, "-b", 2, "-j", 1).sentence()
    assert "UTF-8" in refused and "rename" in refused


def test_a_file_without_read_permission():
    with tempfile.TemporaryDirectory() as place:  # not tmp_path, into which other users cannot look
        source, mine = Path(place) / "secret.txt", Path(place) / "mine"
        source.write_text("Lions sleep.\n")
        source.chmod(0)
        mine.mkdir()
        os.chmod(place, 0o755)
        mine.chmod(0o777)
        said = as_nobody(lambda: index_corpus([str(source)], mine / "store.bp", jobs=1))
        assert said.startswith(f"{source} cannot be read: Permission denied; check the name")
        assert list(mine.iterdir()) == []


def test_places_without_files(fails, write, tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    for name in ("nope.txt", "*.nope", "link.txt", "empty"):
        assert f"no file {tmp_path / name}, nor files in it; check the name" in fails(tmp_path / name)
    assert "standard input" in fails("-")
    made = write("made.bp/manifest.json", '{"kind": "corpus"}').parent
    (made / "segments").mkdir()
    assert f"{made} " in fails(made)


# What a file is called and holds, parts of what is reported, the option that skips it, and what the summary then says.
CAFE = b"<s>\ncaf\xe9\tN\tcaf\xe9\n</s>\n"
NO_OPTION = (), ""
SKIPPED = [
    *samples("cli/skipped.jsonl"),
    ("b.txt.gz", gzip.compress(b""), "b.txt.gz is empty", *NO_OPTION),
    ("a.conllu", CONLLU * 33_334, "a.conllu:100,001 | 100,000 ", *NO_OPTION),
    ("a.txt", b"Fine.\n\nA caf\xe9 and na\xefve.\n",
     "a.txt:3 is not utf-8 (byte 0xe9); name the encoding (--encoding latin-1?)",
     ("--encoding-errors", "replace"), "2 places"),
    ("a.vert", VERTICAL.encode() + CAFE, "a.vert:14 |0xe9", ("--encoding", "latin-1"), "10 tokens"),
    ("a.vert", VERTICAL.encode() + CAFE, "a.vert:14 |--encoding-errors", ("--encoding-errors", "skip"), "2 places"),
    ("a.vert", VERTICAL.encode() + b"<text id='caf\xe9'>\n", "a.vert:13 |0xe9", ("--encoding-errors", "skip"),
     "1 place "),
    ("a.vert", "<s>\n" + "lion\tN\tlion\n" * 150_000 + "</s>\n", "a.vert:100,002 | 100,000 ",
     ("--max-sentence", 150_000), "150,000 tokens, 1 sentence"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "reported", "option", "summary"), SKIPPED, ids=range(len(SKIPPED))
)
def test_files_that_do_not_fit(name, content, reported, option, summary, fails, builds, write):
    source = write(name, content)
    sentence = fails(source)
    assert [part for part in reported.split("|") if part not in sentence] == []
    if option:
        assert option[0] in sentence
        assert summary in builds(source, *option)


def test_the_line_is_right_in_a_compressed_file_and_behind_a_slice(fails, write, monkeypatch):
    lines = VERTICAL + "<s>\nok\tN\tok\n</s>\n" * 500 + "<s>\nbroken\n</s>\n"
    number = lines.count("\n", 0, lines.index("broken")) + 1
    packed = write("a.vert.gz", gzip.compress(lines.encode()))
    assert f"a.vert.gz:{number:,} " in fails(packed)
    monkeypatch.setattr("bagpack.corpus.build.plan.MIN_PART", 1000)
    assert f"a.vert:{number:,} " in fails(write("a.vert", lines))


def test_an_output_that_exists(cli, write, tmp_path):
    source, out = write("a.txt", "Lions sleep.\n"), tmp_path / "s"
    for place, option, code, said in (
        (out, (), 0, ""), (out, (), 1, "exists already; choose another --out, --append to it, or --overwrite it"),
        (out, ("--overwrite",), 0, ""), (tmp_path / "none", ("--append",), 1, str(tmp_path / "none")),
        (source, ("--overwrite",), 1, f"{source} exists"),
    ):  # fmt: skip
        done = cli("index", source, "--out", place, "-j", 1, *option)
        assert done.code == code and said in done.err
    assert source.read_text() == "Lions sleep.\n" and not (tmp_path / "none").exists()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a store, a data set and a text."""
    folder = tmp_path_factory.mktemp("wrong")
    make_store(folder, SENTENCES, (7,), "my.bp")
    (folder / "data.tsv").write_text(PAIRS)
    (folder / "x.txt").write_text("Lions sleep.\n")
    return folder


@pytest.mark.parametrize("line", (Path(__file__).parent / "wrong_arguments.tsv").read_text().splitlines())
def test_the_message_says_what_was_meant(cli, place, monkeypatch, line):
    """What is typed, and the words that the message has."""
    typed, parts = line.split("\t")
    monkeypatch.chdir(place)
    before = sorted(place.iterdir())
    done = cli(*shlex.split(typed.replace("NINES", "9" * 5000)))
    assert (done.code, done.out, sorted(place.iterdir())) == (2, "", before)
    first = done.err.splitlines()[0]
    assert first.startswith("bagpack: ")
    assert [part for part in parts.replace(";", "").replace(",", "").split() if part not in first] == []


@pytest.mark.parametrize("command", GONE)
def test_a_dropped_command_says_what_to_use(cli, command):
    said = cli(command, "x").sentence(2)
    assert f" {command} " in said and "bagpack " in said.partition(";")[2]


def test_what_the_library_reports_is_left_to_it(cli, place, monkeypatch):
    monkeypatch.chdir(place)
    assert "nowhere.tsv" in cli("check", "my.bp", "nowhere.tsv").sentence()
    # A word may be the name of a file.
    assert cli("contexts", "my.bp", "data.tsv").code == 0


def test_options_of_all_commands_are_given_before_or_after(cli, place, monkeypatch):
    monkeypatch.chdir(place)
    for typed in ("--quiet check my.bp data.tsv", "check my.bp -q data.tsv --jobs=1", "contexts my.bp -- -q"):
        assert cli(*typed.split()).code == 0


def test_the_help_is_short_and_every_option_is_described(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    root = typer.main.get_command(app)
    found = {**root.commands, "engine build": root.commands["engine"].commands["build"]}
    del found["engine"]
    assert len(found) == 17
    options = {name: [p for p in one.params if p.param_type_name == "option"] for name, one in found.items()}
    assert sum(map(len, options.values())) <= 150
    for name, own in options.items():
        shown = cli(*name.split(), "--help").out
        assert len(shown.splitlines()) <= 40 and max(map(len, shown.splitlines())) <= 80, name
        assert all(max(param.opts, key=len) in shown and param.help for param in own)
    shown = cli("--help").out
    places = [shown.index(f"\n{panel}:\n") for panel in COMMANDS]
    assert places == sorted(places)


def test_defaults_of_index_are_those_of_the_library():
    shown = {param.name: param.default for param in typer.main.get_command(app).commands["index"].params}
    declared = {field.name: field.default for field in fields(TextOptions)}
    common = shown.keys() & declared.keys()
    assert {"case", "level", "annotator", "lang"} <= common
    assert {name: shown[name] for name in common} == {name: declared[name] for name in common}


def test_no_password_is_recorded_with_a_result(cli, monkeypatch):
    for address in ("tcp://me:s3/cr3t@host", "me:s3@cr3t@host", "tcp://host?pwd=s3cr3t"):
        assert "cr3t" not in cli("basis", "my.bp", "--address", address).sentence(2)
    typed = ["evaluate", "my.bp", "d.tsv", "--address", "tcp://me:s3cret@host:8786"]
    monkeypatch.setattr("sys.argv", ["bagpack", *typed, "--basis", "http://h/x?api_key=s3cret&b=1"])
    kept = "bagpack evaluate my.bp d.tsv --address tcp://host:8786 --basis 'http://h/x?&b=1'"
    assert typed_command() == kept


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:8765"), ("0.0.0.0", "http://localhost:8765"), ("::", "http://localhost:8765"),
     ("::1", "http://[::1]:8765")],
)  # fmt: skip
def test_the_address_that_is_shown_is_one_that_answers(host, address):
    from bagpack.app.security import ANYWHERE, own_names

    assert address_of(host, 8765) == address
    name = address.removeprefix("http://").rpartition(":")[0].strip("[]")
    assert name in own_names(host) or host in ANYWHERE
