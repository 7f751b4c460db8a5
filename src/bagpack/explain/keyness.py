"""Keyness: which terms occur in some windows more often than in the whole corpus.

The log-likelihood ratio of a 2 × 2 table (Dunning 1993): tokens that are the term or not, inside the windows or
outside. logDice (Rychlý 2008) compares the co-occurrences of two words with their frequencies alone, so that it does
not depend on the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bagpack.arrays import I64, Bools, Floats
from bagpack.contexts.concordance import tokens_within
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.segment import Segment

CHANCE = 10.83  # G² beyond this has p < 0.001 at one degree of freedom
LEAST = 2  # occurrences in the windows that a keyword has at least


@dataclass(frozen=True)
class Keyword:
    """A term with its count in the windows, the count that its frequency alone would give, and G²."""

    term: str
    count: int
    expected: float
    llr: float


def log_likelihood(inside: I64, window: float, total: I64, corpus: float) -> Floats:
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


def log_dice(together: Floats, first: float, second: I64) -> Floats:
    """logDice: 14 + log2(2 f(x,y) / (f(x) + f(y))), at most 14 (the two only occur together).

    >>> log_dice(np.array([10.0, 5.0]), 10, np.array([10, 70])).round(2).tolist()
    [14.0, 11.0]
    """
    dice = 2 * np.asarray(together, np.float64) / (first + np.asarray(second, np.float64))
    with np.errstate(divide="ignore"):
        return np.asarray(14 + np.log2(dice))


def reach(segment: Segment, positions: I64, tokens: int, backwards: bool) -> tuple[I64, I64]:
    """Bounds of the up to `tokens` tokens before the positions, or from them on, inside their sentences."""
    if backwards:
        return positions - tokens_within(segment, positions, -1, tokens), positions
    return positions, positions + tokens_within(segment, positions, 1, tokens)


def numbers_of(segment: Segment, keys: I64, background: Corpus) -> I64:
    """For each key of a segment, its number in a background lexicon; −1 for those that are not among ``keys``."""
    number = np.full(len(segment.keys) + 1, -1, np.int64)  # the last is for -1, which is no key
    used = np.unique(keys[keys >= 0])
    number[used] = background.lexicon.keys.find(segment.keys.take(used))
    return number


def tokens_in(starts: I64, ends: I64) -> tuple[I64, I64]:
    """The positions of all tokens in windows, and the number of the window that each is in.

    >>> [found.tolist() for found in tokens_in(np.array([3, 9]), np.array([5, 10]))]
    [[3, 4, 9], [0, 0, 1]]
    """
    lengths = ends - starts
    window = np.repeat(np.arange(starts.size), lengths)
    return np.arange(window.size) + (starts - np.cumsum(lengths) + lengths)[window], window


def keywords(
    numbers: I64, background: Corpus, top: int, wanted: Callable[[I64], Bools] | None = None
) -> list[Keyword]:
    """The terms that occur in windows more often than by chance, by G².

    ``numbers`` has the number of each token of the windows in the background's lexicon, −1 for a term that it lacks;
    ``wanted`` says which of them may be keywords.
    """
    lexicon, window, whole = background.lexicon, numbers.size, max(background.tokens, 1)
    found, counts = np.unique(numbers[numbers >= 0], return_counts=True)
    totals = lexicon.counts[found]
    llr = log_likelihood(counts, window, totals, whole)
    kept = (counts >= LEAST) & (llr >= CHANCE)
    if wanted is not None:
        kept &= wanted(found)
    chosen = np.flatnonzero(kept)
    return [
        Keyword(
            lexicon.keys[int(found[i])], int(counts[i]), round(float(totals[i]) * window / whole, 3),
            round(float(llr[i]), 1),
        )
        for i in chosen[np.argsort(-llr[chosen], kind="stable")][:top].tolist()
    ]  # fmt: skip


def spread(sizes: Sequence[int], most: int) -> list[I64]:
    """Which of each part's items to take so that at most `most` are, evenly over all parts."""
    total = sum(sizes)
    if total <= most:
        return [np.arange(size) for size in sizes]
    chosen = (np.arange(most) * total) // most
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(chosen, np.concatenate([[0], ends]))
    return [chosen[cuts[i] : cuts[i + 1]] - (ends[i] - sizes[i]) for i in range(len(sizes))]
