"""Sections on a terminal: sentences, and tables that are never wider than it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from bagpack.console import screen
from bagpack.evaluate.result import Evaluation
from bagpack.numbers import show_share
from bagpack.report.sections import Cell, Pair, Section, Table, sections_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

EDGES, BETWEEN = 4, 3  # columns of a terminal that a table takes at its edges, and before each further one
STYLES = {"baseline": "italic", "reference": "dim", "right": "green", "wrong": "red", "guessed": "yellow"}


def print_result(found: Evaluation, console: Console | None = None) -> None:
    """Print an evaluation, on standard output unless a console is given."""
    console = console or screen()
    named = " on ".join(part["path"] for part in (found.data, found.corpus) if part.get("path"))
    console.print(Text.assemble((found.kind.capitalize(), "bold"), (f"  {named}", "dim")))
    if found.tested_rows < found.rows:
        share = show_share(found.tested_rows, found.rows)
        console.print(f"{found.tested_rows:,} of {found.rows:,} rows tested ({share})", markup=False)
    for section in sections_of(found):
        for part in _section(section, console.width):
            console.print(part)


def _section(section: Section, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    table = _pair_table(section.pairs) if section.pairs else section.table
    whole_or_none = section.folded and not section.more
    if table is not None and whole_or_none and section.rows and len(table.rows) > section.rows:
        parts.append(Text(f"{section.title}: {len(table.rows)} rows, shown by --report and --json\n"))
    elif table is not None and section.rows != 0:
        shown = Table(table.columns, list(table.rows)[: section.rows], table.left)
        parts += split_table("" if section.title == "Scores" else section.title, shown, width)
        if section.more and not section.pairs:
            parts.append(Text(section.more, style="dim"))
    for sentence in section.say:
        parts.append(Text(sentence, style="yellow" if sentence.startswith("Note: ") else ""))
    return parts


def _pair_table(pairs: Sequence[Pair]) -> Table:
    """Mistakes as a table: what was predicted, and how sure or how wrong."""
    rows = [
        [Cell(pair.name), *map(Cell, (pair.label, pair.predicted, pair.sure, pair.times))] for pair in pairs
    ]
    ratings = any(pair.sure[:1] in "+−" for pair in pairs)
    columns = ("rating", "predicted", "error") if ratings else ("label", "predicted", "probability")
    return Table(["pair", *columns, "seen"], rows)


def split_table(title: str, table: Table, width: int) -> list[RenderableType]:
    """The table; columns that do not fit into the width are in a table below, so that nothing is cut."""
    wide = []
    for at, head in enumerate(table.columns):
        words = head.split() if at else [head]  # headings may be wrapped
        cells = [row[at] for row in table.rows]
        lines = [*(cell.text for cell in cells), *(cell.note for cell in cells if at)]
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


def _table(title: str, table: Table, columns: Sequence[int], wide: Sequence[int] | None) -> RichTable:
    # A title is wrapped to the width of its table, so a table is no narrower than its title.
    heading = Text(title, style="bold") if title else None
    made = RichTable(title=heading, title_justify="left", box=SIMPLE_HEAD, min_width=len(title))
    for at in columns:
        made.add_column(
            Text(table.columns[at]), justify="right" if at >= table.left else "left", overflow="fold",
            min_width=min(wide[at], 60) if wide and at else None,
        )  # fmt: skip
    before = ""
    for row in table.rows:
        if row[0].style != before and row[0].style in ("baseline", "reference"):
            made.add_section()
        before = row[0].style
        made.add_row(*(_cell(row[at], at) for at in columns))
    return made


def _cell(cell: Cell, at: int) -> Text:
    """The text, and the note below it; what a condition means is on pages alone."""
    text = Text(cell.text, style=STYLES.get(cell.style, "bold" if at == 1 and cell.note else ""))
    if cell.note and at:
        text.append(f"\n{cell.note}", style="not bold dim")
    return text
