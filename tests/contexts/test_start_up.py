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
print("loaded:", *sorted({"numba", "scipy", "joblib", "pandas", "sklearn"} & set(sys.modules)))
"""


@pytest.mark.parametrize("words", [("cat",), ("cat", "lion"), ("saw", "cat")])
def test_a_concordance_loads_neither_numba_nor_scipy_nor_joblib(tmp_path, words):
    make_store(tmp_path, [["the", "cat", "saw", "a", "lion"], ["a", "saw", "cat"]] * 3)
    command = [sys.executable, "-c", SCRIPT, "contexts", "store.bp", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"
    assert "cat" in done.stdout.lower()


def test_the_first_run_says_that_it_compiles(tmp_path):
    make_store(tmp_path, [["the", "cat", "and", "a", "lion"]])
    script = f"import os\nos.environ['NUMBA_CACHE_DIR'] = {str(tmp_path / 'cache')!r}\n{SCRIPT}"
    command = [sys.executable, "-c", script, "basis", "store.bp", "-b", "5", "--jobs", "1"]
    notes = []
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
        notes.append(done.stderr.count("compiling the kernels for the first run here"))
    assert notes == [1, 0]
