"""Where the text comes from: files, directories, globs and standard input, plain or compressed.

A `Source` is one file; a `Slice` is the part of it that one worker reads by itself. Blocks are whole lines with
their byte offset in the uncompressed file, so that an error can name the line.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import queue
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from bagpack.corpus.options import MAX_LINE
from bagpack.corpus.readers.sniff import nothing_in
from bagpack.errors import InputError, UsageError
from bagpack.files import PARTIAL

BLOCK = 4 << 20
HEAD = 1 << 16
BOM = b"\xef\xbb\xbf"
EXPANSION = 4  # text grows about fourfold when it is uncompressed

MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
SUFFIXES = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}


@dataclass(frozen=True)
class Source:
    """One input file as the user named it."""

    path: str
    size: int
    modified: int
    compression: str
    format: str = ""
    label: str = ""  # what to call it instead of its path

    @property
    def name(self) -> str:
        """What documents and messages call it."""
        return self.label or self.path

    @property
    def stem(self) -> str:
        """The file name without a compression suffix, lower-cased, for recognising formats."""
        name = Path(self.path).name.lower()
        for suffix in SUFFIXES:
            name = name.removesuffix(suffix)
        return name


@dataclass(frozen=True)
class Slice:
    """Bytes (or row groups) start..end of one source; end -1 is the source's end."""

    source: Source
    start: int = 0
    end: int = -1
    document: str | None = None  # the document that is open at `start`
    first_line: int = 0  # lines before `start`, where the reader names documents by line


class Named(NamedTuple):
    """A file, and whether it was named by hand; if not, it was found in a directory."""

    path: str
    by_hand: bool = True


def expand(names: Iterable[str]) -> list[Named]:
    """Files behind the names: directories are walked, globs are expanded, both in sorted order."""
    found: list[Named] = []
    for name in names:
        path = Path(name)
        if name == "-" or path.is_file():
            found.append(Named(name))
        elif path.is_dir() and (path / "manifest.json").is_file() and (path / "shards").is_dir():
            raise InputError(
                f"{name} is a corpus that is indexed already; name its texts, or use it as it is"
            )
        elif path.is_dir():
            inside = sorted(_files_below(path))
            if not inside:
                raise InputError(f"the directory {name} holds no files; name files or another directory")
            found.extend(Named(file, by_hand=False) for file in inside)
        elif matches := sorted(m for m in glob.glob(name, recursive=True) if Path(m).is_file()):
            found.extend(map(Named, matches))
        elif path.exists() or path.is_symlink():
            raise InputError(
                f"{name} is not a file that can be read; name a regular file or a directory, or pipe it into -"
            )
        else:
            raise InputError(f"there is no file {name}; check the name and the working directory")
    if not found:
        raise UsageError("no input was named; give files, directories, globs or - for standard input")
    name, times = Counter(file.path for file in found).most_common(1)[0]
    if times > 1:
        raise UsageError(f"{name} is named twice, so its text would count twice; name each file once")
    return found


def _files_below(top: Path) -> Iterator[str]:
    """Files of a directory tree, without hidden ones and without stores (one may be in the making there)."""
    for directory, inner, names in os.walk(top):
        inner[:] = [
            name
            for name in inner
            if not name.startswith(".")
            and not name.endswith(PARTIAL)
            and not os.path.exists(os.path.join(directory, name, "manifest.json"))
        ]
        for name in names:
            path = os.path.join(directory, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def inspect(path: str, label: str = "") -> Source:
    """Size and compression of one file; a sentence if it cannot be read."""
    try:
        with open(path, "rb") as handle:
            magic = handle.read(6)
            status = os.fstat(handle.fileno())
    except OSError as error:
        raise _unreadable(path, error) from error
    if status.st_size == 0:
        raise nothing_in(path)
    compression = next((kind for mark, kind in MAGIC.items() if magic.startswith(mark)), "")
    named = SUFFIXES.get(Path(path).suffix.lower(), "")
    if named and named != compression:
        raise InputError(
            f"{path} is named .{named} but its first bytes are not {named}'s; rename it, or fetch it again"
        )
    return Source(path, status.st_size, status.st_mtime_ns, compression, label=label)


def _unreadable(name: str, error: OSError) -> InputError:
    return InputError(f"{name} cannot be read: {error.strerror}; check the name and its permissions")


def open_plain(source: Source) -> IO[bytes]:
    """The uncompressed bytes of a source."""
    try:
        if source.compression == "gz":
            return gzip.open(source.path, "rb")  # type: ignore[return-value]
        if source.compression == "bz2":
            return bz2.open(source.path, "rb")
        if source.compression == "xz":
            return lzma.open(source.path, "rb")
        if source.compression == "zst":
            return io.BufferedReader(_ZstdFile(source.path), 1 << 17)
        return open(source.path, "rb")
    except OSError as error:
        raise _unreadable(source.name, error) from error


class _ZstdFile(io.RawIOBase):
    """A .zst file of any number of frames; zstandard's own reader takes a truncated one for a short one."""

    def __init__(self, path: str) -> None:
        import zstandard

        self._fresh = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._fresh()
        self._in_frame = False
        self._ready = b""
        self._file = open(path, "rb")  # noqa: SIM115 (closed with this object)

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            rest = self._frame.unused_data if self._frame.eof else b""
            data = rest or self._file.read(1 << 16)
            if self._frame.eof:
                self._frame = self._fresh()
                self._in_frame = False
            if not data:
                if self._in_frame:
                    raise EOFError
                return 0
            self._in_frame = True
            self._ready = self._frame.decompress(data)
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def read_some(stream: IO[bytes], source: Source, size: int, offset: int) -> bytes:
    """Read up to `size` bytes; a truncated or damaged compressed file becomes a sentence."""
    import zstandard

    try:
        return stream.read(size)
    except EOFError as error:
        raise InputError(
            f"{source.name} ends in the middle of its {source.compression} data (after {offset:,} uncompressed "
            f"bytes); it is truncated: fetch it again"
        ) from error
    except (OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
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


def blocks(part: Slice, max_line: int = MAX_LINE) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of consecutive runs of whole lines; only the last may lack its newline."""
    source = part.source
    offset = 0
    if source.compression:
        if part.start:
            raise AssertionError("a compressed source is read from its start")
        chunks = _ahead(_chunks(source, 0, -1))
    else:
        offset = part.start
        chunks = _chunks(source, part.start, part.end)
    rest = b""
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut == 0:
            rest += chunk
            if len(rest) > max_line:
                raise _long_line(source, offset, max_line)
            continue
        block = rest + chunk[:cut]
        if len(rest) + chunk.find(b"\n") > max_line:
            raise _long_line(source, offset, max_line)
        yield offset, block
        offset += len(block)
        rest = chunk[cut:]
    if rest:
        yield offset, rest


def _long_line(source: Source, offset: int, max_line: int) -> InputError:
    return InputError(
        f"{place_at(source, offset)} is a line of more than {max_line >> 20} MiB; break the "
        f"text into lines (one paragraph each), or check that the file is text"
    )


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


def _ahead(chunks: Iterator[bytes], depth: int = 4) -> Iterator[bytes]:
    """Read in a thread of its own: decompression releases the GIL, so it runs beside the parser."""
    waiting: queue.Queue[bytes | BaseException | None] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> bool:
        while not stopped.is_set():
            with suppress(queue.Full):
                waiting.put(item, timeout=0.1)
                return True
        return False

    def fill() -> None:
        try:
            for chunk in chunks:
                if not put(chunk):
                    return
            put(None)
        except BaseException as error:  # handed to the reading thread
            put(error)

    threading.Thread(target=fill, daemon=True).start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()


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
