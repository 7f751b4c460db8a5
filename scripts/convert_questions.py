"""Convert multiple-choice questions in text to the JSON lines that `bagpack evaluate` reads.

`python scripts/convert_questions.py SAT-package-V3.txt > sat.jsonl`

Understood are the SAT package's text, TOEFL's text (whose answers may be in a file of the same name ending in .ans,
.key or .answers, or a second argument), and lines with bars: ``word | right choice | other | other``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bagpack.errors import BagpackError, InputError
from bagpack.tasks.files import TextFile, read_text_file
from bagpack.tasks.pairs import Pair

TextFormat = Literal["sat", "toefl", "bars"]
_PLACEHOLDER = ("no", "choice")  # the SAT data fills up its questions of four choices with this one
_SAT_PAIR = re.compile(r"(\S+)\s+(\S+)\s+([A-Za-z]+:[A-Za-z]+)")
_LETTER = re.compile(r"\(?([A-Za-z])[.)]?")
# "a. word", "a) word", "(a) word", "a<TAB>word", and with the question's number: "1-a) word", "1.a) word"
_TOEFL_CHOICE = re.compile(r"\(?([A-Za-z])(?:[.)]\s*|\s+)(\S.*)")
_TOEFL_NUMBERED_CHOICE = re.compile(r"\d+\s*[-.]\s*\(?([A-Za-z])[.)]\s*(\S.*)")
# "1. word", "1) word", "1<TAB>word"
_TOEFL_STEM = re.compile(r"(\d+)(?:\s*[.)]\s*|\s+)(\S.*)")
_TOEFL_ANSWER = re.compile(r"answer\s*[:=]\s*(\S.*)", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")


@dataclass
class RawQuestion:
    """A question as read from a file, not yet checked."""

    line: int
    stem: Pair | str
    choices: list[Pair | str]
    answer: int | None
    answer_text: str = ""
    answer_cure: str = ""
    id: str = ""
    group: str = ""


def text_format(file: TextFile) -> TextFormat:
    """The format, recognised by the first line that is valid in only one of them."""
    for line in file.lines:
        line = _COMMENT.sub("", line).strip()
        if _SAT_PAIR.fullmatch(line):
            return "sat"
        if "|" in line:
            return "bars"
        if _toefl_choice(line):
            return "toefl"
    if not any(line.strip() for line in file.lines):
        raise InputError(f"{file.name} is empty; it needs at least one question")
    raise InputError(f"{file.name} has no questions in a known format; see the top of this script")


def parse_sat(file: TextFile) -> Iterator[RawQuestion]:
    """The SAT package's text: a source line, the stem, the choices, the answer's letter; blank lines between.

    A pair is two words and their parts of speech (``ostrich bird n:n``); ``#`` starts a comment at a line's
    beginning or after a blank. The source line may be missing; it becomes the question's group.
    """
    for block in _blocks(file):
        group = ""
        if not _SAT_PAIR.fullmatch(block[0][1]):
            group = block.pop(0)[1]
            if not block:
                continue  # a title, or a note between the questions
        start = block[0][0]
        answer_text = ""
        if _LETTER.fullmatch(block[-1][1]):
            answer_text = block.pop()[1]
        pairs: list[Pair | str] = []
        for number, line in block:
            match = _SAT_PAIR.fullmatch(line)
            if match is None:
                raise file.error(
                    number,
                    f"{line!r} is not a pair as the SAT package writes it; write: first second n:n "
                    f"(and one blank line between questions)",
                )
            pairs.append((match[1], match[2]))
        if not pairs:
            raise file.error(start, "this question has no stem; write the pair before the answer's letter")
        yield RawQuestion(
            line=start,
            stem=pairs[0],
            choices=pairs[1:],
            answer=_letter(answer_text),
            answer_text=answer_text,
            answer_cure="put the right choice's letter on a line after the choices",
            group=group,
        )


def parse_toefl(file: TextFile, answers: str | Path | None) -> Iterator[RawQuestion]:
    """TOEFL's text: ``1. stem``, then ``a. choice`` lines; the answers in a file next to it or in the text.

    The number and the letter may be followed by a point, a bracket or blanks; a choice may repeat the number
    (``1-a) choice``) or be in brackets (``(a) choice``). A line ``answer: b`` answers the
    question it follows.
    """
    questions: list[tuple[str, RawQuestion]] = []
    for number, line in enumerate(file.lines, 1):
        line = _COMMENT.sub("", line).strip()
        if not line:
            continue
        answer, choice = _TOEFL_ANSWER.fullmatch(line), _toefl_choice(line)
        stem = None if choice else _TOEFL_STEM.fullmatch(line)
        if stem:
            questions.append((stem[1].lstrip("0"), RawQuestion(number, stem[2], [], None, id=stem[1])))
            continue
        if not questions or not (answer or choice):
            raise file.error(
                number,
                f"{line!r} is neither a question nor a choice; write '1. word' and then 'a. word' lines",
            )
        raw = questions[-1][1]
        if answer:
            raw.answer, raw.answer_text = _letter(answer[1]), answer[1]
            raw.answer_cure = "correct the letter after 'answer:'"
        elif choice:
            expected = chr(ord("a") + len(raw.choices))
            if choice[1].lower() != expected:
                raise file.error(
                    number, f"this is choice {choice[1]} where {expected} should follow; sort the choices"
                )
            raw.choices.append(choice[2])
    if any(raw.answer is None for _, raw in questions):
        _add_answers(file, questions, answers)
    for _, raw in questions:
        yield raw


def parse_bars(file: TextFile) -> Iterator[RawQuestion]:
    """Lines ``word | right choice | other | other``, the form of several synonym sets.

    The right choice comes first there, so the choices are put in code-point order: otherwise every tie that
    is broken in favour of the first choice would count as knowledge.
    """
    for number, line in enumerate(file.lines, 1):
        line = _COMMENT.sub("", line).strip()
        if not line:
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if not all(cells):
            raise file.error(
                number, "a word between the bars is empty; write: word | right choice | other | other"
            )
        stem, right, choices = cells[0], cells[1:2], sorted(cells[1:])
        yield RawQuestion(
            line=number,
            stem=stem,
            choices=list(choices),
            answer=choices.index(right[0]) if right else None,
            answer_cure="write the right choice first",
        )


def _blocks(file: TextFile) -> Iterator[list[tuple[int, str]]]:
    """Runs of lines between blank ones, comments removed; a line of comment does not end a run."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*file.lines, ""], 1):
        text = _COMMENT.sub("", line).strip()
        if text:
            block.append((number, text))
        elif not line.strip() and block:
            yield block
            block = []


def _toefl_choice(line: str) -> re.Match[str] | None:
    return _TOEFL_NUMBERED_CHOICE.fullmatch(line) or _TOEFL_CHOICE.fullmatch(line)


def _letter(text: str) -> int | None:
    match = _LETTER.fullmatch(text.strip())
    return ord(match[1].lower()) - ord("a") if match else None


def _add_answers(
    file: TextFile, questions: list[tuple[str, RawQuestion]], answers: str | Path | None
) -> None:
    path = Path(answers) if answers is not None else _answer_file(file)
    if path is None:
        raise file.error(
            next(raw.line for _, raw in questions if raw.answer is None),
            f"the question has no answer; put the answers into {Path(file.name).stem}.ans next to it "
            f"(lines such as '1 b'), or write 'answer: b' after the choices",
        )
    key = read_text_file(path)
    by_number = {}
    for at, line in enumerate(key.lines, 1):
        fields = _COMMENT.sub("", line).split()
        if not fields:
            continue
        # Keys in circulation have other fields too: the answer is the last that is a single letter.
        letters = [letter for letter in fields[1:] if _LETTER.fullmatch(letter)]
        numeral = fields[0].rstrip(".):")
        if not numeral.isdigit() or not letters:
            raise key.error(
                at, f"{line.strip()!r} is not an answer; write the question's number and a letter: 1 b"
            )
        by_number[numeral.lstrip("0")] = letters[-1]
    for own_number, raw in questions:
        if raw.answer is not None:
            continue
        raw.answer_cure = f"correct {path.name}"
        if own_number in by_number:
            raw.answer_text = by_number[own_number]
            raw.answer = _letter(raw.answer_text)


def _answer_file(file: TextFile) -> Path | None:
    own = Path(file.name)
    for suffix in (".ans", ".key", ".answers"):
        for candidate in (own.with_suffix(suffix), own.with_suffix(own.suffix + suffix)):
            if candidate.is_file() and candidate != own:
                return candidate
    return None


def convert(path: str | Path, answers: str | Path | None = None) -> Iterator[str]:
    """Each question as a line of JSON, in the order of the file."""
    file = read_text_file(path)
    form = text_format(file)
    parsed = (
        parse_toefl(file, answers) if form == "toefl" else {"sat": parse_sat, "bars": parse_bars}[form](file)
    )
    for raw in parsed:
        if raw.answer is None or not 0 <= raw.answer < len(raw.choices):
            problem = (
                f"the answer {raw.answer_text} is none of the choices" if raw.answer_text else "no answer"
            )
            raise file.error(raw.line, f"{problem}; {raw.answer_cure}")
        right = raw.choices[raw.answer]
        choices = [choice for choice in raw.choices if choice != _PLACEHOLDER]
        if right == _PLACEHOLDER:
            raise file.error(raw.line, "the answer is the placeholder 'no choice'; correct the answer")
        record = {
            "stem": raw.stem,
            "choice": choices,
            "answer": choices.index(right),
            "id": raw.id,
            "group": raw.group,
        }
        yield json.dumps({name: value for name, value in record.items() if value != ""}, ensure_ascii=False)


if __name__ == "__main__":
    try:
        for line in convert(*sys.argv[1:3]):
            print(line)
    except BagpackError as error:
        sys.exit(str(error))
