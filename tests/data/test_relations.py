"""The labelled pairs that ship with the package keep their promises."""

import re
from collections import Counter, defaultdict

import pytest

from bagpack.data import relations_path
from bagpack.tasks import read_any

MOST_IN_ONE_RELATION = 2  # pairs of a relation that share a first (or second) word
MOST_IN_ALL = 8


@pytest.fixture(scope="module")
def rows():
    header, *lines = relations_path().read_text(encoding="utf-8").splitlines()
    assert header == "w1\tw2\tlabel"
    return [tuple(line.split("\t")) for line in lines]


def test_it_is_found_and_read_as_a_data_set(rows):
    listed = read_any(str(relations_path()))
    assert [(*pair, label) for pair, label in zip(listed.pairs, listed.labels, strict=True)] == rows


def test_relations_are_many_and_of_one_size(rows):
    sizes = Counter(label for *_, label in rows)
    assert len(sizes) >= 12
    assert set(sizes.values()) == {50}
    assert "random" in sizes


def test_words_are_single_lower_case_and_no_pair_says_nothing(rows):
    for w1, w2, label in rows:
        assert re.fullmatch("[a-z]+", w1) and re.fullmatch("[a-z]+", w2), (w1, w2)
        assert re.fullmatch("[a-z]+(-[a-z]+)?", label)
        assert w1 != w2


def test_no_pair_comes_twice_or_under_two_relations(rows):
    assert [pair for pair, times in Counter((w1, w2) for w1, w2, _ in rows).items() if times > 1] == []


def test_a_symmetric_relation_lists_a_pair_in_one_order(rows):
    pairs = {(w1, w2): label for w1, w2, label in rows}
    assert [pair for pair, label in pairs.items() if pairs.get(pair[::-1]) == label] == []


def test_random_pairs_are_no_relation_turned_round(rows):
    related = {frozenset((w1, w2)) for w1, w2, label in rows if label != "random"}
    assert [row for row in rows if row[2] == "random" and frozenset(row[:2]) in related] == []


def test_words_do_not_give_the_relation_away(rows):
    for column in (0, 1):
        within = Counter((row[column], row[2]) for row in rows)
        assert max(within.values()) <= MOST_IN_ONE_RELATION, within.most_common(3)
    everywhere = Counter(word for row in rows for word in row[:2])
    assert everywhere.most_common(1)[0][1] <= MOST_IN_ALL
    labels = defaultdict(set)
    for w1, w2, label in rows:
        labels[w1].add(label)
        labels[w2].add(label)
    known = {label: [w for row in rows if row[2] == label for w in row[:2]] for *_, label in rows}
    shared = {label: sum(len(labels[w]) > 1 for w in words) / len(words) for label, words in known.items()}
    assert all(share > 0 for share in shared.values()), shared
    assert sum(shared.values()) / len(shared) > 0.4


def test_random_pairs_are_made_of_the_words_of_other_relations(rows):
    others = {word for *pair, label in rows if label != "random" for word in pair}
    assert {word for *pair, label in rows if label == "random" for word in pair} <= others
