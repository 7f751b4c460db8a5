"""`PairCounts`: counts of word pairs, the one data type from counting to prediction.

Counts of a single word are stored once however many pairs have it, those of two words together once per unordered
pair: v1 and v2 of a pair are rows of one table, and a swapped pair is the same row with its order segments exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.distribute import Csr, canonical
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.strings import Strings
from bagpack.errors import StoreError
from bagpack.kernels import kernel, read_only
from bagpack.names import CONDITIONS, blocks_of, feature_names
from bagpack.numbers import many

I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Pair = tuple[str, str]

KEY_SEPARATOR = "\x1f"  # between the keys of a multi-word target


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of n ordered pairs of words over a basis of T terms.

    Made by `bagpack.vectors.counting.count_pairs`, `PairVectorizer.count` and `PairCounts.open`. Selections share
    their tables.

    Attributes
    ----------
    names, keys, word_of
        Distinct words as they were given, the corpus's key of each (empty if it does not contain the word), and the
        row of each in ``words``. Forms of a lemma share a row; each unknown word has a row of zeros of its own.
    words, occurrences
        Distinct words × 2T counts (pre, post), and how often each word occurs in the corpus.
    together, found, taken
        Distinct unordered pairs × 6T counts (+pre, +betw, +post, -pre, -betw, -post), and each pair's co-occurrences
        in the corpus and among the counted ones, pairs × 2: the first word first, the second word first.
    rows, pair_of, swapped
        Of each of the n pairs: its two names, its row of ``together`` (-1: a word is unknown), and whether it is the
        reverse of the pair that is stored there.
    place
        Where the counts were opened.
    """

    names: Strings
    keys: Strings
    word_of: I64
    words: Csr
    occurrences: I64
    together: Csr
    found: I64
    taken: I64
    rows: I64
    pair_of: I64
    swapped: Bools
    basis: Basis
    settings: CountSettings
    source_path: str = ""
    source_hash: str = ""
    place: Path | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __repr__(self) -> str:
        return f"PairCounts({many(len(self), 'pair')} over {many(len(self.basis), 'term')})"

    def __deepcopy__(self, memo: dict[int, Any]) -> PairCounts:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    # Pairs ------------------------------------------------------------------------------------------------------

    @cached_property
    def name_list(self) -> list[str]:
        """The names as text."""
        return [name.decode() for name in self.names]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs as they were given, row by row."""
        names = self.name_list
        return tuple((names[one], names[two]) for one, two in self.rows.tolist())

    @cached_property
    def targets(self) -> tuple[Target | None, ...]:
        """The target of each name; None if it is unknown."""
        return tuple(Target(tuple(key.decode().split(KEY_SEPARATOR))) if key else None for key in self.keys)

    @property
    def w1(self) -> I64:
        """Row of ``words`` of each pair's first word."""
        return self.word_of[self.rows[:, 0]]

    @property
    def w2(self) -> I64:
        """Row of ``words`` of each pair's second word."""
        return self.word_of[self.rows[:, 1]]

    def take(self, rows: ArrayLike | slice) -> PairCounts:
        """Some of the pairs (numbers, a mask or a slice), in the given order; the tables are shared."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.dtype != np.bool_:
                rows = rows.astype(np.intp)
        return replace(
            self,
            rows=self.rows[rows],
            pair_of=self.pair_of[rows],
            swapped=self.swapped[rows],
            place=self.place,
        )

    def __getitem__(self, rows: Any) -> PairCounts:
        """See `take`; with ``shape``, all that scikit-learn's cross-validation needs."""
        return self.take(rows[0] if isinstance(rows, tuple) else rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of pairs, and of features of all blocks."""
        return len(self), 10 * len(self.basis)

    def rows_of(self, pairs: Iterable[Pair]) -> PairCounts:
        """The rows of these pairs, in their order."""
        number = self._row_numbers
        try:
            return self.take([number[str(w1), str(w2)] for w1, w2 in pairs])
        except KeyError as error:
            raise StoreError(
                f"the matrix does not hold the pair {' '.join(error.args[0])}; count all pairs with bagpack vectors "
                f"{self.source_path} PAIRS --out MATRIX"
            ) from error

    @cached_property
    def _row_numbers(self) -> dict[Pair, int]:
        return {pair: i for i, pair in enumerate(self.pairs)}

    def reversed(self) -> PairCounts:
        """Each pair the other way round; the tables are shared."""
        return replace(self, rows=self.rows[:, ::-1].copy(), swapped=~self.swapped)

    # How often --------------------------------------------------------------------------------------------------

    @property
    def n_w1(self) -> I64:
        """Occurrences of w1 in the corpus."""
        return self.occurrences[self.w1]

    @property
    def n_w2(self) -> I64:
        """Occurrences of w2 in the corpus."""
        return self.occurrences[self.w2]

    @property
    def n_plus(self) -> I64:
        """Co-occurrences with w1 first, in the corpus."""
        return self._in_order(self.found, 0)

    @property
    def n_minus(self) -> I64:
        """Co-occurrences with w2 first, in the corpus."""
        return self._in_order(self.found, 1)

    @property
    def seen(self) -> I64:
        """Co-occurrences of each pair in either order, whether or not a cap applied."""
        return self._either_order(self.found)

    @property
    def counted(self) -> I64:
        """Co-occurrences of each pair that were counted: `seen`, unless a cap applied."""
        return self._either_order(self.taken)

    def _in_order(self, table: I64, order: int) -> I64:
        if not table.shape[0]:
            return np.zeros(len(self), np.int64)
        values = table[np.maximum(self.pair_of, 0), np.where(self.swapped, 1 - order, order)]
        return np.where(self.pair_of >= 0, values, 0)

    def _either_order(self, table: I64) -> I64:
        plus, minus = (self._in_order(table, order) for order in range(2))
        return np.where(self.w1 == self.w2, plus, plus + minus)  # one of a word with itself is of both orders

    @property
    def totals(self) -> I64:
        """n(w1), n(w2), n+, n− and co-occurrences in either order of each pair in the corpus, pairs × 5."""
        return np.stack([self.n_w1, self.n_w2, self.n_plus, self.n_minus, self.seen], axis=1)

    @cached_property
    def _is_unknown(self) -> Bools:
        """Whether each name is unknown to the corpus."""
        return np.asarray(np.diff(self.keys.offsets) == 0)

    @property
    def unknown(self) -> Bools:
        """Whether the corpus does not contain one of a pair's words."""
        return np.asarray(self._is_unknown[self.rows].any(axis=1))

    @property
    def unknown_words(self) -> list[str]:
        """Words of the pairs that the corpus knows neither as a lemma nor as a form."""
        used = np.unique(self.rows)
        return sorted(self.names[int(name)] for name in used[self._is_unknown[used]])

    @property
    def capped_words(self) -> dict[str, int]:
        """Words of the pairs that occur more often than the limit, with how often."""
        names = np.unique(self.rows)
        often = self.occurrences[self.word_of[names]]
        over = self._over_limit(often)
        return {self._shown(name): int(n) for name, n in zip(names[over], often[over], strict=True)}

    @property
    def capped_pairs(self) -> dict[str, int]:
        """Pairs that are seen together more often than the limit, with how often."""
        rows = np.unique(self.pair_of, return_index=True)[1]
        seen = self.seen[rows]
        over = self._over_limit(seen)
        return {
            " ".join(sorted(self._shown(name) for name in self.rows[row])): int(n)
            for row, n in zip(rows[over], seen[over], strict=True)
        }

    def _shown(self, name: int) -> str:
        return str(self.targets[name])

    def _over_limit(self, often: I64) -> I64:
        return np.flatnonzero(often > np.inf if self.settings.limit is None else often > self.settings.limit)

    # Counts -----------------------------------------------------------------------------------------------------

    def feature_names(self, condition: str = "v1v2v12") -> list[str]:
        """Names of the columns of ``tocsr(condition)``."""
        return feature_names(self.basis.terms, condition)

    def tocsr(self, condition: str = "v1v2v12") -> Csr:
        """Pairs × features of a condition (or of v1, v2 or v12) as an ordinary sparse array."""
        parts: dict[str, tuple[Csr, I64, Bools | None]] = {
            "v1": (self.words, self.w1, None),
            "v2": (self.words, self.w2, None),
            "v12": (self.together, self.pair_of, self.swapped),
        }
        return _side_by_side([parts[block] for block in blocks_of(condition)])

    def zero_rows(self, blocks: Sequence[str] = CONDITIONS["v1v2v12"]) -> Bools:
        """Per pair, whether its vector over some blocks is all zero; names of other blocks are ignored."""
        zero = np.ones(len(self), np.bool_)
        lengths = np.diff(self.words.indptr)
        for block, rows in (("v1", self.w1), ("v2", self.w2)):
            if block in blocks:
                zero &= lengths[rows] == 0
        if "v12" in blocks:
            zero &= _lengths(self.together, self.pair_of) == 0
        return zero

    def compact(self) -> PairCounts:
        """The same pairs with only the names, words and unordered pairs that they use."""
        names, rows = np.unique(self.rows, return_inverse=True)
        words, word_of = np.unique(self.word_of[names], return_inverse=True)
        kept = np.unique(self.pair_of[self.pair_of >= 0])
        full = (len(self.names), self.words.shape[0], self.together.shape[0])
        if (len(names), len(words), len(kept)) == full:
            return self
        return replace(
            self, names=self.names.take(names), keys=self.keys.take(names), word_of=word_of.astype(np.int64),
            words=self.words[words], occurrences=self.occurrences[words], together=self.together[kept],
            found=self.found[kept], taken=self.taken[kept], rows=rows.reshape(-1, 2).astype(np.int64),
            pair_of=np.where(self.pair_of >= 0, np.searchsorted(kept, self.pair_of), -1),
        )  # fmt: skip

    # On disk ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the counts as an artefact, a directory."""
        from bagpack.vectors.storage import save_counts

        save_counts(self, Path(path), overwrite)

    @classmethod
    def open(cls, path: str | Path) -> PairCounts:
        """Open an artefact; the counts are memory-mapped."""
        from bagpack.vectors.storage import open_counts

        return open_counts(Path(path))


def _lengths(table: Csr, rows: I64) -> I64:
    """Entries of each row of a table; 0 for row -1."""
    if not table.shape[0]:
        return np.zeros(rows.size, np.int64)
    return np.where(rows >= 0, np.diff(table.indptr).astype(np.int64)[np.maximum(rows, 0)], 0)


@kernel
def _copy_rows(indptr, indices, data, rows, swapped, half, offset, cursor, out_indices, out_data):  # type: ignore[no-untyped-def]
    """Copy rows[i] of a table to cursor[i].., columns shifted by `offset`; the cursors move on.

    Where swapped[i], the halves of the row change places. Nothing relies on sorted columns: a file may say anything.
    """
    for i in range(rows.size):
        if rows[i] < 0:
            continue
        low, high = np.int64(indptr[rows[i]]), np.int64(indptr[rows[i] + 1])
        at = cursor[i]
        turned = swapped.size > 0 and swapped[i]
        for k in range(low, high):
            if not turned or indices[k] >= half:
                out_indices[at] = indices[k] + offset - (half if turned else 0)
                out_data[at] = data[k]
                at += 1
        if turned:
            for k in range(low, high):
                if indices[k] < half:
                    out_indices[at] = indices[k] + offset + half
                    out_data[at] = data[k]
                    at += 1
        cursor[i] = at


def _side_by_side(parts: Sequence[tuple[Csr, I64, Bools | None]]) -> Csr:
    """Rows of tables side by side, sorted; in each part a table, its rows (-1: zeros) and which of them are swapped.

    Takes no more memory than the result.
    """
    ends = np.cumsum(np.sum([_lengths(table, rows) for table, rows, _ in parts], axis=0, dtype=np.int64))
    n = parts[0][1].size
    size = int(ends[-1]) if n else 0
    indptr: NDArray[Any] = np.zeros(n + 1, np.int32 if size < 1 << 31 else np.int64)
    indptr[1:] = ends
    # scipy wants one type for both, and would otherwise make copies of everything.
    data: NDArray[Any] = np.empty(size, np.result_type(*(table.dtype for table, _, _ in parts)))
    indices = np.empty(size, indptr.dtype)
    cursor = indptr[:-1].astype(np.int64)
    width = 0
    for table, rows, swapped in parts:
        turned = np.zeros(0, np.bool_) if swapped is None else swapped
        _copy_rows(
            read_only(table.indptr), read_only(table.indices), read_only(table.data), read_only(rows),
            read_only(turned), table.shape[1] // 2, width, cursor, indices, data,
        )  # fmt: skip
        width += table.shape[1]
    return canonical(sparse.csr_array((data, indices, indptr), shape=(n, width)))
