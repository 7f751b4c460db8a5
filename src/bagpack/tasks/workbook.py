"""Spreadsheets (.xlsx, .ods, .xls) as rows of text, with python-calamine.

Calamine holds a sheet as a full rectangle, so two cells in opposite corners would take terabytes and end the process.
Sizes are therefore checked in the file's own XML before calamine sees it.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from dataclasses import dataclass
from typing import Any

from bagpack.errors import InputError, import_extra

MAX_BYTES = 256 << 20  # of a data set, decompressed: some ten million pairs
MAX_CELLS = 20_000_000  # of one sheet, the empty ones between others included
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PLACE = re.compile(rb'\br="([A-Z]{0,3})(\d{1,7})"')
_ODS_ROW = re.compile(
    rb"<table:table-row\b([^>]*)>(.*?)(?:</table:table-row>|(?=<table:table-row\b)|\Z)", re.DOTALL
)
_ODS_CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*)>")
_REPEATED = {
    "rows": re.compile(rb'table:number-rows-repeated="(\d{1,9})"'),
    "columns": re.compile(rb'table:number-columns-repeated="(\d{1,9})"'),
}


class DateCell(str):
    """The text of a cell that the spreadsheet holds as a date: a word such as *march 1* may have become one."""

    __slots__ = ()


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet, and the names of the other sheets that have any."""

    name: str
    rows: list[list[str]]
    others: tuple[str, ...] = ()

    @property
    def not_read(self) -> str:
        """A message about the other sheets, if there are any."""
        others = ", ".join(map(repr, self.others))
        return others and f"only the sheet {self.name!r} is read, not {others}"


def is_workbook(data: bytes) -> bool:
    """Whether bytes are those of a spreadsheet: a zip archive or an OLE file."""
    return data.startswith((b"PK\x03\x04", _OLE))


def read_workbook(name: str, data: bytes) -> Sheet:
    """The first sheet that has rows."""
    if data.startswith(b"PK"):
        _check_archive(name, data)
    python_calamine = import_extra(
        "python_calamine", "python-calamine", "spreadsheet", f"{name} is a spreadsheet; reading it"
    )
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = list(book.sheet_names)
        sheets = {each: _cells(book.get_sheet_by_name(each)) for each in names}
    except Exception as error:  # calamine has a class of its own for every format
        raise InputError(
            f"{name} cannot be read as a spreadsheet ({error}); it may be damaged or have a password: "
            f"open it and save it again as .xlsx without one"
        ) from None
    filled = [each for each in names if any(cell not in ("", None) for row in sheets[each] for cell in row)]
    if not filled:
        raise InputError(f"{name} is empty; its first row must name the columns, such as w1 and w2")
    rows = [[cell_text(cell) for cell in row] for row in sheets[filled[0]]]
    return Sheet(filled[0], rows, tuple(filled[1:]))


def _cells(sheet: Any) -> list[list[Any]]:
    """The rows of a sheet. Cells that are merged from top to bottom all get their value, as they appear to have it."""
    rows: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    merged = getattr(sheet, "merged_cell_ranges", None) or ()  # not in calamine's first versions, nor in .ods
    for (top, left), (bottom, right) in merged:
        if left == right and rows and left < len(rows[0]):  # empty cells next to the table may be merged too
            for row in rows[top + 1 : bottom + 1]:
                row[left] = rows[top][left]
    return rows


def cell_text(cell: Any) -> str:
    """A cell as one would type it: 3 for 3.0, true for TRUE, 2026-03-01 for a date."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return DateCell(str(cell))
    return str(cell).strip()


def _check_archive(name: str, data: bytes) -> None:
    """Refuse what is no spreadsheet, and what would decompress to more than a data set may take."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = {member.filename for member in members}
            if what := _other_document(names):
                raise InputError(f"{name} is {what}, not a spreadsheet; save its table as .xlsx, CSV or TSV")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise InputError(
                    f"{name} unpacks to more than {MAX_BYTES >> 20} MB, too large for a data set; split it, or save it "
                    f"as TSV"
                )
            for member in members:
                with archive.open(member) as file:  # checks the length and the CRC that the archive states
                    content = file.read(MAX_BYTES + 1)
                if re.fullmatch(r"xl/worksheets/[^/]+\.xml", member.filename):
                    _check_cells(name, *_extent(content))
                elif member.filename == "content.xml":
                    _check_cells(name, *_ods_extent(content))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError):
        raise InputError(
            f"{name} is a damaged spreadsheet or has a password; open it and save it again without one"
        ) from None


def _other_document(names: set[str]) -> str:
    if "xl/workbook.xml" in names or "content.xml" in names:
        return ""
    if "xl/workbook.bin" in names:
        return "a binary workbook (.xlsb)"
    if "word/document.xml" in names:
        return "a Word document"
    if "Index/Document.iwa" in names:
        return "a Numbers document"
    return "a zip archive"


def _extent(xml: bytes) -> tuple[int, int]:
    """Rows and columns of a sheet of .xlsx, from the places that its cells name."""
    rows, columns = xml.count(b"<row"), 0
    for letters, number in _PLACE.findall(xml):
        rows = max(rows, int(number))
        columns = max(columns, _column(letters))
    in_a_row = max((row.count(b"<c ") + row.count(b"<c>") for row in xml.split(b"<row")), default=0)
    return rows, max(columns, in_a_row)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _ods_extent(xml: bytes) -> tuple[int, int]:
    """Rows and columns of the largest sheet of .ods; empty cells at the ends do not count."""
    rows = columns = pending = 0
    for attributes, content in _ODS_ROW.findall(xml):
        repeated = _times("rows", attributes)
        width = at = 0
        for cell in _ODS_CELL.findall(content):
            at += _times("columns", cell)
            if b"office:value" in cell or not cell.endswith(b"/"):
                width = at
        columns = max(columns, width)
        pending += repeated
        if width:
            rows, pending = rows + pending, 0
    return rows, columns


def _times(kind: str, attributes: bytes) -> int:
    found = _REPEATED[kind].search(attributes)
    return int(found[1]) if found else 1


def _check_cells(name: str, rows: int, columns: int) -> None:
    if rows * columns > MAX_CELLS:
        raise InputError(
            f"{name} has a sheet of {rows:,} rows and {columns:,} columns, too large for a data set; delete what is "
            f"far from the table, or save it as TSV"
        )
