"""Questions with several choices: the rows of their pairs, and how answers are scored.

A question one of whose pairs has an all-zero vector in the condition at hand cannot be answered; the
worst-case score counts it as a random guess, 1/choices. Coverage and the accuracy on complete
questions are reported with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bagpack.errors import InputError
from bagpack.evaluate.comparison import Score, interval
from bagpack.evaluate.schema import RESULT_FORMAT
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Bools, Floats, Ints, Json


@dataclass(frozen=True)
class QuestionRows:
    """Rows of a question's pairs in the counts: the stem's (analogies), and the choices'.

    A question whose answer is None is answered, but not scored.
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
    """Rows of questions that follow each other, from (number of choices, answer) of each.

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

    ``credit`` is 1 for the right choice and 0 for another, ties share the point equally, and NaN where the
    right one is unknown; ``picked`` is the first of the best. ``values`` has the decision value of every
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
        return {result.name: result for result in (*self.conditions, *self.baselines)}[name]

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
    """A sentence about questions without an answer, if there are any."""
    n = sum(question.answer is None for question in questions)
    if not n:
        return []
    if n == len(questions):
        return ["No question has an answer, so there is no score."]
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
        return replace(interval(values.tolist(), "accuracy"), folds=())

    def mean(values: Floats) -> Score:
        if folds is None:
            return mean_over_questions(values)
        return interval([float(values[fold].mean()) for fold in folds], "accuracy")

    known = ~np.isnan(credit)

    metrics = {
        "score": mean(worst),
        "coverage": Score(float(complete.mean())),
        "complete_accuracy": mean_over_questions(credit[complete & known]),
        "accuracy": mean(credit),
    }
    picked = np.array([chosen[0] for chosen in best])
    return QuestionResult(name, metrics, picked, credit, complete, values)


def complete_questions(
    counts: BlockMatrix, questions: Sequence[QuestionRows], blocks: Sequence[str]
) -> Bools:
    """Per question, whether all its pairs have a vector."""
    zero = counts.zero_rows(blocks)
    return np.array([not zero[list(question.rows)].any() for question in questions])
