"""Every row with its out-of-fold prediction: mistakes, suspicious labels, and the sentences behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bagpack.evaluate.probabilities import (
    abstention,
    abstentions,
    calibrated,
    calibration_parts,
    reliability,
    threshold_for,
)
from bagpack.evaluate.results import Evaluation
from bagpack.evaluate.schema import EvaluationResult, Prediction, Sentence
from bagpack.learn.calibration import answer_probability
from bagpack.learn.targets import chosen_labels
from bagpack.sheets import cell_text

if TYPE_CHECKING:
    from bagpack.contexts.concordance import Concordance
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Bools, Floats, Index

PRECISION = 0.9
MISTAKES = 100  # that get sentences
SENTENCES = 3  # of each of them
PIECE = 120  # characters of a sentence beyond the windows, each side
COLUMNS = (
    "w1",
    "w2",
    "label",
    "predicted",
    "probability",
    "label_probability",
    "abstained",
    "together",
    "fold",
    "line",
)


@dataclass(frozen=True)
class RowFacts:
    """The pair of each row, its line in the file, and how often it was seen (None: a word is unknown)."""

    pairs: Sequence[tuple[str, str]]
    lines: Sequence[int]
    together: Sequence[int | None]


def prediction_parts(
    found: Evaluation,
    targets: Targets,
    facts: RowFacts,
    precision: float = PRECISION,
    training: Evaluation | None = None,
) -> EvaluationResult:
    """The parts of a result that are about single rows: predictions, suspicious labels, reliability, abstention.

    ``training`` is a cross-validation of the training rows (see `calibration_splits`): where a test file is
    evaluated, probabilities and thresholds come from it, and without it there are none.
    """
    decisions = found.conditions[-1].decisions
    tested = found.tested
    names = [fold.name for fold in found.folds]
    folds = [names[fold] if fold >= 0 else None for fold in found.fold_of]
    if targets.kind == "rating":
        rows = [
            _row(facts, i, float(targets.ratings[i]), float(decisions[i, 0]) if tested[i] else None, folds[i])
            for i in range(len(targets))
        ]
        return cast(EvaluationResult, {"predictions": rows})
    parts = calibration_parts(found.fold_of)
    if training is not None:
        parts = calibration_parts(training.fold_of)
        decisions = np.where(training.tested[:, None], training.conditions[-1].decisions, decisions)
    per_label = calibrated(targets, decisions, parts)
    truth = targets.one_hot()
    chosen = chosen_labels(targets.kind, decisions)
    probability, of_label = (
        answer_probability(per_label, labels, targets.kind) for labels in (chosen, truth)
    )
    right = (truth == chosen).all(axis=1)
    known = np.array([count is not None for count in facts.together], dtype=bool)
    usable = tested & np.isfinite(probability)
    withheld = abstentions(probability, right, parts, known, precision)
    rows = []
    for i in range(len(targets)):
        row = _row(facts, i, _label(targets, truth[i]), None, folds[i])
        if tested[i]:
            row["predicted"] = _label(targets, chosen[i])
        if usable[i]:
            row["probability"] = round(float(probability[i]), 6)
            row["label_probability"] = round(float(of_label[i]), 6)
            row["abstained"] = bool(withheld[i])
        rows.append(row)
    out: dict[str, Any] = {"predictions": rows}
    if usable.any():
        chosen_on = (parts >= 0) & known
        threshold = threshold_for(probability[chosen_on], right[chosen_on], precision)
        out |= {
            "suspicious": suspicious(targets, per_label, usable),
            "reliability": reliability(probability[usable], right[usable]),
            "abstention": abstention(withheld[usable], right[usable], precision, threshold),
        }
    return cast(EvaluationResult, out)


def _row(
    facts: RowFacts, i: int, label: str | float, predicted: float | None, fold: str | None
) -> Prediction:
    w1, w2 = facts.pairs[i]
    return {
        "line": facts.lines[i],
        "w1": w1,
        "w2": w2,
        "label": label,
        "predicted": predicted,
        "fold": fold,
        "probability": None,
        "label_probability": None,
        "abstained": None,
        "together": facts.together[i],
    }


def _label(targets: Targets, columns: Bools) -> str:
    return ", ".join(str(name) for name, has in zip(targets.classes, columns, strict=True) if has)


def suspicious(targets: Targets, per_label: Floats, usable: Bools) -> list[int]:
    """Rows whose label the model contradicts with confidence, the surest first.

    Each label of a label set is judged by itself: whether the row should have it or not.
    """
    if targets.kind == "multilabel":
        margins = [
            _contradiction(np.column_stack([1 - p, p]), has.astype(np.intp), usable)
            for p, has in zip(per_label.T, targets.columns.T, strict=True)
        ]
        margin = np.max(margins, axis=0)
    else:
        margin = _contradiction(per_label, targets.codes, usable)
    return sorted(np.flatnonzero(margin > 0).tolist(), key=lambda i: (-margin[i], i))


def _contradiction(probability: Floats, given: Index, usable: Bools) -> Floats:
    """By how much the most probable label exceeds the given one; 0 unless the model is confident.

    Confident learning (Northcutt, Jiang and Chuang 2021): the other label is at least as probable as it is on average
    for rows that have it.
    """
    usual = np.full(probability.shape[1], np.inf)
    for label in np.unique(given[usable]):
        usual[label] = probability[usable & (given == label), label].mean()
    rows, shown = np.arange(len(given)), np.nan_to_num(probability)
    best = shown.argmax(axis=1)
    sure = usable & (shown[rows, best] >= usual[best])
    return np.where(sure, shown[rows, best] - shown[rows, given], 0.0)


def merge(parts: Sequence[EvaluationResult], precision: float = PRECISION) -> EvaluationResult:
    """The predictions of several tasks, one after the other; reliability and abstention over all of them."""
    rows = [row for part in parts for row in part["predictions"]]
    starts = np.cumsum([0, *(len(part["predictions"]) for part in parts)])
    doubtful = [
        int(start) + i for start, part in zip(starts, parts, strict=False) for i in part.get("suspicious", [])
    ]
    doubtful.sort(key=lambda i: (rows[i]["label_probability"] or 0.0) - (rows[i]["probability"] or 0.0))
    out: dict[str, Any] = {"predictions": rows}
    usable = [row for row in rows if row["probability"] is not None]
    if usable:
        right = np.array([not is_mistake(row) for row in usable])
        probability = np.array([row["probability"] for row in usable], dtype=np.float64)
        withheld = np.array([row["abstained"] for row in usable], dtype=bool)
        out |= {
            "suspicious": doubtful,
            "reliability": reliability(probability, right),
            "abstention": abstention(withheld, right, precision, None),
        }
    return cast(EvaluationResult, out)


def is_mistake(row: Prediction) -> bool:
    """Whether a tested row has another label than predicted; for ratings every tested row has an error."""
    return row["predicted"] is not None and row["predicted"] != row["label"]


def mistakes(rows: Sequence[Prediction]) -> list[int]:
    """Numbers of the wrong predictions: the most probable first, ratings with the largest error first."""

    def size(i: int) -> float:
        row = rows[i]
        if isinstance(row["label"], str):
            return -(row["probability"] or 0.0)
        return -abs(float(row["predicted"] or 0.0) - row["label"])

    return sorted((i for i, row in enumerate(rows) if is_mistake(row)), key=lambda i: (size(i), i))


def add_sentences(result: EvaluationResult, contexts: Callable[[str, str], Concordance]) -> None:
    """Give the first mistakes, and the suspicious rows, the first lines of their concordance."""
    rows = result.get("predictions", [])
    for i in dict.fromkeys([*mistakes(rows)[:MISTAKES], *result.get("suspicious", [])[:MISTAKES]]):
        if rows[i]["together"]:
            rows[i]["sentences"] = [
                sentence(line.document, line.pieces) for line in contexts(rows[i]["w1"], rows[i]["w2"])
            ]


def sentence(document: str, pieces: Sequence[str]) -> Sentence:
    """A line of the concordance, with what is beyond its windows cut to a bounded length."""
    before, *middle, after = pieces
    if len(before) > PIECE:
        before = "…" + before[-PIECE:]
    if len(after) > PIECE:
        after = after[:PIECE] + "…"
    return {"document": document, "pieces": [before, *(piece[: 2 * PIECE] for piece in middle), after]}


def predictions_table(result: EvaluationResult) -> list[list[str]]:
    """Header and rows of the table that ``--predictions`` writes."""
    rows = cast(list[dict[str, Any]], result.get("predictions", []))
    return [list(COLUMNS), *([cell_text(row[name]) for name in COLUMNS] for row in rows)]
