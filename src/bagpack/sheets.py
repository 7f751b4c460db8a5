"""Tables that users open in a spreadsheet: TSV, CSV or .xlsx, by the file's name.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula. Words and labels come from other
people's files, so in CSV such text gets an apostrophe in front, which spreadsheets and our readers take off again, and
in .xlsx it is stored as text. TSV is for programs and is written as it is.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bagpack.errors import UsageError, import_extra
from bagpack.files import check_file, replacing

Cell = str | float | int | bool | None
UNWRITABLE = (
    ".xls", ".ods", ".xlsm", ".numbers", ".doc", ".docx", ".odt", ".pdf", ".rtf", ".html", ".htm", ".json", ".jsonl",
    ".parquet", ".png", ".svg", ".gz", ".bz2", ".xz", ".zst", ".zip",
)  # fmt: skip
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 1_048_576, 16_384, 32_767  # of a sheet of .xlsx
_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)  # one of them alone is harmless
_MARK = "Written by BagPack"  # in the properties of our workbooks
_xlsxwriter = partial(import_extra, "xlsxwriter", "XlsxWriter", "spreadsheet", "writing .xlsx")


def check_table(path: Path, what: str, header: Sequence[str] = (), overwrite: bool | None = None) -> None:
    """Whether a table can be written here, before the work that fills it.

    A file that is there already is replaced if ``overwrite`` says so, or, by commands without that option, if its first
    columns are ``header`` (for .xlsx: if BagPack wrote it).
    """
    suffix = path.suffix.lower()
    if suffix in UNWRITABLE:
        raise UsageError(f"{path} cannot be written as {path.suffix}; name it .tsv, .csv or .xlsx")
    if suffix == ".xlsx":
        _xlsxwriter()

    def is_ours(head: bytes) -> bool:
        if suffix == ".xlsx":
            with suppress(KeyError, zipfile.BadZipFile), zipfile.ZipFile(path) as book:
                return _MARK.encode() in book.read("docProps/core.xml")
            return False
        start = table_text([header], "," if suffix == ".csv" else "\t").rstrip("\n")
        return bool(header) and head.removeprefix(b"\xef\xbb\xbf").startswith(start.encode())

    check_file(path, what, is_ours, "table.tsv", overwrite)


def write_table(path: Path, rows: Iterable[Sequence[Cell]]) -> None:
    """Write the rows, the first of which is the header, in the format of the file's name; TSV for any other name."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        data = _workbook(path, rows)
    elif suffix == ".csv":
        # Without the mark, Excel reads it in its old encoding.
        data = table_text(rows, ",").encode("utf-8-sig")
    else:
        data = table_text(rows).encode()
    with replacing(path) as out:
        out.write(data)


def table_text(rows: Iterable[Sequence[Cell]], separator: str = "\t") -> str:
    """The rows as TSV, whose cells cannot contain tabs and line breaks, or as CSV for any other separator."""
    if separator == "\t":
        flat = (map(partial(re.sub, r"[\t\r\n]+", " "), map(cell_text, row)) for row in rows)
        return "".join("\t".join(row) + "\n" for row in flat)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def cell_text(cell: Cell) -> str:
    """A cell as text: numbers with six digits, nothing for None."""
    if cell is None or isinstance(cell, bool):
        return {None: "", True: "yes", False: "no"}[cell]
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def guarded(cell: Cell) -> str:
    """A cell of CSV that no spreadsheet runs as a formula; numbers are numbers.

    >>> guarded("=1+1"), guarded("-ness"), guarded(-0.5)
    ("'=1+1", "'-ness", '-0.5')
    """
    text = cell_text(cell)
    return f"'{text}" if isinstance(cell, str) and _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Take the apostrophe off that `guarded` put there."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text


def _workbook(path: Path, rows: Iterable[Sequence[Cell]]) -> bytes:
    out = io.BytesIO()
    # A cell that begins with = or looks like an address stays text; the date makes equal rows equal bytes.
    texts = {"strings_to_formulas": False, "strings_to_urls": False}
    book = _xlsxwriter().Workbook(out, {"in_memory": True, **texts})
    book.set_properties({"comments": _MARK, "created": datetime(2009, 1, 1, tzinfo=UTC)})
    sheet = book.add_worksheet()
    for at, row in enumerate(rows):
        if at == MAX_ROWS or len(row) > MAX_COLUMNS:
            most = f"{MAX_ROWS:,} rows or {MAX_COLUMNS:,} columns, the most that .xlsx can hold"
            raise UsageError(f"{path} would have more than {most}; name it .tsv or .csv")
        for column, cell in enumerate(row):
            number = isinstance(cell, int | float) and not isinstance(cell, bool)
            sheet.write(at, column, cell if number else cell_text(cell)[:MAX_CELL])
    sheet.freeze_panes(1, 0)
    book.close()
    return out.getvalue()
