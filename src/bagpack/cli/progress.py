"""Progress on a terminal: one line per kind of work, at most as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from bagpack.console import messages

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SPINNER = 2  # columns
FREE = 2  # columns, for the ^C of the terminal: on a full line it would begin another one, and the first would stay
BAR, WIDEST_BAR = 5, 40


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """A progress display on a terminal; None where there is none or it is unwanted."""
    console = messages()
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield None
        return
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task
    from rich.text import Text

    class Line(ProgressColumn):
        """All of a task in one column, which is as wide as the terminal allows."""

        max_refresh = None

        def render(self, task: Task) -> Text:
            share = None if task.total is None else min(task.percentage / 100, 1.0)
            line = progress_line(
                console.width - SPINNER - FREE, task.description, share, task.fields["note"], task.elapsed or 0.0,
                task.time_remaining,
            )  # fmt: skip
            return Text(line, no_wrap=True)

    with Progress(SpinnerColumn(), Line(), console=console, transient=True) as progress:
        yield progress


def progress_line(
    width: int, description: str, share: float | None, note: str, elapsed: float, left: float | None
) -> str:
    """One line of at most `width` columns: what, how much of it is done, and the two times with their names.

    The bar takes the space that is left; if there is none, the note and then the description are dropped. Work of
    unknown size has no bar and no remaining time.

    >>> progress_line(60, "counting pairs", 0.5, "of 200", 61, 60)
    'counting pairs ━━━────  50 % of 200  1:01 elapsed, 1:00 left'
    """
    from rich.cells import cell_len

    times = f"{_clock(elapsed)} elapsed"
    if share is not None:
        times += f", {'-:--' if left is None else _clock(left)} left"
    percent = [] if share is None else [f"{100 * share:3.0f} %"]

    def line(*parts: str) -> str:
        return " ".join([*(part for part in parts if part), f" {times}"])

    for parts in ((description, *percent, note), (description, *percent)):
        space = width - cell_len(line(*parts)) - 1
        if space >= -1:
            break
    else:
        keep = width - cell_len(line(*percent)) - 2
        return line(f"{description[: max(keep, 0)]}…", *percent)
    if share is None or space < BAR:
        return line(*parts)
    full = min(space, WIDEST_BAR)
    done = int(share * full)
    return line(parts[0], "━" * done + "─" * (full - done), *parts[1:])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


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
