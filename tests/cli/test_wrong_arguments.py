"""Arguments in the wrong order, the wrong kind of path, misspelt names and values: the message says what was meant."""

from dataclasses import fields

import pytest
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

DATA = "w1\tw2\tlabel\ncat\tlion\ta\nhammer\tnail\tb\nlion\tcat\ta\nnail\thammer\tb\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a store, a matrix, a model and a data set."""
    folder = tmp_path_factory.mktemp("wrong")
    make_store(folder, SENTENCES, (7,), "my.bp")
    (folder / "my.bpm").mkdir()
    (folder / "my.bpm" / "manifest.json").write_text('{"kind": "pair-matrix"}')
    (folder / "my.model").mkdir()
    (folder / "my.model" / "model.json").write_text("{}")
    (folder / "data.tsv").write_text(DATA)
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("evaluate data.tsv my.bp", "the order is STORE DATA; did you mean: bagpack evaluate my.bp data.tsv"),
        (
            "check data.tsv my.bp --json",
            "the order is STORE DATA; did you mean: bagpack check my.bp data.tsv --json",
        ),
        (
            "train data.tsv my.bp --out x.model",
            "the order is STORE DATA; did you mean: bagpack train my.bp data.tsv --out x.model",
        ),
        ("contexts cat my.bp", "the order is STORE W1; did you mean: bagpack contexts my.bp cat"),
        (
            "contexts cat lion my.bp",
            "the order is STORE W1 W2; did you mean: bagpack contexts my.bp cat lion",
        ),
        (
            "explain cat lion my.model",
            "the order is MODEL W1 W2; did you mean: bagpack explain my.model cat lion",
        ),
        (
            "predict data.tsv my.model",
            "the order is MODEL PAIRS; did you mean: bagpack predict my.model data.tsv",
        ),
        (
            "evaluate my.bp my.bp",
            "my.bp is a store, but DATA must be a file with a data set; name another path",
        ),
        (
            "evaluate data.tsv data.tsv",
            "data.tsv is a file, but STORE must be a store (bagpack index makes one), snippets or a matrix; "
            "name another path",
        ),
        (
            "contexts my.bpm cat",
            "my.bpm is a matrix, but STORE must be a store (bagpack index makes one) or snippets; name another path",
        ),
        (
            "predict my.bp data.tsv",
            "my.bp is a store, but MODEL must be a model (bagpack train makes one); name another path",
        ),
        (
            "sketch my.bp cat lion --model my.bpm",
            "my.bpm is a matrix, but --model must be a model (bagpack train makes one); name another path",
        ),
        (
            "evaluate my.bp data.tsv --test my.bp",
            "my.bp is a store, but --test must be a file with a data set; name another path",
        ),
        ("sketch my.bp cat --top 0", "--top must be at least 1, not 0"),
        ("serve my.bp --port 70000", "--port must be 1 to 65535, not 70000"),
        (
            "evaluate my.bp data.tsv --preset modren",
            "--preset modren is unknown; did you mean modern? choose one of paper, modern",
        ),
        (
            "evaluate my.bp data.tsv --split lexicl",
            "--split lexicl is unknown; did you mean lexical? choose one of random, lexical, group:COLUMN",
        ),
        (
            "evaluate my.bp data.tsv --split group:",
            "--split group: is unknown; did you mean group:COLUMN? choose one of random, lexical, group:COLUMN",
        ),
        (
            "evaluate my.bp data.tsv --backend dsk",
            "--backend dsk is unknown; did you mean dask? choose one of loky, dask, ray, spark",
        ),
        (
            "evaluate my.bp data.tsv --condition v1v2v21",
            "--condition v1v2v21 is unknown; did you mean v1v2v12? choose one of all, v1v2, v12, v1v2v12",
        ),
        (
            "evaluate my.bp data.tsv --task rating",
            "--task rating is unknown; did you mean ratings? choose one of relations, ratings",
        ),
        ("evalute my.bp data.tsv", "there is no command evalute; did you mean evaluate?"),
        ("engine bild x y", "there is no command bild; did you mean build?"),
        ("frobnicate", "there is no command frobnicate"),
        ("evaluate my.bp data.tsv --fold 3", "there is no option --fold; did you mean --folds?"),
        ("evaluate my.bp data.tsv --folds x", "--folds x is not an integer"),
        ("evaluate my.bp data.tsv --epsilon=x", "--epsilon x is not a number"),
        ("evaluate my.bp", "the argument DATA is missing"),
        (
            "contexts my.bp ice cream cone",
            "there are too many arguments: cone; quote what contains blanks",
        ),
        ("train my.bp data.tsv", "the option --out is missing"),
    ],
)
def test_the_message_says_what_was_meant(cli, place, monkeypatch, typed, message):
    monkeypatch.chdir(place)
    done = cli(*typed.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[0] == f"bagpack: {message}"


def test_what_the_library_reports_is_left_to_it(cli, place, monkeypatch):
    monkeypatch.chdir(place)
    assert "nowhere.tsv does not exist" in cli("check", "my.bp", "nowhere.tsv").err
    assert "empty is a directory; name one file in it" in cli("check", "my.bp", "empty").err
    # A word may be the name of a file.
    assert cli("contexts", "my.bp", "data.tsv").code == 0


def test_every_listed_value_is_accepted_by_the_library():
    from tests.cli.test_console import commands

    from bagpack.backends import BACKENDS
    from bagpack.learn.presets import get_preset
    from bagpack.names import CONDITIONS

    options = {
        max(param.opts, key=len): param
        for param in commands()["evaluate"].params
        if param.param_type_name == "option"
    }

    def values(option):
        return [item.value for item in options[option].shell_complete(None, "")]

    assert set(values("--backend")) == set(BACKENDS)
    assert set(values("--condition")) == {"all", *CONDITIONS}
    assert set(values("--preset")) == {"modern", "paper"}
    assert all(set(CONDITIONS) <= set(get_preset(name).conditions) for name in values("--preset"))
    assert set(values("--split")) == {"random", "lexical", "group:"}


@pytest.mark.parametrize("command", [(), ("forms",), ("train",), ("engine",)], ids=" ".join)
def test_without_arguments_the_help_is_printed(cli, command):
    done = cli(*command)
    assert done.code == 2
    assert done.err.startswith("Usage: ")
    assert " ".join(("bagpack", *command)) in done.err.partition("\n")[0]
    assert "--help" in done.err


def test_defaults_of_index_are_those_of_the_library():
    from bagpack.cli.option_groups import IndexOptions
    from bagpack.corpus.options import TextOptions

    shown = {field.name: field.default for field in fields(IndexOptions)}
    declared = {field.name: field.default for field in fields(TextOptions)}
    common = shown.keys() & declared.keys()
    assert {"case", "level", "annotator", "lang"} <= common
    assert {name: shown[name] for name in common} == {name: declared[name] for name in common}
