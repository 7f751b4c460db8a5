"""The picks of each question, as a report, a terminal and a table show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bagpack.evaluate.schema import EvaluationResult

PICKS = ("id", "stem", "answer")  # the first columns of a table of picks
RIGHT, WRONG, GUESSED = "✓", "✗", "?"
MARKS = f"{GUESSED} some pair of the question has no vector, so the pick counts as a guess"


class Pick(NamedTuple):
    """A choice, and a mark: right, wrong, as good as a guess, or none where the answer is not known."""

    choice: str
    mark: str


class AnsweredQuestion(NamedTuple):
    """A question with each condition's pick; ``answer`` is empty where it is not known."""

    id: str
    stem: str
    answer: str
    picks: dict[str, Pick]


def answered_questions(result: EvaluationResult) -> list[AnsweredQuestion]:
    """The questions of a result, in their order; none if it is one of other data."""
    names = [condition["name"] for condition in result["conditions"]]
    out = []
    for entry in result.get("answers", []):
        choices, right = [_text(choice) for choice in entry["choices"]], entry["answer"]
        picks = {}
        for name in names:
            at = entry["picked"][name]
            mark = "" if right is None else RIGHT if at == right else WRONG
            picks[name] = Pick(choices[at], mark if entry["complete"][name] else GUESSED)
        answer = "" if right is None else choices[right]
        out.append(AnsweredQuestion(entry["id"], _text(entry["stem"]), answer, picks))
    return out


def picks_table(result: EvaluationResult) -> Iterator[list[str]]:
    """Rows of a table: the question, its answer, and per condition the pick and whether it is right."""
    words = {RIGHT: "yes", WRONG: "no", GUESSED: "guess"}
    names = [condition["name"] for condition in result["conditions"]]
    yield [*PICKS, *(column for name in names for column in (name, f"{name} right"))]
    for question in answered_questions(result):
        picks = [question.picks[name] for name in names]
        cells = [cell for pick in picks for cell in (pick.choice, words.get(pick.mark, ""))]
        yield [question.id, question.stem, question.answer, *cells]


def _text(target: str | list[str]) -> str:
    return target if isinstance(target, str) else ":".join(target)
