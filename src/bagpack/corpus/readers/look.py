"""Looking at a file: its format, its encoding and what else is settled before it is read.

Files that are not text are an error where the user named the file, and skipped inside a directory.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO

from bagpack.corpus.format import LeftOut
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import SUFFIXES, Reader, Source
from bagpack.corpus.readers.files import (
    BOM,
    HEAD,
    OPENERS,
    compression_of,
    place_at,
    printable,
    read_some,
    to_utf8,
)  # fmt: skip
from bagpack.corpus.text.encoding import AUTO, check_encoding, codec_name, detect_encoding
from bagpack.errors import InputError, UsageError
from bagpack.files import unreadable
from bagpack.numbers import many

LOOKED_AT = 1 << 17  # bytes from which a reader learns how a file is laid out
SAMPLE, COMPRESSED_SAMPLE = 4 << 20, 1 << 20  # bytes whose encoding is looked at
BUILT_IN = ("vertical", "conllu", "jsonl", "parquet", "mediawiki", "text")  # text takes whatever is left
NUL_WITHIN = 4096
SHOWN = 5


@cache
def readers() -> dict[str, Reader]:
    found = {name: reader_for(name) for name in BUILT_IN}
    for entry in entry_points(group="bagpack.readers"):
        try:
            found.setdefault(entry.name, entry.load())
        except Exception as error:
            package = entry.dist.name if entry.dist else entry.value
            problem = f"cannot be loaded ({type(error).__name__}: {error}); update or uninstall that package"
            raise UsageError(f"the reader {entry.name!r} of the package {package} {problem}") from error
    return found


def reader_for(name: str) -> Reader:
    if name in BUILT_IN:  # whatever other packages have
        reader: Reader = importlib.import_module(f"bagpack.corpus.readers.{name}").READER
        return reader
    if name not in readers():
        raise UsageError(f"--format {name} is unknown; choose one of auto, {', '.join(sorted(readers()))}")
    return readers()[name]


def look(path: str, options: TextOptions, label: str = "") -> Source | LeftOut:
    """All that is settled about a file before it is read, from opening it once; or what it is if it holds no text."""
    name = label or printable(path)
    try:
        handle = open(path, "rb")  # noqa: SIM115 (closed below)
        status = os.fstat(handle.fileno())
        compression = compression_of(handle.read(6))
    except OSError as error:
        raise unreadable(name, error, InputError) from error
    with handle:
        suffix = Path(path).suffix.lower()
        if status.st_size and suffix in SUFFIXES and suffix != f".{compression}":
            problem = f"has the suffix {suffix} but does not contain {suffix[1:]} data"
            raise InputError(f"{name} {problem}; rename it, or fetch it again")
        source = Source(os.path.abspath(path), status.st_size, status.st_mtime_ns, compression, label=name)
        handle.seek(0)
        stream = OPENERS[compression](handle, "rb") if compression else handle
        raw = read_some(stream.read, source, LOOKED_AT, 0)
        head = raw.removeprefix(BOM)
        reader = _reader_of(source, head[:HEAD], options)
        if isinstance(reader, str):
            return LeftOut(name, reader)
        source = replace(source, format=reader.name)
        if reader.name != "parquet":
            source = replace(source, encoding=_encoding_of(source, stream, raw, options))
        return reader.look(source, head, options)


def _encoding_of(source: Source, stream: IO[bytes], head: bytes, options: TextOptions) -> str:
    """The encoding of a source; its beginning is decoded, so that a wrong one is reported before long work."""
    size = COMPRESSED_SAMPLE if source.compression else SAMPLE
    sample = head + read_some(stream.read, source, size - len(head), len(head))
    sample = sample[: sample.rfind(b"\n") + 1] or sample  # the last line may be incomplete
    encoding = detect_encoding(sample, options.lang) if options.encoding == AUTO else options.encoding
    check_encoding(encoding)
    if options.encoding_errors == "strict":
        to_utf8(sample, replace(source, encoding=encoding), options, partial(place_at, source, 0))
    return "utf-8" if codec_name(encoding) == "utf-8" else encoding


def _reader_of(source: Source, head: bytes, options: TextOptions) -> Reader | str:
    """The reader of a file, or what the file is if there is none."""
    if not head:
        return "empty"
    if options.format != "auto":
        return reader_for(options.format)
    others = [reader for reader in readers().values() if reader.name != "text"]
    stem = Path(source.name.lower())
    stem = stem.with_suffix("") if stem.suffix in SUFFIXES else stem
    by_name = [reader for reader in others if stem.name.endswith(reader.suffixes)]
    for reader in (*by_name, *others):
        if reader.recognises(head):
            return reader
    return by_name[0] if by_name else _unsuitable(head) or reader_for("text")


def _unsuitable(head: bytes) -> str:
    """What a file is that no reader knows and that is no text either, though its words would be counted."""
    text = re.sub(rb"\A\s*(<\?xml[^>]*>\s*|<!--.*?-->\s*){0,20}", b"", head, flags=re.DOTALL)
    root = re.match(rb"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>", text)
    _, closing, behind = text.partition(b"</%s>" % root[1]) if root else (b"", b"", b"")
    found = {
        "a PDF file": head.startswith(b"%PDF"),
        "a zip archive": head.startswith(b"PK\x03\x04"),
        "JSON, but not JSON lines": re.match(rb'\s*(\[\s*[\[{"]|\{\s*"[^"\n]*"\s*:)', head),
        "an HTML page": re.match(rb"<(!doctype\s+html|html)[\s>]", text, re.IGNORECASE),
        # One element from the beginning to the end of what is looked at.
        "an XML file": head.lstrip().lower().startswith((b"<?xml", b"<!doctype"))
        or (root and b"</" in text and not (closing and behind.strip())),
        "not text: it holds NUL bytes": b"\0" in head[:NUL_WITHIN],
        "in an ISO-2022 encoding": re.search(rb"\x1b\$[()@AB]", head),  # a switch to two-byte characters
    }
    return next((what for what, holds in found.items() if holds), "")


def say_left_out(files: Sequence[LeftOut], all_in: str = "") -> str:
    """A message with their number and the first few; `all_in` is the command that lists them all."""
    shown = ", ".join(f"{file.path} ({file.reason})" for file in files[:SHOWN])
    more = f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else ""
    where = f" ({all_in} names them all)" if more and all_in else ""
    return f"{many(len(files), 'file')} skipped: {shown}{more}{where}"
