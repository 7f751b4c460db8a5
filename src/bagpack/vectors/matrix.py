"""The co-occurrence matrix of a set of pairs, built once for all tasks.

Single-word counts are kept once per distinct word, pair counts once per distinct unordered pair: v1 and v2 of a row
are rows of one word table, and a swapped pair is the same row with its order segments exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.counting import Csr, no_rows
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError
from bagpack.vectors.names import blocks_of, feature_names

if TYPE_CHECKING:
    from bagpack.learn.blocks import PairCounts

I64 = NDArray[np.int64]
Pair = tuple[str, str]
Progress = Callable[[str, int, int], None]  # what is counted, how many more are done, how many there are


@dataclass(frozen=True)
class WordTable:
    """Counts of distinct targets: rows of 2T columns, and how often each target occurs in the corpus."""

    targets: tuple[Target, ...]
    rows: Csr
    found: I64

    @cached_property
    def number(self) -> dict[Target, int]:
        """Row of each target."""
        return {target: i for i, target in enumerate(self.targets)}


@dataclass(frozen=True)
class PairTable:
    """Counts of distinct unordered pairs of targets: rows of 6T columns; found and taken couples per order."""

    pairs: tuple[tuple[Target, Target], ...]  # the smaller target first
    rows: Csr
    found: I64
    taken: I64

    @cached_property
    def number(self) -> dict[tuple[Target, Target], int]:
        """Row of each pair."""
        return {pair: i for i, pair in enumerate(self.pairs)}


@dataclass(frozen=True)
class PairMatrix:
    """Pair vectors over one basis; see `PairVectorizer` and `bagpack vectors`."""

    pairs: tuple[Pair, ...]
    resolved: dict[str, Target | None] = field(repr=False)  # each distinct word's target, None if unknown
    words: WordTable = field(repr=False)
    couples: PairTable = field(repr=False)
    basis: Basis = field(repr=False)
    settings: CountSettings
    source_path: str
    source_hash: str

    # Making -----------------------------------------------------------------------------------------------------

    @classmethod
    def count(
        cls, source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Progress | None = None,
    ) -> PairMatrix:  # fmt: skip
        """Count all pairs in a source."""
        width = len(basis)
        nothing = np.zeros((0, 2), np.int64)
        empty = cls(
            (), {},
            WordTable((), no_rows(0, 2 * width), np.zeros(0, np.int64)),
            PairTable((), no_rows(0, 6 * width), nothing, nothing),
            basis, settings, str(source.path), source.content_hash,
        )  # fmt: skip
        return empty.grow(source, pairs, n_jobs, progress)

    def grow(
        self,
        source: ContextSource,
        pairs: Iterable[Pair],
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> PairMatrix:
        """A matrix with more rows; words and pairs that it has already are not counted again."""
        self.check_source(source)
        added = tuple((str(w1), str(w2)) for w1, w2 in pairs)
        new_words = [
            word for word in dict.fromkeys(w for pair in added for w in pair) if word not in self.resolved
        ]
        resolved = {**self.resolved, **dict(zip(new_words, source.resolve(new_words), strict=True))}
        targets = sorted(
            {target for word in new_words if (target := resolved[word])} - self.words.number.keys()
        )
        rows, found = source.count_words(
            targets, self.basis, self.settings, n_jobs, _tell(progress, "words", targets)
        )
        unseen = {target for target, count in zip(targets, found.tolist(), strict=True) if count == 0}
        if unseen:  # a multi-word target whose words never stand together: the corpus does not know it
            resolved = {word: None if target in unseen else target for word, target in resolved.items()}
            kept = [i for i, target in enumerate(targets) if target not in unseen]
            targets, rows, found = [targets[i] for i in kept], rows[kept], found[kept]
        words = WordTable(
            (*self.words.targets, *targets),
            _stack(self.words.rows, rows),
            np.concatenate([self.words.found, found]),
        )
        couples = sorted({c for pair in added if (c := _couple(resolved, pair))} - self.couples.number.keys())
        counted = source.count_pairs(
            couples, self.basis, self.settings, n_jobs, _tell(progress, "pairs", couples)
        )
        table = PairTable(
            (*self.couples.pairs, *couples),
            _stack(self.couples.rows, counted.rows),
            np.concatenate([self.couples.found, counted.found]),
            np.concatenate([self.couples.taken, counted.taken]),
        )
        return replace(self, pairs=self.pairs + added, resolved=resolved, words=words, couples=table)

    def check_source(self, source: ContextSource) -> None:
        """The counts of another corpus, or of the same one before it changed, must not be mixed in."""
        if source.content_hash != self.source_hash:
            raise StoreError(
                f"the matrix was counted from {self.source_path} (content {self.source_hash[:12]}), but "
                f"{source.path} has content {source.content_hash[:12]}; count the pairs again with bagpack vectors"
            )

    # Rows -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def _word_rows(self) -> tuple[I64, I64]:
        """Row of the word table for each pair's first and second word; -1 if unknown."""
        number = {
            word: -1 if target is None else self.words.number[target]
            for word, target in self.resolved.items()
        }
        first = np.fromiter((number[w1] for w1, _ in self.pairs), np.int64, len(self))
        second = np.fromiter((number[w2] for _, w2 in self.pairs), np.int64, len(self))
        return first, second

    @cached_property
    def _couple_rows(self) -> tuple[I64, NDArray[np.bool_]]:
        """Row of the pair table for each pair (-1: a word is unknown), and whether it stands there swapped."""
        row = np.full(len(self), -1, np.int64)
        swapped = np.zeros(len(self), np.bool_)
        for i, (w1, w2) in enumerate(self.pairs):
            couple = _couple(self.resolved, (w1, w2))
            if couple is not None:
                row[i] = self.couples.number[couple]
                swapped[i] = self.resolved[w1] != couple[0]
        return row, swapped

    def select(self, rows: Sequence[int] | NDArray[Any]) -> PairMatrix:
        """Some of the rows, in the given order; the tables are shared."""
        index = np.arange(len(self))[np.asarray(rows)] if len(self) else np.asarray(rows, np.int64)
        return replace(self, pairs=tuple(self.pairs[i] for i in index.tolist()))

    # Counts -----------------------------------------------------------------------------------------------------

    @property
    def terms(self) -> list[str]:
        """The basis terms by column."""
        return self.basis.terms

    def feature_names(self, condition: str = "v1v2v12") -> list[str]:
        """Names of the columns of `block(condition)`."""
        return feature_names(self.terms, condition)

    def _words_of(self, which: int) -> Csr:
        rows = self._word_rows[which]
        return _pick_rows(self.words.rows, rows)

    def _pairs_of(self) -> Csr:
        row, swapped = self._couple_rows
        straight = _pick_rows(self.couples.rows, row)
        if swapped.any():
            half = 3 * len(self.basis)
            shift = np.where(np.repeat(swapped, np.diff(straight.indptr)), half, 0)
            indices = (straight.indices + shift) % (2 * half)
            straight = sparse.csr_array((straight.data, indices, straight.indptr), shape=straight.shape)
            straight.sort_indices()
        return straight

    def block(self, condition: str = "v1v2v12") -> Csr:
        """Counts as pairs × features: `v1`, `v2`, `v12`, `v1v2` or `v1v2v12`."""
        parts = {"v1": lambda: self._words_of(0), "v2": lambda: self._words_of(1), "v12": self._pairs_of}
        found = [parts[name]() for name in blocks_of(condition)]
        return found[0] if len(found) == 1 else sparse.hstack(found, format="csr", dtype=np.int32)

    def counts(self, pairs: Iterable[Pair] | None = None) -> PairCounts:
        """What the learners take: all rows, or those of the given pairs, which the matrix must hold."""
        from bagpack.learn.blocks import PairCounts

        if pairs is not None:
            return self.rows_of(pairs).counts()
        first, second = self._word_rows
        zero = self.words.rows.shape[0]  # unknown words share one row of zeros, the last
        words = _stack(self.words.rows, no_rows(1, self.words.rows.shape[1]))
        return PairCounts(
            words, np.where(first < 0, zero, first), np.where(second < 0, zero, second), self._pairs_of(),
            lambda: self.terms, self.seen,
        )  # fmt: skip

    def rows_of(self, pairs: Iterable[Pair]) -> PairMatrix:
        """The rows of these pairs, in their order."""
        number = {pair: i for i, pair in enumerate(self.pairs)}
        try:
            return self.select([number[(str(w1), str(w2))] for w1, w2 in pairs])
        except KeyError as error:
            raise StoreError(
                f"the matrix does not hold the pair {' '.join(error.args[0])}; add it with bagpack vectors "
                f"{self.source_path} PAIRS --append --out MATRIX"
            ) from error

    @property
    def seen(self) -> I64:
        """Couples of each pair that were counted, both orders together."""
        plus, minus = self.n_plus, self.n_minus
        first, second = self._word_rows
        return np.where((first == second) & (first >= 0), plus, plus + minus)

    def _couple_column(self, table: I64, order: int) -> I64:
        row, swapped = self._couple_rows
        if not table.shape[0]:
            return np.zeros(len(self), np.int64)
        values = table[np.maximum(row, 0), np.where(swapped, 1 - order, order)]
        return np.where(row >= 0, values, 0)

    @property
    def n_plus(self) -> I64:
        """Couples with w1 first, in the corpus."""
        return self._couple_column(self.couples.found, 0)

    @property
    def n_minus(self) -> I64:
        """Couples with w2 first, in the corpus."""
        return self._couple_column(self.couples.found, 1)

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
    def unknown_words(self) -> list[str]:
        """Words that the corpus knows neither as a lemma nor as a form."""
        used = {word for pair in self.pairs for word in pair}
        return sorted(word for word, target in self.resolved.items() if target is None and word in used)

    @property
    def capped_words(self) -> dict[str, int]:
        """Targets that occur more often than the limit, with how often."""
        return self._over_limit(
            (str(t), int(n)) for t, n in zip(self.words.targets, self.words.found, strict=True)
        )

    @property
    def capped_pairs(self) -> dict[str, int]:
        """Pairs that are seen together more often than the limit, with how often."""
        totals = (
            (f"{one} {two}", int(found[0] if one == two else found.sum()))
            for (one, two), found in zip(self.couples.pairs, self.couples.found, strict=True)
        )
        return self._over_limit(totals)

    def _over_limit(self, totals: Iterable[tuple[str, int]]) -> dict[str, int]:
        limit = self.settings.limit
        return {} if limit is None else {name: total for name, total in totals if total > limit}

    # On disk ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the matrix as an artefact."""
        from bagpack.vectors.storage import save_matrix

        save_matrix(self, Path(path), overwrite)

    @classmethod
    def open(cls, path: str | Path) -> PairMatrix:
        """Open an artefact; the counts are memory-mapped."""
        from bagpack.vectors.storage import open_matrix

        return open_matrix(Path(path))

    def __deepcopy__(self, memo: dict[int, Any]) -> PairMatrix:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    def __repr__(self) -> str:
        return (
            f"PairMatrix({len(self):,} pairs, {len(self.words.targets):,} words, {len(self.basis):,} terms)"
        )


def _couple(resolved: dict[str, Target | None], pair: Pair) -> tuple[Target, Target] | None:
    """The pair of targets, the smaller first; None if a word is unknown."""
    one, two = resolved[pair[0]], resolved[pair[1]]
    if one is None or two is None:
        return None
    return (one, two) if one <= two else (two, one)


def _stack(first: Csr, second: Csr) -> Csr:
    if not second.shape[0]:
        return first
    return second if not first.shape[0] else sparse.vstack([first, second], format="csr")


def _pick_rows(table: Csr, rows: I64) -> Csr:
    """Rows of a table; -1 gives a row of zeros."""
    if not table.shape[0]:
        return no_rows(rows.size, table.shape[1])
    if (rows >= 0).all():
        return table[rows]
    return _stack(table, no_rows(1, table.shape[1]))[np.where(rows < 0, table.shape[0], rows)]


def _tell(progress: Progress | None, what: str, items: Sequence[Any]) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(what, done, len(items))
