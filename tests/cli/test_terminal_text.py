"""What reaches the terminal: no control characters of the corpus, and lines that fit."""

import json
import subprocess

import pytest
from tests.cli.terminal import on_terminal
from tests.conftest import bagpack_command

from bagpack.cli.demo import _show_command
from bagpack.console import clean
from bagpack.corpus.build.index import index_corpus

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J"
FORBIDDEN = {"\x1b", "\x07", "\x9b"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil")
    (folder / "a.jsonl").write_text(json.dumps({"id": f"doc{EVIL}", "text": "The lion met the cat."}) + "\n")
    index_corpus([str(folder / "a.jsonl")], folder / "evil.bp", jobs=1)
    return folder / "evil.bp"


def test_a_terminal_obeys_no_corpus(store):
    code, raw, _ = on_terminal("contexts", store, "lion", "cat", columns=80)
    assert code == 0
    assert "doc ]0;owned [31m" in "".join(raw.split("\n"))  # the name of a document has no control characters
    for forbidden in ("\x1b]", "\x07", "\x1b[31m\x9b", "\x9b"):
        assert forbidden not in raw


def test_nor_in_json_in_tables_and_in_errors(cli, store, write, tmp_path):
    reported = cli("contexts", store, "lion", "cat", "--json").out
    assert not set(reported) & FORBIDDEN
    assert json.loads(reported)["contexts"][0]["document"] == "doc ]0;owned [31m 2J"
    data = write("d.tsv", f"w1\tw2\tlabel\nlion\tcat\t{EVIL}\nlion\tcat\tx\n")
    checked = cli("check", store, data)
    assert checked.code == 0, checked.err
    assert "␛[31m" in checked.out
    missing = cli("check", store, tmp_path / f"no{EVIL}.tsv")
    assert missing.code == 1
    assert not set(checked.out + checked.err + missing.err) & FORBIDDEN


def test_clean_keeps_what_is_text():
    text = "naïve café\tдом\n猫 👩‍🚀 שלום\u200f"
    assert clean(text) == text
    assert clean("a\rb\x00\x7f\u202a\u202e\u2066\u2069") == "a␍b␀␡" + "\ufffd" * 4


def test_a_long_command_of_the_demo_is_one_line(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "40")
    _show_command(("find", "a" * 30, "--w2", "b" * 30), "  ")
    assert capsys.readouterr().out == f"  bagpack find {'a' * 30} --w2 {'b' * 30}\n"


def test_a_reader_that_goes_away(store):
    command = " ".join(f"'{part}'" for part in bagpack_command("contexts", store, "lion"))
    script = f"{command} | head -0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
    assert "Error" not in done.stderr and "Exception" not in done.stderr
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, text=True, check=False)
    assert "Traceback" not in closed.stderr
