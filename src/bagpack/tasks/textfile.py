"""Data files, read whole: decompressed, decoded, and split into numbered lines; spreadsheets as rows."""

from __future__ import annotations

import codecs
import io
import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

from bagpack.corpus.readers.compression import DAMAGED, OPENERS, SUFFIXES, compression_of
from bagpack.errors import InputError
from bagpack.tasks.workbook import MAX_BYTES, Sheet, is_workbook, read_workbook

STDIN = "-"
REFUSED_SHOWN = 10
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

    A reader that can skip a bad line hands it to ``refuse``, which raises; with ``lenient``, the errors are kept by
    line, so that all of them are reported at once (``raise_refused``). ``sheet`` has the rows of a
    spreadsheet, row ``i`` of which is line ``i``.
    """

    name: str
    lines: list[str]
    lenient: bool = False
    refused: dict[int, str] = field(default_factory=dict)
    uploaded: bool = False  # by someone who has no options to give
    sheet: Sheet | None = None

    @property
    def suffix(self) -> str:
        """The lower-case extension below any compression: ``.csv`` for ``pairs.CSV.gz``."""
        path = Path(self.name)
        if path.suffix.lower() in SUFFIXES:
            path = path.with_suffix("")
        return path.suffix.lower()

    def error(self, line: int, problem: str) -> InputError:
        """The error for something wrong in one line (counted from 1)."""
        return InputError(f"{self.name}:{line}: {problem}")

    def refuse(self, error: InputError, line: int) -> None:
        """Raise the error of a line, or keep the first one of each."""
        if not self.lenient:
            raise error
        self.refused.setdefault(line, str(error))

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


def read_text_file(path: str | Path | TextFile, lenient: bool = False) -> TextFile:
    r"""Read a text file or a spreadsheet, or standard input for ``-``; one that was read already is returned.

    What gzip, bzip2, xz or zstd compressed is decompressed, whatever the file is called. Text is UTF-8, or UTF-16 or
    UTF-32 as a byte-order mark says. Lines end with ``\n``, ``\r\n`` or ``\r``. Only these end a line: U+2028 or a form
    feed inside a sentence do not.
    """
    if isinstance(path, TextFile):
        return path
    name = "<stdin>" if str(path) == STDIN else str(path)
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if str(path) == STDIN else _read_bytes(Path(path))
    if len(data) > MAX_BYTES:
        raise _too_large(name, "has")
    data = _decompressed(name, data)
    file = decode_text(
        name,
        data,
        "save it as UTF-8 (in Excel: Save As, CSV UTF-8), or convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW",
    )
    if file.sheet is not None and file.sheet.not_read:
        # Of this line, not of the caller's: it is then shown once, even if the file is read again.
        warnings.warn(f"{name}: {file.sheet.not_read}", stacklevel=1)
    return replace(file, lenient=lenient)


def decode_text(name: str, data: bytes, cure: str) -> TextFile:
    """The lines of a file's bytes; `cure` says what to do about bytes that are not UTF-8."""
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
        raise InputError(f"{name}:{line}: byte 0x{data[error.start]:02x} is not {shown}; {cure}") from None
    if text[:200].lstrip().lower().startswith(("<!doctype html", "<html", "<table", "<?xml")):
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


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{path} is a directory; name one file in it")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
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
        with OPENERS[kind](io.BytesIO(data)) as stream:
            plain: bytes = stream.read(MAX_BYTES + 1)
    except (*DAMAGED, EOFError, ValueError):
        raise InputError(
            f"{name} is not a whole {kind} file; fetch it again, or drop the ending if it is plain text"
        ) from None
    if len(plain) > MAX_BYTES:
        raise _too_large(name, "unpacks to")
    return plain


def _too_large(name: str, how: str) -> InputError:
    return InputError(f"{name} {how} more than {MAX_BYTES >> 20} MB, too large for a data set; split it")
