"""`BlockMatrix`: pair vectors, the one data type from counting to prediction.

Counts of single words are kept once per distinct word, those of pairs once per distinct unordered pair: v1 and v2 of a
row are rows of one word table, and a swapped pair is the same row with its order segments exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.strings import Strings
from bagpack.errors import StoreError, UsageError
from bagpack.names import CONDITIONS, block_width, blocks_of, feature_names
from bagpack.numbers import many
from bagpack.parallel import Progress
from bagpack.vectors.assemble import Part, assemble
from bagpack.vectors.blocks import Block
from bagpack.vectors.growing import empty_tables, grown_tables
from bagpack.vectors.lazy_csr import LazyCsr
from bagpack.vectors.rows import I64, Bools, PairRows
from bagpack.vectors.rows import Pair as Pair
from bagpack.vectors.tables import CountTables, OutsideCounts, PairTable, WordTable

ALL = CONDITIONS["v1v2v12"]


class BlockMatrix(PairRows, LazyCsr):
    """Pair vectors in named blocks; a sparse array that scikit-learn takes as it is.

    It is a ``scipy.sparse.csr_array`` of pairs × features whose arrays are put together when something asks for them.
    Estimators of `bagpack.learn` do not ask: they use `blocks`, where rows that pairs share are stored once. Rows that
    are selected (``X[rows]``, as cross-validation does) keep the blocks; any other result of arithmetic or indexing is
    an ordinary ``csr_array``. It cannot be changed in place; ``X.copy()`` is a ``csr_array`` that can.

    Made by `PairVectorizer`, `BlockMatrix.count` and `BlockMatrix.open`.

    Attributes
    ----------
    tables : CountTables
        Counts of the distinct words and pairs, with basis, counting settings and source; shared by all selections.
    rows : ndarray of shape (n, 2)
        The pairs, two names each.
    """

    _names: tuple[str, ...]
    _weighted: Mapping[str, Block] | None

    @classmethod
    def make(
        cls, tables: CountTables, rows: I64, names: tuple[str, ...] = ALL, *,
        pair_rows: tuple[I64, Bools] | None = None, weighted: Mapping[str, Block] | None = None,
    ) -> BlockMatrix:  # fmt: skip
        """A matrix of these rows.

        Parameters
        ----------
        names
            The blocks that make up the columns.
        pair_rows
            Each pair's row of the pair table and whether it is swapped there, where that is not to be looked up.
        weighted
            Blocks of features instead of counts, by name.
        """
        self = object.__new__(cls)
        self.tables = tables
        self.rows = rows
        self._names = names
        self._pair_rows = pair_rows
        self._weighted = weighted
        widths = (
            self.blocks[name].width if weighted else block_width(name, len(tables.basis)) for name in names
        )
        self._set_shape(len(rows), sum(widths))
        return self

    # Making -----------------------------------------------------------------------------------------------------

    @classmethod
    def count(
        cls, source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Progress | None = None,
    ) -> BlockMatrix:  # fmt: skip
        """Count all pairs in a source."""
        tables, rows = grown_tables(empty_tables(source, basis, settings), source, pairs, n_jobs, progress)
        return cls.make(tables, rows)

    @classmethod
    def from_counts(
        cls, words: Csr, w1: ArrayLike, w2: ArrayLike, pairs: Csr, terms: Sequence[str] | None = None, *,
        found: ArrayLike | None = None, occurrences: ArrayLike | None = None,
        frequencies: Sequence[int] = (),
    ) -> BlockMatrix:  # fmt: skip
        """A matrix of counts that were made elsewhere.

        Parameters
        ----------
        words
            Distinct words × 2T counts, columns pre then post, T basis terms each.
        w1, w2
            Row of ``words`` that holds each pair's first and second word.
        pairs
            Pairs × 6T counts, columns +pre, +betw, +post, -pre, -betw, -post.
        terms
            The T basis terms; t0, t1, … if not given.
        found
            Observations of each pair with w1 first and with w2 first, pairs × 2; of 1 with w1 first if not given.
        occurrences
            How often each word occurs in the corpus.
        frequencies
            Corpus frequency of each basis term.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> X = BlockMatrix.from_counts(
        ...     words=csr_array(np.array([[1, 0, 0, 1], [0, 0, 1, 0]])), w1=[0], w2=[1],
        ...     pairs=csr_array(np.array([[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]])), terms=["only", "that"])
        >>> [X.feature_names()[j] for j in X.nonzero()[1]]
        ['v1:pre:only', 'v1:post:that', 'v2:post:only', 'v12:-betw:only', 'v12:-post:that']
        """
        size, n = words.shape[0], pairs.shape[0]
        if words.shape[1] % 2 or 3 * words.shape[1] != pairs.shape[1]:
            raise UsageError(
                f"words has {words.shape[1]} columns and pairs {pairs.shape[1]}; 2 and 6 per basis term are needed"
            )
        rows = np.stack([np.asarray(w1, np.int64), np.asarray(w2, np.int64)], axis=1)
        if rows.shape[0] != n or (n and not 0 <= rows.min() <= rows.max() < size):
            raise UsageError(
                f"w1 and w2 must give a row of words, 0 to {size - 1}, for each of the {n} pairs"
            )
        terms = [f"t{i}" for i in range(words.shape[1] // 2)] if terms is None else terms
        seen = np.tile([1, 0], (n, 1)) if found is None else np.asarray(found, np.int64)
        often = np.zeros(size, np.int64) if occurrences is None else np.asarray(occurrences, np.int64)
        tables = CountTables(
            Strings.of([f"w{i}" for i in range(size)]), np.arange(size),
            WordTable(Strings.of([f"w{i}" for i in range(size)]), _sorted(words), often),
            PairTable(rows, _sorted(pairs), seen, seen), Basis(tuple(terms), (), tuple(frequencies)),
            CountSettings(), "", "",
        )  # fmt: skip
        return cls.make(tables, rows, pair_rows=(np.arange(n), np.zeros(n, np.bool_)))

    def grow(
        self, source: ContextSource, pairs: Iterable[Pair], n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> BlockMatrix:  # fmt: skip
        """A matrix with more rows; words and pairs that it has already are not counted again."""
        self.check_source(source)
        tables, rows = grown_tables(self.tables, source, pairs, n_jobs, progress)
        return BlockMatrix.make(tables, np.concatenate([self.rows, rows]), self._names)

    def check_source(self, source: ContextSource) -> None:
        """The counts of another corpus, or of the same one before it changed, must not be mixed in."""
        if source.content_hash != self.source_hash:
            raise StoreError(
                f"the matrix was counted from {self.source_path} (content {self.source_hash[:12]}), but "
                f"{source.name} has content {source.content_hash[:12]}; count the pairs again with bagpack vectors"
            )

    # As a sparse array ------------------------------------------------------------------------------------------

    def _assemble(self) -> Csr:
        if self._weighted is not None:
            expanded = [self.blocks[name].expanded() for name in self._names]
            csr = expanded[0].copy() if len(expanded) == 1 else sparse.hstack(expanded, format="csr")
            if csr.nnz < 1 << 31:  # liblinear and libsvm accept no others
                csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
        else:
            first, second = self._word_rows
            parts = {
                "v1": lambda: Part(self.words.rows, first),
                "v2": lambda: Part(self.words.rows, second),
                "v12": lambda: Part(self.distinct_pairs.rows, *self._distinct_rows),
            }
            csr = assemble([parts[name]() for name in self._names])
        return csr

    @property  # type: ignore[misc]
    def dtype(self) -> Any:
        """Type of the entries; known without putting them together."""
        if self._weighted is None:
            return np.result_type(self.words.rows.dtype, self.distinct_pairs.rows.dtype)
        return np.result_type(*(self.blocks[name].rows.dtype for name in self._names))

    def select(self, rows: ArrayLike | slice) -> BlockMatrix:
        """Some of the rows (numbers, a mask or a slice), in the given order; the tables are shared."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.dtype != np.bool_:
                rows = rows.astype(np.intp)
        pair_rows = None if self._pair_rows is None else (self._pair_rows[0][rows], self._pair_rows[1][rows])
        weighted = None
        if self._weighted is not None:
            weighted = {name: block.take(rows) for name, block in self._weighted.items()}
        return BlockMatrix.make(
            self.tables, self.rows[rows], self._names, pair_rows=pair_rows, weighted=weighted
        )

    def with_outside_counts(self, outside: OutsideCounts) -> BlockMatrix:
        """The same rows, whose pair statistics (`bagpack.learn.features`) are those of another corpus."""
        tables = replace(self.tables, outside=outside)
        return BlockMatrix.make(
            tables, self.rows, self._names, pair_rows=self._pair_rows, weighted=self._weighted
        )

    def equals(self, other: object) -> bool:
        """Whether another matrix has the same pairs, columns and values; ``==`` compares entry by entry."""
        return (
            isinstance(other, BlockMatrix)
            and self._names == other._names
            and self.pairs == other.pairs
            and self.basis == other.basis
            and self.settings == other.settings
            and self.source_hash == other.source_hash
            and np.array_equal(self.totals, other.totals)
            and all(
                np.array_equal(getattr(self, part), getattr(other, part))
                for part in ("indptr", "indices", "data")
            )
        )

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(BlockMatrix.make, pair_rows=self._pair_rows, weighted=self._weighted)
        return make, (self.tables, self.rows, self._names)

    def __deepcopy__(self, memo: dict[int, Any]) -> BlockMatrix:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    def __repr__(self) -> str:
        tables = self.tables
        return (
            f"BlockMatrix({many(len(self), 'pair')} × {self.shape[1]:,} columns of {', '.join(self._names)}; "
            f"{many(len(tables.words.keys), 'word')}, {many(len(tables.basis), 'term')})"
        )

    __str__ = __repr__

    # Blocks -----------------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> Mapping[str, Block]:
        """The blocks that make up the columns, in their order."""
        if self._weighted is not None:
            return self._weighted
        shared = self.basis.frequencies
        makers = {
            "v1": lambda: Block("v1", self.word_counts, self.w1, frequencies=shared),
            "v2": lambda: Block("v2", self.word_counts, self.w2, frequencies=shared),
            "v12": lambda: Block(
                "v12", self.pair_counts, seen=self.seen.astype(np.float64), frequencies=shared
            ),
        }
        return {name: makers[name]() for name in self._names}

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks that make up the columns."""
        return self._names

    @property
    def is_weighted(self) -> bool:
        """Whether it holds features instead of counts."""
        return self._weighted is not None

    def with_blocks(self, blocks: Mapping[str, Block]) -> BlockMatrix:
        """The same pairs with other values: what a weighting step returns."""
        return BlockMatrix.make(
            self.tables, self.rows, tuple(blocks), pair_rows=self._pair_rows, weighted=dict(blocks)
        )

    def block(self, condition: str = "v1v2v12") -> BlockMatrix:
        """The columns of a condition alone: `v1`, `v2`, `v12`, `v1v2` or `v1v2v12`."""
        names = blocks_of(condition)
        missing = [name for name in names if name not in self._names]
        if missing:
            raise UsageError(
                f"the matrix has the blocks {', '.join(self._names)}, and not {missing[0]}; make it with "
                f"PairVectorizer(condition='v1v2v12')"
            )
        if names == self._names:
            return self
        weighted = None if self._weighted is None else {name: self._weighted[name] for name in names}
        return BlockMatrix.make(self.tables, self.rows, names, pair_rows=self._pair_rows, weighted=weighted)

    # Rows -------------------------------------------------------------------------------------------------------

    def feature_names(self, condition: str | None = None) -> list[str]:
        """Names of the columns, or of those of ``block(condition)``."""
        names = self._names if condition is None else blocks_of(condition)
        return [name for block in names for name in feature_names(self.terms, block)]

    def rows_of(self, pairs: Iterable[Pair]) -> BlockMatrix:
        """The rows of these pairs, in their order."""
        number = self._row_numbers
        try:
            return self.select([number[(str(w1), str(w2))] for w1, w2 in pairs])
        except KeyError as error:
            raise StoreError(
                f"the matrix does not hold the pair {' '.join(error.args[0])}; add it with bagpack vectors "
                f"{self.source_path} PAIRS --append --out MATRIX"
            ) from error

    # On disk ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the matrix as an artefact."""
        from bagpack.vectors.storage import save_matrix

        save_matrix(self, Path(path), overwrite)

    @classmethod
    def open(cls, path: str | Path) -> BlockMatrix:
        """Open an artefact; the counts are memory-mapped."""
        from bagpack.vectors.storage import open_matrix

        return open_matrix(Path(path))


def concatenated(first: BlockMatrix, second: BlockMatrix) -> BlockMatrix:
    """The rows of both, which must have been counted together."""
    if first.tables is not second.tables or first.is_weighted or second.is_weighted:
        raise UsageError(
            "the two matrices were not counted together; count all pairs at once and select rows: X[:100], X[100:]"
        )
    pair_rows = None
    if first._pair_rows is not None and second._pair_rows is not None:
        one, two = first._pair_rows, second._pair_rows
        pair_rows = np.concatenate([one[0], two[0]]), np.concatenate([one[1], two[1]])
    rows = np.concatenate([first.rows, second.rows])
    return BlockMatrix.make(first.tables, rows, first.block_names, pair_rows=pair_rows)


def _sorted(rows: Csr) -> Csr:
    rows = sparse.csr_array(rows)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
