"""What all commands share at the terminal: sizes, times, messages, progress, JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(text: str, option: str) -> int:
    """Bytes from `2G`, `512M`, `1048576`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    if not found:
        raise UsageError(f"{option} {text} is not a size; write it like 512M or 2G")
    return int(float(found.group(1)) * UNITS[found.group(2)])


def show_size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def show_time(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def messages() -> Console:
    """For people: on standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def screen() -> Console:
    """Standard output, where text is shown as it is: no markup, no `:cat:` that becomes a picture."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def hang(console: Console, first: Text, rest: Text) -> None:
    """Print the rest beside the first; where it needs more lines, they stand below its beginning."""
    from rich.text import Text

    below = Text(" " * first.cell_len)
    for number, line in enumerate(rest.wrap(console, max(console.width - first.cell_len, 20))):
        line.rstrip()
        console.print((below if number else first) + line, soft_wrap=True)


def hang_parts(console: Console, first: Text, parts: Sequence[str]) -> None:
    """Print the parts one after the other; a line is broken only between two of them."""
    from rich.cells import cell_len
    from rich.text import Text

    width = max(console.width - first.cell_len, 20)
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} {part}".lstrip()
        if lines[-1] and cell_len(longer) > width:
            lines.append(part)
        else:
            lines[-1] = longer
    hang(console, first, Text("\n".join(lines)))


def literal(value: object) -> str:
    """A path or a word for `messages`, whose markup would otherwise swallow `[v2]` and break at `[/b]`."""
    from rich.markup import escape

    return escape(str(value))


def print_json(value: Any) -> None:
    """For machines: on standard output."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """A progress display on a terminal; None where there is none or it is unwanted."""
    console = messages()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        yield progress


@contextmanager
def counting_progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """For counts: a bar for the words and one for the pairs, each made when the first of them is done."""
    with progress_bar(quiet) as bar:
        if bar is None:
            yield None
            return
        tasks: dict[str, Any] = {}

        def update(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(f"counting {what}", total=total, note="")
            bar.update(tasks[what], advance=done, note=f"of {total:,}")

        yield update


def some_of(names: list[str], shown: int = 20) -> str:
    """The first names, for `messages`, and how many more there are."""
    more = len(names) - shown
    return literal(", ".join(names[:shown])) + (f" and {more:,} more (--json lists all)" if more > 0 else "")


def check_words(*words: str | None) -> None:
    """An empty word is a slip at the keyboard, not a word that the corpus lacks."""
    if any(word is not None and not word.strip() for word in words):
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")


def page_place(path: Path | None) -> Path | None:
    """For options that name a page: whether it can be written there is told before the work."""
    if path is not None:
        from bagpack.report.page import check_page

        check_page(path)
    return path
