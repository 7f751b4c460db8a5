"""Finding, opening and decompressing files, and reading them in blocks of whole lines in bounded memory.

Blocks are UTF-8 whatever encoding the source has: nothing behind them knows of encodings. They carry their byte offset
in the uncompressed source, so that an error can name the line.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from bagpack.artefacts import is_artefact
from bagpack.corpus.format import is_unfinished
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Block, Slice, Source
from bagpack.corpus.text.encoding import decode, encoding_error
from bagpack.errors import BagpackError, InputError, UsageError
from bagpack.files import TOO_MANY_FILES, too_many_files

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

BLOCK = 4 << 20
AHEAD = 4  # blocks that are uncompressed before they are asked for
HEAD = 1 << 16
BOM = b"\xef\xbb\xbf"
PIECES, PIECE = 16, 1 << 18  # of a sample
READ = 1 << 18


# Finding ----------------------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A file, and whether the user named it; if not, it was found in a directory."""

    path: str
    named: bool = True
    ignored: str = ""  # why it is not read, of what was found in a directory


def expand(names: Iterable[str]) -> list[Named]:
    """Files behind the names: directories are walked, globs are expanded, both in sorted order.

    A file that two names lead to counts once: if the user named it twice, that is an error, in a directory it is
    ignored. What is ignored in a directory (other than hidden files) is in the list too, with the reason.
    """
    found: list[Named] = []
    for name in names:
        path = Path(name)
        if name == "-" or path.is_file():
            found.append(Named(name))
        elif path.is_dir() and is_artefact(path):
            raise InputError(
                f"{printable(name)} was made by BagPack and holds no text to index; name the texts, or use it as it is"
            )
        elif path.is_dir():
            inside = sorted(_files_below(path))
            if not inside:
                raise InputError(
                    f"the directory {printable(name)} holds no files; name files or another directory"
                )
            found.extend(inside)
        elif matches := sorted(m for m in glob.glob(name, recursive=True) if Path(m).is_file()):
            found.extend(map(Named, matches))
        elif path.exists() or path.is_symlink():
            raise InputError(
                f"{printable(name)} is not a file that can be read; name a regular file or a directory, or pipe it "
                f"into -"
            )
        else:
            raise InputError(f"there is no file {printable(name)}; check the name and the working directory")
    if not found:
        raise UsageError("no input was named; give files, directories, globs or - for standard input")
    return _each_once(found)


def _each_once(files: list[Named]) -> list[Named]:
    """Two names of one file: `a.txt` and `./a.txt`, or a link to it."""
    first: dict[object, Named] = {}
    kept: list[Named] = []

    def identity(file: Named) -> object:
        status = os.stat(file.path) if file.path != "-" else None
        return (status.st_dev, status.st_ino) if status else "-"

    # What the user named is meant, so a link to it in a directory is the one that is ignored.
    for file in sorted(files, key=lambda file: not file.named):
        if not file.ignored and (before := first.setdefault(identity(file), file)) is not file and file.named:
            same = "" if before.path == file.path else f" (as {printable(before.path)}, too)"
            raise UsageError(
                f"{printable(file.path)} is named twice{same}, so its text would count twice; name each file once"
            )
    for file in files:
        if not file.ignored and (other := first[identity(file)]) is not file:
            file = file._replace(ignored=f"the same file as {printable(other.path)}")
        kept.append(file)
    return kept


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
            elif is_unfinished(path):
                yield Named(str(path), False, "an unfinished build of BagPack")
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


# Decompressing ----------------------------------------------------------------------------------------------------


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
    """What compressed a file that begins like this, or nothing."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


# Reading ----------------------------------------------------------------------------------------------------------


def unreadable(name: str, error: OSError) -> BagpackError:
    """The error for a file that the operating system does not open."""
    if error.errno in TOO_MANY_FILES:
        return too_many_files(name)
    return InputError(f"{name} cannot be read: {error.strerror}; check the name and its permissions")


def open_plain(source: Source) -> IO[bytes]:
    """The uncompressed bytes of a source."""
    try:
        opened: IO[bytes] = OPENERS.get(source.compression, open)(source.path, "rb")
    except OSError as error:
        raise unreadable(source.name, error) from error
    return opened


def uncompressed(handle: IO[bytes], compression: str) -> IO[bytes]:
    """The uncompressed bytes of an open file."""
    return OPENERS[compression](handle, "rb") if compression else handle


def read_some(stream: IO[bytes], source: Source, size: int, offset: int) -> bytes:
    """Read up to `size` bytes; a truncated or damaged compressed file is an error with its name."""
    try:
        return stream.read(size)
    except EOFError as error:
        raise InputError(
            f"{source.name} ends in the middle of its {source.compression} data (after {offset:,} uncompressed "
            f"bytes); it is truncated: fetch it again"
        ) from error
    except DAMAGED as error:
        raise InputError(
            f"{source.name} is damaged near uncompressed byte {offset:,} ({error}); fetch it again"
        ) from error


def to_text(
    data: bytes, source: Source, options: TextOptions, place: Callable[[int], str]
) -> tuple[str, int]:
    """Bytes as text, and how many places of them were repaired: bytes that are not the encoding.

    Where such bytes are an error, it names the `place` of a byte.
    """
    try:
        return decode(data, source.encoding), 0
    except UnicodeDecodeError as error:
        if options.encoding_errors == "strict":
            raise encoding_error(place(error.start), error, source.encoding) from error
    marks = [
        decode(data, source.encoding, way).count("\N{REPLACEMENT CHARACTER}") for way in ("replace", "skip")
    ]
    return decode(data, source.encoding, options.encoding_errors), marks[0] - marks[1]


def read_head(source: Source, size: int = HEAD) -> bytes:
    """The first bytes of the uncompressed text, without a byte-order mark."""
    with open_plain(source) as stream:
        return read_some(stream, source, size, 0).removeprefix(BOM)


def sample(stream: IO[bytes], source: Source, head: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of runs of whole lines: all of a small file, several places of a large one.

    Of a compressed file, the first megabyte. `head` was read already.
    """
    whole = PIECES * PIECE
    if source.compression or source.size <= whole:
        size = 1 << 20 if source.compression else whole
        yield 0, _whole_lines(head + read_some(stream, source, size - len(head), len(head)))
        return
    for number in range(PIECES):
        offset = (source.size - PIECE) * number // (PIECES - 1)
        stream.seek(offset)
        piece = read_some(stream, source, PIECE, offset)
        start = piece.find(b"\n") + 1 if offset else 0
        yield offset + start, _whole_lines(piece[start:])


def _whole_lines(data: bytes) -> bytes:
    """Without the line at the end that may be incomplete; a text without a line feed as it is."""
    return data[: data.rfind(b"\n") + 1] or data


def blocks(part: Slice, options: TextOptions) -> Iterator[Block]:
    """Consecutive runs of whole lines; only the last may lack its newline."""
    source = part.source
    for offset, raw in _lines(part, options.max_line):
        data, repaired = raw.removeprefix(BOM) if offset == 0 else raw, 0
        if not data.isascii():
            text, repaired = to_text(data, source, options, _placed(source, offset))
            if repaired or source.encoding != "utf-8":
                data = text.encode()
        yield Block(offset, len(raw), data, repaired)


def _placed(source: Source, offset: int) -> Callable[[int], str]:
    return lambda at: place_at(source, offset + at)


def _lines(part: Slice, max_line: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of runs of whole lines."""
    source = part.source
    offset = part.start
    chunks = _chunks(source, part.start, part.end)
    if source.compression:
        chunks = _ahead(chunks)
    rest: list[bytes] = []  # the beginning of a line that has not ended yet
    length = 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        first = chunk.find(b"\n") if cut else len(chunk)
        if length + first > max_line:
            raise InputError(
                f"{place_at(source, offset)} is a line of more than {max_line >> 20} MiB; break the "
                f"text into lines (one paragraph each), or check that the file is text"
            )
        if cut == 0:
            rest.append(chunk)
            length += len(chunk)
            continue
        block = b"".join((*rest, memoryview(chunk)[:cut]))
        yield offset, block
        offset += len(block)
        rest = [chunk[cut:]]
        length = len(chunk) - cut
    if length:
        yield offset, b"".join(rest)


def _chunks(source: Source, start: int, end: int) -> Iterator[bytes]:
    with open_plain(source) as stream:
        if start:
            stream.seek(start)
        left = end - start if end >= 0 else -1
        offset = start
        while left:
            chunk = read_some(stream, source, BLOCK if left < 0 else min(BLOCK, left), offset)
            if not chunk:
                if left > 0:
                    raise InputError(f"{source.name} became shorter while it was read; index it again")
                return
            offset += len(chunk)
            left -= len(chunk) if left > 0 else 0
            yield chunk


def _ahead(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Read in a thread of its own: decompression releases the GIL, so it runs at the same time as the parser."""
    pool = ThreadPoolExecutor(1)
    try:
        waiting = deque(pool.submit(next, chunks, b"") for _ in range(AHEAD))
        while chunk := waiting.popleft().result():
            waiting.append(pool.submit(next, chunks, b""))
            yield chunk
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def place_at(source: Source, offset: int) -> str:
    """File and line, as messages name them, of a byte of the uncompressed text."""
    return f"{source.name}:{line_number(source, offset):,}"


def line_number(source: Source, offset: int) -> int:
    """1-based number of the line that holds this byte of the uncompressed text."""
    lines = 1
    with open_plain(source) as stream:
        while offset > 0:
            chunk = stream.read(min(BLOCK, offset))
            if not chunk:
                break
            lines += chunk.count(b"\n")
            offset -= len(chunk)
    return lines
