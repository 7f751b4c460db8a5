"""Pair sketches: how often two words co-occur, in which order, how far apart, and which words are around them."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bagpack.arrays import I64
from bagpack.contexts import kernels
from bagpack.contexts.concordance import show_all
from bagpack.contexts.occurrences import Observations
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import TYPE_MASK
from bagpack.explain.collocates import occurrences
from bagpack.explain.keyness import Keyword, keywords, numbers_of, spread, tokens_in
from bagpack.explain.lines import PairEvidence, line_dict, segment_bounds
from bagpack.names import PAIR_SEGMENTS
from bagpack.sources import as_source

NOTHING = np.empty(0, np.int64)
MOST = 5000  # observations that terms are taken from, evenly over the corpus; all are counted


@dataclass(frozen=True)
class Middle:
    """The whole phrase between the two words, and how often it occurs; `order` is + with the first word first."""

    order: str
    text: str
    count: int


@dataclass(frozen=True)
class PairSketch:
    """One pair on a page; `to_dict` gives plain data."""

    w1: str
    w2: str
    known_as: tuple[str, str]
    unknown: tuple[str, ...]
    n_w1: int
    n_w2: int
    together: int
    n_plus: int
    n_minus: int
    expected: float
    distances_plus: tuple[int, ...]
    distances_minus: tuple[int, ...]
    sampled: int
    terms: dict[str, list[Keyword]]
    middles: list[Middle]
    examples: list[dict[str, Any]]
    windows: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def sketch_pair(
    source: ContextSource | Corpus, w1: str, w2: str, *, windows: Windows | None = None, top: int = 12,
    examples: int = 8, evidence: PairEvidence | None = None,
) -> PairSketch:  # fmt: skip
    """A pair's sketch.

    Parameters
    ----------
    top
        Number of keywords per place.
    evidence
        The observations of the pair, if they were found before.
    """
    source = as_source(source)
    windows = windows or Windows()
    first, second = source.resolve([w1, w2])
    counts = [0 if target is None else occurrences(source.for_words, target) for target in (first, second)]
    unknown = tuple(dict.fromkeys(w for w, n in zip((w1, w2), counts, strict=True) if n == 0))
    lengths = (len(first.keys) if first else 0, len(second.keys) if second else 0)
    found: list[Observations] = []
    if first and second and not unknown:
        evidence = evidence or PairEvidence(source, first, second, CountSettings(windows, limit=None))
        found = evidence.together
    gaps = np.concatenate([NOTHING, *(item.seconds - item.ends(lengths)[0] for item in found)])
    minus = np.concatenate([NOTHING, *(item.orders == kernels.MINUS for item in found)]).astype(np.bool_)
    # A word with itself is w1 first.
    by_gap = [np.bincount(gaps[own], minlength=windows.between + 1).tolist() for own in (~minus, minus)]
    n_plus, n_minus = map(sum, by_gap)
    around: dict[str, list[I64]] = {place: [NOTHING] for place in PAIR_SEGMENTS}
    flat: list[Observations] = []
    between: list[tuple[str, ...]] = []
    for item, pick in zip(found, spread([len(item) for item in found], MOST), strict=True):
        picked = item.take(pick)
        between += _look_around(picked, source, lengths, windows, around)
        flat += picked.singly()
    middles, chosen = _middles(between, flat, top, examples)
    # Chance: each of the 2·(between + 1) places around w1 is w2 as often as any token is, and a word has itself in
    # the half of them that follow it; sentence ends are ignored.
    places = (1 if first == second else 2) * (windows.between + 1)
    expected = counts[0] * counts[1] / max(source.for_basis.tokens, 1) * places
    return PairSketch(
        w1=w1, w2=w2, known_as=(str(first or ""), str(second or "")), unknown=unknown, n_w1=counts[0], n_w2=counts[1],
        together=n_plus + n_minus, n_plus=n_plus, n_minus=n_minus, expected=round(expected, 3),
        distances_plus=tuple(by_gap[0]), distances_minus=tuple(by_gap[1]), sampled=len(flat),
        terms={place: keywords(np.concatenate(own), source.for_basis, top) for place, own in around.items()},
        middles=middles,
        examples=[line_dict(show_all(source.for_pairs, item, lengths, windows)[0]) for item in chosen],
        windows=str(windows),
    )  # fmt: skip


def _look_around(
    item: Observations, source: ContextSource, lengths: tuple[int, int], windows: Windows,
    around: dict[str, list[I64]],
) -> list[tuple[str, ...]]:  # fmt: skip
    """Add the numbers of the words before, between and after to ``around``; returns the order and the words between."""
    segment = source.for_pairs.segments[item.segment]
    orders = np.where(item.orders == kernels.MINUS, "-", "+")
    middles: list[tuple[str, ...]] = []
    for place in ("pre", "betw", "post"):
        starts, ends = segment_bounds(segment, item, f"+{place}", lengths, windows)
        positions, window = tokens_in(starts, ends)
        keys = segment.key_of_type[segment.tokens[positions] & TYPE_MASK].astype(np.int64)
        numbers = numbers_of(segment, keys, source.for_basis)[keys]
        for order in "+-":
            around[order + place].append(numbers[orders[window] == order])
        if place == "betw":
            written = {key: segment.keys[key] for key in np.unique(keys).tolist()}
            words = [written[key] for key in keys.tolist()]
            spans = itertools.pairwise([0, *np.cumsum(ends - starts).tolist()])
            middles = [(order, *words[a:b]) for order, (a, b) in zip(orders.tolist(), spans, strict=True)]
    return middles


def _middles(
    between: list[tuple[str, ...]], flat: list[Observations], top: int, examples: int
) -> tuple[list[Middle], list[Observations]]:
    """The commonest middles, and examples that show them: one of each, then more from all over."""
    first = {middle: index for index, middle in reversed(list(enumerate(between)))}
    commonest = Counter(between).most_common()  # equal counts in corpus order
    middles = [Middle(order, " ".join(words), count) for (order, *words), count in commonest[:top]]
    chosen = [first[middle] for middle, _ in commonest[:examples]]
    spread_out = np.linspace(0, len(flat) - 1, min(examples, len(flat))).astype(int).tolist()
    return middles, [flat[index] for index in list(dict.fromkeys([*chosen, *spread_out]))[:examples]]
