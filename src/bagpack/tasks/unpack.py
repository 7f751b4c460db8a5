"""Decompression with a bound: a file of a few kilobytes may unpack to more than the memory holds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_BYTES = 256 << 20  # of a data set, unpacked: some ten million pairs
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
SUFFIXES = tuple(_MAGIC.values())


class TooLargeError(ValueError):
    """More than `MAX_BYTES`."""


def compression_of(data: bytes) -> str:
    """The usual suffix of what compressed these bytes, or nothing."""
    return next((suffix for magic, suffix in _MAGIC.items() if data.startswith(magic)), "")


def unpack(data: bytes, suffix: str, limit: int = MAX_BYTES) -> bytes:
    """The decompressed bytes.

    Raises
    ------
    TooLargeError
        If there are more than ``limit`` bytes; no more than that is ever held.
    ValueError
        If the data is not whole.
    """
    openers: dict[str, Callable[[io.BytesIO], Any]] = {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": zstd.open,
    }
    try:
        with openers[suffix](io.BytesIO(data)) as stream:
            plain: bytes = stream.read(limit + 1)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstd.ZstdError) as error:
        raise ValueError(str(error)) from None
    if len(plain) > limit:
        raise TooLargeError
    return plain
