"""Basis terms: the b most frequent unigrams and bigrams of a corpus, picked once for all tasks.

Exact in bounded memory. Bigrams of the m most frequent keys are counted in an m × m table; the b-th largest count L
among them bounds the answer from below, and a bigram that occurs L times is made of keys that occur at least L
times. If all those keys were among the m, the table holds the answer; if not, the bigrams of just those keys are
counted by sorting.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.strings import Strings
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import digest, write_text
from bagpack.jit import kernel
from bagpack.parallel import Arrays, Shared, Work, gather, share, worker_count

I64 = NDArray[np.int64]

TABLE_KEYS = 4096
MOST_TOKENS = 1 << 31  # in the shards that share a table, about
MOST_CODES = 1 << 25  # distinct bigrams held at once; more are counted in several passes

HEADER = "kind\tterm\tcount"
BARE_HEADER = "kind\tterm"  # of a basis whose counts were left out


@dataclass(frozen=True, eq=False)
class Basis:
    """The terms that span the vectors: unigrams, then bigrams, each by rank."""

    unigrams: tuple[str, ...]
    bigrams: tuple[tuple[str, str], ...]
    unigram_counts: tuple[int, ...] = ()
    bigram_counts: tuple[int, ...] = ()
    corpus_hash: str = ""  # of the store it was picked from; empty if it was read from a file

    def __post_init__(self) -> None:
        for kind, terms in (("unigram", self.unigrams), ("bigram", self.bigrams)):
            if len(set(terms)) != len(terms):
                twice = next(term for term in terms if terms.count(term) > 1)
                raise UsageError(f"the basis has the {kind} {twice!r} twice; leave one out")
        if not self.terms:
            raise UsageError("the basis has no terms; give at least one")

    @cached_property
    def terms(self) -> list[str]:
        """All terms by column."""
        return [*self.unigrams, *(f"{first} {second}" for first, second in self.bigrams)]

    def __len__(self) -> int:
        return len(self.unigrams) + len(self.bigrams)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self.hash == other.hash

    @cached_property
    def hash(self) -> str:
        """Identifies the terms and their order."""
        lines = [*self.unigrams, *("\t".join(bigram) for bigram in self.bigrams)]
        return digest("\n".join([str(len(self.unigrams)), *lines]).encode())

    def to_tsv(self) -> str:
        """`kind`, `term`, `count`, in rank order.

        A bigram of words that hold spaces themselves has its first word in a fourth column.
        """
        lines = [HEADER]
        counts = self.unigram_counts or (0,) * len(self.unigrams)
        lines += [f"unigram\t{term}\t{count}" for term, count in zip(self.unigrams, counts, strict=True)]
        counts = self.bigram_counts or (0,) * len(self.bigrams)
        for (first, second), count in zip(self.bigrams, counts, strict=True):
            divided = f"\t{first}" if " " in first or " " in second else ""
            lines.append(f"bigram\t{first} {second}\t{count}{divided}")
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the TSV."""
        write_text(Path(path), self.to_tsv())

    @classmethod
    def open(cls, path: str | Path) -> Basis:
        """Read a TSV that `save` or a person wrote; counts may be missing."""
        try:
            data = Path(path).read_bytes()
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise InputError(
                f"{path}:{line} is not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8"
            ) from error
        except OSError as error:
            raise InputError(
                f"{path} cannot be read: {error.strerror}; make one with bagpack basis"
            ) from error
        return cls.from_tsv(text, str(path))

    @classmethod
    def from_tsv(cls, text: str, path: str = "the basis") -> Basis:
        """From the text of a TSV; see `to_tsv`."""
        unigrams: dict[str, int] = {}
        bigrams: dict[tuple[str, str], int] = {}
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            if (
                not line.strip()
                or (line.startswith("#") and "\t" not in line)
                or line in (HEADER, BARE_HEADER)
            ):
                continue
            kind, term, count, first = [*line.split("\t"), "", "", ""][:4]
            if kind not in ("unigram", "bigram") or not term:
                raise InputError(
                    f"{path}:{number} is not a basis line: {line[:60]!r}; write unigram or bigram, TAB, the term, TAB, "
                    f"its count"
                )
            if count and not (count.isascii() and count.isdigit()):
                raise InputError(
                    f"{path}:{number} has the count {count!r}, which is not an integer; correct it"
                )
            first = first or term.partition(" ")[0]
            second = term.removeprefix(f"{first} ")
            if kind == "bigram" and (second == term or not first or not second):
                raise InputError(
                    f"{path}:{number} is a bigram of one word: {term!r}; write it as first second"
                )
            if term in unigrams if kind == "unigram" else (first, second) in bigrams:
                raise InputError(f"{path}:{number} has the {kind} {term!r} a second time; leave one out")
            if kind == "unigram":
                unigrams[term] = int(count or 0)
            else:
                bigrams[first, second] = int(count or 0)
        if not unigrams and not bigrams:
            raise InputError(f"{path} holds no basis terms; make one with bagpack basis STORE -b 1500")
        return cls(tuple(unigrams), tuple(bigrams), tuple(unigrams.values()), tuple(bigrams.values()))

    @classmethod
    def of(cls, corpus: Corpus, b: int = 1500, n_jobs: int | None = None) -> Basis:
        """The b most frequent unigrams and bigrams of a corpus; equal counts in code-point order."""
        if b < 1:
            raise UsageError(f"b = {b} gives no basis; give at least 1")
        unigrams, unigram_counts = top_unigrams(corpus, b)
        bigrams, bigram_counts = top_bigrams(corpus, b, n_jobs)
        return cls(
            tuple(unigrams), tuple(bigrams), tuple(unigram_counts), tuple(bigram_counts), corpus.content_hash
        )

    def rank_problems(self) -> list[str]:
        """What is wrong with the order of the terms: by falling count, equal counts in code-point order."""
        found = []
        bigrams = [" ".join(bigram) for bigram in self.bigrams]
        for kind, terms, counts in (
            ("unigram", list(self.unigrams), self.unigram_counts),
            ("bigram", bigrams, self.bigram_counts),
        ):
            ranks = [(-count, term) for term, count in zip(terms, counts, strict=True)] if any(counts) else []
            for before, after in itertools.pairwise(ranks):
                if after < before:
                    found.append(
                        f"has the {kind} {after[1]!r} ({-after[0]:,}) behind {before[1]!r} ({-before[0]:,}), which is "
                        f"not rank order"
                    )
                    break
        return found

    def check_corpus(self, source: Any, path: str) -> None:
        """A basis of another corpus is refused: its terms would be the wrong ones, silently.

        Told by the counts of its unigrams, which are those of the corpus it was picked from. Without counts it is
        used on purpose; and snippets take any basis, as the paper took a large corpus's.
        """
        corpus = source if isinstance(source, Corpus) else getattr(source, "corpus", None)
        if corpus is None or not any(self.unigram_counts):
            return
        for term, count, here in zip(
            self.unigrams, self.unigram_counts, corpus_counts(corpus, self.unigrams), strict=True
        ):
            if count and count != here:
                raise StoreError(
                    f"the basis {path} was picked from another corpus than {corpus.path} ({term!r} stands {count:,} "
                    f"times there, {here:,} times here); pick one with bagpack basis {corpus.path}, or leave the "
                    f"counts out to use it on purpose"
                )


def corpus_counts(corpus: Corpus, terms: Sequence[str]) -> list[int]:
    """How often each key occurs in a corpus."""
    found = corpus.lexicon.keys.find(terms)
    return [int(corpus.lexicon.counts[index]) if index >= 0 else 0 for index in found.tolist()]


def top_unigrams(corpus: Corpus, b: int) -> tuple[list[str], list[int]]:
    """The b most frequent keys with their counts."""
    counts = corpus.lexicon.counts
    order = np.argsort(-counts, kind="stable")[:b]  # keys lie in code-point order: a stable sort breaks ties
    return [corpus.lexicon.keys[int(i)] for i in order], counts[order].tolist()


@kernel
def _fill_table(tokens, candidate, table):  # type: ignore[no-untyped-def]
    """Count bigrams of candidates inside sentences; `candidate` gives each type's number or -1."""
    previous = np.int64(-1)
    for i in range(tokens.size):
        token = tokens[i]
        current = np.int64(candidate[token & TYPE_MASK])
        if previous >= 0 and current >= 0 and not token & SENTENCE_START:
            table[previous, current] += 1
        previous = current


@kernel
def _collect_codes(tokens, candidate, size, part, parts, codes):  # type: ignore[no-untyped-def]
    """Codes first·size + second of candidate bigrams whose first falls into this part; returns how many."""
    previous = np.int64(-1)
    n = 0
    for i in range(tokens.size):
        token = tokens[i]
        current = np.int64(candidate[token & TYPE_MASK])
        if previous >= 0 and current >= 0 and not token & SENTENCE_START and previous % parts == part:
            codes[n] = previous * size + current
            n += 1
        previous = current
    return n


def _candidates(shard: Shard, keys: Strings) -> NDArray[np.int32]:
    """Number of each type's key among the candidate keys, or -1."""
    number = np.full(len(shard.keys), -1, np.int32)
    found = shard.keys.find(keys)
    known = np.flatnonzero(found >= 0)
    number[found[known]] = known
    return number[shard.key_of_type]


def count_in_table(shard_paths: Sequence[str], shared: Shared) -> tuple[None, Arrays]:
    """Bigram counts among few keys in some shards: an m × m table, or its entries if they take less room."""
    keys: Strings = shared.get()
    table = np.zeros((len(keys), len(keys)), np.uint32)
    for path in shard_paths:
        shard = Shard(Path(path))
        _fill_table(shard.tokens, _candidates(shard, keys), table)
    flat = table.reshape(-1)
    codes = np.flatnonzero(flat)
    return None, (flat,) if codes.size > flat.size // 2 else (codes.astype(np.uint32), flat[codes])


def count_by_sorting(
    shard_paths: Sequence[str], shared: Shared, part: int, parts: int
) -> tuple[None, Arrays]:
    """Bigram counts among many keys in some shards, those of one part of the first keys."""
    keys: Strings = shared.get()
    return None, add_counts(_sorted_codes(Shard(Path(path)), keys, part, parts) for path in shard_paths)


def add_tables(results: Iterable[Arrays], size: int) -> tuple[I64, I64]:
    """Sum of what `count_in_table` gives, as codes first·m + second and counts; one table and the sum are held."""
    total = np.zeros(size * size, np.int64)
    for arrays in results:
        if len(arrays) == 1:
            total += arrays[0]
        else:
            total[arrays[0]] += arrays[1]
    codes = np.flatnonzero(total)
    return codes, total[codes]


def _sorted_codes(shard: Shard, keys: Strings, part: int, parts: int) -> tuple[I64, I64]:
    codes = np.empty(shard.tokens.size, np.int64)
    n = _collect_codes(shard.tokens, _candidates(shard, keys), len(keys), part, parts, codes)
    ordered = np.sort(codes[:n])
    firsts = _run_starts(ordered)
    return ordered[firsts], np.diff(np.append(firsts, n))


def _shard_groups(corpus: Corpus, n_jobs: int | None) -> list[list[str]]:
    """Shards for each worker: one table serves several, as long as its 32-bit counts cannot overflow."""
    groups: list[list[str]] = []
    wanted = -(-corpus.tokens // worker_count(n_jobs))
    room = 0
    for shard, entry in zip(corpus.shards, corpus.manifest["shards"], strict=True):
        size = int(entry["tokens"])
        if room < size / 2 or not groups:
            groups.append([])
            room = min(wanted, MOST_TOKENS)
        groups[-1].append(str(shard.directory.absolute()))
        room -= size
    return groups


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


def top_bigrams(corpus: Corpus, b: int, n_jobs: int | None = None) -> tuple[list[tuple[str, str]], list[int]]:
    """The b most frequent pairs of adjacent keys; equal counts in code-point order of `first second`."""
    lexicon = corpus.lexicon
    groups = _shard_groups(corpus, n_jobs)
    by_count = np.argsort(-lexicon.counts, kind="stable")

    def count(
        work: Work, add: Callable[[Any], tuple[I64, I64]], keys: Strings, *more: int
    ) -> tuple[I64, I64]:
        with share(keys, n_jobs, len(groups), corpus.path) as shared:
            calls = [(paths, shared, *more) for paths in groups]
            with gather(work, calls, n_jobs, corpus.path) as left:
                return add(task.take() for task in left)

    size = min(TABLE_KEYS, by_count.size)
    keys = lexicon.keys.take(np.sort(by_count[:size]))
    best = _best(*count(count_in_table, partial(add_tables, size=size), keys), b)
    least = int(best[1].min()) if best[0].size >= b else 1
    needed = int((lexicon.counts >= least).sum())
    if needed > size:
        size = needed
        keys = lexicon.keys.take(np.sort(by_count[:size]))
        parts = -(-min(corpus.tokens, size * size) // MOST_CODES)
        found = [_best(*count(count_by_sorting, add_counts, keys, part, parts), b) for part in range(parts)]
        best = np.concatenate([codes for codes, _ in found]), np.concatenate([counts for _, counts in found])
    named = [
        (-count, f"{keys[code // size]} {keys[code % size]}", keys[code // size], keys[code % size])
        for code, count in zip(best[0].tolist(), best[1].tolist(), strict=True)
    ]
    named.sort()
    return [(first, second) for _, _, first, second in named[:b]], [-entry[0] for entry in named[:b]]
