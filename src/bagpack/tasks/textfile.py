"""Small text files, read whole: decompressed, decoded, and split into numbered lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from bagpack.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN = "-"
REFUSED_SHOWN = 10
MAX_BYTES = 256 << 20
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class TextFile:
    """The lines of a file without their line ends; line ``i`` of the file is ``lines[i - 1]``.

    A reader that can pass over a bad line hands it to ``refuse``, which raises; with ``lenient``, it keeps what is
    wrong by line, so that all of it can be told at once (``raise_refused``).
    """

    name: str
    lines: list[str]
    lenient: bool = False
    refused: dict[int, str] = field(default_factory=dict)
    uploaded: bool = False  # by someone who has no options to give

    @property
    def suffix(self) -> str:
        """The lower-case extension below any compression: ``.csv`` for ``pairs.CSV.gz``."""
        path = Path(self.name)
        if path.suffix.lower() in _COMPRESSED:
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
        told = [self.refused[line] for line in sorted(self.refused)]
        if len(told) > 1:
            more = [f"and {len(told) - REFUSED_SHOWN:,} more"] if len(told) > REFUSED_SHOWN else []
            raise InputError(
                "\n  ".join([f"{self.name} has {len(told):,} bad rows", *told[:REFUSED_SHOWN], *more])
            )
        if told:
            raise InputError(told[0])


def read_text_file(path: str | Path, lenient: bool = False) -> TextFile:
    r"""Read a UTF-8 text file, or standard input for ``-``.

    Files ending in .gz, .bz2, .xz and .zst are decompressed. A byte-order mark is dropped; lines end with
    ``\n``, ``\r\n`` or ``\r``. Only these end a line: U+2028 or a form feed inside a sentence do not.
    """
    name = "<stdin>" if str(path) == STDIN else str(path)
    data = sys.stdin.buffer.read() if str(path) == STDIN else _read_bytes(Path(path))
    file = decode_text(
        name, data, "convert the file first, for example: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
    )
    return replace(file, lenient=lenient)


def decode_text(name: str, data: bytes, cure: str) -> TextFile:
    """The lines of a file's bytes; `cure` says what to do about bytes that are not UTF-8."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{name}:{line}: byte 0x{data[error.start]:02x} is not UTF-8; {cure}") from None
    lines = text.split("\n")
    if "\0" in text:
        line = next(number for number, content in enumerate(lines, 1) if "\0" in content)
        raise InputError(
            f"{name}:{line}: there is a zero byte, so this is not plain text; "
            f"export it as tab-separated UTF-8 text"
        )
    return TextFile(name, lines)


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{path} is a directory; name one file in it")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    return _decompress(path, data)


def _decompress(path: Path, data: bytes) -> bytes:
    """Uncompressed bytes of a file with such an ending, in bounded memory: a few bytes can stand for gigabytes."""
    suffix = path.suffix.lower()
    openers: dict[str, Callable[[IO[bytes]], Any]] = {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": zstd.open,
    }
    if suffix not in openers:
        return data
    try:
        with openers[suffix](io.BytesIO(data)) as stream:
            plain: bytes = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstd.ZstdError):
        raise InputError(
            f"{path} is not a whole {suffix[1:]} file; fetch it again, or drop the ending if it is plain text"
        ) from None
    if len(plain) > MAX_BYTES:
        raise InputError(
            f"{path} has more than {MAX_BYTES >> 20} MiB once it is uncompressed; split it into several files"
        )
    return plain
