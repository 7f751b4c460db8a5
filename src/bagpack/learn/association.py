"""Weightings of counts: logarithm, association with the corpus's own frequencies, unit length, trust in what was seen.

Observed and expected counts are both raised by one, so that one observation of a rare term does not count for much. How
often a term is expected in a segment comes from the basis, which holds the corpus frequencies: it is computed once
for all tasks and no task's rows take part. Per row and segment, expected = (all counts there) × (the term's share of
the basis).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from bagpack.jit import kernel, read_only
from bagpack.learn.design import inner_products
from bagpack.learn.weighting import STEPS, Step, with_values
from bagpack.vectors.blocks import Block

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Index, Ints, Matrix
    from bagpack.vectors.matrix import BlockMatrix

LOOKED_UP = 10_000  # counts whose logarithms come from a table


@kernel
def _unit_rows(indptr: Ints, data: Floats, out: Floats) -> None:
    """Each row divided by its length."""
    for i in range(len(indptr) - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
        scale = 1.0 / np.sqrt(total) if total > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = data[p] * scale


@kernel
def _expected(
    indptr: Ints, indices: Ints, data: Matrix, share: Floats, segment: Ints, totals: Floats, out: Floats
) -> None:
    """(All counts of the row in the column's segment) × (the column's share)."""
    for i in range(len(indptr) - 1):
        for s in range(len(totals)):
            totals[s] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            totals[segment[indices[p]]] += abs(data[p])
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = totals[segment[indices[p]]] * share[indices[p]]


def unit_length(rows: Csr) -> sparse.csr_array[Any]:
    """Each row divided by its Euclidean length; all-zero rows are unchanged."""
    out = np.empty(len(rows.data))
    _unit_rows(read_only(rows.indptr), read_only(rows.data.astype(np.float64, copy=False)), out)
    return with_values(rows, out)


class _Rowwise(Step):
    """A step that looks at each row by itself; fitting learns nothing but the number of columns."""

    learned: ClassVar[tuple[str, ...]] = ()

    def learns_from(self, matrix: BlockMatrix) -> bool:
        """Never: each row is looked at by itself."""
        return False


class LogCounts(_Rowwise):
    """sign(x) · ln(1 + |x|): the logarithm of a count plus one, and zero for zero."""

    step_name: ClassVar[str] = "log"

    def _apply(self, rows: Csr) -> Csr:
        return with_values(rows, np.sign(rows.data) * np.log1p(np.abs(rows.data)))


class UnitLength(_Rowwise):
    """Each row divided by its Euclidean length; all-zero rows are unchanged."""

    step_name: ClassVar[str] = "unit-length"

    def _apply(self, rows: Csr) -> Csr:
        return unit_length(rows)

    def on(self, block: Block) -> Block:
        """The block with rows of unit length; of products, that of the product."""
        return replace(block, unit=True) if block.product else super().on(block)


class Trust(_Rowwise):
    """Each row times n/(n+k), n being how often what it counts was seen: rarely seen pairs get less weight.

    Rows whose n is unknown are unchanged.
    """

    step_name: ClassVar[str] = "trust"
    rowwise: ClassVar[bool] = False

    def __init__(self, k: float = 1.0) -> None:
        self.k = k

    @property
    def settings(self) -> dict[str, float]:
        """Its parameters."""
        return {"k": self.k}

    def _apply(self, rows: Csr) -> Csr:
        return rows

    def on(self, block: Block) -> Block:
        """The block with its rows scaled."""
        if block.seen is None:
            return block
        factors = np.repeat(block.seen / (block.seen + self.k), np.diff(block.rows.indptr))
        return replace(block, rows=with_values(block.rows, block.rows.data * factors))


class Association(Step):
    """A weighting by observed and expected counts.

    Attributes
    ----------
    share_
        Each column's share of its segment according to the corpus; from the rows at hand where the counts come
        without corpus frequencies.
    segment_
        The number of each column's segment.
    """

    learned: ClassVar[tuple[str, ...]] = ("share_", "segment_")

    def learns_from(self, matrix: BlockMatrix) -> bool:
        """Only where the counts come without corpus frequencies."""
        return matrix.basis.frequencies is None

    def _fit(self, rows: Csr, weight: Floats) -> None:
        self._set_shares(np.asarray(weight @ abs(rows)), 1)

    def fit_block(self, block: Block, weight: Floats | None = None) -> None:
        """Take the corpus frequencies, or those of the rows at hand where the block has none."""
        if block.frequencies is None:
            super().fit_block(block, weight)
            return
        self.n_features_in_ = block.width
        self._set_shares(block.frequencies, block.width // len(block.frequencies))

    def _set_shares(self, frequencies: Floats, segments: int) -> None:
        total = float(frequencies.sum())
        self.share_ = np.tile(frequencies / total if total else frequencies, segments).astype(np.float64)
        self.segment_ = np.repeat(np.arange(segments, dtype=np.float64), len(frequencies))

    def expected(self, rows: Csr) -> Floats:
        """Expected count at each stored value's place."""
        out = np.empty(len(rows.data))
        segments = self.segment_.astype(np.int64)
        _expected(
            read_only(rows.indptr), read_only(rows.indices), read_only(rows.data), self.share_, segments,
            np.empty(segments.max(initial=0) + 1), out,
        )  # fmt: skip
        return out


class Ppmi(Association):
    """max(0, ln((observed + 1) / (expected + 1))): positive pointwise mutual information, smoothed."""

    step_name: ClassVar[str] = "ppmi"

    def _apply(self, rows: Csr) -> Csr:
        values = np.maximum(np.log1p(np.abs(rows.data)) - np.log1p(self.expected(rows)), 0.0)
        return with_values(rows, np.sign(rows.data) * values)


@kernel
def _log_ppmi_rows(indptr: Ints, data: Matrix, expected: Floats, table: Floats, out: Floats) -> None:
    """Per row, log counts of unit length plus PPMI of unit length.

    ``expected`` has ln(1 + expected count) and is overwritten; ``table`` has ln(1 + n) of small n.
    """
    for i in range(len(indptr) - 1):
        of_logs, of_ppmi = 0.0, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            size = abs(data[p])
            whole = np.int64(size)
            log = table[whole] if whole < len(table) and whole == size else np.log1p(size)
            ppmi = max(log - expected[p], 0.0)
            of_logs += log * log
            of_ppmi += ppmi * ppmi
            out[p] = log
            expected[p] = ppmi
        of_logs = 1.0 / np.sqrt(of_logs) if of_logs > 0.0 else 1.0
        of_ppmi = 1.0 / np.sqrt(of_ppmi) if of_ppmi > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            value = of_logs * out[p] + of_ppmi * expected[p]
            out[p] = -value if data[p] < 0 else value


class LogPpmi(Association):
    """Log counts of unit length plus PPMI of unit length, in equal parts."""

    step_name: ClassVar[str] = "log+ppmi"

    def _apply(self, rows: Csr) -> Csr:
        expected = self.expected(rows)
        np.log1p(expected, out=expected)  # numpy's is several times faster than a compiled loop's
        out = np.empty(len(rows.data))
        _log_ppmi_rows(
            read_only(rows.indptr), read_only(rows.data), expected, np.log1p(np.arange(LOOKED_UP)), out
        )
        return with_values(rows, out)


class Joining(_Rowwise):
    """A step that makes one row of a pair's two.

    A linear SVM over v1 and v2 adds up what each word contributes by itself. Their product shows in which contexts
    *both* occur, their difference which of them occurs there more often, their cosine how similar the words are.
    """

    rowwise: ClassVar[bool] = False


def _two_words(block: Block) -> tuple[Index, Index]:
    """The rows of each pair's two words."""
    if block.index is None or block.other is None:
        raise ValueError(f"the block {block.name} does not hold two words per pair")
    return block.index, block.other


def _one_row_each(block: Block, rows: Csr | Floats) -> Block:
    return replace(block, rows=sparse.csr_array(rows), index=None, other=None, seen=None)


class Product(Joining):
    """Column by column, the first word's value times the second's; formed where it is needed."""

    step_name: ClassVar[str] = "product"

    def on(self, block: Block) -> Block:
        """The block as products of its two rows."""
        return replace(block, product=True)


class Difference(Joining):
    """Column by column, the first word's value less the second's."""

    step_name: ClassVar[str] = "difference"

    def on(self, block: Block) -> Block:
        """One row per pair."""
        one, two = _two_words(block)
        return _one_row_each(block, block.rows[one] - block.rows[two])


class Cosine(Joining):
    """The cosine of the two rows, which must have unit length: one column."""

    step_name: ClassVar[str] = "cosine"

    def on(self, block: Block) -> Block:
        """One row per pair."""
        return _one_row_each(block, inner_products(block.rows, *_two_words(block))[:, None])


STEPS.update(
    {s.step_name: s for s in (LogCounts, UnitLength, Trust, Ppmi, LogPpmi, Product, Difference, Cosine)}
)
