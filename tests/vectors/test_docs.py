"""The page that describes a matrix's bytes: its code reads a matrix without BagPack."""

import re
from pathlib import Path

from tests.forging import data_of

DOCS = Path(__file__).parents[2] / "docs"


def test_the_bytes_are_as_described(matrix, tmp_path):
    matrix.save(tmp_path / "pairs.bpm")
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    text = page.partition("## The pair matrix")[2].partition("## The model")[0]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    exec(code.replace('"pairs.bpm"', repr(str(tmp_path / "pairs.bpm"))), names)
    assert (names["words"] != matrix.words).nnz == 0
    listed = set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", text.split("### The manifest")[0]))
    assert {file.name for file in data_of(tmp_path / "pairs.bpm").iterdir()} <= listed | {"files"}
