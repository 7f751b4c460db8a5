"""What is loaded for a single question: heavy packages only where they are needed."""

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
