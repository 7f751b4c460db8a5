"""Which files the user means: names, directories, globs and standard input."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bagpack.corpus.readers.base import COMPRESSIONS, Source
from bagpack.corpus.readers.io import unreadable
from bagpack.corpus.readers.sniff import nothing_in
from bagpack.errors import InputError, UsageError
from bagpack.files import PARTIAL

MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}


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
        raise UsageError(
            f"{printable(name)} is named twice, so its text would count twice; name each file once"
        )
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
        raise unreadable(printable(path), error) from error
    if status.st_size == 0:
        raise nothing_in(printable(path))
    compression = next((kind for mark, kind in MAGIC.items() if magic.startswith(mark)), "")
    named = COMPRESSIONS.get(Path(path).suffix.lower(), "")
    if named and named != compression:
        raise InputError(
            f"{printable(path)} is named .{named} but its first bytes are not {named}'s; rename it, or fetch it again"
        )
    return Source(path, status.st_size, status.st_mtime_ns, compression, label=label or printable(path))


def printable(path: str) -> str:
    """A path as it can be shown and stored: bytes that are not UTF-8 as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
