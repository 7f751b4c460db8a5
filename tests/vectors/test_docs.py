"""The page that describes a matrix's bytes: its code reads a matrix without BagPack."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_bytes_are_as_described(matrix, tmp_path):
    matrix.save(tmp_path / "pairs.bpm")
    text = (DOCS / "matrix.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(code.replace('"pairs.bpm"', repr(str(tmp_path / "pairs.bpm"))), names)
    assert (names["words"] != matrix.words.rows).nnz == 0
    listed = set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", text.split("## The manifest")[0]))
    assert {file.name for file in (tmp_path / "pairs.bpm").iterdir()} - {"rows"} <= listed
