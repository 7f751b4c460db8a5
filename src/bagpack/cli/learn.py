"""`bagpack train`, `predict`, `explain`, `evaluate` and `reproduce`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from bagpack import console
from bagpack.cli import options as opt
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.evaluate.result import Evaluation


def train(
    store: opt.StoreOrMatrix,
    data: opt.Data,
    out: Annotated[str, opt.value("MODEL", "The model to make.", "--out", "-o")],
    preset: opt.Preset = "modern",
    condition: Annotated[Literal["v1v2", "v12", "v1v2v12"], opt.value("NAME", "See above.")] = "v1v2v12",
    columns: opt.Columns = "",
    cost: opt.Cost = None,
    precision: Annotated[float | None, opt.value("SHARE", "Abstain so that this share is right.")] = None,
    background: Annotated[int, opt.value("N", "Add N pairs labelled none (for find).", min=0)] = 0,
    folds: opt.Folds = None,
    no_scores: Annotated[bool, opt.flag("--no-scores", "Do not cross-validate for the model card.")] = False,
    seed: opt.Seed = 0,
    b: opt.Terms = 1500,
    basis: opt.BasisFile = None,
    limit: opt.Limit = "5000",
    windows: opt.Windows = "4/2-5-2",
    where: opt.Where = None,
    report: opt.Report = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Train a model on all rows; its card shows cross-validated scores.

    The condition v1v2 uses each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.evaluate.train import TrainOptions, train_file
    from bagpack.find.negatives import draw_background

    if no_scores and (report is not None or folds is not None):
        raise UsageError("--report and --folds are about scores, which --no-scores omits; remove one of them")
    options = TrainOptions(
        preset=preset, condition=condition, C=cost, columns=opt.parse_columns(columns), precision=precision,
        background=partial(draw_background, number=background, seed=seed) if background else None,
        scores=not no_scores, folds=folds, seed=seed,
        counting=opt.counting(b, basis, limit, windows),
    )  # fmt: skip
    with opt.at_work(json):
        model, result = train_file(opt.selected(store, where), data, out, options, overwrite=overwrite)
    facts: dict[str, Any] = {
        "path": out,
        "kind": model.kind,
        "labels": [str(label) for label in model.classes],
        "condition": model.condition,
        "preset": model.preset.name,
        "features": len(model.feature_names()),
        "scores": model.manifest.get("scores", {}),
        **({} if model.threshold is None else {"threshold": asdict(model.threshold)}),
    }
    if result is not None:
        _show_result(result, json, report, facts)
    elif json:
        console.print_json(facts)
    if not opt.is_silent(json):
        what = console.many(len(model.classes), "label") if model.classes else "ratings"
        console.print_message(f"{out}: {what}, {model.condition}; its card is {out}/README.md")
        if model.threshold is not None:
            console.print_message(model.threshold.sentence())


def predict(
    model: opt.Model,
    pairs: opt.Pairs,
    columns: opt.Columns = "",
    store: opt.StoreOption = None,
    any_store: opt.AnyStore = False,
    out: opt.Table = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Predict the labels (or scores) of new pairs, as TSV.

    Each row has the label, its probability, a decision value per label, the number of co-occurrences, and whether the
    model was trained on the pair. The label is empty where the model abstains.
    """
    from bagpack.evaluate.train import DIRECTION, answer_rows
    from bagpack.learn.model_io import load_model
    from bagpack.report.screens import print_unknown
    from bagpack.sheets import table_text
    from bagpack.tasks.pairs import read_pairs

    opt.check_out(out, "predictions", overwrite, pairs)
    listed = read_pairs(pairs, opt.parse_columns(columns))
    with opt.at_work(json):
        found = load_model(model)
        matrix = found.count(listed.pairs, found.open_source(store, any_store))
        header, *rows = answer_rows(found, matrix)
    if json:
        console.print_json([dict(zip(map(str, header), row, strict=True)) for row in rows])
    # A label is the name of a column too.
    flat = [
        [console.one_line(cell) if isinstance(cell, str) else cell for cell in row] for row in (header, *rows)
    ]
    opt.write_out(out, flat)
    if out is None and not json:
        console.write(table_text(flat))
    if not opt.is_silent(json):
        print_unknown(matrix.unknown_words)
        if found.manifest.get("direction") is False:
            console.print_message(f"direction (w1 – w2 or w2 – w1) is {DIRECTION}", "dim")


def explain(
    model: opt.Model,
    w1: opt.FirstWord,
    w2: opt.SecondWord,
    label: Annotated[list[str] | None, opt.value("LABEL", "Explain this label; all: every label.")] = None,
    top: opt.Top = 10,
    lines: Annotated[int, opt.value("N", "Corpus lines shown for each context.", min=0)] = 1,
    features: Annotated[bool, opt.flag("--features", "Show the sum over features too.")] = False,
    store: opt.StoreOption = None,
    any_store: opt.AnyStore = False,
    html: opt.Page = None,
    json: opt.Json = False,
) -> None:
    """Explain a prediction by similar training pairs and by sentences.

    The predicted label and the runner-up are explained in full, with --top contexts each.
    """
    from bagpack.explain.explanation import explain_pair
    from bagpack.learn.model_io import load_model
    from bagpack.report.screens import show_explanation

    opened = load_model(model)
    every = label == ["all"] and "all" not in map(str, opened.classes)
    source = opened.open_source(store, any_store)
    found = explain_pair(
        opened, source, w1, w2, labels=None if every else label, top=top, lines=lines,
        in_full=json or label is not None,
    )  # fmt: skip
    if html is not None:
        from bagpack.report.html import render_explanation, write_page

        write_page(html, render_explanation(found.to_dict()))
        console.print_message(f"page: {html}")
    if json:
        console.print_json(found.to_dict())
    elif html is None:
        show_explanation(found, features)
        opt.hint_words(source, found.unknown)


def evaluate(
    store: opt.StoreOrMatrix,
    data: opt.Data,
    preset: opt.Preset = "modern",
    condition: opt.Condition = "all",
    columns: opt.Columns = "",
    split: opt.Split = "random",
    folds: opt.Folds = None,
    test: Annotated[str | None, opt.value("FILE", "A file to test on, instead of folds.")] = None,
    cost: opt.Cost = None,
    precision: Annotated[float, opt.value("SHARE", "Abstain so that this share is right.")] = 0.9,
    seed: opt.Seed = 0,
    b: opt.Terms = 1500,
    basis: opt.BasisFile = None,
    limit: opt.Limit = "5000",
    windows: opt.Windows = "4/2-5-2",
    where: opt.Where = None,
    predictions: Annotated[Path | None, opt.value("FILE", "Write every prediction as a table.")] = None,
    report: opt.Report = None,
    json: opt.Json = False,
) -> None:
    """Cross-validate on a data set, or answer questions.

    v1v2 uses each word's own contexts, v12 those of the two together, v1v2v12 both.
    """
    from bagpack.evaluate.rows import COLUMNS, predictions_table
    from bagpack.evaluate.run import EvaluateOptions, evaluate_file
    from bagpack.names import CONDITIONS
    from bagpack.report.sections import PICKS, picks_table
    from bagpack.sheets import check_table
    from bagpack.tasks.files import read_text_file
    from bagpack.tasks.questions import has_questions

    options = EvaluateOptions(
        preset=preset, conditions=tuple(CONDITIONS) if condition == "all" else (condition,), split=split, folds=folds,
        test=test, seed=seed, C=cost,
        columns=opt.parse_columns(columns), details=report is not None or json, precision=precision,
        counting=opt.counting(b, basis, limit, windows),
    )  # fmt: skip
    file = read_text_file(data)
    questions = has_questions(file)
    if predictions is not None:
        check_table(
            predictions, *(("table of picks", PICKS) if questions else ("table of predictions", COLUMNS))
        )
    with opt.at_work(json):
        result = evaluate_file(opt.selected(store, where), file, options)
    opt.write_out(predictions, picks_table(result) if questions else predictions_table(result))
    _show_result(result, json, report)
    if predictions is not None and not opt.is_silent(json):
        console.print_message(f"predictions: {predictions}")


def reproduce(
    task: Annotated[
        Literal["analogy", "synonyms", "plausibility", "relations"],
        opt.argument("TASK", "analogy, synonyms, plausibility or relations."),
    ],
    store: opt.StoreOrMatrix,
    data: Annotated[str, opt.value("FILE", "Your copy of the task's data.")],
    preset: opt.Preset = "paper",
    b: Annotated[int | None, opt.value("N", "Unigrams, and bigrams (1500; relations 500).", "-b")] = None,
    report: opt.Report = None,
    json: opt.Json = False,
) -> None:
    """Run one of the paper's four tasks, with its numbers next to ours."""
    from bagpack.evaluate.reproduce import reproduce as run
    from bagpack.evaluate.run import EvaluateOptions

    with opt.at_work(json):
        result = run(task, store, data, EvaluateOptions(preset=preset, counting=opt.counting(b)))
    _show_result(result, json, report)


def _show_result(
    result: Evaluation, json: bool, report: Path | None, facts: dict[str, Any] | None = None
) -> None:
    """Write the report if one is wanted, and print the result; with --json, other facts if they are given."""
    from bagpack.report.html import render_report, write_page
    from bagpack.report.terminal import print_result

    result = replace(result, command=typed_command())
    if report is not None:
        write_page(report, render_report(result))
    if json:
        console.print_json(result.to_dict() if facts is None else facts)
    elif not opt.is_silent(json):
        # Of the cross-validation's abstention and the model's own, the latter is shown.
        own = facts is not None and "threshold" in facts
        print_result(replace(result, abstention={}) if own else result, console.screen())
        if report is not None:
            console.print_message(f"report: {report}")


def typed_command() -> str:
    """The command as it was typed, without passwords and keys."""
    from bagpack.engines.base import hide_credentials

    return hide_credentials(shlex.join(["bagpack", *sys.argv[1:]]))
