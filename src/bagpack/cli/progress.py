"""Progress on a terminal: one line per kind of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from bagpack.console import messages

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

FREE = 2  # columns, for the ^C of the terminal: on a full line it would begin another one, and the first would stay


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
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[note]}", markup=False),
        progress.TimeElapsedColumn(),
        progress.TextColumn("elapsed,"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
    )
    with progress.Progress(*columns, console=console, transient=True) as shown:
        yield shown


class Work:
    """Progress of work that reports `(what, how many more, of how many)`.

    On a terminal, each kind of work has a bar from its first report to its last. The total may be 0 where it is
    unknown; then a line is shown until something else begins. Elsewhere nothing is shown.
    """

    WORDS: ClassVar = {
        "basis": "choosing the basis",
        "features": "weighting the contexts",
        "questions": "answering questions",
        "model": "training on all rows",
        "negatives": "drawing negatives",
        "candidates": "enumerating candidates",
        "sentences": "looking for sentences",
        "queries": "asking the engine",
        "index": "filling the index",
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
        """Remove lines of work that does not report its end."""
        assert self.bar is not None
        for task in self.bar.tasks:
            if task.total is None:
                self.bar.remove_task(task.id)
        self.tasks = {what: task for what, task in self.tasks.items() if task in self.bar.task_ids}


@contextmanager
def work_progress(quiet: bool) -> Iterator[Work]:
    """For commands that count and learn."""
    with progress_bar(quiet) as bar:
        yield Work(bar)
