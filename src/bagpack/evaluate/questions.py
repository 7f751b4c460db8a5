"""Multiple choice as the paper ran it: analogies between pairs, and synonyms.

A question one of whose pairs has an all-zero vector in the condition at hand cannot be answered; the
worst-case score counts it as a random guess, 1/choices. Beside it stand the coverage and the accuracy on
complete questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError, UsageError
from bagpack.evaluate.crossval import CONDITIONS, check_found, cross_validate
from bagpack.evaluate.results import RESULT_FORMAT
from bagpack.evaluate.scores import Score, interval
from bagpack.evaluate.splits import check_folds, folds_of, generator_of, numbered
from bagpack.learn.counts import PairCounts
from bagpack.learn.fitting import condition_grams, weight_blocks
from bagpack.learn.presets import Preset, get_preset, portable
from bagpack.parallel import Progress, Shared, delayed, share, told

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints, Json


@dataclass(frozen=True)
class QuestionRows:
    """Where a question's pairs lie in the counts: the stem's row (analogies), the choices' rows.

    One whose answer is None is answered, but has no part in the scores.
    """

    choices: tuple[int, ...]
    answer: int | None
    stem: int | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows that must have a vector."""
        return self.choices if self.stem is None else (self.stem, *self.choices)


def question_rows(
    shapes: Sequence[tuple[int, int | None]], kind: Literal["analogies", "synonyms"]
) -> list[QuestionRows]:
    """Rows of questions that lie one after the other, from (number of choices, answer) of each.

    Examples
    --------
    >>> question_rows([(2, 0), (3, 1)], "analogies")[1]
    QuestionRows(choices=(4, 5, 6), answer=1, stem=3)
    """
    out = []
    at = 0
    for choices, answer in shapes:
        if choices < 2:
            raise InputError(f"a question has {choices} choices; at least two are needed")
        if answer is not None and not 0 <= answer < choices:
            raise InputError(
                f"a question with {choices} choices has the answer {answer}; give 0 to {choices - 1}"
            )
        stem = at if kind == "analogies" else None
        at += stem is not None
        out.append(QuestionRows(tuple(range(at, at + choices)), answer, stem))
        at += choices
    return out


@dataclass(frozen=True)
class QuestionResult:
    """One condition's answers.

    ``credit`` is 1 for the right choice and 0 for another, divided where choices tie to the last, and NaN where
    the right one is not known; ``picked`` is the first of the best. ``values`` has the decision value of every
    choice (analogies: summed).
    """

    name: str
    metrics: dict[str, Score]
    picked: Ints
    credit: Floats
    complete: Bools
    values: list[Floats] = field(repr=False)

    def to_dict(self) -> dict[str, Json]:
        """As JSON."""
        return {"name": self.name, "metrics": {name: score.to_dict() for name, score in self.metrics.items()}}


@dataclass(frozen=True)
class QuestionEvaluation:
    """All conditions' answers to a set of questions."""

    kind: str
    questions: list[QuestionRows]
    conditions: list[QuestionResult]
    baselines: list[QuestionResult]
    transductive: bool
    settings: dict[str, Any]
    notes: list[str]

    def __getitem__(self, name: str) -> QuestionResult:
        """The condition or baseline called ``name``."""
        for result in (*self.conditions, *self.baselines):
            if result.name == name:
                return result
        raise KeyError(name)

    @property
    def guess(self) -> float:
        """The score of guessing at random."""
        return float(np.mean([1 / len(question.choices) for question in self.questions]))

    def to_dict(self) -> dict[str, Json]:
        """As JSON, in the form that a report is made from."""
        random = {"name": "random", "metrics": {"score": {"mean": self.guess}}}
        return {
            "format": RESULT_FORMAT,
            "kind": self.kind,
            "main_metric": "score",
            "conditions": [result.to_dict() for result in self.conditions],
            "baselines": [random, *(result.to_dict() for result in self.baselines)],
            "transductive": self.transductive,
            "settings": self.settings,
            "notes": self.notes,
            "answers": [
                {
                    "answer": question.answer,
                    "picked": {result.name: int(result.picked[i]) for result in self.conditions},
                    "complete": {result.name: bool(result.complete[i]) for result in self.conditions},
                }
                for i, question in enumerate(self.questions)
            ],
        }


def unanswered_note(questions: Sequence[QuestionRows]) -> list[str]:
    """A sentence about questions that nobody has the answer of, if there are any."""
    n = sum(question.answer is None for question in questions)
    if not n:
        return []
    if n == len(questions):
        return ["No question says what its answer is, so there is no score."]
    have = "question has" if n == 1 else "questions have"
    return [f"{n} {have} no answer to compare with; the scores are those of the other {len(questions) - n}."]


def stems_of(questions: Sequence[QuestionRows]) -> list[int]:
    """The row of each analogy question's stem."""
    stems = [question.stem for question in questions if question.stem is not None]
    if len(stems) < len(questions):
        raise InputError("an analogy question has no stem; give it a pair")
    return stems


def best_choices(values: Floats) -> Ints:
    """The choices of the highest value; those a rounding error below it count as equal."""
    slack = 1e-10 * max(1.0, float(np.abs(values).max()))
    return np.flatnonzero(values >= values.max() - slack)


def score_questions(
    name: str,
    questions: Sequence[QuestionRows],
    best: Sequence[Ints],
    values: list[Floats],
    complete: Bools,
    folds: Sequence[Ints] | None,
) -> QuestionResult:
    """Worst-case score, coverage, accuracies: means over folds where there are any, else over questions.

    Folds hold questions whose answer is known.
    """
    guess = np.array([1 / len(question.choices) for question in questions])
    credit = np.array(
        [
            np.nan if q.answer is None else float(q.answer in chosen) / len(chosen)
            for q, chosen in zip(questions, best, strict=True)
        ]
    )
    worst = np.where(complete | np.isnan(credit), credit, guess)

    def mean_over_questions(values: Floats) -> Score:
        return replace(interval(values.tolist()), folds=())

    def mean(values: Floats) -> Score:
        if folds is None:
            return mean_over_questions(values)
        return interval([float(values[fold].mean()) for fold in folds])

    known = ~np.isnan(credit)

    metrics = {
        "score": mean(worst),
        "coverage": Score(float(complete.mean())),
        "complete_accuracy": mean_over_questions(credit[complete & known]),
        "accuracy": mean(credit),
    }
    picked = np.array([chosen[0] for chosen in best])
    return QuestionResult(name, metrics, picked, credit, complete, values)


def complete_questions(counts: PairCounts, questions: Sequence[QuestionRows], blocks: Sequence[str]) -> Bools:
    """Per question, whether all its pairs have a vector."""
    zero = counts.zero_rows(blocks)
    return np.array([not zero[list(question.rows)].any() for question in questions])


def two_point_decisions(gram: Floats, positive: int, negative: int, rows: Sequence[int], C: float) -> Floats:
    """Decision values of ``rows`` under the SVM of one positive and one negative row, in closed form.

    w = α (x⁺ − x⁻) with α = min(C, 2/‖x⁺ − x⁻‖²), and the bias puts 0 half-way between the two.
    """
    square = gram[positive, positive] + gram[negative, negative] - 2 * gram[positive, negative]
    alpha = C if square * C <= 2 else 2 / square
    bias = (gram[positive, positive] - gram[negative, negative]) / 2
    at = list(rows)
    return np.asarray(alpha * (gram[positive, at] - gram[negative, at] - bias))


def _rounds(
    gram: Floats, positive: int, negatives: Sequence[int], choices: Sequence[int], C: float
) -> Floats:
    return np.array([two_point_decisions(gram, positive, negative, choices, C) for negative in negatives])


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
    counts: PairCounts = shared.get()
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
    counts: PairCounts,
    questions: Sequence[QuestionRows],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "paper",
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
    if get_preset(preset).cosines:
        from bagpack.evaluate.cosines import solve_by_cosines  # which builds on this module

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
    preset = get_preset(preset)
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
                _rounds(gram, stems[i], negatives[i], question.choices, C)
                for i, question in enumerate(questions)
            ]
    else:
        with share(replace(counts, terms=counts.term_list), n_jobs, len(questions)) as shared:
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
            answers = told(shared.run(tasks), "questions", len(questions), progress)
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
    counts: PairCounts,
    questions: Sequence[QuestionRows],
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "paper",
    *,
    folds: int = 10,
    seed: int = 0,
    C: float = 1.0,
    transductive: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> QuestionEvaluation:
    """Answer synonym questions with one binary classifier over all (word, candidate) pairs.

    Right candidates are the positive pairs, the others the negative ones; a question's pairs lie in one fold,
    and the candidate of the highest decision value is the answer. The score is the mean over folds.
    """
    check_folds(folds)
    n = len(questions)
    answered = np.array([question.answer is not None for question in questions])
    if not answered.any():
        raise InputError(
            "no synonym question says what its answer is, and others are what they are learned from; "
            'give "answer" in some'
        )
    if answered.sum() < folds:
        many = f"{answered.sum()} questions" + ("" if answered.all() else " with an answer")
        raise InputError(
            f"there are {many}, fewer than the {folds} folds; use --folds {max(int(answered.sum()), 2)}"
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
    # Questions without an answer train nobody; all others train who answers them.
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
