"""Models for use: train on a data set, predict new pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.errors import InputError, StoreError, UsageError
from bagpack.evaluate.crossval import check_found
from bagpack.evaluate.schema import EvaluationResult
from bagpack.evaluate.splits import TooFewPairsError
from bagpack.experiments.counting import CountOptions, corpus_facts, data_facts, versions
from bagpack.experiments.evaluation import (
    EvaluateOptions,
    Rows,
    evaluate_rows,
    features_of,
    load_rows,
    seen_together,
)
from bagpack.files import check_not_read
from bagpack.find.background import MANIFEST, background_answer, draw_background
from bagpack.learn import LinearModel, fit_counts, load_model, model_card, save_model
from bagpack.learn.fitting import SvmSettings
from bagpack.learn.held_out import calibrate
from bagpack.learn.model import pair_hashes
from bagpack.learn.model_io import check_model_place
from bagpack.learn.targets import Targets, encode_targets
from bagpack.parallel import Progress
from bagpack.sources import open_source
from bagpack.tasks.oddities import similar_labels, similar_labels_sentence
from bagpack.vectors.matrix import BlockMatrix, Pair
from bagpack.vectors.storage import is_matrix

FIRST, LAST = ("w1", "w2", "label", "probability"), ("together", "trained")  # columns of answers


def train_file(
    source: str, path: str, out: str, counting: CountOptions, options: EvaluateOptions, *,
    condition: str = "v1v2v12", evaluate: bool = True, precision: float | None = None, background: int = 0,
    overwrite: bool = False, progress: Progress | None = None,
) -> tuple[LinearModel, EvaluationResult | None]:  # fmt: skip
    """Train on all rows, write the model and its card; returns the model and what the cross-validation found.

    With ``precision``, the model answers only where its probability is high enough that this share is right. With
    ``background``, this number of co-occurring pairs are drawn from the corpus and trained on as `none`; the
    cross-validation is without them.
    """
    if background < 0:
        raise UsageError(f"--background must be at least 0, not {background}")
    if background and is_matrix(Path(source)):
        raise UsageError(
            f"--background draws pairs from a corpus, and {source} is a matrix; name the store instead"
        )
    check_not_read(Path(out), source, path, counting.basis)
    check_model_place(Path(out), overwrite)
    rows = load_rows(source, path, None, counting, options, progress)
    if rows.data.kind == "relations" and rows.data.group_column:
        column = rows.data.group_column
        raise UsageError(
            f"{path} holds several tasks, one for each {column}; write the rows of one {column} to a file and train "
            f"on that"
        )
    # Scores first: a data set that cannot be evaluated is found out before a model is written.
    result: EvaluationResult | None = None
    if evaluate:
        try:
            result = evaluate_rows(rows, path, replace(options, features=False), counting.n_jobs, progress)
        except TooFewPairsError as error:
            raise InputError(f"{error}, or train without scores (--no-scores)") from error
    if progress:
        progress("model", 0, 0)
    matrix, targets = rows.matrix, rows.targets
    if background:
        matrix, targets = _with_background(rows, source, background, options.seed, counting.n_jobs, progress)
    if not evaluate:  # otherwise the evaluation has looked at both
        check_found(rows.matrix)
        for group in similar_labels(rows.data.labels):
            warnings.warn(f"there are {similar_labels_sentence(group)}", stacklevel=2)
    svm = SvmSettings(options.cost, options.epsilon)
    jobs = counting.n_jobs
    model = fit_counts(matrix, targets, condition, options.preset, svm, n_jobs=jobs)
    model = calibrate(model, matrix, targets, options.preset, svm, precision, n_jobs=jobs)
    drawn = len(matrix) - len(rows.matrix)
    model = replace(model, trained=np.unique(pair_hashes(rows.matrix.pairs)))  # drawn pairs may be found
    if result and options.features:
        result["features"] = features_of(model)
    manifest, card = _described(model, rows, path, _scores(result), drawn, options.seed)
    save_model(model, out, manifest=manifest, card=card, overwrite=overwrite)
    return load_model(out), result


def _described(
    model: LinearModel, rows: Rows, path: str, scores: dict[str, dict[str, Any]], drawn: int, seed: int
) -> tuple[dict[str, Any], str]:
    """The manifest and the card of a model; `drawn` is the number of background pairs."""
    matrix, data = rows.matrix, {"path": path, "rows": len(rows.matrix)}
    facts = data_facts(matrix, path)
    manifest: dict[str, Any] = {
        "data": {name: value for name, value in facts.items() if not name.endswith("_list")},
        "scores": scores,
        "versions": versions(),
    }
    if rows.data.kind == "relations":
        data["labels"] = rows.data.label_counts
    if drawn:
        manifest[MANIFEST] = {"pairs": drawn, "seed": seed}
        data["background"] = (
            f"{drawn:,} co-occurring pairs of the corpus (seed {seed}); scores are without them"
        )
    card = model_card(
        model,
        title=f"BagPack model of {Path(path).name}",
        corpus=dict(corpus_facts(matrix)),
        data=data,
        scores=scores,
        coverage={
            "unknown words": facts["unknown_words"],
            "pairs never seen together": facts["unseen_pairs"],
        },
        caps={"limit": matrix.settings.limit, "words": facts["capped_words"], "pairs": facts["capped_pairs"]},
        versions={name: value for name, value in versions().items() if name != "bagpack"},
    )
    return manifest, card


def _with_background(
    rows: Rows, store: str, number: int, seed: int, n_jobs: int | None, progress: Progress | None
) -> tuple[BlockMatrix, Targets]:
    """The rows and background pairs, as a matrix and what is to be learned."""
    if rows.data.kind == "ratings":
        raise UsageError("--background is for labels, and this data set holds ratings; train without it")
    matrix = rows.matrix
    source = open_source(store)
    drawn = draw_background(
        source, matrix.pairs, number, seed=seed, between=matrix.settings.windows.between, n_jobs=n_jobs
    )
    grown = matrix.grow(source, drawn, n_jobs, progress).rows_of([*matrix.pairs, *drawn])
    answers = list(rows.answers)
    return grown, encode_targets([*answers, *[background_answer(answers)] * len(drawn)])


def _scores(result: EvaluationResult | None) -> dict[str, dict[str, Any]]:
    entries = [] if result is None else [*result["conditions"], *result.get("baselines", [])]
    return {
        entry["name"]: {
            metric: {bound: score.get(bound) for bound in ("mean", "low", "high")}
            for metric, score in entry["metrics"].items()
        }
        for entry in entries
    }


def predict_pairs(
    model_path: str, pairs: Sequence[Pair], *, store: str | None = None, any_store: bool = False,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> tuple[LinearModel, BlockMatrix, Any, np.ndarray]:  # fmt: skip
    """Labels (or ratings) of new pairs: model, their matrix, answers, decision values."""
    model = load_model(model_path)
    if store is not None and is_matrix(Path(store)):
        matrix = BlockMatrix.open(store).rows_of(pairs)
        if matrix.basis != model.basis:
            raise StoreError(
                f"the matrix {store} was counted over another basis than the model's; name the store"
            )
    else:
        matrix = model.count(pairs, model.open_source(store, any_store), n_jobs, progress)
    decisions = model.decisions(matrix)
    return model, matrix, model.decode(decisions), decisions


def label_columns(labels: Sequence[str]) -> list[str]:
    """The names of the labels' columns: a label that is the name of another column gets `score of` before it.

    >>> label_columns(["kind", "together"])
    ['kind', 'score of together']
    """
    taken = {*FIRST, *LAST}
    names = []
    for label in labels:
        name = label
        while name.lower() in taken or (name != label and name in labels):
            name = f"score of {name}"
        names.append(name)
    return names


def answer_rows(
    model: LinearModel, matrix: BlockMatrix, pairs: Sequence[Pair], answers: Any, decisions: np.ndarray
) -> Iterator[list[str | float | int | None]]:
    """`w1 w2 label probability`, a score per label, `together` and `trained`; or `w1 w2 score together trained`.

    A header comes first. The label is empty where the model has no answer: a word is unknown, or the probability is
    below the model's threshold. ``trained`` says whether the pair was among the training pairs.
    """
    together = seen_together(matrix)
    trained = ["yes" if one else "no" for one in model.trained_on(pairs)]
    if model.kind == "rating":
        yield ["w1", "w2", "score", *LAST]
        ratings = np.asarray(answers, float).tolist()
        for (w1, w2), score, seen, known in zip(pairs, ratings, together, trained, strict=True):
            yield [w1, w2, score, seen, known]
        return
    yield [*FIRST, *label_columns(list(map(str, model.classes))), *LAST]
    given = model.answered(matrix, decisions)
    probability: list[float | None] = [None] * len(pairs)
    if model.calibration is not None:
        probability = model.answer_probabilities(decisions).round(6).tolist()
    scores = model.scores_of(decisions).tolist()
    columns = zip(pairs, answers, given, probability, scores, together, trained, strict=True)
    for (w1, w2), answer, has, share, row, seen, known in columns:
        label = ",".join(sorted(map(str, answer))) if isinstance(answer, set | frozenset) else str(answer)
        yield [w1, w2, label if has else "", share, *row, seen, known]
