"""What is loaded for help and for a single question: heavy packages only where they are needed."""

import subprocess

import pytest

from tests.conftest import bagpack_command

from .stores import make_store

COMPUTING = {"numba", "scipy", "sklearn", "pandas", "joblib"}
HELP = COMPUTING | {"numpy", "spacy", "jinja2", "simplemma"}


@pytest.mark.parametrize(
    ("arguments", "shown", "heavy"),
    [
        ("--help", "index", HELP),
        ("contexts store.bp cat", "cat", COMPUTING),
        ("contexts store.bp saw cat", "cat", COMPUTING),
    ],
)
def test_nothing_heavy_is_loaded(tmp_path, arguments, shown, heavy):
    make_store(tmp_path, [["the", "cat", "saw", "a", "lion"], ["a", "saw", "cat"]] * 3)
    command = bagpack_command(*arguments.split())
    command[2] = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));" + command[2]
    )
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown in done.stdout.lower()
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "bagpack" in loaded and loaded.isdisjoint(heavy)
