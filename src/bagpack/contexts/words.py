"""Rows of single words; see `counting`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts import word_kernels
from bagpack.contexts.dividing import (
    ALL,
    Csr,
    PlacesOfShards,
    Progress,
    StorePlace,
    join_rows,
    most_occurrences,
    no_rows,
    open_store,
    per_task,
    task_runs,
)
from bagpack.contexts.sampling import drawn_numbers
from bagpack.contexts.tables import VOIDS, basis_tables
from bagpack.contexts.targets import Occurrences, Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import OPEN_SHARDS, Corpus
from bagpack.corpus.store.shard import Shard
from bagpack.parallel import Arrays, gather

I64 = NDArray[np.int64]

CHUNK_WORDS = 512
PLACES_PER_TASK = 1 << 23  # a task holds where each of its words stands in each shard, 33 bytes
SUMS_BYTES = 1 << 19  # of the rows that are summed up at once: they should stay in the cache


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> tuple[Csr, I64]:  # fmt: skip
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    if not len(targets):
        return no_rows(0, 2 * len(basis)), np.zeros(0, np.int64)
    most = most_occurrences(corpus, targets)
    work = most if settings.limit is None else np.minimum(most, settings.limit)
    longest = min(CHUNK_WORDS, max(1, PLACES_PER_TASK // len(corpus.shards)))
    parts = list(task_runs(work, ALL, longest, n_jobs))
    store = StorePlace.of(corpus)
    calls = [(store, targets[part], basis, settings) for part in parts]
    with gather(_words_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        rows = join_rows(left, lengths, None, 2 * len(basis))
        return rows, np.concatenate([task.facts[1] for task in left])


def _words_task(
    store: StorePlace, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[tuple[I64, I64], Arrays]:
    """Entries of each row and occurrences of each target; the rows."""
    corpus = open_store(store)
    places = list(PlacesOfShards(corpus, targets))
    found: I64 = np.sum([place.counts for place in places], axis=0)
    names = [str(target) for target in targets] if settings.draws else []
    chosen = capped_places(corpus.shards, places, names, settings)
    lengths, values, columns = sum_contexts(corpus.shards, chosen, basis, settings)
    return (lengths, found), (values, columns)


def sum_contexts(
    shards: Sequence[Shard], places: Sequence[Occurrences], basis: Basis, settings: CountSettings
) -> tuple[I64, NDArray[np.int32], NDArray[np.int32]]:
    """Entries of each target's row, their values and columns; a few at a time, so that sums stay in the cache."""
    terms, targets = len(basis), places[0].lows.size
    group = max(1, min(targets, SUMS_BYTES // (8 * terms)))
    if len(shards) > OPEN_SHARDS:
        group = targets  # they do not all stay open: to go through them once weighs more than the cache
    sums = np.zeros((group, 2 * (VOIDS + terms)), np.int32)
    columns, values = (np.empty(group * 2 * terms + 1, np.int32) for _ in range(2))
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    parts: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    lengths = np.empty(targets, np.int64)
    windows = settings.windows
    for start in range(0, targets, group):
        part = slice(start, min(start + group, targets))
        for number, place in enumerate(places):
            if not place.counts[part].any():
                continue
            shard = shards[number]
            tables = basis_tables(shard, basis)
            clock = word_kernels.count_words(
                shard.tokens, shard.postings, place.extra, place.is_extra[part], place.lows[part],
                place.highs[part], place.lengths[part], windows.before, windows.after, settings.tick,
                tables.ids, tables.entries, tables.bigrams, sums, clocks, clock,
            )  # fmt: skip
        used = word_kernels.emit_rows(sums, part.stop - start, columns, values, lengths[part])
        parts.append((values[:used].copy(), columns[:used].copy()))
    joined = [
        arrays[0] if len(arrays) == 1 else np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    ]
    return lengths, joined[0], joined[1]


def capped_places(
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
        moved = {n: place.positions(shard.postings, n)[drawn[n][number]] for n in over}
        kept = np.flatnonzero(place.is_extra).tolist()
        moved |= {n: place.positions(place.extra, n) for n in kept if n not in moved}
        result.append(place.move(moved))
    return result
