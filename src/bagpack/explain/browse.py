"""A concordance page by page: the total from the postings, only the lines of the page as text.

In corpus order any page is reached without looking at the others. Sorted by the words to the left, to the right or
between, at most `SORTED` observations are sorted, taken evenly over the corpus, and the page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts import kernels
from bagpack.contexts.concordance import Context, show
from bagpack.contexts.observations import Observation
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Occurrences, Target, find_occurrences
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK
from bagpack.errors import UsageError
from bagpack.explain.keyness import spread
from bagpack.explain.lines import corpora_of, pair_observations
from bagpack.jit import kernel

I64 = NDArray[np.int64]

SORTED = 10_000
NEAREST = 3  # tokens that lines are sorted by
SORTS = ("corpus", "left", "right", "between")


@kernel
def _walk(tokens, positions, step, stops, out):  # type: ignore[no-untyped-def]
    """Types of the tokens from each position on, going left or right inside the sentence and short of `stops`."""
    for i in range(positions.size):
        position = positions[i]
        for k in range(out.shape[1]):
            out[i, k] = -1
        for k in range(out.shape[1]):
            if step < 0:
                if position <= 0 or tokens[position] & SENTENCE_START:
                    break
                position -= 1
            elif position >= stops[i] or tokens[position] & SENTENCE_START:
                break
            out[i, k] = tokens[position] & TYPE_MASK
            if step > 0:
                position += 1


@dataclass(frozen=True)
class Lines:
    """Some lines of a concordance. `sorted_from` says how many observations were sorted, None in corpus order."""

    words: tuple[str, ...]
    total: int
    reachable: int  # how many of them can be paged to: all, or those that were sorted
    start: int
    sort: str
    sorted_from: int | None
    lines: tuple[Context, ...]

    @property
    def note(self) -> str:
        """What the page shows, and of what."""
        if not self.lines:
            return f"none of {self.total:,}"
        text = f"{self.start + 1:,}–{self.start + len(self.lines):,} of {self.reachable:,}"
        if self.sorted_from is not None and self.sorted_from < self.total:
            text += f" lines that were sorted, taken evenly from all {self.total:,}"
        return text


class Browser:
    """The concordance of a word or a pair, open to be paged through.

    Making one costs a look into the postings (a word) or a walk through the rarer word's (a pair); a page then costs
    its own lines only. Sort orders are kept once made.
    """

    def __init__(self, source: ContextSource, words: Sequence[str], windows: Windows | None = None) -> None:
        self.words = tuple(words)
        self.windows = windows or Windows()
        word_corpus, pair_corpus = corpora_of(source)
        self.corpus: Corpus = word_corpus if len(words) == 1 else pair_corpus
        resolved = source.resolve(words)
        self.unknown = tuple(dict.fromkeys(w for w, t in zip(words, resolved, strict=True) if t is None))
        self.targets: list[Target] = [target for target in resolved if target is not None]
        self._orders: dict[str, list[Observation]] = {}
        if self.unknown:
            self.sizes: list[int] = []
        elif len(words) == 1:
            self._places: list[Occurrences] = [
                find_occurrences(shard, self.targets) for shard in self.corpus.shards
            ]
            self.sizes = [int(place.counts[0]) for place in self._places]
        else:
            settings = CountSettings(self.windows, limit=None)
            self._pairs = pair_observations(self.corpus, self.targets[0], self.targets[1], settings)
            self.sizes = [len(item) for item in self._pairs]
        self.total = sum(self.sizes)

    @cached_property
    def _ends(self) -> I64:
        return np.cumsum(self.sizes)

    def _observation(self, shard: int, index: int) -> Observation:
        if len(self.words) == 1:
            positions = self._places[shard].positions(self.corpus.shards[shard].postings, 0)
            return Observation(shard, int(positions[index]), -1, 0)
        return self._pairs[shard].at(index)

    def lines(self, start: int = 0, size: int = 50, sort: str = "corpus") -> Lines:
        """`size` lines from number `start` on."""
        if sort not in SORTS or (sort == "between" and len(self.words) == 1):
            raise UsageError(f"sort {sort} is unknown; choose {', '.join(SORTS[: 2 + len(self.words)])}")
        if self.unknown:
            return Lines(self.words, 0, 0, 0, sort, None, ())
        if sort == "corpus":
            stop = min(start + size, self.total)
            chosen = []
            for number in range(start, stop):
                shard = int(np.searchsorted(self._ends, number, side="right"))
                chosen.append(self._observation(shard, number - int(self._ends[shard]) + self.sizes[shard]))
            return Lines(self.words, self.total, self.total, start, sort, None, self._show(chosen))
        order = self._sorted(sort)
        page = order[start : start + size]
        return Lines(self.words, self.total, len(order), start, sort, len(order), self._show(page))

    def _show(self, chosen: Sequence[Observation]) -> tuple[Context, ...]:
        lengths = [len(target.keys) for target in self.targets]
        return tuple(show(self.corpus, item, lengths, self.windows) for item in chosen)

    def _sorted(self, sort: str) -> list[Observation]:
        """Observations by the tokens next to them, without regard to case; equal ones in corpus order."""
        if sort in self._orders:
            return self._orders[sort]
        keyed: list[tuple[tuple[str, ...], Observation]] = []
        for number, pick in enumerate(spread(self.sizes, SORTED)):
            observed = [self._observation(number, index) for index in pick.tolist()]
            if observed:
                keyed += zip(self._neighbours(number, observed, sort), observed, strict=True)
        keyed.sort(key=lambda entry: entry[0])
        self._orders[sort] = [observation for _, observation in keyed]
        return self._orders[sort]

    def _neighbours(self, number: int, observed: Sequence[Observation], sort: str) -> list[tuple[str, ...]]:
        shard = self.corpus.shards[number]
        lengths = [len(target.keys) for target in self.targets]
        firsts = np.array([item.first for item in observed], np.int64)
        seconds = np.array([item.second for item in observed], np.int64)
        minus = np.array([item.order == kernels.MINUS for item in observed])
        first_ends = firsts + np.where(minus, lengths[-1], lengths[0])
        second_ends = seconds + np.where(minus, lengths[0], lengths[-1])
        stops = np.full(firsts.size, shard.tokens.size, np.int64)
        types = np.empty((firsts.size, NEAREST if sort != "between" else self.windows.between), np.int64)
        if sort == "left":
            _walk(shard.tokens, firsts, -1, stops, types)
        elif sort == "right":
            _walk(shard.tokens, first_ends if len(self.words) == 1 else second_ends, 1, stops, types)
        else:
            _walk(shard.tokens, first_ends, 1, seconds, types)
        used = np.unique(types)
        form = {int(t): "" if t < 0 else shard.forms[int(t)].casefold() for t in used.tolist()}
        return [tuple(form[t] for t in row) for row in types.tolist()]
