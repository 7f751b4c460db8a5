"""Pairs like a single one."""

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.find import find_pairs
from bagpack.find.like import make_prototype

from .conftest import PARTS, SAYINGS

PAIR = PARTS[3]


@pytest.fixture(scope="module")
def prototype(source):
    return make_prototype(source, PAIR, b=300)


def test_the_score_is_the_weighted_mean_of_cosines(source, prototype):
    model, _ = prototype
    others = [PARTS[5], PARTS[11], ("kinda03", "kindb03")]
    matrix = model.count([PAIR, *others], source)
    expected = np.zeros(len(others))
    features = model.features(matrix)
    blocks = features.split(features.matrix().toarray().T)
    for name, weight in (("v1", 0.25), ("v2", 0.25), ("v12", 0.5)):
        rows = blocks[name].T
        expected += weight * (rows[1:] @ rows[0]) / np.linalg.norm(rows[0])
    np.testing.assert_allclose(model.decisions(matrix)[1:, 0], expected)
    assert expected[0] > expected[2] and expected[1] > expected[2]


def test_pairs_of_the_same_relation_come_first(source, prototype):
    found = find_pairs(source, like=PAIR, top=12, per_word=None)
    assert sum((row.w1, row.w2) in PARTS for row in found) >= 8
    assert PAIR not in {(row.w1, row.w2) for row in found}
    assert all(row.sentence for row in found)


def test_the_patterns_are_those_of_the_sayings(prototype):
    words = {word for saying in SAYINGS["part"] for word in saying.split()}
    told, patterns = prototype[1]
    assert "nothing was trained" in told
    for pattern in patterns.partition(": ")[2].split("; "):
        terms = pattern.replace(PAIR[0], "").replace(PAIR[1], "").replace("…", " ").split()
        assert set(terms) <= words


def test_a_pair_without_patterns(source):
    with pytest.raises(InputError, match="does not contain 'unicorn'"):
        make_prototype(source, ("unicorn", "partb03"))
    with pytest.raises(InputError, match="never co-occur"):
        make_prototype(source, ("nobody", "wheel"))


def test_the_command(cli, store, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = cli("find", store, "--like", *PAIR, "--top", 4)
    assert done.code == 0 and "strongest patterns" in done.err
    assert max(map(len, done.out.splitlines())) <= 80
    both = cli("find", store, "--like", *PAIR, "--model", "m")
    assert both.code == 2 and "either EXAMPLES, or --model MODEL, or --like W1 W2" in both.err
