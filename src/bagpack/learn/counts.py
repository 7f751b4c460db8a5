"""Integer counts of pairs, as learners take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bagpack.errors import UsageError
from bagpack.learn.blocks import BLOCKS
from bagpack.names import feature_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bagpack.learn.block import Block
    from bagpack.learn.types import Bools, Csr, Floats, Index, Ints, Matrix


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
    reach
        Places around a word where its partner can stand, for the PMI too: six before, six after with five words
        between at most.

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
    reach: int = 12

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
        return replace(
            self,
            w1=self.w1[rows],
            w2=self.w2[rows],
            pairs=self.pairs[rows],
            seen=seen,
            totals=totals,
        )

    def followed_by(self, more: PairCounts) -> PairCounts:
        """Both sets' pairs, one after the other; what only one of them knows is left out."""
        same_words = more.words is self.words
        below = 0 if same_words else self.words.shape[0]
        whole = self.seen is not None and more.seen is not None
        known = self.totals is not None and more.totals is not None
        return replace(
            self,
            words=self.words if same_words else sparse.vstack([self.words, more.words], format="csr"),
            w1=np.concatenate([self.w1, more.w1 + below]),
            w2=np.concatenate([self.w2, more.w2 + below]),
            pairs=sparse.vstack([self.pairs, more.pairs], format="csr"),
            seen=np.concatenate([self.seen, more.seen]) if whole else None,
            totals=np.concatenate([self.totals, more.totals]) if known else None,
        )

    @classmethod
    def from_matrix(cls, X: Matrix, terms: Sequence[str] | None = None) -> PairCounts:
        """Counts from one pairs × 10T matrix (v1, v2, v12 side by side), each row with its own words."""
        matrix = sparse.csr_array(X)
        n, width = matrix.shape
        if width % 10:
            raise UsageError(f"a pair matrix has 10 columns per basis term, and this one has {width} in all")
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
        return feature_names(self.term_list)

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
