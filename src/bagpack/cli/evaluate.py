"""`bagpack evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.options import (
    Condition,
    CountingOptions,
    Data,
    Folds,
    LearningOptions,
    OutputOptions,
    ParallelOptions,
    Report,
    RowOptions,
    Split,
    StoreOrMatrix,
    SubcorpusOptions,
    SvmOptions,
    advanced,
    common,
    conditions_of,
)
from bagpack.cli.progress import work_progress
from bagpack.cli.results import show_result


def evaluate(
    store: StoreOrMatrix,
    data: Data,
    learning: LearningOptions,
    rows: RowOptions,
    svm: SvmOptions,
    counting: CountingOptions,
    subcorpus: SubcorpusOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    test: Annotated[
        str | None,
        common("--test", metavar="FILE", help="A file to test on, instead of folds."),
        Names((FILE,)),
    ] = None,
    keep_overlap: Annotated[
        bool, advanced("--keep-overlap", help="Train also on pairs that are in the test file.")
    ] = False,
    counts: Annotated[
        str | None,
        advanced(
            "--counts",
            metavar="URL",
            help="Take pair statistics from an infinigram: or infinigram+https: engine.",
        ),
    ] = None,
    condition: Condition = "all",
    split: Split = "random",
    folds: Folds = None,
    transductive: Annotated[
        bool, advanced("--transductive", help="Fit weighting and scaling on all rows, test rows too.")
    ] = False,
    leave_out: Annotated[
        list[str] | None,
        advanced("--leave-out", metavar="LABEL", help="Exclude a label from the averaged F1; repeatable."),
    ] = None,
    precision: Annotated[
        float, advanced("--precision", help="Abstain so that this share of the answers is right.")
    ] = 0.9,
    predictions: Annotated[
        Path | None,
        common(
            "--predictions",
            metavar="FILE",
            help="Write every prediction: .tsv, .csv or .xlsx.",
        ),
    ] = None,
    report: Report = None,
) -> None:
    """Cross-validate on a data set, with intervals and baselines.

    v1v2 uses each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.evaluate.predictions import COLUMNS, predictions_table
    from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file
    from bagpack.sheets import check_table, write_table

    if predictions is not None:
        check_table(predictions, "table of predictions", COLUMNS)
    options = EvaluateOptions(
        preset=learning.preset, conditions=conditions_of(condition), split=split, folds=folds,
        seed=learning.seed, transductive=transductive, C=svm.cost, epsilon=svm.epsilon,
        left_out=tuple(leave_out or ()), drop_unseen=rows.drop_unseen, label_sets=rows.label_sets,
        task=rows.task, columns=rows.named(), features=report is not None or output.json,
        keep_overlap=keep_overlap, precision=precision, counts=counts,
    )  # fmt: skip
    store = str(subcorpus.store(store))
    with parallel.workers(report, store), work_progress(output.silent) as progress:
        result = evaluate_file(store, data, test, counting.options(parallel.jobs), options, progress)
    if predictions is not None:
        write_table(predictions, predictions_table(result))
    show_result(result, output, report)
    if predictions is not None and not output.silent:
        console.tell(f"predictions: {predictions}")
