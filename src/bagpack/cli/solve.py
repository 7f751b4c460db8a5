"""`bagpack solve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import CountingOptions, LearningOptions, OutputOptions, ParallelOptions
from bagpack.cli.options import Answers, Condition, Questions, Report, StoreOrMatrix, conditions_of
from bagpack.cli.progress import work_progress
from bagpack.cli.results import show_result


def solve(
    store: StoreOrMatrix,
    questions: Questions,
    learning: LearningOptions,
    counting: CountingOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    answers: Answers = None,
    condition: Condition = "all",
    rounds: Annotated[int, advanced("--rounds", help="Rounds of each analogy question.")] = 10,
    folds: Annotated[int, advanced("--folds", help="Folds over synonym questions.")] = 10,
    inductive: Annotated[
        bool, advanced("--inductive", help="Fit weighting on each analogy round's two rows alone.")
    ] = False,
    picks: Annotated[
        Path | None, common("--picks", metavar="FILE", help="Write every pick: .tsv, .csv or .xlsx.")
    ] = None,
    report: Report = None,
) -> None:
    """Answer multiple-choice questions: analogies or synonyms.

    A question in JSON lines may lack its answer; then it is answered but not scored.
    """
    from bagpack.experiments.questions import solve_file
    from bagpack.report.questions import PICKS, picks_table
    from bagpack.sheets import check_table, write_table

    if picks is not None:
        check_table(picks, "table of picks", PICKS)
    with parallel.workers(report, store), work_progress(output.silent) as progress:
        result = solve_file(
            store, questions, counting.options(parallel.jobs), preset=learning.preset,
            conditions=conditions_of(condition), answers=answers, rounds=rounds, folds=folds,
            seed=learning.seed, transductive=False if inductive else None, progress=progress,
        )  # fmt: skip
    if picks is not None:
        write_table(picks, picks_table(result))
    show_result(result, output, report)
    if picks is not None and not output.silent:
        console.print_message(f"picks: {picks}")
