"""What v1 and v2 have in common: they share their columns, so a term can be asked of both words at once.

A linear SVM over v1 and v2 adds up what each word contributes by itself. The product of the two shows in which contexts
*both* occur, the difference which of them occurs there more often. Such a block starts as the table of words with two
rows per pair; weighting steps work on the words, and one of the steps here makes a row per pair of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse

from bagpack.learn.association import _Rowwise
from bagpack.learn.block import Block
from bagpack.learn.blocks import BLOCKS, BlockKind, word_counts
from bagpack.learn.weighting import STEPS
from bagpack.names import WORD_SEGMENTS

if TYPE_CHECKING:
    from bagpack.learn.counts import PairCounts
    from bagpack.learn.types import Csr, Ints

PRODUCT, DIFFERENCE = "v1·v2", "v1−v2"
JOINED = (PRODUCT, DIFFERENCE)


class Joining(_Rowwise):
    """A step that makes one row of a pair's two."""

    def _rows(self, rows: Csr) -> Csr:
        return rows

    def on(self, block: Block) -> Block:
        """One row per pair."""
        if block.index is None or block.other is None:
            raise ValueError(f"the block {block.name} does not hold two words per pair")
        joined = self._join(
            sparse.csr_array(block.rows[block.index]), sparse.csr_array(block.rows[block.other])
        )
        return replace(block, rows=joined, index=None, other=None, seen=None)

    def _join(self, one: Csr, two: Csr) -> Csr:
        raise NotImplementedError


class Product(Joining):
    """Column by column, the first word's value times the second's."""

    step_name: ClassVar[str] = "product"

    def _join(self, one: Csr, two: Csr) -> Csr:
        return sparse.csr_array(one.multiply(two))


class Difference(Joining):
    """Column by column, the first word's value less the second's."""

    step_name: ClassVar[str] = "difference"

    def _join(self, one: Csr, two: Csr) -> Csr:
        return sparse.csr_array(one - two)


STEPS.update({step.step_name: step for step in (Product, Difference)})


def _two_words(name: str) -> Callable[[PairCounts], Block]:
    return lambda counts: Block(name, counts.words, counts.w1, counts.w2, shares=counts.term_shares)


def _names(name: str) -> Callable[[Sequence[str]], list[str]]:
    return lambda terms: [f"{name}:{segment}:{term}" for segment in WORD_SEGMENTS for term in terms]


def _both(one: PairCounts, columns: Ints) -> Ints:
    """How often a term is in the contexts of both words."""
    return np.minimum(word_counts(one, one.w1, columns), word_counts(one, one.w2, columns))


def _less(one: PairCounts, columns: Ints) -> Ints:
    """How much more often a term is in the contexts of the first word."""
    return word_counts(one, one.w1, columns) - word_counts(one, one.w2, columns)


for _name, _evidence in ((PRODUCT, _both), (DIFFERENCE, _less)):
    BLOCKS[_name] = BlockKind(_two_words(_name), _names(_name), _evidence, counted=False)
