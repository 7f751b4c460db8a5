"""Counting basis terms in the contexts of many words and pairs; see `distribute` for how the work is divided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.basis_tables import basis_tables
from bagpack.contexts.cooccurrences import AT_ONCE, InShards, PairSearch, PairTask, divide_pairs
from bagpack.contexts.distribute import (
    ALL,
    Csr,
    OccurrencesByShard,
    Progress,
    StorePlace,
    join_rows,
    most_occurrences,
    narrowed,
    no_rows,
    open_store,
    per_task,
    runs_of,
    task_runs,
)
from bagpack.contexts.kernels import features as feature_kernels
from bagpack.contexts.kernels import words as word_kernels
from bagpack.contexts.kernels.tagged import count_readings
from bagpack.contexts.kernels.terms import VOIDS
from bagpack.contexts.sampling import drawn_numbers
from bagpack.contexts.targets import Occurrences, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import OPEN_SHARDS, Corpus
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.subcorpus import Subcorpus
from bagpack.parallel import Arrays, Work, gather, worker_count

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Rows = tuple[I64, NDArray[Any], I32]  # entries of each row, values, columns

CHUNK_WORDS = 1024
OCCURRENCES_PER_TASK = 1 << 23  # a task holds bounds of each word's occurrences in each shard, 33 bytes
POSITIONS_PER_TASK = 1 << 24  # which a task copies for its words in a subcorpus, 4 bytes each
SUMS_BYTES = 1 << 19  # of the rows that are summed up at once: they should stay in the cache


# Words ----------------------------------------------------------------------------------------------------------


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> tuple[Csr, I64]:  # fmt: skip
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    basis.check_tags(corpus)
    if not len(targets):
        return no_rows(0, 2 * len(basis)), np.zeros(0, np.int64)
    most = most_occurrences(corpus, targets)
    longest = min(CHUNK_WORDS, max(1, OCCURRENCES_PER_TASK // len(corpus.shards)))
    if isinstance(corpus, Subcorpus):
        parts = list(task_runs(most, POSITIONS_PER_TASK, longest, n_jobs))
    else:
        work = most if settings.limit is None else np.minimum(most, settings.limit)
        parts = list(task_runs(work, ALL, longest, n_jobs))
    store = StorePlace.of(corpus)
    calls = [(store, targets[part], basis, settings) for part in parts]
    _compile_before_workers(
        _words_task, (store, targets[:1], basis, replace(settings, limit=1)), calls, n_jobs
    )
    with gather(_words_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        rows = join_rows(left, lengths, None, 2 * len(basis))
        return rows, np.concatenate([task.facts[1] for task in left])


def _words_task(
    store: StorePlace, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[tuple[I64, I64], Arrays]:
    """Entries of each row and occurrences of each target; the rows."""
    corpus = open_store(store)
    places = list(OccurrencesByShard(corpus, targets))
    found: I64 = np.sum([place.counts for place in places], axis=0)
    names = [str(target) for target in targets] if settings.draws else []
    chosen = capped_occurrences(corpus.shards, places, names, settings)
    lengths, values, columns = sum_contexts(corpus.shards, chosen, basis, settings)
    return (lengths, found), (values, columns)


def sum_contexts(
    shards: Sequence[Shard], places: Sequence[Occurrences], basis: Basis, settings: CountSettings
) -> Rows:
    """A row for each target; a few at a time, so that sums stay in the cache."""
    terms, targets = len(basis), places[0].lows.size
    windows = settings.windows
    most = np.sum([place.counts for place in places], axis=0).max() * max(windows.before, windows.after)
    dtype = np.int32 if most <= np.iinfo(np.int32).max else np.int64  # what fits into the cache counts faster
    group = max(1, min(targets, SUMS_BYTES // (2 * np.dtype(dtype).itemsize * terms)))
    if len(shards) > OPEN_SHARDS:
        group = targets  # they do not all stay open: to go through them once weighs more than the cache
    sums = np.zeros((group, 2 * (VOIDS + terms)), dtype)
    columns, values = np.empty(group * 2 * terms + 1, np.int32), np.empty(group * 2 * terms + 1, dtype)
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    parts: list[tuple[NDArray[Any], I32]] = []
    lengths = np.empty(targets, np.int64)
    starts = np.arange(0, targets, group)
    used_shards = np.add.reduceat([place.counts for place in places], starts, axis=1).T > 0
    for start, is_used in zip(starts.tolist(), used_shards, strict=True):
        part = slice(start, min(start + group, targets))
        for number in np.flatnonzero(is_used).tolist():
            place = places[number]
            shard = shards[number]
            tables = basis_tables(shard, basis)
            asked = (
                shard.postings, place.extra, place.is_extra[part], place.lows[part], place.highs[part],
                place.lengths[part], windows.before, windows.after, settings.tick,
                tables.ids, tables.entries, tables.bigrams, sums, clocks, clock,
            )  # fmt: skip
            if basis.tagged:
                space = np.empty(max(windows.before, windows.after) * tables.most_terms + 1, np.int64)
                clock = count_readings(shard.tokens, tables.tags, *asked, space)
            else:
                clock = word_kernels.count_words(shard.tokens, *asked)
        used = word_kernels.emit_rows(sums, part.stop - start, columns, values, lengths[part])
        parts.append((narrowed(values[:used]), columns[:used].copy()))
    all_values, all_columns = (_concatenated(arrays) for arrays in zip(*parts, strict=True))
    return lengths, all_values, all_columns


def capped_occurrences(
    shards: Sequence[Shard], places: Sequence[Occurrences], names: Sequence[str], settings: CountSettings
) -> list[Occurrences]:
    """The occurrences that count: the first of the corpus, or a sample of them."""
    if settings.limit is None:
        return list(places)
    counts = np.array([place.counts for place in places], np.int64)
    if settings.sample is None:
        quotas = np.clip(settings.limit - (np.cumsum(counts, axis=0) - counts), 0, counts)
        return [
            Occurrences(place.lows, place.lows + quota, place.lengths, place.is_extra, place.extra)
            for place, quota in zip(places, quotas, strict=True)
        ]
    over = np.flatnonzero(counts.sum(axis=0) > settings.limit).tolist()
    drawn = {n: drawn_numbers(counts[:, n], names[n], settings.limit, settings.sample) for n in over}
    result = []
    for number, (shard, place) in enumerate(zip(shards, places, strict=True)):
        result.append(place.move({n: place.positions(shard.postings, n)[drawn[n][number]] for n in over}))
    return result


# Pairs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs: rows, co-occurrences found and counted, each per order."""

    rows: Csr
    found: I64
    taken: I64


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> PairCountsOf:  # fmt: skip
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus."""
    basis.check_tags(corpus)
    if not pairs:
        none = np.zeros((0, 2), np.int64)
        return PairCountsOf(no_rows(0, 6 * len(basis)), none, none)
    order, parts, tasks = divide_pairs(corpus, pairs, settings, n_jobs)
    calls = [(task, basis) for task in tasks]
    _, _, (small, *_) = divide_pairs(corpus, pairs[:1], replace(settings, limit=1), 1)
    _compile_before_workers(_pairs_task, (small, basis), calls, n_jobs)
    with gather(_pairs_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        found, taken = (np.empty((len(pairs), 2), np.int64) for _ in range(2))
        for number, table in enumerate((found, taken), 1):
            table[order] = np.concatenate([task.facts[number] for task in left])
        return PairCountsOf(join_rows(left, lengths, order, 6 * len(basis)), found, taken)


def _pairs_task(task: PairTask, basis: Basis) -> tuple[tuple[I64, I64, I64], Arrays]:
    """Entries of each row, co-occurrences found and taken of each pair; the rows."""
    search = PairSearch(task)
    shards = search.corpus.shards
    taken = np.zeros((task.size, 2), np.int64)
    one, two = task.lengths
    rows = RowList(6 * len(basis))
    for batch in search.batches():
        totals = np.sum([np.zeros(task.size, np.int64), *(own.counts for _, own in batch)], axis=0)
        for part in runs_of(totals, AT_ONCE, task.size):
            some = [(number, own.of_pairs(part)) for number, own in batch]
            for piece in _pieces(some):
                own = sum_features(shards, piece, one[part], two[part], basis, task.settings, taken[part])
                rows.add(part.start, own)
    lengths, values, columns = rows.joined()
    return (lengths, search.found, taken), (values, columns)


def _pieces(found: InShards) -> Iterator[InShards]:
    """All at once, if they are not too many; if they are, they are one pair's and come in parts."""
    if sum(own.starts.size for _, own in found) <= AT_ONCE:
        yield found
        return
    for number, own in found:
        for start in range(0, own.starts.size, AT_ONCE):
            yield [(number, own.of_one_pair(slice(start, start + AT_ONCE)))]


class RowList:
    """Rows of consecutive pairs; those of a pair whose co-occurrences come in parts are added up."""

    def __init__(self, width: int) -> None:
        self.rows: list[Rows] = []
        self.width = width
        self._pair = -1
        self._sum: I64 | None = None  # of the last pair, if it came in parts

    def add(self, pair: int, rows: Rows) -> None:
        """Rows from this pair on; more of the last pair's if it is the same."""
        if pair != self._pair:
            self._finish()
            self._pair = pair
            self.rows.append(rows)
            return
        if self._sum is None:
            self._sum = np.zeros(self.width, np.int64)
            self._sum[self.rows[-1][2]] = self.rows[-1][1]
        self._sum[rows[2]] += rows[1]

    def _finish(self) -> None:
        if self._sum is not None:
            columns = np.flatnonzero(self._sum).astype(np.int32)
            self.rows[-1] = np.array([columns.size]), narrowed(self._sum[columns]), columns
            self._sum = None

    def joined(self) -> Rows:
        """All of them."""
        self._finish()
        lengths, values, columns = (_concatenated(arrays) for arrays in zip(*self.rows, strict=True))
        return lengths, values, columns


def sum_features(
    shards: Sequence[Shard], found: InShards, lengths1: I64, lengths2: I64, basis: Basis, settings: CountSettings,
    taken: I64,
) -> Rows:  # fmt: skip
    """A row for each pair: the number of its co-occurrences that add to each feature."""
    terms, windows = len(basis), settings.windows
    span = windows.left + windows.between + windows.right
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    pairs = lengths1.size
    widths = np.zeros((len(found), pairs), np.int64)
    pieces: list[I32] = [np.empty(0, np.int32)]
    for own_widths, (number, own) in zip(widths, found, strict=True):
        shard = shards[number]
        tables = basis_tables(shard, basis)
        listed = np.empty(2 * tables.most_terms * span * own.starts.size + 1, np.int32)
        clock = feature_kernels.list_columns(
            shard.tokens, tables.tags, own.starts, own.seconds, own.orders, own.counts, lengths1, lengths2,
            windows.left, windows.right, settings.tick, tables.ids, tables.entries, tables.bigrams, terms,
            clocks, clock, listed, own_widths, taken,
        )  # fmt: skip
        pieces.append(listed[: int(own_widths.sum())].copy())
    sizes = np.array([piece.size for piece in pieces[1:]], np.int64)
    most = int(sizes.sum())
    columns, values = np.empty(most, np.int32), np.empty(most, np.int64)
    row_ends = np.empty(pairs, np.int64)
    used = feature_kernels.sum_columns(
        np.concatenate(pieces), np.cumsum(sizes) - sizes, widths, np.zeros(6 * terms, np.int64),
        np.zeros((2, -(-6 * terms // 64)), np.uint64), row_ends, columns, values,
    )  # fmt: skip
    return np.diff(row_ends, prepend=0), narrowed(values[:used]), columns[:used]


_compiled: set[Work] = set()


def _compile_before_workers(
    work: Work, call: tuple[Any, ...], calls: Sequence[Any], n_jobs: int | None
) -> None:
    """Run a small task here, so that the kernels are compiled once, and not by every worker at the same time."""
    if len(calls) > 1 and worker_count(n_jobs) > 1 and work not in _compiled:
        work(*call)
        _compiled.add(work)


def _concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
