"""Whole stretches between the words of pairs: all that stands between a couple, word by word, where it is short.

A stretch is a number, 16 bits for each of its words, so that many can be compared and counted at once. A word has such
a number if it is among the 65,535 most frequent of the corpus: what many pairs share is made of frequent words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.contexts.couples import AskedPairs, divide_pairs
from bagpack.contexts.dividing import Csr, Progress, StorePlace, no_rows, open_store, per_task
from bagpack.contexts.kernels import MINUS, PLUS
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings, read_only
from bagpack.parallel import Arrays, gather

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

LONGEST = 4  # words of a stretch
WORD_BITS = 16
WORDS = (1 << WORD_BITS) - 1
LEAST_PAIRS = 2  # that share a stretch: what one pair has alone says nothing of others


@dataclass(frozen=True)
class WholeCounts:
    """How often each stretch is all that stands between a pair's words: columns for w1 first, then for w2 first."""

    rows: Csr
    stretches: tuple[str, ...]


def count_wholes(
    corpus: Corpus, pairs: Sequence[tuple[Target, Target]], wanted: int | Sequence[str], settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> WholeCounts:  # fmt: skip
    """Rows of pairs over the `wanted` stretches, or over so many of those that most of the pairs share."""
    given = () if isinstance(wanted, int) else tuple(wanted)
    if not pairs:
        return WholeCounts(no_rows(0, 2 * len(given)), given)
    asked = None if isinstance(wanted, int) else _codes_of(corpus, given)
    order, parts, tasks = divide_pairs(corpus, pairs, settings, n_jobs)
    calls = [(task, asked) for task in tasks]
    found = []
    with gather(_wholes_task, calls, n_jobs, corpus.path, per_task(parts, progress)) as left:
        for part, task in zip(parts, left, strict=True):
            cells, codes, counts = task.take()
            found.append((2 * order[part][cells >> 1] + (cells & 1), codes, counts))
    cells, codes, counts = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    if asked is None:
        asked, given = _most_shared(corpus, cells >> 1, codes, int(wanted))  # type: ignore[arg-type]
    return WholeCounts(_rows(len(pairs), cells, codes, counts, asked), given)


def _rows(pairs: int, cells: I64, codes: U64, counts: I64, stretches: U64) -> Csr:
    """A row of each pair; stretches that it was not asked for are left out."""
    by_code = np.argsort(stretches, kind="stable")
    place = np.searchsorted(stretches[by_code], codes)
    known = np.flatnonzero(place < stretches.size)
    known = known[stretches[by_code][place[known]] == codes[known]]
    columns = by_code[place[known]] + (cells[known] & 1) * stretches.size
    table = sparse.csr_array(
        (counts[known].astype(np.int32), (cells[known] >> 1, columns)), shape=(pairs, 2 * stretches.size)
    )
    table.sort_indices()
    return table


def _most_shared(corpus: Corpus, pairs: I64, codes: U64, most: int) -> tuple[U64, tuple[str, ...]]:
    """The stretches that most pairs have, in either order; of equal ones those that come first in code-point order."""
    by_code = np.lexsort((pairs, codes))
    codes, pairs = codes[by_code], pairs[by_code]
    new_code = np.diff(codes, prepend=np.uint64(0)) != 0
    new_pair = new_code | (np.diff(pairs, prepend=-1) != 0)
    distinct = codes[new_code]
    shared_by = np.bincount(np.cumsum(new_code) - 1, new_pair, distinct.size).astype(np.int64)
    least = LEAST_PAIRS
    if distinct.size > most:
        least = max(least, int(np.partition(shared_by, distinct.size - most)[distinct.size - most]))
    kept = np.flatnonzero(shared_by >= least)
    words = frequent_words(StorePlace.of(corpus))
    named = sorted((-int(shared_by[i]), _text(int(distinct[i]), words), int(distinct[i])) for i in kept)[
        :most
    ]
    return np.array([code for *_, code in named], np.uint64), tuple(text for _, text, _ in named)


def _text(code: int, words: Strings) -> str:
    found = []
    while code:
        found.append(words[(code & WORDS) - 1])
        code >>= WORD_BITS
    return " ".join(reversed(found))


def _codes_of(corpus: Corpus, stretches: Sequence[str]) -> U64:
    """The number of each stretch; 0, which none has, if the corpus cannot hold it."""
    words = frequent_words(StorePlace.of(corpus))
    number = {word.decode(): i for i, word in enumerate(words, 1)}

    def code_of(stretch: str) -> int:
        parts = stretch.split(" ")
        if len(parts) > LONGEST or any(word not in number for word in parts):
            return 0
        code = 0
        for word in parts:
            code = code << WORD_BITS | number[word]
        return code

    return np.array([code_of(stretch) for stretch in stretches], np.uint64)


# A task ---------------------------------------------------------------------------------------------------------


def _wholes_task(asked: AskedPairs, stretches: U64 | None) -> tuple[None, Arrays]:
    """Cells (twice the pair's number, one more for w2 first), stretches there, and how often."""
    here = asked.find()
    one, two = here.task.lengths
    cells, codes = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    for number, couples in enumerate(here.couples):
        if not couples.starts.size:
            continue
        shard = here.corpus.shards[number]
        found = np.empty(couples.starts.size, np.uint64)
        code_stretches(
            shard.tokens, couples.starts, couples.seconds, couples.orders, couples.counts, one, two,
            _numbers_of(shard, asked.store), found,
        )  # fmt: skip
        kept = found != 0 if stretches is None else (found != 0) & np.isin(found, stretches)
        pair = 2 * np.repeat(np.arange(here.task.size), couples.counts)
        for order in (couples.orders != MINUS, couples.orders != PLUS):
            cells.append(pair[kept & order])
            codes.append(found[kept & order])
            pair = pair + 1
    return None, _counted(np.concatenate(cells), np.concatenate(codes))


def _counted(cells: I64, codes: U64) -> Arrays:
    """Each cell and stretch once, and how often it was there."""
    order = np.lexsort((codes, cells))
    cells, codes = cells[order], codes[order]
    starts = np.flatnonzero((np.diff(cells, prepend=-1) != 0) | (np.diff(codes, prepend=np.uint64(0)) != 0))
    return cells[starts], codes[starts], np.diff(starts, append=cells.size)


@lru_cache(maxsize=4)
def frequent_words(place: StorePlace) -> Strings:
    """The words that stretches are made of, the most frequent first."""
    lexicon = open_store(place).lexicon
    frequent = np.argsort(-np.asarray(lexicon.counts), kind="stable")[:WORDS]
    # Stretches are written with spaces between their words.
    return Strings.of([key for key in (lexicon.keys[int(i)] for i in frequent) if " " not in key])


@lru_cache(maxsize=256)
def _numbers_of(shard: Shard, place: StorePlace) -> NDArray[np.uint16]:
    """The number of each type's word, 0 for none."""
    of_key = np.zeros(len(shard.keys), np.uint16)
    found = shard.keys.find(frequent_words(place))
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = 1 + known
    return read_only(of_key[shard.key_of_type])


@nb.njit(cache=True, nogil=True)
def code_stretches(tokens, starts, seconds, orders, counts, lengths1, lengths2, numbers, out):  # type: ignore[no-untyped-def]
    """The number of what stands between each couple; 0 if nothing does, too much, or a rare word."""
    i = 0
    for k in range(counts.size):
        for _ in range(counts[k]):
            first = np.int64(starts[i]) + (lengths2[k] if orders[i] == MINUS else lengths1[k])
            last = np.int64(seconds[i])
            code = np.uint64(0)
            if last - first <= LONGEST:
                for position in range(first, last):
                    number = np.uint64(numbers[tokens[position] & TYPE_MASK])
                    if number == 0:
                        code = np.uint64(0)
                        break
                    code = (code << np.uint64(WORD_BITS)) | number
            out[i] = code
            i += 1
