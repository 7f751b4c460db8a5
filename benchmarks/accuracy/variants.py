"""Variants of preset `modern`, each with one thing changed: the rows of the ablation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bagpack.evaluate.crossval import word_features
from bagpack.learn.features import (
    COSINE_FACTOR,
    STATISTICS_FACTOR,
    Features,
    Preset,
    get_preset,
    row_products,
    statistics_of,
    used_words,
    with_values,
)
from bagpack.names import CONDITIONS


def unit(rows):
    """Rows of unit length; all-zero rows are unchanged."""
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_array(rows.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def expected(counts, basis):
    """At each stored count's place, all counts of the row in the segment, times the term's share."""
    columns = np.arange(counts.shape[1])
    segment, term = columns // len(basis), columns % len(basis)
    in_segment = sparse.csr_array((np.ones(len(columns)), (columns, segment)))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    totals = (counts @ in_segment).toarray()[rows, segment[counts.indices]]
    return totals * (basis.frequencies / basis.frequencies.sum())[term[counts.indices]]


def weighted(counts, basis, how):
    """Counts by one of the ways of weighting; not of unit length."""
    plain = counts.data.astype(np.float64)
    ppmi = np.maximum(np.log1p(plain) - np.log1p(expected(counts, basis)), 0.0)
    ways = {"log": np.log1p(plain), "ppmi": ppmi, "plain": plain}
    if how == "log+ppmi":
        return unit(with_values(counts, ways["log"])) + unit(with_values(counts, ppmi))
    return with_values(counts, ways[how])


@dataclass(frozen=True)
class ModernVariant(Preset):
    """Preset `modern` with other parts; see `bagpack.learn.features.modern_features` for what they are."""

    words: str = "log+ppmi"
    pairs: str = "log+ppmi"
    unit: bool = True
    trust: float = 1.0
    product: bool = True
    difference: bool = False
    cosine: float = COSINE_FACTOR
    statistics: bool = True
    C: float = 1.0

    def features(self, learned, rows, condition):
        """All features written out, a row for each pair."""
        parts = {}
        if "v1" in CONDITIONS[condition]:
            counts, w1, w2 = used_words(rows)
            words = weighted(counts, rows.basis, self.words)
            similar = unit(words)
            words = similar if self.unit else words
            one, two = words[w1], words[w2]
            parts |= {"v1": one, "v2": two}
            joined = {"product": one.multiply(two)} if self.product else {}
            joined |= {"difference": one - two} if self.difference else {}
            parts |= {name: unit(part) if self.unit else part for name, part in joined.items()}
            if self.cosine:
                parts["cosine"] = self.cosine * row_products(similar, w1, w2)[0][:, None]
        if "v12" in CONDITIONS[condition]:
            pairs = weighted(rows.tocsr("v12"), rows.basis, self.pairs)
            seen = rows.seen.astype(np.float64)
            trust = np.where(seen > 0, seen / (seen + self.trust), 0.0) if self.trust else np.ones(len(rows))
            parts["v12"] = (unit(pairs) if self.unit else pairs).multiply(self.v12 * trust[:, None])
            if self.statistics:
                parts["pair"] = STATISTICS_FACTOR * statistics_of(rows.totals, rows.basis, rows.settings)
        own = sparse.csr_array(
            sparse.hstack([sparse.csr_array(part) for part in parts.values()], format="csr")
        )
        blocks = {name: part.shape[1] for name, part in parts.items()}
        return Features(blocks, rows.w1, rows.w2, rows.words[:, :0], rows.words[:, :0], own)


@dataclass(frozen=True)
class WordsOnly(Preset):
    """The baseline that never saw a corpus, as a preset."""

    name: str = "words"

    def features(self, learned, rows, condition):
        """Which words are in the pair, whatever the condition."""
        return word_features(rows)


@dataclass(frozen=True)
class Variant:
    """One row of the table: what is changed, and the preset or the counting that has it changed."""

    name: str
    preset: Preset
    b: int | None = None
    windows: str | None = None


BASE = Variant("modern", get_preset("modern"))
VARIANTS = (
    Variant("paper", get_preset("paper")),
    Variant("words: log counts", ModernVariant(words="log")),
    Variant("words: PPMI", ModernVariant(words="ppmi")),
    Variant("words: plain counts", ModernVariant(words="plain")),
    Variant("pairs: log counts", ModernVariant(pairs="log")),
    Variant("pairs: PPMI", ModernVariant(pairs="ppmi")),
    Variant("no unit length", ModernVariant(unit=False)),
    Variant("no trust in n", ModernVariant(trust=0)),
    Variant("trust with k = 10", ModernVariant(trust=10)),
    Variant("v12 weighs half", ModernVariant(v12=0.7)),
    Variant("v12 weighs double", ModernVariant(v12=1.4)),
    Variant("no product", ModernVariant(product=False)),
    Variant("no cosine", ModernVariant(cosine=0)),
    Variant("no statistics", ModernVariant(statistics=False)),
    Variant("with difference", ModernVariant(difference=True)),
    Variant("C = 10", ModernVariant(C=10)),
    Variant("10 words around a word", get_preset("modern"), windows="10/2-5-2"),
    Variant("b = 500", get_preset("modern"), b=500),
    Variant("b = 6000", get_preset("modern"), b=6000),
)
