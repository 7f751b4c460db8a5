"""`bagpack train`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from bagpack import console
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
from bagpack.cli.options import Data, Folds, Overwrite, Report, StoreOrMatrix
from bagpack.cli.progress import work_progress
from bagpack.cli.results import print_tables, write_result
from bagpack.errors import UsageError


def train(
    store: StoreOrMatrix,
    data: Data,
    out: Annotated[str, common("--out", "-o", metavar="MODEL", help="The model to make.")],
    learning: LearningOptions,
    rows: RowOptions,
    svm: SvmOptions,
    counting: CountingOptions,
    subcorpus: SubcorpusOptions,
    parallel: ParallelOptions,
    output: OutputOptions,
    condition: Annotated[
        str,
        common("--condition", help="v1v2, v12 or v1v2v12.", values=("all", "v1v2v12", "v1v2", "v12")),
    ] = "v1v2v12",
    folds: Folds = None,
    no_scores: Annotated[
        bool, advanced("--no-scores", help="Do not cross-validate for the model card.")
    ] = False,
    precision: Annotated[
        float | None,
        advanced(
            "--precision", help="Abstain so that this share of the answers is right (default: never abstain)."
        ),
    ] = None,
    background: Annotated[
        int,
        advanced(
            "--background",
            metavar="N",
            help="Add N co-occurring pairs labelled none (for bagpack find).",
        ),
    ] = 0,
    report: Report = None,
    overwrite: Overwrite = False,
) -> None:
    """Train a model on all rows; its card shows cross-validated scores.

    v1v2 uses each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.evaluate.predictions import PRECISION
    from bagpack.experiments.evaluation import EvaluateOptions
    from bagpack.experiments.training import train_file

    if no_scores and report is not None:
        raise UsageError("--report shows scores, and --no-scores omits them; give one of the two")
    if condition == "all":
        raise UsageError("a model has one condition, not all; give --condition v1v2, v12 or v1v2v12")
    options = EvaluateOptions(
        preset=learning.preset, folds=folds, seed=learning.seed, C=svm.cost, epsilon=svm.epsilon,
        drop_unseen=rows.drop_unseen, label_sets=rows.label_sets, task=rows.task,
        columns=rows.named(), features=report is not None, precision=PRECISION if precision is None else precision,
    )  # fmt: skip
    with parallel.workers(out, store), work_progress(output.silent) as progress:
        model, result = train_file(
            subcorpus.store(store), data, out, counting.options(parallel.jobs), options, condition=condition,
            evaluate=not no_scores, precision=precision, background=background,
            overwrite=overwrite, progress=progress,
        )  # fmt: skip
    facts: dict[str, Any] = {
        "path": out,
        "kind": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset,
        "features": len(model.feature_names()),
        "scores": model.manifest.get("scores", {}),
    }
    if model.threshold is not None:
        facts["threshold"] = asdict(model.threshold)
    if result:
        write_result(result, report)
    if output.json:
        console.print_json(facts)
    elif not output.quiet:
        if result:
            shown = result.copy()
            if model.threshold is not None:
                shown.pop("abstention", None)  # of the cross-validation; the model's own is shown below
            print_tables(shown)
        what = console.many(len(model.classes), "label") if model.classes else "ratings"
        console.print_about(out, f"{what}, {model.condition}; its card is {out}/README.md")
        if model.threshold is not None:
            console.print_message(model.threshold.sentence())
        if report is not None:
            console.print_message(f"report: {report}")
