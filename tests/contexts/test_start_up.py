"""What is loaded for a single question: heavy packages only where they are needed."""

import contextlib
import os
import subprocess
import sys

import pytest

from .stores import make_store

SCRIPT = """
import sys
from bagpack.cli import main
sys.argv = ["bagpack", *sys.argv[1:]]
main()
heavy = {"numba", "scipy", "joblib", "pandas", "sklearn"}
print("loaded:", *sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize("words", [("cat",), ("cat", "lion"), ("saw", "cat")])
def test_a_concordance_loads_neither_numba_nor_scipy_nor_joblib(tmp_path, words):
    make_store(tmp_path, [["the", "cat", "saw", "a", "lion"], ["a", "saw", "cat"]] * 3)
    command = [sys.executable, "-c", SCRIPT, "contexts", "store.bp", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"
    assert "cat" in done.stdout.lower()


@pytest.mark.costly
def test_the_first_run_says_on_a_terminal_that_it_compiles(tmp_path):
    make_store(tmp_path, [["the", "cat", "and", "a", "lion"]])
    command = [sys.executable, "-c", SCRIPT, "basis", "store.bp", "-b", "5", "--jobs", "1"]
    notes = []
    for cache, terminal in ("a", True), ("a", True), ("b", False):
        shown, err = os.openpty()
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        errors = err if terminal else subprocess.PIPE
        done = subprocess.run(
            command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=errors, timeout=300, check=True
        )
        os.close(err)
        text = _read(shown) + (done.stderr or b"")
        notes.append(text.count(b"compiling the kernels for the first run here"))
    assert notes == [1, 0, 0]


def _read(terminal):
    text = b""
    with contextlib.suppress(OSError):  # EIO: the other end is closed
        while block := os.read(terminal, 4096):
            text += block
    os.close(terminal)
    return text
