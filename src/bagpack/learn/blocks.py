"""Pair counts, and the blocks of columns that a condition is made of.

A block is a matrix over *distinct* rows and an index that says which of them each pair uses: the v1 block has
one row per distinct word, however many pairs share it. Everything downstream (weighting, Gram matrices,
weights) works on distinct rows and reaches the pairs through the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bagpack.errors import UsageError
from bagpack.learn.block import Block

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.types import Bools, Csr, Floats, Index, Ints, Matrix

SINGLE_SEGMENTS = ("pre", "post")
BORROWED = "v12~"  # contexts of similar pairs, over the columns of v12
DISTANCES = 6  # tokens between a pair's words: 0 to 4, and 5 or more
PAIR_SEGMENTS = ("+pre", "+betw", "+post", "-pre", "-betw", "-post")


@dataclass(frozen=True)
class PairCounts:
    """Integer counts of n pairs: one row per distinct word, one per pair.

    Parameters
    ----------
    words
        Distinct words × 2T counts, columns pre then post, T basis terms each.
    w1, w2
        Row of ``words`` that holds each pair's first and second word.
    pairs
        Pairs × 6T counts, columns +pre, +betw, +post, -pre, -betw, -post.
    terms
        The T basis terms (unigrams, then bigrams), or a function that gives them when a name is first needed.
    seen
        Observations of each pair together, both orders, whether or not a cap bit.
    shares
        How frequent each basis term is in the corpus, or a function that tells when it is first needed.
    totals
        n(w1), n(w2), n+ and n− of each pair in the corpus, pairs × 4.
    tokens
        Size of the corpus, for the PMI of a pair (the sum of the basis's unigrams: all but the rarest words).
    borrowed
        Pairs × 6T: what similar pairs have in their contexts, see `bagpack.vectors.neighbours`.
    gaps
        Pairs × 12: counted couples by tokens between, 0 to 5 and more, first those with w1 first, then the others.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> counts = PairCounts(
    ...     words=csr_array(np.array([[1, 0, 0, 1], [0, 0, 1, 0]])), w1=[0], w2=[1],
    ...     pairs=csr_array(np.array([[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]])), terms=["only", "that"])
    >>> [counts.feature_names()[j] for j in counts.matrix().nonzero()[1]]
    ['v1:pre:only', 'v1:post:that', 'v2:post:only', 'v12:-betw:only', 'v12:-post:that']
    """

    words: Csr
    w1: Index
    w2: Index
    pairs: Csr
    terms: Sequence[str] | Callable[[], Sequence[str]] | None = field(default=None, repr=False)
    seen: Ints | None = field(default=None, repr=False)
    shares: Floats | Callable[[], Floats | None] | None = field(default=None, repr=False)
    totals: Ints | None = field(default=None, repr=False)
    tokens: int = 0
    borrowed: Csr | None = field(default=None, repr=False)
    gaps: Ints | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "w1", np.asarray(self.w1, dtype=np.intp))
        object.__setattr__(self, "w2", np.asarray(self.w2, dtype=np.intp))
        if self.seen is not None:
            object.__setattr__(self, "seen", np.asarray(self.seen))
        n = self.pairs.shape[0]
        if len(self.w1) != n or len(self.w2) != n or (self.seen is not None and len(self.seen) != n):
            raise ValueError(f"pairs has {n} rows; w1 has {len(self.w1)}, w2 {len(self.w2)}: they must agree")
        if self.words.shape[1] % 2 or 3 * self.words.shape[1] != self.pairs.shape[1]:
            raise ValueError(
                f"words has {self.words.shape[1]} columns and pairs {self.pairs.shape[1]}; "
                "2 and 6 per basis term are needed"
            )
        if self.borrowed is not None and self.borrowed.shape != self.pairs.shape:
            raise ValueError(
                f"borrowed is {self.borrowed.shape} and pairs {self.pairs.shape}: they must agree"
            )
        if self.gaps is not None and self.gaps.shape != (n, 2 * DISTANCES):
            raise ValueError(f"gaps is {self.gaps.shape}; {n} rows of {2 * DISTANCES} columns are needed")
        for index in (self.w1, self.w2):
            if n and not 0 <= index.min() <= index.max() < self.words.shape[0]:
                raise ValueError(f"w1 and w2 must be rows of words, 0 to {self.words.shape[0] - 1}")

    def __len__(self) -> int:
        return int(self.pairs.shape[0])

    @property
    def n_terms(self) -> int:
        """T, the number of basis terms."""
        return int(self.words.shape[1]) // 2

    def __getitem__(self, rows: ArrayLike | slice) -> PairCounts:
        """The pairs at ``rows`` (indices, a mask or a slice); ``words`` is shared, not copied."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.dtype != bool:
                rows = rows.astype(np.intp)
        seen = None if self.seen is None else self.seen[rows]
        totals = None if self.totals is None else self.totals[rows]
        borrowed = None if self.borrowed is None else self.borrowed[rows]
        gaps = None if self.gaps is None else self.gaps[rows]
        return replace(
            self, w1=self.w1[rows], w2=self.w2[rows], pairs=self.pairs[rows], seen=seen, totals=totals,
            borrowed=borrowed, gaps=gaps,
        )  # fmt: skip

    def swapped(self) -> PairCounts:
        """The same pairs the other way round: w2 first, and what was + is −."""
        totals = None if self.totals is None else self.totals[:, [1, 0, 3, 2]]
        borrowed = None if self.borrowed is None else _turned(self.borrowed)
        gaps = None if self.gaps is None else np.roll(self.gaps, DISTANCES, axis=1)
        return replace(
            self,
            w1=self.w2,
            w2=self.w1,
            pairs=_turned(self.pairs),
            totals=totals,
            borrowed=borrowed,
            gaps=gaps,
        )

    def followed_by(self, more: PairCounts) -> PairCounts:
        """Both sets' pairs, one after the other; they must share their table of words."""
        if more.words is not self.words:
            raise ValueError("the two sets of pairs must share one table of words")
        whole = self.seen is not None and more.seen is not None
        known = self.totals is not None and more.totals is not None
        return replace(
            self,
            w1=np.concatenate([self.w1, more.w1]),
            w2=np.concatenate([self.w2, more.w2]),
            pairs=_stacked(self.pairs, more.pairs),
            seen=np.concatenate([self.seen, more.seen]) if whole else None,
            totals=np.concatenate([self.totals, more.totals]) if known else None,
            borrowed=stack_borrowed(self, more),
            gaps=stack_gaps(self, more),
        )

    @classmethod
    def from_matrix(cls, X: Matrix, terms: Sequence[str] | None = None) -> PairCounts:
        """Counts from one pairs × 10T matrix (v1, v2, v12 side by side), each row with its own words."""
        matrix = sparse.csr_array(X)
        n, width = matrix.shape
        if width % 10:
            raise UsageError(f"A pair matrix has 10 columns per basis term, and this one has {width} in all.")
        single = width // 5
        words = sparse.vstack([matrix[:, :single], matrix[:, single : 2 * single]], format="csr")
        order = np.arange(n)
        return cls(words, order, order + n, sparse.csr_array(matrix[:, 2 * single :]), terms)

    def matrix(self) -> sparse.csr_array[Any]:
        """The counts as one pairs × 10T matrix, in the order of `feature_names`."""
        blocks = [self.words[self.w1], self.words[self.w2], self.pairs]
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))

    @cached_property
    def term_list(self) -> tuple[str, ...]:
        """The basis terms; made-up ones (t0, t1, …) where none were given."""
        terms = self.terms() if callable(self.terms) else self.terms
        return tuple(terms) if terms is not None else tuple(f"t{i}" for i in range(self.n_terms))

    @cached_property
    def term_shares(self) -> Floats | None:
        """How frequent each basis term is in the corpus; None where the counts came without a basis."""
        return self.shares() if callable(self.shares) else self.shares

    def feature_names(self) -> list[str]:
        """Names of all features, v1 then v2 then v12."""
        return [name for block in ("v1", "v2", "v12") for name in feature_names(block, self.term_list)]

    def block(self, name: str) -> Block:
        """The block called ``name``."""
        return BLOCKS[name].build(self)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """The blocks called ``names``, in that order."""
        return (self.block(name) for name in names)

    def zero_rows(self, names: Sequence[str] = ("v1", "v2", "v12")) -> Bools:
        """Per pair, whether its vector over the blocks ``names`` is all zero.

        What is derived from other blocks (products, statistics) is zero where those are, and not looked at.
        """
        zero = np.ones(len(self), dtype=bool)
        for block in self.blocks([name for name in names if BLOCKS[name].counted]):
            zero &= block.row_is_zero()
        return zero


def _turned(rows: Csr) -> Csr:
    """What was + is −, and the other way round."""
    half = rows.shape[1] // 2
    return sparse.csr_array(sparse.hstack([rows[:, half:], rows[:, :half]], format="csr"))


def _stacked(first: Csr, second: Csr) -> Csr:
    return sparse.csr_array(sparse.vstack([first, second], format="csr"))


def stack_borrowed(first: PairCounts, second: PairCounts) -> Csr | None:
    """What both sets' pairs borrow, if both know."""
    if first.borrowed is None or second.borrowed is None:
        return None
    return _stacked(first.borrowed, second.borrowed)


def stack_gaps(first: PairCounts, second: PairCounts) -> Ints | None:
    """The gaps of both sets' pairs, if both know."""
    if first.gaps is None or second.gaps is None:
        return None
    return np.concatenate([first.gaps, second.gaps])


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
    raise UsageError("A words-only model has no named contexts.")


def _namer(prefix: str, segments: Sequence[str]) -> Callable[[Sequence[str]], list[str]]:
    def names(terms: Sequence[str]) -> list[str]:
        return [f"{prefix}:{segment}:{term}" for segment in segments for term in terms]

    return names


def word_counts(counts: PairCounts, rows: Index, columns: Ints) -> Ints:
    """The counts of one word at some columns; ``rows`` is ``w1`` or ``w2`` of a single pair."""
    return np.asarray(counts.words[[rows[0]]].toarray()[0, columns])


def _pair_block(counts: PairCounts) -> Block:
    seen = None if counts.seen is None else counts.seen.astype(np.float64)
    return Block("v12", counts.pairs, seen=seen, shares=counts.term_shares)


def _borrowed_rows(counts: PairCounts) -> Csr:
    if counts.borrowed is None:
        raise UsageError(
            "These counts do not say what a pair borrows from similar pairs: take them from a matrix or a vectorizer "
            "with counts(pairs, neighbours=20), or a preset without neighbours."
        )
    return counts.borrowed


def _borrowed_block(counts: PairCounts) -> Block:
    seen = None if counts.seen is None else counts.seen.astype(np.float64)
    return Block(BORROWED, _borrowed_rows(counts), seen=seen, shares=counts.term_shares)


def _borrowed_evidence(one: PairCounts, columns: Ints) -> Ints:
    """Counts of similar pairs times their cosines, rounded up."""
    return np.asarray(np.ceil(_borrowed_rows(one)[[0]].toarray()[0, columns]), dtype=np.int64)


def _ones(counts: PairCounts, columns: Ints) -> Ints:
    return np.ones(len(columns), dtype=np.int64)


# A preset may add blocks of its own (products of v1 and v2, pair statistics): register them here.
BLOCKS: dict[str, BlockKind] = {
    "v1": BlockKind(
        lambda c: Block("v1", c.words, c.w1, shares=c.term_shares),
        _namer("v1", SINGLE_SEGMENTS),
        lambda one, columns: word_counts(one, one.w1, columns),
    ),
    "v2": BlockKind(
        lambda c: Block("v2", c.words, c.w2, shares=c.term_shares),
        _namer("v2", SINGLE_SEGMENTS),
        lambda one, columns: word_counts(one, one.w2, columns),
    ),
    "v12": BlockKind(
        _pair_block,
        _namer("v12", PAIR_SEGMENTS),
        lambda one, columns: np.asarray(one.pairs[[0]].toarray()[0, columns]),
    ),
    BORROWED: BlockKind(_borrowed_block, _namer(BORROWED, PAIR_SEGMENTS), _borrowed_evidence),
    "w1": BlockKind(lambda c: _one_hot("w1", c, c.w1), _no_names, _ones),
    "w2": BlockKind(lambda c: _one_hot("w2", c, c.w2), _no_names, _ones),
}

CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "v1v2": ("v1", "v2"),
    "v12": ("v12",),
    "v1v2v12": ("v1", "v2", "v12"),
}


def feature_names(block: str, terms: Sequence[str]) -> list[str]:
    """Names of a block's columns over the basis ``terms``.

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
