"""A concordance page by page: the total from the postings, only the lines of the page as text.

In corpus order any page is reached without looking at the others. Sorted by the words to the left, to the right or
between, at most `SORTED` observations are sorted, taken evenly over the corpus, and the page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bagpack.arrays import I64
from bagpack.contexts.concordance import Context, show_all
from bagpack.contexts.occurrences import Observations, find_occurrences, observe
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import TYPE_MASK
from bagpack.errors import UsageError
from bagpack.explain.keyness import reach, spread

SORTED = 10_000
NEAREST = 3  # tokens that lines are sorted by
SORTS = ("corpus", "left", "right", "between")


@dataclass(frozen=True)
class Lines:
    """Some lines of a concordance, from number `start` on."""

    total: int
    reachable: int  # how many of them can be paged to: all, or those that were sorted
    start: int
    lines: tuple[Context, ...]

    @property
    def note(self) -> str:
        if not self.lines:
            return f"none of {self.total:,}"
        text = f"{self.start + 1:,}–{self.start + len(self.lines):,} of {self.reachable:,}"
        if self.reachable < self.total:
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
        self.corpus: Corpus = source.for_words if len(words) == 1 else source.for_pairs
        resolved = source.resolve(words)
        self.unknown = tuple(dict.fromkeys(w for w, t in zip(words, resolved, strict=True) if t is None))
        self.targets = [target for target in resolved if target is not None]
        self.lengths = [len(target.keys) for target in self.targets]
        self._orders: dict[str, list[Observations]] = {}
        self._pairs: list[Observations] = []
        self.sizes: list[int] = []
        if len(words) == 1 and not self.unknown:
            self._places = [find_occurrences(segment, self.targets) for segment in self.corpus.segments]
            self.sizes = [int(place.counts[0]) for place in self._places]
        elif not self.unknown:
            self._pairs = observe(self.corpus, self.targets, self.windows.between, None)[0]
            self.sizes = [len(item) for item in self._pairs]
        self.total = sum(self.sizes)

    def _observations(self, segment: int, chosen: I64) -> Observations:
        if self._pairs:
            return self._pairs[segment].take(chosen)
        positions = self._places[segment].positions(self.corpus.segments[segment].postings, 0)[chosen]
        none = np.zeros(chosen.size, np.int64)
        return Observations(segment, positions.astype(np.int64), none - 1, none)

    def lines(self, start: int = 0, size: int = 50, sort: str = "corpus") -> Lines:
        """`size` lines from number `start` on."""
        if sort not in SORTS[: 2 + len(self.words)]:
            raise UsageError(f"sort {sort} is unknown; choose {', '.join(SORTS[: 2 + len(self.words)])}")
        if sort == "corpus":
            chosen: list[Observations] = []
            reachable, first = self.total, 0
            for segment, own in enumerate(self.sizes):
                wanted = np.arange(max(start - first, 0), min(start + size - first, own))
                chosen += self._observations(segment, wanted).singly()
                first += own
        else:
            order = self._sorted(sort)
            reachable, chosen = len(order), order[start : start + size]
        shown = tuple(show_all(self.corpus, item, self.lengths, self.windows)[0] for item in chosen)
        return Lines(self.total, reachable, start, shown)

    def _sorted(self, sort: str) -> list[Observations]:
        """Observations by the tokens next to them, without regard to case; equal ones in corpus order."""
        if sort not in self._orders:
            keyed: list[tuple[tuple[str, ...], Observations]] = []
            for number, pick in enumerate(spread(self.sizes, SORTED)):
                observed = self._observations(number, pick)
                keyed += zip(self._neighbours(observed, sort), observed.singly(), strict=True)
            keyed.sort(key=lambda entry: entry[0])
            self._orders[sort] = [observation for _, observation in keyed]
        return self._orders[sort]

    def _neighbours(self, observed: Observations, sort: str) -> list[tuple[str, ...]]:
        segment = self.corpus.segments[observed.segment]
        first_ends, second_ends = observed.ends(self.lengths)
        steps = np.arange(self.windows.between if sort == "between" else NEAREST)
        if sort == "left":
            starts, ends = reach(segment, observed.firsts, NEAREST, backwards=True)
            places = ends[:, None] - 1 - steps
        else:
            starts, ends = first_ends, observed.seconds
            if sort == "right":
                position = first_ends if len(self.words) == 1 else second_ends
                starts, ends = reach(segment, position, NEAREST, backwards=False)
            places = starts[:, None] + steps
        inside = (places >= starts[:, None]) & (places < ends[:, None])
        types = np.where(inside, segment.tokens[np.where(inside, places, 0)].astype(np.int64) & TYPE_MASK, -1)
        form = {t: "" if t < 0 else segment.forms[t].casefold() for t in np.unique(types).tolist()}
        return [tuple(form[t] for t in row) for row in types.tolist()]
