"""Data files: text that is decompressed, decoded and split into numbered lines, spreadsheets, and the tables in them.

A table has a header, and tabs, semicolons or commas between its cells (recognised by content). In TSV a quotation mark
is a character like any other; with semicolons and commas, the quotes of CSV are understood.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bagpack.corpus.readers.base import SUFFIXES
from bagpack.corpus.readers.files import DAMAGED, OPENERS, compression_of
from bagpack.corpus.text.tags import universal_tag
from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.numbers import many
from bagpack.sheets import unguarded
from bagpack.tasks.workbook import MAX_BYTES, SAVE, Sheet, is_workbook, read_workbook

STDIN = "-"
CANONICAL_COLUMNS = ("w1", "w2", "label", "score", "pos1", "pos2")
SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}
SEPARATOR_LINE = re.compile(r'\s*"?sep=([;,\t])"?\s*', re.IGNORECASE)  # as Excel writes it
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_LINES = 50  # that a quoted cell may run over
_INVISIBLE = "\ufeff\u200b\u200e\u200f"
SHOWN, LONGEST = 20, 40  # names of columns in a message, and characters of one
REFUSED_SHOWN = 10
_MARKUP = re.compile(r"\s*<[!?a-z][^\t]*>", re.IGNORECASE)  # the first line of a web page or of XML
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class TextFile:
    """The lines of a file without their line ends, or the rows of a sheet; line ``i`` is ``lines[i - 1]``."""

    name: str
    lines: list[str]
    sheet: Sheet | None = None

    def error(self, line: int, problem: str) -> InputError:
        """The error for something wrong in one line (counted from 1)."""
        return InputError(f"{self.name}:{line}: {problem}")


def read_text_file(path: str | Path | TextFile) -> TextFile:
    r"""Read a text file or a spreadsheet, or standard input for ``-``; one that was read already is returned.

    What gzip, bzip2, xz or zstd compressed is decompressed, whatever the file is called. Text is UTF-8 or UTF-16.
    Lines end with ``\n``, ``\r\n`` or ``\r``. Only these end a line: U+2028 or a form feed inside a sentence do not.
    """
    if isinstance(path, TextFile):
        return path
    name = "<stdin>" if str(path) == STDIN else str(path)
    data = _read_bytes(path)
    if not is_workbook(data):
        return TextFile(name, _lines(name, data))
    sheet = read_workbook(name, data)
    if sheet.others:
        # Of this line, not of the caller's: it is then shown once, even if the file is read again.
        others = ", ".join(map(repr, sheet.others))
        warnings.warn(f"{name}: only the sheet {sheet.name!r} is read, not {others}", stacklevel=1)
    return TextFile(name, ["\t".join(row) for row in sheet.rows], sheet)


def _lines(name: str, data: bytes) -> list[str]:
    if data.startswith((b"%PDF", b"{\\rtf")):
        raise InputError(f"{name} is a PDF or RTF document, not a table; {SAVE}")
    encoding = next((own for mark, own in _MARKS.items() if data.startswith(mark)), "utf-8")
    high = data[1:400:2]
    if encoding == "utf-8" and high.count(0) > 0.8 * len(high):
        encoding = "utf-16-le"  # without a mark it shows itself by every other byte being zero
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        shown = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        line = len(_split(data[: error.start].decode(encoding, "replace")))
        raise InputError(
            f"{name}:{line}: byte 0x{data[error.start]:02x} is not {shown}; save it as UTF-8 (in Excel: Save As, "
            f"CSV UTF-8), or convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        ) from None
    if _MARKUP.match(text):
        raise InputError(f"{name} is a web page or XML, not a table; {SAVE}")
    lines = _split(text)
    if "\0" in text:
        line = next(number for number, content in enumerate(lines, 1) if "\0" in content)
        raise InputError(f"{name}:{line}: there is a zero byte, so this is not plain text; {SAVE}")
    return lines


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read_bytes(path: str | Path) -> bytes:
    """The bytes of a file as they were before compression; never more than a data set may have."""
    try:
        with sys.stdin.buffer if str(path) == STDIN else open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name a file that you may read") from None
    suffix = Path(path).suffix.lower()
    if kind := suffix[1:] if suffix in SUFFIXES else compression_of(data):
        try:
            with OPENERS[kind](io.BytesIO(data), "rb") as stream:
                data = stream.read(MAX_BYTES + 1)
        except (*DAMAGED, EOFError, ValueError):
            fix = "fetch it again, or drop the ending if it is plain text"
            raise InputError(f"{path} is not a whole {kind} file; {fix}") from None
    if len(data) > MAX_BYTES:
        has = "unpacks to" if kind else "has"
        raise InputError(f"{path} {has} more than {MAX_BYTES >> 20} MB, too large for a data set; split it")
    return data


# Tables -------------------------------------------------------------------------------------------------------------


def plain(name: str) -> str:
    """A column's name without what people vary: case, spaces, underscores, hyphens, brackets."""
    return re.sub(r"[\s_\-.:#()\[\]]+", "", name.casefold())


def find_column(header: Iterable[str], wanted: str) -> str | None:
    """The header's own name of a column, or None: exactly the same first, then the same by `plain`."""
    same = [name for name in header if name and plain(name) == plain(wanted)]
    return wanted if wanted in same else next(iter(same), None)


def listed(header: Iterable[str]) -> str:
    """The columns that a file has, for a message; of very many, the first."""
    names = [(name if len(name) <= LONGEST else f"{name[:LONGEST]}…") or "(no name)" for name in header]
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class Table:
    """The rows of a file under its lower-cased header, each with its line number.

    Bad rows are kept in ``refused`` (line → problem), so that `check` reports all of them at once.
    """

    file: TextFile
    header: list[str]
    separator: str = "\t"
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column is."""
        return {name: at for at, name in enumerate(self.header)}

    def column(self, name: str) -> list[str]:
        """One column's cells, outer blanks removed."""
        return [row[self.places[name]] for row in self.rows]

    @property
    def found(self) -> str:
        """The names of the columns, for a message; of a spreadsheet with the sheet."""
        names, sheet = listed(self.header), self.file.sheet
        if sheet is None or not sheet.others:
            return f"found: {names}"
        return f"found in sheet {sheet.name!r}: {names}; other sheets: {', '.join(sheet.others)}"

    def refuse(self, line: int, problem: str) -> None:
        """Keep what is wrong with a line, the first problem of each."""
        self.refused.setdefault(line, f"{self.file.name}:{line}: {problem}")

    def check(self) -> None:
        """Raise one error with the first of the refused rows, or if there are no rows."""
        name, refused = self.file.name, [self.refused[line] for line in sorted(self.refused)]
        if len(refused) == 1:
            raise InputError(refused[0])
        if refused:
            more = [f"and {len(refused) - REFUSED_SHOWN:,} more"] if len(refused) > REFUSED_SHOWN else []
            head = f"{name} has {len(refused):,} bad rows"
            raise InputError("\n  ".join([head, *refused[:REFUSED_SHOWN], *more]))
        if not self.rows:
            raise InputError(f"{name} has a header ({listed(self.header)}) but no rows; add one row per pair")


def read_table(path: str | Path | TextFile) -> Table:
    """The table of a file. What is wrong with its rows is in ``refused``: call `Table.check` after the columns' checks.

    Empty rows are ignored, and so are columns at the end that are empty or have no name. Every other row must be as
    wide as the header.
    """
    file = read_text_file(path)
    separator, table, widest = _separator(file), None, 0
    for number, cells in _records(file, separator):
        if isinstance(cells, str):
            if table is None:
                raise file.error(number, cells)
            table.refuse(number, cells)
        elif table is None:
            if any(cells):
                table, widest = Table(file, _header(file, number, cells), separator), len(cells)
        else:
            width, name = len(table.header), SEPARATORS[separator]
            while len(cells) > width and (not cells[-1] or len(cells) <= widest):
                cells.pop()
            if len(cells) == width and any(cells):
                table.rows.append(cells)
                table.lines.append(number)
            elif any(cells):
                cure = f"remove the extra {name}" if len(cells) > width else f"a {name} is missing"
                have = many(len(cells), "column")
                table.refuse(number, f"this row has {have} where the header has {width}; {cure}")
    if table is None:
        raise InputError(f"{file.name} is empty; its first line must name the columns, such as w1 and w2")
    return table


def _header(file: TextFile, number: int, cells: Sequence[str]) -> list[str]:
    header = [name.lower().strip(_INVISIBLE).strip() for name in cells]
    while not header[-1]:
        header.pop()
    twice = next((name for name, count in Counter(header).items() if name and count > 1), "")
    if twice:
        raise file.error(number, f"the header names the column {twice!r} twice; rename one of them")
    return header


def _separator(file: TextFile) -> str:
    """The separator in the first line that is not empty: a tab, or else the more frequent of ; and ,."""
    line = next((line for line in file.lines if line.strip()), "")
    if found := SEPARATOR_LINE.fullmatch(line):
        return found[1]
    outside = _QUOTED.sub("", line)
    best = max((";", ","), key=outside.count)
    return "\t" if file.sheet is not None or "\t" in line or best not in outside else best


def _records(file: TextFile, separator: str) -> Iterator[tuple[int, list[str] | str]]:
    """The number of each line that is not empty with its cells, or with what is wrong."""
    if file.sheet is not None:
        yield from enumerate(([*row] for row in file.sheet.rows), 1)
        return
    named = next((at for at, line in enumerate(file.lines) if line.strip()), 0)
    named += bool(SEPARATOR_LINE.fullmatch(file.lines[named])) if file.lines else 0
    if separator == "\t":
        for number, line in enumerate(file.lines[named:], named + 1):
            if line.strip():
                yield number, [cell.strip() for cell in line.split("\t")]
        return
    reader = csv.reader((f"{line}\n" for line in file.lines[named:]), delimiter=separator, strict=True)
    limit = csv.field_size_limit(MAX_BYTES)  # of a cell: the default is 131,072 characters
    number = named + 1
    try:
        while number <= len(file.lines):
            try:
                cells = next(reader)
            except csv.Error:
                cells = None
            after = named + reader.line_num + 1
            if cells is None or after - number > _QUOTED_LINES:
                problem = "a quotation mark is not closed on this line"
                yield number, f'{problem}; write it twice ("") or save the file as TSV'
            else:
                yield number, [unguarded(" ".join(cell.split("\n")).strip()) for cell in cells]
            number = after
    finally:
        csv.field_size_limit(limit)


def mapped_columns(table: Table, columns: Mapping[str, str] | None) -> dict[str, str]:
    """Check the user's ``columns`` (canonical name → the file's name) against the table's header."""
    mapped = {}
    for canonical, name in (columns or {}).items():
        if canonical not in CANONICAL_COLUMNS:
            raise UsageError(
                f"{canonical!r} is not a column that can be named; --columns takes "
                f"{', '.join(CANONICAL_COLUMNS)}, for example w1=noun,label=type"
            )
        column = find_column(table.header, name.strip().lower())
        if column is None and canonical in ("pos1", "pos2") and universal_tag(name.strip()):
            column = name.strip()  # a tag for all rows, not a column
        if column is None:
            raise UsageError(
                f"{table.file.name} has no column {name!r} ({table.found}); {did_you_mean(name, table.header)}"
                f"correct --columns {canonical}={name}"
            )
        mapped[canonical] = column
    return mapped
