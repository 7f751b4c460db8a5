"""Dividing the counting of many targets among workers, and joining what they counted.

A task takes some words, or some pairs, through all shards, so that it knows by itself which observations are among
the corpus's first N. Counts are integers and add up: the result is the same however the targets
are divided into tasks and the corpus into shards. A task is sent the path of the store and the words to count, and
looks them up itself; the results of the tasks are joined one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.corpus.corpus import Corpus
from bagpack.corpus.subcorpus import open_corpus
from bagpack.errors import StoreError
from bagpack.parallel import Left, counter, worker_count

I64 = NDArray[np.int64]
Csr: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"  # scipy 1.13 has no subscripts

ALL = np.iinfo(np.int64).max
TASKS_PER_WORKER = 4
POSTINGS_PER_TASK = 1 << 18  # at least, so that starting a task does not weigh


def no_rows(rows: int, width: int) -> Csr:
    """Rows of zeros."""
    return make_rows(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(rows, np.int64), width)


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """Counts as 32-bit numbers, unless one of them does not fit."""
    return values if values.size and values.max() > np.iinfo(np.int32).max else values.astype(np.int32)


def make_rows(values: NDArray[Any], columns: NDArray[Any], row_ends: I64, width: int) -> Csr:
    """Rows of sorted columns, the k-th ending at row_ends[k]."""
    # scipy wants one type for both, and would read all columns to make them 64-bit numbers.
    indptr = np.concatenate([[0], row_ends]).astype(np.int32 if values.size < 1 << 31 else np.int64)
    return canonical(sparse.csr_array((values, columns, indptr), shape=(row_ends.size, width)))


def canonical(rows: Csr) -> Csr:
    """The same rows, known to be sorted and without duplicates: scipy would look at all of them."""
    rows.has_sorted_indices = True
    rows.has_canonical_format = True
    return rows


@dataclass(frozen=True)
class StorePlace:
    """Where a task finds the store, and what it must hold."""

    name: str
    content_hash: str

    @classmethod
    def of(cls, corpus: Corpus) -> StorePlace:
        """The place of a corpus, the same from any working directory."""
        return cls(corpus.absolute_name, corpus.content_hash)


@lru_cache(maxsize=4)
def open_store(place: StorePlace) -> Corpus:
    """The store, kept open in this process."""
    corpus = open_corpus(place.name)
    if corpus.content_hash != place.content_hash:
        raise StoreError(f"{place.name} was changed while it was being counted; run the command again")
    return corpus


def task_runs(work: I64, most: int, longest: int) -> Iterator[slice]:
    """Runs of targets for one task: several tasks for each worker, but none too small to be worth its start."""
    workers = worker_count()
    if workers == 1:
        return runs_of(work, most, longest)
    share = int(work.sum()) // (TASKS_PER_WORKER * workers)
    return runs_of(work, min(max(share, POSTINGS_PER_TASK), most), longest)


def per_task(parts: Sequence[slice], what: str) -> Callable[[int], None]:
    """A function that reports progress in targets, from the numbers of tasks that are done."""
    done = counter(what, parts[-1].stop if parts else 0)
    return lambda number: done(parts[number].stop - parts[number].start)


def join_rows(left: Sequence[Left], lengths: I64, order: I64 | None, width: int) -> Csr:
    """All rows, the i-th of the tasks' at place order[i]; one task's are held in addition to the result."""
    own = lengths
    if order is not None:
        own = np.empty_like(lengths)
        own[order] = lengths
    ends = np.cumsum(own)
    if order is None and len(left) == 1:
        data, indices = left[0].take()
        return make_rows(data, indices, ends, width)
    values: NDArray[Any] = np.empty(int(lengths.sum()), np.int32)
    columns = np.empty(values.size, np.int32)
    starts = ends - own if order is None else (ends - own)[order]
    row = 0
    for task in left:
        data, indices = task.take()
        stop = row + task.facts[0].size
        if data.dtype.itemsize > values.dtype.itemsize:
            values = values.astype(data.dtype)
        if order is None:
            place = slice(starts[row], starts[row] + data.size)
            values[place], columns[place] = data, indices
        else:
            within = np.cumsum(lengths[row:stop]) - lengths[row:stop]
            at = np.repeat(starts[row:stop] - within, lengths[row:stop]) + np.arange(data.size)
            values[at], columns[at] = data, indices
        row = stop
    return make_rows(values, columns, ends, width)


def runs_of(sizes: I64, most: int, longest: int) -> Iterator[slice]:
    """Cut into runs of at most `longest` items and, unless it is one item alone, of at most `most` in all."""
    total = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        before = int(total[start - 1]) if start else 0
        fitting = int(np.searchsorted(total, before + most, side="right"))
        stop = max(start + 1, min(fitting, start + longest, sizes.size))
        yield slice(start, stop)
        start = stop
