import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.errors import InputError
from bagpack.tasks.files import TextFile
from bagpack.tasks.questions import read_questions


@pytest.fixture
def read(write):
    return lambda text: read_questions(write("q.txt", text))


def line(**record):
    return json.dumps(record) + "\n"


PAIRS = line(
    id="q1", stem=["puppy", "dog"], choice=[["kitten", "cat"], ["leaf", "tree"]], answer=0, prefix="easy"
)
WORDS = line(stem="glad", choices=["sad", "happy", "tall"], answer=1)


def test_json_lines_of_pairs(read):
    got = read(PAIRS + "\n" + line(stem=["a", "b"], choices=[["c", "d"], ["e", "f"], ["g", "h"]], answer=2))
    assert got.kind == "analogies"
    first, second = got.questions
    assert (first.stem, first.choices) == (("puppy", "dog"), (("kitten", "cat"), ("leaf", "tree")))
    assert (first.answer, first.id, first.line) == (0, "q1", 1)
    assert first.pairs == [("puppy", "dog"), ("kitten", "cat"), ("leaf", "tree")]
    assert second.line == 3


def test_json_lines_of_words_which_may_lack_the_answer(read):
    lacking = line(stem="a", choice=["b", "c"]) + line(stem="d", choice=["e", "f"], answer=None)
    got = read(WORDS + lacking)
    assert got.kind == "synonyms"
    assert got.questions[0].pairs == [("glad", "sad"), ("glad", "happy"), ("glad", "tall")]
    assert got.questions[0].choices[got.questions[0].answer] == "happy"
    assert [q.answer for q in got.questions[1:]] == [None, None]


ASKED = {"stem": "a", "choice": ["b", "c"], "answer": 0}
BAD = {
    "is none of the 2 choices|the answer": [line(**ASKED | {"answer": own}) for own in ("b", True, 2, -1)],
    "the question has 1 choices|q.txt:1:": [line(**ASKED | {"choice": ["b"]})],
    "right choice|twice|q.txt:1:": [
        line(stem="a", choice=["b", "c", "b"], answer=2),
        line(stem=["a", "b"], choice=[["c", "d"], ["c", "d"]], answer=0),
    ],
    "this is not an object with a": [
        line(stem="a", answer=0), line(**ASKED | {"choice": "b"}), line(choice=["b", "c"], answer=0),
    ],
    "q.txt:2: this is not an object with a": [PAIRS + "[1]\n"],
    "neither a word nor a pair": [
        line(**ASKED | {"stem": own, "choice": [["b", "c"], ["d", "e"]]}) for own in (["a", "b", "c"], 3, ["a", " "])
    ],
    "one is a pair and one a word": [line(**ASKED | {"stem": ["a", "b"]})],
    "q.txt:2: this question is one of synonyms, the first one is of analogies": [PAIRS + WORDS],
    "is not JSON": [PAIRS + '{"stem": \n', "[" * 200_000 + "\n"],
    "is empty": ["\n \n"],
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_bad_input(read, message):
    for text in BAD[message]:
        with pytest.raises(InputError) as caught:
            read(text)
        assert "\n" not in str(caught.value)
        assert [part for part in message.split("|") if part not in str(caught.value)] == []


WORD = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
PAIR = st.tuples(WORD, WORD)
QUESTION = st.tuples(PAIR, st.lists(PAIR, min_size=2, max_size=6, unique=True), st.integers(0, 5))


@given(st.lists(QUESTION, min_size=1, max_size=5))
def test_json_lines_round_trip(questions):
    questions = [(s, c, a % len(c)) for s, c, a in questions]
    lines = [json.dumps({"stem": s, "choice": c, "answer": a}) for s, c, a in questions]
    got = read_questions(TextFile("q.jsonl", lines))
    assert [(q.stem, list(q.choices), q.answer) for q in got.questions] == questions
