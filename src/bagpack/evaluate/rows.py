"""Every row with its out-of-fold prediction: probabilities, when to abstain, mistakes, suspicious labels, sentences.

The calibration of a fold is fitted on the decision values of the other folds, and its threshold chosen there, so that
no row calibrates itself. A test file is calibrated on folds of the training rows alone, as a model in use would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.evaluate.result import Evaluation, Prediction
from bagpack.learn import calibration
from bagpack.learn.targets import chosen_labels, decode
from bagpack.sheets import Cell
from bagpack.wording import first_words, last_words

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Floats, Ints
    from bagpack.contexts.targets import ContextSource
    from bagpack.contexts.windows import Windows
    from bagpack.learn.fitting import HeldOut
    from bagpack.learn.targets import Targets

PARTS = 10  # more folds than this are joined: a calibration curve needs few rows
FEWEST = 20  # tested rows from which probabilities are calibrated
BINS = 10  # of a reliability curve
PRECISION = 0.9
MISTAKES = 100  # that get sentences
SENTENCES = 3  # of each of them
PIECE = 120  # characters of a sentence beyond the windows, each side
COLUMNS = (
    "w1", "w2", "label", "predicted", "probability", "label_probability", "abstained", "together", "fold", "line",
)  # fmt: skip


def add_predictions(
    found: Evaluation, targets: Targets, rows: list[Prediction], folds: Sequence[str], precision: float = PRECISION,
    training: tuple[Ints, HeldOut] | None = None,
) -> Evaluation:  # fmt: skip
    """Fill in the predictions of ``rows``, and add suspicious labels, reliability and abstention.

    ``training`` are the training rows of a test file with their held-out decision values, for the probabilities.
    """
    decisions, tested = found.conditions[-1].decisions, found.tested
    answers = decode(targets.kind, np.nan_to_num(decisions))
    for i in np.flatnonzero(tested).tolist():
        answer = answers[i]
        rows[i].predicted = float(answer) if targets.kind == "rating" else str(targets.classes[answer])
        rows[i].fold = folds[found.fold_of[i]]
    found = replace(found, predictions=rows)
    if targets.kind == "rating":
        return found
    parts = np.where(tested, found.fold_of % PARTS, -1)
    if training is not None:
        train, held_out = training
        parts, decisions = np.full(len(rows), -1), decisions.copy()
        parts[train], decisions[train] = held_out.fold, held_out.decisions
    per_label = calibrated(targets, decisions, parts)
    truth, chosen = targets.one_hot(), chosen_labels(targets.kind, decisions)
    probability, of_label, right = per_label[chosen], per_label[truth], truth[chosen]
    known = np.array([row.together is not None for row in rows], dtype=bool)
    usable = tested & np.isfinite(probability)
    if not usable.any():
        return found
    parts = np.where(known, parts, -1)
    withheld = ~known | ~calibration.accepted_answers(probability, right, parts, precision)
    for i in np.flatnonzero(usable).tolist():
        rows[i].probability = round(float(probability[i]), 6)
        rows[i].label_probability = round(float(of_label[i]), 6)
        rows[i].abstained = bool(withheld[i])
    threshold, fitted = None, parts >= 0
    if fitted.any():
        threshold = calibration.choose_threshold(probability[fitted], right[fitted], precision).value
    answered, right = ~withheld[usable], right[usable]
    abstention = {
        "precision": precision, "threshold": threshold, "coverage": float(answered.mean()),
        "precision_found": float(right[answered].mean()) if answered.any() else None,
    }  # fmt: skip
    return replace(
        found, suspicious=suspicious(targets, per_label, usable, ~truth[chosen]), abstention=abstention,
        reliability=reliability(probability[usable], right),
    )  # fmt: skip


def suspicious(targets: Targets, probability: Floats, usable: Bools, wrong: Bools) -> list[int]:
    """Rows whose label the model contradicts with confidence, the surest first.

    Confident learning (Northcutt, Jiang and Chuang 2021): another label is at least as probable as it is on average
    for rows that have it. The prediction, by decision values, must be ``wrong`` too.
    """
    given = targets.codes
    usual = np.full(probability.shape[1], np.inf)
    for label in np.unique(given[usable]):
        usual[label] = probability[usable & (given == label), label].mean()
    rows, shown = np.arange(len(given)), np.nan_to_num(probability)
    best = shown.argmax(axis=1)
    sure = usable & wrong & (shown[rows, best] >= usual[best])
    margin = np.where(sure, shown[rows, best] - shown[rows, given], 0.0)
    return sorted(np.flatnonzero(margin > 0).tolist(), key=lambda i: (-margin[i], i))


def mistakes(rows: Sequence[Prediction]) -> list[int]:
    """Numbers of the wrong predictions: the most probable first, ratings with the largest error first."""

    def size(i: int) -> float:
        label, predicted = rows[i].label, rows[i].predicted
        return (
            -(rows[i].probability or 0.0) if isinstance(label, str) else -abs(float(predicted or 0.0) - label)
        )

    return sorted((i for i, row in enumerate(rows) if row.predicted not in (None, row.label)), key=size)


def add_sentences(found: Evaluation, source: ContextSource, windows: Windows) -> None:
    """Give the first mistakes, and the suspicious rows, the first lines of their concordance."""
    rows = found.predictions
    for i in dict.fromkeys([*mistakes(rows)[:MISTAKES], *found.suspicious[:MISTAKES]]):
        if rows[i].together:
            lines = source.contexts(rows[i].w1, rows[i].w2, limit=SENTENCES, windows=windows)
            rows[i].sentences = [sentence(line.document, line.pieces) for line in lines]


def sentence(document: str, pieces: Sequence[str]) -> dict[str, Any]:
    """A line of the concordance, with what is beyond its windows cut to a bounded length."""
    before, *middle, after = pieces
    cut = [last_words(before, PIECE), *(piece[: 2 * PIECE] for piece in middle), first_words(after, PIECE)]
    return {"document": document, "pieces": cut}


def predictions_table(found: Evaluation) -> list[list[Cell]]:
    """Header and rows of the table that ``--predictions`` writes."""
    return [list(COLUMNS), *([getattr(row, name) for name in COLUMNS] for row in found.predictions)]


def calibrated(targets: Targets, decisions: Floats, parts: Ints) -> Floats:
    """Probability of every label (rows × classes), each part calibrated on the others, rows without a part on all."""
    found = np.full((len(targets), len(targets.classes)), np.nan)
    own = parts >= 0
    if own.sum() < FEWEST or len(np.unique(parts[own])) < 2:
        return found
    columns = targets.columns[own]
    found[own] = calibration.held_out_probabilities(decisions[own], columns, parts[own].astype(np.intp))
    rest = ~own & np.isfinite(decisions).all(axis=1)
    if rest.any():
        curves = calibration.fit_calibration(decisions[own], columns)
        found[rest] = calibration.probabilities_of(decisions[rest], curves)
    return found


def reliability(probability: Floats, right: Bools) -> dict[str, Any]:
    """Mean probability and accuracy in ten bins of equal width, and the expected calibration error."""
    place = np.searchsorted(np.linspace(0.0, 1.0, BINS + 1)[1:-1], probability)
    bins, error = [], 0.0
    for rows in (place == number for number in np.unique(place)):
        mean, share = float(probability[rows].mean()), float(right[rows].mean())
        bins.append({"n": int(rows.sum()), "probability": mean, "accuracy": share})
        error += rows.mean() * abs(share - mean)
    return {"bins": bins, "error": round(float(error), 6)}
