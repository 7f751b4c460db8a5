"""Which rows train and which test: at random, by group, lexically, or as a file says."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bagpack.errors import InputError, UsageError

if TYPE_CHECKING:
    from bagpack.learn.targets import Targets
    from bagpack.learn.types import Index, Ints


@dataclass(frozen=True)
class Split:
    """One fold. ``dropped`` counts the rows that may be in neither part."""

    name: str
    train: Index
    test: Index
    dropped: int = 0


def generator_of(seed: int) -> np.random.Generator:
    """The random numbers of a seed."""
    if seed < 0:
        raise UsageError(f"the seed {seed} is negative; give a whole number from 0 on")
    return np.random.default_rng(seed)


def check_folds(folds: int) -> None:
    """Raise where there would be nothing to train on."""
    if folds < 2:
        raise UsageError(f"at least 2 folds are needed, not {folds}")


def folds_of(assigned: Ints, names: Sequence[str]) -> list[Split]:
    """One fold per name; ``assigned`` says of each row in which fold it is tested."""
    return [
        Split(name, np.flatnonzero(assigned != fold), np.flatnonzero(assigned == fold))
        for fold, name in enumerate(names)
    ]


def numbered(folds: int) -> list[str]:
    """Names of folds that are no groups: their numbers, from 1 on."""
    return [str(fold + 1) for fold in range(folds)]


def group_codes(groups: Sequence[Hashable]) -> tuple[list[Hashable], Index]:
    """The distinct groups in order of appearance, and the number of each row's."""
    names = list(dict.fromkeys(groups))
    number = {name: code for code, name in enumerate(names)}
    return names, np.array([number[group] for group in groups], dtype=np.intp)


def random_splits(targets: Targets, folds: int = 10, seed: int = 0) -> list[Split]:
    """K folds at random, the classes spread evenly over them (several labels or ratings: the rows)."""
    check_folds(folds)
    rng = generator_of(seed)
    n = len(targets)
    if targets.kind not in ("binary", "multiclass"):
        if n < folds:
            raise InputError(f"there are {n} pairs, fewer than the {folds} folds; use --folds {max(n, 2)}")
        assigned = np.arange(n) % folds
        rng.shuffle(assigned)
        return folds_of(assigned, numbered(folds))
    sizes = np.bincount(targets.codes, minlength=len(targets.classes))
    present = np.flatnonzero(sizes)
    smallest = present[sizes[present].argmin()]
    if sizes[smallest] < folds:
        size, label = int(sizes[smallest]), targets.classes[smallest]
        cure = "remove its rows" + (f", or take fewer folds (--folds {size})" if size > 1 else "")
        raise InputError(
            f"the label {label!r} has {size} pair{'s' if size > 1 else ''}, fewer than the {folds} folds; {cure}"
        )
    assigned = np.empty(n, dtype=np.intp)
    begin = 0
    for code in present:
        rows = rng.permutation(np.flatnonzero(targets.codes == code))
        # Each class goes on dealing where the one before stopped, so that the folds are equally large.
        assigned[rows] = (begin + np.arange(len(rows))) % folds
        begin = (begin + len(rows)) % folds
    return folds_of(assigned, numbered(folds))


def group_splits(groups: Sequence[Hashable], folds: int | None = None) -> list[Split]:
    """One fold per group, in order of appearance; with ``folds``, that many folds of whole groups."""
    names, codes = group_codes(groups)
    if len(names) < 2:
        raise InputError(
            f"all {len(groups)} pairs are of the group {', '.join(map(str, names))}; split by another column"
        )
    if folds is None:
        return folds_of(codes, [str(name) for name in names])
    check_folds(folds)
    if len(names) < folds:
        raise InputError(
            f"there are {len(names)} groups, fewer than the {folds} folds; use --folds {len(names)}"
        )
    sizes = np.bincount(codes)
    load = np.zeros(folds, dtype=np.intp)
    home = np.empty(len(names), dtype=np.intp)
    for group in np.argsort(-sizes, kind="stable"):
        home[group] = load.argmin()
        load[home[group]] += sizes[group]
    return folds_of(home[codes], numbered(folds))


def lexical_splits(
    w1: Sequence[Hashable] | Ints, w2: Sequence[Hashable] | Ints, folds: int = 10, seed: int = 0
) -> list[Split]:
    """K folds that share no word between train and test, on either side.

    The words are dealt into k parts. A fold tests the pairs whose words both lie in its part and trains on
    those that have neither there; pairs that straddle are dropped from the fold, and counted. Words that hang
    together through few pairs stay together, which drops nothing; where more than a fold's share of the pairs
    hang together, their words are dealt one by one. Folds without a pair to test are left out.
    """
    check_folds(folds)
    words: dict[Hashable, int] = {}
    first = np.array([words.setdefault(_plain(word), len(words)) for word in w1], dtype=np.intp)
    second = np.array([words.setdefault(_plain(word), len(words)) for word in w2], dtype=np.intp)
    n, n_words = len(first), len(words)
    part = _deal_words(first, second, n_words, folds, seed)
    splits = []
    for fold in range(folds):
        inside_first, inside_second = part[first] == fold, part[second] == fold
        test = np.flatnonzero(inside_first & inside_second)
        train = np.flatnonzero(~inside_first & ~inside_second)
        if len(test):
            if not len(train):
                raise InputError(
                    f"the lexical split leaves no pair to train on in fold {fold + 1} of {folds}, since too many "
                    "pairs share their words; use another --folds or --seed, or another split"
                )
            splits.append(Split(str(fold + 1), train, test, n - len(test) - len(train)))
    if len(splits) < 2:
        raise InputError(
            f"the lexical split leaves {len(splits)} of {folds} folds with a pair to test, since the {n} pairs "
            "share too many of their words; use fewer --folds, another --seed, or another split"
        )
    return splits


def _plain(word: Hashable) -> Hashable:
    return word.item() if isinstance(word, np.generic) else word


def _deal_words(first: Index, second: Index, n_words: int, folds: int, seed: int) -> Index:
    """A part for each word: units (whole components, or single words of a large one) to the emptiest part."""
    n = len(first)
    graph = sparse.coo_array((np.ones(n), (first, second)), shape=(n_words, n_words))
    n_components, component = connected_components(graph, directed=False)
    too_large = np.bincount(component[first], minlength=n_components) > n / folds
    alone = too_large[component]
    unit = np.where(alone, n_components + np.arange(n_words), component)
    _, unit = np.unique(unit, return_inverse=True)
    degree = np.bincount(first, minlength=n_words) + np.bincount(second, minlength=n_words)
    weight = np.bincount(unit, weights=degree)
    load = np.zeros(folds)
    home = np.empty(len(weight), dtype=np.intp)
    for u in generator_of(seed).permutation(len(weight)):
        home[u] = load.argmin()
        load[home[u]] += weight[u]
    return np.asarray(home[unit], dtype=np.intp)


def fixed_split(n_train: int, n_test: int) -> list[Split]:
    """One fold: the first ``n_train`` rows train, the ``n_test`` after them test."""
    if not n_train or not n_test:
        raise InputError(f"there are {n_train} pairs to train on and {n_test} to test; give some of both")
    return [Split("test", np.arange(n_train), np.arange(n_train, n_train + n_test))]


def make_splits(
    spec: str,
    targets: Targets,
    *,
    words: tuple[Sequence[Hashable] | Ints, Sequence[Hashable] | Ints] | None = None,
    groups: Sequence[Hashable] | None = None,
    folds: int | None = None,
    seed: int = 0,
) -> list[Split]:
    """Splits as the command line names them: ``random``, ``group:COLUMN`` or ``lexical``.

    ``groups`` has the values of COLUMN; ``words`` the first and second words, or their row numbers.
    """
    if spec == "random":
        return random_splits(targets, 10 if folds is None else folds, seed)
    if spec == "lexical":
        if words is None:
            raise UsageError("a lexical split needs the words of the pairs; give them as words=")
        return lexical_splits(*words, 10 if folds is None else folds, seed)
    if spec.startswith("group:"):
        if groups is None:
            column = spec.removeprefix("group:")
            raise UsageError(f"the data has no column {column!r} to split by; give its values as groups=")
        return group_splits(groups, folds)
    raise UsageError(f"the split {spec!r} is unknown; choose random, group:COLUMN or lexical")
