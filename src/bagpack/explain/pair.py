"""Pair sketches: how often two words co-occur, in which order, how far apart, and which words are around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts import kernels
from bagpack.contexts.concordance import show
from bagpack.contexts.occurrences import Observation, ShardObservations
from bagpack.contexts.source import ContextSource, elsewhere
from bagpack.contexts.targets import Elsewhere
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import TYPE_MASK
from bagpack.explain.collocates import occurrences
from bagpack.explain.keyness import Keyword, TermCounter, reach, spread
from bagpack.explain.lines import PairEvidence, line_dict
from bagpack.kernels import kernel
from bagpack.names import PAIR_SEGMENTS
from bagpack.sources import as_source

I64 = NDArray[np.int64]

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
    elsewhere: list[Elsewhere] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@kernel
def _hash_middles(tokens, key_of_type, number, starts, ends, out):  # type: ignore[no-untyped-def]
    """A number for the keys of each stretch, the same in all shards."""
    for i in range(starts.size):
        value = np.uint64(1469598103934665603)
        for position in range(starts[i], ends[i]):
            key = np.uint64(number[key_of_type[tokens[position] & TYPE_MASK]] + 2)
            value = (value ^ key) * np.uint64(1099511628211)
            value ^= value >> np.uint64(29)
        out[i] = value


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
    words, pairs = source.for_words, source.for_pairs
    counts = [0 if target is None else occurrences(words, target) for target in (first, second)]
    unknown = tuple(dict.fromkeys(w for w, n in zip((w1, w2), counts, strict=True) if n == 0))
    lengths = (len(first.keys) if first else 0, len(second.keys) if second else 0)
    found: list[ShardObservations] = []
    if first and second and not unknown:
        evidence = evidence or PairEvidence(source, first, second, CountSettings(windows, limit=None))
        found = evidence.together
    plus, minus = _distances(found, lengths, windows)
    n_plus, n_minus = int(plus.sum()), int(minus.sum())
    picks = spread([len(item) for item in found], MOST)
    picked = [item.take(pick) for item, pick in zip(found, picks, strict=True)]
    counter = TermCounter(source.for_basis)
    hashes = [_count_around(counter, pairs, item, lengths, windows) for item in picked if len(item)]
    keywords = counter.keywords(top)
    flat = [item.at(i) for item in picked for i in range(len(item))]
    middles, chosen = _middles(hashes, flat, top, examples, pairs, lengths)
    # Chance: each of the 2·(between + 1) places around w1 is w2 as often as any token is, and a word has itself in
    # the half of them that follow it; sentence ends are ignored.
    places = (1 if first == second else 2) * (windows.between + 1)
    expected = counts[0] * counts[1] / max(source.for_basis.tokens, 1) * places
    return PairSketch(
        w1=w1, w2=w2, known_as=(str(first or ""), str(second or "")), unknown=unknown, n_w1=counts[0], n_w2=counts[1],
        together=n_plus + n_minus, n_plus=n_plus, n_minus=n_minus, expected=round(expected, 3),
        distances_plus=tuple(plus.tolist()), distances_minus=tuple(minus.tolist()), sampled=len(flat),
        terms={place: keywords.get(code, []) for code, place in enumerate(PAIR_SEGMENTS)}, middles=middles,
        examples=[line_dict(show(pairs, item, lengths, windows)) for item in chosen],
        windows=str(windows), elsewhere=elsewhere(source, (w1, w2)),
    )  # fmt: skip


def _distances(
    found: Sequence[ShardObservations], lengths: tuple[int, int], windows: Windows
) -> tuple[I64, I64]:
    """Co-occurrences by the number of tokens between, w1 first and w2 first; a word with itself is w1 first."""
    sums = np.zeros((2, windows.between + 1), np.int64)
    for item in found:
        minus = item.orders == kernels.MINUS
        gaps = item.seconds - item.ends(lengths)[0]
        for row, chosen in enumerate((~minus, minus)):
            sums[row] += np.bincount(gaps[chosen], minlength=windows.between + 1)[: windows.between + 1]
    return sums[0], sums[1]


def _count_around(
    counter: TermCounter, corpus: Corpus, item: ShardObservations, lengths: tuple[int, int], windows: Windows
) -> NDArray[np.uint64]:
    """Count the words before, between and after; returns a number per middle."""
    shard = corpus.shards[item.shard]
    minus = item.orders == kernels.MINUS
    first_end, second_end = item.ends(lengths)
    before = reach(shard, item.firsts, windows.left, backwards=True)
    after = reach(shard, second_end, windows.right, backwards=False)
    bounds = []
    for order, chosen in (("+", ~minus), ("-", minus)):
        pre = PAIR_SEGMENTS.index(f"{order}pre")
        bounds += [
            (pre, before[0][chosen], before[1][chosen]),
            (pre + 1, first_end[chosen], item.seconds[chosen]),
            (pre + 2, after[0][chosen], after[1][chosen]),
        ]
    number = counter.add(shard, bounds)
    hashes = np.empty(item.firsts.size, np.uint64)
    _hash_middles(shard.tokens, shard.key_of_type, number, first_end, item.seconds, hashes)
    return np.where(minus, ~hashes, hashes)


def _middles(
    hashes: list[NDArray[np.uint64]], flat: list[Observation], top: int, examples: int, corpus: Corpus,
    lengths: tuple[int, int],
) -> tuple[list[Middle], list[Observation]]:  # fmt: skip
    """The commonest middles, and examples that show them: one of each, then more from all over."""
    if not flat:
        return [], []
    _, firsts, counts = np.unique(np.concatenate(hashes), return_index=True, return_counts=True)
    order = np.lexsort((firsts, -counts))
    middles = []
    for i in order[:top].tolist():
        observation = flat[int(firsts[i])]
        text = _keys_between(corpus, observation, lengths)
        middles.append(Middle("-" if observation.order == kernels.MINUS else "+", text, int(counts[i])))
    chosen = dict.fromkeys(firsts[order[:examples]].tolist())
    for index in np.linspace(0, len(flat) - 1, min(examples, len(flat))).astype(int).tolist():
        if len(chosen) < examples:
            chosen.setdefault(index)
    return middles, [flat[index] for index in chosen]


def _keys_between(corpus: Corpus, observation: Observation, lengths: tuple[int, int]) -> str:
    shard = corpus.shards[observation.shard]
    length = lengths[1] if observation.order == kernels.MINUS else lengths[0]
    types = shard.tokens[observation.first + length : observation.second] & TYPE_MASK
    return " ".join(shard.keys[int(shard.key_of_type[int(t)])] for t in types)
