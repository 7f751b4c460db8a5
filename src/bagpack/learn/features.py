"""From counts to features: the functions of preset `paper` and preset `modern`, with their formulas.

Both return `Features`, which hold the numbers as the counts are held: once per word, however many pairs have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from bagpack.arrays import Csr, Floats, Index, Ints, Values
from bagpack.errors import UsageError
from bagpack.kernels import allocating_kernel, kernel, read_only
from bagpack.names import COSINE, PRODUCT, STATISTICS, block_width, blocks_of
from bagpack.vectors.counts import PairCounts

if TYPE_CHECKING:
    from bagpack.basis import Basis
    from bagpack.contexts.windows import CountSettings


# Gram matrices add up, so a block counts with the square of its factor; docs/accuracy.md has what each contributes.
STATISTICS_FACTOR = 0.55
COSINE_FACTOR = 2.0
# Logarithms of counts reach 8, the other statistics 1 to 4: divided so, each has about the weight of a context or two.
STATISTICS_SCALE = np.array([5.0, 5.0, 5.0, 15.0, 5.0])
LOOKED_UP = 10_000  # counts whose logarithms come from a table


# Preset `modern` ------------------------------------------------------------------------------------------------


@kernel
def _expected(indptr, indices, data, share, segment, totals, out):  # type: ignore[no-untyped-def]
    """(All counts of the row in the column's segment) × (the column's share)."""
    for i in range(len(indptr) - 1):
        for s in range(len(totals)):
            totals[s] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            totals[segment[indices[p]]] += data[p]
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = totals[segment[indices[p]]] * share[indices[p]]


@kernel
def _phi(indptr: Ints, data: Any, expected: Floats, table: Floats, out: Floats) -> None:
    """Per row, unit(unit(log counts) + unit(PPMI)).

    ``expected`` has ln(1 + expected count) and is overwritten; ``table`` has ln(1 + n) of small n.
    """
    for i in range(len(indptr) - 1):
        of_logs, of_ppmi, of_both = 0.0, 0.0, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            log = table[np.int64(data[p])] if data[p] < len(table) else np.log1p(data[p])
            ppmi = max(log - expected[p], 0.0)
            of_logs += log * log
            of_ppmi += ppmi * ppmi
            out[p] = log
            expected[p] = ppmi
        of_logs = 1.0 / np.sqrt(of_logs) if of_logs > 0.0 else 1.0
        of_ppmi = 1.0 / np.sqrt(of_ppmi) if of_ppmi > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = of_logs * out[p] + of_ppmi * expected[p]
            of_both += out[p] * out[p]
        of_both = 1.0 / np.sqrt(of_both) if of_both > 0.0 else 1.0
        for p in range(indptr[i], indptr[i + 1]):
            out[p] *= of_both


def weigh(counts: Csr, basis: Basis) -> Csr:
    """φ of each row of counts, of unit length (all-zero rows are unchanged).

        φ(c) = unit(unit(ln(1 + c)) + unit(PPMI(c))),   PPMI(c) = max(0, ln((c + 1) / (e + 1)))

    e is the count that is expected: all counts of the row in the segment, times the term's share of the frequencies of
    all basis terms in the corpus. Observed and expected counts are both raised by one, so that one observation of a
    rare term does not count for much. A basis without frequencies has no PPMI.
    """
    indptr, indices, data = (read_only(part) for part in (counts.indptr, counts.indices, counts.data))
    out, expected = np.empty(len(data)), np.full(len(data), np.inf)
    if basis.frequencies is not None:
        segments = counts.shape[1] // len(basis)
        share = np.tile(basis.frequencies / basis.frequencies.sum(), segments)
        segment = np.repeat(np.arange(segments), len(basis))
        _expected(indptr, indices, data, share, segment, np.empty(segments), expected)
    np.log1p(expected, out=expected)  # numpy's is several times faster than a compiled loop's
    _phi(indptr, data, expected, np.log1p(np.arange(LOOKED_UP)), out)
    return with_values(counts, out)


def used_words(rows: PairCounts) -> tuple[Csr, Index, Index]:
    """Counts of the words that the pairs use, and each pair's first and second row of them."""
    w1, w2 = rows.w1, rows.w2
    used = np.unique([w1, w2])
    if len(used) == rows.words.shape[0]:
        return rows.words, w1, w2
    return rows.words[used], np.searchsorted(used, w1), np.searchsorted(used, w2)


def weighted_pairs(rows: PairCounts) -> Csr:
    """n/(n+1) · φ(v12), n being how often a pair is seen: rarely seen pairs get less weight."""
    weighted = weigh(rows.tocsr("v12"), rows.basis)
    seen = rows.seen.astype(np.float64)
    return with_values(weighted, weighted.data * np.repeat(seen / (seen + 1), np.diff(weighted.indptr)))


def statistics_of(totals: Ints, basis: Basis, settings: CountSettings) -> Floats:
    """Per pair: ln(1+n+), ln(1+n−), whether it is seen at all, its PMI, and the log odds of the order.

    ``totals`` has n(w1), n(w2), n+, n− and n (in either order) of each pair. All statistics are zero for a pair that is
    never seen together.

        PMI = max(0, ln((n + ½) N / (n(w1) n(w2) 2 (between + 1))))

    A word's partner can be in 2 (between + 1) places. N is the number of tokens of the basis's unigrams (all but the
    rarest words); PMI is 0 where it is unknown.
    """
    # Columns side by side: numpy 2.0's log1p of every fourth number depends, in the last digit, on where they are.
    n1, n2, plus, minus, together = np.ascontiguousarray(totals.T, np.float64)
    tokens = float(basis.tokens)
    reach = 2 * (settings.windows.between + 1)
    seen = together > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log((together + 0.5) * max(tokens, 1.0) / (n1 * n2 * reach))
    pmi = np.where(seen & (tokens > 0) & (n1 > 0) & (n2 > 0), np.maximum(pmi, 0.0), 0.0)
    values = [np.log1p(plus), np.log1p(minus), seen, pmi, np.log((plus + 1) / (minus + 1))]
    return np.asarray(np.stack(values, axis=1) / STATISTICS_SCALE)


def modern_features(rows: PairCounts, condition: str = "v1v2v12", v12: float = 1.0) -> Features:
    """Features of preset `modern`; nothing is learned from the rows.

    Condition v1v2: φ(v1), φ(v2), unit(φ(v1) ∘ φ(v2)) and 2 · φ(v1)·φ(v2). A linear SVM over v1 and v2 adds up what each
    word contributes by itself; the product shows in which contexts *both* occur, the cosine how similar they are.
    Condition v12: n/(n+1) · φ(v12), times the factor ``v12``, and 0.55 · statistics of the pair (`statistics_of`).
    Condition v1v2v12: all of them.
    """
    terms, nothing = len(rows.basis), rows.words[:, :0]
    if condition == "v12":
        statistics = STATISTICS_FACTOR * statistics_of(rows.totals, rows.basis, rows.settings)
        own = sparse.hstack([weighted_pairs(rows) * v12, sparse.csr_array(statistics)], format="csr")
        blocks = {"v12": 6 * terms, STATISTICS: statistics.shape[1]}
        return Features(blocks, rows.w1, rows.w2, nothing, nothing, own)
    counts, w1, w2 = used_words(rows)
    words = weigh(counts, rows.basis)
    cosines, squares = row_products(words, w1, w2)
    lengths = np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1)), 0.0)
    blocks = {"v1": 2 * terms, "v2": 2 * terms, PRODUCT: 2 * terms, COSINE: 1}
    own = sparse.csr_array(COSINE_FACTOR * cosines[:, None])
    of_words = Features(blocks, w1, w2, words, words, own, lengths)
    return of_words if condition == "v1v2" else of_words.joined(modern_features(rows, "v12", v12))


# Preset `paper` -------------------------------------------------------------------------------------------------


class Scaling(NamedTuple):
    """What preset `paper` learns about the columns of a block from the training rows; see `paper_scaling`.

    ``low`` is μ − 2σ, ``width`` 4σ, and ``zero`` the scaled value of a count of 0.
    """

    idf: Floats
    low: Floats
    width: Floats
    zero: Floats


@kernel
def _image(columns, counts, idf, low, width, zero, out):  # type: ignore[no-untyped-def]
    """[low, low + width] → [0, 1] of each tf-idf, clipped, less ``zero``; an eighth of numpy's time."""
    for p in range(len(counts)):
        t = columns[p]
        image = (counts[p] * idf[t] - low[t]) / width[t] if width[t] > 0.0 else 0.0
        out[p] = min(max(image, 0.0), 1.0) - zero[t]


def _scaling(rows: Csr, weight: Floats) -> Scaling:
    """Learn from rows, each of which counts ``weight`` times."""
    n, filled = weight.sum(), rows.data != 0
    df = with_values(rows, filled.astype(np.float64)).T @ weight
    idf = np.log(np.where(df > 0, n / np.where(df > 0, df, 1.0), 1.0))
    values = rows.data * idf[rows.indices]
    mean = np.asarray(with_values(rows, values).T @ weight) / n
    # Two passes: the squares are summed around the mean, so nothing cancels however large the counts.
    squares = np.where(filled, values - mean[rows.indices], 0.0) ** 2
    sigma = np.sqrt((with_values(rows, squares).T @ weight + (n - df) * mean**2) / n)
    # A constant column's mean may miss its value by a rounding error; that is not a spread.
    sigma[sigma <= 1e-13 * np.abs(mean)] = 0.0
    low, width = mean - 2.0 * sigma, 4.0 * sigma
    zero = np.divide(-low, width, out=np.zeros(len(low)), where=width > 0).clip(0.0, 1.0)
    return Scaling(idf, low, width, zero)


def scaled(rows: Csr, scaling: Scaling) -> Csr:
    """Rows of counts as `paper_features` scales them: each value's image in [0, 1], less the image of zero."""
    values = np.empty(rows.nnz)
    _image(read_only(rows.indices), read_only(rows.data), *map(read_only, scaling), values)
    return with_values(rows, values)


def paper_scaling(train: PairCounts, condition: str = "v1v2v12") -> dict[str, Scaling]:
    """What `paper_features` needs to know about the training pairs.

    A word that occurs in 30 pairs counts 30 times in df, μ and σ, as if its row had been written out 30 times.
    """
    words, w1, w2 = used_words(train)
    often = {"v1": np.bincount(w1, minlength=words.shape[0]), "v2": np.bincount(w2, minlength=words.shape[0])}
    return {
        block: _scaling(words, often[block].astype(np.float64))
        if block in often
        else _scaling(train.tocsr(block), np.ones(len(train)))
        for block in blocks_of(condition)
    }


def paper_features(train: Mapping[str, Scaling], rows: PairCounts, condition: str = "v1v2v12") -> Features:
    """Features of preset `paper` (Herdağdelen & Baroni 2009), scaled by what `paper_scaling` learned of training rows.

        tf-idf:   x = c · ln(N / df), N training rows, df of them with a count in this column; 0 if there is none
        scaling:  [μ − 2σ, μ + 2σ] → [0, 1], clipped; 0 where σ = 0 (σ of the population, zeros included)

    Scaling moves zero and would make the matrix dense, so each column's image of zero is subtracted again: an all-zero
    row stays zero, and a linear SVM with a free bias has the same solution.
    """
    wanted = blocks_of(condition)
    first = second = rows.words[:, :0]  # no columns without v1v2
    own: Csr = sparse.csr_array((len(rows), 0))
    w1, w2 = rows.w1, rows.w2
    if "v1" in wanted:
        words, w1, w2 = used_words(rows)
        first, second = scaled(words, train["v1"]), scaled(words, train["v2"])
    if "v12" in wanted:
        own = scaled(rows.tocsr("v12"), train["v12"])
    return Features(
        {block: block_width(block, len(rows.basis)) for block in wanted}, w1, w2, first, second, own
    )


# Presets --------------------------------------------------------------------------------------------------------

PRESETS = ("paper", "modern")
Learned = Mapping[str, Scaling]  # by block; empty for a preset that learns nothing from training rows


@dataclass(frozen=True)
class Preset:
    """A named way from counts to features: `paper` or `modern`, with a factor on v12 (``modern`` only)."""

    name: str = "modern"
    v12: float = 1.0

    @property
    def learns(self) -> bool:
        """Whether the features of a row depend on which rows were trained on."""
        return self.name == "paper"

    def learn(self, train: PairCounts, condition: str) -> Learned:
        """What the features of this condition need to know about the training rows."""
        return paper_scaling(train, condition) if self.learns else {}

    def features(self, learned: Learned, rows: PairCounts, condition: str) -> Features:
        if self.learns:
            return paper_features(learned, rows, condition)
        return modern_features(rows, condition, self.v12)

    def block_rows(self, learned: Learned, block: str, rows: Csr, basis: Basis) -> Csr:
        """Features of rows of counts: of words for v1 and v2, of pairs that were seen often for v12."""
        if self.learns:
            return scaled(rows, learned[block])
        return self.v12 * weigh(rows, basis) if block == "v12" else weigh(rows, basis)


def get_preset(preset: str | Preset) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise UsageError(f"unknown preset {preset!r}; choose one of {', '.join(PRESETS)}")
    return Preset(preset)


# Features as a design matrix -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Features:
    """Features of n pairs, in blocks of columns.

    Pair i has ``first[w1[i]]``, ``second[w2[i]]``, ``product[i] · first[w1[i]] ∘ second[w2[i]]`` and ``own[i]``.
    Products, which an empty ``product`` omits, are formed where they are needed.
    """

    blocks: Mapping[str, int]  # name and number of columns of each, in this order
    w1: Index
    w2: Index
    first: Csr
    second: Csr
    own: Csr
    product: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.w1)

    @property
    def words(self) -> tuple[tuple[Csr, Index], ...]:
        """The table of first words and the one of second words, each with the row of each pair."""
        return (self.first, self.w1), (self.second, self.w2)

    def take(self, rows: Any) -> Features:
        """The features of some of the pairs; word tables are shared."""
        product = self.product[rows] if len(self.product) else self.product
        return replace(self, w1=self.w1[rows], w2=self.w2[rows], product=product, own=self.own[rows])

    def joined(self, others: Features) -> Features:
        """These features of words, and next to them those of pairs."""
        own = sparse.csr_array(sparse.hstack([self.own, others.own], format="csr"))
        return replace(self, blocks={**self.blocks, **others.blocks}, own=own)

    def products(self) -> Csr:
        """Products of the two words' rows, a row for each pair."""
        if not len(self.product):
            return sparse.csr_array((len(self), 0))
        rows = sparse.csr_array(self.first[self.w1].multiply(self.second[self.w2]))
        return with_values(rows, rows.data * np.repeat(self.product, np.diff(rows.indptr)))

    def matrix(self) -> Csr:
        """All features as one sparse array, a row for each pair."""
        parts = [*(table[rows] for table, rows in self.words), self.products(), self.own]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def split(self, weights: Floats) -> dict[str, Floats]:
        """Weights of all columns (columns × outputs) by block."""
        ends = np.cumsum(list(self.blocks.values()))
        return dict(zip(self.blocks, np.split(weights, ends[:-1]), strict=True))

    def decisions(self, weights: Floats) -> Floats:
        """Features times weights, columns × outputs: once per word, products pair by pair."""
        width = self.first.shape[1]
        out = np.zeros((len(self), weights.shape[1]))
        for table, rows in self.words:
            out += np.asarray(table @ weights[:width])[rows]
            weights = weights[width:]
        if len(self.product):
            of_product = np.ascontiguousarray(weights[:width])
            _product_dots(*_factors(self.first, self.w1, self.w2), self.product, of_product, out)
            weights = weights[width:]
        out += np.asarray(self.own @ weights)
        return out

    def combine(self, coef: Floats) -> Floats:
        """Σ_i coef_i · features of pair i, columns × outputs; ``coef`` is pairs × outputs."""
        parts = [np.asarray(table.T @ sum_by(rows, coef, table.shape[0])) for table, rows in self.words]
        if len(self.product):
            columns = [np.zeros(self.first.shape[1]) for _ in coef.T]
            arrays = _factors(self.first, self.w1, self.w2)
            for column, own in zip(columns, coef.T, strict=True):
                _product_sums(*arrays, self.product * own, column)
            parts.append(np.stack(columns, axis=1))
        return np.concatenate([*parts, np.asarray(self.own.T @ coef)])

    def squares(self) -> Floats:
        from sklearn.utils.extmath import row_norms

        out = np.asarray(row_norms(self.own, squared=True))
        for table, rows in self.words:
            out += row_norms(table, squared=True)[rows]
        if len(self.product):
            out += self.product**2 * row_products(self.first, self.w1, self.w2)[1]
        return out


def sum_by(rows: Index, values: Floats, n: int) -> Floats:
    """Sums of the values (pairs × outputs) of each of n rows."""
    spread = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows)))
    return np.asarray(spread @ values)


def with_values(rows: Csr, values: Floats) -> Csr:
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def row_arrays(rows: Csr) -> tuple[Values, ...]:
    """Arrays of rows as kernels take them; unsigned integers spare them the test for negative indices."""
    indptr, indices = rows.indptr.astype(np.uint64), rows.indices.astype(np.uint32, copy=False)
    return read_only(indptr), read_only(indices), read_only(rows.data)


def _factors(rows: Csr, w1: Index, w2: Index) -> tuple[Any, ...]:
    """Rows, an order of pairs in which those of the same first word follow each other, and the pairs."""
    return *row_arrays(rows), np.argsort(w1, kind="stable"), w1.astype(np.int64), w2.astype(np.int64)


# Products of two words' rows -----------------------------------------------------------------------------------
# The first word's row is spread over a dense array, which stays while pairs have the same first word.


@kernel
def spread_row(indptr, indices, data, before, row, dense):  # type: ignore[no-untyped-def]
    """Write a row into an array that holds the row ``before`` (−1: none) and zeros."""
    if before >= 0:
        for q in range(indptr[before], indptr[before + 1]):
            dense[indices[q]] = 0.0
    for q in range(indptr[row], indptr[row + 1]):
        dense[indices[q]] = data[q]


@kernel
def _product_totals(indptr, indices, data, order, w1, w2, dense, sums, squares):  # type: ignore[no-untyped-def]
    """Sum, and sum of the squares, of the product of each pair's two rows."""
    spread = np.int64(-1)
    for i in order:
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        total, square = 0.0, 0.0
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            value = data[q] * dense[indices[q]]
            total += value
            square += value * value
        sums[i], squares[i] = total, square


@allocating_kernel
def _product_dots(indptr, indices, data, order, w1, w2, scale, weights, out):  # type: ignore[no-untyped-def]
    """out[i] += scale[i] · product of pair i's rows · weights (columns × outputs)."""
    spread = np.int64(-1)
    dense, sums = np.zeros(weights.shape[0]), np.empty(weights.shape[1])
    columns, values = np.empty(len(dense), dtype=np.uint32), np.empty(len(dense))
    for i in order:
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        # Most products are zero: drop them first. A branch would be mispredicted half the time.
        filled = np.uint64(0)
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            value = data[q] * dense[indices[q]]
            columns[filled] = indices[q]
            values[filled] = value
            filled += np.uint64(value != 0.0)
        sums[:] = 0.0
        for q in range(filled):
            for k in range(len(sums)):
                sums[k] += values[q] * weights[columns[q], k]
        for k in range(len(sums)):
            out[i, k] += scale[i] * sums[k]


@allocating_kernel
def _product_sums(indptr, indices, data, order, w1, w2, coef, weights):  # type: ignore[no-untyped-def]
    """Add Σ_i coef_i · product of pair i's rows to the weights."""
    spread = np.int64(-1)
    dense = np.zeros(len(weights))
    for i in order:
        if coef[i] == 0.0:
            continue
        if w1[i] != spread:
            spread_row(indptr, indices, data, spread, w1[i], dense)
            spread = w1[i]
        for q in range(indptr[w2[i]], indptr[w2[i] + 1]):
            weights[indices[q]] += coef[i] * data[q] * dense[indices[q]]


def row_products(rows: Csr, w1: Index, w2: Index) -> tuple[Floats, Floats]:
    """Inner product of each pair's two rows, and the squared length of their product column by column."""
    sums, squares = np.zeros(len(w1)), np.zeros(len(w1))
    _product_totals(*_factors(rows, w1, w2), np.zeros(rows.shape[1]), sums, squares)
    return sums, squares
