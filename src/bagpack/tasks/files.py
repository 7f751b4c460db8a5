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
from bagpack.tasks.workbook import MAX_BYTES, Sheet, is_workbook, read_workbook

STDIN = "-"
CANONICAL_COLUMNS = ("w1", "w2", "label", "score", "pos1", "pos2")
SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma"}
SEPARATOR_LINE = re.compile(r'"?sep=([;,\t])"?', re.IGNORECASE)  # Excel's way to name it, in its own line
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_LINES = 50  # that a quoted cell may run over
_INVISIBLE = "\ufeff\u200b\u200e\u200f"
SHOWN, LONGEST = 20, 40  # names of columns in a message, and characters of one
REFUSED_SHOWN = 10
_MARKUP = re.compile(r"\s*<[!?a-z][^\t]*>", re.IGNORECASE)  # the first line of a web page or of XML
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FOREIGN = {
    b"%PDF": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"PAR1": "a Parquet file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}


@dataclass(frozen=True)
class TextFile:
    """The lines of a file without their line ends; line ``i`` of the file is ``lines[i - 1]``.

    Readers of tables hand bad rows to ``refuse``, so that all of them are reported at once (``raise_refused``).
    ``sheet`` has the rows of a spreadsheet, row ``i`` of which is line ``i``.
    """

    name: str
    lines: list[str]
    sheet: Sheet | None = None
    refused: dict[int, str] = field(default_factory=dict)

    def error(self, line: int, problem: str) -> InputError:
        """The error for something wrong in one line (counted from 1)."""
        return InputError(f"{self.name}:{line}: {problem}")

    def refuse(self, line: int, problem: str) -> None:
        """Keep what is wrong with a line, the first problem of each."""
        self.refused.setdefault(line, f"{self.name}:{line}: {problem}")

    def raise_refused(self) -> None:
        """One error with the first of the lines that were refused, if there are any."""
        refused = [self.refused[line] for line in sorted(self.refused)]
        if len(refused) > 1:
            more = [f"and {len(refused) - REFUSED_SHOWN:,} more"] if len(refused) > REFUSED_SHOWN else []
            raise InputError(
                "\n  ".join([f"{self.name} has {len(refused):,} bad rows", *refused[:REFUSED_SHOWN], *more])
            )
        if refused:
            raise InputError(refused[0])


def read_text_file(path: str | Path | TextFile) -> TextFile:
    r"""Read a text file or a spreadsheet, or standard input for ``-``; one that was read already is returned.

    What gzip, bzip2, xz or zstd compressed is decompressed, whatever the file is called. Text is UTF-8, or UTF-16 or
    UTF-32 as a byte-order mark says. Lines end with ``\n``, ``\r\n`` or ``\r``. Only these end a line: U+2028 or a form
    feed inside a sentence do not.
    """
    if isinstance(path, TextFile):
        return path
    name = "<stdin>" if str(path) == STDIN else str(path)
    file = _decoded(name, _decompressed(name, _read_bytes(path)))
    if file.sheet is not None and file.sheet.not_read:
        # Of this line, not of the caller's: it is then shown once, even if the file is read again.
        warnings.warn(f"{name}: {file.sheet.not_read}", stacklevel=1)
    return file


def _decoded(name: str, data: bytes) -> TextFile:
    """The lines of a file's bytes."""
    if is_workbook(data):
        sheet = read_workbook(name, data)
        return TextFile(name, ["\t".join(row) for row in sheet.rows], sheet=sheet)
    for magic, what in _FOREIGN.items():
        if data.startswith(magic):
            raise InputError(f"{name} is {what}, not a table; save its table as .xlsx, CSV or TSV")
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        shown = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        before = data[: error.start].decode(encoding, "replace")
        line = before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        raise InputError(
            f"{name}:{line}: byte 0x{data[error.start]:02x} is not {shown}; save it as UTF-8 (in Excel: Save As, "
            f"CSV UTF-8), or convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        ) from None
    if _MARKUP.match(text):
        raise InputError(
            f"{name} is a web page or XML, not a table; open it and save it as .xlsx, CSV or TSV"
        )
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if "\0" in text:
        line = next(number for number, content in enumerate(lines, 1) if "\0" in content)
        raise InputError(
            f"{name}:{line}: there is a zero byte, so this is not plain text; save the table as .xlsx, CSV or TSV"
        )
    return TextFile(name, lines)


def _encoding(data: bytes) -> str:
    """By the byte-order mark; without one UTF-16 shows itself by every other byte being zero."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return encoding
    head = data[:400]
    if len(head) >= 4 and b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if odd > 0.8 * len(head[1::2]) and not even:
            return "utf-16-le"
        if even > 0.8 * len(head[0::2]) and not odd:
            return "utf-16-be"
    return "utf-8"


def _read_bytes(path: str | Path) -> bytes:
    if str(path) == STDIN:
        return _checked("<stdin>", sys.stdin.buffer.read(MAX_BYTES + 1), "has")
    if Path(path).is_dir():
        raise InputError(f"{path} is a directory; name one file in it")
    try:
        with open(path, "rb") as file:
            return _checked(path, file.read(MAX_BYTES + 1), "has")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from None


def _decompressed(name: str, data: bytes) -> bytes:
    """The bytes as they were before compression; never more than a data set may have."""
    suffix = Path(name).suffix.lower()
    kind = suffix[1:] if suffix in SUFFIXES else compression_of(data)
    if not kind:
        return data
    try:
        with OPENERS[kind](io.BytesIO(data), "rb") as stream:
            plain = stream.read(MAX_BYTES + 1)
    except (*DAMAGED, EOFError, ValueError):
        raise InputError(
            f"{name} is not a whole {kind} file; fetch it again, or drop the ending if it is plain text"
        ) from None
    return _checked(name, plain, "unpacks to")


def _checked(name: object, data: bytes, how: str) -> bytes:
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} {how} more than {MAX_BYTES >> 20} MB, too large for a data set; split it")
    return data


# Tables -------------------------------------------------------------------------------------------------------------


def plain(name: str) -> str:
    """A column's name without what people vary: case, spaces, underscores, hyphens, brackets.

    >>> plain("Word 1"), plain("word_1"), plain("W1"), plain("Mean-Rating")
    ('word1', 'word1', 'w1', 'meanrating')
    """
    return re.sub(r"[\s_\-.:#()\[\]]+", "", name.casefold())


def find_column(header: Sequence[str], wanted: str) -> str | None:
    """The header's own name of a column, or None: exactly the same first, then the same by `plain`."""
    if wanted in header:
        return wanted
    return next((name for name in header if name and plain(name) == plain(wanted)), None)


def listed(header: Iterable[str]) -> str:
    """The columns that a file has, for a message; of very many, the first."""
    names = [(name if len(name) <= LONGEST else f"{name[:LONGEST]}…") or "(no name)" for name in header]
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


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
    """Read a table with a header; bad rows are one error.

    Empty rows are ignored, and so are columns at the end that are empty or have no name. Every other row must be as
    wide as the header.
    """
    table = read_rows(read_text_file(source))
    table.file.raise_refused()
    return table


def read_rows(file: TextFile) -> Table:
    """The table without its bad rows, which are kept in ``file.refused``."""
    table, records = _open(file)
    width = len(table.header)
    separator = SEPARATORS[table.separator]
    for number, cells in records:
        if isinstance(cells, str):
            file.refuse(number, cells)
            continue
        while len(cells) > width and (not cells[-1] or len(cells) <= table.unnamed_to):
            cells.pop()
        if not any(cells):
            continue
        if len(cells) != width:
            cure = f"remove the extra {separator}" if len(cells) > width else f"a {separator} is missing"
            have = many(len(cells), "column")
            file.refuse(number, f"this row has {have} where the header has {width}; {cure}")
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


Record = tuple[int, list[str] | str]  # the number of a line with its cells, or with what is wrong


def _open(file: TextFile) -> tuple[Table, Iterator[Record]]:
    """The table without its rows, and what is below the header: cells, or what is wrong with a line."""
    separator = _separator(file)
    records = _records(file, separator)
    for number, cells in records:
        if isinstance(cells, str):
            raise file.error(number, cells)
        if not any(cells):
            continue
        header = [name.lower().strip(_INVISIBLE).strip() for name in cells]
        while not header[-1]:
            header.pop()
        twice = next((name for name, count in Counter(header).items() if name and count > 1), "")
        if twice:
            raise file.error(number, f"the header names the column {twice!r} twice; rename one of them")
        return Table(file, header, [], [], separator, len(cells)), records
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
    """The cells of each line that is not empty, with its number."""
    if file.sheet is not None:
        yield from enumerate(([*row] for row in file.sheet.rows), 1)
        return
    named = next((at for at, line in enumerate(file.lines) if line.strip()), 0)
    if file.lines and SEPARATOR_LINE.fullmatch(file.lines[named].strip(" \r")):
        named += 1
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
                f"{table.name} has no column {name!r} ({table.found}); {did_you_mean(name, table.header)}"
                f"correct --columns {canonical}={name}"
            )
        mapped[canonical] = column
    return mapped
