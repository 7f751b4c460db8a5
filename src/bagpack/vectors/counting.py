"""Counting pairs of words in a corpus; what was counted recently is not counted again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr, canonical, no_rows
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.strings import Strings
from bagpack.errors import InputError
from bagpack.vectors.counts import I64, KEY_SEPARATOR, Pair, PairCounts

KEPT = 4  # combinations of corpus, basis and settings
MOST_PAIRS = 100_000  # of each; some hundred MB
MOST_ENTRIES = 50_000_000  # non-zero counts of each; 400 MB


class _Table:
    """Rows of counts by number, and some integers for each, in parts: adding rows never copies the others."""

    def __init__(self, width: int, numbers: int) -> None:
        self._place: dict[int, tuple[int, int]] = {}  # part and row
        self._parts: list[tuple[Csr, I64]] = [(no_rows(0, width), np.zeros((0, numbers), np.int64))]
        self.entries = 0

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, number: int) -> bool:
        return number in self._place

    def add(self, numbers: Sequence[int], rows: Csr, integers: I64) -> None:
        part = len(self._parts)
        self._parts.append((rows, integers))
        self._place.update((number, (part, row)) for row, number in enumerate(numbers))
        self.entries += rows.nnz

    def get(self, numbers: Sequence[int]) -> tuple[Csr, I64, I64]:
        """A table that has these rows, its integers, and the row of each number in it.

        Where one part has them all, it is that part itself.
        """
        places = np.array([self._place[number] for number in numbers], np.int64).reshape(-1, 2)
        used, part_of = np.unique(places[:, 0], return_inverse=True)
        if len(used) <= 1:
            return (*self._parts[int(used[0]) if len(used) else 0], places[:, 1])
        rows, integers = [], []
        row_of = np.empty(len(places), np.int64)
        start = 0
        for k, part in enumerate(used.tolist()):
            own = np.flatnonzero(part_of == k)
            table, facts = self._parts[part]
            rows.append(table[places[own, 1]])
            integers.append(facts[places[own, 1]])
            row_of[own] = np.arange(start, start + len(own))
            start += len(own)
        return sparse.vstack(rows, format="csr"), np.concatenate(integers), row_of


class CountCache:
    """Words and pairs of one corpus, over one basis and with one setting, that were counted before."""

    def __init__(self, source: ContextSource, basis: Basis, settings: CountSettings) -> None:
        self.source, self.basis, self.settings = source, basis, settings
        self._number: dict[str, int] = {}  # of each word's key
        self._words = _Table(2 * len(basis), 1)
        self._pairs = _Table(6 * len(basis), 4)
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """Whether it holds more than is kept."""
        return (
            max(len(self._pairs), len(self._words)) > MOST_PAIRS
            or self._words.entries + self._pairs.entries > MOST_ENTRIES
        )

    def words(self, targets: Sequence[Target]) -> tuple[Csr, I64, I64]:
        """A table that has the counts of these targets, how often each of its words occurs, and each target's row."""
        keys = [key_of(target) for target in targets]
        new = {key: target for key, target in zip(keys, targets, strict=True) if key not in self._number}
        if new:
            names = sorted(new)
            rows, occurring = self.source.count_words(
                [new[name] for name in names], self.basis, self.settings
            )
            with self._lock:
                numbers = range(len(self._number), len(self._number) + len(names))
                self._number.update(zip(names, numbers, strict=True))
                self._words.add(numbers, rows, occurring[:, None])
        table, occurring, row_of = self._words.get([self._number[key] for key in keys])
        return table, occurring[:, 0], row_of

    def pairs(self, targets: Sequence[Target], ones: I64, twos: I64) -> tuple[Csr, I64, I64, I64]:
        """The same for unordered pairs of targets, which were counted before, the one with the smaller key first.

        Instead of how often each occurs: its co-occurrences found and counted, in both orders each.
        """
        number = np.array([self._number[key_of(target)] for target in targets], np.int64)
        codes = ((number[ones] << 32) | number[twos]).tolist()
        new = [k for k, code in enumerate(codes) if code not in self._pairs]
        new = list({codes[k]: k for k in reversed(new)}.values())[::-1]
        if new:
            asked = [(targets[one], targets[two]) for one, two in zip(ones[new], twos[new], strict=True)]
            counted = self.source.count_pairs(asked, self.basis, self.settings)
            with self._lock:
                integers = np.hstack([counted.found, counted.taken])
                self._pairs.add([codes[k] for k in new], counted.rows, integers)
        table, integers, row_of = self._pairs.get(codes)
        return table, integers[:, :2], integers[:, 2:], row_of


def key_of(target: Target) -> str:
    """The key of a word, a multi-word target's keys joined."""
    return KEY_SEPARATOR.join(target.keys)


def count_pairs(
    source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings,
    cache: CountCache | None = None, target_of: Mapping[str, Target] | None = None,
) -> PairCounts:  # fmt: skip
    """Count v1, v2 and v12 of pairs of words; words and pairs that ``cache`` has are not counted again.

    ``target_of`` has the targets of the words, where they were looked up before.
    """
    cache = cache or CountCache(source, basis, settings)
    given = [str(word) for pair in pairs for word in pair]
    number = {name: i for i, name in enumerate(dict.fromkeys(given))}
    names = list(number)
    rows = np.fromiter(map(number.__getitem__, given), np.int64, len(given)).reshape(-1, 2)
    resolved = source.resolve(names) if target_of is None else [target_of[name] for name in names]
    keys = ["" if target is None else key_of(target) for target in resolved]
    known_targets = {key: target for key, target in zip(keys, resolved, strict=True) if target is not None}
    distinct = sorted(known_targets)
    targets = [known_targets[key] for key in distinct]
    rank = {key: k for k, key in enumerate(distinct)}
    word = np.array([rank.get(key, -1) for key in keys], np.int64)  # of each name, among the distinct ones
    table, occurrences, row_of = cache.words(targets)
    unknown = np.flatnonzero(word < 0)
    word_of = np.where(word >= 0, row_of[word] if len(row_of) else -1, -1)
    word_of[unknown] = table.shape[0] + np.arange(unknown.size)

    first, second = word[rows[:, 0]], word[rows[:, 1]]
    known = (first >= 0) & (second >= 0)
    smaller, larger = np.minimum(first, second)[known], np.maximum(first, second)[known]
    codes, which = np.unique((smaller << 32) | larger, return_inverse=True)
    together, found, taken, pair_rows = cache.pairs(targets, codes >> 32, codes & 0xFFFFFFFF)
    pair_of = np.full(len(rows), -1, np.int64)
    pair_of[known] = pair_rows[which]
    return PairCounts(
        Strings.of(names), Strings.of(keys), word_of, _with_zeros(table, unknown.size),
        np.concatenate([occurrences, np.zeros(unknown.size, np.int64)]), together, found, taken,
        rows, pair_of, known & (first > second), basis, settings, source.name, source.content_hash,
    )  # fmt: skip


def _with_zeros(rows: Csr, more: int) -> Csr:
    """The rows and some of zeros; nothing else is copied."""
    if not more:
        return rows
    indptr: NDArray[Any] = np.concatenate([rows.indptr, np.full(more, rows.indptr[-1], rows.indptr.dtype)])
    shape = (rows.shape[0] + more, rows.shape[1])
    return canonical(sparse.csr_array((rows.data, rows.indices, indptr), shape=shape, copy=False))


_kept: OrderedDict[tuple[Any, ...], CountCache] = OrderedDict()
_lock = threading.Lock()


def cache_of(source: ContextSource, basis: Basis, settings: CountSettings) -> CountCache:
    """What was counted recently in the same corpus, over the same basis: an empty cache if nothing was."""
    counts = (*basis.unigram_counts, *basis.bigram_counts)
    key = (str(source.path), source.content_hash, f"{basis.hash}{hash(counts)}", settings)
    with _lock:
        cache = _kept.pop(key, None)
        if cache is None or cache.is_full:
            cache = CountCache(source, basis, settings)
        cache.source = source
        _kept[key] = cache
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return cache


def count_cached(
    source: ContextSource, pairs: Sequence[Pair], basis: Basis, settings: CountSettings
) -> PairCounts:
    """Count pairs; those counted recently in the same corpus, over the same basis, are taken from memory.

    So cross-validation and clones of an estimator do not count again.
    """
    return count_pairs(source, pairs, basis, settings, cache_of(source, basis, settings))


def forget() -> None:
    """Drop all remembered counts."""
    with _lock:
        _kept.clear()


# Pairs as Python code gives them -------------------------------------------------------------------------------


class PairInputError(InputError):
    """What was given is not a list of pairs."""

    exit_code = 2


def as_pairs(X: Iterable[Any]) -> list[Pair]:
    """Pairs of strings from a list of pairs, an array of shape (n, 2), or a data frame of two columns."""
    if isinstance(X, str):
        raise PairInputError("pairs are needed, such as [('cat', 'lion')], not one string")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if not hasattr(X, "__iter__") or hasattr(X, "tocsr"):
        raise PairInputError(
            f"pairs are needed, such as [('cat', 'lion')]; sparse or other data is not supported: {X!r}"
        )
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    pairs: list[Pair] = []
    if len(rows) == 2 and all(isinstance(word, str) for word in rows):
        raise PairInputError(f"a list of pairs is needed, and one pair was given: write [{tuple(rows)!r}]")
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
            raise PairInputError(f"item {number} is not a pair of words: {row!r}; give (w1, w2)")
        w1, w2 = row
        if not isinstance(w1, str) or not isinstance(w2, str) or not w1.strip() or not w2.strip():
            raise PairInputError(
                f"item {number} is not a pair of words: {row!r}; both must be non-empty strings"
            )
        pairs.append((str(w1), str(w2)))
    return pairs
