"""`bagpack check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bagpack import console
from bagpack.cli.option_groups import DataOptions, TableOptions
from bagpack.cli.options import AnyData, Jobs, Json, Limit, Store, Windows

if TYPE_CHECKING:
    from bagpack.tasks.dataset import Kind


def check(
    store: Store,
    data: AnyData,
    options: DataOptions,
    table: TableOptions,
    limit: Limit = "5000",
    windows: Windows = "4/2-5-2",
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Report how well a corpus covers a data set, and likely mistakes.

    With --out, a table of all rows: how often each pair was seen, unknown words, and what looks like a mistake.
    """
    from bagpack.contexts.windows import Windows as Sizes
    from bagpack.contexts.windows import parse_limit
    from bagpack.report.screens.coverage import coverage_table, show_coverage
    from bagpack.sources import open_source
    from bagpack.tasks import Dataset, PairList, read_any
    from bagpack.tasks.oddities import oddities, why_not_evaluated
    from bagpack.tasks.textfile import read_text_file
    from bagpack.vectors.coverage import coverage

    table.check("table of rows", data)
    file = read_text_file(data, lenient=True)
    named, task = options.named(), cast("Kind | None", options.task)
    listed = read_any(file, task, named)
    file.raise_refused()
    labels = getattr(listed, "labels", None) or None
    sizes = Sizes.parse(windows)
    facts = {
        "path": data,
        **({"sheet": file.sheet.name, "other_sheets": list(file.sheet.others)} if file.sheet else {}),
        **coverage(open_source(store), listed.pairs, labels, parse_limit(limit), sizes, jobs),
    }
    if isinstance(listed, PairList):
        facts |= {**oddities(listed), "not_for_evaluate": why_not_evaluated(file, listed, named, task)}
    targets = labels or (listed.scores.tolist() if isinstance(listed, Dataset) else None)
    table.write(coverage_table(facts, listed.pairs, getattr(listed, "lines", None), targets))
    if json:
        console.print_json(facts)
    else:
        show_coverage(facts)
