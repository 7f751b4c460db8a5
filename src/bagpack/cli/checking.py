"""`bagpack check`: what a corpus knows of a data set, and what looks like a slip in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.vectors import (
    ColumnsOption,
    Jobs,
    Json,
    Limit,
    Store,
    WindowsOption,
    parse_columns,
    rows_repeat,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def check(
    store: Store,
    data: Annotated[
        str, typer.Argument(help="A data set: pairs, relations, ratings or questions; - for stdin.")
    ],
    columns: ColumnsOption = "",
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Tell what the corpus knows of a data set, before any training."""
    from bagpack.contexts.source import open_source
    from bagpack.contexts.windows import Windows, parse_limit
    from bagpack.tasks import PairList, read_any
    from bagpack.tasks.oddities import oddities, why_not_evaluated
    from bagpack.tasks.textfile import read_text_file
    from bagpack.vectors.coverage import coverage

    file = read_text_file(data, lenient=True)
    named = parse_columns(columns)
    listed = read_any(file, columns=named)
    file.raise_refused()
    labels = getattr(listed, "labels", None)
    facts = {
        "path": data,
        **coverage(
            open_source(store), listed.pairs, labels or None, parse_limit(limit), Windows.parse(windows), jobs
        ),
    }
    if isinstance(listed, PairList):
        facts |= {**oddities(listed), "not_for_evaluate": why_not_evaluated(file, listed, named)}
    if json:
        io.print_json(facts)
    else:
        _show_coverage(facts)


def _show_oddities(screen: Console, facts: dict[str, Any]) -> None:
    """What looks like a slip, with the first few and their lines."""
    if "repeated_pairs" not in facts and facts["duplicate_rows"]:  # questions share pairs
        io.tell(f"{rows_repeat(facts['duplicate_rows'])} a pair", None, screen)
    if repeated := facts.get("repeated_pairs"):
        named = [f"{_shown(odd)} ({_lines(odd)})" for odd in repeated]
        rows = sum(len(odd["lines"]) - 1 for odd in repeated)
        io.tell(f"{rows_repeat(rows)} a pair: {io.some_of(named, 5)}", None, screen)
    if several := facts.get("pairs_with_several_labels"):
        have = io.many(len(several), "pair has", "pairs have")
        named = [
            f"{_shown(odd)} ({', '.join(f'{label} in line {line:,}' for label, line in _labels(odd))})"
            for odd in several
        ]
        io.tell(f"{have} several labels: {io.some_of(named, 5)}", "yellow", screen)
    if same := facts.get("same_word_twice"):
        named = [f"{_shown(odd)} ({_lines(odd)})" for odd in same]
        pairs = io.many(len(same), "pair is", "pairs are")
        io.tell(f"{pairs} one word twice: {io.some_of(named, 5)}", "yellow", screen)
    if reason := facts.get("not_for_evaluate"):
        io.tell(f"evaluate cannot use it: {reason}", "yellow", screen)


def _shown(odd: dict[str, Any]) -> str:
    return " – ".join(odd["pair"])


def _lines(odd: dict[str, Any]) -> str:
    lines = [f"{line:,}" for line in odd["lines"]]
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}"


def _labels(odd: dict[str, Any]) -> Iterable[tuple[str, int]]:
    return zip(odd["labels"], odd["lines"], strict=True)


def _show_coverage(facts: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = io.screen()
    counts = f"{io.many(facts['rows'], 'row')}, {io.many(facts['words'], 'word')}"
    io.tell(Text.assemble((facts["path"], "bold"), f": {counts}"), None, screen)
    table = Table(box=None, pad_edge=False)
    table.add_column("seen together")
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    for name, count in facts["rows_by_frequency"].items():
        table.add_row(f"{name} times", f"{count:,}", f"{100 * count / facts['rows']:.1f} %")
    screen.print(table)
    if "labels" in facts:
        by_label = Table(box=None, pad_edge=False)
        by_label.add_column("label")
        by_label.add_column("rows", justify="right")
        by_label.add_column("seen together", justify="right")
        for label, values in facts["labels"].items():
            share = 100 * values["together"] / values["rows"]
            by_label.add_row(Text(label), f"{values['rows']:,}", f"{values['together']:,} ({share:.0f} %)")
        screen.print(by_label)
    if facts["unknown_words"]:
        words, rows = len(facts["unknown_words"]), facts["rows_with_unknown_words"]
        io.tell(
            f"{io.many(words, 'unknown word')} in {io.many(rows, 'row')}: {io.some_of(facts['unknown_words'])}",
            "yellow",
            screen,
        )
    if told := facts["elsewhere"]:
        named = [f"{item['word']} ({item['key']})" for item in told]
        many = io.many(
            len(told),
            "word is a lemma whose form mostly counts as another",
            "words are lemmas whose forms mostly count as another",
        )
        io.tell(f"{many}: {io.some_of(named)}", "yellow", screen)
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            past = io.many(len(capped), f"{kind} is", f"{kind}s are")
            io.tell(f"{past} past the cap of {facts['limit']:,}: {io.some_of(named)}", None, screen)
    _show_oddities(screen, facts)


def register(app: typer.Typer) -> None:
    """Add the command."""
    shape.add(app, shape.COUNTING, check)
