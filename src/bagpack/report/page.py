"""Pages that someone named: one that BagPack made may be replaced, anything else is left alone."""

from __future__ import annotations

import os
from pathlib import Path

from bagpack.errors import UsageError
from bagpack.files import is_stream, write_text

BEGINNING = b"<!doctype html>"
GENERATOR = b'<meta name="generator" content="BagPack'
HEAD = 2000  # bytes in which both stand


def check_page(path: Path) -> None:
    """Whether a page can be written here; told before the counting, not after it."""
    if is_stream(path):
        return
    if path.is_dir():
        raise UsageError(
            f"{path} is a directory, so no page can be written there; name a file, such as {path / 'report.html'}"
        )
    if path.exists() and not _is_page(path):
        raise UsageError(
            f"{path} exists already and is no page that BagPack made, so it is left alone; choose another name, or "
            f"remove it first"
        )
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise UsageError(
            f"{path} cannot be written: there is no directory {folder}; make it, or choose another place"
        )
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{path} cannot be written: {folder} is read-only; choose another place")


def write_page(path: Path, text: str) -> None:
    """Write the text of a page; see `check_page`."""
    check_page(path)
    write_text(path, text)


def _is_page(path: Path) -> bool:
    """An empty file holds nothing that could be lost."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return not head or (head.lower().startswith(BEGINNING) and GENERATOR in head)
