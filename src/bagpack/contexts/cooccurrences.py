"""Co-occurrences of many pairs: how the pairs are divided into tasks, and where they co-occur in the shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.distribute import ALL, StorePlace, open_store, task_runs
from bagpack.contexts.kernels.cooccurrences import PENDING, SLICE, block_bits, find_cooccurrences
from bagpack.contexts.occurrences import OccurrencesByShard, most_occurrences
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import Corpus

I64 = NDArray[np.int64]

CHUNK_PAIRS = 1 << 15
HELD_PER_TASK = 1 << 24  # co-occurrences that a task holds; a pair that may have more is a task of its own
COUNTS_PER_TASK = 1 << 24  # a task holds how many co-occurrences each of its pairs has in each shard
MARKS_PER_SEARCH = 32  # which cost about the same
FIRST_MARK = 1


@dataclass(frozen=True)
class Cooccurrences:
    """Co-occurrences of several pairs in one shard, one pair after the other, counts[k] of pair k."""

    starts: NDArray[np.uint32]
    seconds: NDArray[np.uint32]
    orders: NDArray[np.uint8]
    counts: I64

    def of_pairs(self, part: slice) -> Cooccurrences:
        """Those of some of the pairs."""
        if part.stop - part.start == self.counts.size:
            return self
        low = int(self.counts[: part.start].sum())
        counts = self.counts[part]
        own = slice(low, low + int(counts.sum()))
        return Cooccurrences(self.starts[own], self.seconds[own], self.orders[own], counts)

    def split(self, most: int) -> Iterator[Cooccurrences]:
        """The co-occurrences of a single pair, at most `most` at a time."""
        for start in range(0, self.starts.size, most):
            own = slice(start, start + most)
            starts = self.starts[own]
            yield Cooccurrences(starts, self.seconds[own], self.orders[own], np.array([starts.size]))


InShards = list[tuple[int, Cooccurrences]]  # with the number of the shard


# Dividing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairTask:
    """What a worker is sent: pairs as numbers of targets (the rarer, the more frequent)."""

    store: StorePlace
    targets: Sequence[Target]
    few: I64
    many: I64
    swapped: NDArray[np.bool_]  # the pair is (many, few)
    settings: CountSettings

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.few.size)

    @property
    def lengths(self) -> tuple[I64, I64]:
        """Tokens of each pair's first and second target."""
        lengths = np.array([len(target.keys) for target in self.targets], np.int64)
        few, many = lengths[self.few], lengths[self.many]
        return np.where(self.swapped, many, few), np.where(self.swapped, few, many)


def divide_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], settings: CountSettings
) -> tuple[I64, list[slice], list[PairTask]]:
    """An order of the pairs, its parts, and the task of each part."""
    targets, ones, twos = index_pairs(pairs)
    frequency = most_occurrences(corpus, targets)
    # Pairs that share their more frequent word are done together.
    swapped = frequency[ones] > frequency[twos]
    few, many = np.where(swapped, twos, ones), np.where(swapped, ones, twos)
    order = np.lexsort((few, many))
    longest = min(CHUNK_PAIRS, max(1, COUNTS_PER_TASK // len(corpus.shards)))
    held = np.minimum(2 * frequency[few[order]], ALL if settings.limit is None else settings.limit)
    parts = list(task_runs(held, HELD_PER_TASK, longest))
    store = StorePlace.of(corpus)
    tasks = []
    for part in parts:
        chosen = order[part]
        used, renumbered = np.unique(np.concatenate([few[chosen], many[chosen]]), return_inverse=True)
        numbers = renumbered.astype(np.int64)
        tasks.append(
            PairTask(
                store, [targets[k] for k in used.tolist()], numbers[: chosen.size], numbers[chosen.size :],
                swapped[chosen], settings,
            )
        )  # fmt: skip
    return order, parts, tasks


def tasks_of_known(
    corpus: Corpus, pairs: Sequence[tuple[str, str]], target_of: Mapping[str, Target | None], settings: CountSettings
) -> Iterator[tuple[list[int], PairTask]]:  # fmt: skip
    """Tasks for the pairs whose words are both known, each with the numbers of its pairs."""
    both = ((k, (target_of[w1], target_of[w2])) for k, (w1, w2) in enumerate(pairs))
    known = [(k, (one, two)) for k, (one, two) in both if one and two]
    if known:
        order, parts, tasks = divide_pairs(corpus, [pair for _, pair in known], settings)
        for part, task in zip(parts, tasks, strict=True):
            yield [known[k][0] for k in order[part].tolist()], task


def index_pairs(pairs: Sequence[tuple[Target, Target]]) -> tuple[list[Target], I64, I64]:
    """Distinct targets, and the pairs as numbers into them."""
    flat = list(chain.from_iterable(pairs))
    keys = [target.keys for target in flat]
    distinct = dict(zip(keys, flat, strict=True))  # whose hash is quicker than a target's
    number = {own: i for i, own in enumerate(distinct)}
    numbers = np.fromiter(map(number.__getitem__, keys), np.int64, len(flat))
    return list(distinct.values()), numbers[0::2].copy(), numbers[1::2].copy()


# Finding --------------------------------------------------------------------------------------------------------


class PairSearch:
    """The search for the co-occurrences of a task's pairs; `found` counts all of each pair, per order."""

    def __init__(self, task: PairTask) -> None:
        self.task = task
        self.corpus = open_store(task.store)
        self.places = OccurrencesByShard(self.corpus, task.targets)
        self.found = np.zeros((task.size, 2), np.int64)
        self._between = task.settings.windows.between
        self._longest = int(self.places.keys.lengths.max())
        tokens, reach = max(shard.tokens.size for shard in self.corpus.shards), self._between + self._longest
        self._blocks = np.zeros(((tokens + reach) >> block_bits(tokens, tokens, reach)) + 1, np.uint32)
        self._waiting, self._near = np.empty((PENDING, 4), np.int64), np.empty((2, SLICE + 1), np.int64)
        self._mark = FIRST_MARK

    def in_shards(self) -> InShards:
        """The co-occurrences that count, up to the limit of each pair, in the shards that have some."""
        limit = self.task.settings.limit
        caps = np.full(self.task.size, ALL if limit is None else limit, np.int64)
        held = []
        for number in range(len(self.corpus.shards)):
            own = self._in_shard(number, caps)
            if own.starts.size:
                held.append((number, own))
            caps -= own.counts
        return held

    def _in_shard(self, number: int, caps: I64) -> Cooccurrences:
        """The first `caps[k]` co-occurrences of each pair k in a shard."""
        task, shard, places = self.task, self.corpus.shards[number], self.places[number]
        occurring = places.counts
        most = np.minimum(2 * np.minimum(occurring[task.few], occurring[task.many]), caps)
        # Memory that is never written is never taken, so the bound may be far too high.
        size = int(most.sum())
        starts, seconds, orders = (
            np.empty(size, np.uint32),
            np.empty(size, np.uint32),
            np.empty(size, np.uint8),
        )
        counts = np.zeros(task.size, np.int64)
        written, self._mark = find_cooccurrences(
            shard.tokens, shard.postings, places.extra, places.is_extra, places.lows, places.highs, places.lengths,
            self._longest, task.few, task.many, task.swapped, caps, self._between, MARKS_PER_SEARCH, self._blocks,
            self._mark, self._waiting, self._near, starts, seconds, orders, counts, self.found,
        )  # fmt: skip
        return Cooccurrences(
            starts[:written].copy(), seconds[:written].copy(), orders[:written].copy(), counts
        )
