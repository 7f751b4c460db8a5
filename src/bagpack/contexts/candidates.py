"""Candidate pairs: all pairs of vocabulary words that co-occur within the window, with how often in each order.

The words are divided among workers; each word is taken through all segments by its postings, and its partners are
counted in one array as long as the vocabulary. So memory does not grow with the corpus, one word alone costs no more
than its own occurrences, and the result is the same for any number of workers. Counts are those of `count_pairs`
without a cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagpack.arrays import I32, I64, U32, Values
from bagpack.contexts.count import StorePlace, narrowed, open_store, per_task, place_of, task_runs
from bagpack.contexts.kernels.candidates import count_partners, merge_partners
from bagpack.contexts.occurrences import find_occurrences, most_occurrences, occurrences_by_segment
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.segment import Segment
from bagpack.corpus.strings import Strings
from bagpack.corpus.words import frequent_numbers
from bagpack.errors import UsageError
from bagpack.kernels import read_only
from bagpack.parallel import Arrays, Shared, gather, share

PARTNERS_PER_TASK = 1 << 22  # at most, all words of a task together; 12 bytes each in each segment
KEPT_SEGMENTS = 64

Fixed = Target | Sequence[Target] | None


@dataclass(frozen=True)
class Candidates:
    """Pairs (words[first[i]], words[second[i]]), each unordered pair once, by the number of the first, then the second.

    Among all pairs of a vocabulary the second word is the more frequent one.
    """

    words: Sequence[Target]
    n_words: I64  # how often each word occurs
    first: I32
    second: I32
    n_plus: Values  # how often the first word comes first
    n_minus: Values

    def __len__(self) -> int:
        return int(self.first.size)

    @property
    def together(self) -> I64:
        return np.asarray(self.n_plus.astype(np.int64) + self.n_minus)

    def pairs(self) -> Iterator[tuple[Target, Target]]:
        return (
            (self.words[a], self.words[b])
            for a, b in zip(self.first.tolist(), self.second.tolist(), strict=True)
        )

    def take(self, chosen: Any) -> Candidates:
        columns = (self.first, self.second, self.n_plus, self.n_minus)
        return Candidates(self.words, self.n_words, *(column[chosen] for column in columns))


def frequent_words(corpus: Corpus, most: int | None = 20_000, min_count: int = 1) -> list[Target]:
    return words_of(corpus, frequent_numbers(corpus, most, min_count))


def words_of(corpus: Corpus, numbers: I64) -> list[Target]:
    """Words by their numbers in the lexicon."""
    return [Target((word.decode(),)) for word in corpus.lexicon.keys.take(numbers)]


def find_candidates(corpus: Corpus, vocabulary: Sequence[Target], **options: Any) -> Candidates:
    """What `candidate_batches` finds, which takes the same options, at once."""
    return join_candidates(list(candidate_batches(corpus, vocabulary, **options)))


def join_candidates(batches: Sequence[Candidates]) -> Candidates:
    """The pairs of batches that share their words."""
    if len(batches) == 1:
        return batches[0]
    names = ("first", "second", "n_plus", "n_minus")
    columns = ([getattr(batch, name) for batch in batches] for name in names)
    return Candidates(batches[0].words, batches[0].n_words, *map(np.concatenate, columns))


def candidate_batches(
    corpus: Corpus, vocabulary: Sequence[Target], *, w1: Fixed = None, w2: Fixed = None,
    windows: Windows | None = None, min_count: int = 1, min_together: int = 1,
) -> Iterator[Candidates]:  # fmt: skip
    """All pairs of different vocabulary words that co-occur at least `min_together` times, in both orders together.

    Words that occur less than `min_count` times are dropped. With `w1` or `w2`, which need not be in the vocabulary,
    only pairs with it, or with one of several, as the first or the second word; a pair of two such words is then found
    in both orders. The batches, at least one, are of limited size and share their words.
    """
    if min_count < 1 or min_together < 1:
        raise UsageError(f"min_count={min_count}, min_together={min_together}: both must be at least 1")
    between = (windows or Windows()).between
    firsts, seconds = ([own] if isinstance(own, Target) else own and list(own) for own in (w1, w2))
    fixed = [*(firsts or []), *(seconds or [])]
    words, counts = _by_frequency(corpus, vocabulary, fixed, min_count)
    number = {target: k for k, target in enumerate(words)}
    asked_for = firsts if firsts is not None else seconds
    one_word = asked_for is not None
    numbers = sorted({number[target] for target in asked_for or () if target in number})
    asked = np.array(numbers if one_word else range(len(words)), np.int64)
    most = np.minimum(counts[asked] * 2 * (between + 1), len(words)) + counts[asked]
    parts = task_runs(most, PARTNERS_PER_TASK, asked.size)
    store = place_of(corpus)
    with share(Vocabulary(words), len(parts), corpus.path) as shared:
        calls = [(store, shared, asked[part], between, one_word, min_together) for part in parts]
        done = per_task([asked[part].size for part in parts], "candidates")
        with gather(_partners_task, calls, corpus.path, done) as left:
            for part, task in zip(parts, left, strict=True):
                sizes, partners, after, before = task.take()
                own = np.repeat(asked[part], sizes).astype(np.int32)
                if firsts is None and seconds is not None:
                    yield Candidates(words, counts, partners, own, before, after)
                    continue
                found = Candidates(words, counts, own, partners, after, before)
                allowed = None if seconds is None else [number.get(target, -1) for target in seconds]
                yield found if allowed is None else found.take(np.isin(partners, allowed))
    if not parts:
        yield Candidates(words, counts, *(np.zeros(0, np.int32) for _ in range(4)))


def _by_frequency(
    corpus: Corpus, vocabulary: Sequence[Target], fixed: Sequence[Target], min_count: int
) -> tuple[list[Target], I64]:
    """The targets to look for, each once, the most frequent first, and how often each occurs."""
    words = list(dict.fromkeys([*vocabulary, *fixed]))
    counts = most_occurrences(corpus, words) if words else np.zeros(0, np.int64)
    filtered = [k for k, target in enumerate(words) if not target.is_key and counts[k]]
    if filtered:
        places = occurrences_by_segment(corpus, [words[k] for k in filtered])
        counts[filtered] = np.sum([place.counts for place in places], axis=0)
    kept = set(fixed)
    chosen = [k for k, target in enumerate(words) if counts[k] >= min_count or (counts[k] and target in kept)]
    times = (-counts).tolist()
    chosen.sort(key=lambda k: (times[k], words[k].keys))
    return [words[k] for k in chosen], counts[chosen]


# A task ---------------------------------------------------------------------------------------------------------


# The vocabulary in one segment: the number of each type's word, -1 for none; positions and numbers of the occurrences
# of other targets, those of several tokens or with a part of speech.
Numbered = tuple[I32, U32, I32]


class Vocabulary:
    """Targets by number, the most frequent first; a worker keeps where they are in the segments that it used last."""

    def __init__(self, words: Sequence[Target]) -> None:
        self.words = words
        self.lengths = np.array([len(target.keys) for target in words], np.int64)
        is_key = np.array([target.is_key for target in words], np.bool_)
        self.single, self.others = np.flatnonzero(is_key), np.flatnonzero(~is_key)
        self._single_keys = Strings.of(words[k].keys[0] for k in self.single.tolist())
        self._numbered: dict[str, Numbered] = {}

    def in_segment(self, segment: Segment) -> Numbered:
        name = str(segment.directory)
        if name in self._numbered:
            return self._numbered[name]
        found = segment.keys.find(self._single_keys)
        of_key = np.full(len(segment.keys), -1, np.int32)
        of_key[found[found >= 0]] = self.single[found >= 0]
        positions, ids = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        if self.others.size:
            places = find_occurrences(segment, [self.words[k] for k in self.others.tolist()])
            ids = np.repeat(self.others, places.counts)
            order = np.lexsort((self.lengths[ids], places.extra))
            positions, ids = places.extra[order], ids[order]
        if len(self._numbered) == KEPT_SEGMENTS:
            self._numbered.clear()
        of_type, ids = of_key[segment.key_of_type], ids.astype(np.int32)
        self._numbered[name] = read_only(of_type), read_only(positions), read_only(ids)
        return self._numbered[name]


def _partners_task(
    store: StorePlace, shared: Shared, asked: I64, between: int, every: bool, min_together: int
) -> tuple[None, Arrays]:
    """Partners of each word: how many, which, how often after and before it."""
    corpus = open_store(store)
    vocabulary: Vocabulary = shared.get()
    size, longest = len(vocabulary.words), int(vocabulary.lengths.max())
    after, before, stamps, touched = (np.zeros(size, np.int64) for _ in range(4))
    sizes = np.zeros((len(corpus.segments), asked.size), np.int64)
    listed: list[tuple[I32, U32, U32]] = []
    clock = 0
    targets = [vocabulary.words[k] for k in asked.tolist()]
    for number, places in enumerate(occurrences_by_segment(corpus, targets)):
        segment = corpus.segments[number]
        most = int(np.minimum(places.counts * 2 * (between + longest), size).sum())
        partners, counts = np.empty(most, np.int32), np.empty((2, most), np.uint32)
        clock = count_partners(
            segment.tokens, *vocabulary.in_segment(segment), vocabulary.lengths, longest,
            segment.postings, places.extra, places.is_extra, places.lows, places.highs, asked, between, every,
            after, before, stamps, clock, touched, partners, counts[0], counts[1], sizes[number],
        )  # fmt: skip
        used = int(sizes[number].sum())
        listed.append((partners[:used].copy(), counts[0, :used].copy(), counts[1, :used].copy()))
    totals = sizes.sum(axis=1)
    joined = [np.concatenate(arrays) for arrays in zip(*listed, strict=True)]
    out, out_sizes = np.empty(joined[0].size, np.int32), np.empty(asked.size, np.int64)
    sums = np.empty((2, out.size), np.int64)
    used = merge_partners(
        np.cumsum(totals) - totals, sizes, *joined, after, before, touched, min_together,
        out, sums[0], sums[1], out_sizes,
    )  # fmt: skip
    return None, (out_sizes, out[:used].copy(), narrowed(sums[0, :used]), narrowed(sums[1, :used]))
