"""Multiple choice as the paper ran it: analogies between pairs, and synonyms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bagpack.errors import InputError, UsageError
from bagpack.evaluate.cosines import solve_by_cosines
from bagpack.evaluate.crossval import CONDITIONS, check_found, cross_validate
from bagpack.evaluate.questions import (
    QuestionEvaluation,
    QuestionResult,
    QuestionRows,
    best_choices,
    complete_questions,
    score_questions,
    stems_of,
    unanswered_note,
)
from bagpack.evaluate.splits import check_folds, folds_of, generator_of, numbered
from bagpack.learn.fitting import condition_grams, weight_blocks
from bagpack.learn.presets import Preset, get_preset, portable
from bagpack.parallel import Progress, Shared, delayed, share, with_progress
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints


def two_point_decisions(gram: Floats, positive: int, negative: int, rows: Sequence[int], C: float) -> Floats:
    """Decision values of ``rows`` under the SVM of one positive and one negative row, in closed form.

    w = α (x⁺ − x⁻) with α = min(C, 2/‖x⁺ − x⁻‖²), and the bias puts 0 half-way between the two.
    """
    square = gram[positive, positive] + gram[negative, negative] - 2 * gram[positive, negative]
    alpha = C if square * C <= 2 else 2 / square
    bias = (gram[positive, positive] - gram[negative, negative]) / 2
    at = list(rows)
    return np.asarray(alpha * (gram[positive, at] - gram[negative, at] - bias))


def elect(values: Floats) -> tuple[Ints, Floats]:
    """The choices with most rounds won (a tied round is shared), ties by summed value; and those sums."""
    wins = np.zeros(values.shape[1])
    for row in values:
        best = best_choices(row)
        wins[best] += 1 / len(best)
    total = values.sum(axis=0)
    most = best_choices(wins)
    return most[best_choices(total[most])], total


def _inductive_rounds(
    shared: Shared,
    stem: int,
    negatives: Sequence[int],
    choices: Sequence[int],
    conditions: dict[str, tuple[str, ...]],
    preset: str | Preset,
    C: float,
) -> dict[str, Floats]:
    """The rounds of one question with weighting and scaling fitted on each round's two rows alone."""
    counts: BlockMatrix = shared.get()
    preset = get_preset(preset)
    names = list(dict.fromkeys(name for blocks in conditions.values() for name in blocks))
    out: dict[str, list[Floats]] = {condition: [] for condition in conditions}
    for negative in negatives:
        rows = counts[[stem, negative, *choices]]
        blocks = weight_blocks(rows, names, preset, counts[[stem, negative]])
        for condition, gram in condition_grams(blocks, conditions):
            out[condition].append(two_point_decisions(gram, 0, 1, range(2, len(rows)), C))
    return {condition: np.array(values) for condition, values in out.items()}


def solve_analogies(
    counts: BlockMatrix,
    questions: Sequence[QuestionRows],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern",
    *,
    rounds: int = 10,
    seed: int = 0,
    C: float = 1.0,
    transductive: bool = True,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> QuestionEvaluation:
    """Answer analogy questions, each its own data set.

    The stem is the positive row; each round takes the stem of another question, drawn at random without
    repetition, as the negative one. The choice of the highest decision value wins the round, most wins the
    question. Weighting and scaling are fitted on all rows unless ``transductive`` is off, when they see the
    round's two rows alone. A preset may answer by `solve_by_cosines` instead.
    """
    if progress:
        progress("features", 0, 0)
    preset = get_preset(preset)
    if preset.analogies_by_cosine:
        return solve_by_cosines(counts, questions, conditions, preset, transductive=transductive)
    if len(questions) < 2:
        raise InputError(
            "there are fewer than two analogies; add some, since each takes the others' stems as negatives, "
            "or use --preset modern, which needs no others"
        )
    stems = stems_of(questions)
    if rounds < 1:
        raise UsageError(f"at least 1 round is needed, not {rounds}")
    check_found(counts)
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    rng = generator_of(seed)
    size = min(rounds, len(questions) - 1)
    negatives = []
    for i in range(len(questions)):
        drawn = rng.choice(len(questions) - 1, size=size, replace=False)
        negatives.append([stems[k + (k >= i)] for k in drawn])
    values: dict[str, list[Floats]] = {condition: [] for condition in conditions}
    if transductive:
        names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
        for condition, gram in condition_grams(weight_blocks(counts, names, preset), wanted):
            values[condition] = [
                np.array([two_point_decisions(gram, stems[i], k, question.choices, C) for k in negatives[i]])
                for i, question in enumerate(questions)
            ]
    else:
        with share(counts, n_jobs, len(questions)) as shared:
            tasks = (
                delayed(_inductive_rounds)(
                    shared,
                    stems[i],
                    negatives[i],
                    question.choices,
                    wanted,
                    portable(preset),
                    C,
                )
                for i, question in enumerate(questions)
            )
            answers = with_progress(shared.run(tasks), "questions", len(questions), progress)
            found: list[dict[str, Floats]] = list(answers)
        values = {condition: [answer[condition] for answer in found] for condition in conditions}
    results = []
    for condition in conditions:
        elected = [elect(rows) for rows in values[condition]]
        complete = complete_questions(counts, questions, wanted[condition])
        best, totals = [chosen for chosen, _ in elected], [total for _, total in elected]
        results.append(score_questions(condition, questions, best, totals, complete, None))
    settings = {"preset": preset.name, "rounds": size, "seed": seed, "C": C, "transductive": transductive}
    fitted = "all rows (transductive)" if transductive else "each round's two rows"
    notes = [f"Weighting and scaling were fitted on {fitted}.", *unanswered_note(questions)]
    return QuestionEvaluation("analogies", list(questions), results, [], transductive, settings, notes)


def solve_synonyms(
    counts: BlockMatrix,
    questions: Sequence[QuestionRows],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern",
    *,
    folds: int = 10,
    seed: int = 0,
    C: float = 1.0,
    transductive: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> QuestionEvaluation:
    """Answer synonym questions with one binary classifier over all (word, candidate) pairs.

    Right candidates are the positive pairs, the others the negative ones; a question's pairs are in one fold,
    and the candidate of the highest decision value is the answer. The score is the mean over folds.
    """
    check_folds(folds)
    n = len(questions)
    answered = np.array([question.answer is not None for question in questions])
    if not answered.any():
        raise InputError(
            "no synonym question has an answer, and other questions' answers are needed for training; "
            'give "answer" in some'
        )
    known = int(answered.sum())
    if known < folds:
        suffix = "" if answered.all() else " with an answer"
        if known == 1:
            raise InputError(
                f"there is only one synonym question{suffix}; cross-validation needs at least two"
            )
        raise InputError(
            f"there are {known} questions{suffix}, fewer than the {folds} folds; use --folds {known}"
        )
    preset = get_preset(preset)
    rows = np.array([row for question in questions for row in question.choices], dtype=np.intp)
    starts = np.cumsum([0] + [len(question.choices) for question in questions])
    owner = np.repeat(np.arange(n), np.diff(starts))
    y = np.zeros(len(rows), dtype=bool)
    y[[starts[i] + q.answer for i, q in enumerate(questions) if q.answer is not None]] = True
    dealt = np.arange(answered.sum()) % folds
    generator_of(seed).shuffle(dealt)
    fold_of = np.full(n, folds)
    fold_of[answered] = dealt
    splits = folds_of(fold_of[owner], [*numbered(folds), "asked"])
    # Unanswered questions are never used for training.
    splits = [replace(split, train=split.train[answered[owner[split.train]]]) for split in splits]
    if answered.all():
        splits.pop()
    found = cross_validate(
        counts[rows],
        y,
        splits,
        conditions,
        preset,
        C=C,
        transductive=transductive,
        n_jobs=n_jobs,
        progress=progress,
    )
    members = [np.flatnonzero(fold_of == k) for k in range(folds)]

    def answer(name: str, complete: Bools) -> QuestionResult:
        decisions = found[name].decisions[:, 0]
        values = [decisions[starts[i] : starts[i + 1]] for i in range(n)]
        return score_questions(
            name, questions, [best_choices(value) for value in values], values, complete, members
        )

    results = [
        answer(name, complete_questions(counts, questions, preset.blocks_of(name))) for name in conditions
    ]
    baselines = [answer("words-only", np.ones(n, dtype=bool))]
    settings = {"preset": preset.name, "folds": folds, "seed": seed, "C": C, "transductive": transductive}
    notes = [found.notes[0], *unanswered_note(questions)]
    return QuestionEvaluation("synonyms", list(questions), results, baselines, transductive, settings, notes)
