"""Which files the user means: names, directories, globs and standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bagpack.artefacts import LOCK, is_artefact
from bagpack.corpus.readers.base import Source
from bagpack.corpus.readers.compression import SUFFIXES, compression_of
from bagpack.corpus.readers.io import unreadable
from bagpack.corpus.readers.sniff import UnsuitableError
from bagpack.errors import InputError, UsageError
from bagpack.files import PARTIAL


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
            elif name.endswith(PARTIAL) and (path / LOCK).exists():
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


def inspect(path: str, label: str = "") -> Source:
    """Size and compression of one file; an error if it cannot be read."""
    try:
        with open(path, "rb") as handle:
            compression = compression_of(handle.read(6))
            status = os.fstat(handle.fileno())
    except OSError as error:
        raise unreadable(printable(path), error) from error
    if status.st_size == 0:
        raise UnsuitableError(f"{printable(path)} is empty; remove it, or check how it was made", "empty")
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES and suffix != f".{compression}":
        raise InputError(
            f"{printable(path)} has the suffix {suffix} but does not contain {suffix[1:]} data; rename it, or fetch it "
            f"again"
        )
    return Source(path, status.st_size, status.st_mtime_ns, compression, label=label or printable(path))


def printable(path: str) -> str:
    """A path as it can be shown and stored: bytes that are not UTF-8 as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
