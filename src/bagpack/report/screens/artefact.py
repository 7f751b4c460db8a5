"""The facts about a store, snippets, a matrix, a model or a basis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bagpack.console import screen
from bagpack.numbers import many, metric_label

if TYPE_CHECKING:
    from bagpack.report.sections import Table

KEYS, ITEMS = 20, 5  # of a mapping, of a list
NAME = 18  # columns; longer names are wrapped, so that most of a terminal is for the values


def show_artefact(facts: dict[str, Any]) -> None:
    """Print the facts as a table; a model's scores below it."""
    from rich.table import Table as RichTable
    from rich.text import Text

    facts = dict(facts)
    scores = facts.pop("scores", None)
    if "attributes" in facts:
        facts["attributes"] = "\n".join(_attribute(name, own) for name, own in facts["attributes"].items())
    if "labels" in facts:
        facts["labels"] = ", ".join(facts["labels"])
    table = RichTable(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", max_width=NAME)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in ([], {}, ""):
            table.add_row(name.replace("_", " "), Text(_cell(value)))
    out = screen()
    out.print(table)
    if scores:
        from bagpack.report.terminal import split_table

        for part in split_table("", _score_table(scores), out.width):
            out.print(part)


def _score_table(scores: dict[str, Any]) -> Table:
    """The scores that a model was saved with."""
    from bagpack.evaluate.result import Score
    from bagpack.report.sections import Cell, Table, score_cell

    metrics = list(dict.fromkeys(metric for row in scores.values() for metric in row))
    rows = []
    for name, own in scores.items():
        found = {
            key: Score(_number(value.get("mean")), _number(value.get("low")), _number(value.get("high")))
            for key, value in own.items()
        }
        rows.append([Cell(name), *(score_cell(found.get(metric), metric) for metric in metrics)])
    return Table(["condition", *map(metric_label, metrics)], rows)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _attribute(name: str, facts: dict[str, Any]) -> str:
    """An attribute of documents, in one line or two: its values, unless nearly every document has its own."""
    counted = f"{name}: {many(facts['values'], 'value')} in {many(facts['documents'], 'document')}"
    if "from" in facts:
        return f"{counted}, {facts['from']} to {facts['to']}"
    if 2 * facts["values"] > facts["documents"] > ITEMS:
        return counted
    shown = [f"{value} {count:,}" for value, count in facts["most_frequent"].items()]
    return f"{counted}: {', '.join(shown)}{', …' if facts['values'] > len(shown) else ''}"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        shown = [
            f"{name} ({_cell(inner)})" if isinstance(inner, dict) else f"{name} {_cell(inner)}"
            for name, inner in list(value.items())[:KEYS]
        ]
        return ", ".join([*shown, *([f"and {len(value) - KEYS:,} more"] if len(value) > KEYS else [])])
    if isinstance(value, list):
        shown = [_cell(inner) for inner in value[:ITEMS]]
        return "\n".join([*shown, *([f"… and {len(value) - ITEMS:,} more"] if len(value) > ITEMS else [])])
    return str(value)
