"""Finding, opening and decompressing files, cutting them into slices, and reading these in blocks of whole lines.

Blocks are UTF-8 whatever encoding the source has: nothing behind them knows of encodings. They carry their byte offset
in the uncompressed source, so that an error can name the line.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import mmap
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from bagpack.artefacts import is_artefact
from bagpack.corpus.options import MAX_LINE, TextOptions
from bagpack.corpus.readers.base import Block, DocumentStart, Slice, Source
from bagpack.corpus.text.encoding import decode, encoding_error, is_utf8
from bagpack.errors import InputError, UsageError
from bagpack.files import unreadable

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

BLOCK = 4 << 20
AHEAD = 4  # blocks that are uncompressed before they are asked for
HEAD = 1 << 16
BOM = b"\xef\xbb\xbf"
READ = 1 << 18
REACH = 4 << 20  # bytes in which a document is looked for
FIRST_LINES = 1 << 13  # bytes of a document; no opening tag is longer


class Named(NamedTuple):
    """A file, and whether the user named it; if not, it was found in a directory."""

    path: str
    named: bool = True
    ignored: str = ""  # why it is not read, of what was found in a directory


def expand(names: Iterable[str]) -> list[Named]:
    """Files behind the names: directories are walked, globs are expanded, both in sorted order.

    A file that two names lead to counts once. What is ignored, but for hidden files, is in the list with the reason.
    """
    files: list[Named] = []
    for name in names:
        path = Path(name)
        if name == "-" or path.is_file():
            found = [Named(name)]
        elif path.is_dir():
            if is_artefact(path):
                raise InputError(f"{printable(name)} was made by BagPack; name the texts themselves")
            found = sorted(_files_below(path))
        else:
            matches = sorted(glob.glob(name, recursive=True))
            found = [Named(match) for match in matches if Path(match).is_file()]
        if not found:
            raise InputError(f"there is no file {printable(name)}, nor files in it; check the name")
        files += found
    if not files:
        raise UsageError("no input was named; give files, directories, globs or - for standard input")
    first: dict[object, str] = {}
    for index, file in enumerate(files):
        if not file.ignored:
            status = os.stat(file.path) if file.path != "-" else None
            identity = (status.st_dev, status.st_ino) if status else file.path
            if identity in first:
                files[index] = Named(file.path, False, f"the same file as {printable(first[identity])}")
            first.setdefault(identity, file.path)
    return files


def _files_below(top: Path) -> Iterator[Named]:
    """Files of a directory tree without hidden ones; directories that are not walked, with the reason."""
    for directory, inner, names in os.walk(top):
        walked = []
        for name in inner:
            path = Path(directory, name)
            if name.startswith("."):
                continue
            if path.is_symlink():
                yield Named(str(path), False, "a link to a directory; name it to read it")
            elif is_artefact(path):
                yield Named(str(path), False, "made by BagPack")
            else:
                walked.append(name)
        inner[:] = walked
        for name in names:
            path = Path(directory, name)
            if not name.startswith(".") and path.is_file():
                yield Named(str(path), named=False)


def printable(path: str) -> str:
    """A path as it can be shown and stored: bytes that are not UTF-8 as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class _Streams(io.RawIOBase):
    """The uncompressed bytes of a file of one or more streams.

    bz2.open and lzma.open take whatever is no stream for padding, so that all text behind a damaged one would be lost
    without a word. Here only NUL bytes are padding.
    """

    def __init__(self, stream: Callable[[], Any], path: Any, mode: str = "rb") -> None:
        self.file = path if hasattr(path, "read") else open(path, mode)  # noqa: SIM115 (closed with this)
        self.new, self.stream = stream, stream()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while True:
            data = b""
            if self.stream.eof:
                data = self.stream.unused_data.lstrip(b"\0")
                while not data and (more := self.file.read(READ)):
                    data = more.lstrip(b"\0")
                if not data:
                    return 0
                self.stream = self.new()
            elif self.stream.needs_input and not (data := self.file.read(READ)):
                raise EOFError
            piece = self.stream.decompress(data, len(buffer))
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)


def _open_streams(stream: Callable[[], Any], path: Any, mode: str = "rb") -> io.BufferedReader:
    return io.BufferedReader(_Streams(stream, path, mode), READ)


OPENERS: dict[str, Callable[..., Any]] = {
    "gz": gzip.open,
    "bz2": partial(_open_streams, bz2.BZ2Decompressor),
    "xz": partial(_open_streams, lzma.LZMADecompressor),
    "zst": zstd.open,
}
DAMAGED = (OSError, zlib.error, lzma.LZMAError, zstd.ZstdError)  # and EOFError, if the end is missing
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}


def compression_of(head: bytes) -> str:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


def open_plain(source: Source) -> IO[bytes]:
    try:
        opened: IO[bytes] = OPENERS.get(source.compression, open)(source.path, "rb")
    except OSError as error:
        raise unreadable(source.name, error, InputError) from error
    return opened


def read_some(read: Callable[[int], bytes], source: Source, size: int, offset: int) -> bytes:
    """Read up to `size` bytes; a truncated or damaged compressed file is an error with its name."""
    try:
        return read(size)
    except (EOFError, *DAMAGED) as error:
        what = "is truncated" if isinstance(error, EOFError) else f"is damaged ({error})"
        place = f"after about {offset:,} uncompressed bytes"
        raise InputError(f"{source.name} {what} {place}; fetch it again") from error


def to_utf8(
    data: bytes, source: Source, options: TextOptions, place: Callable[[int], str]
) -> tuple[bytes, int]:
    """Bytes in UTF-8, and how many places of them were repaired: bytes that are not the encoding.

    Where such bytes are an error, it names the `place` of a byte.
    """
    if source.encoding == "utf-8" and is_utf8(data):
        return data, 0
    try:
        return decode(data, source.encoding).encode(), 0
    except UnicodeDecodeError as error:
        if options.encoding_errors == "strict":
            raise encoding_error(place(error.start), error, source.encoding) from error
    replaced, skipped = (decode(data, source.encoding, way) for way in ("replace", "skip"))
    marks = replaced.count("\N{REPLACEMENT CHARACTER}") - skipped.count("\N{REPLACEMENT CHARACTER}")
    return (replaced if options.encoding_errors == "replace" else skipped).encode(), marks


def blocks(part: Slice, options: TextOptions) -> Iterator[Block]:
    """Consecutive runs of whole lines; only the last may lack its newline."""
    source = part.source
    lines = _lines(part, options.max_line)
    for offset, raw in _ahead(lines) if source.compression else lines:
        data = raw.removeprefix(BOM) if offset == 0 else raw
        data, repaired = to_utf8(data, source, options, partial(place_at, source, offset))
        yield Block(offset, len(raw), data, repaired)


def _lines(part: Slice, max_line: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of runs of whole lines."""
    source, offset = part.source, part.start
    left = part.end - part.start if part.end >= 0 else sys.maxsize
    with open_plain(source) as stream:
        if offset:
            stream.seek(offset)
        while left > 0 and (block := read_some(stream.read, source, min(BLOCK, left), offset)):
            if not block.endswith(b"\n") and len(block) < left:
                line = block.rfind(b"\n") + 1  # where the unfinished one begins
                rest = read_some(stream.readline, source, max_line + 1, offset)
                if len(block) - line + len(rest) > max_line:
                    raise InputError(
                        f"{place_at(source, offset, line)} is a line of more than {max_line >> 20} MiB; break the text "
                        f"into lines (one paragraph each), or check that the file is text"
                    )
                block += rest
            yield offset, block
            offset += len(block)
            left -= len(block)
    if part.end > offset:
        raise InputError(f"{source.name} became shorter while it was read; index it again")


def _ahead(blocks: Iterator[Any]) -> Iterator[Any]:
    """Read in a thread of its own: decompression releases the GIL, so it runs at the same time as the parser."""
    pool = ThreadPoolExecutor(1)
    try:
        waiting = deque(pool.submit(next, blocks, None) for _ in range(AHEAD))
        while block := waiting.popleft().result():
            waiting.append(pool.submit(next, blocks, None))
            yield block
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def place_at(source: Source, offset: int, more: int = 0, *, lines: int = 0) -> str:
    """File and line, as messages name them, of byte `offset + more` of the uncompressed text; `lines` are added."""
    left, number = offset + more, 1 + lines
    with open_plain(source) as stream:
        while left > 0 and (chunk := stream.read(min(BLOCK, left))):
            number += chunk.count(b"\n")
            left -= len(chunk)
    return f"{source.name}:{number:,}"


def line_slices(
    source: Source, target: int, marks: tuple[bytes, ...], fallback: tuple[bytes, ...] = (), reach: int = MAX_LINE,
    opened: Callable[[str], DocumentStart] | None = None,
) -> list[Slice]:  # fmt: skip
    """Slices of about `target` bytes of a file; a compressed one is one slice.

    A slice begins just after the newline of a mark (`\\n<text ` cuts before `<text `); where no mark follows within
    `reach`, just after that of a fallback mark. If marks begin documents, such a slice records which document it is in:
    what `opened` makes of its first lines. Depends on the file and `target` alone, never on workers.
    """
    if source.compression or source.size <= target + target // 2:
        return [Slice(source, 0, -1 if source.compression else source.size)]
    slices, nominal = [Slice(source)], target
    opening = re.compile(rb"(?m)^(?:%s)?(?:%s)" % (BOM, b"|".join(re.escape(mark[1:]) for mark in marks)))
    with open(source.path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as view:
        while nominal < source.size - target // 2:
            stop = min(source.size, nominal + reach)
            for group in (marks, fallback):
                at = 0
                for mark in group:  # the first of them
                    at = view.find(mark, nominal, at or stop) + 1 or at
                if at:
                    break
            if not at:
                nominal = stop
                continue
            if at >= source.size:
                break
            before, document = slices[-1], None
            if group is not marks and opened:
                document = DocumentStart(0, before.document or source.name, attributes=before.attributes)
                for last in deque(opening.finditer(view, before.start, at), 1):
                    lines = view[last.start() : last.start() + FIRST_LINES].removeprefix(BOM)
                    document = opened(decode(lines, source.encoding, "replace"))
            if at > before.start:
                inside = (document.name, document.attributes) if document else ()
                slices.append(Slice(source, at, -1, *inside))
            nominal = max(nominal + target, at + target // 2)
    ends = [*(part.start for part in slices[1:]), source.size]
    return [replace(part, end=end) for part, end in zip(slices, ends, strict=True)]
