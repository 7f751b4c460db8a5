"""The pairs of a matrix: which words they are, and how often they occur."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError
from bagpack.names import CONDITIONS
from bagpack.vectors.assemble import Part, assemble
from bagpack.vectors.tables import CountTables, PairTable, WordTable, pair_codes

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Pair = tuple[str, str]


class PairRows:
    """Rows of `CountTables`: two names each."""

    tables: CountTables
    rows: I64
    _pair_rows: tuple[I64, Bools] | None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    # Pairs ------------------------------------------------------------------------------------------------------

    @property
    def words(self) -> WordTable:
        """Counts of the distinct words."""
        return self.tables.words

    @property
    def distinct_pairs(self) -> PairTable:
        """Counts of the distinct pairs."""
        return self.tables.distinct_pairs

    @property
    def basis(self) -> Basis:
        """The basis terms."""
        return self.tables.basis

    @property
    def settings(self) -> CountSettings:
        """How the pairs were counted."""
        return self.tables.settings

    @property
    def source_path(self) -> str:
        """The corpus that was counted."""
        return self.tables.source_path

    @property
    def source_hash(self) -> str:
        """Its content."""
        return self.tables.source_hash

    @property
    def place(self) -> Path | None:
        """Where the matrix was opened."""
        return self.tables.place

    @property
    def terms(self) -> list[str]:
        """The basis terms by column."""
        return self.basis.terms

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs as they were given, row by row."""
        names = self.tables.name_list
        return tuple((names[one], names[two]) for one, two in self.rows.tolist())

    @cached_property
    def resolved(self) -> dict[str, Target | None]:
        """The target of each word; None if it is unknown."""
        targets = (*self.words.targets, None)
        return dict(
            zip(self.tables.name_list, (targets[i] for i in self.tables.name_targets.tolist()), strict=True)
        )

    @cached_property
    def _row_numbers(self) -> dict[Pair, int]:
        return {pair: i for i, pair in enumerate(self.pairs)}

    @property
    def _word_rows(self) -> tuple[I64, I64]:
        """Row of the word table for each pair's first and second word; -1 if unknown."""
        targets = self.tables.name_targets
        return targets[self.rows[:, 0]], targets[self.rows[:, 1]]

    @cached_property
    def _distinct_rows(self) -> tuple[I64, Bools]:
        """Row of the pair table for each pair (-1: a word is unknown), and whether it is swapped there."""
        if self._pair_rows is not None:
            return self._pair_rows
        first, second = self._word_rows
        codes, order = self.distinct_pairs.by_code
        known = (first >= 0) & (second >= 0)
        rows, swapped = np.full(len(self), -1, np.int64), np.zeros(len(self), np.bool_)
        if known.any():
            wanted = pair_codes(first[known], second[known])
            at = np.minimum(np.searchsorted(codes, wanted), max(codes.size - 1, 0))
            if not codes.size or (codes[at] != wanted).any():
                raise StoreError(
                    f"the matrix {self.place or ''} lists a pair that it has no counts of; count the pairs again"
                )
            rows[known] = order[at]
            swapped[known] = self.distinct_pairs.members[order[at], 0] != first[known]
        return rows, swapped

    def holds(self, pair: Pair) -> bool:
        """Whether the pair has a row."""
        return pair in self._row_numbers

    # How often --------------------------------------------------------------------------------------------------

    @property
    def seen(self) -> I64:
        """How often each pair is seen together in the corpus, in either order, whether or not a cap applied."""
        return self._both_orders(self.n_plus, self.n_minus)

    @property
    def counted(self) -> I64:
        """How many of the pair's observations were counted: `seen`, unless a cap applied."""
        taken = self.distinct_pairs.taken
        return self._both_orders(self._distinct_column(taken, 0), self._distinct_column(taken, 1))

    def _both_orders(self, plus: I64, minus: I64) -> I64:
        """Observations: one of a word with itself is of both orders."""
        first, second = self._word_rows
        return np.where(first == second, plus, plus + minus)

    def _distinct_column(self, table: I64, order: int) -> I64:
        row, swapped = self._distinct_rows
        if not table.shape[0]:
            return np.zeros(len(self), np.int64)
        values = table[np.maximum(row, 0), np.where(swapped, 1 - order, order)]
        return np.where(row >= 0, values, 0)

    @property
    def n_plus(self) -> I64:
        """Observations with w1 first, in the corpus."""
        return self._distinct_column(self.distinct_pairs.found, 0)

    @property
    def n_minus(self) -> I64:
        """Observations with w2 first, in the corpus."""
        return self._distinct_column(self.distinct_pairs.found, 1)

    def _word_column(self, which: int) -> I64:
        rows = self._word_rows[which]
        if not self.words.found.size:
            return np.zeros(len(self), np.int64)
        return np.where(rows >= 0, self.words.found[np.maximum(rows, 0)], 0)

    @property
    def n_w1(self) -> I64:
        """Occurrences of w1 in the corpus."""
        return self._word_column(0)

    @property
    def n_w2(self) -> I64:
        """Occurrences of w2 in the corpus."""
        return self._word_column(1)

    @property
    def totals(self) -> I64:
        """n(w1), n(w2), n+ and n− of each pair in the corpus, pairs × 4."""
        return np.stack([self.n_w1, self.n_w2, self.n_plus, self.n_minus], axis=1)

    @property
    def unknown(self) -> Bools:
        """Whether the corpus does not contain one of a pair's words."""
        first, second = self._word_rows
        return (first < 0) | (second < 0)

    @property
    def unknown_words(self) -> list[str]:
        """Words of the pairs that the corpus knows neither as a lemma nor as a form."""
        used = np.unique(self.rows)
        return sorted(self.tables.names[i] for i in used[self.tables.name_targets[used] < 0].tolist())

    @property
    def capped_words(self) -> dict[str, int]:
        """Targets of the pairs that occur more often than the limit, with how often."""
        over = self._over_limit(np.concatenate(self._word_rows), self.words.found)
        return {str(self.words.targets[i]): int(self.words.found[i]) for i in over}

    @property
    def capped_pairs(self) -> dict[str, int]:
        """Pairs that are seen together more often than the limit, with how often."""
        one, two = self.distinct_pairs.members.T
        found = self.distinct_pairs.found
        totals = np.where(one == two, found[:, 0], found.sum(axis=1))
        over = self._over_limit(self._distinct_rows[0], totals)
        targets = self.words.targets
        return {f"{targets[one[i]]} {targets[two[i]]}": int(totals[i]) for i in over}

    def _over_limit(self, rows: I64, totals: I64) -> list[int]:
        """Which of the rows have a total over the limit, each once."""
        if self.settings.limit is None:
            return []
        used = np.unique(rows[rows >= 0])
        return [int(row) for row in used[totals[used] > self.settings.limit]]

    # Counts -----------------------------------------------------------------------------------------------------

    @property
    def word_counts(self) -> Csr:
        """Distinct words × 2T counts; see `w1` and `w2`."""
        return self.tables.word_counts

    @property
    def w1(self) -> NDArray[np.intp]:
        """Row of `word_counts` of each pair's first word."""
        return self.tables.name_rows[self.rows[:, 0]]

    @property
    def w2(self) -> NDArray[np.intp]:
        """Row of `word_counts` of each pair's second word."""
        return self.tables.name_rows[self.rows[:, 1]]

    @cached_property
    def pair_counts(self) -> Csr:
        """Pairs × 6T counts of the two words together."""
        return assemble([Part(self.distinct_pairs.rows, *self._distinct_rows)])

    def zero_rows(self, names: Sequence[str] = CONDITIONS["v1v2v12"]) -> Bools:
        """Per pair, whether its vector over the blocks ``names`` is all zero; other names are ignored."""
        zero = np.ones(len(self), dtype=np.bool_)
        lengths = np.diff(self.word_counts.indptr)
        if "v1" in names:
            zero &= lengths[self.w1] == 0
        if "v2" in names:
            zero &= lengths[self.w2] == 0
        if "v12" in names:
            rows = self._distinct_rows[0]
            entries = np.diff(self.distinct_pairs.rows.indptr)
            zero &= (rows < 0) | (entries[np.maximum(rows, 0)] == 0) if entries.size else True
        return zero
