"""`scripts/convert_questions.py`: the SAT package's and TOEFL's own text as JSON lines."""

from pathlib import Path

import pytest

from bagpack.errors import InputError
from bagpack.tasks.questions import read_questions


@pytest.fixture
def read(tmp_path, monkeypatch):
    """read(text, key, name) → the questions; the key is in a file next to them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "scripts"))
    from convert_questions import convert

    def make(text, key=None, name="q.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        if key is not None:
            (tmp_path / name).with_suffix(".ans").write_text(key)
        converted = tmp_path / "converted.jsonl"
        converted.write_text("".join(f"{line}\n" for line in convert(tmp_path / name)), encoding="utf-8")
        return read_questions(converted).questions

    return make


def test_the_sat_package_text(read):
    got = read(
        "# a comment\n\nMADE UP, page 1\npuppy dog n:n\nkitten cat n:n\n# in between\nleaf tree n:n  # here\n"
        "run walk v:v\nb\n\n\n\nhot warm a:a\r\ncold cool a:a\r\nbig tree a:n\r\nno choice n:n\r\nA\r\n"
    )
    assert [(q.kind, q.stem, q.answer) for q in got] == [
        ("analogies", ("puppy", "dog"), 1), ("analogies", ("hot", "warm"), 0)
    ]  # fmt: skip
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
def test_toefl_text_with_its_key_next_to_it(read, key):
    for text in TEXTS:
        got = read(text, key, "set.qst")
        assert [(q.kind, q.stem, q.answer) for q in got] == [
            ("synonyms", "glad", 1),
            ("synonyms", "quick", 0),
        ]
        assert [q.choices for q in got] == [("sad", "happy", "tall"), ("fast", "good-natured")]


def test_bars_put_the_choices_in_an_order_that_does_not_tell_the_answer(read):
    got = read("# comment\nglad | happy | sad | big\n\nquick|fast|slow\n")
    assert got[0].kind == "synonyms" and got[0].choices == ("big", "happy", "sad")
    assert [q.choices[q.answer] for q in got] == ["happy", "fast"]


BAD = {
    "Dear all,\nhello.\n": "no questions in a known format",
    "src\na b n:n\nc d n:n\ne f n:n\n": "q.txt:2: no answer",
    "src\na b n:n\nc d n:n\ne f n:n\ne\n": "the answer e is none",
    "src\na b n:n\nc d n:n\nno choice n:n\nb\n": "the placeholder",
    "src\na b n:n\nc d n:n\ne f n:n\na\nsrc\na b n:n\nb\n": "q.txt:5: 'a' is not a pair",
    "1. a\na. b\nb. c\n": "q.txt:1: the question has no answer; put the answers into q.ans",
    "1. a\na. b\nc. d\n": "q.txt:3: this is choice c where b should follow",
    "a | | b\n": "q.txt:1: a word between the bars is empty",
}


def test_bad_input(read):
    for text, message in BAD.items():
        with pytest.raises(InputError) as caught:
            read(text)
        assert message in str(caught.value) and "\n" not in str(caught.value)
