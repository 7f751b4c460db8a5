"""Looking at a file: its format, its encoding and what else is settled before it is read.

Files that are not text are an error where the user named the file, and skipped inside a directory.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import IO, Any

from bagpack.corpus.format import LeftOut
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import SUFFIXES, Reader, Source
from bagpack.corpus.readers.files import (
    BOM,
    HEAD,
    compression_of,
    place_at,
    printable,
    read_some,
    sample,
    uncompressed,
    unreadable,
)
from bagpack.corpus.text.encoding import (
    AUTO,
    check_encoding,
    codec_name,
    decode,
    detect_encoding,
    encoding_error,
    encoding_of,
)
from bagpack.errors import InputError, UsageError

LOOKED_AT = 1 << 17  # bytes from which a reader learns how a file is laid out
BUILT_IN = ("vertical", "conllu", "jsonl", "parquet", "mediawiki", "text")  # text takes whatever is left


@cache
def readers() -> dict[str, Reader]:
    """All readers by name, built-in ones first."""
    found = {name: _built_in(name) for name in BUILT_IN}
    for entry in entry_points(group="bagpack.readers"):
        if entry.name not in found:
            found[entry.name] = _load(entry)
    return found


def _built_in(name: str) -> Reader:
    reader: Reader = importlib.import_module(f"bagpack.corpus.readers.{name}").READER
    return reader


def _load(entry: EntryPoint) -> Reader:
    try:
        reader: Reader = entry.load()
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.value
        raise UsageError(
            f"the reader {entry.name!r} of the package {package} cannot be loaded ({type(error).__name__}: {error}); "
            f"update or uninstall that package, or choose a --format of bagpack's own"
        ) from error
    return reader


def reader_for(name: str) -> Reader:
    """The reader of a format; an error if there is none."""
    if name in BUILT_IN:
        return _built_in(name)
    known = readers()
    if name not in known:
        raise UsageError(f"--format {name} is unknown; choose one of auto, {', '.join(sorted(known))}")
    return known[name]


def look(path: str, options: TextOptions, label: str = "") -> Source:
    """All that is settled about a file before it is read, from opening it once; an error if it holds no text."""
    name = label or printable(path)
    try:
        handle = open(path, "rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise unreadable(name, error) from error
    with handle:
        status = os.fstat(handle.fileno())
        try:
            compression = compression_of(handle.read(6))
        except OSError as error:
            raise unreadable(name, error) from error
        if status.st_size == 0:
            raise UnsuitableError(f"{name} is empty; remove it, or check how it was made", "empty")
        suffix = Path(path).suffix.lower()
        if suffix in SUFFIXES and suffix != f".{compression}":
            raise InputError(
                f"{name} has the suffix {suffix} but does not contain {suffix[1:]} data; rename it, or fetch it again"
            )
        source = Source(path, status.st_size, status.st_mtime_ns, compression, label=name)
        handle.seek(0)
        stream = uncompressed(handle, compression)
        raw = read_some(stream, source, LOOKED_AT, 0)
        head = raw.removeprefix(BOM)
        reader = _reader_of(source, head[:HEAD], options)
        source = replace(source, format=reader.name)
        if reader.name != "parquet":
            source = replace(source, encoding=_encoding_of(source, stream, raw, options))
        return reader.look(source, head, options)


def _encoding_of(source: Source, stream: IO[bytes], head: bytes, options: TextOptions) -> str:
    """The encoding of a source; a sample of it is decoded, so that a wrong one is reported before long work."""
    encoding = encoding_of(source.name, options.encoding)
    if encoding == AUTO:
        return detect_encoding((piece for _, piece in sample(stream, source, head)), options.lang)
    check_encoding(encoding)
    if options.encoding_errors == "strict":
        for offset, piece in sample(stream, source, head):
            try:
                decode(piece, encoding)
            except UnicodeDecodeError as error:
                raise encoding_error(place_at(source, offset + error.start), error, encoding) from error
    return "utf-8" if codec_name(encoding) == "utf-8" else encoding


def _reader_of(source: Source, head: bytes, options: TextOptions) -> Reader:
    if options.format != "auto":
        return reader_for(options.format)
    others = [reader for reader in readers().values() if reader.name != "text"]
    if not head:
        raise UnsuitableError(f"{source.name} holds nothing once it is uncompressed; remove it", "empty")
    by_name = [reader for reader in others if source.stem.endswith(reader.suffixes)]
    for reader in (*by_name, *others):
        if reader.recognises(head):
            return reader
    if by_name:
        return by_name[0]
    check_text(source.name, head)
    return reader_for("text")


CONVERT = "convert it to plain text first"
NUL_WITHIN = 4096
SHOWN = 5
MAX_COMMENTS = 20  # before the first element of a page

_HTML = re.compile(rb"<(!doctype\s+html|html)[\s>]", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\[\s*[\[{"]|\{\s*"[^"\n]*"\s*:)')
_ELEMENT = re.compile(rb"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>")
_ISO_2022 = re.compile(rb"\x1b\$[()@AB]")  # the escape sequences that switch to a set of two-byte characters


class UnsuitableError(InputError):
    """A file that holds no text; `reason` is reported if it is skipped."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> Any:  # from a worker
        return type(self), (str(self), self.reason)


def check_text(name: str, head: bytes) -> None:
    """Refuse what begins as documents, archives and pictures do; `head` is what no reader knows."""
    what, problem = _unsuitable(head)
    if what:
        raise UnsuitableError(f"{name} {problem}", what)


def _unsuitable(head: bytes) -> tuple[str, str]:
    """What a file is, and a sentence about it; nothing for text."""
    if head.startswith(b"%PDF"):
        return "a PDF file", f"is a PDF file, not text; {CONVERT}"
    if head.startswith(b"PK\x03\x04"):
        return "a zip archive", f"is a zip archive (docx, odt and epub files are, too), not text; {CONVERT}"
    if markup := _markup(head):
        problem = f"is {markup}, whose tags would be counted as words; {CONVERT} or to JSON lines, or take it as it is"
        return markup, f"{problem} with --format text"
    if b"\0" in head[:NUL_WITHIN]:
        problem = (
            "does not look like text (it holds NUL bytes); convert it to UTF-8 text, or name its --format"
        )
        return "not text: NUL bytes", problem
    if _ISO_2022.search(head):
        problem = (
            "is in an ISO-2022 encoding, whose bytes look like ASCII; convert it to UTF-8 (iconv does it)"
        )
        return "not UTF-8: ISO-2022", problem
    return "", ""


def _first_element(head: bytes) -> bytes:
    rest = head.lstrip()
    for opening, closing in ((b"<?xml", b">"), *((b"<!--", b"-->"),) * MAX_COMMENTS):
        if rest.startswith(opening):
            rest = rest.partition(closing)[2].lstrip()
    return rest


def _markup(head: bytes) -> str:
    """What a file is that begins as JSON, HTML or XML does and is in none of our formats; an empty string for text."""
    if _JSON.match(head):
        return "JSON, but not JSON lines"
    rest = _first_element(head)
    if _HTML.match(rest):
        return "an HTML page"
    if head.lstrip().startswith(b"<?xml"):
        return "an XML file"
    root = _ELEMENT.match(rest)
    if root is None or b"</" not in rest:
        return ""
    _, closing, behind = rest.partition(b"</%s>" % root[1])
    return "" if closing and behind.strip() else "an XML file"


def say_left_out(files: Sequence[LeftOut], all_in: str = "") -> str:
    """A message with their number and the first few; `all_in` is the command that lists them all."""
    count = "1 file was" if len(files) == 1 else f"{len(files):,} files were"
    shown = [f"{file.path} ({file.reason})" for file in files[:SHOWN]]
    more = f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else ""
    where = f" ({all_in} names them all)" if more and all_in else ""
    return f"{count} skipped: {', '.join(shown)}{more}{where}"
