"""Questions as JSON lines, and those of the SAT package's and TOEFL's own text, which a script converts to them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import samples
from tests.docs.markdown import ROOT

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
    "q.txt:1: the answer |is none of the 2|from 0": [line(**ASKED | {"answer": own}) for own in ("b", True, 2, -1)],
    "q.txt:1:| 1 choices": [line(**ASKED | {"choice": ["b"]})],
    "right choice|twice|q.txt:1:": [
        line(stem="a", choice=["b", "c", "b"], answer=2),
        line(stem=["a", "b"], choice=[["c", "d"], ["c", "d"]], answer=0),
    ],
    'q.txt:1: |"stem"|"choice"': [
        line(stem="a", answer=0), line(**ASKED | {"choice": "b"}), line(choice=["b", "c"], answer=0),
    ],
    "q.txt:2: |an object": [PAIRS + "[1]\n"],
    'q.txt:1: |["a", "b"]': [
        line(**ASKED | {"stem": own, "choice": [["b", "c"], ["d", "e"]]}) for own in (["a", "b", "c"], 3, ["a", " "])
    ],
    "q.txt:1: |choice b,": [line(**ASKED | {"stem": ["a", "b"]})],
    "q.txt:2: |synonyms|analogies": [PAIRS + WORDS],
    "q.txt:|not JSON": [PAIRS + '{"stem": \n', "[" * 200_000 + "\n"],
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


# scripts/convert_questions.py ------------------------------


@pytest.fixture
def converted(tmp_path, monkeypatch):
    """converted(text, key, name) → the questions; the key is in a file next to them."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from convert_questions import convert

    def make(text, key=None, name="q.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        if key is not None:
            (tmp_path / name).with_suffix(".ans").write_text(key)
        lines = tmp_path / "converted.jsonl"
        lines.write_text("".join(f"{line}\n" for line in convert(tmp_path / name)), encoding="utf-8")
        return read_questions(lines).questions

    return make


def test_the_sat_package_text(converted):
    got = converted(
        "# a comment\n\nMADE UP, page 1\npuppy dog n:n\nkitten cat n:n\n# in between\nleaf tree n:n  # here\n"
        "run walk v:v\nb\n\n\n\nhot warm a:a\r\ncold cool a:a\r\nbig tree a:n\r\nno choice n:n\r\nA\r\n"
    )
    assert {q.kind for q in got} == {"analogies"}
    assert [(q.stem, q.answer) for q in got] == [(("puppy", "dog"), 1), (("hot", "warm"), 0)]
    assert got[0].choices == (("kitten", "cat"), ("leaf", "tree"), ("run", "walk"))
    assert got[1].choices == (("cold", "cool"), ("big", "tree")), "the placeholder is no choice"


TOEFL = "1.\tglad\na.\tsad\nb.\thappy\nc.\ttall\n\n2.\tquick\na.\tfast\nb.\tgood-natured\n"
TEXTS = [
    TOEFL,
    TOEFL.replace("\t", " ").replace("\n\n", "\n"),
    TOEFL.replace(".\t", ") "),
    TOEFL.replace(".\t", "\t"),
    "1. glad\n1-a) sad\n1-b) happy\n1-c) tall\n2. quick\n2-a) fast\n2-b) good-natured\n",
    "1. glad\n(a) sad\n(b) happy\n(c) tall\n2. quick\n(A) fast\n(B) good-natured\n",
]
KEYS = ["1\t(x,x,-)\t1\tb\n\n2\t(x,x,-)\t1\ta\n", "1 0 Q b 1\n2 0 Q a 1\n", "2. a\n1. (b)\n"]


@pytest.mark.parametrize("key", KEYS)
def test_toefl_text_with_its_key_next_to_it(converted, key):
    for text in TEXTS:
        got = converted(text, key, "set.qst")
        assert {q.kind for q in got} == {"synonyms"}
        assert [(q.stem, q.answer) for q in got] == [("glad", 1), ("quick", 0)]
        assert [q.choices for q in got] == [("sad", "happy", "tall"), ("fast", "good-natured")]


def test_bars_put_the_choices_in_an_order_that_does_not_tell_the_answer(converted):
    got = converted("# comment\nglad | happy | sad | big\n\nquick|fast|slow\n")
    assert got[0].kind == "synonyms" and got[0].choices == ("big", "happy", "sad")
    assert [q.choices[q.answer] for q in got] == ["happy", "fast"]


def test_text_that_cannot_be_converted(converted):
    for text, message in samples("tasks/wrong_questions.jsonl"):
        with pytest.raises(InputError) as caught:
            converted(text)
        assert "\n" not in str(caught.value)
        assert [part for part in message.split("|") if part not in str(caught.value)] == []
