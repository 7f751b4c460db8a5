"""The examples in docstrings, run as written; and the notebooks, from top to bottom."""

import doctest
import importlib
from pathlib import Path

import nbformat
import pytest

import bagpack
from tests.docs.markdown import ROOT

SOURCES = Path(bagpack.__file__).parent.parent
PATHS = (path for path in SOURCES.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
NAMES = sorted(".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in PATHS)


@pytest.mark.parametrize("name", [name.removesuffix(".__init__") for name in NAMES])
def test_examples_give_what_they_show(name):
    tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not tried.failed and len(NAMES) > 10


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_holds(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    from run_notebooks import run, texts

    shown = texts(nbformat.read(path, as_version=4))
    assert shown, "run: python scripts/run_notebooks.py"
    assert texts(run(path)) == shown, f"run: python scripts/run_notebooks.py notebooks/{path.name}"
