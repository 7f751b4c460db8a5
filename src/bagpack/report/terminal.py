"""Sections on a terminal: sentences, and tables that are never wider than it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bagpack.console import screen
from bagpack.evaluate.result import Evaluation
from bagpack.report.sections import Cell, Pair, Section, Table, headline, sections_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as RichTable

EDGES, BETWEEN = 4, 3  # columns of a terminal that a table takes at its edges, and before each further one
STYLES = {"baseline": "italic", "reference": "dim", "right": "green", "wrong": "red", "guessed": "yellow"}


def print_result(found: Evaluation, console: Console | None = None) -> None:
    """Print an evaluation, on standard output unless a console is given."""
    console = console or screen()
    for part in result_parts(found, console.width):
        console.print(part)


def result_parts(found: Evaluation, width: int) -> list[RenderableType]:
    """What is printed, in reading order."""
    from rich.text import Text

    title, named, tested = headline(found)
    head = Text(title, style="bold")
    if named:
        head.append(f"  {named}", style="not bold dim")
    if tested:
        head.append(f"\n{tested}", style="not bold")
    parts: list[RenderableType] = [head]
    for section in sections_of(found):
        parts += _section(section, width)
    return parts


def _section(section: Section, width: int) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    table = _pair_table(section.pairs) if section.pairs else section.table
    if table is not None and section.rows != 0:
        shown = Table(table.columns, list(table.rows)[: section.rows], table.left)
        parts += split_table("" if section.title == "Scores" else section.title, shown, width)
        if section.more and section.table is not None and section.rows and len(table.rows) > section.rows:
            parts.append(Text(section.more, style="dim"))
    elif table is not None and section.folded and len(table.rows) > 1 and section.plot is not None:
        parts.append(Text(f"{section.title}: {len(table.rows)} rows, shown by --report and --json\n"))
    for sentence in section.say:
        parts.append(Text(sentence, style="yellow" if sentence.startswith("Note: ") else ""))
    return parts


def _pair_table(pairs: Sequence[Pair]) -> Table:
    """Mistakes as a table: what was predicted, and how sure or how wrong."""
    rows = [
        [Cell(pair.name), Cell(pair.label), Cell(pair.predicted), Cell(pair.sure), Cell(pair.count)]
        for pair in pairs
    ]
    ratings = any(pair.sure[:1] in "+−" for pair in pairs)
    columns = ("rating", "predicted", "error") if ratings else ("label", "predicted", "probability")
    return Table(["pair", *columns, "seen"], rows)


def split_table(title: str, table: Table, width: int) -> list[RenderableType]:
    """The table; columns that do not fit into the width are in a table below, so that nothing is cut."""
    cells = [[_plain(cell) for cell in row] for row in table.rows]
    wide = []
    for at, head in enumerate(table.columns):
        words = head.split() if at else [head]  # headings may be wrapped
        lines = [line for row in cells for line in row[at].split("\n")]
        wide.append(max(map(cell_len, [*words, *lines]), default=0))
    parts: list[RenderableType] = []
    waiting = list(range(1, len(table.columns)))
    while waiting:
        taken: list[int] = []
        used = wide[0] + EDGES
        for at in waiting:
            used += wide[at] + BETWEEN
            if taken and used > width and table.left == 1:
                break
            taken.append(at)
        parts.append(_table(title, table, [0, *taken], wide if table.left == 1 else None))
        waiting, title = waiting[len(taken) :], ""
    return parts


def _plain(cell: Cell) -> str:
    return f"{cell.text}\n{cell.note}" if cell.note and not cell.mark else cell.text


def _table(title: str, table: Table, columns: Iterable[int], wide: Sequence[int] | None) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    # A title is wrapped to the width of its table, so a table is no narrower than its title.
    heading = Text(title, style="bold") if title else None
    made = RichTable(title=heading, title_justify="left", box=SIMPLE_HEAD, min_width=len(title))
    chosen = list(columns)
    for at in chosen:
        right = at >= table.left
        made.add_column(
            Text(table.columns[at]), justify="right" if right else "left", overflow="fold",
            min_width=min(wide[at], 60) if wide and at else None,
        )  # fmt: skip
    before = ""
    for row in table.rows:
        if row[0].style != before and row[0].style in ("baseline", "reference"):
            made.add_section()
        before = row[0].style
        made.add_row(*(_cell(row[at], at == 1 and at >= table.left) for at in chosen))
    return made


def _cell(cell: Cell, first: bool) -> RenderableType:
    from rich.text import Text

    style = STYLES.get(cell.style, "bold" if first and cell.note else "")
    text = Text(cell.text, style=style)
    if cell.note and not cell.mark:
        text.append(f"\n{cell.note}", style="not bold dim")
    return text
