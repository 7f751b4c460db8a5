"""Counting basis terms in the contexts of many words and pairs, shard by shard.

A task is (shard, targets) → sparse integer rows; rows of one target from several shards add up. The first-N rule
is kept by quotas: how many of a shard's observations fall among the corpus's first N follows from the counts of the
shards before it, so the result is the same however the work is split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts import kernels
from bagpack.contexts.targets import Occurrences, Target, find_occurrences
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.shard import Shard
from bagpack.corpus.store import Corpus
from bagpack.corpus.strings import read_only

I64 = NDArray[np.int64]
Progress = Callable[[int], None]

Csr = sparse.csr_array[Any, tuple[int, int]]

CHUNK_WORDS = 500
CHUNK_PAIRS = 5000
ALL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class BasisTables:
    """A basis as one shard's kernels need it."""

    packed: I64  # per type: its unigram, its place among firsts and among seconds, each plus one, packed
    bigrams: NDArray[np.int32]  # (first, second) → term plus one, or zero


@lru_cache(maxsize=64)
def basis_tables(shard_path: str, basis: Basis) -> BasisTables:
    """Look the basis up in a shard's lexicon."""
    shard = open_shard(shard_path)
    firsts = sorted({first for first, _ in basis.bigrams})
    seconds = sorted({second for _, second in basis.bigrams})
    packed = np.zeros(shard.key_of_type.size, np.int64)
    for place, terms in enumerate((basis.unigrams, seconds, firsts)):
        number = np.zeros(len(shard.keys), np.int64)
        found = shard.keys.find(terms)
        number[found[found >= 0]] = 1 + np.flatnonzero(found >= 0)
        packed |= number[shard.key_of_type] << (place * kernels.PACK_BITS)
    bigrams = np.zeros((max(len(firsts), 1), max(len(seconds), 1)), np.int32)
    first_place = {term: i for i, term in enumerate(firsts)}
    second_place = {term: i for i, term in enumerate(seconds)}
    for number_, (first, second) in enumerate(basis.bigrams):
        bigrams[first_place[first], second_place[second]] = 1 + len(basis.unigrams) + number_
    return BasisTables(read_only(packed), read_only(bigrams))


@lru_cache(maxsize=256)
def open_shard(path: str) -> Shard:
    """A shard, kept open in this process."""
    return Shard(Path(path))


def no_rows(rows: int, width: int) -> Csr:
    """Rows of zeros."""
    return sparse.csr_array(([], [], np.zeros(rows + 1, np.int64)), shape=(rows, width), dtype=np.int32)


class RowCollector:
    """Runs a row kernel over all its rows, emptying the output buffers whenever they are full."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.sums = np.zeros((width, 2), np.int32)
        self.touched = np.empty(width, np.int64)
        size = max(4 * width, 1 << 20)
        self.columns = np.empty(size, np.int32)
        self.values = np.empty(size, np.int32)

    def run(self, rows: int, kernel: Callable[[int, I64], int]) -> Csr:
        """`kernel(first, row_ends)` counts rows from `first` on and returns the first row it could not fit."""
        row_ends = np.zeros(rows, np.int64)
        pieces: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        indptr = np.zeros(rows + 1, np.int64)
        first = base = 0
        while first < rows:
            stop = kernel(first, row_ends)
            used = int(row_ends[stop - 1])
            pieces.append((self.columns[:used].copy(), self.values[:used].copy()))
            indptr[first + 1 : stop + 1] = row_ends[first:stop] + base
            base += used
            first = stop
        columns = np.concatenate([piece[0] for piece in pieces]) if pieces else np.empty(0, np.int32)
        values = np.concatenate([piece[1] for piece in pieces]) if pieces else np.empty(0, np.int32)
        result = sparse.csr_array((values, columns, indptr), shape=(rows, self.width))
        result.has_sorted_indices = True
        result.has_canonical_format = True
        return result


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs in part of a corpus: rows, couples found and couples counted, each per order."""

    rows: Csr
    found: I64
    taken: I64

    def __add__(self, other: PairCountsOf) -> PairCountsOf:
        return PairCountsOf(self.rows + other.rows, self.found + other.found, self.taken + other.taken)


def add_tree(items: Iterable[Any]) -> Any:
    """Sum of many, like a binary counter: each is added log(n) times, few partial sums are held."""
    levels: list[Any] = []
    for item in items:
        carried = item
        for level, held in enumerate(levels):
            if held is None:
                levels[level] = carried
                break
            carried = held + carried
            levels[level] = None
        else:
            levels.append(carried)
    total = None
    for held in levels:
        if held is not None:
            total = held if total is None else held + total
    return total


# Words ---------------------------------------------------------------------------------------------------------


def occurrence_counts(corpus: Corpus, targets: Sequence[Target]) -> I64:
    """Occurrences per shard and target."""
    return np.array([find_occurrences(shard, targets).counts for shard in corpus.shards], np.int64).reshape(
        len(corpus.shards), len(targets)
    )


def count_words_in_shard(
    shard_path: str, targets: Sequence[Target], basis: Basis, settings: CountSettings,
    quotas: I64, picks: tuple[I64, I64] | None,
) -> Csr:  # fmt: skip
    """Rows (pre, post) of the targets' first `quotas` occurrences in one shard, or of the picked ones."""
    shard = open_shard(shard_path)
    places = find_occurrences(shard, targets)
    tables = basis_tables(shard_path, basis)
    windows = settings.windows
    collector = RowCollector(2 * len(basis))
    highs = np.minimum(places.highs, places.lows + quotas)
    chosen, bounds = picks if picks is not None else (np.empty(0, np.int64), np.empty(0, np.int64))

    def kernel(first: int, row_ends: I64) -> int:
        return int(
            kernels.count_words(
                shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, highs, places.lengths,
                chosen, bounds, windows.before, windows.after, settings.count == "token",
                tables.packed, tables.bigrams, len(basis), first,
                collector.sums, collector.touched, collector.columns, collector.values, row_ends,
            )
        )  # fmt: skip

    return collector.run(len(targets), kernel)


def quotas_by_shard(counts: I64, limit: int | None) -> I64:
    """How many of each shard's observations are among the first `limit` of the corpus."""
    if limit is None:
        return counts
    before = np.cumsum(counts, axis=0) - counts
    quotas: I64 = np.clip(limit - before, 0, counts)
    return quotas


def drawn_by_shard(counts: I64, names: Sequence[str], limit: int, seed: int) -> list[tuple[I64, I64]]:
    """Per shard: numbers of the drawn observations of every target, and where each target's begin.

    Each target draws with a generator of its own, seeded by `seed` and its name, so that its sample depends
    neither on the other targets nor on how the work is split.
    """
    shards, targets = counts.shape
    chosen: list[list[I64]] = [[] for _ in range(shards)]
    for target in range(targets):
        total = int(counts[:, target].sum())
        if total > limit:
            name_seed = int.from_bytes(
                hashlib.blake2b(names[target].encode(), digest_size=8).digest(), "little"
            )
            numbers = np.random.default_rng([seed, name_seed]).choice(
                total, limit, replace=False, shuffle=False
            )
            numbers.sort()
        else:
            numbers = np.arange(total)
        ends = np.cumsum(counts[:, target])
        cuts = np.searchsorted(numbers, np.concatenate([[0], ends]))
        for shard in range(shards):
            chosen[shard].append(
                numbers[cuts[shard] : cuts[shard + 1]] - (ends[shard] - counts[shard, target])
            )
    picks = []
    for lists in chosen:
        bounds = np.concatenate([[0], np.cumsum([item.size for item in lists])]).astype(np.int64)
        flat = np.concatenate(lists).astype(np.int64) if lists else np.empty(0, np.int64)
        picks.append((flat, bounds))
    return picks


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> tuple[Csr, I64]:  # fmt: skip
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    counts = occurrence_counts(corpus, targets)
    width = 2 * len(basis)
    if not len(targets):
        return no_rows(0, width), np.zeros(0, np.int64)
    paths = [str(shard.directory) for shard in corpus.shards]
    quotas = quotas_by_shard(counts, settings.limit)
    tasks = []
    sizes = []
    for start in range(0, len(targets), CHUNK_WORDS):
        part = slice(start, start + CHUNK_WORDS)
        drawn: Sequence[tuple[I64, I64] | None] = [None] * len(paths)
        if settings.sample is not None and settings.limit is not None:
            names = [str(target) for target in targets[part]]
            drawn = drawn_by_shard(counts[:, part], names, settings.limit, settings.sample)
        sizes.append(len(targets[part]))
        tasks.append(
            joblib.delayed(_words_over_shards)(
                paths, targets[part], basis, settings, quotas[:, part], drawn
            )
        )  # fmt: skip
    rows = _run(tasks, sizes, n_jobs, progress)
    return sparse.vstack(rows, format="csr"), counts.sum(axis=0)


def _words_over_shards(
    paths: Sequence[str], targets: Sequence[Target], basis: Basis, settings: CountSettings, quotas: I64,
    drawn: Sequence[tuple[I64, I64] | None],
) -> Csr:  # fmt: skip
    return add_tree(  # type: ignore[no-any-return]
        count_words_in_shard(path, targets, basis, settings, quota, picks)
        for path, quota, picks in zip(paths, quotas, drawn, strict=True)
    )


def _run(tasks: list[Any], sizes: list[int], n_jobs: int | None, progress: Progress | None) -> list[Any]:
    results = []
    for size, result in zip(sizes, joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks), strict=True):
        results.append(result)
        if progress:
            progress(size)
    return results


# Pairs ---------------------------------------------------------------------------------------------------------


def count_pairs_in_shard(
    shard_path: str, targets: Sequence[Target], ones: I64, twos: I64, basis: Basis, settings: CountSettings,
    quotas: I64, picks: tuple[I64, I64] | None,
) -> PairCountsOf:  # fmt: skip
    """Rows (+pre +betw +post -pre -betw -post) of pairs (targets[ones[k]], targets[twos[k]]) in one shard."""
    shard = open_shard(shard_path)
    places = find_occurrences(shard, targets)
    tables = basis_tables(shard_path, basis)
    windows = settings.windows
    collector = RowCollector(6 * len(basis))
    room = couple_room(places, ones, twos)
    wanted = np.minimum(room, quotas) if picks is None else room
    buffer = int(wanted.max(initial=0))
    couples = tuple(np.empty(buffer, np.int64) for _ in range(3))
    found = np.zeros((ones.size, 2), np.int64)
    taken = np.zeros((ones.size, 2), np.int64)
    chosen, bounds = picks if picks is not None else (np.empty(0, np.int64), np.empty(0, np.int64))

    def kernel(first: int, row_ends: I64) -> int:
        return int(
            kernels.count_pairs(
                shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, places.highs,
                places.lengths, ones, twos, quotas, chosen, bounds, windows.left, windows.between, windows.right,
                settings.count == "token", tables.packed, tables.bigrams, len(basis), first,
                collector.sums, collector.touched, *couples, collector.columns, collector.values,
                row_ends, found, taken,
            )  # type: ignore[call-arg]
        )  # fmt: skip

    return PairCountsOf(collector.run(ones.size, kernel), found, taken)


def couple_room(places: Occurrences, ones: I64, twos: I64) -> I64:
    """An upper bound on the couples of each pair: two for each occurrence of the rarer word."""
    return 2 * np.minimum(places.counts[ones], places.counts[twos])


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> PairCountsOf:  # fmt: skip
    """Rows of each pair over the corpus, with how many couples were found and counted in each order.

    Pairs that are capped in the whole corpus but not in one shard are found out by a first count and counted again
    with exact quotas; there are few of them.
    """
    width = 6 * len(basis)
    if not pairs:
        return PairCountsOf(
            no_rows(0, width),
            np.zeros((0, 2), np.int64),
            np.zeros((0, 2), np.int64),
        )
    tasks = []
    sizes = []
    for start in range(0, len(pairs), CHUNK_PAIRS):
        part = pairs[start : start + CHUNK_PAIRS]
        tasks.append(joblib.delayed(_pairs_over_shards)(_paths(corpus), part, basis, settings))
        sizes.append(len(part))
    results = _run(tasks, sizes, n_jobs, progress)
    return PairCountsOf(
        sparse.vstack([result.rows for result in results], format="csr"),
        np.concatenate([result.found for result in results]),
        np.concatenate([result.taken for result in results]),
    )


def _paths(corpus: Corpus) -> list[str]:
    return [str(shard.directory) for shard in corpus.shards]


def index_pairs(pairs: Sequence[tuple[Target, Target]]) -> tuple[list[Target], I64, I64]:
    """Distinct targets, and the pairs as numbers into them."""
    targets = sorted({target for pair in pairs for target in pair})
    number = {target: i for i, target in enumerate(targets)}
    ones = np.fromiter((number[one] for one, _ in pairs), np.int64, len(pairs))
    twos = np.fromiter((number[two] for _, two in pairs), np.int64, len(pairs))
    return targets, ones, twos


def _observations(found: I64, equal: NDArray[np.bool_]) -> I64:
    """Couples per pair: both orders together, a couple of equal words being one."""
    totals: I64 = np.where(equal, found[..., 0], found.sum(axis=-1))
    return totals


def _pairs_over_shards(
    paths: Sequence[str], pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
) -> PairCountsOf:
    targets, ones, twos = index_pairs(pairs)
    equal = ones == twos
    limit = ALL if settings.limit is None else settings.limit
    quotas = np.full(ones.size, 0 if settings.sample is not None else limit, np.int64)
    per_shard: list[I64] = []

    def first_round() -> Iterable[PairCountsOf]:
        for path in paths:
            result = count_pairs_in_shard(path, targets, ones, twos, basis, settings, quotas, None)
            per_shard.append(_observations(result.found, equal))
            yield result

    total: PairCountsOf = add_tree(first_round())
    counts = np.array(per_shard, np.int64)
    if settings.sample is not None:
        again = np.flatnonzero(counts.sum(axis=0) > 0)
    else:
        again = np.flatnonzero(counts.sum(axis=0) > limit)
    if not again.size:
        return total
    redone = _recount(paths, [pairs[k] for k in again.tolist()], basis, settings, counts[:, again])
    return _replace_rows(total, again, redone)


def _recount(
    paths: Sequence[str],
    pairs: Sequence[tuple[Target, Target]],
    basis: Basis,
    settings: CountSettings,
    counts: I64,
) -> PairCountsOf:
    """Count pairs whose number of couples per shard is known: the first `limit` of the corpus, or a sample."""
    targets, ones, twos = index_pairs(pairs)
    quotas = quotas_by_shard(counts, settings.limit)
    drawn: Sequence[tuple[I64, I64] | None] = [None] * len(paths)
    if settings.sample is not None and settings.limit is not None:
        # An unordered pair draws the same sample whichever way round it is asked for.
        names = ["\t".join(sorted((str(one), str(two)))) for one, two in pairs]
        drawn = drawn_by_shard(counts, names, settings.limit, settings.sample)
    return add_tree(  # type: ignore[no-any-return]
        count_pairs_in_shard(path, targets, ones, twos, basis, settings, quota, picks)
        for path, quota, picks in zip(paths, quotas, drawn, strict=True)
    )


def _replace_rows(total: PairCountsOf, rows: I64, redone: PairCountsOf) -> PairCountsOf:
    """`total` with the given rows taken from `redone`."""
    source = np.arange(total.found.shape[0])
    source[rows] = total.found.shape[0] + np.arange(rows.size)
    both = sparse.vstack([total.rows, redone.rows], format="csr")
    taken = total.taken.copy()
    taken[rows] = redone.taken
    return PairCountsOf(both[source], total.found, taken)
