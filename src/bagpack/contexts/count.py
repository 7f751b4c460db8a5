"""Counting basis terms in the contexts of words (v1, v2) and of pairs (v12); `distribute` divides the work.

A context adds 1 to each basis term in each of its segments: pre and post of a word; pre, betw and post of a pair, with
the first word first (+) or the second (-). A term counts once in a segment, however often it occurs there. A bigram
is two tokens next to each other in the same segment. The first `limit` contexts of each word and of each unordered pair
are counted, in corpus order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.cooccurrences import InShards, PairSearch, PairTask, divide_pairs
from bagpack.contexts.distribute import (
    ALL,
    Csr,
    StorePlace,
    join_rows,
    narrowed,
    no_rows,
    open_store,
    per_task,
    runs_of,
    task_runs,
)
from bagpack.contexts.kernels import contexts as kernels
from bagpack.contexts.kernels.contexts import MOST_TERMS, PACK_BITS, VOIDS
from bagpack.contexts.occurrences import Occurrences, OccurrencesByShard, most_occurrences
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import OPEN_SHARDS, Corpus
from bagpack.corpus.segment import Shard
from bagpack.corpus.strings import Strings
from bagpack.corpus.subcorpus import Subcorpus
from bagpack.errors import UsageError
from bagpack.kernels import read_only
from bagpack.parallel import Arrays, Work, gather, worker_count

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Rows = tuple[I64, NDArray[Any], I32]  # entries of each row, values, columns

CHUNK_WORDS = 1024
OCCURRENCES_PER_TASK = 1 << 23  # a task holds bounds of each word's occurrences in each shard, 33 bytes
POSITIONS_PER_TASK = 1 << 24  # which a task copies for its words in a subcorpus, 4 bytes each
MOST_CELLS = 1 << 28  # of the table of bigrams: first × second words, 2 or 4 bytes each
AT_ONCE = 1 << 18  # co-occurrences whose features, up to 2·(2 + 5 + 2)·2 each, are listed
SUMS_BYTES = 1 << 19  # of the rows that are summed up at once: they should stay in the cache


# A basis as the kernels read it ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BasisTables:
    """What the kernels read while they count in one shard."""

    ids: NDArray[Any]  # of each type: the number of its basis word, 0 for none
    entries: NDArray[np.uint64]  # of each basis word: cell, number as a second word, number as a first word
    bigrams: NDArray[Any]


@lru_cache(maxsize=8)
def word_tables(basis: Basis) -> tuple[Strings, NDArray[np.uint64], NDArray[Any]]:
    """The words of the basis, those of frequent terms first; entries of none and of each; the cells of bigrams."""
    if len(basis) > MOST_TERMS:
        raise UsageError(f"the basis has {len(basis):,} terms; give at most {MOST_TERMS:,}")
    firsts = {word: i for i, word in enumerate(dict.fromkeys(first for first, _ in basis.bigrams), 1)}
    seconds = {word: i for i, word in enumerate(dict.fromkeys(second for _, second in basis.bigrams), 1)}
    unigrams = {word: i for i, word in enumerate(basis.unigrams, VOIDS)}
    if (1 + len(firsts)) * (1 + len(seconds)) > MOST_CELLS:
        raise UsageError(
            f"the bigrams of the basis have {len(firsts):,} first and {len(seconds):,} second words, too many for a "
            f"table; give a smaller -b"
        )
    cell = VOIDS + len(unigrams)
    small = VOIDS + len(basis) <= np.iinfo(np.uint16).max
    bigrams = np.zeros((1 + len(firsts), 1 + len(seconds)), np.uint16 if small else np.uint32)
    for number, (first, second) in enumerate(basis.bigrams, cell):
        bigrams[firsts[first], seconds[second]] = number
    entry_of = {
        word: unigrams.get(word, 0) | seconds.get(word, 0) << PACK_BITS | firsts.get(word, 0) << 2 * PACK_BITS
        for word in [*unigrams, *firsts, *seconds]
    }
    entries = np.array([0, *entry_of.values()], np.uint64)
    return Strings.of(entry_of), read_only(entries), read_only(bigrams)


@lru_cache(maxsize=256)
def basis_tables(shard: Shard, basis: Basis) -> BasisTables:
    """Look the basis up in a shard's lexicon."""
    words, entries, bigrams = word_tables(basis)
    of_key = np.zeros(len(shard.keys), np.uint16 if len(entries) <= 1 << 16 else np.uint32)
    found = shard.keys.find(words)
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = 1 + known
    return BasisTables(read_only(of_key[shard.key_of_type]), entries, bigrams)


# Words ----------------------------------------------------------------------------------------------------------


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[Csr, I64]:
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    if not len(targets):
        return no_rows(0, 2 * len(basis)), np.zeros(0, np.int64)
    most = most_occurrences(corpus, targets)
    longest = min(CHUNK_WORDS, max(1, OCCURRENCES_PER_TASK // len(corpus.shards)))
    if isinstance(corpus, Subcorpus):
        parts = list(task_runs(most, POSITIONS_PER_TASK, longest))
    else:
        work = most if settings.limit is None else np.minimum(most, settings.limit)
        parts = list(task_runs(work, ALL, longest))
    store = StorePlace.of(corpus)
    calls = [(store, targets[part], basis, settings) for part in parts]
    _compile_before_workers(_words_task, (store, targets[:1], basis, replace(settings, limit=1)), calls)
    with gather(_words_task, calls, corpus.path, per_task(parts, "words")) as left:
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
    chosen = capped_occurrences(places, settings.limit)
    lengths, values, columns = sum_contexts(corpus.shards, chosen, basis, settings)
    return (lengths, found), (values, columns)


def sum_contexts(
    shards: Sequence[Shard], places: Sequence[Occurrences], basis: Basis, settings: CountSettings
) -> Rows:
    """A row for each target; a few at a time, so that sums stay in the cache."""
    terms, targets = len(basis), places[0].lows.size
    windows = settings.windows
    most = np.sum([place.counts for place in places], axis=0).max()
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
            clock = kernels.count_words(
                shard.tokens, shard.postings, place.extra, place.is_extra[part], place.lows[part], place.highs[part],
                place.lengths[part], windows.before, windows.after,
                tables.ids, tables.entries, tables.bigrams, sums, clocks, clock,
            )  # fmt: skip
        used = kernels.emit_rows(sums, part.stop - start, columns, values, lengths[part])
        parts.append((narrowed(values[:used]), columns[:used].copy()))
    all_values, all_columns = (_concatenated(arrays) for arrays in zip(*parts, strict=True))
    return lengths, all_values, all_columns


def capped_occurrences(places: Sequence[Occurrences], limit: int | None) -> list[Occurrences]:
    """The first `limit` occurrences of each target in corpus order."""
    if limit is None:
        return list(places)
    counts = np.array([place.counts for place in places], np.int64)
    quotas = np.clip(limit - (np.cumsum(counts, axis=0) - counts), 0, counts)
    return [
        Occurrences(place.lows, place.lows + quota, place.lengths, place.is_extra, place.extra)
        for place, quota in zip(places, quotas, strict=True)
    ]


# Pairs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs: rows, co-occurrences found and counted, each per order."""

    rows: Csr
    found: I64
    taken: I64


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
) -> PairCountsOf:
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus."""
    if not pairs:
        none = np.zeros((0, 2), np.int64)
        return PairCountsOf(no_rows(0, 6 * len(basis)), none, none)
    order, parts, tasks = divide_pairs(corpus, pairs, settings)
    calls = [(task, basis) for task in tasks]
    _, _, (small, *_) = divide_pairs(corpus, pairs[:1], replace(settings, limit=1))
    _compile_before_workers(_pairs_task, (small, basis), calls)
    with gather(_pairs_task, calls, corpus.path, per_task(parts, "pairs")) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        found, taken = (np.empty((len(pairs), 2), np.int64) for _ in range(2))
        for number, table in enumerate((found, taken), 1):
            table[order] = np.concatenate([task.facts[number] for task in left])
        return PairCountsOf(join_rows(left, lengths, order, 6 * len(basis)), found, taken)


def _pairs_task(task: PairTask, basis: Basis) -> tuple[tuple[I64, I64, I64], Arrays]:
    """Entries of each row, co-occurrences found and taken of each pair; the rows."""
    search = PairSearch(task)
    held = search.in_shards()
    shards = search.corpus.shards
    taken = np.zeros((task.size, 2), np.int64)
    one, two = task.lengths
    totals = np.sum([np.zeros(task.size, np.int64), *(own.counts for _, own in held)], axis=0)
    rows = []
    for part in runs_of(totals, AT_ONCE, task.size):
        some = [(number, own.of_pairs(part)) for number, own in held]
        pieces: Iterable[InShards] = [some]
        if totals[part].sum() > AT_ONCE:  # of a single pair: their features come in pieces, and are added up
            pieces = ([(number, piece)] for number, own in some for piece in own.split(AT_ONCE))
        rows.append(
            _sum_rows(
                [
                    sum_features(shards, piece, one[part], two[part], basis, task.settings, taken[part])
                    for piece in pieces
                ],
                6 * len(basis),
            )
        )
    lengths, values, columns = (_concatenated(arrays) for arrays in zip(*rows, strict=True))
    return (lengths, search.found, taken), (values, columns)


def _sum_rows(pieces: Sequence[Rows], width: int) -> Rows:
    """The sum of rows of a single pair; the rows themselves if there are no others to add."""
    if len(pieces) == 1:
        return pieces[0]
    total = np.zeros(width, np.int64)
    for _, values, columns in pieces:
        total[columns] += values
    columns = np.flatnonzero(total).astype(np.int32)
    return np.array([columns.size]), narrowed(total[columns]), columns


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
        # A token adds at most a unigram and a bigram, to one order or to both.
        listed = np.empty(2 * 2 * span * own.starts.size + 1, np.int32)
        clock = kernels.list_columns(
            shard.tokens, own.starts, own.seconds, own.orders, own.counts, lengths1, lengths2,
            windows.left, windows.right, tables.ids, tables.entries, tables.bigrams, terms,
            clocks, clock, listed, own_widths, taken,
        )  # fmt: skip
        pieces.append(listed[: int(own_widths.sum())].copy())
    sizes = np.array([piece.size for piece in pieces[1:]], np.int64)
    most = int(sizes.sum())
    columns, values = np.empty(most, np.int32), np.empty(most, np.int64)
    row_ends = np.empty(pairs, np.int64)
    used = kernels.sum_columns(
        np.concatenate(pieces), np.cumsum(sizes) - sizes, widths, np.zeros(6 * terms, np.int64),
        np.zeros((2, -(-6 * terms // 64)), np.uint64), row_ends, columns, values,
    )  # fmt: skip
    return np.diff(row_ends, prepend=0), narrowed(values[:used]), columns[:used]


_compiled: set[Work] = set()


def _compile_before_workers(work: Work, call: tuple[Any, ...], calls: Sequence[Any]) -> None:
    """Run a small task here, so that the kernels are compiled once, and not by every worker at the same time."""
    if len(calls) > 1 and worker_count() > 1 and work not in _compiled:
        work(*call)
        _compiled.add(work)


def _concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
