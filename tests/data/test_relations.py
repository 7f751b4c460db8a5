"""The labelled pairs that ship with the package keep their promises."""

import re
from collections import Counter

from bagpack.data import relations_path
from bagpack.tasks.questions import read_any

HEADER, *LINES = relations_path().read_text(encoding="utf-8").splitlines()
ROWS = [tuple(line.split("\t")) for line in LINES]
PAIRS = {(w1, w2): label for w1, w2, label in ROWS}


def test_it_is_read_as_a_data_set_of_many_relations_of_one_size():
    assert HEADER == "w1\tw2\tlabel"
    listed = read_any(str(relations_path()))
    assert [(*pair, label) for pair, label in zip(listed.pairs, listed.labels, strict=True)] == ROWS
    sizes = Counter(label for *_, label in ROWS)
    assert len(sizes) >= 12 and set(sizes.values()) == {50} and "random" in sizes


def test_pairs_are_two_single_words_and_come_once():
    for w1, w2, label in ROWS:
        assert re.fullmatch("[a-z]+ [a-z]+ [a-z]+(-[a-z]+)?", f"{w1} {w2} {label}") and w1 != w2
    assert len(PAIRS) == len(ROWS)
    assert [pair for pair, label in PAIRS.items() if PAIRS.get(pair[::-1]) == label] == []  # in one order
    related = {frozenset(pair) for pair, label in PAIRS.items() if label != "random"}
    assert [p for p, label in PAIRS.items() if label == "random" and frozenset(p) in related] == []


def test_words_do_not_give_the_relation_away():
    for column in (0, 1):
        within = Counter((row[column], row[2]) for row in ROWS)
        assert max(within.values()) <= 2, within.most_common(3)
    assert Counter(word for row in ROWS for word in row[:2]).most_common(1)[0][1] <= 8
    labels = Counter(word for word, _ in {(word, row[2]) for row in ROWS for word in row[:2]})
    known = {label: [w for row in ROWS if row[2] == label for w in row[:2]] for *_, label in ROWS}
    shared = [sum(labels[word] > 1 for word in words) / len(words) for words in known.values()]
    assert min(shared) > 0 and sum(shared) / len(shared) > 0.4
