"""Spreadsheets (.xlsx, .ods, .xls) as rows of text, read by python-calamine in a process of its own.

Calamine holds a sheet as a full rectangle, so two cells in opposite corners would take terabytes, and a failed
allocation ends the process. So the reader has limits on memory and time, and whatever happens to it is one error.
"""

from __future__ import annotations

import datetime
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import Any

from bagpack.errors import InputError, import_extra

MAX_BYTES = 256 << 20  # of a data set, decompressed: some ten million pairs
MAX_CELLS = 20_000_000  # of one sheet, the empty ones between others included
MAX_MEMORY = 4 << 30  # of the reader; a sheet of MAX_CELLS takes less than 3 GiB
MAX_SECONDS = 120
SAVE = "save its table as .xlsx, CSV or TSV"
_TOO_LARGE = "too large for a data set; delete what is far from the table, or save it as TSV"
_DAMAGED = (
    "it may be damaged, have a password or be too large: open it and save it again as .xlsx without one"
)


class DateCell(str):
    """The text of a cell that the spreadsheet holds as a date: a word such as *march 1* may have become one."""

    __slots__ = ()


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet, and the names of the other sheets that have any."""

    name: str
    rows: list[list[str]]
    others: tuple[str, ...] = ()


def is_workbook(data: bytes) -> bool:
    """Whether bytes are those of a spreadsheet: a zip archive or an OLE file."""
    return data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))


def read_workbook(name: str, data: bytes) -> Sheet:
    """The first sheet that has rows."""
    if data.startswith(b"PK"):
        _check_archive(name, data)
    import_extra("python_calamine", "python-calamine", "spreadsheet", f"{name} is a spreadsheet; reading it")
    command = [sys.executable, "-c", "from bagpack.tasks.workbook import main; main()"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{name} takes more than {MAX_SECONDS} seconds to read, {_TOO_LARGE}") from None
    if done.returncode:  # no memory, or killed
        raise InputError(f"{name} needs more memory than a data set may take; it is {_TOO_LARGE}")
    found = json.loads(done.stdout)
    if problem := found.get("problem"):
        raise InputError(f"{name} {problem}")
    rows = [[DateCell(cell[0]) if isinstance(cell, list) else cell for cell in row] for row in found["rows"]]
    return Sheet(found["name"], rows, tuple(found["others"]))


def _check_archive(name: str, data: bytes) -> None:
    """Refuse what is no spreadsheet, what is damaged, and what would unpack to more than a data set may take."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            # A length or a CRC is not what the archive states; of more bytes than allowed, none is unpacked.
            too_large = sum(member.file_size for member in members) > MAX_BYTES
            if not too_large and archive.testzip() is not None:
                raise zipfile.BadZipFile
    except Exception:  # zlib's errors, a negative seek, …: anything may be wrong inside an archive
        raise InputError(f"{name} cannot be read as a spreadsheet; {_DAMAGED}") from None
    if not {"xl/workbook.xml", "content.xml"} & {member.filename for member in members}:
        raise InputError(f"{name} is a .zip, .xlsb, .docx or the like, not a spreadsheet; {SAVE}")
    if too_large:
        raise InputError(f"{name} unpacks to more than {MAX_BYTES >> 20} MB; it is {_TOO_LARGE}")


# In the reading process --------------------------------------------------------------------------------------------


def main() -> None:
    """Read a workbook from standard input, and write its first sheet that has rows as JSON to standard output."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:  # Windows
        pass
    json.dump(_first_sheet(sys.stdin.buffer.read()), sys.stdout)


def _first_sheet(data: bytes) -> dict[str, Any]:
    import python_calamine

    found: list[tuple[str, list[list[Any]]]] = []
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            height, width = sheet.total_height, sheet.total_width
            if height * width > MAX_CELLS:
                return {"problem": f"has a sheet of {height:,} rows and {width:,} columns, {_TOO_LARGE}"}
            rows = _cells(sheet)
            if any(cell not in ("", None) for row in rows for cell in row):
                found.append((name, [] if found else rows))
    except MemoryError:
        raise
    except Exception as error:  # calamine has a class of its own for every format
        return {"problem": f"cannot be read as a spreadsheet ({error}); {_DAMAGED}"}
    if not found:
        return {"problem": "is empty; its first row must name the columns, such as w1 and w2"}
    (name, rows), *others = found
    cells = [[_encoded(cell) for cell in row] for row in rows]
    return {"name": name, "rows": cells, "others": [other for other, _ in others]}


def _cells(sheet: Any) -> list[list[Any]]:
    """The rows of a sheet. Cells that are merged from top to bottom all get their value, as they appear to have it."""
    rows: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    merged = getattr(sheet, "merged_cell_ranges", None) or ()  # not in calamine's first versions, nor in .ods
    for (top, left), (bottom, right) in merged:
        if left == right and rows and left < len(rows[0]):  # empty cells next to the table may be merged too
            for row in rows[top + 1 : bottom + 1]:
                row[left] = rows[top][left]
    return rows


def _encoded(cell: Any) -> str | list[str]:
    """A cell as one would type it: 3 for 3.0, true for TRUE; a date, 2026-03-01, in a list of its own."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return [str(cell)]
    return "" if cell is None else str(cell).strip()
