"""Keyness: which terms occur in some windows more often than in the whole corpus.

The log-likelihood ratio of a 2 × 2 table (Dunning 1993): tokens that are the term or not, inside the windows or
outside. logDice (Rychlý 2008) compares the co-occurrences of two words with their frequencies alone, so that it does
not depend on the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.kernels.windows import window_end, window_start
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import TYPE_MASK
from bagpack.corpus.segment import Shard
from bagpack.kernels import kernel

I64 = NDArray[np.int64]

CHANCE = 10.83  # G² beyond this has p < 0.001 at one degree of freedom
LEAST = 2  # occurrences in the windows that a keyword has at least


@dataclass(frozen=True)
class Keyword:
    """A term with its count in the windows, the count that its frequency alone would give, and G²."""

    term: str
    count: int
    expected: float
    llr: float


def log_likelihood(inside: I64, window: float, total: I64, corpus: float) -> NDArray[np.float64]:
    """G² of each term: `inside` of a window's `window` tokens, `total` of the `corpus` tokens.

    Signed: negative where the term is rarer inside than outside.

    >>> log_likelihood(np.array([10, 1]), 100, np.array([100, 100]), 10_000).round(2).tolist()
    [29.75, 0.0]
    """
    a = np.asarray(inside, np.float64)
    k = np.maximum(np.asarray(total, np.float64), a)
    n, whole = float(window), max(float(corpus), float(window))
    cells = (
        (a, k * n),
        (n - a, (whole - k) * n),
        (k - a, k * (whole - n)),
        (whole - n - k + a, (whole - k) * (whole - n)),
    )
    g2 = np.zeros_like(a)
    for observed, product in cells:
        expected = np.maximum(product / whole, 1e-300)
        seen = observed > 0
        g2[seen] += observed[seen] * np.log(observed[seen] / expected[seen])
    g2 = np.maximum(2 * g2, 0)
    return np.where(a >= k * n / whole, g2, -g2)


def log_dice(together: NDArray[np.float64], first: float, second: I64) -> NDArray[np.float64]:
    """logDice: 14 + log2(2 f(x,y) / (f(x) + f(y))), at most 14 (the two only occur together).

    >>> log_dice(np.array([10.0, 5.0]), 10, np.array([10, 70])).round(2).tolist()
    [14.0, 11.0]
    """
    dice = 2 * np.asarray(together, np.float64) / (first + np.asarray(second, np.float64))
    with np.errstate(divide="ignore"):
        return np.asarray(14 + np.log2(dice))


@kernel
def take_keys(tokens, key_of_type, starts, ends, codes, keys, out_codes):  # type: ignore[no-untyped-def]
    """Keys of the tokens in each window, with the window's code."""
    at = 0
    for i in range(starts.size):
        for position in range(starts[i], ends[i]):
            keys[at] = key_of_type[tokens[position] & TYPE_MASK]
            out_codes[at] = codes[i]
            at += 1
    return at


@kernel
def windows_around(tokens, positions, reach, backwards, starts, ends):  # type: ignore[no-untyped-def]
    """Up to `reach` tokens before (backwards) or from each position on, inside its sentence."""
    for i in range(positions.size):
        starts[i] = ends[i] = positions[i]
        if backwards:
            starts[i] = window_start(tokens, positions[i], reach)
        else:
            ends[i] = window_end(tokens, positions[i], reach)


def reach(shard: Shard, positions: I64, tokens: int, backwards: bool) -> tuple[I64, I64]:
    """Bounds of the windows before or from the positions on."""
    starts, ends = np.empty(positions.size, np.int64), np.empty(positions.size, np.int64)
    windows_around(shard.tokens, positions, tokens, backwards, starts, ends)
    return starts, ends


def numbers_of(shard: Shard, keys: I64, background: Corpus) -> I64:
    """For each key of a shard, its number in a background lexicon; −1 for those that are not among ``keys``."""
    number = np.full(len(shard.keys) + 1, -1, np.int64)  # the last is for -1, which is no key
    used = np.unique(keys[keys >= 0])
    number[used] = background.lexicon.keys.find(shard.keys.take(used))
    return number


class TermCounter:
    """Counts keys in coded windows, shard after shard, under the numbers that a background lexicon gives them."""

    def __init__(self, background: Corpus) -> None:
        self.background = background
        self.size = max(len(background.lexicon.keys), 1)
        self._seen: list[I64] = []
        self._windows: dict[int, int] = {}

    def add(self, shard: Shard, bounds: Sequence[tuple[int, I64, I64]]) -> I64:
        """Count windows (code, starts, ends); returns the background's number of each key that was seen."""
        starts = np.concatenate([low for _, low, _ in bounds])
        ends = np.concatenate([high for _, _, high in bounds])
        codes = np.concatenate([np.full(low.size, code, np.int64) for code, low, _ in bounds])
        space = int((ends - starts).sum())
        keys, key_codes = np.empty(space, np.int64), np.empty(space, np.int64)
        take_keys(shard.tokens, shard.key_of_type, starts, ends, codes, keys, key_codes)
        number = numbers_of(shard, keys, self.background)
        numbers = number[keys]
        known = numbers >= 0
        self._seen.append(key_codes[known] * self.size + numbers[known])
        for code, low, high in bounds:
            self._windows[code] = self._windows.get(code, 0) + int((high - low).sum())
        return number

    def tokens(self, code: int) -> int:
        """Tokens in all windows of a code."""
        return self._windows.get(code, 0)

    def counts(self) -> dict[int, tuple[I64, I64]]:
        """For each code: numbers of the keys that were seen, and how often."""
        everything = np.concatenate(self._seen) if self._seen else np.empty(0, np.int64)
        values, counts = np.unique(everything, return_counts=True)
        codes = values // self.size
        return {
            code: (values[codes == code] % self.size, counts[codes == code].astype(np.int64))
            for code in sorted(self._windows)
        }

    def keywords(self, top: int) -> dict[int, list[Keyword]]:
        """For each code, the terms that occur in its windows more often than by chance, by G²."""
        return {
            code: list(islice(self._ranked(code, numbers, counts), top))
            for code, (numbers, counts) in self.counts().items()
        }

    def _ranked(self, code: int, numbers: I64, counts: I64) -> Iterator[Keyword]:
        lexicon = self.background.lexicon
        window, whole = self.tokens(code), max(self.background.tokens, 1)
        totals = lexicon.counts[numbers]
        llr = log_likelihood(counts, window, totals, whole)
        kept = np.flatnonzero((counts >= LEAST) & (llr >= CHANCE))
        for i in kept[np.argsort(-llr[kept], kind="stable")].tolist():
            expected = float(totals[i]) * window / whole
            yield Keyword(
                lexicon.keys[int(numbers[i])], int(counts[i]), round(expected, 3), round(float(llr[i]), 1)
            )


def spread(sizes: Sequence[int], most: int) -> list[I64]:
    """Which of each part's items to take so that at most `most` are, evenly over all parts."""
    total = sum(sizes)
    if total <= most:
        return [np.arange(size) for size in sizes]
    chosen = (np.arange(most) * total) // most
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(chosen, np.concatenate([[0], ends]))
    return [chosen[cuts[i] : cuts[i + 1]] - (ends[i] - sizes[i]) for i in range(len(sizes))]
