import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.errors import InputError, UsageError
from bagpack.tasks import read_questions
from bagpack.tasks.textfile import TextFile


def read(tmp_path, text, name="questions.txt", **kwargs):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_questions(path, **kwargs)


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
    assert len(got) == 2
    first, second = got
    assert first.stem == ("puppy", "dog")
    assert first.choices == (("kitten", "cat"), ("leaf", "tree"))
    assert (first.answer, first.id, first.group, first.line) == (0, "q1", "easy", 1)
    assert first.pairs == [("puppy", "dog"), ("kitten", "cat"), ("leaf", "tree")]
    assert second.line == 3
    assert got.words[:2] == ["puppy", "dog"]


def test_json_lines_of_words(tmp_path):
    got = read(tmp_path, WORDS)
    assert got.kind == "synonyms"
    assert got[0].pairs == [("glad", "sad"), ("glad", "happy"), ("glad", "tall")]
    assert got[0].choices[got[0].answer] == "happy"


def test_the_sat_package_text(tmp_path):
    got = read(
        tmp_path,
        "# a comment\n#  another one\n\nMADE UP, page 1\npuppy dog n:n\nkitten cat n:n\n# in between\n"
        "leaf tree n:n  # here\n"
        "run walk v:v\nb\n\n\n\nhot warm a:a\r\ncold cool a:a\r\nbig tree a:n\r\nA\r\n",
    )
    assert got.kind == "analogies"
    assert [q.stem for q in got] == [("puppy", "dog"), ("hot", "warm")]
    assert got[0].choices == (("kitten", "cat"), ("leaf", "tree"), ("run", "walk"))
    assert [q.answer for q in got] == [1, 0]
    assert [q.group for q in got] == ["MADE UP, page 1", ""]
    assert [q.line for q in got] == [5, 14]


def test_the_sat_placeholder_is_left_out_and_counted(tmp_path):
    got = read(tmp_path, "source\na b n:n\nc d n:n\nno choice n:n\ne f n:n\nc\n")
    assert got[0].choices == (("c", "d"), ("e", "f"))
    assert got[0].answer == 1
    assert got.placeholders == 1
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
def test_toefl_text_with_its_key_beside_it(tmp_path, text, key):
    (tmp_path / "set.ans").write_text(key)
    got = read(tmp_path, text, "set.qst")
    assert got.kind == "synonyms"
    assert [q.stem for q in got] == ["glad", "quick"]
    assert got[0].choices == ("sad", "happy", "tall")
    assert got[1].choices == ("fast", "good-natured")
    assert [q.answer for q in got] == [1, 0]


def test_questions_that_are_asked_may_lack_the_answer(tmp_path):
    got = read(
        tmp_path, line(stem="a", choice=["b", "c"]) + "\n" + line(stem="d", choice=["e", "f"], answer=None)
    )
    assert [q.answer for q in got] == [None, None]


def test_toefl_answers_elsewhere(tmp_path):
    (tmp_path / "other").write_text("1 c\n2 b\n")
    assert [q.answer for q in read(tmp_path, TOEFL, "set.qst", answers=tmp_path / "other")] == [2, 1]
    with pytest.raises(UsageError, match="is for TOEFL's text"):
        read(tmp_path, WORDS, answers=tmp_path / "other")
    (tmp_path / "set.key").write_text("1 a\n2 a\n")
    assert [q.answer for q in read(tmp_path, TOEFL, "set.qst")] == [0, 0]
    got = read(tmp_path, "1. glad\na. sad\nb. happy\nanswer: b\n", "in.txt")
    assert got[0].answer == 1


def test_bars_put_the_choices_in_an_order_that_does_not_tell_the_answer(tmp_path):
    got = read(tmp_path, "# comment\nglad | happy | sad | big\n\nquick|fast|slow\n")
    assert got.kind == "synonyms"
    assert got[0].choices == ("big", "happy", "sad")
    assert [q.choices[q.answer] for q in got] == ["happy", "fast"]


BAD = {
    "letter for a number": (
        line(stem="a", choice=["b", "c"], answer="b"),
        "is not an integer; count choices from 0",
    ),
    "true": (line(stem="a", choice=["b", "c"], answer=True), "is not an integer"),
    "out of range": (line(stem="a", choice=["b", "c"], answer=2), "the answer 2 is none of the 2 choices"),
    "negative": (line(stem="a", choice=["b", "c"], answer=-1), "the answer -1 is none of the 2 choices"),
    "one choice": (line(stem="a", choice=["b"], answer=0), r"q\.txt:1: the question has one choice"),
    "right choice twice": (
        line(stem="a", choice=["b", "c", "b"], answer=2),
        r"q\.txt:1: the right choice b is among the choices twice",
    ),
    "right pair twice": (
        line(stem=["a", "b"], choice=[["c", "d"], ["c", "d"]], answer=0),
        "the right choice c:d is among the choices twice",
    ),
    "no choices": (line(stem="a", choice=[], answer=0), "the question has no choices"),
    "choices missing": (line(stem="a", answer=0), 'no "choice"'),
    "choices not a list": (line(stem="a", choice="b", answer=0), "is not a list"),
    "no stem": (line(choice=["b", "c"], answer=0), 'no "stem"'),
    "triple": (line(stem=["a", "b", "c"], choice=[["b", "c"]], answer=0), "neither a word nor a pair"),
    "number": (line(stem=3, choice=["b", "c"], answer=0), "3 is neither a word nor a pair"),
    "empty word": (line(stem=["a", " "], choice=[["b", "c"]], answer=0), "neither a word nor a pair"),
    "stem pair, choices words": (
        line(stem=["a", "b"], choice=["b", "c"], answer=0),
        "the choice b is a word",
    ),
    "mixed kinds": (
        PAIRS + WORDS,
        r"q\.txt:2: this question is one of synonyms, the first one is of analogies",
    ),
    "malformed": (PAIRS + '{"stem": \n', r"q\.txt:2: this is not JSON"),
    "not an object": (PAIRS + "[1]\n", r"q\.txt:2: this is JSON but not an object"),
    "prose": ("Dear all,\nhello.\n", "has no questions in a known format"),
    "empty": ("\n \n", "is empty"),
    "sat, no answer": (
        "src\na b n:n\nc d n:n\ne f n:n\n",
        r"q\.txt:2: the question has no answer; put the right",
    ),
    "sat, letter too far": ("src\na b n:n\nc d n:n\ne f n:n\ne\n", "the answer e is none of the 2 choices"),
    "sat, one choice": ("src\na b n:n\nc d n:n\na\n", "has one choice"),
    "sat, no blank line": (
        "src\na b n:n\nc d n:n\ne f n:n\na\nsrc\na b n:n\nb\n",
        r"q\.txt:5: 'a' is not a pair",
    ),
    "sat, no stem": ("x y n:n\nz w n:n\nu v n:n\na\n\nsource\nb\n", r"q\.txt:7: this question has no stem"),
    "toefl, no key": (
        "1. a\na. b\nb. c\n",
        r"q\.txt:1: the question has no answer; put the answers into q\.ans",
    ),
    "toefl, letter too far": (
        "1. a\na. b\nb. c\nanswer: z\n",
        r"q\.txt:1: the answer z is none of the 2 choices; correct the letter after 'answer:'$",
    ),
    "toefl, choices out of order": (
        "1. a\na. b\nc. d\n",
        r"q\.txt:3: this is choice c where b should follow",
    ),
    "toefl, choice without question": (
        "a. b\n1. a\n",
        r"q\.txt:1: 'a\. b' is neither a question nor a choice",
    ),
    "bars, empty": ("a | | b\n", r"q\.txt:1: a word between the bars is empty"),
    "bars, one choice": ("a | b\n", "has one choice"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text, "q.txt")
    assert "\n" not in str(caught.value)


def test_a_bad_key(tmp_path):
    key = tmp_path / "set.ans"
    for text, message in [
        ("1 b\n", r"set\.qst:6: the question has no answer; correct set\.ans"),
        ("1 b\n2 z\n", r"set\.qst:6: the answer z is none of the 2 choices; correct set\.ans"),
        ("1 b\ntwo a\n", r"set\.ans:2: 'two a' is not an answer"),
        ("1 b\n2\n", r"set\.ans:2: '2' is not an answer"),
    ]:
        key.write_text(text)
        with pytest.raises(InputError, match=message):
            read(tmp_path, TOEFL, "set.qst")


WORD = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
PAIR = st.tuples(WORD, WORD)


@given(
    st.lists(
        st.tuples(PAIR, st.lists(PAIR, min_size=2, max_size=6, unique=True), st.integers(0, 5)),
        min_size=1,
        max_size=5,
    )
)
def test_json_lines_round_trip(questions):
    questions = [(s, c, a % len(c)) for s, c, a in questions if ("no", "choice") not in c]
    lines = [json.dumps({"stem": s, "choice": c, "answer": a}) for s, c, a in questions]
    if lines:
        got = read_questions(TextFile("q.jsonl", lines))
        assert [(q.stem, list(q.choices), q.answer) for q in got] == questions
