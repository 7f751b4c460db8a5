"""Run the notebooks and write them with the outputs of this run: `python scripts/run_notebooks.py [NOTEBOOK ...]`.

Outputs are kept in the files, so that they can be read without running them; a test runs them again and compares.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def run(path: Path) -> Any:
    """The notebook with fresh outputs; an error in a cell is raised. It runs in its own directory."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata = {}
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def texts(notebook: Any) -> list[tuple[int, str]]:
    """What each cell printed or showed, as text."""
    return [
        (number, "".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs))
        for number, cell in enumerate(notebook.cells)
        if cell.get("outputs")
    ]


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(run(Path(name)), name)
        print(name)
