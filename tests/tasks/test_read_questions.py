import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.errors import InputError
from bagpack.tasks.files import TextFile
from bagpack.tasks.questions import read_questions


def read(tmp_path, text, name="questions.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_questions(path)


def line(**record):
    return json.dumps(record) + "\n"


PAIRS = line(
    id="q1", stem=["puppy", "dog"], choice=[["kitten", "cat"], ["leaf", "tree"]], answer=0, prefix="easy"
)
WORDS = line(stem="glad", choices=["sad", "happy", "tall"], answer=1)


def test_json_lines_of_pairs(tmp_path):
    got = read(
        tmp_path, PAIRS + "\n" + line(stem=["a", "b"], choices=[["c", "d"], ["e", "f"], ["g", "h"]], answer=2)
    )
    assert got.kind == "analogies"
    first, second = got.questions
    assert first.stem == ("puppy", "dog")
    assert first.choices == (("kitten", "cat"), ("leaf", "tree"))
    assert (first.answer, first.id, first.line) == (0, "q1", 1)
    assert first.pairs == [("puppy", "dog"), ("kitten", "cat"), ("leaf", "tree")]
    assert second.line == 3


def test_json_lines_of_words_which_may_lack_the_answer(tmp_path):
    lacking = line(stem="a", choice=["b", "c"]) + line(stem="d", choice=["e", "f"], answer=None)
    got = read(tmp_path, WORDS + lacking)
    assert got.kind == "synonyms"
    assert got.questions[0].pairs == [("glad", "sad"), ("glad", "happy"), ("glad", "tall")]
    assert got.questions[0].choices[got.questions[0].answer] == "happy"
    assert [q.answer for q in got.questions[1:]] == [None, None]


NO_OBJECT = r"q\.txt:\d: this is not an object with a .stem. and a list .choice."
BAD = {
    "letter for a number": (line(stem="a", choice=["b", "c"], answer="b"), 'the answer "b" is none of the 2 choices'),
    "true": (line(stem="a", choice=["b", "c"], answer=True), "the answer true is none"),
    "out of range": (line(stem="a", choice=["b", "c"], answer=2), "the answer 2 is none of the 2 choices"),
    "negative": (line(stem="a", choice=["b", "c"], answer=-1), "the answer -1 is none"),
    "one choice": (line(stem="a", choice=["b"], answer=0), r"q\.txt:1: the question has 1 choices"),
    "right choice twice": (line(stem="a", choice=["b", "c", "b"], answer=2), r"q\.txt:1: the right choice b .* twice"),
    "right pair twice": (line(stem=["a", "b"], choice=[["c", "d"], ["c", "d"]], answer=0), "right choice c:d .* twice"),
    "choices missing": (line(stem="a", answer=0), NO_OBJECT),
    "choices not a list": (line(stem="a", choice="b", answer=0), NO_OBJECT),
    "no stem": (line(choice=["b", "c"], answer=0), NO_OBJECT),
    "triple": (line(stem=["a", "b", "c"], choice=[["b", "c"]], answer=0), "neither a word nor a pair"),
    "number": (line(stem=3, choice=["b", "c"], answer=0), "3 is neither a word nor a pair"),
    "empty word": (line(stem=["a", " "], choice=[["b", "c"]], answer=0), "neither a word nor a pair"),
    "stem pair, choices words": (line(stem=["a", "b"], choice=["b", "c"], answer=0), "one is a pair and one a word"),
    "mixed kinds": (PAIRS + WORDS, r"q\.txt:2: this question is one of synonyms, the first one is of analogies"),
    "malformed": (PAIRS + '{"stem": \n', r"q\.txt:2: this is not JSON"),
    "not an object": (PAIRS + "[1]\n", NO_OBJECT),
    "nested": ("[" * 200_000 + "\n", "this is not JSON"),
    "empty": ("\n \n", "is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text, "q.txt")
    assert "\n" not in str(caught.value)


WORD = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
PAIR = st.tuples(WORD, WORD)


ASKED = st.tuples(PAIR, st.lists(PAIR, min_size=2, max_size=6, unique=True), st.integers(0, 5))


@given(st.lists(ASKED, min_size=1, max_size=5))
def test_json_lines_round_trip(questions):
    questions = [(s, c, a % len(c)) for s, c, a in questions]
    lines = [json.dumps({"stem": s, "choice": c, "answer": a}) for s, c, a in questions]
    got = read_questions(TextFile("q.jsonl", lines))
    assert [(q.stem, list(q.choices), q.answer) for q in got.questions] == questions
