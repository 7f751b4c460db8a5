"""Text for people and JSON for programs: one place through which everything reaches the terminal.

Corpora and data files may contain control characters, and a terminal obeys them: an escape sequence in a sentence
could recolour the screen, set the window title or hide a line. :class:`CleanConsole` shows them as visible signs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from bagpack.numbers import many as many

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# All control characters but tab and newline, the overrides of writing direction, and bytes of names that are not UTF-8.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with control characters as visible signs; tabs and newlines are kept."""
    return _CONTROLS.sub(_visible, text)


def one_line(text: str) -> str:
    """The text with tabs and line breaks as visible signs, as in a cell of a table."""
    return re.sub(r"[\t\r\n]", _visible, text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


@cache
def _clean_console() -> type[Console]:
    """The class, made when it is first needed: importing rich takes longer than `bagpack --help` should."""
    from rich.console import Console, RenderableType
    from rich.segment import Segment

    class CleanConsole(Console):
        def render(self, renderable: RenderableType, options: Any = None) -> Iterable[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(clean(part.text), part.style)

        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 (called while it is handled; rich itself would exit with 1)

    return CleanConsole


def messages() -> Console:
    """For people: on standard error, so that output can be piped."""
    return _clean_console()(stderr=True, highlight=False, emoji=False)


def screen() -> Console:
    """Standard output; text is shown as it is: no markup, no `:cat:` that becomes a picture."""
    return _clean_console()(highlight=False, markup=False, emoji=False)


def write(text: str) -> None:
    """Plain output such as TSV: unchanged into a file or a pipe, cleaned for a terminal."""
    sys.stdout.write(clean(text) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """For programs: on standard output. Controls are escaped, as JSON allows for every character."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    sys.stdout.write(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def print_message(text: str | Text, style: str | None = None, console: Console | None = None) -> None:
    """Print a message without markup; it wraps between words on a terminal and is one line elsewhere."""
    console = console or messages()
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def show_time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def some_of(names: Sequence[str], shown: int = 20) -> str:
    """The first names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more (--json lists all)" if more > 0 else "")
