"""Multiple-choice questions: analogies (pairs) and synonyms (words), as JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bagpack.errors import InputError
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Dataset, Pair, read_labelled_or_bare

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
        """The pairs whose vectors the question needs.

        Analogies: the stem, then the choices. Synonyms: the stem word with each choice.
        """
        if isinstance(self.stem, str):
            return [(self.stem, str(choice)) for choice in self.choices]
        return [self.stem, *(choice for choice in self.choices if isinstance(choice, tuple))]


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one file, all of one kind."""

    path: str
    kind: QuestionKind
    questions: list[Question]

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def pairs(self) -> list[Pair]:
        """Every pair the questions need, question by question."""
        return [pair for question in self.questions for pair in question.pairs]


def has_questions(file: TextFile) -> bool:
    """Whether a file holds questions and not a table: its first line that is not empty is a JSON object."""
    first = next((line for line in file.lines if line.strip()), "")
    return file.sheet is None and first.lstrip().startswith("{")


def read_any(path: str | Path | TextFile, columns: Mapping[str, str] | None = None) -> Dataset | QuestionSet:
    """Read questions, labelled or rated pairs, or bare pairs: whatever the file holds."""
    file = read_text_file(path)
    return read_questions(file) if has_questions(file) else read_labelled_or_bare(file, columns)


def read_questions(path: str | Path | TextFile) -> QuestionSet:
    """Read multiple-choice questions, one JSON object per line; ``-`` is standard input.

    An object has ``stem``, ``choice`` (or ``choices``) and, if it is known, ``answer``, counted from 0; ``id`` is
    kept. `scripts/convert_questions.py` converts the text of the SAT package and of TOEFL.
    """
    file = read_text_file(path)
    questions = [_question(file, number, line) for number, line in enumerate(file.lines, 1) if line.strip()]
    if not questions:
        raise InputError(f"{file.name} is empty; it needs at least one question")
    kind = questions[0].kind
    for question in questions:
        if question.kind != kind:
            raise file.error(
                question.line,
                f"this question is one of {question.kind}, the first one is of {kind}; put them in two files",
            )
    return QuestionSet(file.name, kind, questions)


def _question(file: TextFile, number: int, line: str) -> Question:
    try:
        record = json.loads(line)
    except ValueError as error:
        problem = re.sub(r": line \d+ column (\d+).*", r" at column \1", str(error))
        raise file.error(number, f"this is not JSON ({problem}); {CURE}") from None
    except RecursionError:
        raise file.error(number, f"this JSON is nested too deeply; {CURE}") from None
    if not isinstance(record, dict):
        raise file.error(number, f"this is JSON but not an object; {CURE}")
    if "stem" not in record:
        raise file.error(number, 'the question has no "stem"; give a pair ["a", "b"] or a word')
    name = next((name for name in ("choice", "choices") if name in record), None)
    if name is None:
        raise file.error(number, 'the question has no "choice"; give a list of pairs or of words')
    if not isinstance(record[name], list):
        raise file.error(number, f'"{name}" is not a list; give a list of pairs or of words')
    stem = _target(file, number, record["stem"])
    choices = [_target(file, number, choice) for choice in record[name]]
    answer = record.get("answer")
    if answer is not None and (not isinstance(answer, int) or isinstance(answer, bool)):
        raise file.error(number, f"the answer {json.dumps(answer)} is not an integer; count choices from 0")
    _check(file, number, stem, choices, answer)
    return Question(stem, tuple(choices), answer, number, str(record.get("id", "")))  # type: ignore[arg-type]


def _check(
    file: TextFile, number: int, stem: Pair | str, choices: list[Pair | str], answer: int | None
) -> None:
    if len(choices) < 2:
        count = "one choice" if choices else "no choices"
        raise file.error(number, f"the question has {count}; it needs at least two")
    if answer is not None and not 0 <= answer < len(choices):
        raise file.error(
            number, f"the answer {answer} is none of the {len(choices)} choices; count them from 0"
        )
    of_pairs = isinstance(stem, tuple)
    for choice in choices:
        if isinstance(choice, tuple) != of_pairs:
            raise file.error(
                number,
                f"the stem is a {'pair' if of_pairs else 'word'} but the choice {_shown(choice)} is a "
                f"{'word' if of_pairs else 'pair'}; make both pairs (analogies) or both words (synonyms)",
            )
    if answer is not None and choices.count(choices[answer]) > 1:
        raise file.error(
            number,
            f"the right choice {_shown(choices[answer])} is among the choices twice; remove one of them",
        )


def _target(file: TextFile, number: int, value: Any) -> Pair | str:
    """A word, or a pair of words; a list of one word is that word."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        if len(value) == 2:
            return value[0].strip(), value[1].strip()
        if len(value) == 1:
            return str(value[0].strip())
    raise file.error(
        number,
        f'{json.dumps(value, ensure_ascii=False)} is neither a word nor a pair; write "a" or ["a", "b"]',
    )


def _shown(choice: Pair | str) -> str:
    return ":".join(choice) if isinstance(choice, tuple) else choice
