import random

import pytest

from bagpack.contexts.concordance import LINE_BYTES, find_contexts, find_contexts_of
from bagpack.contexts.windows import Windows

from .stores import make_store

WORDS = ["lion", "cat", "the", "ice", "cream", "é", "of", "."]
PAIRS = [
    ("lion", "cat"),
    ("cat", "lion"),
    ("cat", "cat"),
    ("ice cream", "ice"),
    ("ice cream", "cat"),
    ("é", "of"),
    ("unicorn", "cat"),
    ("unicorn", "unicorn"),
    ("lion", "cat"),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    rng = random.Random(5)
    sentences = [[rng.choice(WORDS) for _ in range(rng.randint(1, 25))] for _ in range(300)]
    return make_store(tmp_path_factory.mktemp("lines"), sentences, cuts=(40, 170))


@pytest.mark.parametrize("limit", [None, 0, 3, 50])
@pytest.mark.parametrize("windows", [Windows(), Windows.parse("3/1-0-3")])
def test_many_pairs_have_the_lines_of_each_alone(corpus, limit, windows):
    found = find_contexts_of(corpus, PAIRS, limit=limit, windows=windows, rest=4)
    assert found == [find_contexts(corpus, *pair, limit=limit, windows=windows, rest=4) for pair in PAIRS]
    assert any(len(lines) < lines.total for lines in found) == (limit is not None)


def test_no_pairs_have_no_lines(corpus):
    assert find_contexts_of(corpus, []) == []


def test_couples_are_found_a_few_pairs_at_a_time(corpus, monkeypatch):
    whole = find_contexts_of(corpus, PAIRS)
    monkeypatch.setattr("bagpack.contexts.concordance.COUPLES_AT_ONCE", 1)
    assert find_contexts_of(corpus, PAIRS) == whole


def test_pieces_are_the_sentence_as_written(tmp_path):
    sentence = ["a", "b", "c", "lion", "d", "e", "f", "cat", "g", "h", "i"]
    line = find_contexts(make_store(tmp_path, [sentence, ["cat"]]), "lion", "cat")[0]
    assert [piece.strip() for piece in line.pieces] == ["A", "B C", "LION", "D E F", "CAT", "G H", "I"]
    assert line.text == " ".join(sentence).upper()


def test_a_line_may_be_longer_than_the_room_first_given(tmp_path):
    long = "ö" * LINE_BYTES
    line = find_contexts(make_store(tmp_path, [[long, "lion", "of", "cat", long]]), "lion", "cat")[0]
    assert line.text == f"{long.upper()} LION OF CAT {long.upper()}"
