"""`scripts/convert_questions.py`: the SAT package's and TOEFL's own text as JSON lines."""

import json
from pathlib import Path

import pytest

from bagpack.errors import InputError

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))


def read(tmp_path, text, name="questions.txt", **kwargs):
    from convert_questions import convert

    from bagpack.tasks.questions import read_questions

    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    converted = tmp_path / "converted.jsonl"
    converted.write_text("".join(f"{line}\n" for line in convert(path, **kwargs)), encoding="utf-8")
    assert all(json.loads(line) for line in converted.read_text().splitlines())
    return read_questions(converted).questions


def test_the_sat_package_text(tmp_path):
    got = read(
        tmp_path,
        "# a comment\n#  another one\n\nMADE UP, page 1\npuppy dog n:n\nkitten cat n:n\n# in between\n"
        "leaf tree n:n  # here\n"
        "run walk v:v\nb\n\n\n\nhot warm a:a\r\ncold cool a:a\r\nbig tree a:n\r\nA\r\n",
    )
    assert got[0].kind == "analogies"
    assert [q.stem for q in got] == [("puppy", "dog"), ("hot", "warm")]
    assert got[0].choices == (("kitten", "cat"), ("leaf", "tree"), ("run", "walk"))
    assert [q.answer for q in got] == [1, 0]


def test_the_sat_placeholder_is_left_out(tmp_path):
    got = read(tmp_path, "source\na b n:n\nc d n:n\nno choice n:n\ne f n:n\nc\n")
    assert got[0].choices == (("c", "d"), ("e", "f"))
    assert got[0].answer == 1
    with pytest.raises(InputError, match="the answer is the placeholder"):
        read(tmp_path, "source\na b n:n\nc d n:n\nno choice n:n\ne f n:n\nb\n")


TOEFL = "1.\tglad\na.\tsad\nb.\thappy\nc.\ttall\n\n2.\tquick\na.\tfast\nb.\tgood-natured\n"


@pytest.mark.parametrize(
    "text",
    [
        TOEFL,
        TOEFL.replace("\t", " ").replace("\n\n", "\n"),
        TOEFL.replace(".\t", ") "),
        TOEFL.replace(".\t", "\t"),
        "1. glad\n1-a) sad\n1-b) happy\n1-c) tall\n2. quick\n2-a) fast\n2-b) good-natured\n",
        "1. glad\n(a) sad\n(b) happy\n(c) tall\n2. quick\n(A) fast\n(B) good-natured\n",
        "1. glad\n1.a) sad\n1.b) happy\n1.c) tall\n2. quick\n2.a) fast\n2.b) good-natured\n",
    ],
)
@pytest.mark.parametrize(
    "key", ["1\t(x,x,-)\t1\tb\n\n2\t(x,x,-)\t1\ta\n", "1 0 Q b 1\n2 0 Q a 1\n", "2. a\n1. (b)\n"]
)
def test_toefl_text_with_its_key_next_to_it(tmp_path, text, key):
    (tmp_path / "set.ans").write_text(key)
    got = read(tmp_path, text, "set.qst")
    assert got[0].kind == "synonyms"
    assert [q.stem for q in got] == ["glad", "quick"]
    assert got[0].choices == ("sad", "happy", "tall")
    assert got[1].choices == ("fast", "good-natured")
    assert [q.answer for q in got] == [1, 0]


def test_toefl_answers_elsewhere_or_none_of_the_choices(tmp_path):
    (tmp_path / "other").write_text("1 c\n2 b\n")
    assert [q.answer for q in read(tmp_path, TOEFL, "set.qst", answers=tmp_path / "other")] == [2, 1]
    (tmp_path / "set.key").write_text("1 a\n2 a\n")
    assert [q.answer for q in read(tmp_path, TOEFL, "set.qst")] == [0, 0]
    got = read(tmp_path, "1. glad\na. sad\nb. happy\nanswer: b\n", "in.txt")
    assert got[0].answer == 1
    (tmp_path / "set.ans").write_text("1 b\n2 z\n")
    with pytest.raises(InputError, match=r"set\.qst:6: the answer z is none .*; correct set\.ans"):
        read(tmp_path, TOEFL, "set.qst")


def test_bars_put_the_choices_in_an_order_that_does_not_tell_the_answer(tmp_path):
    got = read(tmp_path, "# comment\nglad | happy | sad | big\n\nquick|fast|slow\n")
    assert got[0].kind == "synonyms"
    assert got[0].choices == ("big", "happy", "sad")
    assert [q.choices[q.answer] for q in got] == ["happy", "fast"]


BAD = {
    "prose": ("Dear all,\nhello.\n", "has no questions in a known format"),
    "sat, no answer": ("src\na b n:n\nc d n:n\ne f n:n\n", r"q\.txt:2: no answer; put the right"),
    "sat, letter too far": ("src\na b n:n\nc d n:n\ne f n:n\ne\n", "the answer e is none of the choices"),
    "sat, no blank line": ("src\na b n:n\nc d n:n\ne f n:n\na\nsrc\na b n:n\nb\n", r"q\.txt:5: 'a' is not a pair"),
    "toefl, no key": ("1. a\na. b\nb. c\n", r"q\.txt:1: the question has no answer; put the answers into q\.ans"),
    "toefl, choices out of order": ("1. a\na. b\nc. d\n", r"q\.txt:3: this is choice c where b should follow"),
    "bars, empty": ("a | | b\n", r"q\.txt:1: a word between the bars is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text, "q.txt")
    assert "\n" not in str(caught.value)
