"""`bagpack evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.declaration import advanced, common
from bagpack.cli.option_groups import (
    CountingOptions,
    LearningOptions,
    OutputOptions,
    ParallelOptions,
    RowOptions,
    SubcorpusOptions,
    SvmOptions,
)
from bagpack.cli.options import Condition, Data, Folds, Report, Split, StoreOrMatrix, conditions_of
from bagpack.cli.progress import work_progress
from bagpack.cli.results import show_by, show_result
from bagpack.errors import UsageError

MOST_VALUES = 30


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
    by: Annotated[
        str | None,
        advanced("--by", metavar="ATTRIBUTE", help="Evaluate on the documents of each value: genre, …"),
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
    if by is not None:
        if report is not None or predictions is not None:
            raise UsageError(
                "--by evaluates several times, so --report and --predictions cannot be used; remove them"
            )
        parts = _parts(subcorpus.store(store), by)
        with parallel.workers(None, store), work_progress(output.silent) as progress:
            results = {
                value: evaluate_file(part, data, test, counting.options(parallel.jobs), options, progress)
                for value, part in parts.items()
            }
        if output.json:
            console.print_json({"by": by, "results": results})
        elif not output.quiet:
            show_by(by, results)
        return
    with parallel.workers(report, store), work_progress(output.silent) as progress:
        result = evaluate_file(
            subcorpus.store(store), data, test, counting.options(parallel.jobs), options, progress
        )
    if predictions is not None:
        write_table(predictions, predictions_table(result))
    show_result(result, output, report)
    if predictions is not None and not output.silent:
        console.print_message(f"predictions: {predictions}")


def _parts(store: str, by: str) -> dict[str, str]:
    """The name of the subcorpus of each value of an attribute."""
    from bagpack.contexts.by_attribute import parse_by
    from bagpack.corpus.subcorpus import open_corpus

    corpus = open_corpus(store)
    name, step = parse_by(corpus, by)
    if step:
        raise UsageError(
            f"--by {by}: each value is evaluated by itself, without steps; give --by {name}, or select documents with "
            f"--where"
        )
    values = sorted(corpus.attributes[name])
    if len(values) > MOST_VALUES:
        raise UsageError(
            f"--by {by}: the attribute has {len(values):,} values, and each is evaluated by itself; choose one with at "
            f"most {MOST_VALUES}, or select documents with --where"
        )
    if unusable := next((value for value in values if '"' in value and "'" in value), None):
        raise UsageError(f"--by {by}: the value {unusable!r} has both kinds of quotation marks")
    quoted = {value: f"'{value}'" if '"' in value else f'"{value}"' for value in values}
    return {value: corpus.where(f"{name} == {text}").name for value, text in quoted.items()}
