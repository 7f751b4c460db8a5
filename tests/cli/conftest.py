"""A small store, labelled pairs, a model of them; and commands with both of their outputs on a terminal."""

import os
import pty
import re
import subprocess

import pytest
from tests.conftest import bagpack_command
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

PAIRS = "w1\tw2\tlabel\ncat\tlion\ta\nhammer\tnail\tb\nlion\thammer\ta\nnail\tcat\tb\n"
LONG = ["a"] * 30 + ["zebra", "and", "giraffe"] + ["b"] * 30


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("shop"), [*SENTENCES, LONG], (7,)).path


@pytest.fixture
def data(write):
    return write("relations.tsv", PAIRS)


@pytest.fixture
def trained(cli, shop, tmp_path):
    """Train a model on a file."""

    def train(data):
        out = tmp_path / "m.model"
        assert cli("train", shop, data, "--out", out, "-b", 4, "-j", 1, "--no-scores").code == 0
        return out

    return train


def refuses(done, *parts):
    assert (done.code, done.out) == (2, ""), done.err
    assert [part for part in (*parts, "bagpack: ") if part not in done.err] == []
    assert "Traceback" not in done.err
    return True


def on_terminal(*args, columns=150, term="xterm"):
    """Exit code of `bagpack ARGS`, what it writes to a terminal, and the same without colours and cursor movements."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": term}
    run = subprocess.Popen(bagpack_command(*args), stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    text = seen.decode().replace("\r\n", "\n")
    return run.wait(), text, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
