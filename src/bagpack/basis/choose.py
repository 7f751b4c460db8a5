"""Choosing basis terms: the most frequent unigrams and bigrams of a corpus, once for all tasks.

Terms are made of units: keys; with `BasisChoice.tags` keys with a tag; with `BasisChoice.tag_terms` tags as well.

Exact in bounded memory. Bigrams of the m most frequent units are counted in an m × m table; the b-th largest count L
among them bounds the answer from below, and a bigram that occurs L times is made of units that occur at least L
times. If all those units were among the m, the table holds the answer; if not, the bigrams of just those units are
counted by sorting.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis.terms import Basis, BasisChoice, split_term
from bagpack.corpus.store.corpus import Corpus, Shards
from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.function_words import CONTENT_CODES, is_content_word
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.subcorpus import open_corpus
from bagpack.corpus.text.tagsets import CODES, UNIVERSAL
from bagpack.errors import UsageError
from bagpack.jit import inlined, kernel
from bagpack.parallel import Arrays, Shared, Work, gather, share, worker_count

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]

TABLE_UNITS = 4096
MOST_TOKENS = 1 << 31  # in the shards that share a table, about
MOST_CODES = 1 << 25  # distinct bigrams held at once; more are counted in several passes
ANY = -1  # instead of a key or a tag


def choose_basis(corpus: Corpus, choice: BasisChoice, n_jobs: int | None = None) -> Basis:
    """The most frequent terms of a corpus."""
    if choice.tagged and not corpus.tags:
        raise UsageError(
            f"{corpus.name} has no parts of speech, so basis terms cannot have any; index text that has them (English "
            f"text: bagpack index --tag)"
        )
    units = find_units(corpus, choice, n_jobs)
    unigrams, unigram_counts = top_unigrams(units, choice)
    bigrams, bigram_counts = top_bigrams(corpus, units, choice, n_jobs)
    if not unigrams:
        raise UsageError(f"{corpus.name} has no {choice.words} words, so there is no basis; choose all words")
    return Basis(
        tuple(unigrams), tuple(bigrams), tuple(unigram_counts), tuple(bigram_counts), corpus.content_hash,
        choice.tagged,
    )  # fmt: skip


# Units ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Units:
    """What terms are made of, in code-point order if none has a tag: a key, a tag, or both, and how often it occurs."""

    corpus: Corpus
    keys: I64  # numbers in the lexicon; ANY for a tag
    tags: I64  # codes of tags; ANY for a key without one
    counts: I64

    def named(self, which: I64) -> list[str]:
        """The units as they are written in terms."""
        written = zip(self.keys[which].tolist(), self.tags[which].tolist(), strict=True)
        words = self.corpus.lexicon.keys
        return [
            "/".join([words[key]] * (key != ANY) + [UNIVERSAL[tag]] * (tag != ANY)) for key, tag in written
        ]

    def numbered(self, which: I64) -> Numbered:
        """Some of the units, to be looked up in shards under the numbers 0, 1, ..."""
        keys, tags, numbers = self.keys[which], self.tags[which], np.arange(which.size, dtype=np.int32)
        distinct, places = np.unique(keys[keys != ANY], return_inverse=True)
        of_tag = np.full(len(UNIVERSAL), -1, np.int32)
        of_tag[tags[keys == ANY]] = numbers[keys == ANY]
        own, own_tags = numbers[keys != ANY], tags[keys != ANY]
        variants = np.full((1 + distinct.size, len(UNIVERSAL) if (tags != ANY).any() else 1), -1, np.int32)
        variants[1 + places[own_tags == ANY]] = own[own_tags == ANY, None]
        variants[1 + places[own_tags != ANY], own_tags[own_tags != ANY]] = own[own_tags != ANY]
        return Numbered(
            self.corpus.lexicon.keys.take(distinct),
            variants if variants.shape[1] > 1 else variants[:, 0],
            of_tag,
        )


@dataclass(frozen=True)
class Numbered:
    """Units by number: variants[1 + k] is that of the k-th key (with tags: of each of its tags), of_tag of each tag."""

    keys: Strings
    variants: I32
    of_tag: I32

    def in_shard(self, shard: Shard) -> tuple[I32, NDArray[np.uint8]]:
        """Of each type: the unit's number, or with tags the row of `variants`; and the shard's tags, if needed."""
        number = np.zeros(len(shard.keys), np.int32)
        found = shard.keys.find(self.keys)
        known = np.flatnonzero(found >= 0)
        number[found[known]] = 1 + known
        if self.variants.ndim == 1:
            return self.variants[number][shard.key_of_type], np.empty(0, np.uint8)
        return number[shard.key_of_type], shard.tags


def find_units(corpus: Corpus, choice: BasisChoice, n_jobs: int | None) -> Units:
    """All units of a corpus."""
    keys = np.flatnonzero(corpus.lexicon.counts)  # not all occur in a subcorpus
    counts = np.asarray(corpus.lexicon.counts, np.int64)[keys]
    tags = np.full(keys.size, ANY)
    if choice.tags:
        calls = [(corpus.absolute_name, shards) for shards in _shard_groups(corpus, n_jobs)]
        with gather(count_tagged_keys, calls, n_jobs, corpus.path) as left:
            codes, counts = add_counts(task.take() for task in left)  # type: ignore[misc]  # two arrays each
        keys, tags = codes // len(UNIVERSAL), codes % len(UNIVERSAL)
    if choice.tag_terms:
        own = [(CODES[tag], count) for tag, count in corpus.tags.items()]
        keys = np.append(keys, np.full(len(own), ANY))
        tags = np.append(tags, [tag for tag, _ in own])
        counts = np.append(counts, [count for _, count in own])
    return Units(corpus, keys, tags, counts)


@kernel
def _count_tags(tokens, tags, starts, ends, key_of_type, table):  # type: ignore[no-untyped-def]
    """Add the tokens of each key with each tag to a table keys × tags."""
    for r in range(starts.size):
        for i in range(starts[r], ends[r]):
            table[key_of_type[tokens[i] & TYPE_MASK], tags[i]] += 1


def count_tagged_keys(store: str, shards: Sequence[Shard]) -> tuple[None, Arrays]:
    """Codes number in the lexicon · tags + tag of the keys of some shards, and how often each occurs."""
    keys = open_corpus(store).lexicon.keys

    def counts(shard: Shard) -> tuple[I64, I64]:
        table = np.zeros((len(shard.keys), len(UNIVERSAL)), np.uint32)
        _count_tags(shard.tokens, shard.tags, *shard.runs, shard.key_of_type, table)
        own, tags = np.nonzero(table)
        return keys.find(shard.keys)[own] * len(UNIVERSAL) + tags, table[own, tags].astype(np.int64)

    return None, add_counts(map(counts, shards))


def _usable(units: Units, which: I64, choice: BasisChoice) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of some units: whether they can be in a term, and whether they are content words.

    A word that is written like a tag (possible with --case keep) cannot be in a basis where tags are terms.
    """
    clear = np.ones(which.size, np.bool_)
    if choice.tag_terms and not choice.tags:
        written = zip(units.named(which), units.tags[which].tolist(), strict=True)
        clear = np.array([tag != ANY or not split_term(name)[1] for name, tag in written], np.bool_)
    if choice.words == "all":
        return clear, clear
    tags = units.tags[which]
    content = np.isin(tags, CONTENT_CODES)
    untagged = np.flatnonzero(tags == ANY)
    content[untagged] = is_content_word(units.corpus, units.keys[which][untagged])
    return clear, content


# Unigrams ---------------------------------------------------------------------------------------------------------


def top_unigrams(units: Units, choice: BasisChoice) -> tuple[list[str], list[int]]:
    """The b most frequent units with their counts; equal counts in code-point order."""
    by_count = np.argsort(-units.counts, kind="stable")
    named: list[tuple[int, str]] = []
    at = 0
    while at < by_count.size and len(named) < choice.b:
        end = min(by_count.size, at + 2 * choice.b)
        while end < by_count.size and units.counts[by_count[end]] == units.counts[by_count[end - 1]]:
            end += 1  # all of one count, so that their order can be decided
        which = by_count[at:end]
        clear, content = _usable(units, which, choice)
        kept = which[clear & _of_kind(content, choice)]
        named += zip((-units.counts[kept]).tolist(), units.named(kept), strict=True)
        at = end
    named = sorted(named)[: choice.b]
    return [name for _, name in named], [-count for count, _ in named]


def _of_kind(content: NDArray[np.bool_], choice: BasisChoice) -> NDArray[np.bool_]:
    """Which terms are wanted, by whether they have a content word."""
    return content | (choice.words == "all") if choice.words != "function" else ~content


# Bigrams ----------------------------------------------------------------------------------------------------------


@inlined
def _add_bigram(out, n, first, second, size, part, parts):  # type: ignore[no-untyped-def]
    """Count a bigram in a table, or add its code to a list if its first unit falls into this part."""
    if out.ndim == 2:
        out[first, second] += 1
    elif first % parts == part:
        out[n] = first * size + second
        n += 1
    return n


@kernel
def _count_bigrams(  # type: ignore[no-untyped-def]
    tokens, tags, starts, ends, numbers, variants, of_tag, size, part, parts, out
):
    """Bigrams of numbered units inside sentences: counted in a table size × size, or listed as first·size + second.

    `numbers` gives each type's unit, or its row of `variants`. Returns how many are listed.
    """
    n = 0
    for r in range(starts.size):
        previous = previous_tag = np.int64(-1)
        for i in range(starts[r], ends[r]):
            token = tokens[i]
            current = np.int64(numbers[token & TYPE_MASK])
            if variants.ndim == 1:
                if previous >= 0 and current >= 0 and not token & SENTENCE_START:
                    n = _add_bigram(out, n, previous, current, size, part, parts)
            else:
                current = np.int64(variants[current, tags[i]])
                tag = np.int64(of_tag[tags[i]])
                if not token & SENTENCE_START:
                    for first in (previous, previous_tag):
                        for second in (current, tag):
                            if first >= 0 and second >= 0:
                                n = _add_bigram(out, n, first, second, size, part, parts)
                previous_tag = tag
            previous = current
    return n


def count_in_table(shards: Sequence[Shard], shared: Shared, size: int) -> tuple[None, Arrays]:
    """Bigram counts among few units in some shards: a size × size table, or its entries if they take less memory."""
    units: Numbered = shared.get()
    table = np.zeros((size, size), np.uint32)
    for shard in shards:
        numbers, tags = units.in_shard(shard)
        _count_bigrams(
            shard.tokens, tags, *shard.runs, numbers, units.variants, units.of_tag, size, 0, 1, table
        )
    flat = table.reshape(-1)
    codes = np.flatnonzero(flat != 0)  # three times as fast as without the comparison
    return None, (flat,) if codes.size > flat.size // 2 else (codes.astype(np.uint32), flat[codes])


def count_by_sorting(
    shards: Sequence[Shard], shared: Shared, size: int, part: int, parts: int
) -> tuple[None, Arrays]:
    """Bigram counts among many units in some shards, those of one part of the first units."""
    units: Numbered = shared.get()
    return None, add_counts(_sorted_codes(shard, units, size, part, parts) for shard in shards)


def add_tables(results: Iterator[Arrays], size: int) -> tuple[I64, I64]:
    """Sum of what `count_in_table` gives, as codes first·m + second and counts; one table and the sum are held."""
    first, *rest = itertools.islice(results, 2)
    if not rest and len(first) == 2:
        return first[0].astype(np.int64), first[1].astype(np.int64)
    total = np.zeros(size * size, np.int64)
    for arrays in itertools.chain([first], rest, results):
        if len(arrays) == 1:
            total += arrays[0]
        else:
            total[arrays[0]] += arrays[1]
    codes = np.flatnonzero(total)
    return codes, total[codes]


def _sorted_codes(shard: Shard, units: Numbered, size: int, part: int, parts: int) -> tuple[I64, I64]:
    numbers, tags = units.in_shard(shard)
    starts, ends = shard.runs
    codes = np.empty(int((ends - starts).sum()) * (1 if units.variants.ndim == 1 else 4), np.int64)
    n = _count_bigrams(
        shard.tokens, tags, starts, ends, numbers, units.variants, units.of_tag, size, part, parts, codes
    )
    ordered = np.sort(codes[:n])
    firsts = _run_starts(ordered)
    return ordered[firsts], np.diff(np.append(firsts, n))


def _shard_groups(corpus: Corpus, n_jobs: int | None) -> list[Shards]:
    """Shards for each worker: one table serves several, as long as its 32-bit counts cannot overflow."""
    starts: list[int] = []
    wanted = -(-corpus.tokens // worker_count(n_jobs))
    left = 0
    for number, size in enumerate(corpus.shard_tokens):
        if left < size / 2 or not starts:
            starts.append(number)
            left = min(wanted, MOST_TOKENS)
        left -= size
    shards = corpus.shards.absolute()
    return [shards[low:high] for low, high in itertools.pairwise([*starts, len(shards)])]


def add_counts(results: Iterable[tuple[I64, I64]]) -> tuple[I64, I64]:
    """Sum of sparse counts; only the running sum and one result are held."""
    codes = np.empty(0, np.int64)
    counts = np.empty(0, np.int64)
    for more_codes, more_counts in results:
        both = np.concatenate([codes, more_codes])
        order = np.argsort(both, kind="stable")
        both = both[order]
        firsts = _run_starts(both)
        codes = both[firsts]
        counts = (
            np.add.reduceat(np.concatenate([counts, more_counts])[order], firsts) if codes.size else counts
        )
    return codes, counts


def _run_starts(ordered: I64) -> I64:
    """Where each run of equal values begins (np.unique hashes, which is slower on sorted numbers)."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if ordered.size else ordered


def _best(codes: I64, counts: I64, b: int) -> tuple[I64, I64]:
    """All entries whose count is among the b largest, ties at the end included."""
    if codes.size <= b:
        return codes, counts
    threshold = np.partition(counts, counts.size - b)[counts.size - b]
    kept = counts >= threshold
    return codes[kept], counts[kept]


def top_bigrams(
    corpus: Corpus, units: Units, choice: BasisChoice, n_jobs: int | None = None
) -> tuple[list[tuple[str, str]], list[int]]:
    """The b most frequent pairs of adjacent units; equal counts in code-point order of `first second`."""
    groups = _shard_groups(corpus, n_jobs)
    by_count = np.argsort(-units.counts, kind="stable")

    def count(work: Work, add: Callable[[Any], tuple[I64, I64]], which: I64, *more: int) -> tuple[I64, I64]:
        with share(units.numbered(which), n_jobs, len(groups), corpus.path) as shared:
            calls = [(shards, shared, which.size, *more) for shards in groups]
            with gather(work, calls, n_jobs, corpus.path) as left:
                codes, counts = add(task.take() for task in left)
        if choice != BasisChoice(choice.b, choice.tags):
            clear, content = _usable(units, which, choice)
            first, second = codes // which.size, codes % which.size
            kept = clear[first] & clear[second] & _of_kind(content[first] | content[second], choice)
            codes, counts = codes[kept], counts[kept]
        return _best(codes, counts, choice.b)

    which = np.sort(by_count[:TABLE_UNITS])
    best = count(count_in_table, partial(add_tables, size=which.size), which)
    least = int(best[1].min()) if best[0].size >= choice.b else 1
    needed = int((units.counts >= least).sum())
    if needed > which.size:
        which = np.sort(by_count[:needed])
        parts = -(-min(corpus.tokens, needed * needed) // MOST_CODES)
        found = [count(count_by_sorting, add_counts, which, part, parts) for part in range(parts)]
        best = np.concatenate([codes for codes, _ in found]), np.concatenate([counts for _, counts in found])
    firsts, seconds = (units.named(which[side]) for side in (best[0] // which.size, best[0] % which.size))
    named = sorted(
        (-count, f"{first} {second}", first, second)
        for count, first, second in zip(best[1].tolist(), firsts, seconds, strict=True)
    )[: choice.b]
    return [(first, second) for _, _, first, second in named], [-entry[0] for entry in named]
