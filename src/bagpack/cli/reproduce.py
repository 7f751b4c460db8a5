"""`bagpack reproduce`."""

from __future__ import annotations

from typing import Annotated

import typer

from bagpack.cli.declaration import common
from bagpack.cli.option_groups import (
    OutputOptions,
    PaperCountingOptions,
    PaperLearningOptions,
    ParallelOptions,
)
from bagpack.cli.options import Answers, Report, StoreOrMatrix
from bagpack.cli.progress import work_progress
from bagpack.cli.results import show_result


def reproduce(
    task: Annotated[str, typer.Argument(help="analogy, synonyms, plausibility or relations.")],
    store: StoreOrMatrix,
    data: Annotated[str, common("--data", metavar="FILE", help="Your copy of the task's data.")],
    learning: PaperLearningOptions,
    counting: PaperCountingOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    answers: Answers = None,
    relation: Annotated[
        list[str] | None, common("--relation", help="A relation to use (task relations); repeatable.")
    ] = None,
    report: Report = None,
) -> None:
    """Run one of the paper's four tasks, with its numbers next to ours."""
    from bagpack.experiments.reproduce import reproduce as run

    with parallel.workers(report, store), work_progress(output.silent) as progress:
        result = run(
            task, store, data, counting.options(parallel.jobs), preset=learning.preset, seed=learning.seed,
            answers=answers, relations=tuple(relation or ()), progress=progress,
        )  # fmt: skip
    show_result(result, output, report)
