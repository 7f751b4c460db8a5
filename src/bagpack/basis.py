"""Basis terms: the b most frequent unigrams and the b most frequent bigrams of a corpus, once for all tasks.

Exact in bounded memory. Bigrams of the m most frequent words are counted in an m × m table; the b-th largest count L
among them bounds the answer from below, and a bigram that occurs L times is made of words that occur at least L
times. If all those words were among the m, the table holds the answer; if not, the bigrams of just those words are
counted by sorting.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.arrays import I32, I64, Floats
from bagpack.corpus.corpus import Corpus, Segments
from bagpack.corpus.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.segment import Segment
from bagpack.corpus.strings import Strings
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import damaged, digest, write_text
from bagpack.kernels import kernel
from bagpack.parallel import Arrays, Shared, gather, share, worker_count

Counted = tuple[I64, I64]  # codes of bigrams, ascending, and how often each occurs

DEFAULT_B = 1500
HEADER = "kind\tterm\tcount"
CHECKSUM = "# blake2b of the terms: "
MOST_CHARACTERS = 1 << 28  # of a file, some ten million terms
DIGITS = 19  # of 2⁶³
INNER_SPACE = "\N{NO-BREAK SPACE}"  # in a term, the space inside a word such as `New York`
TABLE_WORDS = 4096
MOST_TOKENS = 1 << 31  # in the segments that share a table, about
MOST_CODES = 1 << 25  # distinct bigrams held at once; more are counted in several passes


@dataclass(frozen=True, eq=False)
class Basis:
    """The terms that span the vectors: unigrams, then bigrams, each by rank."""

    unigrams: tuple[str, ...]
    bigrams: tuple[tuple[str, str], ...]
    unigram_counts: tuple[int, ...] = ()
    bigram_counts: tuple[int, ...] = ()
    corpus_hash: str = ""  # of the store it was picked from; empty if it was read from a file

    def __post_init__(self) -> None:
        if not self.terms:
            raise UsageError("the basis has no terms; give at least one")
        if len(set(self.terms)) != len(self):
            raise UsageError("the basis has a term twice; remove one")

    @classmethod
    def of(cls, corpus: Corpus, b: int = DEFAULT_B) -> Basis:
        """The b most frequent unigrams and bigrams of a corpus; equal counts in code-point order of the terms."""
        if b < 1:
            raise UsageError(f"b = {b} gives no basis; give at least 1")
        unigrams, counts = top_unigrams(corpus, b)
        bigrams, more = top_bigrams(corpus, b)
        return cls(tuple(unigrams), tuple(bigrams), tuple(counts), tuple(more), corpus.content_hash)

    @cached_property
    def terms(self) -> list[str]:
        """The terms by column; a space inside a word is a no-break space, so that no two terms look the same."""
        return [*map(term_of, self.unigrams), *itertools.starmap(term_of, self.bigrams)]

    @cached_property
    def frequencies(self) -> Floats | None:
        """Corpus frequency of each term by column; None for a basis without counts."""
        counts = (*self.unigram_counts, *self.bigram_counts)
        return np.array(counts, np.float64) if len(counts) == len(self) and any(counts) else None

    @property
    def tokens(self) -> int:
        """Tokens of the unigrams: all tokens of the corpus but those of rare words."""
        return sum(self.unigram_counts)

    def __len__(self) -> int:
        return len(self.unigrams) + len(self.bigrams)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self.hash == other.hash

    @cached_property
    def hash(self) -> str:
        bigrams = ["\t".join(bigram) for bigram in self.bigrams]
        return digest("\n".join([str(len(self.unigrams)), *self.unigrams, *bigrams]).encode())

    def to_tsv(self) -> str:
        """The terms in rank order with the columns `kind`, `term`, `count`."""
        kinds = ["unigram"] * len(self.unigrams) + ["bigram"] * len(self.bigrams)
        counts = (*self.unigram_counts, *self.bigram_counts) or (0,) * len(self)
        lines = ["\t".join(map(str, line)) for line in zip(kinds, self.terms, counts, strict=True)]
        return "\n".join([HEADER, *lines]) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the TSV with a comment behind the header that has its checksum: a file that is cut off is noticed."""
        header, _, terms = self.to_tsv().partition("\n")
        write_text(Path(path), f"{header}\n{CHECKSUM}{digest(terms.encode())}\n{terms}")

    @classmethod
    def open(cls, path: str | Path) -> Basis:
        """Read a TSV that `save` or a person wrote; counts may be missing."""
        try:
            with open(path, encoding="utf-8-sig") as file:
                text = file.read(MOST_CHARACTERS)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read ({error}); give a TSV file in UTF-8") from error
        if len(text) == MOST_CHARACTERS:
            raise InputError(f"{path} is too large for a basis; make one with bagpack basis STORE -b 1500")
        line, _, terms = text.partition("\n")[2].partition("\n")
        right = CHECKSUM + digest(terms.encode())
        if line.startswith("#") and len(line) == len(right) and line != right:
            raise damaged(path, "does not match the checksum in its second line (remove it after editing)")
        return cls.from_tsv(text, str(path))

    @classmethod
    def open_for(cls, path: str, source: Any) -> Basis:
        basis = cls.open(path)
        basis.check_corpus(source, path)
        return basis

    @classmethod
    def from_tsv(cls, text: str, path: str = "the basis") -> Basis:
        found: dict[str, dict[str, int]] = {"unigram": {}, "bigram": {}}
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            comment = line.startswith("#") and "\t" not in line
            if not line.strip() or comment or HEADER.startswith(line):
                continue
            kind, term, count, *more = [*line.split("\t"), "", ""]
            two_words = kind != "bigram" or all(term.partition(" "))
            whole = not count or (count.isascii() and count.isdigit() and len(count) < DIGITS)
            if kind not in found or not term or any(more) or not two_words or not whole:
                raise InputError(
                    f"{path}:{number} is not a basis line: {line[:60]!r}; write unigram or bigram, TAB, one or two "
                    f"words, TAB, the count"
                )
            if term in found[kind]:
                raise InputError(f"{path}:{number} has the {kind} {term!r} a second time; remove one")
            found[kind][term] = int(count or 0)
        unigrams, bigrams = found["unigram"], found["bigram"]
        if not unigrams and not bigrams:
            raise InputError(f"{path} holds no basis terms; make one with bagpack basis STORE -b 1500")
        words = tuple(word.replace(INNER_SPACE, " ") for word in unigrams)
        pairs = tuple((first, second) for first, second in map(words_of, bigrams))
        return cls(words, pairs, tuple(unigrams.values()), tuple(bigrams.values()))

    @classmethod
    def problems(cls, path: str | Path) -> list[str]:
        """Damage of a file by the order of its counts; `open` compares the checksum."""
        basis = cls.open(path)
        for terms_of, counts in (basis.unigrams, basis.unigram_counts), (basis.bigrams, basis.bigram_counts):
            ranks = [(-count, term) for count, term in zip(counts, terms_of, strict=False)]
            if any(counts) and ranks != sorted(ranks):
                return ["has terms in an order which is not rank order; choose the basis again"]
        return []

    def check_corpus(self, source: Any, path: str) -> None:
        """Refuse a basis of another corpus, whose terms would silently be the wrong ones.

        The counts of its unigrams are compared with those of the corpus. A basis without counts is used on purpose;
        and snippets take any basis, as the paper took a large corpus's.
        """
        corpus = source if isinstance(source, Corpus) else getattr(source, "corpus", None)
        if corpus is None or not any(self.unigram_counts):
            return
        found = corpus.lexicon.keys.find(self.unigrams)
        counts = np.where(found >= 0, corpus.lexicon.counts[np.maximum(found, 0)], 0).tolist()
        for term, count, here in zip(self.unigrams, self.unigram_counts, counts, strict=True):
            if count and count != here:
                raise StoreError(
                    f"the basis {path} was chosen from a corpus other than {corpus.name} ({term!r} occurs {count:,} "
                    f"times there, {here:,} times here); choose one from it, or remove the counts"
                )


pick_basis = lru_cache(maxsize=8)(Basis.of)  # the last few are remembered


def term_of(*words: str) -> str:
    """The term of one word or two.

    >>> term_of("live", "in"), term_of("new york", "city") == term_of("new", "york city")
    ('live in', False)
    """
    return " ".join(word.replace(" ", INNER_SPACE) for word in words)


def words_of(term: str) -> list[str]:
    """The one or two words of a term; see `term_of`."""
    return [word.replace(INNER_SPACE, " ") for word in term.split(" ", 1)]


def top_unigrams(corpus: Corpus, b: int) -> tuple[list[str], list[int]]:
    """The b most frequent words with their counts; equal counts in code-point order, which is that of the lexicon."""
    counts = np.asarray(corpus.lexicon.counts, np.int64)
    which = np.argsort(-counts, kind="stable")[:b]
    which = which[counts[which] > 0]  # not all keys occur in a subcorpus
    return [corpus.lexicon.keys[number] for number in which.tolist()], counts[which].tolist()


def top_bigrams(corpus: Corpus, b: int) -> tuple[list[tuple[str, str]], list[int]]:
    """The b most frequent bigrams with their counts; equal counts in code-point order of their terms."""
    keys, all_counts = corpus.lexicon.keys, np.asarray(corpus.lexicon.counts, np.int64)
    occurring = int(np.count_nonzero(all_counts))
    by_count = np.argsort(-all_counts, kind="stable")[:occurring]
    groups = _segment_groups(corpus)

    def count(work: Any, add: Any, which: I64, *more: int) -> Counted:
        with share(keys.take(which), len(groups), corpus.path) as shared:
            calls = [(segments, shared, which.size, *more) for segments in groups]
            with gather(work, calls, corpus.path) as left:
                codes, counts = add(task.take() for task in left)
        return _best(codes, counts, b)

    which = np.sort(by_count[:TABLE_WORDS])
    best = count(count_in_table, partial(add_tables, size=which.size), which)
    least = int(best[1].min()) if best[0].size >= b else 1
    needed = int((all_counts >= least).sum())
    if needed > which.size:
        which = np.sort(by_count[:needed])
        parts = -(-min(corpus.tokens, needed * needed) // MOST_CODES)
        found = [count(count_by_sorting, add_counts, which, part, parts) for part in range(parts)]
        best = np.concatenate([codes for codes, _ in found]), np.concatenate([counts for _, counts in found])
    named = []
    for code, number in zip(best[0].tolist(), best[1].tolist(), strict=True):
        first, second = (keys[int(which[word])] for word in divmod(code, which.size))
        named.append((-number, f"{first} {second}", first, second))
    named = sorted(named)[:b]
    return [(first, second) for _, _, first, second in named], [-entry[0] for entry in named]


def _best(codes: I64, counts: I64, b: int) -> Counted:
    """All entries whose count is among the b largest, ties at the end included."""
    if codes.size <= b:
        return codes, counts
    kept = counts >= np.partition(counts, counts.size - b)[counts.size - b]
    return codes[kept], counts[kept]


def _segment_groups(corpus: Corpus) -> list[Segments]:
    """Segments for each worker: one table serves several, as long as its 32-bit counts cannot overflow."""
    starts: list[int] = []
    wanted = -(-corpus.tokens // worker_count())
    left = 0
    for number, size in enumerate(corpus.segment_tokens):
        if left < size / 2 or not starts:
            starts.append(number)
            left = min(wanted, MOST_TOKENS)
        left -= size
    segments = corpus.segments
    return [segments[low:high] for low, high in itertools.pairwise([*starts, len(segments)])]


@kernel
def _scan_bigrams(tokens, starts, ends, numbers, size, part, parts, table, codes):  # type: ignore[no-untyped-def]
    """Count first·size + second of the bigrams of numbered words inside sentences in the table, if there is one.

    If not, list them, those whose first word is in this part of them; returns how many. `numbers` gives each type's
    number, or -1.
    """
    n = 0
    counted = table.size > 0
    for r in range(starts.size):
        previous = np.int64(-1)
        for i in range(starts[r], ends[r]):
            token = tokens[i]
            current = np.int64(numbers[token & TYPE_MASK])
            if previous >= 0 and current >= 0 and not token & SENTENCE_START:
                if counted:
                    table[previous * size + current] += 1
                elif previous % parts == part:
                    codes[n] = previous * size + current
                    n += 1
            previous = current
    return n


def _numbers_in(segment: Segment, words: Strings) -> I32:
    """The number of each type's key among the words, -1 for none."""
    of_key = np.full(len(segment.keys), -1, np.int32)
    found = segment.keys.find(words)
    known = np.flatnonzero(found >= 0)
    of_key[found[known]] = known
    return of_key[segment.key_of_type]


def count_in_table(segments: Sequence[Segment], shared: Shared, size: int) -> tuple[None, Arrays]:
    """Bigram counts among few words in some segments, from a size × size table."""
    words: Strings = shared.get()
    table = np.zeros(size * size, np.uint32)
    for segment in segments:
        numbers = _numbers_in(segment, words)
        _scan_bigrams(segment.tokens, *segment.runs, numbers, size, 0, 1, table, np.empty(0, np.int64))
    codes = np.flatnonzero(table != 0)  # three times as fast as without the comparison
    return None, (codes.astype(np.uint32), table[codes])


def add_tables(results: Iterator[Arrays], size: int) -> Counted:
    """Sum of what `count_in_table` gives; one result and the sum are held."""
    total = np.zeros(size * size, np.int64)
    for codes, counts in results:
        total[codes] += counts
    codes = np.flatnonzero(total)
    return codes, total[codes]


def count_by_sorting(
    segments: Sequence[Segment], shared: Shared, size: int, part: int, parts: int
) -> tuple[None, Arrays]:
    """Bigram counts among many words in some segments, those of one part of the first words."""
    words: Strings = shared.get()

    def counted(segment: Segment) -> Counted:
        starts, ends = segment.runs
        codes, numbers = np.empty(int((ends - starts).sum()), np.int64), _numbers_in(segment, words)
        no_table = np.empty(0, np.uint32)
        n = _scan_bigrams(segment.tokens, starts, ends, numbers, size, part, parts, no_table, codes)
        ordered = np.sort(codes[:n])
        firsts = _run_starts(ordered)
        return ordered[firsts], np.diff(np.append(firsts, n))

    return None, add_counts(map(counted, segments))


def add_counts(results: Iterable[Counted]) -> Counted:
    """Sum of sparse counts; only the running sum and one result are held."""
    codes, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for more_codes, more_counts in results:
        both = np.concatenate([codes, more_codes])
        order = np.argsort(both, kind="stable")
        both = both[order]
        firsts = _run_starts(both)
        codes = both[firsts]
        if codes.size:
            counts = np.add.reduceat(np.concatenate([counts, more_counts])[order], firsts)
    return codes, counts


def _run_starts(ordered: I64) -> I64:
    """Where each run of equal values begins (np.unique hashes, which is slower on sorted numbers)."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if ordered.size else ordered
