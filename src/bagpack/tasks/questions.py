"""Multiple-choice questions: analogies (pairs) and synonyms (words), as JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bagpack.errors import InputError
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Dataset, Pair, UndecidedError, read_dataset, read_pairs

QuestionKind = Literal["analogies", "synonyms"]
CURE = 'write one JSON object per line: {"stem": ["a", "b"], "choice": [["c", "d"], ["e", "f"]], "answer": 0}'


@dataclass(frozen=True)
class Question:
    """A question: the stem and the choices are pairs (analogies) or words (synonyms)."""

    stem: Pair | str
    choices: tuple[Pair, ...] | tuple[str, ...]
    answer: int | None  # None if unknown
    line: int
    id: str = ""

    @property
    def kind(self) -> QuestionKind:
        """Whether the question compares pairs or words."""
        return "synonyms" if isinstance(self.stem, str) else "analogies"

    @property
    def pairs(self) -> list[Pair]:
        """The pairs whose vectors are needed: the stem and the choices, or the stem word with each choice."""
        if isinstance(self.stem, str):
            return [(self.stem, str(choice)) for choice in self.choices]
        return [self.stem, *(choice for choice in self.choices if isinstance(choice, tuple))]


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one file, all of one kind."""

    path: str
    kind: QuestionKind
    questions: list[Question]

    @property
    def pairs(self) -> list[Pair]:
        """Every pair the questions need, question by question."""
        return [pair for question in self.questions for pair in question.pairs]


def has_questions(file: TextFile) -> bool:
    """Whether a file holds questions and not a table: its first line that is not empty is a JSON object."""
    first = next((line for line in file.lines if line.strip()), "")
    return file.sheet is None and first.lstrip().startswith("{")


def read_any(path: str | Path | TextFile, columns: Mapping[str, str] | None = None) -> Dataset | QuestionSet:
    """Read questions, labelled or rated pairs, or bare pairs (also those with a label and a score)."""
    file = read_text_file(path)
    if has_questions(file):
        return read_questions(file)
    try:
        return read_dataset(file, columns=columns)
    except UndecidedError:
        words = {name: given for name, given in (columns or {}).items() if name not in ("label", "score")}
        return read_pairs(file, words)


def read_questions(path: str | Path | TextFile) -> QuestionSet:
    """Read multiple-choice questions, one JSON object per line; ``-`` is standard input.

    An object has ``stem``, ``choice`` (or ``choices``) and, if it is known, ``answer``, counted from 0; ``id`` is
    kept. `scripts/convert_questions.py` converts the text of the SAT package and of TOEFL.
    """
    file = read_text_file(path)
    questions: list[Question] = []
    for number, line in enumerate(file.lines, 1):
        if line.strip():
            try:
                questions.append(_question(number, line))
            except ValueError as error:
                raise file.error(number, str(error)) from None
    if not questions:
        raise InputError(f"{file.name} is empty; it needs at least one question")
    kind = questions[0].kind
    if other := next((one for one in questions if one.kind != kind), None):
        problem = f"this question is one of {other.kind}, the first one is of {kind}; put them in two files"
        raise file.error(other.line, problem)
    return QuestionSet(file.name, kind, questions)


def _question(number: int, line: str) -> Question:
    """The question in a line; a ValueError says what is wrong, and the fix."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = re.sub(r": line \d+ column (\d+).*", r" at column \1", str(error))
        raise ValueError(f"this is not JSON ({problem}); {CURE}") from None
    given = record.get("choice", record.get("choices")) if isinstance(record, dict) else None
    if not isinstance(given, list) or "stem" not in record:
        raise ValueError(f'this is not an object with a "stem" and a list "choice"; {CURE}')
    stem, choices = _target(record["stem"]), [_target(choice) for choice in given]
    answer = record.get("answer")
    if len(choices) < 2:
        raise ValueError(f"the question has {len(choices)} choices; it needs at least two")
    if answer is not None and (type(answer) is not int or not 0 <= answer < len(choices)):
        shown = json.dumps(answer)
        raise ValueError(f"the answer {shown} is none of the {len(choices)} choices; count them from 0")
    if odd := [shown_choice(choice) for choice in choices if type(choice) is not type(stem)]:
        fix = "make all of them pairs (analogies) or words (synonyms)"
        raise ValueError(f"of the stem and the choice {odd[0]}, one is a pair and one a word; {fix}")
    if answer is not None and choices.count(choices[answer]) > 1:
        shown = shown_choice(choices[answer])
        raise ValueError(f"the right choice {shown} is among the choices twice; remove one of them")
    return Question(stem, tuple(choices), answer, number, str(record.get("id", "")))  # type: ignore[arg-type]


def _target(value: Any) -> Pair | str:
    """A word, or a pair of words; a list of one word is that word."""
    words = value if isinstance(value, list) else [value]
    if len(words) in (1, 2) and all(isinstance(word, str) and word.strip() for word in words):
        first, *second = (word.strip() for word in words)
        return (first, second[0]) if second else str(first)
    shown = json.dumps(value, ensure_ascii=False)
    raise ValueError(f'{shown} is neither a word nor a pair; write "a" or ["a", "b"]')


def shown_choice(choice: Pair | str) -> str:
    """A word as it is, a pair with a colon: `puppy:dog`."""
    return choice if isinstance(choice, str) else ":".join(choice)
