"""Synthetic pair counts with the shape of real ones: Zipfian terms and words, a planted relation per label."""

import numpy as np
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.strings import Strings
from bagpack.vectors.counts import PairCounts


def counts_of(words, w1, w2, pairs, terms=None, *, found=None, occurrences=None, frequencies=()):
    """Counts that no corpus has: words × 2T, the rows of each pair's words, pairs × 6T, and T terms.

    ``found`` has each pair's co-occurrences in both orders; 1 with w1 first if not given.
    """
    size, n = words.shape[0], pairs.shape[0]
    terms = [f"t{i}" for i in range(words.shape[1] // 2)] if terms is None else terms
    seen = np.tile([1, 0], (n, 1)) if found is None else np.asarray(found, np.int64)
    often = np.zeros(size, np.int64) if occurrences is None else np.asarray(occurrences, np.int64)
    names = Strings.of([f"w{i}" for i in range(size)])
    tables = [sparse.csr_array(rows) for rows in (words, pairs)]
    for table in tables:
        table.sum_duplicates()
        table.eliminate_zeros()
    return PairCounts(
        names, names, np.arange(size), tables[0], often, tables[1], seen, seen,
        np.stack([np.asarray(w1, np.int64), np.asarray(w2, np.int64)], axis=1), np.arange(n), np.zeros(n, np.bool_),
        Basis(tuple(terms), (), tuple(frequencies)), CountSettings(),
    )  # fmt: skip


def make_counts(
    n_pairs=200, n_words=150, n_terms=60, n_labels=2, unseen=0.3, limit=5000, signal=0.8, lean=2.0, seed=0
):
    """Counts of random pairs and their labels 0 … n_labels − 1.

    Half the terms are unigrams with probability 0.07 / rank, half bigrams with 0.01 / rank^0.9. A word has up
    to ``limit`` contexts of 4 + 4 tokens, a share ``unseen`` of the pairs none and the others a Zipfian
    number of 2 + 5 + 2. A label raises some pair terms' rates by about e^signal, and half as strongly some of
    its own words' terms; its pairs draw those words ``lean`` times as often as others.
    """
    rng = np.random.default_rng(seed)
    half = n_terms // 2
    rates = np.concatenate([0.07 / np.arange(1, half + 1), 0.01 / np.arange(1, n_terms - half + 1) ** 0.9])
    labels = rng.integers(n_labels, size=n_pairs)
    # Words lean towards a label, so that v1 and v2 carry a part of the signal.
    home = rng.integers(n_labels, size=n_words)
    popularity = 1.0 / np.arange(1, n_words + 1) ** 0.3
    w1, w2 = (_draw_words(rng, labels, home, popularity, lean) for _ in range(2))
    frequency = np.minimum(limit, 20 * limit / (1 + rng.permutation(n_words)) ** 0.9).astype(int) + 1
    taste = rng.normal(0, 0.5 * signal, (n_labels, 2 * n_terms)) * (rng.random((n_labels, 2 * n_terms)) < 0.2)
    words = _poisson(rng, frequency, 4 * np.tile(rates, 2), taste[home] + rng.normal(0, 0.5, (n_words, 1)))
    never = rng.random(n_pairs) < unseen
    seen = np.where(never, 0, np.minimum(limit, (rng.pareto(0.6, n_pairs) + 1).astype(np.int64)))
    forward = rng.binomial(seen, 0.6)
    widths = np.repeat([2.0, 2.5, 2.0], n_terms)
    relation = rng.normal(0, signal, (n_labels, 6 * n_terms)) * (rng.random((n_labels, 6 * n_terms)) < 0.3)
    orders = (forward, slice(0, 3 * n_terms)), (seen - forward, slice(3 * n_terms, 6 * n_terms))
    rates_of_pair = widths * np.tile(rates, 3)
    halves = [_poisson(rng, times, rates_of_pair, relation[labels][:, part]) for times, part in orders]
    pairs = sparse.csr_array(sparse.hstack(halves, format="csr"))
    terms = tuple(f"u{i}" for i in range(half)) + tuple(f"b{i} b" for i in range(n_terms - half))
    found = np.stack([forward, seen - forward], axis=1)
    frequencies = (1e6 * rates).astype(int).tolist()
    how = {"found": found, "occurrences": frequency, "frequencies": frequencies}
    return counts_of(words, w1, w2, pairs, terms, **how), labels.astype(np.intp)


def _draw_words(rng, labels, home, popularity, lean):
    out = np.empty(len(labels), dtype=np.intp)
    for label in np.unique(labels):
        chosen = labels == label
        weight = popularity * np.where(home == label, lean, 1.0)
        out[chosen] = rng.choice(len(weight), size=chosen.sum(), p=weight / weight.sum())
    return out


def _poisson(rng, times, rates, logs):
    """Counts with mean times × rate × e^log, at most one per context; made in slices to stay small."""
    slices = []
    for start in range(0, len(times), 500):
        stop = start + 500
        mean = times[start:stop, None] * np.minimum(rates * np.exp(logs[start:stop]), 1.0)
        slices.append(sparse.csr_array(np.minimum(rng.poisson(mean), times[start:stop, None])))
    return sparse.csr_array(sparse.vstack(slices, format="csr"))
