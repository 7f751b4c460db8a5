"""The notebooks run from top to bottom, and what they show is what they print."""

import nbformat
import pytest

from tests.docs.markdown import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    from run_notebooks import run, texts

    shown = texts(nbformat.read(path, as_version=4))
    assert shown, "run: python scripts/run_notebooks.py"
    assert texts(run(path)) == shown, f"run: python scripts/run_notebooks.py notebooks/{path.name}"
