"""Counting basis terms in the contexts of many words and pairs.

A task takes some words, or some pairs, through all shards, so that it knows by itself which observations are among
the corpus's first N, or in a sample of N. Counts are integers and add up: the result is the same however the targets
are divided into tasks and the corpus into shards. A task is told where the store is and which words it is to count, and
looks them up itself; what it counted is joined to what there is, one task at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts import kernels
from bagpack.contexts.dividing import Csr as Csr
from bagpack.contexts.dividing import (
    PlacesOfShards,
    Progress,
    StorePlace,
    join_rows,
    make_rows,
    most_occurrences,
    open_store,
    per_task,
    row_arrays,
    runs_of,
    task_runs,
)
from bagpack.contexts.dividing import no_rows as no_rows
from bagpack.contexts.targets import Occurrences, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.shard import Shard
from bagpack.corpus.store import Corpus
from bagpack.corpus.strings import read_only
from bagpack.parallel import Arrays, gather

I64 = NDArray[np.int64]

CHUNK_WORDS = 512
CHUNK_PAIRS = 5000
SUMS_BYTES = 1 << 20  # of the rows that are summed up at once: they should stay in the cache
COUPLES_AT_ONCE = (
    1 << 19
)  # couples whose features are listed at once; 4 bytes for each of up to 2·(2 + 5 + 2)·2
COUPLES_PER_TASK = 1 << 22
ALL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class BasisTables:
    """A basis as one shard's kernels need it; see `kernels`."""

    packed: NDArray[np.uint64]
    bigrams: NDArray[Any]


@lru_cache(maxsize=8)
def bigram_table(basis: Basis) -> tuple[list[str], list[str], NDArray[Any]]:
    """First and second words of the bigrams, the most frequent first, and (1 + first, 1 + second) → 1 + term."""
    firsts = list(dict.fromkeys(first for first, _ in basis.bigrams))
    seconds = list(dict.fromkeys(second for _, second in basis.bigrams))
    table = np.zeros((1 + len(firsts), 1 + len(seconds)), np.uint32 if len(basis) >= 1 << 16 else np.uint16)
    first_place = {term: i for i, term in enumerate(firsts, 1)}
    second_place = {term: i for i, term in enumerate(seconds, 1)}
    for term, (first, second) in enumerate(basis.bigrams, 1 + len(basis.unigrams)):
        table[first_place[first], second_place[second]] = term
    return firsts, seconds, read_only(table)


@lru_cache(maxsize=256)
def basis_tables(shard_path: str, basis: Basis) -> BasisTables:
    """Look the basis up in a shard's lexicon."""
    shard = open_shard(shard_path)
    firsts, seconds, table = bigram_table(basis)
    of_key = np.zeros(len(shard.keys), np.uint64)
    for place, terms in enumerate((basis.unigrams, seconds, firsts)):
        found = shard.keys.find(terms)
        known = np.flatnonzero(found >= 0)
        of_key[found[known]] |= (1 + known).astype(np.uint64) << np.uint64(place * kernels.PACK_BITS)
    return BasisTables(read_only(of_key[shard.key_of_type]), table)


@lru_cache(maxsize=256)
def open_shard(path: str) -> Shard:
    """A shard, kept open in this process."""
    return Shard(Path(path))


def drawn_numbers(counts: I64, name: str, limit: int, seed: int) -> list[I64]:
    """Per shard, the numbers of a target's drawn observations; `counts` says how many each shard has.

    A target draws with a generator of its own, seeded by `seed` and its name, from all its observations in corpus
    order: its sample depends neither on the other targets nor on shards and workers.
    """
    total = int(counts.sum())
    numbers = np.arange(total)
    if total > limit:
        own = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        numbers = np.random.default_rng([seed, own]).choice(total, limit, replace=False, shuffle=False)
        numbers.sort()
    ends = np.cumsum(counts)
    cuts = np.searchsorted(numbers, ends)
    return [part - begin for part, begin in zip(np.split(numbers, cuts[:-1]), ends - counts, strict=True)]


# Words ---------------------------------------------------------------------------------------------------------


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> tuple[Csr, I64]:  # fmt: skip
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    if not len(targets):
        return no_rows(0, 2 * len(basis)), np.zeros(0, np.int64)
    most = most_occurrences(corpus, targets)
    work = most if settings.limit is None else np.minimum(most, settings.limit)
    parts = list(task_runs(work, ALL, CHUNK_WORDS, n_jobs))
    store = StorePlace.of(corpus)
    calls = [(store, targets[part], basis, settings) for part in parts]
    with gather(_words_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        rows = join_rows(left, lengths, np.arange(len(targets)), 2 * len(basis))
        return rows, np.concatenate([task.facts[1] for task in left])


def _words_task(
    store: StorePlace, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[tuple[I64, I64], Arrays]:
    """Entries of each row and occurrences of each target; the rows."""
    corpus = open_store(store)
    places = list(PlacesOfShards(corpus, targets))
    rows = _count_words(_paths(corpus), places, [str(target) for target in targets], basis, settings)
    found: I64 = np.sum([place.counts for place in places], axis=0)
    return (np.diff(rows.indptr).astype(np.int64), found), row_arrays(rows)


def _paths(corpus: Corpus) -> list[str]:
    return [str(shard.directory) for shard in corpus.shards]


def _count_words(
    paths: Sequence[str], places: Sequence[Occurrences], names: Sequence[str], basis: Basis,
    settings: CountSettings,
) -> Csr:  # fmt: skip
    """Rows of some targets over all shards, a few at a time, so that their sums stay in the cache."""
    terms = len(basis)
    chosen = _capped_places(paths, places, names, settings)
    group = max(1, min(len(names), SUMS_BYTES // (8 * terms)))
    sums = np.zeros((group, 2 * (1 + terms)), np.int32)
    columns, values = (np.empty(group * 2 * terms + 1, np.int32) for _ in range(2))
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    row_ends = np.zeros(len(names), np.int64)
    windows = settings.windows
    done = 0
    for start in range(0, len(names), group):
        part = slice(start, min(start + group, len(names)))
        clocks = np.zeros(sums.shape[1], np.int64)
        clock = 0
        for path, place in zip(paths, chosen, strict=True):
            if not place.counts[part].any():
                continue
            shard, tables = open_shard(path), basis_tables(path, basis)
            clock = kernels.count_words(
                shard.tokens, shard.postings, place.extra, place.is_extra[part], place.lows[part],
                place.highs[part], place.lengths[part], windows.before, windows.after, settings.tick,
                tables.packed, tables.bigrams, sums, clocks, clock,
            )  # fmt: skip
        used = kernels.emit_rows(sums, part.stop - start, columns, values, row_ends[part])
        parts.append((columns[:used].copy(), values[:used].copy()))
        row_ends[part] += done
        done += used
    return make_rows(
        np.concatenate([piece[1] for piece in parts]), np.concatenate([piece[0] for piece in parts]),
        row_ends, 2 * terms,
    )  # fmt: skip


def _capped_places(
    paths: Sequence[str], places: Sequence[Occurrences], names: Sequence[str], settings: CountSettings
) -> list[Occurrences]:
    """The occurrences that count: the first of the corpus, or a sample of them."""
    counts = np.array([place.counts for place in places], np.int64)
    if settings.limit is None:
        return list(places)
    if settings.sample is None:
        quotas = np.clip(settings.limit - (np.cumsum(counts, axis=0) - counts), 0, counts)
        return [
            Occurrences(place.lows, place.lows + quota, place.lengths, place.is_extra, place.extra)
            for place, quota in zip(places, quotas, strict=True)
        ]
    over = np.flatnonzero(counts.sum(axis=0) > settings.limit).tolist()
    drawn = {n: drawn_numbers(counts[:, n], names[n], settings.limit, settings.sample) for n in over}
    result = []
    for number, (path, place) in enumerate(zip(paths, places, strict=True)):
        moved = {n: place.positions(open_shard(path).postings, n)[drawn[n][number]] for n in over}
        kept = np.flatnonzero(place.is_extra).tolist()
        moved |= {n: place.positions(place.extra, n) for n in kept if n not in moved}
        result.append(place.move(np.arange(len(names)), moved))
    return result


# Pairs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs: rows, couples found and couples counted, each per order."""

    rows: Csr
    found: I64
    taken: I64


@dataclass(frozen=True)
class Couples:
    """The couples of several pairs in one shard, one pair after the other: pair k's end at ends[k]."""

    starts: NDArray[np.uint32]
    seconds: NDArray[np.uint32]
    orders: NDArray[np.uint8]
    ends: I64

    @property
    def counts(self) -> I64:
        """Couples of each pair."""
        return np.diff(self.ends, prepend=0)

    @property
    def by_order(self) -> I64:
        """Couples of each pair that count under + and under -."""
        owners = np.repeat(np.arange(self.ends.size), self.counts)
        signs = [self.orders != kernels.MINUS, self.orders != kernels.PLUS]
        return np.stack([np.bincount(owners[sign], minlength=self.ends.size) for sign in signs], axis=1)

    def of_pairs(self, first: int, stop: int) -> Couples:
        """The couples of pairs first..stop-1."""
        low, high = (int(self.ends[k - 1]) if k else 0 for k in (first, stop))
        part = slice(low, high)
        return Couples(self.starts[part], self.seconds[part], self.orders[part], self.ends[first:stop] - low)

    def take(self, numbers: Sequence[I64]) -> Couples:
        """Of each pair k only the couples numbered numbers[k]."""
        begins = self.ends - self.counts
        chosen = np.concatenate([own + begin for own, begin in zip(numbers, begins, strict=True)])
        ends = np.cumsum([own.size for own in numbers])
        return Couples(self.starts[chosen], self.seconds[chosen], self.orders[chosen], ends)


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> PairCountsOf:  # fmt: skip
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus."""
    if not pairs:
        none = np.zeros((0, 2), np.int64)
        return PairCountsOf(no_rows(0, 6 * len(basis)), none, none)
    targets, ones, twos = index_pairs(pairs)
    frequency = most_occurrences(corpus, targets)
    # Pairs that share their more frequent word are done together.
    swapped = frequency[ones] > frequency[twos]
    few, many = np.where(swapped, twos, ones), np.where(swapped, ones, twos)
    order = np.lexsort((few, many))
    parts = list(
        task_runs(_most_couples(frequency[few[order]], settings), COUPLES_PER_TASK, CHUNK_PAIRS, n_jobs)
    )
    store = StorePlace.of(corpus)
    calls = []
    for part in parts:
        chosen = order[part]
        used, renumbered = np.unique(np.concatenate([few[chosen], many[chosen]]), return_inverse=True)
        numbers = renumbered.astype(np.int64)
        names = ["\t".join(sorted(map(str, pairs[k]))) for k in chosen.tolist()] if settings.draws else []
        calls.append((
            store, [targets[k] for k in used.tolist()], numbers[: chosen.size], numbers[chosen.size :],
            swapped[chosen], names, basis, settings,
        ))  # fmt: skip
    with gather(_pairs_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths, found, taken = (np.concatenate([task.facts[i] for task in left]) for i in range(3))
        back = np.argsort(order)
        return PairCountsOf(join_rows(left, lengths, order, 6 * len(basis)), found[back], taken[back])


def _pairs_task(
    store: StorePlace, targets: Sequence[Target], few: I64, many: I64, swapped: NDArray[np.bool_],
    names: Sequence[str], basis: Basis, settings: CountSettings,
) -> tuple[tuple[I64, I64, I64], Arrays]:  # fmt: skip
    """Entries of each row, couples found and taken of each pair; the rows."""
    corpus = open_store(store)
    task = PairTask(tuple(_paths(corpus)), PlacesOfShards(corpus, targets), few, many, swapped, names)
    counted = _count_pairs(task, basis, settings)
    return (np.diff(counted.rows.indptr).astype(np.int64), counted.found, counted.taken), row_arrays(
        counted.rows
    )


@dataclass(frozen=True)
class PairTask:
    """Some pairs of targets, the one with fewer occurrences and the one with more, and where these stand."""

    paths: Sequence[str]
    places: Sequence[Occurrences]  # one per path
    few: I64
    many: I64
    swapped: NDArray[np.bool_]  # the pair is (many, few)
    names: Sequence[str]  # to draw by

    @property
    def size(self) -> int:
        """How many pairs."""
        return int(self.few.size)

    @property
    def lengths(self) -> tuple[I64, I64]:
        """Tokens of each pair's first and second target."""
        lengths = self.places[0].lengths
        few, many = lengths[self.few], lengths[self.many]
        return np.where(self.swapped, many, few), np.where(self.swapped, few, many)


def index_pairs(pairs: Sequence[tuple[Target, Target]]) -> tuple[list[Target], I64, I64]:
    """Distinct targets, and the pairs as numbers into them."""
    number: dict[Target, int] = {}
    flat = np.fromiter(
        (number.setdefault(target, len(number)) for pair in pairs for target in pair),
        np.int64,
        2 * len(pairs),
    )
    return list(number), flat[0::2].copy(), flat[1::2].copy()


def _most_couples(rarer: I64, settings: CountSettings) -> I64:
    """How many couples of each pair a task may have to hold at once."""
    return 2 * rarer if settings.limit is None or settings.draws else np.minimum(2 * rarer, settings.limit)


def _count_pairs(task: PairTask, basis: Basis, settings: CountSettings) -> PairCountsOf:
    """Some pairs over all shards: find their couples, choose those that count, list their features, sum up."""
    found = np.zeros((task.size, 2), np.int64)
    in_shard: list[Couples] = []
    rooms = np.full(task.size, ALL if settings.limit is None or settings.draws else settings.limit, np.int64)
    for number in range(len(task.paths)):
        couples = find_couples_in_shard(task, number, rooms, settings.windows.between, found)
        rooms = rooms - couples.counts
        in_shard.append(couples)
    if settings.sample is not None and settings.limit is not None:
        counts = np.array([couples.counts for couples in in_shard], np.int64)
        drawn = [
            drawn_numbers(counts[:, k], name, settings.limit, settings.sample)
            for k, name in enumerate(task.names)
        ]
        in_shard = [couples.take([own[i] for own in drawn]) for i, couples in enumerate(in_shard)]
    taken: I64 = np.sum([couples.by_order for couples in in_shard], axis=0)
    totals: I64 = np.sum([couples.counts for couples in in_shard], axis=0)
    rows = []
    for part in runs_of(totals, COUPLES_AT_ONCE, task.size):
        listed = [couples.of_pairs(part.start, part.stop) for couples in in_shard]
        one, two = task.lengths
        rows.append(_sum_features(task.paths, listed, (one[part], two[part]), basis, settings))
    return PairCountsOf(sparse.vstack(rows, format="csr"), found, taken)


def find_couples_in_shard(task: PairTask, number: int, rooms: I64, between: int, found: I64) -> Couples:
    """The first rooms[k] couples of each pair k in a shard; `found` gets how many there are per order."""
    shard, places = open_shard(task.paths[number]), task.places[number]
    counts = places.counts
    most = np.minimum(2 * np.minimum(counts[task.few], counts[task.many]), rooms)
    size = max(int(most.max(initial=0)), min(int(most.sum()), 1 << 18))
    starts, seconds = (np.empty(size, np.uint32) for _ in range(2))
    orders = np.empty(size, np.uint8)
    near = np.zeros((shard.tokens.size >> kernels.BLOCK_BITS) + 1, np.bool_)
    ends = np.zeros(task.size, np.int64)
    pieces: list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]] = []
    first = done = 0
    while first < task.size:
        stop = kernels.find_all_couples(
            shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, places.highs, places.lengths,
            task.few, task.many, task.swapped, rooms, between, first, near, starts, seconds, orders, ends, found,
        )  # fmt: skip
        written = int(ends[stop - 1])
        pieces.append((starts[:written].copy(), seconds[:written].copy(), orders[:written].copy()))
        ends[first:stop] += done
        done += written
        first = stop
    joined = [np.concatenate(arrays) for arrays in zip(*pieces, strict=True)]
    return Couples(joined[0], joined[1], joined[2], ends)


def _sum_features(
    paths: Sequence[str], in_shard: Sequence[Couples], lengths: tuple[I64, I64], basis: Basis,
    settings: CountSettings,
) -> Csr:  # fmt: skip
    """A row for each pair: how many of its couples add to each feature."""
    terms = len(basis)
    windows = settings.windows
    span = windows.left + windows.between + windows.right
    clocks = np.zeros(1 + terms, np.int64)
    clock = 1
    rows: list[I64] = []
    columns: list[NDArray[np.int32]] = []
    for path, couples in zip(paths, in_shard, strict=True):
        if not couples.starts.size:
            continue
        shard, tables = open_shard(path), basis_tables(path, basis)
        owners = np.repeat(np.arange(couples.ends.size), couples.counts)
        listed = np.empty(4 * span * owners.size, np.int32)
        ends = np.empty(owners.size, np.int64)
        clock = kernels.list_columns(
            shard.tokens, couples.starts, couples.seconds, couples.orders, lengths[0][owners], lengths[1][owners],
            windows.left, windows.right, settings.tick, tables.packed, tables.bigrams, terms,
            clocks, clock, listed, ends,
        )  # fmt: skip
        columns.append(listed[: ends[-1]].copy())
        rows.append(np.repeat(owners, np.diff(ends, prepend=0)))
    shape = (lengths[0].size, 6 * terms)
    if not columns:
        return no_rows(*shape)
    column = np.concatenate(columns)
    ones = np.ones(column.size, np.int32)
    return sparse.coo_array((ones, (np.concatenate(rows), column)), shape=shape).tocsr()
