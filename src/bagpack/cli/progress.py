"""Progress on a terminal: one line per kind of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bagpack.console import messages

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

FREE = 2  # columns, for the ^C of the terminal: on a full line it would begin another one, and the first would stay
WORDS = {
    "basis": "choosing the basis",
    "features": "weighting the contexts",
    "folds": "training, folds",
    "model": "training on all rows",
    "negatives": "drawing negatives",
    "candidates": "enumerating candidates",
    "sentences": "looking for sentences",
    "queries": "asking the engine",
    "index": "filling the index",
}


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """A progress display on a terminal; None where there is none or it is unwanted."""
    console = messages()
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield None
        return
    from rich import progress

    console.width -= FREE
    columns = (
        progress.SpinnerColumn(), progress.TextColumn("{task.description}", markup=False), progress.BarColumn(),
        progress.TaskProgressColumn(), progress.TextColumn("{task.fields[note]}", markup=False),
        progress.TimeElapsedColumn(), progress.TextColumn("elapsed,"), progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
    )  # fmt: skip
    with progress.Progress(*columns, console=console, transient=True) as shown:
        yield shown


class Work:
    """Progress of work that reports `(what, how many more, of how many)`.

    On a terminal, each kind of work has a bar from its first report to its last. The total may be 0 where it is
    unknown; then a line is shown until something else begins. Elsewhere nothing is shown.
    """

    def __init__(self, bar: Progress | None) -> None:
        self.bar = bar
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take a report."""
        if self.bar is None:
            return
        if what not in self.tasks:
            for name in [name for name, task in self.tasks.items() if self.bar.tasks[task].total is None]:
                self.bar.update(self.tasks.pop(name), visible=False)  # work that does not report its end
            note = f"of {total:,}" if total else ""
            words = WORDS.get(what, f"counting {what}")
            self.tasks[what] = self.bar.add_task(words, total=total or None, note=note)
        task = self.tasks[what]
        self.bar.advance(task, done)
        if self.bar.tasks[task].finished:
            self.bar.update(self.tasks.pop(what), visible=False)
