"""The observations of one word or one pair, shard by shard: what a concordance shows and an explanation cites.

Plain numpy, so that a single question does not wait for kernels to be loaded; many pairs at once are the subject of
`cooccurrences`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.sampling import drawn_numbers
from bagpack.contexts.targets import Occurrences, Target, TargetKeys, find_occurrences
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import SENTENCE_START
from bagpack.corpus.store.shard import Shard

I64 = NDArray[np.int64]

MOST_TOKENS = 2**32 - 1  # of a shard
TOKENS_AT_ONCE = 1 << 22  # of a shard that are searched for co-occurrences


@dataclass(frozen=True)
class Observation:
    """One observation: its shard, the positions of its targets (second -1 for a word), its order."""

    shard: int
    first: int
    second: int
    order: int


@dataclass(frozen=True)
class ShardObservations:
    """Observations of a word or pair in one shard: starts, second starts (-1 for a word), orders."""

    shard: int
    firsts: I64
    seconds: I64
    orders: I64

    def __len__(self) -> int:
        return int(self.firsts.size)

    def at(self, index: int) -> Observation:
        """One of them."""
        return Observation(
            self.shard, int(self.firsts[index]), int(self.seconds[index]), int(self.orders[index])
        )

    def take(self, chosen: slice | I64) -> ShardObservations:
        """Some of them."""
        return ShardObservations(self.shard, self.firsts[chosen], self.seconds[chosen], self.orders[chosen])

    def ends(self, lengths: Sequence[int] | Sequence[I64]) -> tuple[I64, I64]:
        """Where the first and the second target of each end; `lengths` are those of w1 and w2, or of the word."""
        minus = self.orders == MINUS
        return (
            self.firsts + np.where(minus, lengths[-1], lengths[0]),
            self.seconds + np.where(minus, lengths[0], lengths[-1]),
        )


@dataclass(frozen=True)
class Observed:
    """The observations of one word or pair that count, for each shard in order, and how many there are in all."""

    shards: list[ShardObservations]
    total: int


def observe(
    corpus: Corpus, targets: Sequence[Target], between: int, limit: int | None, sample: int | None = None
) -> Observed:
    """The first `limit` observations of a word or pair of targets, or a sample of them, by its seed."""
    keys = TargetKeys(targets)

    def in_shards() -> Iterator[Iterator[ShardObservations]]:
        for number, shard in enumerate(corpus.shards):
            places = find_occurrences(shard, keys)
            if len(targets) == 1:
                yield _of_word(number, places.positions(shard.postings, 0))
            else:
                yield _of_pair(number, shard, places, targets[0] == targets[1], between)

    drawn = None
    if sample is not None and limit is not None:
        counts = np.array([sum(map(len, parts)) for parts in in_shards()], np.int64)
        name = "\t".join(sorted(map(str, targets)))
        drawn = drawn_numbers(counts, name, limit, sample)
    found: list[ShardObservations] = []
    total = kept = 0
    for number, parts in enumerate(in_shards()):
        before = total
        own = []
        for part in parts:
            if drawn is not None:
                low, high = np.searchsorted(drawn[number], [total - before, total - before + len(part)])
                chosen = part.take(drawn[number][low:high] - (total - before))
            else:
                left = len(part) if limit is None else max(0, limit - kept)
                chosen = part.take(slice(left))
            total += len(part)
            kept += len(chosen)
            own.append(chosen)
        found.append(_joined(number, own))
    return Observed(found, total)


def _joined(number: int, parts: Sequence[ShardObservations]) -> ShardObservations:
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, np.int64)
    return ShardObservations(
        number,
        np.concatenate([none, *(part.firsts for part in parts)]),
        np.concatenate([none, *(part.seconds for part in parts)]),
        np.concatenate([none, *(part.orders for part in parts)]),
    )


def _of_word(number: int, positions: NDArray[np.uint32]) -> Iterator[ShardObservations]:
    for start in range(0, positions.size, TOKENS_AT_ONCE):
        firsts = positions[start : start + TOKENS_AT_ONCE].astype(np.int64)
        yield ShardObservations(number, firsts, np.full(firsts.size, -1), np.zeros(firsts.size, np.int64))


def _of_pair(
    number: int, shard: Shard, places: Occurrences, equal: bool, between: int
) -> Iterator[ShardObservations]:
    """Consecutive targets, one of each kind, at most `between` tokens apart in one sentence; some tokens at a time."""
    both = [places.positions(shard.postings, kind) for kind in range(1 if equal else 2)]
    if not all(positions.size for positions in both):
        return
    lengths = places.lengths
    reach = between + int(lengths.max())
    rarer = min(both, key=len)
    for start in range(0, shard.tokens.size, TOKENS_AT_ONCE):
        stop = start + TOKENS_AT_ONCE
        low, high = _bounds(rarer, max(start - reach, 0), stop + reach)
        if low == high:
            continue
        positions, kinds = [], []
        for kind, own in enumerate(both):
            low, high = _bounds(own, start, stop + reach)
            positions.append(own[low:high].astype(np.int64))
            kinds.append(np.full(high - low, kind))
        position, kind_of = np.concatenate(positions), np.concatenate(kinds)
        if not equal:  # where two targets start at one token, the shorter comes first
            order = np.lexsort((lengths[kind_of], position))
            position, kind_of = position[order], kind_of[order]
        gap = position[1:] - position[:-1] - lengths[kind_of[:-1]]
        meets = (gap >= 0) & (gap <= between) & (position[:-1] < stop)
        if not equal:
            meets &= kind_of[1:] != kind_of[:-1]
        at = np.flatnonzero(meets)
        at = at[_same_sentence(shard, position[at], position[at + 1])]
        orders = np.full(at.size, BOTH) if equal else np.where(kind_of[at] == 0, PLUS, MINUS)
        if at.size:
            yield ShardObservations(number, position[at], position[at + 1], orders)


def _bounds(positions: NDArray[np.uint32], start: int, stop: int) -> tuple[int, int]:
    """Which of the ascending positions are in start..stop-1; numbers of another type would have them all converted."""
    low, high = np.searchsorted(positions, np.array([start, min(stop, MOST_TOKENS)], np.uint32)).tolist()
    return low, high


def _same_sentence(shard: Shard, firsts: I64, seconds: I64) -> NDArray[np.bool_]:
    """Where no sentence starts in first+1..second."""
    same = np.ones(firsts.size, np.bool_)
    for step in range(1, int((seconds - firsts).max(initial=0)) + 1):
        inside = np.flatnonzero(seconds - firsts >= step)
        same[inside] &= shard.tokens[firsts[inside] + step] & SENTENCE_START == 0
    return same
