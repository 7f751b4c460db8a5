"""Statistics of a pair without its contexts: how often it is seen, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bagpack.learn.block import Block
from bagpack.learn.blocks import BLOCKS, BlockKind

if TYPE_CHECKING:
    from bagpack.learn.counts import PairCounts
    from bagpack.learn.types import Floats, Ints

STATISTICS = "pair"
NAMES = ("w1 first", "w2 first", "together", "PMI", "order")
# Logarithms of counts reach 8, the others 1 to 4: divided so, each has about the weight of a context or two.
SCALE = np.array([5.0, 5.0, 5.0, 15.0, 5.0])


def pair_statistics(counts: PairCounts) -> Floats:
    """Per pair: ln(1+n+), ln(1+n−), whether it is seen at all, its PMI, and the log odds of the order.

    All are zero for a pair that is never seen together, and where nobody knows the numbers.
    """
    if counts.totals is None:
        return np.zeros((len(counts), len(NAMES)))
    n1, n2, plus, minus = counts.totals.astype(np.float64).T
    together = plus + minus
    seen = together > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log((together + 0.5) * max(counts.tokens, 1) / (n1 * n2 * counts.reach))
    pmi = np.where(seen & (counts.tokens > 0), np.maximum(pmi, 0.0), 0.0)
    values = [np.log1p(plus), np.log1p(minus), seen, pmi, np.log((plus + 1) / (minus + 1))]
    return np.asarray(np.stack(values, axis=1) / SCALE)


def _build(counts: PairCounts) -> Block:
    return Block(STATISTICS, sparse.csr_array(pair_statistics(counts)))


def _names(terms: Sequence[str]) -> list[str]:
    return [f"{STATISTICS}:{name}" for name in NAMES]


def _evidence(one: PairCounts, columns: Ints) -> Ints:
    if one.totals is None:
        return np.zeros(len(columns), dtype=np.int64)
    plus, minus = (int(one.totals[0, i]) for i in (2, 3))
    return np.array([plus, minus, plus + minus, plus + minus, plus - minus], dtype=np.int64)[columns]


BLOCKS[STATISTICS] = BlockKind(_build, _names, _evidence, counted=False)
