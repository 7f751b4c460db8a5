"""Answers in a file next to the examples: on the disk at once, appended, never half a line, and read again."""

import os
import signal
import subprocess
import sys

import pytest

from bagpack.errors import InputError
from bagpack.find.answers import Answers, answers_path, read_answers, with_answers
from bagpack.find.examples import Examples, read_examples
from tests.conftest import LIMIT

TABLE = "w1\tw2\tlabel\nwheel\tcar\tpart\nwing\tbird\tpart\nred\tcar\tno\n"


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "parts.tsv"
    made.write_text(TABLE)
    return made


def test_an_answer_is_a_line_next_to_the_examples(path):
    file = Answers(path, annotator=" Ann  Lee ")
    assert not file.path.exists()  # nothing is written before the first answer
    file.add(("page", "book"), True)
    file.add(("sea", "book"), False)
    header, *rows = [line.split("\t") for line in file.path.read_text().splitlines()]
    assert file.path == path.with_name("parts.answers.tsv") and header == [
        "w1",
        "w2",
        "label",
        "annotator",
        "time",
    ]
    assert [row[:4] for row in rows] == [
        ["page", "book", "part", "Ann Lee"],
        ["sea", "book", "no", "Ann Lee"],
    ]
    assert path.read_text() == TABLE
    assert read_examples(file.path).positives == (("page", "book"),)  # a table as any other
    again = Answers(path)
    assert again.answered == [(("page", "book"), True), (("sea", "book"), False)]
    assert answers_path(file.path) == file.path


def test_undo_takes_back_what_this_session_wrote(path):
    file = Answers(path)
    file.add(("page", "book"), True)
    file.add(("page", "book"), False)  # changed one's mind
    assert file.answered == [(("page", "book"), False)]
    assert file.undo() == ("page", "book") and file.answered == [(("page", "book"), True)]
    other = Answers(path)
    with pytest.raises(InputError, match="no answer of this session"):
        other.undo()
    other.add(("sea", "book"), False)
    with pytest.raises(InputError, match="was changed since"):  # not the last line any more
        file.undo()
    assert list(read_answers(file.path)) == [("page", "book"), ("sea", "book")]
    assert other.undo() == ("sea", "book") and file.undo() == ("page", "book")
    assert file.path.read_text() == "" and Answers(path).answered == []


def test_an_answer_counts_more_than_an_example(path):
    given = {("wing", "bird"): "no", ("red", "car"): "part", ("page", "book"): "part"}
    merged = with_answers(read_examples(path), given)
    assert merged.positives == (("wheel", "car"), ("red", "car"), ("page", "book"))
    assert merged.negatives == (("wing", "bird"),)
    assert with_answers(Examples("x", (("a", "b"),)), {}).positives == (("a", "b"),)


def test_a_last_line_without_its_end_is_completed(path):
    answers_path(path).write_text("w1\tw2\tlabel\tannotator\ttime\npage\tbook\tpart\tann\t")
    file = Answers(path)
    file.add(("sea", "book"), False)
    assert read_answers(file.path) == {("page", "book"): "part", ("sea", "book"): "no"}
    file.undo()
    assert read_answers(file.path) == {("page", "book"): "part"}


KILLED = """
import sys
from bagpack.find.answers import Answers
file = Answers(sys.argv[1], annotator="ann")
number = 0
while True:
    file.add((f"left{number}", "right"), number % 2 == 0)
    number += 1
    print(number, flush=True)
"""


def test_a_killed_process_loses_no_answer(path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    reported = 0
    for line in process.stdout:
        reported = int(line)
        if reported == 50:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait(LIMIT)
    found = read_answers(answers_path(path))
    assert len(found) >= reported and list(found)[:reported] == [
        (f"left{k}", "right") for k in range(reported)
    ]


def test_two_writers_lose_nothing(path):
    first, second = Answers(path, annotator="a"), Answers(path, annotator="b")
    for number in range(20):
        (first, second)[number % 2].add((f"w{number}", "x"), True)
    assert len(read_answers(first.path)) == 20


def test_a_name_is_one_cell_and_a_missing_file_is_refused(path, tmp_path):
    assert Answers(path, annotator="Ann\t\nLee" + "x" * 200).annotator == "AnnLee" + "x" * 94
    with pytest.raises(InputError):
        Answers(tmp_path / "none.tsv")
