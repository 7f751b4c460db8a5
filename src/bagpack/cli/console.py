"""What all commands share at the terminal: sizes, times, messages, progress, JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bagpack.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

    from bagpack.contexts.source import ContextSource

HINTS = 6  # words offered for an unknown one
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


def tell(text: str | Text, style: str | None = None, console: Console | None = None) -> None:
    """A message as it is: broken between words on a terminal, elsewhere in one line."""
    console = console or messages()
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def tell_of(path: object, text: str) -> None:
    """A message about a path, which stands out."""
    from rich.text import Text

    tell(Text.assemble((str(path), "bold"), f": {text}"))


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
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    # Work of which nobody knows how much there is has no share and no end in sight.
    class Share(TextColumn):
        def __init__(self) -> None:
            super().__init__("{task.percentage:>3.0f} %")

        def render(self, task: Task) -> Text:
            return super().render(task) if task.total is not None else Text()

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            return Text("left ") + super().render(task) if task.total is not None else Text()

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        Share(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        Left(),
        console=console,
        transient=True,
    ) as progress:
        yield progress


class Work:
    """What is being done, as work that reports `(what, how many more, of how many)` lets it be seen.

    On a terminal, each kind of work has a bar from its first report to its last; of how many may be 0 where nobody
    knows, and then a line stands until something else begins. Elsewhere nothing is shown.
    """

    WORDS: ClassVar = {
        "basis": "picking the basis",
        "kernels": "compiling the counting kernels, on the first run here",
        "features": "weighting the contexts",
        "questions": "answering questions",
        "model": "training on all rows",
    }

    def __init__(self, bar: Progress | None) -> None:
        self.bar = bar
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take a report."""
        if self.bar is None:
            return
        if what not in self.tasks:
            self._clear()
            self.tasks[what] = self.bar.add_task(self._words(what, 0, total), total=total or None, note="")
        at = self.tasks[what]
        self.bar.advance(at, done)
        task = next(task for task in self.bar.tasks if task.id == at)
        note = f"of {total:,}" if total and not what.startswith("folds") else ""
        self.bar.update(at, description=self._words(what, int(task.completed), total), note=note)
        if task.finished:
            self.bar.remove_task(self.tasks.pop(what))

    def _words(self, what: str, done: int, total: int) -> str:
        kind, _, of = what.partition(" of ")
        if kind == "folds":
            return f"training{of and f' {of}'}, fold {min(done + 1, total):,} of {total:,}"
        return self.WORDS.get(what, f"counting {what}")

    def _clear(self) -> None:
        """Lines of work whose end nobody reports."""
        assert self.bar is not None
        for task in self.bar.tasks:
            if task.total is None:
                self.bar.remove_task(task.id)
        self.tasks = {what: task for what, task in self.tasks.items() if task in self.bar.task_ids}

    def say(self, text: str) -> None:
        """A line that stays, above the bars."""
        tell(text, "dim", self.bar.console if self.bar else None)


@contextmanager
def work_progress(quiet: bool) -> Iterator[Work]:
    """For commands that count and learn."""
    with progress_bar(quiet) as bar:
        yield Work(bar)


def many(count: int, one: str, more: str = "") -> str:
    """`1 document`, `2 documents`; a plural that is not made with -s is named."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def some_of(names: list[str], shown: int = 20) -> str:
    """The first names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more (--json lists all)" if more > 0 else "")


def check_words(*words: str | None) -> None:
    """An empty word is a slip at the keyboard, not a word that the corpus lacks."""
    if any(word is not None and not word.strip() for word in words):
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")


def hint_words(source: ContextSource, unknown: Iterable[str]) -> None:
    """On standard error, for each word that a corpus does not know, some that are written like it."""
    from bagpack.contexts.source import CorpusSource
    from bagpack.corpus.store.suggest import nearby

    if isinstance(source, CorpusSource):
        for word in unknown:
            if found := nearby(source.corpus, word, HINTS):
                listed = ", ".join(item.word for item in found)
                tell(f"some that are written like {word}: {listed}", "dim")


def page_place(path: Path | None) -> Path | None:
    """For options that name a page: whether it can be written there is told before the work."""
    if path is not None:
        from bagpack.report.page import check_page

        check_page(path)
    return path
