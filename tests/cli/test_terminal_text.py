"""What reaches the terminal: no control characters of the corpus, and lines that fit."""

import json
import os
import pty
import subprocess

import pytest
from tests.conftest import bagpack_command

from bagpack.cli.demo import _show_command
from bagpack.console import clean

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil")
    (folder / "a.jsonl").write_text(
        json.dumps({"id": f"doc{EVIL}", "text": "The lion met the cat."})
        + "\n"
        + json.dumps({"id": "far", "text": "A lion saw one two three four five six seven eight tigers."})
        + "\n"
        + json.dumps({"id": "apart", "text": "Zebras sleep."})
        + "\n"
    )
    from bagpack.corpus.build.index import index_corpus

    index_corpus([str(folder / "a.jsonl")], folder / "evil.bp", jobs=1)
    return folder / "evil.bp"


def on_terminal(*args):
    """Both outputs of a command, each a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        bagpack_command(*args),
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1 << 16)
        except OSError:
            break
    os.close(ours)
    return done.wait(), seen.decode()


def test_a_terminal_obeys_no_corpus(store):
    code, shown = on_terminal("contexts", store, "lion", "cat")
    assert code == 0
    assert "doc␛]0;owned␛[31m" in "".join(shown.split("\r\n"))
    for forbidden in ("\x1b]", "\x07", "\x1b[31m\x9b", "\x9b"):
        assert forbidden not in shown


def test_nor_in_json_in_tables_and_in_errors(cli, store, write, tmp_path):
    reported = cli("contexts", store, "lion", "cat", "--json").out
    assert not set(reported) & {"\x1b", "\x07", "\x9b"}
    assert json.loads(reported)["contexts"][0]["document"] == f"doc{EVIL}"
    data = write("d.tsv", f"w1\tw2\tlabel\nlion\tcat\t{EVIL}\nlion\tcat\tx\n")
    checked = cli("check", store, data)
    assert checked.code == 0, checked.err
    assert "␛[31m" in checked.out
    assert not set(checked.out + checked.err) & {"\x1b", "\x07", "\x9b"}
    missing = cli("check", store, tmp_path / f"no{EVIL}.tsv")
    assert missing.code == 1
    assert not set(missing.err) & {"\x1b", "\x07", "\x9b"}


def test_into_a_file_text_goes_as_it_is(cli, store):
    assert EVIL in cli("contexts", store, "lion", "cat", "--csv").out


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
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -0; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0"]
    assert "Error" not in done.stderr and "Exception" not in done.stderr
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, text=True, check=False)
    assert "Traceback" not in closed.stderr
