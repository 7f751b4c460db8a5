"""Tables that a command writes to a file: predictions and picks, as TSV or CSV by the file's name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from bagpack.files import check_file, write_text

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def delimiter_of(path: Path) -> str:
    """A comma for ``.csv``, a tab for any other name."""
    return DELIMITERS.get(path.suffix.lower(), "\t")


def check_table(path: Path, what: str, header: Sequence[str], example: str) -> None:
    """Raise unless the table can be written; an older one with the same first columns may be replaced."""
    beginning = delimiter_of(path).join(header).encode()
    check_file(path, what, lambda head: head.startswith(beginning), example)


def write_table(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write the rows, the header first."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter_of(path), lineterminator="\n").writerows(rows)
    write_text(path, out.getvalue())
