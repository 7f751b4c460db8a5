"""`bagpack evaluate`, `solve`, `train`, `predict`, `reproduce`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack.cli import console as io
from bagpack.cli import shape
from bagpack.cli.scaling import Address, Backend, workers
from bagpack.cli.vectors import (
    ColumnsOption,
    Jobs,
    Json,
    Limit,
    Quiet,
    WindowsOption,
    parse_columns,
    tell_unknown,
)
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.experiments.counting import CountOptions
    from bagpack.report.model import EvaluationResult

Store = Annotated[str, typer.Argument(help="A store, snippets, or a matrix that bagpack vectors made.")]
BasisOption = Annotated[str | None, typer.Option("--basis", help="A basis to use instead of picking one.")]
BOption = Annotated[int, typer.Option("-b", help="How many unigrams, and how many bigrams, make the basis.")]
Data = Annotated[str, typer.Argument(help="TSV with w1, w2 and label (or score, rating).")]
Model = Annotated[str, typer.Argument(help="A model that bagpack train made.")]
AnyStore = Annotated[
    bool, typer.Option("--any-store", help="Use a store other than the one it was trained on.")
]
Answers = Annotated[str | None, typer.Option("--answers", help="TOEFL's answer file, if elsewhere.")]
Split = Annotated[str, typer.Option("--split", help="random, group:COLUMN or lexical.")]
Preset = Annotated[str, typer.Option("--preset", help="How counts become features: paper, modern.")]
Condition = Annotated[str, typer.Option("--condition", help="all, or one of v1v2, v12, v1v2v12.")]
Folds = Annotated[
    int | None,
    typer.Option("--folds", help="Number of folds (random 10, lexical 5, group all)."),
]
Seed = Annotated[int, typer.Option("--seed", help="For every random choice.")]
Cost = Annotated[
    float | None,
    typer.Option("-C", metavar="COST", help="The cost of the SVM; the preset's own if not given."),
]
Epsilon = Annotated[float, typer.Option("--epsilon", help="The width of the regression's tube.")]
Transductive = Annotated[
    bool, typer.Option("--transductive", help="Fit weighting and scaling on all rows, as the paper seems to.")
]
Task = Annotated[
    str | None, typer.Option("--task", help="relations or ratings, where the file could be both.")
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write an HTML report.", callback=io.page_place)
]
DropUnseen = Annotated[bool, typer.Option("--drop-unseen", help="Leave out pairs never seen together.")]
LabelSets = Annotated[
    bool, typer.Option("--label-sets", help="A pair with several labels has them all, instead of a row each.")
]


def counting_options(b: int, basis: str | None, limit: str, windows: str, jobs: int) -> CountOptions:
    """The options that say how pairs are counted."""
    from bagpack.contexts.windows import CountSettings, Windows, parse_limit
    from bagpack.experiments.counting import CountOptions

    return CountOptions(b, basis, CountSettings(Windows.parse(windows), parse_limit(limit)), jobs)


def conditions_of(condition: str) -> tuple[str, ...]:
    """`all`, or one condition."""
    from bagpack.names import CONDITIONS

    if condition == "all":
        return tuple(CONDITIONS)
    if condition not in CONDITIONS:
        raise UsageError(f"--condition {condition} is unknown; choose all or one of {', '.join(CONDITIONS)}")
    return (condition,)


def show_result(result: EvaluationResult, json: bool, report: Path | None, quiet: bool) -> None:
    """On the terminal, as JSON, as a report."""
    _report(result, report)
    if json:
        io.print_json(result)
    elif not quiet:
        from bagpack.report.terminal import print_result

        print_result(result)
        if report is not None:
            io.tell(f"report: {report}")


def _report(result: EvaluationResult, report: Path | None) -> None:
    """Write down how the result was made, and the report if one is wanted."""
    result["command"] = shlex.join(["bagpack", *sys.argv[1:]])
    if report is not None:
        from bagpack.report import write_report

        write_report(result, report)


def evaluate(
    store: Store,
    data: Data,
    test: Annotated[str | None, typer.Option("--test", help="A file to test on, instead of folds.")] = None,
    keep_overlap: Annotated[
        bool, typer.Option("--keep-overlap", help="Train also on pairs that are in the test file.")
    ] = False,
    preset: Preset = "paper",
    condition: Condition = "all",
    split: Split = "random",
    folds: Folds = None,
    seed: Seed = 0,
    transductive: Transductive = False,
    cost: Cost = None,
    epsilon: Epsilon = 0.2,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out", metavar="LABEL", help="A label that the averaged F1 leaves out; repeatable."
        ),
    ] = None,
    drop_unseen: DropUnseen = False,
    label_sets: LabelSets = False,
    task: Task = None,
    columns: ColumnsOption = "",
    b: BOption = 1500,
    basis: BasisOption = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    report: Report = None,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cross-validate v1v2, v12 and v1v2v12 on a data set, with intervals and baselines.

    v1v2 knows each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file

    options = EvaluateOptions(
        preset=preset, conditions=conditions_of(condition), split=split, folds=folds, seed=seed,
        transductive=transductive, C=cost, epsilon=epsilon, left_out=tuple(leave_out or ()),
        drop_unseen=drop_unseen, label_sets=label_sets, task=task, columns=parse_columns(columns),
        features=report is not None or json, keep_overlap=keep_overlap,
    )  # fmt: skip
    with workers(backend, address, jobs, report, store), io.work_progress(quiet or json) as tell:
        result = evaluate_file(
            store, data, test, counting_options(b, basis, limit, windows, jobs), options, tell
        )
    show_result(result, json, report, quiet)


def solve(
    store: Store,
    questions: Annotated[str, typer.Argument(help="JSON lines, or the SAT package's or TOEFL's own text.")],
    answers: Answers = None,
    preset: Preset = "paper",
    condition: Condition = "all",
    rounds: Annotated[int, typer.Option("--rounds", help="Rounds of each analogy question.")] = 10,
    folds: Annotated[int, typer.Option("--folds", help="Folds over synonym questions.")] = 10,
    seed: Seed = 0,
    inductive: Annotated[
        bool, typer.Option("--inductive", help="Fit weighting on each analogy round's two rows alone.")
    ] = False,
    b: BOption = 1500,
    basis: BasisOption = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    picks: Annotated[
        Path | None, typer.Option("--picks", help="Write what was picked in every question, as TSV.")
    ] = None,
    report: Report = None,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer multiple-choice questions: pairs (analogies) or words (synonyms).

    A question in JSON lines may lack its answer; then it is answered, and has no part in the scores.
    """
    from bagpack.experiments.questions import solve_file
    from bagpack.files import write_text
    from bagpack.report.questions import check_picks, picks_table

    if picks is not None:
        check_picks(picks)
    with workers(backend, address, jobs, report, store), io.work_progress(quiet or json) as tell:
        result = solve_file(
            store, questions, counting_options(b, basis, limit, windows, jobs), preset=preset,
            conditions=conditions_of(condition), answers=answers, rounds=rounds, folds=folds, seed=seed,
            transductive=False if inductive else None, progress=tell,
        )  # fmt: skip
    if picks is not None:
        write_text(picks, "".join("\t".join(row) + "\n" for row in picks_table(result)))
    show_result(result, json, report, quiet)
    if picks is not None and not (quiet or json):
        io.tell(f"picks: {picks}")


def train(
    store: Store,
    data: Data,
    out: Annotated[str, typer.Option("--out", "-o", help="The model to make.")],
    preset: Preset = "paper",
    condition: Annotated[str, typer.Option("--condition", help="v1v2, v12 or v1v2v12.")] = "v1v2v12",
    folds: Folds = None,
    seed: Seed = 0,
    cost: Cost = None,
    epsilon: Epsilon = 0.2,
    no_scores: Annotated[
        bool, typer.Option("--no-scores", help="Do not cross-validate for the model card.")
    ] = False,
    drop_unseen: DropUnseen = False,
    label_sets: LabelSets = False,
    task: Task = None,
    columns: ColumnsOption = "",
    b: BOption = 1500,
    basis: BasisOption = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    report: Report = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model.")] = False,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on all rows, and write it with a card that says how well it does.

    v1v2 knows each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.experiments.evaluation import EvaluateOptions
    from bagpack.experiments.training import train_file

    if no_scores and report is not None:
        raise UsageError("--report shows scores, and --no-scores leaves them out; give one of the two")
    if condition == "all":
        raise UsageError("a model has one condition, not all; give --condition v1v2, v12 or v1v2v12")
    (only,) = conditions_of(condition)
    options = EvaluateOptions(
        preset=preset, folds=folds, seed=seed, C=cost, epsilon=epsilon, drop_unseen=drop_unseen,
        label_sets=label_sets, task=task, columns=parse_columns(columns), features=report is not None,
    )  # fmt: skip
    with workers(backend, address, jobs, out, store), io.work_progress(quiet or json) as tell:
        model, result = train_file(
            store, data, out, counting_options(b, basis, limit, windows, jobs), options, condition=only,
            evaluate=not no_scores, overwrite=overwrite, progress=tell,
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
    if result:
        _report(result, report)
    if json:
        io.print_json(facts)
    elif not quiet:
        if result:
            from bagpack.report.terminal import print_result

            print_result(result)
        what = f"{len(model.classes)} labels" if model.classes else "ratings"
        io.tell_of(out, f"{what}, {model.condition}; its card is {out}/README.md")
        if report is not None:
            io.tell(f"report: {report}")


def predict(
    model: Model,
    pairs: Annotated[str, typer.Argument(help="TSV with columns w1, w2; - for standard input.")],
    store: Annotated[
        str | None, typer.Option("--store", help="Where the store is now, if it moved; or a matrix.")
    ] = None,
    any_store: AnyStore = False,
    columns: ColumnsOption = "",
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the label (or score) of new pairs as TSV, with a score per label and how often the pair was seen."""
    from bagpack.experiments.training import answer_rows, predict_pairs
    from bagpack.tasks import read_pairs

    listed = read_pairs(pairs, parse_columns(columns))
    with workers(backend, address, jobs, None, store), io.work_progress(quiet or json) as tell:
        found, matrix, answers, scores = predict_pairs(
            model, listed.pairs, store=store, any_store=any_store, n_jobs=jobs, progress=tell
        )
    header, *rows = answer_rows(found, matrix, listed.pairs, answers, scores)
    if json:
        io.print_json([dict(zip(map(str, header), row, strict=True)) for row in rows])
        return
    for row in (header, *rows):
        sys.stdout.write("\t".join(map(_cell, row)) + "\n")
    if not quiet:
        tell_unknown(matrix.unknown_words)


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def reproduce(
    task: Annotated[str, typer.Argument(help="analogy, synonyms, plausibility or relations.")],
    store: Store,
    data: Annotated[str, typer.Option("--data", help="Your copy of the task's data.")],
    answers: Answers = None,
    relation: Annotated[
        list[str] | None, typer.Option("--relation", help="A relation to take (relations); repeatable.")
    ] = None,
    preset: Preset = "paper",
    seed: Seed = 0,
    b: BOption = 1500,
    basis: BasisOption = None,
    limit: Limit = "5000",
    windows: WindowsOption = "4/2-5-2",
    report: Report = None,
    jobs: Jobs = -1,
    backend: Backend = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run one of the paper's four tasks as it ran them, its numbers beside ours."""
    from bagpack.experiments.reproduce import reproduce as run

    with workers(backend, address, jobs, report, store), io.work_progress(quiet or json) as tell:
        result = run(
            task, store, data, counting_options(b, basis, limit, windows, jobs), preset=preset, seed=seed,
            answers=answers, relations=tuple(relation or ()), progress=tell,
        )  # fmt: skip
    show_result(result, json, report, quiet)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    shape.add(app, shape.LEARNING, evaluate, solve, train, predict, reproduce)
