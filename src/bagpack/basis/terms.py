"""Basis terms and their file.

A term is one word or two adjacent words. In a basis with parts of speech, a word may have a tag behind it (`saw/NOUN`:
only such tokens) or be a tag (`ADJ`: any token that has it).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.function_words import tag_counts
from bagpack.corpus.text.tagsets import CODES
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import digest, write_text

DEFAULT_B = 1500
HEADER = "kind\tterm\tcount"
# Begins the last line of a saved basis; the rest is the checksum of all lines before it.
CHECKSUM = "# blake2b "
BARE_HEADER = "kind\tterm"  # of a basis without counts
TAGGED = "# terms may have parts of speech: saw/NOUN, ADJ"
WORDS = ("all", "content", "function")


@dataclass(frozen=True)
class BasisChoice:
    """Which terms a basis is made of: the b most frequent unigrams and the b most frequent bigrams.

    Parameters
    ----------
    b
        Number of unigrams, and of bigrams.
    tags
        Words have their tags: ``saw/NOUN`` and ``saw/VERB`` are two terms.
    tag_terms
        Tags are terms too: every token counts as its word and as its tag, so that ``ADJ`` and ``of DET`` are terms.
    words
        ``"content"``: only terms with a content word; ``"function"``: only terms without one; ``"all"``.
    """

    b: int = DEFAULT_B
    tags: bool = False
    tag_terms: bool = False
    words: str = "all"

    def __post_init__(self) -> None:
        if self.b < 1:
            raise UsageError(f"b = {self.b} gives no basis; give at least 1")
        if self.words not in WORDS:
            raise UsageError(f"the basis cannot have {self.words!r} words; choose one of {', '.join(WORDS)}")

    @property
    def tagged(self) -> bool:
        """Whether terms may have parts of speech."""
        return self.tags or self.tag_terms


BasisSize = int | BasisChoice  # the number b of unigrams and of bigrams, or which ones


def split_term(word: str) -> tuple[str, str]:
    """Word and tag of a word in a basis with parts of speech; either may be empty.

    >>> split_term("saw/NOUN"), split_term("and/or"), split_term("ADJ")
    (('saw', 'NOUN'), ('and/or', ''), ('', 'ADJ'))
    """
    if word in CODES:
        return "", word
    stem, _, tag = word.rpartition("/")
    return (stem, tag) if stem and tag in CODES else (word, "")


@dataclass(frozen=True, eq=False)
class Basis:
    """The terms that span the vectors: unigrams, then bigrams, each by rank."""

    unigrams: tuple[str, ...]
    bigrams: tuple[tuple[str, str], ...]
    unigram_counts: tuple[int, ...] = ()
    bigram_counts: tuple[int, ...] = ()
    corpus_hash: str = ""  # of the store it was picked from; empty if it was read from a file
    tagged: bool = False  # whether words may have parts of speech, see `split_term`

    def __post_init__(self) -> None:
        for kind, terms in (("unigram", self.unigrams), ("bigram", self.bigrams)):
            if len(set(terms)) != len(terms):
                twice = next(term for term in terms if terms.count(term) > 1)
                raise UsageError(f"the basis has the {kind} {twice!r} twice; remove one")
        if not self.terms:
            raise UsageError("the basis has no terms; give at least one")

    @cached_property
    def terms(self) -> list[str]:
        """All terms by column."""
        return [*self.unigrams, *(f"{first} {second}" for first, second in self.bigrams)]

    @cached_property
    def frequencies(self) -> NDArray[np.float64] | None:
        """Corpus frequency of each term by column; None for a basis without counts."""
        counts = (*self.unigram_counts, *self.bigram_counts)
        return np.array(counts, np.float64) if len(counts) == len(self) and any(counts) else None

    def __len__(self) -> int:
        return len(self.unigrams) + len(self.bigrams)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self.hash == other.hash

    @cached_property
    def hash(self) -> str:
        """Identifies the terms and their order."""
        bigrams = ["\t".join(bigram) for bigram in self.bigrams]
        lines = [str(len(self.unigrams)), *self.unigrams, *bigrams, *([TAGGED] if self.tagged else [])]
        return digest("\n".join(lines).encode())

    def to_tsv(self) -> str:
        """`kind`, `term`, `count`, in rank order.

        A bigram of words that hold spaces themselves has its first word in a fourth column.
        """
        lines = [HEADER, TAGGED] if self.tagged else [HEADER]
        counts = self.unigram_counts or (0,) * len(self.unigrams)
        lines += [f"unigram\t{term}\t{count}" for term, count in zip(self.unigrams, counts, strict=True)]
        counts = self.bigram_counts or (0,) * len(self.bigrams)
        for (first, second), count in zip(self.bigrams, counts, strict=True):
            divided = f"\t{first}" if " " in first or " " in second else ""
            lines.append(f"bigram\t{first} {second}\t{count}{divided}")
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the TSV, and its checksum in a comment at the end, which `bagpack verify` checks."""
        text = self.to_tsv()
        write_text(Path(path), f"{text}{CHECKSUM}{digest(text.encode())}\n")

    @classmethod
    def open_for(cls, path: str, source: Any) -> Basis:
        """The basis of a file, which must have been chosen from this corpus."""
        basis = cls.open(path)
        basis.check_corpus(source, path)
        return basis

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
        tagged = False
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            tagged = tagged or line.rstrip() == TAGGED
            comment = line.startswith("#") and "\t" not in line
            if not line.strip() or comment or line in (HEADER, BARE_HEADER):
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
                raise InputError(f"{path}:{number} has the {kind} {term!r} a second time; remove one")
            if kind == "unigram":
                unigrams[term] = int(count or 0)
            else:
                bigrams[first, second] = int(count or 0)
        if not unigrams and not bigrams:
            raise InputError(f"{path} holds no basis terms; make one with bagpack basis STORE -b 1500")
        return cls(
            tuple(unigrams), tuple(bigrams), tuple(unigrams.values()), tuple(bigrams.values()), tagged=tagged
        )

    @classmethod
    def of(cls, corpus: Corpus, b: BasisSize = DEFAULT_B, n_jobs: int | None = None) -> Basis:
        """The b most frequent unigrams and bigrams of a corpus; equal counts in code-point order."""
        from bagpack.basis.choose import choose_basis

        return choose_basis(corpus, b if isinstance(b, BasisChoice) else BasisChoice(b), n_jobs)

    @property
    def tokens(self) -> int:
        """Tokens of its unigrams, tags excluded: all tokens of the corpus but those of rare words."""
        counted = zip(self.unigrams, self.unigram_counts, strict=True) if self.unigram_counts else ()
        return sum(count for word, count in counted if not self.tagged or split_term(word)[0])

    @classmethod
    def problems(cls, path: str | Path) -> list[str]:
        """What is wrong with the content of a file: its checksum, if it has one, or the order of its terms."""
        basis = cls.open(path)
        text, mark, checksum = Path(path).read_bytes().rpartition(CHECKSUM.encode())
        if mark and checksum.strip().decode("ascii", "replace") != digest(text):
            return [
                f"does not match the checksum in its last line: it is damaged, or was edited; if you edited it, remove "
                f"the line that begins with {CHECKSUM.strip()!r}"
            ]
        return basis.rank_problems()

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

        The counts of its unigrams are compared with those of the corpus. A basis without counts is used on purpose;
        and snippets take any basis, as the paper took a large corpus's.
        """
        corpus = source if isinstance(source, Corpus) else getattr(source, "corpus", None)
        if corpus is None or not any(self.unigram_counts):
            return
        self.check_tags(corpus)
        for term, count, here in zip(
            self.unigrams, self.unigram_counts, self._counts_in(corpus), strict=True
        ):
            if count and count != here:
                raise StoreError(
                    f"the basis {path} was chosen from a corpus other than {corpus.name} ({term!r} occurs {count:,} "
                    f"times there, {here:,} times here); choose one from it with bagpack basis, or remove the counts "
                    f"to use it on purpose"
                )

    def check_tags(self, corpus: Corpus) -> None:
        """Terms with parts of speech cannot be counted in a corpus without them."""
        if self.tagged and not corpus.tags:
            raise UsageError(
                f"{corpus.name} has no parts of speech, and the basis has terms such as "
                f"{next((word for word in self.unigrams if split_term(word)[1]), 'ADJ')}; choose another basis, or "
                f"index text that has them (English text: bagpack index --tag)"
            )

    def _counts_in(self, corpus: Corpus) -> list[int]:
        """How often each unigram occurs in a corpus."""
        split = [split_term(word) if self.tagged else (word, "") for word in self.unigrams]
        found = corpus.lexicon.keys.find([word for word, _ in split])
        counts = np.where(found >= 0, corpus.lexicon.counts[np.maximum(found, 0)], 0)
        if self.tagged:
            by_tag = tag_counts(corpus, found)
            for number, (word, tag) in enumerate(split):
                if tag:
                    counts[number] = by_tag[number, CODES[tag]] if word else corpus.tags.get(tag, 0)
        return [int(count) for count in counts]
