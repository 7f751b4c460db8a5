"""Pages that someone named: one that BagPack made may be replaced, anything else is refused."""

from __future__ import annotations

from pathlib import Path

from bagpack.files import check_file, write_text

BEGINNING = b"<!doctype html>"
GENERATOR = b'<meta name="generator" content="BagPack'


def check_page(path: Path) -> None:
    """Whether a page can be written here; checked before the counting."""
    check_file(path, "page", _is_page, "report.html")


def write_page(path: Path, text: str) -> None:
    """Write the text of a page; see `check_page`."""
    check_page(path)
    write_text(path, text)


def _is_page(head: bytes) -> bool:
    return head.lower().startswith(BEGINNING) and GENERATOR in head
