"""The same result on a terminal: scores, baselines, comparisons, buckets and coverage in a few tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bagpack.report import wording
from bagpack.report.model import (
    Breakdown,
    Condition,
    EvaluationResult,
    check_result,
    metric_names,
    without_nan,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_LISTED = 8  # words or pairs of a list that are shown
_MANY_ROWS = 40  # of a breakdown, which are left to the report


def print_result(result: EvaluationResult, console: Console | None = None) -> None:
    """Print the result's tables, on standard output unless a console is given."""
    if console is None:
        from rich.console import Console

        console = Console(highlight=False)
    for part in result_tables(result):
        console.print(part)


def result_tables(result: EvaluationResult) -> list[RenderableType]:
    """The tables, in reading order; what the result does not have is left out."""
    from rich.text import Text

    result = check_result(without_nan(result), "the result")
    parts: list[RenderableType] = [_headline(result), _scores(result)]
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
    return text.append(f"  {named}", style="not bold dim") if named else text


def _table(title: str, columns: Iterable[str], first: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # A title is wrapped to the width of its table, so a table is no narrower than its title.
    heading = Text(title, style="bold") if title else None
    table = Table(title=heading, title_justify="left", box=SIMPLE_HEAD, min_width=len(title))
    table.add_column(first)
    for column in columns:
        table.add_column(Text(column), justify="right")
    return table


def _scores(result: EvaluationResult) -> Table:
    from rich.text import Text

    metrics = metric_names(result)
    heads = [wording.metric_info(metric).label + wording.show_unit(metric) for metric in metrics]
    table = _table("", heads, "condition")

    def add(row: Condition, style: str) -> None:
        cells = []
        for at, metric in enumerate(metrics):
            score = row["metrics"].get(metric) or {"mean": None}
            bold = " bold" if at == 0 and not style else ""
            text = Text(wording.show_score(score["mean"], metric), style=style + bold)
            interval = wording.show_interval(score.get("low"), score.get("high"), metric)
            cells.append(text.append(f"\n{interval}", style="not bold dim") if interval else text)
        table.add_row(Text(row["name"], style=style), *cells)

    for condition in result["conditions"]:
        add(condition, "")
    table.add_section()
    for baseline in result.get("baselines", []):
        add(baseline, "italic")
    for reference in result.get("references", []):
        table.add_section()
        for name, values in reference["scores"].items():
            cells = [Text(wording.show_score(values.get(metric), metric), style="dim") for metric in metrics]
            table.add_row(Text(f"{name} ({reference['name']})", style="dim"), *cells)
    return table


def _comparisons(result: EvaluationResult) -> Table:
    from rich.text import Text

    table = _table("Paired comparison", ("metric", "difference", "95 % interval", "p"), "")
    for row in result.get("comparisons", []):
        metric = row["metric"]
        table.add_row(
            Text(f"{row['a']} − {row['b']}"),
            Text(wording.metric_info(metric).label),
            wording.show_score(row["difference"], metric, signed=True),
            wording.show_interval(row.get("low"), row.get("high"), metric),
            wording.show_p(row.get("p")),
        )
    return table


def _breakdown(breakdown: Breakdown, title: str, result: EvaluationResult) -> Table:
    from rich.text import Text

    metric = breakdown["metric"]
    names = [condition["name"] for condition in result["conditions"]]
    label = wording.metric_info(metric).label + wording.show_unit(metric)
    table = _table(title, ["n", *names], label)
    for row in breakdown["rows"]:
        cells = [wording.show_score(row["scores"].get(name), metric) for name in names]
        table.add_row(Text(row["name"]), wording.show_count(row["n"]), *cells)
    return table


def _coverage_lines(result: EvaluationResult) -> Iterable[str]:
    data = result.get("data", {})
    pairs, words = data.get("pairs") or data.get("rows"), data.get("words")
    lines: list[tuple[str, int | None, int | None, list[str]]] = [
        ("words unknown to the corpus", data.get("unknown_words"), words, data.get("unknown_word_list", [])),
        ("pairs never seen together", data.get("unseen_pairs"), pairs, []),
        ("words cut at the cap", data.get("capped_words"), words, data.get("capped_word_list", [])),
        ("pairs cut at the cap", data.get("capped_pairs"), pairs, data.get("capped_pair_list", [])),
    ]
    for name, count, whole, listed in lines:
        if count is None:
            continue
        of = f" of {wording.show_count(whole)} ({wording.show_share(count, whole)})" if whole else ""
        examples = ", ".join(listed[:_LISTED]) + (", …" if count > _LISTED else "") if listed else ""
        yield f"{wording.show_count(count)}{of} {name}" + (f": {examples}" if examples else "")
