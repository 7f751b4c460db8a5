"""The couples of many pairs: which pairs a task takes, and where in its shards they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts import couple_kernels
from bagpack.contexts.dividing import ALL, PlacesOfShards, StorePlace, most_occurrences, open_store, task_runs
from bagpack.contexts.sampling import drawn_numbers
from bagpack.contexts.targets import Occurrences, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.shard import Shard

I64 = NDArray[np.int64]

CHUNK_PAIRS = 1 << 15
COUPLES_PER_TASK = 1 << 24
COUNTS_PER_TASK = 1 << 24  # a task holds how many couples each of its pairs has in each shard
MARKS_PER_SEARCH = 32  # which cost about the same
FIRST_MARK = 1
COUPLES_AT_ONCE = 1 << 18  # that a kernel writes; and whose features, up to 2·(2 + 5 + 2)·2, are listed


@dataclass(frozen=True)
class AskedPairs:
    """The pairs of one task, as it is told them: numbers among its targets, and names if observations are drawn."""

    store: StorePlace
    targets: Sequence[Target]
    few: I64
    many: I64
    swapped: NDArray[np.bool_]
    names: Sequence[str]
    settings: CountSettings

    def find(self) -> FoundPairs:
        """Look the pairs up in the store."""
        corpus = open_store(self.store)
        places = PlacesOfShards(corpus, self.targets)
        task = PairTask(self.few, self.many, self.swapped, places.keys.lengths)
        found = np.zeros((task.size, 2), np.int64)
        settings = self.settings
        couples = find_couples(corpus.shards, places, task, settings, found)
        if settings.sample is not None and settings.limit is not None:
            counts = np.array([own.counts for own in couples], np.int64)
            drawn = [
                drawn_numbers(counts[:, k], name, settings.limit, settings.sample)
                for k, name in enumerate(self.names)
            ]
            couples = [own.take([numbers[i] for numbers in drawn]) for i, own in enumerate(couples)]
        return FoundPairs(corpus, task, couples, found)


def divide_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], settings: CountSettings, n_jobs: int | None
) -> tuple[I64, list[slice], list[AskedPairs]]:
    """An order of the pairs, its parts, and the task of each part."""
    targets, ones, twos = index_pairs(pairs)
    frequency = most_occurrences(corpus, targets)
    # Pairs that share their more frequent word are done together.
    swapped = frequency[ones] > frequency[twos]
    few, many = np.where(swapped, twos, ones), np.where(swapped, ones, twos)
    order = np.lexsort((few, many))
    longest = min(CHUNK_PAIRS, max(1, COUNTS_PER_TASK // len(corpus.shards)))
    parts = list(task_runs(_most_couples(frequency[few[order]], settings), COUPLES_PER_TASK, longest, n_jobs))
    store = StorePlace.of(corpus)
    tasks = []
    for part in parts:
        chosen = order[part]
        used, renumbered = np.unique(np.concatenate([few[chosen], many[chosen]]), return_inverse=True)
        numbers = renumbered.astype(np.int64)
        names = ["\t".join(sorted(map(str, pairs[k]))) for k in chosen.tolist()] if settings.draws else []
        tasks.append(
            AskedPairs(
                store, [targets[k] for k in used.tolist()], numbers[: chosen.size], numbers[chosen.size :],
                swapped[chosen], names, settings,
            )
        )  # fmt: skip
    return order, parts, tasks


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


@dataclass(frozen=True)
class FoundPairs:
    """A task's pairs with their counted couples, shard by shard, and how many there are in all per order."""

    corpus: Corpus
    task: PairTask
    couples: Sequence[Couples]
    found: I64


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
