"""What was counted: distinct words, distinct pairs of them, over which basis, how, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr, canonical
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.strings import Strings

I64 = NDArray[np.int64]

KEY_SEPARATOR = "\x1f"  # between the keys of a multi-word target


@dataclass(frozen=True, eq=False)
class WordTable:
    """Counts of distinct targets: rows of 2T columns, and how often each target occurs in the corpus."""

    keys: Strings  # of each target, a multi-word target's joined by KEY_SEPARATOR
    rows: Csr
    found: I64

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets, row by row."""
        return tuple(Target(tuple(item.decode().split(KEY_SEPARATOR))) for item in self.keys)


@dataclass(frozen=True, eq=False)
class PairTable:
    """Counts of distinct unordered pairs of targets: rows of 6T columns; found and counted observations per order."""

    members: I64  # the pairs as rows of the word table, the smaller target first
    rows: Csr
    found: I64
    taken: I64

    @cached_property
    def by_code(self) -> tuple[I64, I64]:
        """Codes of the pairs in ascending order, and the row of each."""
        codes = pair_codes(self.members[:, 0], self.members[:, 1])
        order = np.argsort(codes, kind="stable")
        return codes[order], order


def pair_codes(one: I64, two: I64) -> I64:
    """One number for each unordered pair of row numbers."""
    return (np.minimum(one, two).astype(np.int64) << 32) | np.maximum(one, two)


@dataclass(frozen=True, eq=False)
class OutsideCounts:
    """How often words occur, and occur together, in another corpus than the one whose contexts are counted.

    ``totals`` has n(w1), n(w2), n+ and n− of each pair, ``source`` names the corpus, and ``tokens`` is its size (0 if
    unknown).
    """

    totals: Mapping[tuple[str, str], tuple[float, float, float, float]]
    source: str
    tokens: int
    approximate: bool = False


@dataclass(frozen=True, eq=False)
class CountTables:
    """The counts that all rows of a matrix, and all selections of them, share.

    Parameters
    ----------
    names
        Distinct words as they were given.
    name_targets
        Each name's row of the word table; -1 if the corpus does not contain the word.
    place
        Where the matrix was opened.
    outside
        Counts of another corpus, which the statistics of pairs are then made from.
    """

    names: Strings
    name_targets: I64
    words: WordTable
    distinct_pairs: PairTable
    basis: Basis
    settings: CountSettings
    source_path: str
    source_hash: str
    place: Path | None = None
    outside: OutsideCounts | None = None

    @cached_property
    def name_list(self) -> list[str]:
        """The names as text."""
        return [name.decode() for name in self.names]

    @cached_property
    def name_rows(self) -> I64:
        """Each name's row of `word_counts`."""
        rows = np.array(self.name_targets, np.int64)
        unknown = np.flatnonzero(rows < 0)
        rows[unknown] = self.words.rows.shape[0] + np.arange(unknown.size)
        return rows

    @cached_property
    def word_counts(self) -> Csr:
        """The word table, and an all-zero row for each unknown word: to a words-only model they are different words."""
        rows = self.words.rows
        more = int((self.name_targets < 0).sum())
        if not more:
            return rows
        indptr = np.concatenate([rows.indptr, np.full(more, rows.indptr[-1], rows.indptr.dtype)])
        shape = (rows.shape[0] + more, rows.shape[1])
        return canonical(sparse.csr_array((rows.data, rows.indices, indptr), shape=shape, copy=False))
