"""gzip, bzip2, xz and zstd: which of them a file is, and how it is opened."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

# Each takes a path or an open file.
OPENERS: dict[str, Callable[..., Any]] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": zstd.open,
}
SUFFIXES = tuple(f".{kind}" for kind in OPENERS)
DAMAGED = (OSError, zlib.error, lzma.LZMAError, zstd.ZstdError)  # and EOFError, if the end is missing
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}


def compression_of(head: bytes) -> str:
    """What compressed a file that begins like this, or nothing."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
