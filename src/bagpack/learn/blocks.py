"""The blocks of columns that a condition is made of, by name.

A block is a matrix over *distinct* rows and an index that says which of them each pair uses: the v1 block has
one row per distinct word, however many pairs share it. Everything downstream (weighting, Gram matrices,
weights) works on distinct rows and reaches the pairs through the index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bagpack.errors import UsageError
from bagpack.learn.block import Block
from bagpack.names import PAIR_SEGMENTS, WORD_SEGMENTS

if TYPE_CHECKING:
    from bagpack.learn.counts import PairCounts
    from bagpack.learn.types import Csr, Index, Ints


@dataclass(frozen=True)
class BlockKind:
    """How a block is made from counts, and what its columns are called.

    Parameters
    ----------
    evidence
        For one pair and some columns, the integers behind them, as an explanation shows them.
    counted
        Whether the block holds counts of its own, and is not derived from other blocks.
    """

    build: Callable[[PairCounts], Block]
    names: Callable[[Sequence[str]], list[str]]
    evidence: Callable[[PairCounts, Ints], Ints]
    counted: bool = True


def _one_hot(name: str, counts: PairCounts, index: Index) -> Block:
    return Block(name, sparse.csr_array(sparse.eye_array(counts.words.shape[0], format="csr")), index)


def _no_names(terms: Sequence[str]) -> list[str]:
    raise UsageError("a words-only model has no named contexts")


def _namer(prefix: str, segments: Sequence[str]) -> Callable[[Sequence[str]], list[str]]:
    def names(terms: Sequence[str]) -> list[str]:
        return [f"{prefix}:{segment}:{term}" for segment in segments for term in terms]

    return names


def row_at(table: Csr, row: int, columns: Ints) -> Ints:
    """One row of a table at some columns."""
    return np.asarray(table[[row]].toarray()[0, columns])


def word_counts(counts: PairCounts, rows: Index, columns: Ints) -> Ints:
    """The counts of one word at some columns; ``rows`` is ``w1`` or ``w2`` of a single pair."""
    return row_at(counts.words, rows[0], columns)


def _pair_block(name: str, rows: Csr, counts: PairCounts) -> Block:
    seen = None if counts.seen is None else counts.seen.astype(np.float64)
    return Block(name, rows, seen=seen, shares=counts.term_shares)


def _ones(counts: PairCounts, columns: Ints) -> Ints:
    return np.ones(len(columns), dtype=np.int64)


# A preset may add blocks of its own (products of v1 and v2, pair statistics): register them here.
BLOCKS: dict[str, BlockKind] = {
    "v1": BlockKind(
        lambda c: Block("v1", c.words, c.w1, shares=c.term_shares),
        _namer("v1", WORD_SEGMENTS),
        lambda one, columns: word_counts(one, one.w1, columns),
    ),
    "v2": BlockKind(
        lambda c: Block("v2", c.words, c.w2, shares=c.term_shares),
        _namer("v2", WORD_SEGMENTS),
        lambda one, columns: word_counts(one, one.w2, columns),
    ),
    "v12": BlockKind(
        lambda c: _pair_block("v12", c.pairs, c),
        _namer("v12", PAIR_SEGMENTS),
        lambda one, columns: row_at(one.pairs, 0, columns),
    ),
    "w1": BlockKind(lambda c: _one_hot("w1", c, c.w1), _no_names, _ones),
    "w2": BlockKind(lambda c: _one_hot("w2", c, c.w2), _no_names, _ones),
}


def feature_names(block: str, terms: Sequence[str]) -> list[str]:
    """Names of a block's columns over its ``terms``.

    Examples
    --------
    >>> feature_names("v1", ["of"])
    ['v1:pre:of', 'v1:post:of']
    """
    return BLOCKS[block].names(terms)


def segments_of(block: str) -> list[str]:
    """The segments of a block's columns, in order.

    Examples
    --------
    >>> segments_of("v1")
    ['pre', 'post']
    """
    return [name.split(":", 2)[1] for name in feature_names(block, ["t"])]


def is_over_terms(block: str) -> bool:
    """Whether a block has a column for each term and segment.

    Examples
    --------
    >>> is_over_terms("v12")
    True
    """
    return feature_names(block, ["t"])[0].count(":") > 1
