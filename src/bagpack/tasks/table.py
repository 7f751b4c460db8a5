"""Tables with a header line: tab-separated (quotes are ordinary characters) or, in .csv files, commas."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bagpack.errors import InputError, UsageError
from bagpack.tasks.textfile import TextFile, read_text_file

CANONICAL_COLUMNS = ("w1", "w2", "label", "score")


@dataclass(frozen=True)
class Table:
    """The rows of a file under its lower-cased header, each with its line number."""

    file: TextFile
    header: list[str]
    rows: list[list[str]]
    lines: list[int]

    @property
    def name(self) -> str:
        """The file's name as the user gave it."""
        return self.file.name

    def column(self, header: str) -> list[str]:
        """One column's cells, outer blanks removed."""
        at = self.header.index(header)
        return [row[at] for row in self.rows]


def read_table(source: str | Path | TextFile) -> Table:
    """Read a table with a header.

    The separator is a tab when the header holds one or the file is not called .csv; in TSV a quotation mark
    is a character like any other. Lines with nothing on them are passed over. Every other row must be as wide
    as the header.
    """
    file = source if isinstance(source, TextFile) else read_text_file(source)
    table, comma = _read_header(file)
    header, rows, lines = table.header, table.rows, table.lines
    numbered = [(number, line) for number, line in enumerate(file.lines, 1) if line.strip(" ")]
    for number, line in numbered[1:]:
        try:
            rows.append(_row(file, number, line, comma, len(header)))
        except InputError as error:
            file.refuse(error, number)
            continue
        lines.append(number)
    if not rows:
        file.raise_refused()
        raise InputError(f"{file.name} has a header ({', '.join(header)}) but no rows; add one row per pair")
    return table


def read_header(file: TextFile) -> Table:
    """The table without its rows."""
    return _read_header(file)[0]


def _read_header(file: TextFile) -> tuple[Table, bool]:
    """The table without its rows, and whether commas divide its cells."""
    numbered = ((number, line) for number, line in enumerate(file.lines, 1) if line.strip(" "))
    number, line = next(numbered, (0, ""))
    if not number:
        raise InputError(
            f"{file.name} is empty; it needs a header line such as w1<TAB>w2 and one row per pair"
        )
    comma = file.suffix == ".csv" and "\t" not in line
    header = [name.lower() for name in _cells(file, number, line, comma)]
    for at, name in enumerate(header):
        if name and name in header[:at]:
            raise file.error(number, f"the header names the column {name!r} twice; rename one of them")
    return Table(file, header, [], []), comma


def _row(file: TextFile, number: int, line: str, comma: bool, width: int) -> list[str]:
    cells = _cells(file, number, line, comma)
    if len(cells) != width:
        separator = "comma" if comma else "tab"
        cure = f"remove the extra {separator}" if len(cells) > width else f"a {separator} is missing"
        raise file.error(number, f"this row has {_columns(len(cells))} where the header has {width}; {cure}")
    return cells


def mapped_columns(table: Table, columns: Mapping[str, str] | None) -> dict[str, str]:
    """Check the user's ``columns`` (canonical name → the file's name) against the table's header."""
    mapped = {}
    for canonical, name in (columns or {}).items():
        if canonical not in CANONICAL_COLUMNS:
            raise UsageError(
                f"{canonical!r} is not a column that can be named; --columns takes "
                f"{', '.join(CANONICAL_COLUMNS)}, for example w1=noun,label=type"
            )
        if name.strip().lower() not in table.header:
            raise UsageError(
                f"{table.name} has no column {name!r} (found: {', '.join(table.header)}); "
                f"correct --columns {canonical}={name}"
            )
        mapped[canonical] = name.strip().lower()
    return mapped


def _cells(file: TextFile, number: int, line: str, comma: bool) -> list[str]:
    if not comma:
        return [cell.strip() for cell in line.split("\t")]
    # One line at a time, so that a quotation mark nobody closed cannot swallow the rows below it.
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except csv.Error:
        raise file.error(
            number, 'a quotation mark is not closed on this line; write it twice ("") or save the file as TSV'
        ) from None


def _columns(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"
