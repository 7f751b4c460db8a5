"""Rows of pairs; see `counting`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts import couple_kernels, feature_kernels
from bagpack.contexts.dividing import (
    ALL,
    Csr,
    PlacesOfShards,
    Progress,
    StorePlace,
    join_rows,
    most_occurrences,
    no_rows,
    open_store,
    per_task,
    runs_of,
    task_runs,
)
from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.sampling import drawn_numbers
from bagpack.contexts.tables import VOIDS, basis_tables
from bagpack.contexts.targets import Occurrences, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.shard import Shard
from bagpack.corpus.store import Corpus
from bagpack.parallel import Arrays, gather

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

CHUNK_PAIRS = 1 << 15
COUPLES_PER_TASK = 1 << 24
COUNTS_PER_TASK = 1 << 24  # a task holds how many couples each of its pairs has in each shard
MARKS_PER_SEARCH = 32  # which cost about the same
FIRST_MARK = 1
GAPS = 6  # tokens between the targets of a couple: 0 to 4, and 5 or more
COUPLES_AT_ONCE = 1 << 18  # that a kernel writes; and whose features, up to 2·(2 + 5 + 2)·2, are listed


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs: rows, couples found and couples counted, each per order, and these by `count_gaps`."""

    rows: Csr
    found: I64
    taken: I64
    gaps: I64


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> PairCountsOf:  # fmt: skip
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus."""
    if not pairs:
        none = np.zeros((0, 2), np.int64)
        return PairCountsOf(no_rows(0, 6 * len(basis)), none, none, np.zeros((0, 2 * GAPS), np.int64))
    targets, ones, twos = index_pairs(pairs)
    frequency = most_occurrences(corpus, targets)
    # Pairs that share their more frequent word are done together.
    swapped = frequency[ones] > frequency[twos]
    few, many = np.where(swapped, twos, ones), np.where(swapped, ones, twos)
    order = np.lexsort((few, many))
    longest = min(CHUNK_PAIRS, max(1, COUNTS_PER_TASK // len(corpus.shards)))
    parts = list(task_runs(_most_couples(frequency[few[order]], settings), COUPLES_PER_TASK, longest, n_jobs))
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
        lengths = np.concatenate([task.facts[0] for task in left])
        found, taken, gaps = (np.empty((len(pairs), width), np.int64) for width in (2, 2, 2 * GAPS))
        for number, table in enumerate((found, taken, gaps), 1):
            table[order] = np.concatenate([task.facts[number] for task in left])
        return PairCountsOf(join_rows(left, lengths, order, 6 * len(basis)), found, taken, gaps)


def index_pairs(pairs: Sequence[tuple[Target, Target]]) -> tuple[list[Target], I64, I64]:
    """Distinct targets, and the pairs as numbers into them."""
    flat = list(chain.from_iterable(pairs))
    keys = [target.keys for target in flat]
    distinct = dict(zip(keys, flat, strict=True))  # whose hash is quicker than a target's
    number = {own: i for i, own in enumerate(distinct)}
    numbers = np.fromiter(map(number.__getitem__, keys), np.int64, len(flat))
    return list(distinct.values()), numbers[0::2].copy(), numbers[1::2].copy()


def _most_couples(rarer: I64, settings: CountSettings) -> I64:
    """How many couples of each pair a task may have to hold at once."""
    return 2 * rarer if settings.limit is None or settings.draws else np.minimum(2 * rarer, settings.limit)


# A task ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairTask:
    """Some pairs of targets: the numbers of the one with fewer occurrences and of the one with more."""

    few: I64
    many: I64
    swapped: NDArray[np.bool_]  # the pair is (many, few)
    target_lengths: I64

    @property
    def size(self) -> int:
        """How many pairs."""
        return int(self.few.size)

    @property
    def lengths(self) -> tuple[I64, I64]:
        """Tokens of each pair's first and second target."""
        few, many = self.target_lengths[self.few], self.target_lengths[self.many]
        return np.where(self.swapped, many, few), np.where(self.swapped, few, many)


@dataclass(frozen=True)
class Couples:
    """The couples of several pairs in one shard, one pair after the other, counts[k] of pair k."""

    starts: NDArray[np.uint32]
    seconds: NDArray[np.uint32]
    orders: NDArray[np.uint8]
    counts: I64

    def of_pairs(self, part: slice) -> Couples:
        """The couples of some of the pairs."""
        if part.stop - part.start == self.counts.size:
            return self
        low = int(self.counts[: part.start].sum())
        counts = self.counts[part]
        own = slice(low, low + int(counts.sum()))
        return Couples(self.starts[own], self.seconds[own], self.orders[own], counts)

    def take(self, numbers: Sequence[I64]) -> Couples:
        """Of each pair k only the couples numbered numbers[k]."""
        begins = np.cumsum(self.counts) - self.counts
        chosen = np.concatenate([own + begin for own, begin in zip(numbers, begins, strict=True)])
        counts = np.array([own.size for own in numbers], np.int64)
        return Couples(self.starts[chosen], self.seconds[chosen], self.orders[chosen], counts)


def _pairs_task(
    store: StorePlace, targets: Sequence[Target], few: I64, many: I64, swapped: NDArray[np.bool_],
    names: Sequence[str], basis: Basis, settings: CountSettings,
) -> tuple[tuple[I64, I64, I64, I64], Arrays]:  # fmt: skip
    """Entries of each row, couples found and taken of each pair and their gaps; the rows."""
    corpus = open_store(store)
    places = PlacesOfShards(corpus, targets)
    task = PairTask(few, many, swapped, places.keys.lengths)
    found, taken = np.zeros((task.size, 2), np.int64), np.zeros((task.size, 2), np.int64)
    couples = find_couples(corpus.shards, places, task, settings, found)
    if settings.sample is not None and settings.limit is not None:
        counts = np.array([own.counts for own in couples], np.int64)
        drawn = [
            drawn_numbers(counts[:, k], name, settings.limit, settings.sample) for k, name in enumerate(names)
        ]
        couples = [own.take([numbers[i] for numbers in drawn]) for i, own in enumerate(couples)]
    totals: I64 = np.sum([own.counts for own in couples], axis=0)
    one, two = task.lengths
    rows, gaps = [], []
    for part in runs_of(totals, COUPLES_AT_ONCE, task.size):
        some = [own.of_pairs(part) for own in couples]
        rows.append(sum_features(corpus.shards, some, one[part], two[part], basis, settings, taken[part]))
        gaps.append(count_gaps(some, one[part], two[part]))
    lengths, values, columns = (
        arrays[0] if len(arrays) == 1 else np.concatenate(arrays) for arrays in zip(*rows, strict=True)
    )
    return (lengths, found, taken, np.concatenate(gaps)), (values, columns)


def find_couples(
    shards: Sequence[Shard],
    places: Sequence[Occurrences],
    task: PairTask,
    settings: CountSettings,
    found: I64,
) -> list[Couples]:
    """The couples of all pairs in each shard, up to the limit; `found` gets how many there are per order."""
    between = settings.windows.between
    longest = max(shard.tokens.size for shard in shards)
    bits = couple_kernels.block_bits(longest, longest, reach := between + int(task.target_lengths.max()))
    blocks = np.zeros(((longest + reach) >> bits) + 1, np.uint32)
    base = FIRST_MARK
    rooms = np.full(task.size, ALL if settings.limit is None or settings.draws else settings.limit, np.int64)
    result = []
    for shard, place in zip(shards, places, strict=True):
        couples, base = _couples_in_shard(shard, place, task, rooms, between, found, blocks, base)
        rooms -= couples.counts
        result.append(couples)
    return result


def _couples_in_shard(
    shard: Shard, places: Occurrences, task: PairTask, rooms: I64, between: int, found: I64,
    blocks: NDArray[np.uint32], base: int,
) -> tuple[Couples, int]:  # fmt: skip
    """The first rooms[k] couples of each pair k."""
    occurring = places.counts
    most = np.minimum(2 * np.minimum(occurring[task.few], occurring[task.many]), rooms)
    size = max(int(most.max(initial=0)), min(int(most.sum()), COUPLES_AT_ONCE))
    starts, seconds = (np.empty(size, np.uint32) for _ in range(2))
    orders = np.empty(size, np.uint8)
    counts = np.zeros(task.size, np.int64)
    pieces: list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]] = []
    first = 0
    while first < task.size:
        first, written, base = couple_kernels.find_all_couples(
            shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, places.highs, places.lengths,
            task.few, task.many, task.swapped, rooms, between, first, MARKS_PER_SEARCH, blocks, base,
            starts, seconds, orders, counts, found,
        )  # fmt: skip
        pieces.append((starts[:written].copy(), seconds[:written].copy(), orders[:written].copy()))
    joined = (
        pieces[0] if len(pieces) == 1 else [np.concatenate(arrays) for arrays in zip(*pieces, strict=True)]
    )
    return Couples(joined[0], joined[1], joined[2], counts), base


def sum_features(
    shards: Sequence[Shard], in_shard: Sequence[Couples], lengths1: I64, lengths2: I64, basis: Basis,
    settings: CountSettings, taken: I64,
) -> tuple[I64, I32, I32]:  # fmt: skip
    """A row for each pair, of how many of its couples add to each feature: entries of each row, values, columns."""
    terms, windows = len(basis), settings.windows
    span = windows.left + windows.between + windows.right
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    pairs = lengths1.size
    widths = np.zeros((len(shards), pairs), np.int64)
    pieces: list[I32] = []
    for number, couples in enumerate(in_shard):
        if not couples.starts.size:
            pieces.append(np.empty(0, np.int32))
            continue
        shard = shards[number]
        tables = basis_tables(shard, basis)
        listed = np.empty(4 * span * couples.starts.size + 1, np.int32)
        clock = feature_kernels.list_columns(
            shard.tokens, couples.starts, couples.seconds, couples.orders, couples.counts, lengths1, lengths2,
            windows.left, windows.right, settings.tick, tables.ids, tables.entries, tables.bigrams, terms,
            clocks, clock, listed, widths[number], taken,
        )  # fmt: skip
        pieces.append(listed[: int(widths[number].sum())].copy())
    sizes = np.array([piece.size for piece in pieces], np.int64)
    most = int(sizes.sum())
    columns, values = np.empty(most, np.int32), np.empty(most, np.int32)
    row_ends = np.empty(pairs, np.int64)
    used = feature_kernels.sum_columns(
        np.concatenate(pieces), np.cumsum(sizes) - sizes, widths, np.zeros(6 * terms, np.int32),
        np.zeros((2, -(-6 * terms // 64)), np.uint64), row_ends, columns, values,
    )  # fmt: skip
    return np.diff(row_ends, prepend=0), values[:used], columns[:used]


def count_gaps(in_shard: Sequence[Couples], lengths1: I64, lengths2: I64) -> I64:
    """How many couples of each pair have 0, 1, 2, 3, 4, 5 or more tokens between: six columns for +, six for -."""
    pairs = lengths1.size
    first_length = np.stack([lengths1, lengths2, lengths1])  # of a couple of order PLUS, MINUS, BOTH
    cells = np.zeros(pairs * 3 * GAPS, np.int64)
    for couples in in_shard:
        if couples.starts.size:
            pair = np.repeat(np.arange(pairs), couples.counts)
            gap = couples.seconds - couples.starts - first_length[couples.orders, pair]
            cell = (3 * pair + couples.orders) * GAPS + np.minimum(gap, GAPS - 1)
            cells += np.bincount(cell, minlength=cells.size)
    by_order = cells.reshape(pairs, 3, GAPS)
    return (by_order[:, [PLUS, MINUS]] + by_order[:, [BOTH]]).reshape(pairs, 2 * GAPS)
