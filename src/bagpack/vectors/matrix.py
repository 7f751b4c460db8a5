"""The co-occurrence matrix of a set of pairs, built once for all tasks.

Single-word counts are kept once per distinct word, pair counts once per distinct unordered pair: v1 and v2 of a row
are rows of one word table, and a swapped pair is the same row with its order segments exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis
from bagpack.contexts.count import Csr, no_rows
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.strings import Strings
from bagpack.errors import StoreError
from bagpack.names import blocks_of, feature_names
from bagpack.parallel import Progress, counter
from bagpack.vectors.assemble import Part, assemble
from bagpack.vectors.tables import KEY_SEPARATOR, PairTable, WordTable, pair_codes

if TYPE_CHECKING:
    from bagpack.learn.counts import PairCounts

I64 = NDArray[np.int64]
Pair = tuple[str, str]


@dataclass(frozen=True)
class PairMatrix:
    """Pair vectors over one basis; see `PairVectorizer` and `bagpack vectors`.

    What Python objects there are for words and pairs is made when it is asked for, so that opening is instant.
    """

    names: Strings = field(repr=False)  # distinct words as they were given
    name_targets: I64 = field(repr=False)  # each name's row of the word table, -1 if it is unknown
    rows: I64 = field(repr=False)  # the pairs, two names each
    words: WordTable = field(repr=False)
    couples: PairTable = field(repr=False)
    basis: Basis = field(repr=False)
    settings: CountSettings
    source_path: str
    source_hash: str
    place: Path | None = None  # where it was opened

    # Making -----------------------------------------------------------------------------------------------------

    @classmethod
    def count(
        cls, source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Progress | None = None,
    ) -> PairMatrix:  # fmt: skip
        """Count all pairs in a source."""
        none, nothing = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
        empty = cls(
            Strings.of([]), none, nothing,
            WordTable(Strings.of([]), no_rows(0, 2 * len(basis)), none),
            PairTable(nothing, no_rows(0, 6 * len(basis)), nothing, nothing),
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
        added = [str(word) for pair in pairs for word in pair]
        names = {name: i for i, name in enumerate(self._names)}
        new_names = [name for name in dict.fromkeys(added) if name not in names]
        names |= {name: i for i, name in enumerate(new_names, len(names))}
        resolved = source.resolve(new_names)

        targets = sorted({target for target in resolved if target} - self.words.number.keys())
        rows, found = source.count_words(
            targets, self.basis, self.settings, n_jobs, counter(progress, "words", len(targets))
        )
        all_targets = [*self.words.targets, *targets]
        number: dict[Target | None, int] = {target: i for i, target in enumerate(all_targets)}
        words = WordTable(
            Strings.of(KEY_SEPARATOR.join(target.keys) for target in all_targets),
            _stack(self.words.rows, rows),
            np.concatenate([self.words.found, found]),
        )
        new_targets = np.fromiter((number.get(target, -1) for target in resolved), np.int64, len(resolved))
        name_targets = np.concatenate([self.name_targets, new_targets])
        new_rows = np.fromiter((names[word] for word in added), np.int64, len(added)).reshape(-1, 2)

        couples = self._new_couples(all_targets, name_targets[new_rows])
        asked = [(all_targets[one], all_targets[two]) for one, two in couples.tolist()]
        counted = source.count_pairs(
            asked, self.basis, self.settings, n_jobs, counter(progress, "pairs", len(asked))
        )
        table = PairTable(
            np.concatenate([self.couples.members, couples]),
            _stack(self.couples.rows, counted.rows),
            np.concatenate([self.couples.found, counted.found]),
            np.concatenate([self.couples.taken, counted.taken]),
        )
        return replace(
            self, names=Strings.of(names), name_targets=name_targets,
            rows=np.concatenate([self.rows, new_rows]), words=words, couples=table,
        )  # fmt: skip

    def _new_couples(self, targets: Sequence[Target], asked: I64) -> I64:
        """Pairs of known targets that the table does not have, each once, the smaller target first, sorted."""
        known = asked[(asked >= 0).all(axis=1)]
        codes = np.unique(pair_codes(known[:, 0], known[:, 1]))
        codes = codes[~np.isin(codes, self.couples.by_code[0])]
        rank = np.empty(len(targets), np.int64)
        rank[sorted(range(len(targets)), key=targets.__getitem__)] = np.arange(len(targets))
        one, two = codes >> 32, codes & 0xFFFFFFFF
        swapped = rank[one] > rank[two]
        smaller, larger = np.where(swapped, two, one), np.where(swapped, one, two)
        return np.stack([smaller, larger], axis=1)[np.lexsort((rank[larger], rank[smaller]))]

    def check_source(self, source: ContextSource) -> None:
        """The counts of another corpus, or of the same one before it changed, must not be mixed in."""
        if source.content_hash != self.source_hash:
            raise StoreError(
                f"the matrix was counted from {self.source_path} (content {self.source_hash[:12]}), but "
                f"{source.path} has content {source.content_hash[:12]}; count the pairs again with bagpack vectors"
            )

    # Rows -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @cached_property
    def _names(self) -> list[str]:
        return [name.decode() for name in self.names]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs as they were given, row by row."""
        names = self._names
        return tuple((names[one], names[two]) for one, two in self.rows.tolist())

    @cached_property
    def resolved(self) -> dict[str, Target | None]:
        """The target of each word; None if it is unknown."""
        targets = (*self.words.targets, None)
        return dict(zip(self._names, (targets[i] for i in self.name_targets.tolist()), strict=True))

    @cached_property
    def _row_numbers(self) -> dict[Pair, int]:
        return {pair: i for i, pair in enumerate(self.pairs)}

    @cached_property
    def word_rows(self) -> tuple[I64, I64]:
        """Row of the word table for each pair's first and second word; -1 if unknown."""
        return self.name_targets[self.rows[:, 0]], self.name_targets[self.rows[:, 1]]

    @cached_property
    def couple_rows(self) -> tuple[I64, NDArray[np.bool_]]:
        """Row of the pair table for each pair (-1: a word is unknown), and whether it stands there swapped."""
        first, second = self.word_rows
        codes, order = self.couples.by_code
        known = (first >= 0) & (second >= 0)
        if not known.any():
            return np.full(len(self), -1, np.int64), known
        row = order[np.searchsorted(codes, pair_codes(first[known], second[known]))]
        rows = np.full(len(self), -1, np.int64)
        rows[known] = row
        swapped = np.zeros(len(self), np.bool_)
        swapped[known] = self.couples.members[row, 0] != first[known]
        return rows, swapped

    def select(self, rows: Sequence[int] | NDArray[Any]) -> PairMatrix:
        """Some of the rows, in the given order; the tables are shared."""
        index = np.asarray(rows)
        return replace(self, rows=self.rows[index if index.size else np.zeros(0, np.int64)])

    # Counts -----------------------------------------------------------------------------------------------------

    @property
    def terms(self) -> list[str]:
        """The basis terms by column."""
        return self.basis.terms

    def feature_names(self, condition: str = "v1v2v12") -> list[str]:
        """Names of the columns of `block(condition)`."""
        return feature_names(self.terms, condition)

    def block(self, condition: str = "v1v2v12") -> Csr:
        """Counts as pairs × features: `v1`, `v2`, `v12`, `v1v2` or `v1v2v12`."""
        first, second = self.word_rows
        parts = {
            "v1": lambda: Part(self.words.rows, first),
            "v2": lambda: Part(self.words.rows, second),
            "v12": lambda: Part(self.couples.rows, *self.couple_rows),
        }
        return assemble([parts[name]() for name in blocks_of(condition)])

    def counts(self, pairs: Iterable[Pair] | None = None) -> PairCounts:
        """What the learners take: all rows, or those of the given pairs, which the matrix must hold."""
        from bagpack.learn.counts import PairCounts

        if pairs is not None:
            return self.rows_of(pairs).counts()
        # Each unknown word has a row of zeros of its own: they are different words to a words-only model.
        unknown = {word: self.words.rows.shape[0] + i for i, word in enumerate(self.unknown_words)}
        words = _stack(self.words.rows, no_rows(len(unknown), self.words.rows.shape[1]))
        first, second = (
            np.array(
                [
                    row if row >= 0 else unknown[pair[side]]
                    for row, pair in zip(rows.tolist(), self.pairs, strict=True)
                ]
            )
            for side, rows in enumerate(self.word_rows)
        )
        return PairCounts(
            words, first, second, self.block("v12"), lambda: self.terms, self.seen, self._term_frequencies,
            np.stack([self.n_w1, self.n_w2, self.n_plus, self.n_minus], axis=1), sum(self.basis.unigram_counts),
            2 * (self.settings.windows.between + 1),
        )  # fmt: skip

    def _term_frequencies(self) -> NDArray[np.float64] | None:
        """How frequent the basis terms are in the corpus; None for a basis without counts."""
        counts = (*self.basis.unigram_counts, *self.basis.bigram_counts)
        return np.array(counts, np.float64) if len(counts) == len(self.basis) and any(counts) else None

    def holds(self, pair: Pair) -> bool:
        """Whether the pair has a row."""
        return pair in self._row_numbers

    def rows_of(self, pairs: Iterable[Pair]) -> PairMatrix:
        """The rows of these pairs, in their order."""
        number = self._row_numbers
        try:
            return self.select([number[(str(w1), str(w2))] for w1, w2 in pairs])
        except KeyError as error:
            raise StoreError(
                f"the matrix does not hold the pair {' '.join(error.args[0])}; add it with bagpack vectors "
                f"{self.source_path} PAIRS --append --out MATRIX"
            ) from error

    @property
    def seen(self) -> I64:
        """How often each pair is seen together in the corpus, in either order, whether or not a cap bit."""
        return self._both_orders(self.n_plus, self.n_minus)

    @property
    def counted(self) -> I64:
        """How many of the pair's observations were counted: `seen`, unless a cap bit."""
        taken = self.couples.taken
        return self._both_orders(self._couple_column(taken, 0), self._couple_column(taken, 1))

    def _both_orders(self, plus: I64, minus: I64) -> I64:
        """Observations: one of a word with itself is of both orders."""
        first, second = self.word_rows
        return np.where((first == second) & (first >= 0), plus, plus + minus)

    def _couple_column(self, table: I64, order: int) -> I64:
        row, swapped = self.couple_rows
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
        rows = self.word_rows[which]
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
        """Words of the pairs that the corpus knows neither as a lemma nor as a form."""
        used = np.unique(self.rows)
        return sorted(self.names[i] for i in used[self.name_targets[used] < 0].tolist())

    @property
    def capped_words(self) -> dict[str, int]:
        """Targets of the pairs that occur more often than the limit, with how often."""
        over = self._over_limit(np.concatenate(self.word_rows), self.words.found)
        return {str(self.words.targets[i]): int(self.words.found[i]) for i in over}

    @property
    def capped_pairs(self) -> dict[str, int]:
        """Pairs that are seen together more often than the limit, with how often."""
        one, two = self.couples.members.T
        found = self.couples.found
        totals = np.where(one == two, found[:, 0], found.sum(axis=1))
        over = self._over_limit(self.couple_rows[0], totals)
        targets = self.words.targets
        return {f"{targets[one[i]]} {targets[two[i]]}": int(totals[i]) for i in over}

    def _over_limit(self, rows: I64, totals: I64) -> list[int]:
        """Which of the rows have a total over the limit, each once."""
        if self.settings.limit is None:
            return []
        used = np.unique(rows[rows >= 0])
        return [int(row) for row in used[totals[used] > self.settings.limit]]

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
        return f"PairMatrix({len(self):,} pairs, {len(self.words.keys):,} words, {len(self.basis):,} terms)"


def _stack(first: Csr, second: Csr) -> Csr:
    if not second.shape[0]:
        return first
    return second if not first.shape[0] else sparse.vstack([first, second], format="csr")
