"""Opening, decompressing and reading sources in blocks of whole lines, in bounded memory whatever they hold.

Blocks carry their byte offset in the uncompressed text, so that an error can name the line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from bagpack.corpus.options import MAX_LINE
from bagpack.corpus.readers.base import Slice, Source
from bagpack.corpus.readers.compression import DAMAGED, OPENERS
from bagpack.errors import BagpackError, InputError
from bagpack.files import TOO_MANY_FILES, too_many_files

BLOCK = 4 << 20
AHEAD = 4  # blocks that are uncompressed before they are asked for
HEAD = 1 << 16
BOM = b"\xef\xbb\xbf"
PIECES, PIECE = 16, 1 << 18  # of a sample


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


def without_mark(offset: int, block: bytes) -> tuple[int, bytes]:
    """A block without the byte-order mark that a file may begin with."""
    if offset == 0 and block.startswith(BOM):
        return len(BOM), block[len(BOM) :]
    return offset, block


def read_head(source: Source, size: int = HEAD) -> bytes:
    """The first bytes of the uncompressed text, without a byte-order mark."""
    with open_plain(source) as stream:
        return read_some(stream, source, size, 0).removeprefix(BOM)


def sample(source: Source) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of runs of whole lines: all of a small file, several places of a large one.

    Of a compressed file, the first megabyte.
    """
    whole = PIECES * PIECE
    with open_plain(source) as stream:
        if source.compression or source.size <= whole:
            yield 0, _whole_lines(read_some(stream, source, 1 << 20 if source.compression else whole, 0))
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


def blocks(part: Slice, max_line: int = MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of consecutive runs of whole lines; only the last may lack its newline."""
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
