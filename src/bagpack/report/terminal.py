"""The same result on a terminal: scores, baselines, comparisons, buckets and coverage in a few tables."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bagpack import numbers
from bagpack.console import screen
from bagpack.evaluate.predictions import mistakes
from bagpack.evaluate.schema import Breakdown, EvaluationResult, check_result, without_nan
from bagpack.numbers import many
from bagpack.report.pairs import show_pair
from bagpack.report.questions import GUESSED, MARKS, RIGHT, WRONG, AnsweredQuestion, answered_questions
from bagpack.report.reliability import abstention_sentence, curve_sentence
from bagpack.report.result import (
    ScoreRow,
    comparison_rows,
    coverage_rows,
    label_of_metric,
    metric_names,
    score_rows,
    score_text,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

_EDGES, _BETWEEN = 4, 3  # columns of a terminal that a table takes at its edges, and before each further one
_QUESTIONS = 10  # that are shown
_LISTED = 8  # words or pairs of a list that are shown
_MISTAKES = 5  # that are shown
_STYLES = {"condition": "", "baseline": "italic", "reference": "dim"}
_MANY_ROWS = 40  # of a breakdown, which are left to the report


def print_result(result: EvaluationResult, console: Console | None = None) -> None:
    """Print the result's tables, on standard output unless a console is given."""
    console = console or screen()
    for part in result_tables(result):
        console.print(part)


def result_tables(result: EvaluationResult) -> list[RenderableType]:
    """The tables, in reading order; what the result does not have is omitted."""
    from rich.text import Text

    result = check_result(without_nan(result), "the result")
    parts: list[RenderableType] = [_headline(result), ScoreTables(result)]
    questions = answered_questions(result)
    if questions:
        parts += _picks(questions)
    if result.get("comparisons"):
        parts.append(_comparisons(result))
    for breakdown, title in (
        (result.get("buckets"), "By how often the pair was seen together"),
        (result.get("groups"), f"By {result.get('groups', {}).get('column', 'group')}"),
    ):
        if breakdown and len(breakdown["rows"]) > _MANY_ROWS:
            parts.append(Text(f"{title}: {len(breakdown['rows'])} rows, shown by --report and --json\n"))
        elif breakdown and breakdown["rows"]:
            parts.append(_breakdown(breakdown, title, result))
    parts += _single_pairs(result)
    coverage = list(_coverage_lines(result))
    if coverage:
        parts.append(Text("\n".join(coverage)))
    parts += [Text(f"Note: {note}", style="yellow") for note in result.get("notes", [])]
    return parts


def _headline(result: EvaluationResult) -> RenderableType:
    from rich.text import Text

    data, corpus = result.get("data", {}), result.get("corpus", {})
    where = [data.get("path", ""), corpus.get("path", "")]
    text = Text(result.get("title") or result["kind"].capitalize(), style="bold")
    named = " on ".join(name for name in where if name)
    if named:
        text.append(f"  {named}", style="not bold dim")
    rows, tested = result.get("rows"), result.get("tested")
    if rows and tested is not None and tested < rows:
        share = numbers.show_share(tested, rows)
        text.append(f"\n{tested:,} of {rows:,} rows tested ({share})", style="not bold")
    return text


def _table(title: str, columns: Iterable[str], first: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # A title is wrapped to the width of its table, so a table is no narrower than its title.
    heading = Text(title, style="bold") if title else None
    table = Table(title=heading, title_justify="left", box=SIMPLE_HEAD, min_width=len(title))
    table.add_column(first, overflow="fold")  # names are never cut
    for column in columns:
        table.add_column(Text(column), justify="right", overflow="fold")
    return table


class ScoreTables:
    """A row for each condition and baseline, a column for each metric.

    Metrics that do not fit into the width are in a table below, so that no name and no number is cut.
    """

    def __init__(self, result: EvaluationResult) -> None:
        self.rows = score_rows(result)
        self.names = [f"{row.name} ({row.source})" if row.source else row.name for row in self.rows]
        self.columns = [_ScoreColumn(result, metric, self.rows) for metric in metric_names(result)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = max(map(cell_len, ("condition", *self.names)))
        waiting = self.columns
        while waiting:
            width, shown = names + _EDGES, 0
            for column in waiting:
                width += column.width + _BETWEEN
                if shown and width > options.max_width:
                    break
                shown += 1
            yield self._table(waiting[:shown], names)
            waiting = waiting[shown:]

    def _table(self, columns: list[_ScoreColumn], names: int) -> Table:
        from rich.text import Text

        table = _table("", [column.head for column in columns], "condition")
        for made, width in zip(table.columns, (names, *(column.width for column in columns)), strict=True):
            made.min_width = width
        section = "condition", ""
        for number, (row, name) in enumerate(zip(self.rows, self.names, strict=True)):
            if section != (row.role, row.source):
                table.add_section()
                section = row.role, row.source
            style = _STYLES[row.role]
            cells = [Text(name, style=style)]
            for column in columns:
                value, interval = column.cells[number]
                first = column is self.columns[0] and not style
                cell = Text(value, style="bold" if first else style)
                cells.append(cell.append(f"\n{interval}", style="not bold dim") if interval else cell)
            table.add_row(*cells)
        return table


class _ScoreColumn:
    """A metric's scores and intervals as they are written, and how wide they are."""

    def __init__(self, result: EvaluationResult, metric: str, rows: list[ScoreRow]) -> None:
        self.head = label_of_metric(result, metric)
        self.cells = [score_text(row.metrics.get(metric), metric) for row in rows]
        self.width = max(cell_len(text) for text in chain(self.head.split(), *self.cells))


def _picks(questions: list[AnsweredQuestion]) -> list[RenderableType]:
    from rich.text import Text

    keyed = any(question.answer for question in questions[:_QUESTIONS])
    table = _table("Picks", [*(["right answer"] if keyed else []), *questions[0].picks], "question")
    for column in table.columns:
        column.overflow = "fold"  # a pair has no space to break at
    styles = {RIGHT: "green", WRONG: "red", GUESSED: "yellow"}
    for question in questions[:_QUESTIONS]:
        cells = [
            Text.assemble(pick.choice, (f" {pick.mark}".rstrip(), styles.get(pick.mark, "")))
            for pick in question.picks.values()
        ]
        table.add_row(Text(question.stem), *([Text(question.answer)] if keyed else []), *cells)
    parts: list[RenderableType] = [table]
    notes = []
    if any(pick.mark == GUESSED for question in questions[:_QUESTIONS] for pick in question.picks.values()):
        notes.append(MARKS)
    if len(questions) > _QUESTIONS:
        notes.append(
            f"{_QUESTIONS} of {len(questions):,} questions; bagpack solve --picks FILE.tsv writes them all"
        )
    if notes:
        parts.append(Text("\n".join(notes), style="dim"))
    return parts


def _comparisons(result: EvaluationResult) -> Table:
    from rich.text import Text

    rows = comparison_rows(result)
    metrics = {row["metric"] for row in rows}
    columns = {"difference": "difference", "interval": "95 % interval", "p": "p"}
    title = "Paired comparison"
    if len(metrics) == 1:
        title += f", {metrics.pop()}"
    else:
        columns = {"metric": "metric", **columns}
    table = _table(title, columns.values(), "")
    for row in rows:
        table.add_row(*(Text(row[name]) for name in ("pair", *columns)))
    return table


def _breakdown(breakdown: Breakdown, title: str, result: EvaluationResult) -> Table:
    from rich.text import Text

    metric = breakdown["metric"]
    names = [condition["name"] for condition in result["conditions"]]
    table = _table(title, ["n", *names], label_of_metric(result, metric))
    for row in breakdown["rows"]:
        cells = [numbers.show_score(row["scores"].get(name), metric) for name in names]
        table.add_row(Text(row["name"]), numbers.show_count(row["n"]), *cells)
    return table


def _single_pairs(result: EvaluationResult) -> list[RenderableType]:
    """The surest mistakes, and what the probabilities and the learning curve say."""
    from rich.text import Text

    rows = result.get("predictions", [])
    wrong = mistakes(rows)
    parts: list[RenderableType] = []
    if wrong:
        ratings = result["kind"] == "ratings"
        title = "Largest errors" if ratings else f"Surest mistakes (of {len(wrong):,})"
        columns = [
            *(("rating", "predicted", "error") if ratings else ("label", "predicted", "probability")),
            "seen",
        ]
        table = _table(title, columns, "pair")
        for i in wrong[:_MISTAKES]:
            pair = show_pair(rows[i])
            cells = (
                f"{pair['w1']} – {pair['w2']}",
                pair["label"],
                pair["predicted"],
                pair["sure"],
                pair["count"],
            )
            table.add_row(*map(Text, cells))
        parts.append(table)
    sentences = [abstention_sentence(result), _suspicious_sentence(result), curve_sentence(result)]
    said = [sentence for sentence in sentences if sentence]
    if said:
        parts.append(Text("\n".join(said)))
    return parts


def _suspicious_sentence(result: EvaluationResult) -> str:
    found = len(result.get("suspicious", []))
    if not found:
        return ""
    labels = many(found, "label is", "labels are")
    return f"{labels} suspicious: the model contradicts them with confidence (see --report)."


def _coverage_lines(result: EvaluationResult) -> Iterable[str]:
    for name, count, whole, listed in coverage_rows(result):
        if name.startswith("rows"):
            continue
        of = f" of {numbers.show_count(whole)} ({numbers.show_share(count, whole)})" if whole else ""
        examples = ", ".join(listed[:_LISTED]) + (", …" if count > _LISTED else "") if listed else ""
        yield f"{numbers.show_count(count)}{of} {name}" + (f": {examples}" if examples else "")
