"""Files that are not text: an error where the user named the file, skipped inside a directory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bagpack.corpus.store.manifest import LeftOut
from bagpack.errors import InputError

CONVERT = "convert it to plain text first"
NUL_WITHIN = 4096
SHOWN = 5
MAX_COMMENTS = 20  # before the first element of a page

_HTML = re.compile(rb"<(!doctype\s+html|html)[\s>]", re.IGNORECASE)
_ISO_2022 = re.compile(rb"\x1b\$[()@AB]")  # the escape sequences that switch to a set of two-byte characters


class UnsuitableError(InputError):
    """A file that holds no text; `reason` is reported if it is skipped."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def check_text(name: str, head: bytes) -> None:
    """Refuse what begins as documents, archives and pictures do; `head` is what no reader knows."""
    if head.startswith(b"%PDF"):
        raise UnsuitableError(f"{name} is a PDF file, not text; {CONVERT}", "a PDF file")
    if head.startswith(b"PK\x03\x04"):
        raise UnsuitableError(
            f"{name} is a zip archive (docx, odt and epub files are, too), not text; {CONVERT}",
            "a zip archive",
        )
    if _is_html(head):
        raise UnsuitableError(
            f"{name} is an HTML page, whose tags would be counted as words; {CONVERT}, or take it as it is with "
            f"--format text",
            "an HTML page",
        )
    if b"\0" in head[:NUL_WITHIN]:
        raise UnsuitableError(
            f"{name} does not look like text (it holds NUL bytes); convert it to UTF-8 text, or name its --format",
            "not text: NUL bytes",
        )
    if _ISO_2022.search(head):
        raise UnsuitableError(
            f"{name} is in an ISO-2022 encoding, whose bytes look like ASCII; convert it to UTF-8 (iconv -f "
            f"ISO-2022-JP -t UTF-8)",
            "not UTF-8: ISO-2022",
        )


def _is_html(head: bytes) -> bool:
    """Whether the first element, after an XML declaration and comments, is HTML's."""
    rest = head.lstrip()
    for opening, closing in ((b"<?xml", b">"), *((b"<!--", b"-->"),) * MAX_COMMENTS):
        if rest.startswith(opening):
            rest = rest.partition(closing)[2].lstrip()
    return _HTML.match(rest) is not None


def say_left_out(files: Sequence[LeftOut], all_in: str = "") -> str:
    """A message with their number and the first few; `all_in` is the command that lists them all."""
    count = "1 file was" if len(files) == 1 else f"{len(files):,} files were"
    shown = [f"{file.path} ({file.reason})" for file in files[:SHOWN]]
    more = f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else ""
    where = f" ({all_in} names them all)" if more and all_in else ""
    return f"{count} skipped: {', '.join(shown)}{more}{where}"
