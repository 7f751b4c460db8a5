import random

import pytest

from bagpack.contexts import concordance
from bagpack.contexts.windows import Windows

from . import oracle
from .stores import make_store

FORMS = ["lion", "cat", "the", "ice", "cream", "é", "of", "."]
PAIRS = [
    ("lion", "cat"), ("cat", "lion"), ("cat", "cat"), ("ice cream", "ice"), ("ice cream", "cat"), ("é", "of"),
    ("unicorn", "cat"), ("unicorn", "unicorn"),
]  # fmt: skip


_rng = random.Random(5)
SENTENCES = [[_rng.choice(FORMS) for _ in range(_rng.randint(1, 25))] for _ in range(300)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("lines"), SENTENCES, cuts=(40, 170))


def expected_lines(pair, windows):
    """Order and the five pieces of the windows of every line, by brute force."""
    one, two = (tuple(word.split()) for word in pair)
    if not all(any(oracle.occurrences(s, word) for s in SENTENCES) for word in (one, two)):
        return []
    found = []
    for sign, parts, again in oracle.pair_contexts(
        SENTENCES, one, two, windows.left, windows.between, windows.right
    ):
        if not again:
            first, second = (two, one) if sign == "-" else (one, two)
            pieces = (parts["pre"], first, parts["betw"], second, parts["post"])
            found.append(("±" if one == two else sign, tuple(" ".join(piece).upper() for piece in pieces)))
    return found


def lines_of(concordance):
    return [(line.order, tuple(piece.strip() for piece in line.pieces[1:6])) for line in concordance]


@pytest.mark.parametrize("limit", [None, 0, 3, 50])
@pytest.mark.parametrize("windows", [Windows(), Windows.parse("3/1-0-3")])
def test_lines_of_a_pair_equal_the_oracle(corpus, limit, windows):
    found = [corpus.contexts(*pair, limit=limit, windows=windows) for pair in PAIRS]
    for pair, one in zip(PAIRS, found, strict=True):
        every = expected_lines(pair, windows)
        assert (one.total, lines_of(one)) == (len(every), every[:limit])
    assert sum(lines.total for lines in found) > 300
    assert [lines.unknown for lines in found if lines.unknown] == [("unicorn",), ("unicorn",)]


def test_lines_of_a_word_equal_the_oracle(corpus):
    for word in ("cat", "é", "ice cream"):
        found = corpus.contexts(word, limit=None)
        pieces = [tuple(piece.strip() for piece in line.pieces) for line in found]
        expected = oracle.single_contexts(SENTENCES, tuple(word.split()))
        assert [(before, after) for _, before, _, _, _, after, _ in pieces] == [
            tuple(" ".join(context[side]).upper() for side in ("pre", "post")) for context in expected
        ]
        assert {key for _, _, key, *_ in pieces} == {word.upper()}
        assert [line.text for line in found] == [
            " ".join(s).upper() for s in SENTENCES for _ in oracle.occurrences(s, tuple(word.split()))
        ]


def test_pieces_are_the_sentence_as_written_of_which_the_rest_is_cut(tmp_path, monkeypatch):
    sentence = [f"w{i}" for i in range(200)]
    store = make_store(tmp_path, [["x"], sentence, ["y"]])
    for rest, start, end in ((200, 0, 200), (3, 95, 109)):
        monkeypatch.setattr(concordance, "REST", rest)
        line = store.contexts("w100", "w103")[0]
        assert line.text == " ".join(sentence[start:end]).upper()
        assert [piece.strip() for piece in line.pieces[1:6]] == [
            "W98 W99",
            "W100",
            "W101 W102",
            "W103",
            "W104 W105",
        ]
        assert line.document == "t0"
