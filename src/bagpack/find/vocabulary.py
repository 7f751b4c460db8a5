"""The words that candidate pairs are made of: the frequent words of a corpus, or a list of terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bagpack.contexts.candidates import frequent_words, words_of
from bagpack.contexts.targets import ContextSource, Target
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.words import frequent_numbers, is_content_word
from bagpack.errors import InputError, UsageError
from bagpack.tasks.files import read_text_file
from bagpack.tasks.pairs import Pair, distinct_words

MOST_WORDS = 40_000
FUNCTION_WORDS = 1_000  # at most, among the most frequent words of a corpus
NUMERALS = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
    """.split()  # noqa: SIM905
)
SMALL = 2_000  # distinct words; in a smaller corpus without tags, function words are kept: few pairs co-occur


class Vocabulary(NamedTuple):
    """Targets, those of a list with the names under which it has them, and its terms that the corpus lacks."""

    targets: Sequence[Target]
    names: dict[Target, str]
    unknown: tuple[str, ...] = ()


def corpus_of(source: ContextSource) -> Corpus:
    """The corpus of a source; snippets hold only the pairs that were fetched."""
    if not isinstance(source, Corpus):
        raise UsageError(
            f"{source.path} holds only the pairs that were fetched, so there are no others to find in it; name a store "
            f"(bagpack index makes one)"
        )
    return source


def few(words: Sequence[str]) -> str:
    """The first five words, for a message."""
    return ", ".join(words[:5]) + (" …" if len(words) > 5 else "")


def targets_of(source: ContextSource, pairs: Iterable[Pair]) -> dict[str, Target | None]:
    """The target of each word of the pairs; None if the corpus does not contain it."""
    words = distinct_words(pairs)
    return dict(zip(words, source.resolve(words), strict=True))


@lru_cache(maxsize=4)
def corpus_vocabulary(corpus: Corpus, min_count: int = 1) -> Sequence[Target]:
    """The most frequent content words of a corpus, except numbers and single letters.

    See `bagpack.corpus.words`. Of a small corpus without parts of speech, all words that have a letter.
    """
    if not corpus.tags and corpus.types < SMALL:
        return frequent_words(corpus, MOST_WORDS, min_count)
    numbers = frequent_numbers(corpus, MOST_WORDS + FUNCTION_WORDS, min_count)
    words = words_of(corpus, numbers[is_content_word(corpus, numbers)])
    return [word for word in words if not is_number_or_letter(word.keys[0])][:MOST_WORDS]


def is_number_or_letter(word: str) -> bool:
    """Whether a word begins with a digit, is an English numeral, or is one letter of an alphabet (c, c.)."""
    letter = word.removesuffix(".")
    if len(letter) < 2:
        return letter.lower() != letter.upper()
    return word[0].isdigit() or NUMERALS.issuperset(word.lower().split("-"))


def vocabulary_of(
    source: ContextSource, among: Iterable[str] | str | Path | None, min_count: int = 1
) -> Vocabulary:
    """The words and multi-word terms of a list or of a file, each under its first name; None: words of the corpus."""
    if among is None:
        return Vocabulary(corpus_vocabulary(corpus_of(source), min_count), {})
    is_file = isinstance(among, str | Path)
    listed = list(dict.fromkeys(_read_terms(among) if is_file else among))  # type: ignore[arg-type]
    names: dict[Target, str] = {}
    targets = list(zip(source.resolve(listed), listed, strict=True))
    for target, word in targets:
        if target is not None:
            names.setdefault(target, word)
    unknown = tuple(word for target, word in targets if target is None)
    if is_file and len(names) < 2:
        raise InputError(
            f"{among} has {len(names)} of its {len(listed):,} terms in the corpus, and a pair needs two (it lacks "
            f"{few(unknown)}); check the corpus's language and level, or give other terms"
        )
    return Vocabulary(list(names), names, unknown)


def _read_terms(path: str | Path) -> list[str]:
    """The terms of a file, one on each line. Comments start with #."""
    file = read_text_file(path)
    words = []
    for number, line in enumerate(file.lines, 1):
        word = line.strip()
        if "\t" in word:
            raise file.error(
                number, "a list of terms has one term on each line, and this line has several columns"
            )
        if word and not word.startswith("#"):
            words.append(word)
    if not words:
        raise InputError(f"{path} has no terms; write one on each line")
    return words
