"""Rows of pairs; see `counting`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts import feature_kernels
from bagpack.contexts.couples import COUPLES_AT_ONCE, AskedPairs, Couples, divide_pairs
from bagpack.contexts.dividing import Csr, Progress, join_rows, no_rows, per_task, runs_of
from bagpack.contexts.tables import VOIDS, basis_tables
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.shard import Shard
from bagpack.parallel import Arrays, gather

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class PairCountsOf:
    """Counts of pairs: rows, couples found and couples counted, each per order."""

    rows: Csr
    found: I64
    taken: I64


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> PairCountsOf:  # fmt: skip
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus."""
    if not pairs:
        none = np.zeros((0, 2), np.int64)
        return PairCountsOf(no_rows(0, 6 * len(basis)), none, none)
    order, parts, tasks = divide_pairs(corpus, pairs, settings, n_jobs)
    calls = [(asked, basis) for asked in tasks]
    with gather(_pairs_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        lengths = np.concatenate([task.facts[0] for task in left])
        found, taken = (np.empty((len(pairs), 2), np.int64) for _ in range(2))
        for number, table in enumerate((found, taken), 1):
            table[order] = np.concatenate([task.facts[number] for task in left])
        return PairCountsOf(join_rows(left, lengths, order, 6 * len(basis)), found, taken)


def _pairs_task(asked: AskedPairs, basis: Basis) -> tuple[tuple[I64, I64, I64], Arrays]:
    """Entries of each row, couples found and taken of each pair; the rows."""
    here = asked.find()
    taken = np.zeros((here.task.size, 2), np.int64)
    totals: I64 = np.sum([own.counts for own in here.couples], axis=0)
    one, two = here.task.lengths
    rows = []
    for part in runs_of(totals, COUPLES_AT_ONCE, here.task.size):
        some = [own.of_pairs(part) for own in here.couples]
        rows.append(
            sum_features(here.corpus.shards, some, one[part], two[part], basis, asked.settings, taken[part])
        )
    lengths, values, columns = (
        arrays[0] if len(arrays) == 1 else np.concatenate(arrays) for arrays in zip(*rows, strict=True)
    )
    return (lengths, here.found, taken), (values, columns)


def sum_features(
    shards: Sequence[Shard], in_shard: Sequence[Couples], lengths1: I64, lengths2: I64, basis: Basis,
    settings: CountSettings, taken: I64,
) -> tuple[I64, I32, I32]:  # fmt: skip
    """A row for each pair, of how many of its couples add to each feature: entries of each row, values, columns."""
    terms, windows = len(basis), settings.windows
    span = windows.left + windows.between + windows.right
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    pairs = lengths1.size
    widths = np.zeros((len(shards), pairs), np.int64)
    pieces: list[I32] = []
    for number, couples in enumerate(in_shard):
        if not couples.starts.size:
            pieces.append(np.empty(0, np.int32))
            continue
        shard = shards[number]
        tables = basis_tables(shard, basis)
        listed = np.empty(4 * span * couples.starts.size + 1, np.int32)
        clock = feature_kernels.list_columns(
            shard.tokens, couples.starts, couples.seconds, couples.orders, couples.counts, lengths1, lengths2,
            windows.left, windows.right, settings.tick, tables.ids, tables.entries, tables.bigrams, terms,
            clocks, clock, listed, widths[number], taken,
        )  # fmt: skip
        pieces.append(listed[: int(widths[number].sum())].copy())
    sizes = np.array([piece.size for piece in pieces], np.int64)
    most = int(sizes.sum())
    columns, values = np.empty(most, np.int32), np.empty(most, np.int32)
    row_ends = np.empty(pairs, np.int64)
    used = feature_kernels.sum_columns(
        np.concatenate(pieces), np.cumsum(sizes) - sizes, widths, np.zeros(6 * terms, np.int32),
        np.zeros((2, -(-6 * terms // 64)), np.uint64), row_ends, columns, values,
    )  # fmt: skip
    return np.diff(row_ends, prepend=0), values[:used], columns[:used]
