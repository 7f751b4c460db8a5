"""From a block of counts to features: the fitted steps of a block, and the design matrix's blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bagpack.learn.design import ProductBlock, RowBlock
from bagpack.vectors.blocks import Block

if TYPE_CHECKING:
    from bagpack.learn.types import Floats
    from bagpack.learn.weighting import Step


@dataclass(frozen=True)
class BlockWeighting:
    """The fitted steps of one block."""

    name: str
    steps: tuple[Step, ...]
    factor: float = 1.0

    def apply(self, block: Block, memory: list[tuple[Step, Block, Block]] | None = None) -> Block:
        """The block's features, shifted so that an all-zero row stays zero.

        What ``memory`` has, the same step on the same rows, is not computed again: v1, v2 and their product share it.
        """
        for step in self.steps:
            block = apply_step(step, block, memory)
        if self.factor == 1.0:
            return block
        if block.product:
            return replace(block, factor=self.factor)
        return replace(block, rows=sparse.csr_array(block.rows * self.factor))

    @property
    def zero(self) -> Floats | None:
        """What the shift subtracted: the features of an all-zero row; None where they are zero."""
        image = self.steps[-1].image_of_zero() if self.steps else None
        return None if image is None else image * self.factor


def apply_step(step: Step, block: Block, memory: list[tuple[Step, Block, Block]] | None) -> Block:
    """A fitted step on a block; what ``memory`` has, the same step on the same rows, is not computed again."""
    if memory is None or not step.rowwise or block.product:
        return step.on(block)
    for known, before, after in memory:
        if before.rows is block.rows and same_step(known, step):
            return replace(block, rows=after.rows)
    after = step.on(block)
    memory.append((step, block, after))
    return after


def same_step(one: Step, two: Step) -> bool:
    """Whether two fitted steps do the same to every row."""
    return (
        type(one) is type(two)
        and one.settings == two.settings
        and all(np.array_equal(getattr(one, name), getattr(two, name)) for name in one.learned)
    )


def same_weightings(one: Sequence[BlockWeighting], two: Sequence[BlockWeighting]) -> bool:
    """Whether two models make the same features of the same counts."""
    return len(one) == len(two) and all(
        (a.name, a.factor, len(a.steps)) == (b.name, b.factor, len(b.steps))
        and all(map(same_step, a.steps, b.steps))
        for a, b in zip(one, two, strict=True)
    )


def design_blocks(blocks: Sequence[Block]) -> list[RowBlock | ProductBlock]:
    """Weighted blocks as those of a design matrix; products are formed by its kernels."""
    return [
        ProductBlock(block.rows, block.index, block.other, block.factor, block.unit)
        if block.product and block.index is not None and block.other is not None
        else RowBlock(block.rows, block.index)
        for block in blocks
    ]
