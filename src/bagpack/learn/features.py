"""The blocks that presets are made of: those of a matrix, and those that are derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bagpack.errors import UsageError
from bagpack.names import BLOCKS, COSINE, DIFFERENCE, JOINED, PRODUCT, STATISTICS
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.basis import Basis
    from bagpack.contexts.windows import CountSettings
    from bagpack.learn.types import Csr, Floats, Ints, Matrix

PLAIN = "x"  # all columns of a matrix without named blocks
WORDS = ("w1", "w2")  # which words are in the pair, for the words-only baseline
NEEDED = {**dict.fromkeys(JOINED, ("v1", "v2")), STATISTICS: ("v12",)}
# Logarithms of counts reach 8, the other statistics 1 to 4: divided so, each has about the weight of a context or two.
SCALE = np.array([5.0, 5.0, 5.0, 15.0, 5.0])


def check_blocks(matrix: Matrix, names: Sequence[str], what: str) -> None:
    """Raise unless a matrix holds counts in the blocks that ``names`` need."""
    if not isinstance(matrix, BlockMatrix):
        return
    if matrix.is_weighted:
        raise UsageError(
            f"X was weighted already, and {what} weights counts; pass the counts of a PairVectorizer"
        )
    needed = dict.fromkeys(block for name in names for block in NEEDED.get(name, (name,)) if block in BLOCKS)
    missing = [block for block in needed if block not in matrix.block_names]
    if missing:
        raise UsageError(
            f"{what} needs the block {missing[0]}, and X has {', '.join(matrix.block_names)}; make X with "
            f"PairVectorizer(condition='v1v2v12'), or choose a condition that fits"
        )


def blocks_of_matrix(matrix: Matrix, names: Sequence[str]) -> dict[str, Block]:
    """The blocks called ``names``, over those words alone that the pairs use; v1, v2 and products share their rows."""
    if not isinstance(matrix, BlockMatrix):
        return {PLAIN: Block(PLAIN, sparse.csr_array(matrix))}
    w1, w2 = matrix.w1, matrix.w2
    words, shared = matrix.word_counts, matrix.basis.frequencies
    used = np.unique(np.concatenate([w1, w2]))
    if len(used) < words.shape[0]:
        words, w1, w2 = words[used], np.searchsorted(used, w1), np.searchsorted(used, w2)
    found = {}
    for name in names:
        if name in ("v1", "v2"):
            found[name] = Block(name, words, w1 if name == "v1" else w2, frequencies=shared)
        elif name in JOINED:
            found[name] = Block(name, words, w1, w2, frequencies=shared)
        else:
            found[name] = block_of(matrix, name)
    return found


def block_of(matrix: Matrix, name: str) -> Block:
    """The block called ``name``, over all words."""
    if not isinstance(matrix, BlockMatrix):
        return Block(PLAIN, sparse.csr_array(matrix))
    if name in BLOCKS:
        return matrix.blocks[name]
    if name in JOINED:
        return Block(name, matrix.word_counts, matrix.w1, matrix.w2, frequencies=matrix.basis.frequencies)
    if name == STATISTICS:
        return Block(STATISTICS, sparse.csr_array(pair_statistics(matrix)))
    if name in WORDS:
        words = sparse.csr_array(sparse.eye_array(matrix.word_counts.shape[0], format="csr"))
        return Block(name, words, matrix.w1 if name == "w1" else matrix.w2)
    raise UsageError(f"there is no block {name!r}")


def pair_statistics(matrix: BlockMatrix) -> Floats:
    """The statistics of each pair of a matrix; see `statistics_of`."""
    outside = matrix.tables.outside
    if outside is None:
        return statistics_of(matrix.totals, matrix.basis, matrix.settings)
    totals = np.array([outside.totals[pair] for pair in matrix.pairs]).reshape(-1, 4)
    return statistics_of(totals, matrix.basis, matrix.settings, outside.tokens)


def statistics_of(
    totals: Ints | Floats, basis: Basis, settings: CountSettings, tokens: float | None = None
) -> Floats:
    """Per pair: ln(1+n+), ln(1+n−), whether it is seen at all, its PMI, and the log odds of the order.

    ``totals`` has n(w1), n(w2), n+ and n− of each pair. All statistics are zero for a pair that is never seen together.
    The size of the corpus is ``tokens``, or taken from the basis's unigrams (all but the rarest words); PMI is 0 where
    it is unknown. A word's partner can be in 2 (between + 1) places.
    """
    # Columns side by side: numpy 2.0's log1p of every fourth number depends, in the last digit, on where they are.
    n1, n2, plus, minus = np.ascontiguousarray(totals.T, np.float64)
    tokens = float(basis.tokens) if tokens is None else tokens
    reach = 2 * (settings.windows.between + 1)
    together = plus + minus
    seen = together > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log((together + 0.5) * max(tokens, 1.0) / (n1 * n2 * reach))
    pmi = np.where(seen & (tokens > 0) & (n1 > 0) & (n2 > 0), np.maximum(pmi, 0.0), 0.0)
    values = [np.log1p(plus), np.log1p(minus), seen, pmi, np.log((plus + 1) / (minus + 1))]
    return np.asarray(np.stack(values, axis=1) / SCALE)


def evidence(one: BlockMatrix, name: str, columns: Ints) -> Ints:
    """For a single pair and some columns of a block, the integers behind them, as an explanation shows them."""
    if name == "v12":
        return _row(one.pair_counts, 0, columns)
    if name == STATISTICS:
        plus, minus = int(one.n_plus[0]), int(one.n_minus[0])
        return np.array([plus, minus, plus + minus, plus + minus, plus - minus], dtype=np.int64)[columns]
    if name == COSINE:
        seen = one.word_counts[[int(one.w1[0]), int(one.w2[0])]].astype(bool)
        return np.full(len(columns), seen[[0]].multiply(seen[[1]]).nnz, dtype=np.int64)
    first, second = (_row(one.word_counts, int(rows[0]), columns) for rows in (one.w1, one.w2))
    if name == PRODUCT:
        return np.minimum(first, second)
    if name == DIFFERENCE:
        return first - second
    return first if name == "v1" else second


def _row(table: Csr, row: int, columns: Ints) -> Ints:
    return np.asarray(table[[row]].toarray()[0, columns])
