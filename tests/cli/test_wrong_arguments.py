"""Arguments in the wrong order, the wrong kind of path, misspelt names and values: the message says what was meant."""

import shlex
from dataclasses import fields

import pytest
import typer
from tests.cli.conftest import PAIRS
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

from bagpack.cli import app
from bagpack.cli.learn import typed_command
from bagpack.cli.look import address_of
from bagpack.cli.main import COMMANDS, GONE
from bagpack.corpus.options import TextOptions


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a store, a data set and a text."""
    folder = tmp_path_factory.mktemp("wrong")
    make_store(folder, SENTENCES, (7,), "my.bp")
    (folder / "data.tsv").write_text(PAIRS)
    (folder / "x.txt").write_text("Lions sleep.\n")
    return folder


EVALUATE, VECTORS, INDEX = "evaluate my.bp data.tsv", "vectors my.bp data.tsv --out m", "index x.txt --out y"


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("evaluate data.tsv my.bp", "data.tsv is a file, but STORE must be a store"),
        ("evaluate my.bp my.bp", "my.bp is a directory"),
        ("predict data.tsv my.model", "data.tsv is a file, but a model is a directory"),
        ("explain my.model cat lion --top 0", "--top 0 1"),
        ("serve my.bp --port 70000", "--port 70000 65535"),
        (f"{EVALUATE} --preset modren", "--preset modren modern paper"),
        (f"{EVALUATE} --split lexicl", "--split lexicl lexical group:COLUMN"),
        (f"{EVALUATE} --split group:", "--split group: lexical group:COLUMN"),
        (f"{EVALUATE} --backend dsk", "--backend dsk dask ray spark"),
        (f"{EVALUATE} --condition=v1v2v21", "--condition v1v2v21 v1v2v12"),
        (f"{EVALUATE} --test data.tsv --folds 7", "--test --folds"),
        (f"{EVALUATE} --test data.tsv --split lexical", "--test --split"),
        (f"{EVALUATE} --fold 3", "--fold --folds"),
        ("contexts my.bp cat --json --csv", "--json --csv"),
        ("evalute my.bp data.tsv", "evalute evaluate"),
        ("engine bild x y", "bild build"),
        ("evaluate my.bp", "DATA"),
        ("contexts my.bp ice cream cone", "cone"),
        ("index data.tsv", "--out --dry-run"),
        ("index - --dry-run", "standard input"),
        ("index x.txt --dry-run --memory 1X", "--memory 1X 2G"),
        ("--nonsense", "--nonsense"),
        (f"{INDEX} --memory lots", "--memory lots 2G"),
        (f"{INDEX} --memory 100M", "--memory 100M 2G"),
        (f"{INDEX} --level stem", "--level stem lemma form"),
        (f"{INDEX} --annotator none", "--annotator none"),
        (f"{INDEX} --annotator magic", "--annotator magic auto"),
        (f"{INDEX} --max-sentence 99999999999999999999", "--max-sentence 99999999999999999999"),
        (f"{INDEX} --encoding klingon", "--encoding klingon utf-8 latin-1"),
        (f"{INDEX} --format pdf", "--format pdf auto conllu"),
        (f"{INDEX} --lang xx", "--lang 'xx'"),
        (f"{VECTORS} --limit many", "--limit many integer"),
        (f"{VECTORS} --limit 0", "--limit 0 range 1"),
        (f"{VECTORS} --limit {2**63}", f"--limit {2**63} {2**63 - 1}"),
        (f"{VECTORS} --limit {'9' * 5000}", "999 integer"),
        (f"{VECTORS} --windows 2-5-2", "--windows 2-5-2 4/2-5-2"),
        (f"{VECTORS} --columns w1", "--columns w1 w1=noun"),
        (f"{VECTORS} --columns w1=x,w2=y", "column 'x' w1 w2"),
        ("contexts my.bp ''", "word is empty"),
        ("explain my.model '' b", "word is empty"),
    ],
)
def test_the_message_says_what_was_meant(cli, place, monkeypatch, typed, parts):
    monkeypatch.chdir(place)
    before = sorted(place.iterdir())
    done = cli(*shlex.split(typed))
    assert (done.code, done.out) == (2, "")
    assert sorted(place.iterdir()) == before
    first = done.err.splitlines()[0]
    assert first.startswith("bagpack: ")
    assert [part for part in parts.replace(";", "").replace(",", "").split() if part not in first] == []


@pytest.mark.parametrize("command", GONE)
def test_a_dropped_command_says_what_to_use(cli, command):
    said = cli(command, "x").sentence(2)
    assert f"there is no command {command} any more; " in said and "bagpack " in said.partition(";")[2]


def test_what_the_library_reports_is_left_to_it(cli, place, monkeypatch):
    monkeypatch.chdir(place)
    assert "nowhere.tsv does not exist" in cli("check", "my.bp", "nowhere.tsv").err
    # A word may be the name of a file.
    assert cli("contexts", "my.bp", "data.tsv").code == 0


@pytest.mark.parametrize("command", [(), ("contexts",), ("engine",)], ids=" ".join)
def test_without_arguments_the_help_is_printed(cli, command):
    done = cli(*command)
    assert done.code == 2
    assert done.err.startswith("Usage: ") and "--help" in done.err
    assert " ".join(("bagpack", *command)) in done.err.partition("\n")[0]


def test_options_of_all_commands_are_given_before_or_after(cli, place, monkeypatch):
    monkeypatch.chdir(place)
    for args in (("--quiet", "check", "my.bp", "data.tsv"), ("check", "my.bp", "-q", "data.tsv", "--jobs=1")):
        assert cli(*args).code == 0
    for args in ("--jobs 0 basis my.bp", "basis my.bp -j0", "basis my.bp --jobs 0"):
        assert "--jobs must be at least 1" in cli(*args.split()).sentence(2)


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
        assert len(shown.splitlines()) <= 50 and max(map(len, shown.splitlines())) <= 80, name
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


def test_no_password_is_recorded_with_a_result(monkeypatch):
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
