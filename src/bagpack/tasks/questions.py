"""Multiple-choice questions: analogies (pairs) and synonyms (words), as JSON lines or as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bagpack.errors import UsageError
from bagpack.tasks.question_texts import RawQuestion, parse_bars, parse_sat, parse_toefl, text_format
from bagpack.tasks.textfile import TextFile, read_text_file
from bagpack.tasks.words import Pair, distinct_words

QuestionKind = Literal["analogies", "synonyms"]
# The SAT set fills up its questions of four choices with this one.
_PLACEHOLDER = ("no", "choice")


@dataclass(frozen=True)
class Question:
    """A question: the stem and the choices are pairs (analogies) or words (synonyms)."""

    stem: Pair | str
    choices: tuple[Pair, ...] | tuple[str, ...]
    answer: int | None  # None if unknown
    line: int
    id: str = ""
    group: str = ""

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
    """The questions of one file, all of one kind.

    ``placeholders`` counts the choices *no choice* that were dropped (the SAT data has them).
    """

    path: str
    kind: QuestionKind
    questions: list[Question]
    placeholders: int = 0

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, at: int) -> Question:
        return self.questions[at]

    @property
    def pairs(self) -> list[Pair]:
        """Every pair the questions need, question by question."""
        return [pair for question in self.questions for pair in question.pairs]

    @property
    def words(self) -> list[str]:
        """Each word once, in the order of first appearance."""
        return distinct_words(self.pairs)


def read_questions(path: str | Path | TextFile, answers: str | Path | None = None) -> QuestionSet:
    """Read multiple-choice questions; the format is recognised by its content, ``-`` is standard input.

    Parameters
    ----------
    path
        JSON lines (``stem``, ``choice`` or ``choices``, ``answer`` from 0 if it is known); the SAT package's text;
        TOEFL's text; or lines of the form ``word | right choice | other | other``.
    answers
        The file with TOEFL's answers. Without it, a file of the same name ending in .ans, .key or
        .answers is looked for.
    """
    file = read_text_file(path)
    form = text_format(file)
    if answers is not None and form != "toefl":
        raise UsageError(
            f"--answers {answers} is for TOEFL's text; {file.name} has the answers next to the questions"
        )
    if form == "jsonl":
        raw = list(_parse_json_lines(file))
    elif form == "sat":
        raw = list(parse_sat(file))
    elif form == "toefl":
        raw = list(parse_toefl(file, answers))
    else:
        raw = list(parse_bars(file))
    questions, placeholders = [], 0
    for question in raw:
        choices, answer = question.choices, question.answer
        if _PLACEHOLDER in choices:
            choices, answer, dropped = _without_placeholders(file, question)
            placeholders += dropped
        questions.append(_checked(file, question, choices, answer))
    kind = questions[0].kind
    for parsed in questions:
        if parsed.kind != kind:
            raise file.error(
                parsed.line,
                f"this question is one of {parsed.kind}, the first one is of {kind}; put them in two files",
            )
    return QuestionSet(file.name, kind, questions, placeholders)


def _without_placeholders(file: TextFile, question: RawQuestion) -> tuple[list[Any], int | None, int]:
    kept = [at for at, choice in enumerate(question.choices) if choice != _PLACEHOLDER]
    answer = question.answer
    if answer is not None and 0 <= answer < len(question.choices):
        if answer not in kept:
            raise file.error(question.line, "the answer is the placeholder 'no choice'; correct the answer")
        answer = kept.index(answer)
    elif answer is not None:
        answer = len(kept)
    return [question.choices[at] for at in kept], answer, len(question.choices) - len(kept)


def _checked(file: TextFile, raw: RawQuestion, choices: list[Any], answer: int | None) -> Question:
    if len(choices) < 2:
        count = "one choice" if choices else "no choices"
        raise file.error(raw.line, f"the question has {count}; it needs at least two")
    if answer is None and not raw.may_lack_answer:
        raise file.error(raw.line, f"the question has no answer; {raw.answer_cure}")
    if answer is not None and not 0 <= answer < len(choices):
        raise file.error(
            raw.line, f"the answer {raw.answer_text} is none of the {len(choices)} choices; {raw.answer_cure}"
        )
    of_pairs = isinstance(raw.stem, tuple)
    for choice in choices:
        if isinstance(choice, tuple) != of_pairs:
            raise file.error(
                raw.line,
                f"the stem is a {'pair' if of_pairs else 'word'} but the choice {_shown(choice)} is a "
                f"{'word' if of_pairs else 'pair'}; make both pairs (analogies) or both words (synonyms)",
            )
    if answer is not None and choices.count(choices[answer]) > 1:
        raise file.error(
            raw.line,
            f"the right choice {_shown(choices[answer])} is among the choices twice; remove one of them",
        )
    return Question(raw.stem, tuple(choices), answer, raw.line, raw.id, raw.group)


def _shown(choice: Pair | str) -> str:
    return ":".join(choice) if isinstance(choice, tuple) else choice


def _parse_json_lines(file: TextFile) -> Iterator[RawQuestion]:
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            problem = re.sub(r": line \d+ column (\d+).*", r" at column \1", str(error))
            raise file.error(
                number, f"this is not JSON ({problem}); write one question per line, as one JSON object"
            ) from None
        if not isinstance(record, dict):
            raise file.error(
                number, 'this is JSON but not an object; write {"stem": …, "choice": …, "answer": …}'
            )
        yield _from_record(file, number, record)


def _from_record(file: TextFile, number: int, record: dict[str, Any]) -> RawQuestion:
    if "stem" not in record:
        raise file.error(number, 'the question has no "stem"; give a pair ["a", "b"] or a word')
    given = [name for name in ("choice", "choices") if name in record]
    if not given:
        raise file.error(number, 'the question has no "choice"; give a list of pairs or of words')
    choices = record[given[0]]
    if not isinstance(choices, list):
        raise file.error(number, f'"{given[0]}" is not a list; give a list of pairs or of words')
    answer = record.get("answer")
    if answer is not None and (not isinstance(answer, int) or isinstance(answer, bool)):
        raise file.error(number, f"the answer {json.dumps(answer)} is not an integer; count choices from 0")
    return RawQuestion(
        line=number,
        stem=_target(file, number, record["stem"]),
        choices=[_target(file, number, choice) for choice in choices],
        answer=answer,
        answer_text=json.dumps(answer),
        answer_cure='give "answer", counted from 0',
        may_lack_answer=True,
        id=str(record.get("id", "")),
        group=str(record.get("group", record.get("prefix", ""))),
    )


def _target(file: TextFile, number: int, value: object) -> Pair | str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        if len(value) == 2 and all(word.strip() for word in value):
            return value[0].strip(), value[1].strip()
        if len(value) == 1 and value[0].strip():
            return str(value[0].strip())
    raise file.error(
        number,
        f'{json.dumps(value, ensure_ascii=False)} is neither a word nor a pair; write "a" or ["a", "b"]',
    )
