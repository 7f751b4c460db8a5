"""`PairCounts`: counts of word pairs, the one data type from counting to prediction; and counting them.

Counts of a single word are stored once however many pairs have it, those of two words together once per unordered
pair: v1 and v2 of a pair are rows of one table, and a swapped pair is the same row with its order segments exchanged.
What was counted recently is not counted again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bagpack.arrays import I64, Bools, Csr, Values
from bagpack.basis import Basis
from bagpack.contexts.count import make_rows
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.strings import Strings
from bagpack.errors import InputError, StoreError
from bagpack.names import CONDITIONS, blocks_of, feature_names
from bagpack.numbers import many

Pair = tuple[str, str]

KEY_SEPARATOR = "\x1f"  # between the keys of a multi-word target
KEPT = 4  # combinations of corpus, basis and settings
BANDS = {"0": (0, 0), "1–9": (1, 9), "10–99": (10, 99), "100+": (100, np.inf)}
MOST_ENTRIES = 50_000_000  # non-zero counts of each; 400 MB


def _column_of_totals(number: int) -> Any:
    return property(lambda counts: counts.totals[:, number])


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of n ordered pairs of words over a basis of T terms.

    Made by `count_pairs`, `PairVectorizer.count` and `PairCounts.open`. Selections share their tables.

    Forms of a lemma share a row of ``words``; each unknown word has a row of zeros of its own.
    """

    names: Strings  # distinct words as they were given
    keys: Strings  # the corpus's key of each; empty if it does not contain the word
    word_of: I64  # the row of each in `words`
    words: Csr  # distinct words × 2T counts (pre, post)
    occurrences: I64  # of each word in the corpus
    together: Csr  # distinct unordered pairs × 6T counts (+pre, +betw, +post, -pre, -betw, -post)
    found: I64  # co-occurrences of each in the corpus, pairs × 2: the first word first, the second word first
    taken: I64  # those that were counted
    rows: I64  # the two names of each of the n pairs
    pair_of: I64  # its row of `together`; -1: a word is unknown
    swapped: Bools  # whether it is the reverse of the pair that is stored there
    basis: Basis
    settings: CountSettings
    source_path: str = ""
    source_hash: str = ""
    place: Path | None = None  # where the counts were opened

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __repr__(self) -> str:
        return f"PairCounts({many(len(self), 'pair')} over {many(len(self.basis), 'term')})"

    def __deepcopy__(self, memo: dict[int, Any]) -> PairCounts:
        return self  # immutable, and too large to copy whenever scikit-learn clones an estimator

    @cached_property
    def name_list(self) -> list[str]:
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
        return self.word_of[self.rows[:, 1]]

    def take(self, rows: Any) -> PairCounts:
        """Some of the pairs (numbers, a mask or a slice), in the given order; the tables are shared."""
        own = rows[0] if isinstance(rows, tuple) else rows  # a tuple is what scikit-learn asks for
        return replace(self, rows=self.rows[own], pair_of=self.pair_of[own], swapped=self.swapped[own])

    __getitem__ = take

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), 10 * len(self.basis)  # with `[]`, all that cross-validation needs

    def rows_of(self, pairs: Iterable[Pair]) -> PairCounts:
        """The rows of these pairs, in their order."""
        number = {pair: i for i, pair in enumerate(self.pairs)}
        try:
            return self[[number[str(w1), str(w2)] for w1, w2 in pairs]]
        except KeyError as error:
            raise StoreError(
                f"the matrix does not hold the pair {' '.join(error.args[0])}; count all pairs with bagpack vectors "
                f"{self.source_path} PAIRS --out MATRIX"
            ) from error

    def reversed(self) -> PairCounts:
        """Each pair the other way round; the tables are shared."""
        return replace(self, rows=self.rows[:, ::-1].copy(), swapped=~self.swapped)

    @property
    def totals(self) -> I64:
        """Of each pair in the corpus: n(w1), n(w2), co-occurrences with w1 first, with w2 first, in either order."""
        words = self.occurrences[self.word_of[self.rows]]
        return np.hstack([words, self._by_order(self.found)])

    n_w1, n_w2, n_plus, n_minus, seen = map(_column_of_totals, range(5))  # whether or not a cap applied

    @property
    def counted(self) -> I64:
        """Co-occurrences of each pair that were counted: `seen`, unless a cap applied."""
        return self._by_order(self.taken)[:, 2]

    def _by_order(self, table: I64) -> I64:
        """Co-occurrences of each pair: with w1 first, with w2 first, in either order."""
        own = np.vstack([table, np.zeros((1, 2), np.int64)])[self.pair_of]  # row -1: a word is unknown
        own[self.swapped] = own[self.swapped, ::-1]
        # A co-occurrence of a word with itself is of both orders.
        return np.column_stack([own, np.where(self.w1 == self.w2, own[:, 0], own.sum(axis=1))])

    @property
    def bands(self) -> dict[str, Bools]:
        """The pairs of each band of `seen`."""
        seen = self.seen
        return {name: (seen >= low) & (seen <= high) for name, (low, high) in BANDS.items()}

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
        names, most = np.unique(self.rows).tolist(), self.settings.limit or np.inf
        often = ((str(self.targets[name]), int(self.occurrences[self.word_of[name]])) for name in names)
        return {name: n for name, n in often if n > most}

    @property
    def capped_pairs(self) -> dict[str, int]:
        """Pairs that are seen together more often than the limit, with how often."""
        seen, most = self.seen, self.settings.limit or np.inf
        rows = np.unique(self.pair_of, return_index=True)[1]
        return {
            " ".join(sorted(str(self.targets[name]) for name in self.rows[row])): int(seen[row])
            for row in rows[seen[rows] > most].tolist()
        }

    def feature_names(self, condition: str = "v1v2v12") -> list[str]:
        """Names of the columns of ``tocsr(condition)``."""
        return feature_names(self.basis.terms, condition)

    def tocsr(self, condition: str = "v1v2v12") -> Csr:
        """Pairs × features of a condition (or of v1, v2 or v12) as an ordinary sparse array."""
        rows = {"v1": self.w1, "v2": self.w2}
        parts = [self.words[rows[block]] if block in rows else self._v12() for block in blocks_of(condition)]
        return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.hstack(parts, format="csr"))

    def _v12(self) -> Csr:
        """Counts of the two words together; a swapped pair's have their halves exchanged."""
        rows = _with_zeros(self.together, 1)[self.pair_of]
        if not self.swapped.any():
            return rows
        width = rows.shape[1]
        turned = np.repeat(self.swapped, np.diff(rows.indptr))
        columns = np.where(turned, (rows.indices + width // 2) % max(width, 1), rows.indices)
        out = sparse.csr_array((rows.data, columns.astype(rows.indices.dtype), rows.indptr), shape=rows.shape)
        out.sort_indices()
        return out

    def zero_rows(self, blocks: Sequence[str] = CONDITIONS["v1v2v12"]) -> Bools:
        """Per pair, whether its vector over some blocks is all zero; names of other blocks are ignored."""
        words, pairs = np.diff(self.words.indptr), np.append(np.diff(self.together.indptr), 0)
        lengths = {"v1": words[self.w1], "v2": words[self.w2], "v12": pairs[self.pair_of]}
        return np.asarray(
            sum((lengths[block] for block in blocks if block in lengths), 0 * self.pair_of) == 0
        )

    def compact(self) -> PairCounts:
        """The same pairs with only the names, words and unordered pairs that they use."""
        names, rows = np.unique(self.rows, return_inverse=True)
        words, word_of = np.unique(self.word_of[names], return_inverse=True)
        kept = np.unique(self.pair_of[self.pair_of >= 0])
        return replace(
            self, names=self.names.take(names), keys=self.keys.take(names), word_of=word_of.astype(np.int64),
            words=self.words[words], occurrences=self.occurrences[words], together=self.together[kept],
            found=self.found[kept], taken=self.taken[kept], rows=rows.reshape(-1, 2).astype(np.int64),
            pair_of=np.where(self.pair_of >= 0, np.searchsorted(kept, self.pair_of), -1),
        )  # fmt: skip

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        from bagpack.vectors.storage import save_counts

        save_counts(self, Path(path), overwrite)

    @classmethod
    def open(cls, path: str | Path) -> PairCounts:
        """Open an artefact; the counts are memory-mapped."""
        from bagpack.vectors.storage import open_counts

        return open_counts(Path(path))


# Counting ---------------------------------------------------------------------------------------------------------


class CountCache:
    """Words and pairs of one corpus, over one basis and with one setting, that were counted before.

    ``_rows`` has, by a word's key or a pair's two keys, columns, counts and some integers; adding never copies others.
    """

    def __init__(self, basis: Basis, settings: CountSettings) -> None:
        self._how = basis, settings
        self._rows: dict[Any, tuple[Values, Values, I64]] = {}
        self._lock = threading.Lock()
        self._entries = 0

    def words(self, source: ContextSource, targets: Sequence[Target]) -> tuple[Csr, I64]:
        """Counts of these targets, all different, and how often each occurs."""
        asked = {target.keys: target for target in targets}
        return self._counted(asked, 2, source.count_words)

    def pairs(self, source: ContextSource, pairs: Sequence[tuple[Target, Target]]) -> tuple[Csr, I64]:
        """Counts of these pairs of targets, all different, and their co-occurrences found and counted, per order."""
        asked = {(one.keys, two.keys): (one, two) for one, two in pairs}
        return self._counted(asked, 6, source.count_pairs)

    def _counted(
        self, asked: Mapping[Any, Any], segments: int, count: Callable[[Any, Basis, CountSettings], tuple[Csr, I64]]
    ) -> tuple[Csr, I64]:  # fmt: skip
        """Rows and integers of what is asked for, by key; what is new is counted first."""
        if self._entries > MOST_ENTRIES:
            self._rows, self._entries = {}, 0  # another thread may be reading the old ones
        kept = self._rows
        if new := [key for key in asked if key not in kept]:
            rows, own = count([asked[key] for key in new], *self._how)
            parts = (*(np.split(part, rows.indptr[1:-1]) for part in (rows.indices, rows.data)), own)
            with self._lock:
                kept.update(zip(new, zip(*parts, strict=True), strict=True))
                self._entries += rows.nnz + len(new)
        if len(new) == len(asked):
            return (rows, own) if new else count([], *self._how)
        columns, values, integers = zip(*(kept[key] for key in asked), strict=True)
        ends, width = np.cumsum(list(map(len, values))), segments * len(self._how[0])
        return make_rows(np.concatenate(values), np.concatenate(columns), ends, width), np.array(integers)


@lru_cache(maxsize=KEPT)
def _cache_at(path: str, content_hash: str, basis: Basis, settings: CountSettings) -> CountCache:
    return CountCache(basis, settings)


forget = _cache_at.cache_clear  # drops all remembered counts


def cache_of(source: ContextSource, basis: Basis, settings: CountSettings) -> CountCache:
    """What was counted recently in the same corpus, over the same basis: an empty cache if nothing was."""
    return _cache_at(str(source.path), source.content_hash, basis, settings)


def count_cached(
    source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings
) -> PairCounts:
    """Count pairs; cross-validation and clones of an estimator do not count again what was counted recently."""
    return count_pairs(source, pairs, basis, settings, cache_of(source, basis, settings))


def count_pairs(
    source: ContextSource, pairs: Iterable[Pair], basis: Basis, settings: CountSettings,
    cache: CountCache | None = None, target_of: Mapping[str, Target] | None = None,
) -> PairCounts:  # fmt: skip
    """Count v1, v2 and v12 of pairs of words; words and pairs that ``cache`` has are not counted again.

    ``target_of`` has the targets of the words, where they were looked up before.
    """
    cache = cache or CountCache(basis, settings)
    given = [str(word) for pair in pairs for word in pair]
    number = {name: i for i, name in enumerate(dict.fromkeys(given))}
    names = list(number)
    rows = np.fromiter(map(number.__getitem__, given), np.int64, len(given)).reshape(-1, 2)
    resolved = source.resolve(names) if target_of is None else [target_of[name] for name in names]
    keys = ["" if target is None else KEY_SEPARATOR.join(target.keys) for target in resolved]
    target_of_key = {key: target for key, target in zip(keys, resolved, strict=True) if target is not None}
    rank = {key: k for k, key in enumerate(sorted(target_of_key))}
    targets = [target_of_key[key] for key in rank]
    words, occurrences = cache.words(source, targets)
    word_of = np.array([rank.get(key, -1) for key in keys], np.int64)
    unknown = np.flatnonzero(word_of < 0)
    word_of[unknown] = len(targets) + np.arange(unknown.size)

    first, second = word_of[rows[:, 0]], word_of[rows[:, 1]]
    known = np.maximum(first, second) < len(targets)
    smaller, larger = np.minimum(first, second)[known], np.maximum(first, second)[known]
    codes, which = np.unique((smaller << 32) | larger, return_inverse=True)
    both = zip((codes >> 32).tolist(), (codes & 0xFFFFFFFF).tolist(), strict=True)
    together, orders = cache.pairs(source, [(targets[one], targets[two]) for one, two in both])
    pair_of = np.full(len(rows), -1, np.int64)
    pair_of[known] = which
    return PairCounts(
        Strings.of(names), Strings.of(keys), word_of, _with_zeros(words, unknown.size),
        np.concatenate([occurrences, np.zeros(unknown.size, np.int64)]), together, orders[:, :2], orders[:, 2:],
        rows, pair_of, known & (first > second), basis, settings, source.name, source.content_hash,
    )  # fmt: skip


def _with_zeros(rows: Csr, more: int) -> Csr:
    """The rows and some of zeros; nothing else is copied."""
    ends = np.append(rows.indptr[1:], np.full(more, rows.indptr[-1]))
    return make_rows(rows.data, rows.indices, ends, rows.shape[1]) if more else rows


def coverage(
    source: ContextSource, pairs: Sequence[Pair], labels: Sequence[str] | None = None
) -> dict[str, Any]:
    """What a source has of a data set: unknown words, pairs never seen together, caps that will apply."""
    # How often words and pairs occur does not depend on the cap, so one observation each is enough work.
    counts = count_pairs(source, pairs, Basis((".",), ()), CountSettings(limit=1))
    counts = replace(counts, settings=CountSettings())
    seen, unknown, distinct = counts.seen, counts.unknown, set(pairs)
    facts: dict[str, Any] = {
        "rows": len(pairs),
        "distinct_pairs": len(distinct),
        "duplicate_rows": len(pairs) - len(distinct),
        "words": len(counts.names),
        "unknown_words": counts.unknown_words,
        "rows_with_unknown_words": int(unknown.sum()),
        "rows_never_together": int((seen == 0).sum()),
        "rows_together": int((seen > 0).sum()),
        "rows_by_frequency": {name: int(band.sum()) for name, band in counts.bands.items()},
        "limit": counts.settings.limit,
        "capped_words": counts.capped_words,
        "capped_pairs": counts.capped_pairs,
    }
    if labels is not None:
        together = Counter(label for label, n in zip(labels, seen, strict=True) if n)
        facts["labels"] = {
            label: {"rows": n, "together": together[label]} for label, n in sorted(Counter(labels).items())
        }
    facts["together"] = [None if lost else int(n) for n, lost in zip(seen, unknown, strict=True)]
    never = dict.fromkeys(pair for pair, n in zip(pairs, seen, strict=True) if n == 0)
    facts["never_together"] = [f"{w1} {w2}" for w1, w2 in never]
    return facts


def as_pairs(X: Iterable[Any]) -> list[Pair]:
    """Pairs of strings from a list of pairs, an array of shape (n, 2), or a data frame of two columns."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, str) or not hasattr(X, "__iter__") or hasattr(X, "tocsr"):
        raise InputError(
            f"pairs are needed, such as [('cat', 'lion')]; sparse or other data is not supported: {X!r}"
        )
    rows = X.tolist() if isinstance(X, np.ndarray) else list(X)
    if len(rows) == 2 and all(isinstance(word, str) for word in rows):
        raise InputError(f"a list of pairs is needed, and one pair was given: write [{tuple(rows)!r}]")
    for number, row in enumerate(rows):
        is_pair = not isinstance(row, str) and hasattr(row, "__len__") and len(row) == 2
        if not is_pair or not all(isinstance(word, str) and word.strip() for word in row):
            raise InputError(
                f"item {number} is not a pair of words: {row!r}; give (w1, w2), both non-empty strings"
            )
    return [(str(w1), str(w2)) for w1, w2 in rows]
