"""What differs between two subcorpora: the pairs that co-occur more often in one, or the contexts of a word or pair.

Each difference is tested by the log-likelihood ratio G² of its two counts, against the sizes of the two sides; the
p-values are corrected for the number of tests by Benjamini & Hochberg's procedure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.candidates import find_candidates, frequent_words
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.targets import Target, resolve_targets
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import InputError
from bagpack.explain.keyness import log_likelihood
from bagpack.names import PAIR_SEGMENTS, WORD_SEGMENTS
from bagpack.tasks.words import distinct_words
from bagpack.vectors.coverage import count_totals

VOCABULARY = 3000  # words whose pairs are compared
COMMON = 150  # most frequent words, which are mostly function words


@dataclass(frozen=True)
class Difference:
    """A pair or context, its counts on both sides, per million tokens (or per thousand contexts), and the test."""

    name: str
    count_a: int
    count_b: int
    rate_a: float
    rate_b: float
    g2: float  # negative if it is more frequent in B
    q: float  # the corrected p-value


@dataclass(frozen=True)
class Comparison:
    """The differences, the clearest first; `tested` is how many were looked at."""

    what: str  # pairs, or the words whose contexts are compared
    size_a: int  # tokens, or contexts
    size_b: int
    tested: int
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What the rates are per."""
        return "million tokens" if self.what == "pairs" else "thousand contexts"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "unit": self.unit}

    def table(self) -> list[Sequence[Any]]:
        """A header, and a row for each difference."""
        header = ("name", "count_a", "count_b", "rate_a", "rate_b", "g2", "q")
        return [header, *(tuple(asdict(one).values()) for one in self.differences)]


def compare_pairs(
    one: Corpus, two: Corpus, pairs: Iterable[tuple[str, str]] | None = None, *, windows: Windows | None = None,
    least: int = 5, n_jobs: int | None = None,
) -> Comparison:  # fmt: skip
    """Pairs of frequent words, or the pairs given, that co-occur more often in one corpus than in the other."""
    pairs = None if pairs is None else list(pairs)
    counted = [_pairs_of(corpus, (one, two), pairs, windows, n_jobs) for corpus in (one, two)]
    names = sorted(
        name
        for name in counted[0].keys() | counted[1].keys()
        if sum(side.get(name, 0) for side in counted) >= least
    )
    counts = [np.array([side.get(name, 0) for name in names], np.int64) for side in counted]
    found = _compared("pairs", [" – ".join(name) for name in names], counts, (one.tokens, two.tokens), 1e6)
    return replace(found, unknown=_unknown(one, two, distinct_words(pairs or ())))


def _unknown(one: Corpus, two: Corpus, words: Sequence[str]) -> tuple[str, ...]:
    """The words that neither corpus contains."""
    resolved = zip(words, resolve_targets(one, words), resolve_targets(two, words), strict=True)
    return tuple(word for word, *found in resolved if not any(found))


def _pairs_of(
    corpus: Corpus, both: Sequence[Corpus], pairs: Iterable[tuple[str, str]] | None, windows: Windows | None,
    n_jobs: int | None,
) -> dict[tuple[str, ...], int]:  # fmt: skip
    """How often each pair co-occurs in a corpus, in both orders; the words are those of both corpora."""
    if pairs is not None:
        listed = list(dict.fromkeys(pairs))
        seen = count_totals(CorpusSource(corpus), listed, windows, n_jobs).seen
        return dict(zip(listed, seen.tolist(), strict=True))
    vocabulary = _vocabulary(both)
    found = find_candidates(corpus, vocabulary, windows=windows, n_jobs=n_jobs)
    return {
        tuple(sorted((str(a), str(b)))): count
        for (a, b), count in zip(found.pairs(), found.together.tolist(), strict=True)
    }


def _vocabulary(corpora: Sequence[Corpus]) -> list[Target]:
    """The most frequent words of either corpus, without the commonest of all."""
    chosen: dict[Target, None] = {}
    common: set[Target] = set()
    for corpus in corpora:
        words = frequent_words(corpus, COMMON + VOCABULARY // 2)
        if len(words) > 20 * COMMON // 2:
            common.update(words[:COMMON])
        chosen.update(dict.fromkeys(words))
    return [word for word in chosen if word not in common]


def compare_contexts(
    whole: Corpus, one: Corpus, two: Corpus, words: Sequence[str], *, b: int = 1500, windows: Windows | None = None,
    least: int = 5, n_jobs: int | None = None,
) -> Comparison:  # fmt: skip
    """Basis terms around a word, or around and between two, that are more frequent in one corpus."""
    if unknown := _unknown(one, two, words):
        raise InputError(
            f"neither part of the corpus contains {' or '.join(map(repr, unknown))}; give another word"
        )
    basis = Basis.of(whole, b, n_jobs)
    settings = CountSettings(windows or Windows(), None)
    rows, sizes = [], []
    segments = WORD_SEGMENTS if len(words) == 1 else PAIR_SEGMENTS
    for corpus in (one, two):
        source = CorpusSource(corpus)
        targets = [target for target in source.resolve(words) if target is not None]
        if len(targets) < len(words):
            rows.append(np.zeros(len(segments) * len(basis), np.int64))
            sizes.append(0)
        elif len(words) == 1:
            counted, found = source.count_words(targets, basis, settings, n_jobs)
            rows.append(counted.toarray()[0].astype(np.int64))
            sizes.append(int(found[0]))
        else:
            pair = source.count_pairs([(targets[0], targets[1])], basis, settings, n_jobs)
            rows.append(pair.rows.toarray()[0].astype(np.int64))
            plus, minus = pair.found[0].tolist()
            sizes.append(plus if targets[0] == targets[1] else plus + minus)
    names = [f"{segment}:{term}" for segment in segments for term in basis.terms]
    kept = np.flatnonzero(rows[0] + rows[1] >= least)
    counts = [row[kept] for row in rows]
    chosen = [names[k] for k in kept.tolist()]
    return _compared(" ".join(words), chosen, counts, (sizes[0], sizes[1]), 1e3)


def _compared(
    what: str, names: Sequence[str], counts: Sequence[NDArray[np.int64]], sizes: tuple[int, int], per: float
) -> Comparison:
    from scipy.stats import chi2, false_discovery_control

    a, b = counts
    size_a, size_b = sizes
    g2 = log_likelihood(a, size_a, a + b, size_a + size_b) if len(names) else np.zeros(0)
    q = false_discovery_control(chi2.sf(np.abs(g2), 1)) if len(names) else np.zeros(0)
    order = sorted(range(len(names)), key=lambda k: (-abs(g2[k]), names[k]))
    rates = [np.round(per * side / max(size, 1), 2) for side, size in zip(counts, sizes, strict=True)]
    differences = tuple(
        Difference(
            names[k], int(a[k]), int(b[k]), float(rates[0][k]), float(rates[1][k]), round(float(g2[k]), 2),
            float(f"{q[k]:.3g}"),
        )
        for k in order
    )  # fmt: skip
    return Comparison(what, size_a, size_b, len(names), differences)
