"""What every command owes its user: a quick answer, the right exit code, progress where it can be seen."""

import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from unittest.mock import Mock

import pytest
from tests.cli.conftest import on_terminal
from tests.conftest import LIMIT, bagpack_command, wait_for
from tests.contexts.stores import make_store

import bagpack
from bagpack import index_corpus
from bagpack.cli.main import _interrupt_again
from bagpack.console import clean


def test_json_quiet_and_the_summary(cli, tmp_path, write):
    source = write("a.txt", "Lions sleep. Cats too.\n")
    quiet = cli("index", source, "--out", tmp_path / "q", "-j", 1, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    reported = json.loads(cli("index", source, "--out", tmp_path / "j", "-j", 1, "--json").out)
    numbers = {"tokens": 6, "sentences": 2, "documents": 1, "types": 5, "new_tokens": 6}
    assert {name: reported[name] for name in numbers} == numbers
    plain = cli("index", source, "--out", tmp_path / "p", "-j", 1)
    assert plain.out == ""
    assert "6 tokens, 2 sentences, 1 document, 5 types" in " ".join(plain.err.split())
    facts = json.loads(cli("info", tmp_path / "p", "--json").out)
    assert (facts["kind"], facts["tokens"]) == ("corpus", 6)
    assert "sentences" in cli("info", tmp_path / "p").out
    assert json.loads(cli("info", tmp_path / "p", "--json", "--verify").out)["whole"] is True
    assert cli("--version").out == f"bagpack {bagpack.__version__}\n"


# What is loaded for help and for a single question: heavy packages only where they are needed

COMPUTING = {"numba", "scipy", "sklearn", "pandas", "joblib"}
HELP = COMPUTING | {"numpy", "spacy", "jinja2", "simplemma"}
VECTORS = "vectors store.bp p.tsv --out m", "", {"sklearn", "pandas"}


@pytest.mark.parametrize(
    ("arguments", "shown", "heavy"),
    [("--help", "index", HELP), ("contexts store.bp saw cat", "cat", COMPUTING), VECTORS],
)
def test_nothing_heavy_is_loaded(tmp_path, arguments, shown, heavy):
    make_store(tmp_path, [["the", "cat", "saw", "a", "lion"], ["a", "saw", "cat"]] * 3)
    (tmp_path / "p.tsv").write_text("w1\tw2\ncat\tlion\n")
    command = bagpack_command(*arguments.split())
    command[2] = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));" + command[2]
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown in done.stdout.lower()
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "bagpack" in loaded and loaded.isdisjoint(heavy)


@pytest.fixture
def data(cli, tmp_path, write):
    """Twelve pairs, next to a store that has them."""
    pairs = [(f"a{i}", f"b{i}", "x" if i % 2 else "y") for i in range(12)]
    source = write("a.txt", "".join(f"The {w1} {label} the {w2} here.\n" for w1, w2, label in pairs))
    assert cli("index", source, "--out", tmp_path / "s.bp", "-j", 1).code == 0
    return write("d.tsv", "w1\tw2\tlabel\n" + "".join("\t".join(row) + "\n" for row in pairs))


def test_learning_has_progress_and_a_model_is_described(cli, data, tmp_path):
    args = ("train", tmp_path / "s.bp", data, "--folds", 3, "--out", tmp_path / "m", "-j", 1)
    code, _, shown = on_terminal(*args)
    assert code == 0
    tasks = ["choosing the basis", "counting words", "counting pairs", "weighting the contexts"]
    places = [shown.index(words) for words in [*tasks, "training, folds", "training on all rows"]]
    assert places == sorted(places)
    # A bar that is full goes away: nothing of counting is drawn once training has begun.
    assert "counting" not in shown[places[-2] :] and "100%" not in shown
    described = cli("info", tmp_path / "m").out
    assert not set("{}") & set(described) and "F1 macro %" in described
    assert "windows (before 4, after 4" in " ".join(described.split())


def test_progress_on_a_terminal(tmp_path, write):
    source = write("a.vert", ("<s>\n" + "Lions\tN\tlion\n" * 30 + "</s>\n") * 20_000)
    code, _, shown = on_terminal("index", source, "--out", tmp_path / "s", "--jobs", "1", columns=80)
    assert code == 0
    assert "indexing 1 file" in shown
    assert re.search(r"\d+% [\d.]+ M tokens +[\d:…]+ elapsed, [-\d]", shown)
    assert "600,000 tokens" in shown
    lines = [line for line in re.split(r"[\r\n]+", shown) if "elapsed" in line]
    assert max(map(len, lines)) <= 78  # a ^C fits on the line, so that all of it is cleared
    dumb = write("a.txt", "Lions sleep.\n")  # a terminal that cannot move its cursor has no progress
    code, _, shown = on_terminal("index", dumb, "--out", tmp_path / "d", "--jobs", "1", term="dumb")
    assert code == 0 and shown.startswith(f"{tmp_path / 'd'}: 3 tokens")


def interrupt(args, ready):
    """Begin `bagpack ARGS`, press Ctrl-C as soon as it is at work; its exit code and what it says."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen(bagpack_command(*args), start_new_session=True, **pipes)
    wait_for(ready, run)
    os.killpg(run.pid, signal.SIGINT)  # a terminal tells the workers too
    said = run.communicate(timeout=LIMIT)[1]
    return run.returncode, said


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_inside_a_callback_of_c_is_not_lost(monkeypatch, capsys):
    """LLVM calls Python when it loads a kernel; an exception there is printed and forgotten."""
    callback = ctypes.CFUNCTYPE(None)(Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(sys, "unraisablehook", _interrupt_again)
    with pytest.raises(KeyboardInterrupt):
        callback()
        for _ in range(10 * LIMIT):  # a signal just before one long sleep would be noticed at its end
            time.sleep(0.1)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path, write, process):
    small = write("a.vert", "<s>\nlion\tN\tlion\n</s>\n")  # a part of its own
    large = write("b.txt", "The lion sleeps near the tree of the old mason.\n" * 50_000)
    out = tmp_path / "s.bp"
    args = ("index", large, "--out", out, "-j", 1)
    code, said = interrupt(args, lambda: any(tmp_path.glob("s.bp/work/progress/*")))
    assert (code, said) == (130, "bagpack: interrupted; nothing was finished, so nothing is kept\n")
    assert sorted(tmp_path.iterdir()) == [small, large]
    args = ("index", small, large, "--out", out, "-j", 2)
    code, said = interrupt(args, lambda: any(tmp_path.glob("s.bp/segments/*.json")))
    assert code == 130
    assert said.startswith("bagpack: interrupted; ") and "--resume" in said
    resumed = process(*args, "--resume")
    assert resumed.code == 0
    whole, read = (re.search(rf"{before}([\d,]+) tokens", resumed.err)[1] for before in (": ", "\n"))
    assert int(read.replace(",", "")) < int(whole.replace(",", ""))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("surprise"), 1, r"\(ZeroDivisionError: surprise\).* BAGPACK_TRACEBACK=1"),
        (FileNotFoundError(2, "No such file"), 1, "working directory"),
        (UnicodeEncodeError("ascii", "a\xe9", 1, 2, "no"), 1, r"'\\xe9' .*ascii.*PYTHONIO"),
    ],
)
def test_whatever_ends_a_command_is_a_sentence(cli, monkeypatch, tmp_path, error, code, said):
    monkeypatch.setattr("bagpack.info.describe", Mock(side_effect=error))
    done = cli("info", tmp_path)
    assert done.code == code and re.fullmatch(f"bagpack: .*{said}.*\n", done.err)


def test_a_closed_standard_input_is_an_empty_one(cli, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input" in cli("index", "-", "--out", tmp_path / "s").sentence()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="writes to /dev/full, which only Linux has")
def test_output_that_cannot_be_written(store):
    """A reader that is gone is in the tests of signals."""
    command = shlex.join(bagpack_command("contexts", store, "lion"))
    for redirected in (">/dev/full", "--json >/dev/full", ">&-"):
        run = ["bash", "-c", f"{command} {redirected}"]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert not re.search("Traceback|Exception", done.stderr)
        if redirected != ">&-":
            assert done.returncode == 1 and re.search(r"bagpack: .*disk.* output .*\n\Z", done.stderr)


TYPED = {
    "bagpack ex": "explain", "bagpack index --app": "--append", "bagpack engine b": "build",
    "bagpack evaluate my.bp data.tsv --preset mo": "modern", "bagpack --backend da": "dask",
}  # fmt: skip


def test_bash_completes_commands_and_options(tmp_path):
    """With a `bagpack` on the path, and a home of its own."""
    command = tmp_path / "bagpack"
    command.write_text(f"#!{sys.executable}\nfrom bagpack.cli import main\nmain()\n")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "SHELL": shutil.which("bash")}
    # Two commands: a shell would become a single one, and no longer be there to be recognised.
    script = 'completion=$(bagpack --show-completion && true)\neval "$completion"\n'
    for typed in TYPED:
        place = f"COMP_CWORD={len(typed.split(' ')) - 1}; COMP_LINE='{typed}'; COMP_POINT={len(typed)}"
        script += f'COMP_WORDS=({typed}); {place}; _bagpack_completion bagpack\necho "${{COMPREPLY[@]}}"\n'
    bash = ["bash", "--norc", "--noprofile", "-c", script]
    done = subprocess.run(bash, env=environment, capture_output=True, text=True, timeout=LIMIT, check=True)
    for expected, given in zip(TYPED.values(), done.stdout.splitlines(), strict=True):
        assert expected in given.split()


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
