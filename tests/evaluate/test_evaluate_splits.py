import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bagpack.errors import InputError, UsageError
from bagpack.evaluate.splits import (
    Split,
    fixed_split,
    group_splits,
    lexical_splits,
    make_splits,
    random_splits,
    same_pairs,
    separate,
)
from bagpack.learn.targets import encode_targets


def covers_once(splits, n):
    tested = np.concatenate([split.test for split in splits])
    return sorted(tested.tolist()) == list(range(n))


def test_random_folds_spread_the_classes():
    y = np.array(["a"] * 37 + ["b"] * 13 + ["c"] * 10)
    splits = random_splits(encode_targets(y), folds=10, seed=1)
    assert covers_once(splits, 60)
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(60)) and len(split.test) == 6
        for label, least in (("a", 3), ("b", 1), ("c", 1)):
            assert least <= (y[split.test] == label).sum() <= least + 1


def test_too_few_pairs_for_the_folds_are_named_with_the_cure():
    seldom, once = (encode_targets(["often"] * 50 + ["seldom"] * n) for n in (7, 1))
    words = [f"b{i}" for i in range(50)]
    for message, split, *arguments in (
        (r"'seldom' has 7 pairs, fewer than the 10 folds; remove .* --folds 7", random_splits, seldom),
        (r"'seldom' has 1 pair.* rows$", random_splits, once),
        ("use --folds 3", random_splits, encode_targets([1.0, 2, 3], kind="rating")),
        ("'often' has 1 pair, fewer", lambda targets: random_splits(targets, 4, 0, np.repeat([0, 1], [50, 7])), seldom),
        ("of 2 folds .*--folds", lexical_splits, ["a"] * 10, ["b"] * 10, 2),
        ("of 5 folds .*--folds", lexical_splits, ["hub"] * 50, words, 5),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            split(*arguments)


def test_groups_are_folds():
    groups = ["eat", "drink", "eat", "see", "drink"]
    splits = group_splits(groups)
    assert [split.name for split in splits] == ["eat", "drink", "see"]
    assert splits[1].test.tolist() == [1, 4]
    assert covers_once(splits, 5)
    with pytest.raises(InputError, match=" eat; "):
        group_splits(["eat"] * 3)


@given(st.lists(st.sampled_from("abcdefg"), min_size=20, max_size=60), st.integers(2, 4))
def test_grouped_folds_never_cut_a_group(groups, folds):
    if len(set(groups)) < folds:
        with pytest.raises(InputError, match=r"--folds|another column"):
            group_splits(groups, folds)
        return
    splits = group_splits(groups, folds)
    assert len(splits) == folds
    assert covers_once(splits, len(groups))
    for split in splits:
        assert not {groups[i] for i in split.train} & {groups[i] for i in split.test}


words = st.integers(0, 25).map(lambda i: f"w{i}")


@given(st.lists(st.tuples(words, words), min_size=10, max_size=80), st.integers(2, 6), st.integers(0, 5))
def test_lexical_folds_share_no_word(pairs, folds, seed):
    w1, w2 = zip(*pairs, strict=True)
    try:
        splits = lexical_splits(w1, w2, folds, seed)
    except InputError:
        return
    for split in splits:
        train, test = ({w for i in rows for w in pairs[i]} for rows in (split.train, split.test))
        assert train and test and not train & test
        assert split.dropped == len(pairs) - len(split.train) - len(split.test)
    tested = np.concatenate([split.test for split in splits])
    assert len(tested) == len(set(tested.tolist()))
    again = lexical_splits(w1, w2, folds, seed)
    assert [s.test.tolist() for s in splits] == [s.test.tolist() for s in again]


def test_lexical_folds_drop_what_is_tangled_and_nothing_else():
    splits = lexical_splits([f"a{i}" for i in range(50)], [f"b{i}" for i in range(50)], folds=5)
    assert covers_once(splits, 50) and all(split.dropped == 0 for split in splits)
    splits = lexical_splits(*np.random.default_rng(0).integers(40, size=(2, 800)), folds=4)
    assert len(splits) == 4 and all(split.dropped > 0 for split in splits)


def test_splits_by_name():
    targets, ids = encode_targets(np.arange(40) % 2), np.arange(40)
    words, groups = (ids, ids + 40), (ids // 10).tolist()
    for spec, folds, number in (
        ("random", None, 10), ("lexical", 4, 4), ("lexical", None, 5), ("group:verb", None, 4), ("group:verb", 2, 2)
    ):  # fmt: skip
        assert len(make_splits(spec, targets, words=words, groups=groups, folds=folds)) == number
    (only,) = fixed_split(30, 10)
    assert only.test.tolist() == list(range(30, 40))
    with pytest.raises(UsageError, match="'x'"):
        make_splits("x", targets, words=words)


@given(st.lists(st.tuples(words, words, st.sampled_from("ab")), min_size=40, max_size=70), st.integers(0, 9))
@settings(max_examples=30)
def test_repeated_and_swapped_pairs_stay_in_one_fold(rows, seed):
    w1, w2, labels = zip(*rows, strict=True)
    assume(len(set(labels)) == 2)
    for targets in (encode_targets(list(labels)), encode_targets(np.arange(float(len(rows))), kind="rating")):
        try:
            splits = make_splits("random", targets, words=(w1, w2), folds=3, seed=seed)
        except InputError:
            continue
        assert covers_once(splits, len(rows))
        for split in splits:
            train = {frozenset(rows[i][:2]) for i in split.train}
            assert not train & {frozenset(rows[i][:2]) for i in split.test}


def test_training_rows_that_repeat_a_test_pair_are_dropped():
    w1, w2 = ["cat", "lion", "dog", "cat"], ["lion", "cat", "cow", "cow"]
    pairs = same_pairs(w1, w2)
    assert pairs.tolist() == [0, 0, 1, 2]
    (split,) = separate(fixed_split(3, 1), pairs)
    assert (split.train.tolist(), split.dropped) == ([0, 1, 2], 0)
    (split,) = separate([Split("1", np.array([0, 2]), np.array([1]), dropped=1)], pairs)
    assert (split.train.tolist(), split.dropped) == ([2], 2)
    targets = encode_targets([1.0, 2, 3, 4], kind="rating")
    splits = make_splits("group:g", targets, words=(w1, w2), groups=["x", "y", "x", "y"])
    found = [(s.train.tolist(), s.test.tolist(), s.dropped) for s in splits]
    assert found == [([3], [0, 2], 1), ([2], [1, 3], 1)]
