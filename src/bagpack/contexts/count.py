"""Counting basis terms in the contexts of words (v1, v2) and of pairs (v12), in one process or in many.

A context adds 1 to each basis term in each of its segments: pre and post of a word; pre, betw and post of a pair, with
the first word first (+) or the second (-). A term counts once in a segment, however often it occurs there. A bigram
is two tokens next to each other in the same segment. The first `limit` contexts of each word and of each unordered pair
are counted, in corpus order.

A task takes some words, or some pairs, through all segments, so that it knows by itself which observations are among
the corpus's first N. Counts are integers and add up: the result is the same however the targets are divided into tasks
and the corpus into segments. A task is sent the path of the store and the words to count, and looks them up itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from bagpack.arrays import I32, I64, U64, Bools, Csr, Values
from bagpack.basis import Basis
from bagpack.contexts.kernels import contexts as kernels
from bagpack.contexts.kernels.contexts import MOST_TERMS, PACK_BITS, VOIDS
from bagpack.contexts.kernels.cooccurrences import PENDING, SLICE, block_bits, find_cooccurrences
from bagpack.contexts.occurrences import Observations, most_occurrences, occurrences_by_segment
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import OPEN_SEGMENTS, Corpus
from bagpack.corpus.segment import Segment
from bagpack.corpus.strings import Strings
from bagpack.corpus.subcorpus import Subcorpus, open_corpus
from bagpack.errors import StoreError, UsageError
from bagpack.kernels import read_only
from bagpack.parallel import Arrays, Shared, gather, progress, worker_count

Rows = tuple[I64, Values, I32]  # entries of each row, values, columns

ALL = np.iinfo(np.int64).max
TASKS_PER_WORKER = 4
POSTINGS_PER_TASK = 1 << 18  # at least, so that starting a task does not weigh
CHUNK_WORDS = 1024
OCCURRENCES_PER_TASK = 1 << 23  # a task holds bounds of each word's occurrences in each segment, 33 bytes
POSITIONS_PER_TASK = 1 << 24  # which a task copies for its words in a subcorpus, 4 bytes each
CHUNK_PAIRS = 1 << 15
HELD_PER_TASK = 1 << 24  # co-occurrences that a task holds; a pair that may have more is a task of its own
COUNTS_PER_TASK = 1 << 24  # a task holds how many co-occurrences each of its pairs has in each segment
MARKS_PER_SEARCH = 32  # which cost about the same
FIRST_MARK = 1
MOST_CELLS = 1 << 28  # of the table of bigrams: first × second words, 2 or 4 bytes each
AT_ONCE = 1 << 18  # co-occurrences whose features, up to 2·(2 + 5 + 2)·2 each, are listed
SUMS_BYTES = 1 << 19  # of the rows that are summed up at once: they should stay in the cache


# A basis as the kernels read it ----------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def word_tables(basis: Basis) -> tuple[Strings, U64, Values]:
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
def basis_tables(segment: Segment, basis: Basis) -> tuple[Values, U64, Values]:
    """The number of each type's basis word (0 for none), entries of the basis words, and cells of bigrams."""
    words, entries, bigrams = word_tables(basis)
    of_key = np.zeros(len(segment.keys), np.uint16 if len(entries) <= 1 << 16 else np.uint32)
    found = segment.keys.find(words)
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = 1 + known
    return read_only(of_key[segment.key_of_type]), entries, bigrams


# Dividing the work, and joining the results ----------------------------------------------------------------------


def narrowed(values: Values) -> Values:
    """Counts as 32-bit numbers, unless one of them does not fit."""
    return values if values.size and values.max() > np.iinfo(np.int32).max else values.astype(np.int32)


def make_rows(values: Values, columns: Values, row_ends: I64, width: int) -> Csr:
    """Rows of sorted columns, the k-th ending at row_ends[k]."""
    # scipy wants one type for both, and would read all columns to make them 64-bit numbers.
    indptr = np.concatenate([[0], row_ends]).astype(np.int32 if values.size < 1 << 31 else np.int64)
    rows = sparse.csr_array((values, columns, indptr), shape=(row_ends.size, width))
    rows.has_sorted_indices = rows.has_canonical_format = True  # scipy would look at all of them
    return rows


StorePlace = tuple[str, str]  # a store's name, the same from any working directory, and its content


def place_of(corpus: Corpus) -> StorePlace:
    """What a task is sent to open the corpus."""
    return corpus.absolute_name, corpus.content_hash


@lru_cache(maxsize=4)
def open_store(place: StorePlace) -> Corpus:
    """The store, kept open in this process."""
    name, content_hash = place
    corpus = open_corpus(name)
    if corpus.content_hash != content_hash:
        raise StoreError(f"{name} was changed while it was being counted; run the command again")
    return corpus


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


def task_runs(work: I64, most: int, longest: int) -> list[slice]:
    """Runs of targets for one task: several tasks for each worker, but none too small to be worth its start."""
    workers = worker_count()
    if workers > 1:
        share = int(work.sum()) // (TASKS_PER_WORKER * workers)
        most = min(max(share, POSTINGS_PER_TASK), most)
    return list(runs_of(work, most, longest))


def per_task(sizes: Sequence[int], what: str) -> Callable[[int], None]:
    """A function that reports progress in targets, from the numbers of tasks that are done."""
    report, total = progress(), sum(sizes)
    return lambda number: report(what, sizes[number], total)


def join_rows(left: Sequence[Shared], order: I64, width: int) -> Csr:
    """All rows, the i-th of the tasks' at place order[i]; one task's are held in addition to the result."""
    lengths = np.concatenate([task.facts[0] for task in left])
    own = np.empty_like(lengths)
    own[order] = lengths
    ends = np.cumsum(own)
    starts = (ends - own)[order]
    values: Values = np.empty(int(lengths.sum()), np.int32)
    columns = np.empty(values.size, np.int32)
    row = 0
    for task in left:
        (data, indices), sizes = task.take(), task.facts[0]
        if data.dtype.itemsize > values.dtype.itemsize:
            values = values.astype(data.dtype)
        shifts = starts[row : row + sizes.size] - (np.cumsum(sizes) - sizes)
        at: Any = slice(int(starts[row]), int(starts[row]) + data.size)
        if (shifts != shifts[0]).any():  # other rows are between these
            at = np.repeat(shifts, sizes) + np.arange(data.size)
        values[at], columns[at] = data, indices
        row += sizes.size
    return make_rows(values, columns, ends, width)


# Words ----------------------------------------------------------------------------------------------------------


def count_words(
    corpus: Corpus, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[Csr, I64]:
    """Rows (pre, post) of each target over the corpus, and how often it occurs in all."""
    if not len(targets):
        return sparse.csr_array(np.zeros((0, 2 * len(basis)), np.int32)), np.zeros(0, np.int64)
    work = most_occurrences(corpus, targets)
    if not isinstance(corpus, Subcorpus):
        work = np.minimum(work, settings.limit or ALL)
    longest = min(CHUNK_WORDS, max(1, OCCURRENCES_PER_TASK // len(corpus.segments)))
    own = [targets[part] for part in task_runs(work, POSITIONS_PER_TASK, longest)]
    calls = [(place_of(corpus), some, basis, settings) for some in own]
    with gather(_words_task, calls, corpus.path, per_task(list(map(len, own)), "words")) as left:
        rows = join_rows(left, np.arange(len(targets)), 2 * len(basis))
        return rows, np.concatenate([task.facts[1] for task in left])


def _words_task(
    store: StorePlace, targets: Sequence[Target], basis: Basis, settings: CountSettings
) -> tuple[tuple[I64, I64], Arrays]:
    """Entries of each row and occurrences of each target; the rows, summed a few at a time to stay in the cache."""
    segments, windows, terms = open_store(store).segments, settings.windows, len(basis)
    places = list(occurrences_by_segment(open_store(store), targets))
    counts = np.array([place.counts for place in places], np.int64)
    # The first `limit` of each target in corpus order.
    quotas = np.clip((settings.limit or ALL) - (np.cumsum(counts, axis=0) - counts), 0, counts)
    # What fits into the cache counts faster.
    dtype = np.int32 if quotas.sum(axis=0).max() <= np.iinfo(np.int32).max else np.int64
    group = max(1, min(len(targets), SUMS_BYTES // (2 * np.dtype(dtype).itemsize * terms)))
    if len(segments) > OPEN_SEGMENTS:
        group = len(targets)  # they do not all stay open: to go through them once weighs more than the cache
    sums = np.zeros((group, 2, VOIDS + terms), dtype)
    clocks, clock = np.zeros(VOIDS + terms, np.int64), 1
    listed = np.empty(2 * max(windows.before, windows.after) + 1, np.int64)
    rows: list[tuple[Values, I32]] = []
    lengths = np.empty(len(targets), np.int64)
    for start in range(0, len(targets), group):
        part = slice(start, min(start + group, len(targets)))
        for number in np.flatnonzero(quotas[:, part].any(axis=1)).tolist():
            place, segment = places[number], segments[number]
            clock = kernels.count_words(
                segment.tokens, segment.postings, place.extra, place.is_extra[part], place.lows[part],
                place.lows[part] + quotas[number, part], place.lengths[part], windows.before, windows.after,
                *basis_tables(segment, basis), sums, clocks, clock, listed,
            )  # fmt: skip
        table = sums[: part.stop - start, :, VOIDS:].reshape(-1, 2 * terms)
        filled = np.flatnonzero(table != 0)  # three times as fast as without the comparison
        lengths[part] = np.count_nonzero(table, axis=1)
        columns = filled - np.repeat(np.arange(len(table)) * 2 * terms, lengths[part])
        rows.append((narrowed(table.ravel()[filled]), columns.astype(np.int32)))
        sums[:] = 0
    all_values, all_columns = map(np.concatenate, zip(*rows, strict=True))
    return (lengths, counts.sum(axis=0)), (all_values, all_columns)


# Co-occurrences of pairs -------------------------------------------------------------------------------------------

Found = tuple[Observations, I64]  # co-occurrences in a segment, pair after pair, and how many each pair has


@dataclass(frozen=True)
class PairTask:
    """What a worker is sent: pairs as numbers of targets (the rarer, the more frequent)."""

    store: StorePlace
    targets: Sequence[Target]
    few: I64
    many: I64
    swapped: Bools  # the pair is (many, few)
    settings: CountSettings

    @property
    def size(self) -> int:
        return int(self.few.size)

    @property
    def lengths(self) -> tuple[I64, I64]:
        """Tokens of each pair's first and second target."""
        lengths = np.array([len(target.keys) for target in self.targets], np.int64)
        few, many = lengths[self.few], lengths[self.many]
        return np.where(self.swapped, many, few), np.where(self.swapped, few, many)


def divide_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target | None, Target | None]], settings: CountSettings
) -> Iterator[tuple[I64, PairTask]]:
    """Tasks for the pairs whose words are both known, each with the numbers of its pairs."""
    places = np.flatnonzero([one is not None and two is not None for one, two in pairs])
    if not places.size:
        return
    # A tuple's hash is quicker than a target's.
    distinct = {target.keys: target for target in chain.from_iterable(pairs) if target}
    number = {keys: i for i, keys in enumerate(distinct)}
    numbers = np.array([(number[one.keys], number[two.keys]) for one, two in pairs if one and two], np.int64)
    targets, (ones, twos) = list(distinct.values()), numbers.T
    frequency = most_occurrences(corpus, targets)
    # Pairs that share their more frequent word are done together.
    swapped = frequency[ones] > frequency[twos]
    few, many = np.where(swapped, twos, ones), np.where(swapped, ones, twos)
    order = np.lexsort((few, many))
    longest = min(CHUNK_PAIRS, max(1, COUNTS_PER_TASK // len(corpus.segments)))
    held = np.minimum(2 * frequency[few[order]], settings.limit or ALL)
    for part in task_runs(held, HELD_PER_TASK, longest):
        chosen = order[part]
        used, renumbered = np.unique(np.concatenate([few[chosen], many[chosen]]), return_inverse=True)
        both = renumbered.astype(np.int64).reshape(2, -1)
        own = [targets[k] for k in used.tolist()]
        yield places[chosen], PairTask(place_of(corpus), own, both[0], both[1], swapped[chosen], settings)


def search_pairs(task: PairTask) -> tuple[list[Found], I64]:
    """Co-occurrences that count, up to the limit of each pair, in the segments that have some; all found, per order."""
    segments, between = open_store(task.store).segments, task.settings.windows.between
    longest = max(len(target.keys) for target in task.targets)
    tokens, reach = max(segment.tokens.size for segment in segments), between + longest
    blocks = np.zeros(((tokens + reach) >> block_bits(tokens, tokens, reach)) + 1, np.uint32)
    waiting, near = np.empty((PENDING, 4), np.int64), np.empty((2, SLICE + 1), np.int64)
    mark = FIRST_MARK
    found = np.zeros((task.size, 2), np.int64)
    caps = np.full(task.size, task.settings.limit or ALL, np.int64)
    held = []
    for number, places in enumerate(occurrences_by_segment(open_store(task.store), task.targets)):
        segment, occurring = segments[number], places.counts
        # Memory that is never written is never taken, so the bound may be far too high.
        size = int(np.minimum(2 * np.minimum(occurring[task.few], occurring[task.many]), caps).sum())
        arrays = [np.empty(size, dtype) for dtype in (np.uint32, np.uint32, np.uint8)]
        counts = np.zeros(task.size, np.int64)
        written, mark = find_cooccurrences(
            segment.tokens, segment.postings, places.extra, places.is_extra, places.lows, places.highs, places.lengths,
            longest, task.few, task.many, task.swapped, caps, between, MARKS_PER_SEARCH, blocks, mark, waiting, near,
            *arrays, counts, found,
        )  # fmt: skip
        if written:
            held.append((Observations(number, *(array[:written].copy() for array in arrays)), counts))
        caps -= counts
    return held, found


# Pairs ----------------------------------------------------------------------------------------------------------


def count_pairs(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
) -> tuple[Csr, I64]:
    """Rows (+pre +betw +post -pre -betw -post) of each pair over the corpus, and its co-occurrences.

    Of these there are four numbers: those found with the first word first and with the second one first, and those of
    each order that were counted.
    """
    together = np.zeros((len(pairs), 4), np.int64)
    if not pairs:
        return sparse.csr_array(np.zeros((0, 6 * len(basis)), np.int32)), together
    numbers, tasks = zip(*divide_pairs(corpus, pairs, settings), strict=True)
    order, calls = np.concatenate(numbers), [(task, basis) for task in tasks]
    with gather(_pairs_task, calls, corpus.path, per_task([task.size for task in tasks], "pairs")) as left:
        together[order] = np.concatenate([task.facts[1] for task in left])
        return join_rows(left, order, 6 * len(basis)), together


def _pairs_task(task: PairTask, basis: Basis) -> tuple[tuple[I64, I64], Arrays]:
    """Entries of each row and co-occurrences of each pair; the rows."""
    held, found = search_pairs(task)
    segments = open_store(task.store).segments
    taken = np.zeros((task.size, 2), np.int64)
    one, two = task.lengths
    totals = np.sum([np.zeros(task.size, np.int64), *(counts for _, counts in held)], axis=0)
    rows = []
    for part in runs_of(totals, AT_ONCE, task.size):
        some = []
        for own, counts in held:
            low, high = (int(counts[:end].sum()) for end in (part.start, part.stop))
            some.append((own.take(slice(low, high)), counts[part]))
        rows.append(sum_features(segments, some, one[part], two[part], basis, task.settings, taken[part]))
    lengths, values, columns = map(np.concatenate, zip(*rows, strict=True))
    return (lengths, np.hstack([found, taken])), (values, columns)


def sum_features(
    segments: Sequence[Segment], found: Sequence[Found], lengths1: I64, lengths2: I64, basis: Basis,
    settings: CountSettings, taken: I64,
) -> Rows:  # fmt: skip
    """A row for each pair: the number of its co-occurrences that add to each feature.

    Those of a single pair may be any number: their features are listed in pieces, and added up.
    """
    terms, windows = len(basis), settings.windows
    if lengths1.size == 1 and sum(len(own) for own, _ in found) > AT_ONCE:
        total = np.zeros(6 * terms, np.int64)
        for own, _ in found:
            for at in range(0, len(own), AT_ONCE):
                piece = own.take(slice(at, at + AT_ONCE))
                one = [(piece, np.array([len(piece)]))]
                _, counted, some = sum_features(segments, one, lengths1, lengths2, basis, settings, taken)
                total[some] += counted
        filled = np.flatnonzero(total)
        return np.array([filled.size]), narrowed(total[filled]), filled.astype(np.int32)
    span = windows.left + windows.between + windows.right
    clocks = np.zeros(VOIDS + terms, np.int64)
    clock = 1
    pairs = lengths1.size
    widths = np.zeros((len(found), pairs), np.int64)
    pieces: list[I32] = [np.empty(0, np.int32)]
    for own_widths, (own, counts) in zip(widths, found, strict=True):
        segment = segments[own.segment]
        places = own.firsts.astype(np.uint32, copy=False), own.seconds.astype(np.uint32, copy=False)
        # A token adds at most a unigram and a bigram, to one order or to both.
        listed = np.empty(2 * 2 * span * len(own) + 1, np.int32)
        clock = kernels.list_columns(
            segment.tokens, *places, own.orders.astype(np.uint8, copy=False), counts, lengths1, lengths2,
            windows.left, windows.right, *basis_tables(segment, basis), terms, clocks, clock, listed, own_widths, taken,
        )  # fmt: skip
        pieces.append(listed[: int(own_widths.sum())].copy())
    sizes = np.array([piece.size for piece in pieces[1:]], np.int64)
    most = int(sizes.sum())
    columns, values = np.empty(most, np.int32), np.empty(most, np.int64)
    row_ends = np.empty(pairs, np.int64)
    used = kernels.sum_columns(
        np.concatenate(pieces), np.cumsum(sizes) - sizes, widths, np.zeros(6 * terms, np.int64),
        np.zeros(-(-6 * terms // 64), np.uint64), row_ends, columns, values,
    )  # fmt: skip
    return np.diff(row_ends, prepend=0), narrowed(values[:used]), columns[:used]
