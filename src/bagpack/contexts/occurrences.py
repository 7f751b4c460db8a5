"""Where words and pairs occur in the segments of a corpus, in corpus order.

`find_occurrences` looks many targets up in a segment; `observe` finds the observations of one word or pair, for a
concordance or an explanation. It is plain numpy: numba takes half a second to load, longer than the whole answer. Many
pairs at once are searched by `count.search_pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bagpack.arrays import I64, U32, Bools, Values
from bagpack.contexts.kernels import BOTH, MINUS, PLUS
from bagpack.contexts.targets import TAG_MARK, Target
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.segment import Segment
from bagpack.corpus.strings import Strings
from bagpack.corpus.text.tags import CODES
from bagpack.kernels import read_only

NO_POSITIONS: U32 = np.empty(0, np.uint32)


@dataclass(frozen=True)
class Occurrences:
    """Positions of targets in a segment: (extra if is_extra[t] else postings)[lows[t]:highs[t]], lengths[t] tokens."""

    lows: I64
    highs: I64
    lengths: I64
    is_extra: Bools
    extra: U32

    @property
    def counts(self) -> I64:
        return self.highs - self.lows

    def positions(self, postings: U32, target: int) -> U32:
        source = self.extra if self.is_extra[target] else postings
        return source[int(self.lows[target]) : int(self.highs[target])]


class TargetKeys:
    """Targets encoded once, to be looked up in many segments.

    ``filtered`` are the targets whose occurrences are not all postings of a key.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        runs = [target.keys for target in targets]
        self.lengths = np.fromiter(map(len, runs), np.int64, len(runs))
        self.ends = np.cumsum(self.lengths)
        self.filtered = [number for number, target in enumerate(targets) if not target.is_key]
        keys = list(chain.from_iterable(runs))
        self.tags: I64 | None = None  # of each key; -1 if any will do
        if TAG_MARK in "".join(keys):
            divided = [key.partition(TAG_MARK) for key in keys]
            keys = [key for key, _, _ in divided]
            self.tags = np.array([CODES[tag] if tag else -1 for _, _, tag in divided], np.int64)
        self.flat = Strings.of(keys)


def find_occurrences(segment: Segment, targets: Sequence[Target] | TargetKeys) -> Occurrences:
    """Occurrences of the targets in a segment; those of a multi-word target are found from its rarest word."""
    keys = targets if isinstance(targets, TargetKeys) else TargetKeys(targets)
    flat = segment.keys.find(keys.flat)
    single = flat[keys.ends - keys.lengths]
    single[keys.filtered] = -1
    positions, lows, highs = segment.positions_of(single)
    is_extra = positions is not segment.postings
    extra = positions if is_extra else read_only(NO_POSITIONS)
    are_extra = np.full(single.size, is_extra)
    lows, highs = lows.copy(), highs.copy()  # of a subcorpus they are two views of one array
    runs, size = [extra], extra.size
    for n in keys.filtered:
        own = slice(int(keys.ends[n] - keys.lengths[n]), int(keys.ends[n]))
        starts = run_starts(segment, flat[own], None if keys.tags is None else keys.tags[own])
        lows[n], highs[n], are_extra[n] = size, size + starts.size, True
        runs.append(starts)
        size += starts.size
    if keys.filtered:
        extra = read_only(np.concatenate(runs))
    return Occurrences(lows, highs, keys.lengths, are_extra, extra)


def run_starts(segment: Segment, keys: I64, tags: I64 | None = None) -> U32:
    """Positions where the keys follow one another within a sentence, with these parts of speech (-1: any)."""
    if (keys < 0).any():
        return NO_POSITIONS
    frequency = segment.posting_bounds[keys + 1] - segment.posting_bounds[keys]
    anchor = int(np.argmin(frequency))
    starts = segment.key_positions(int(keys[anchor])).astype(np.int64) - anchor
    starts = starts[(starts >= 0) & (starts + keys.size <= segment.tokens.size)]
    for place, tag in enumerate(() if tags is None else tags.tolist()):
        if tag >= 0:
            starts = starts[segment.tags[starts + place] == tag]
    for place, key in enumerate(keys.tolist() if keys.size > 1 else ()):
        tokens = segment.tokens[starts + place]
        follows = segment.key_of_type[tokens & TYPE_MASK] == key
        if place:
            follows &= tokens & SENTENCE_START == 0
        starts = starts[follows]
    return starts.astype(np.uint32)


def occurrences_by_segment(corpus: Corpus, targets: Sequence[Target]) -> Iterator[Occurrences]:
    """Occurrences of targets in each segment, looked up when it is the segment's turn: all at once would not fit."""
    keys = TargetKeys(targets)
    return (find_occurrences(segment, keys) for segment in corpus.segments)


def most_occurrences(corpus: Corpus, targets: Sequence[Target]) -> I64:
    """How often each target occurs at most: as often as the rarest of its words, by the lexicon."""
    keys = TargetKeys(targets)
    found = corpus.lexicon.keys.find(keys.flat)
    counts = np.where(found >= 0, corpus.lexicon.counts[np.maximum(found, 0)], 0)
    return np.minimum.reduceat(counts, keys.ends - keys.lengths).astype(np.int64)


# One word or pair ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observations:
    """Observations of words or pairs in one segment: starts, second starts (-1 for a word), orders."""

    segment: int
    firsts: Values
    seconds: Values
    orders: Values

    def __len__(self) -> int:
        return int(self.firsts.size)

    def take(self, chosen: slice | I64) -> Observations:
        return Observations(self.segment, self.firsts[chosen], self.seconds[chosen], self.orders[chosen])

    def singly(self) -> Iterator[Observations]:
        return (self.take(slice(at, at + 1)) for at in range(len(self)))

    def ends(self, lengths: Sequence[int] | Sequence[I64]) -> tuple[I64, I64]:
        """Where the first and the second target of each end; `lengths` are those of w1 and w2, or of the word."""
        minus = self.orders == MINUS
        return (
            self.firsts + np.where(minus, lengths[-1], lengths[0]),
            self.seconds + np.where(minus, lengths[0], lengths[-1]),
        )


def observe(
    corpus: Corpus, targets: Sequence[Target], between: int, limit: int | None
) -> tuple[list[Observations], int]:
    """The first `limit` observations of a word or pair of targets, by segment, and how many there are in all."""
    found: list[Observations] = []
    total = kept = 0
    for number, places in enumerate(occurrences_by_segment(corpus, targets)):
        segment = corpus.segments[number]
        if len(targets) == 1:
            firsts = places.positions(segment.postings, 0)
            every: Sequence[Values] = firsts, np.full(firsts.size, -1), np.zeros(firsts.size, np.int64)
        else:
            every = _of_pair(segment, places, targets[0] == targets[1], between)
        left = slice(None if limit is None else max(0, limit - kept))
        found.append(Observations(number, *(part[left].astype(np.int64) for part in every)))
        total += every[0].size
        kept += len(found[-1])
    return found, total


def _of_pair(segment: Segment, places: Occurrences, equal: bool, between: int) -> tuple[I64, I64, I64]:
    """Starts, second starts and orders of consecutive targets, one of each kind, close enough in one sentence."""
    both = [places.positions(segment.postings, kind) for kind in range(1 if equal else 2)]
    if not all(positions.size for positions in both):
        return (np.zeros(0, np.int64),) * 3
    position = np.concatenate(both).astype(np.int64)
    kind = np.repeat(np.arange(len(both)), [positions.size for positions in both])
    if not equal:  # where two targets start at one token, the shorter comes first
        order = np.lexsort((places.lengths[kind], position))
        position, kind = position[order], kind[order]
    gap = position[1:] - position[:-1] - places.lengths[kind[:-1]]
    at = np.flatnonzero((gap >= 0) & (gap <= between) & (equal | (kind[1:] != kind[:-1])))
    same = np.ones(at.size, np.bool_)  # no sentence starts in first+1..second
    for step in range(1, int((position[at + 1] - position[at]).max(initial=0)) + 1):
        inside = np.flatnonzero(position[at + 1] - position[at] >= step)
        same[inside] &= segment.tokens[position[at[inside]] + step] & SENTENCE_START == 0
    at = at[same]
    orders = np.full(at.size, BOTH) if equal else np.where(kind[at] == 0, PLUS, MINUS)
    return position[at], position[at + 1], orders
