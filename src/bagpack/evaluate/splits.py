"""Which rows train and which test: at random, by group, lexically, or as a test file says."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bagpack.errors import InputError, UsageError
from bagpack.learn.targets import python_value
from bagpack.numbers import many

if TYPE_CHECKING:
    from bagpack.arrays import Index, Ints
    from bagpack.learn.targets import Targets

    Words = Sequence[Hashable] | Ints

RANDOM_FOLDS = 10
LEXICAL_FOLDS = 5  # about one row in five is tested; ten folds would test one in ten


@dataclass(frozen=True)
class Split:
    """One fold. ``dropped`` counts the rows that may be in neither part."""

    name: str
    train: Index
    test: Index
    dropped: int = 0


def folds_of(assigned: Ints, names: Iterable[Hashable]) -> list[Split]:
    """One fold per name; ``assigned`` says of each row in which fold it is tested."""
    return [
        Split(str(name), np.flatnonzero(assigned != fold), np.flatnonzero(assigned == fold))
        for fold, name in enumerate(names)
    ]


def group_codes(groups: Sequence[Hashable] | Ints) -> tuple[list[Hashable], Index]:
    """The distinct groups in order of appearance, and the number of each row's."""
    number: dict[Hashable, int] = {}
    codes = [number.setdefault(python_value(group), len(number)) for group in groups]
    return list(number), np.array(codes, dtype=np.intp)


def same_pairs(w1: Words, w2: Words) -> Index:
    """A number for each row that is equal for equal pairs, in either order."""
    pairs = (frozenset((python_value(one), python_value(two))) for one, two in zip(w1, w2, strict=True))
    return group_codes(list(pairs))[1]


def separate(splits: Sequence[Split], pairs: Index) -> list[Split]:
    """Remove from each fold's training rows those whose pair is tested; they count as dropped."""
    out = []
    for split in splits:
        repeated = np.isin(pairs[split.train], pairs[split.test])
        out.append(replace(split, train=split.train[~repeated], dropped=split.dropped + int(repeated.sum())))
    return out


def random_splits(
    targets: Targets, folds: int = RANDOM_FOLDS, seed: int = 0, pairs: Index | None = None
) -> list[Split]:
    """K folds at random, the classes spread evenly over them (ratings: the rows).

    Rows with the same number in ``pairs`` (see `same_pairs`) are in the same fold.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    random_state = int(np.random.default_rng(seed).integers(2**31))
    pairs = np.arange(len(targets)) if pairs is None else pairs
    # Every label must be on as many distinct pairs as there are folds; ratings are one label.
    rows = np.unique(np.column_stack([targets.codes, pairs]), axis=0)
    labels, sizes = np.unique(rows[:, 0], return_counts=True)
    if (least := int(sizes.min())) < folds:
        few = f"{many(least, 'pair')}, fewer than the {folds} folds"
        fix = f", or use --folds {least}" if least > 1 else ""
        if targets.kind == "rating":
            raise InputError(f"the data set has {few}; add pairs{fix}")
        label = str(targets.classes[labels[sizes.argmin()]])
        raise InputError(f"the label {label!r} has {few}; remove its rows{fix}")
    distinct, first = np.unique(pairs, return_index=True)
    assigned = np.empty(len(distinct), dtype=np.intp)
    splitter = KFold if targets.kind == "rating" else StratifiedKFold
    made = splitter(folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # A label may be on enough pairs, but be the first label of fewer: its rows are still dealt evenly.
        warnings.simplefilter("ignore", UserWarning)
        for fold, (_, test) in enumerate(made.split(distinct, targets.codes[first])):
            assigned[test] = fold
    return folds_of(assigned[np.searchsorted(distinct, pairs)], range(1, folds + 1))


def group_splits(groups: Sequence[Hashable], folds: int | None = None) -> list[Split]:
    """One fold per group, in order of appearance; with ``folds``, that many folds of whole groups."""
    from sklearn.model_selection import GroupKFold

    names, codes = group_codes(groups)
    if len(names) < 2:
        raise InputError(f"every pair is of the group {', '.join(map(str, names))}; split by another column")
    if folds is None:
        return folds_of(codes, names)
    if (few := len(names)) < folds:
        raise InputError(f"there are {few} groups, fewer than the {folds} folds; use --folds {few}")
    made = GroupKFold(folds).split(codes, groups=codes)
    return [Split(str(number), *rows) for number, rows in enumerate(made, 1)]


def lexical_splits(w1: Words, w2: Words, folds: int = LEXICAL_FOLDS, seed: int = 0) -> list[Split]:
    """K folds that share no word between train and test, on either side.

    The words are dealt into k parts. A fold tests the pairs with both words in its part and trains on those with
    neither; pairs with one word in the part are dropped from the fold, and counted. Small connected components of words
    stay together, which drops nothing; those with more than 1/k of the pairs are dealt word by word. Folds without a
    pair to test are omitted.
    """
    n = len(w1)
    words, codes = group_codes([*w1, *w2])
    first, second = codes[:n], codes[n:]
    part = _deal_words(first, second, len(words), folds, seed)
    splits = []
    for fold in range(folds):
        inside = (part[first] == fold).astype(int) + (part[second] == fold)
        test, train = np.flatnonzero(inside == 2), np.flatnonzero(inside == 0)
        if len(test):
            splits.append(Split(str(fold + 1), train, test, n - len(test) - len(train)))
    if len(splits) < 2 or not all(len(split.train) for split in splits):
        raise InputError(
            f"the lexical split leaves too few of {folds} folds with pairs to train on and to test, since the {n} "
            "pairs share too many of their words; use other --folds, another --seed, or another split"
        )
    return splits


def _deal_words(first: Index, second: Index, n_words: int, folds: int, seed: int) -> Index:
    """A part for each word: units (whole components, or single words of a large one) to the emptiest part."""
    n = len(first)
    graph = sparse.coo_array((np.ones(n), (first, second)), shape=(n_words, n_words))
    n_components, component = connected_components(graph, directed=False)
    too_large = np.bincount(component[first], minlength=n_components) > n / folds
    unit = np.where(too_large[component], n_components + np.arange(n_words), component)
    _, unit = np.unique(unit, return_inverse=True)
    degree = np.bincount(first, minlength=n_words) + np.bincount(second, minlength=n_words)
    weight = np.bincount(unit, weights=degree)
    load = np.zeros(folds)
    home = np.empty(len(weight), dtype=np.intp)
    for u in np.random.default_rng(seed).permutation(len(weight)):
        home[u] = load.argmin()
        load[home[u]] += weight[u]
    return np.asarray(home[unit], dtype=np.intp)


def fixed_split(n_train: int, n_test: int) -> list[Split]:
    """One fold: the first ``n_train`` rows train, the ``n_test`` after them test."""
    return [Split("test", np.arange(n_train), np.arange(n_train, n_train + n_test))]


def make_splits(
    spec: str, targets: Targets, *, words: tuple[Words, Words], groups: Sequence[Hashable] | None = None,
    folds: int | None = None, seed: int = 0,
) -> list[Split]:  # fmt: skip
    """Splits as the command line names them: ``random``, ``group:COLUMN`` (whose values are ``groups``) or ``lexical``.

    No pair of ``words`` is in the training and in the test rows of a fold, in either order.
    """
    if spec == "random":
        return random_splits(targets, RANDOM_FOLDS if folds is None else folds, seed, same_pairs(*words))
    if spec == "lexical":
        return lexical_splits(*words, LEXICAL_FOLDS if folds is None else folds, seed)
    if spec.startswith("group:") and groups is not None:
        return separate(group_splits(groups, folds), same_pairs(*words))
    raise UsageError(f"the split {spec!r} is unknown; choose random, group:COLUMN or lexical")
