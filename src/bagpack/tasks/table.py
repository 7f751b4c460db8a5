"""Tables with a header: text with tabs, semicolons or commas (recognised by content), or a spreadsheet.

In TSV a quotation mark is a character like any other; with semicolons and commas, the quotes of CSV are understood.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from bagpack.corpus.text.tagsets import universal_tag
from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.sheets import unguarded
from bagpack.tasks.columns import find, listed
from bagpack.tasks.textfile import TextFile, read_text_file

CANONICAL_COLUMNS = ("w1", "w2", "label", "score", "pos1", "pos2")
SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}
SEPARATOR_LINE = re.compile(r'"?sep=([;,\t])"?', re.IGNORECASE)  # Excel's way to name it, in its own line
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_LINES = 50  # that a quoted cell may run over
_INVISIBLE = "\ufeff\u200b\u200e\u200f"


@dataclass(frozen=True)
class Table:
    """The rows of a file under its lower-cased header, each with its line number."""

    file: TextFile
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    separator: str = "\t"
    unnamed_to: int = 0  # columns after the last named one, whose cells are ignored

    @property
    def name(self) -> str:
        """The file's name as the user gave it."""
        return self.file.name

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column is."""
        return {name: at for at, name in enumerate(self.header)}

    def column(self, header: str) -> list[str]:
        """One column's cells, outer blanks removed."""
        at = self.places[header]
        return [row[at] for row in self.rows]

    @property
    def found(self) -> str:
        """The names of the columns, for a message; of a spreadsheet with the sheet."""
        names = listed(self.header)
        sheet = self.file.sheet
        if sheet is None or not sheet.others:
            return f"found: {names}"
        return f"found in sheet {sheet.name!r}: {names}; other sheets: {', '.join(sheet.others)}"


def read_table(source: str | Path | TextFile) -> Table:
    """Read a table with a header.

    Empty rows are ignored, and so are columns at the end that are empty or have no name. Every other row must be as
    wide as the header.
    """
    file = read_text_file(source)
    table, records = _open(file)
    width = len(table.header)
    separator = SEPARATORS[table.separator]
    for number, cells in records:
        if isinstance(cells, InputError):
            file.refuse(cells, number)
            continue
        while len(cells) > width and (not cells[-1] or len(cells) <= table.unnamed_to):
            cells.pop()
        if not any(cells):
            continue
        if len(cells) != width:
            cure = f"remove the extra {separator}" if len(cells) > width else f"a {separator} is missing"
            problem = f"this row has {_columns(len(cells))} where the header has {width}; {cure}"
            file.refuse(file.error(number, problem), number)
            continue
        table.rows.append(cells)
        table.lines.append(number)
    if not table.rows:
        file.raise_refused()
        raise InputError(
            f"{file.name} has a header ({listed(table.header)}) but no rows; add one row per pair"
        )
    return table


def read_header(file: TextFile) -> Table:
    """The table without its rows."""
    return _open(file)[0]


Record = tuple[int, list[str] | InputError]


def _open(file: TextFile) -> tuple[Table, Iterator[Record]]:
    """The table without its rows, and what is below the header: cells, or what is wrong with a line."""
    separator = _separator(file)
    records = _records(file, separator)
    for number, cells in records:
        if isinstance(cells, InputError):
            raise cells
        if not any(cells):
            continue
        header = [name.lower().strip(_INVISIBLE).strip() for name in cells]
        wide = len(header)
        while not header[-1]:
            header.pop()
        seen = set()
        for name in header:
            if name and name in seen:
                raise file.error(number, f"the header names the column {name!r} twice; rename one of them")
            seen.add(name)
        return Table(file, header, [], [], separator, wide), records
    raise InputError(f"{file.name} is empty; its first line must name the columns, such as w1 and w2")


def _separator(file: TextFile) -> str:
    """The separator in the first line that is not empty: a tab, or else the more frequent of ; and ,."""
    if file.sheet is not None:
        return "\t"
    line = next((line for line in file.lines if line.strip()), "")
    if found := SEPARATOR_LINE.fullmatch(line.strip(" \r")):
        return found[1]
    if "\t" in line:
        return "\t"
    outside = _QUOTED.sub("", line)
    best = max((";", ","), key=outside.count)
    return best if best in outside else "\t"


def _records(file: TextFile, separator: str) -> Iterator[Record]:
    if file.sheet is not None:
        yield from enumerate(([*row] for row in file.sheet.rows), 1)
        return
    numbered = iter(enumerate(file.lines, 1))
    begun = False
    for number, line in numbered:
        if not line.strip():
            continue
        if not begun and SEPARATOR_LINE.fullmatch(line.strip(" \r")):
            continue
        begun = True
        if separator == "\t":
            yield number, [cell.strip() for cell in line.split("\t")]
            continue
        cells = _cells(line, separator)
        if cells is None:
            cells, more = _several_lines(file, number, separator)
            if cells is None:
                problem = "a quotation mark is not closed on this line"
                yield number, file.error(number, f'{problem}; write it twice ("") or save the file as TSV')
                continue
            next(islice(numbered, more - 1, None), None)
        yield number, cells


def _several_lines(file: TextFile, number: int, separator: str) -> tuple[list[str] | None, int]:
    """The cells of a record with line breaks inside quotes, and how many more lines it takes.

    None if no quotation mark closes within a few lines, so that an unclosed one swallows no rows.
    """
    text = file.lines[number - 1]
    for more, line in enumerate(file.lines[number : number + _QUOTED_LINES], 1):
        text += f"\n{line}"
        if '"' in line and (cells := _cells(text, separator)) is not None:
            return [" ".join(cell.split()) for cell in cells], more
    return None, 0


def _cells(text: str, separator: str) -> list[str] | None:
    """The cells of a line of CSV, or None if a quotation mark is not closed."""
    try:
        lines = [f"{line}\n" for line in text.split("\n")]
        records = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return None
    if len(records) != 1:
        return None
    return [unguarded(cell.strip()) for cell in records[0]]


def mapped_columns(table: Table, columns: Mapping[str, str] | None) -> dict[str, str]:
    """Check the user's ``columns`` (canonical name → the file's name) against the table's header."""
    mapped = {}
    for canonical, name in (columns or {}).items():
        if canonical not in CANONICAL_COLUMNS:
            raise UsageError(
                f"{canonical!r} is not a column that can be named; --columns takes "
                f"{', '.join(CANONICAL_COLUMNS)}, for example w1=noun,label=type"
            )
        column = find(table.header, name.strip().lower())
        if column is None and canonical in ("pos1", "pos2") and universal_tag(name.strip()):
            column = name.strip()  # a tag for all rows, not a column
        if column is None:
            raise UsageError(
                f"{table.name} has no column {name!r} ({table.found}); {did_you_mean(name, table.header)}"
                f"correct --columns {canonical}={name}"
            )
        mapped[canonical] = column
    return mapped


def _columns(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"
