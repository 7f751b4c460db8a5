"""Kinds of words: function words and content words, parts of speech of words as types, and similar spellings.

Function words are articles, pronouns, prepositions, conjunctions and auxiliaries; all others are content words. Where a
corpus has parts of speech, most of a word's tokens decide. Elsewhere the list of the language does, and where it has
none, the most frequent words of the corpus count as function words.

The class of a word (noun, verb, ...) is that of most of its tokens too; elsewhere, HanTa's models of English, German
and Dutch word forms decide. Where neither is available, every word is of class `any`, which fits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np

from bagpack.arrays import I64, U8, Bools
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.text.casefold import folding
from bagpack.corpus.text.languages import language
from bagpack.corpus.text.tags import CODES, CONTENT, UNIVERSAL
from bagpack.errors import UsageError, did_you_mean

FREQUENT = 150  # most frequent words, excluded instead where the language has no list
SMALL = 20 * FREQUENT  # distinct words; in a smaller corpus none is excluded by frequency

DECIDING = 1000  # tokens of a word, the first of the corpus, whose tags are looked at
BEGINNING = 4  # characters that words with the same beginning share
READ_AT_ONCE = 1 << 12  # words
COMPARED = 50_000  # words, the most frequent ones
CLOSE = 0.75  # similarity as difflib measures it
CONTENT_CODES = [CODES[tag] for tag in CONTENT]
UNKNOWN_TAG = CODES["X"]

ANY = "any"
CLASSES = (ANY, "noun", "name", "verb", "adjective", "other")
AT_ONCE = 5_000  # words of a task; HanTa takes half a millisecond for a word that it does not know
_NUMBER = {name: k for k, name in enumerate(CLASSES)}
_OF_TAG = {"NOUN": "noun", "PROPN": "name", "VERB": "verb", "AUX": "verb", "ADJ": "adjective"}
# Per language: how the tags of HanTa's model begin.
_MODELS = {
    "en": ("morphmodel_en.pgz", {"NP0": "name", "NN": "noun", "VV": "verb", "AJ": "adjective"}),
    "de": ("morphmodel_ger.pgz", {"NE": "name", "NN": "noun", "VV": "verb", "ADJ": "adjective"}),
    "nl": (
        "morphmodel_dutch.pgz",
        {"SPEC(deeleigen": "name", "N(eigen": "name", "N(": "noun", "WW": "verb", "ADJ": "adjective"},
    ),
}


def is_auxiliary(corpus: Corpus, numbers: I64) -> Bools:
    """Of words by their numbers in a lexicon, whether they are auxiliaries: tag sets without these call them verbs."""
    return _is_one_of(language(corpus.options.lang).auxiliaries, corpus, numbers)


def is_function_word(corpus: Corpus, numbers: I64) -> Bools:
    """Of words by their numbers in a corpus's lexicon (−1: none), whether they are function words; no word is one."""
    lexicon, profile = corpus.lexicon, language(corpus.options.lang)
    if profile.function_words:
        return (numbers < 0) | _is_one_of(f"{profile.function_words} {profile.auxiliaries}", corpus, numbers)
    if corpus.types < SMALL:
        return numbers < 0
    least = np.partition(lexicon.counts, lexicon.counts.size - FREQUENT)[lexicon.counts.size - FREQUENT]
    return np.asarray((numbers < 0) | (lexicon.counts[numbers] >= least))


def is_content_word(corpus: Corpus, numbers: I64) -> Bools:
    """Of words by their numbers in a corpus's lexicon (−1: none), whether they are content words with a letter."""
    listed = ~is_function_word(corpus, numbers)
    if corpus.tags:
        counts = tag_counts(corpus, numbers, DECIDING)
        counts[:, UNKNOWN_TAG] = 0
        total = counts.sum(axis=1)
        listed = np.where(total > 0, 2 * counts[:, CONTENT_CODES].sum(axis=1) >= total, listed)
    return np.asarray(listed & has_letter(corpus, numbers))


def tag_counts(corpus: Corpus, numbers: I64, most: int | None = None) -> I64:
    """Tokens of each word (by its number in the lexicon) with each universal tag, of its first `most` tokens."""
    counts = np.zeros((numbers.size, len(UNIVERSAL)), np.int64)
    known = np.flatnonzero(numbers >= 0)
    keys = corpus.lexicon.keys.take(numbers[known])
    for segment in corpus.segments:
        positions, lows, highs = segment.positions_of(segment.keys.find(keys))
        if most is not None:
            highs = np.minimum(highs, lows + most - counts[known].sum(axis=1))
        for word, low, high in zip(known.tolist(), lows.tolist(), highs.tolist(), strict=True):
            if low < high:
                counts[word] += np.bincount(segment.tags[positions[low:high]], minlength=len(UNIVERSAL))
    return counts


def _is_one_of(words: str, corpus: Corpus, numbers: I64) -> Bools:
    written = [form for word in words.split() for form in {word, word.capitalize(), word.upper()}]
    return np.isin(numbers, corpus.lexicon.keys.find(written))


def has_letter(corpus: Corpus, numbers: I64, test: Callable[[str], bool] = str.isalpha) -> Bools:
    """Of words by their numbers in a corpus's lexicon (−1: none), whether they have a letter."""
    keys = corpus.lexicon.keys
    first_bytes = np.array([byte < 128 and test(chr(byte)) for byte in range(256)], np.bool_)
    starts = np.where(numbers < 0, 0, keys.offsets[numbers])
    found = np.asarray(first_bytes[keys.blob[starts]] & (numbers >= 0))
    for i in np.flatnonzero(~found & (numbers >= 0)).tolist():  # few words begin with anything else
        found[i] = any(map(test, keys[int(numbers[i])]))
    return found


def frequent_numbers(corpus: Corpus, most: int | None = 20_000, min_count: int = 1) -> I64:
    """Numbers in the lexicon of the most frequent words that have a letter, by frequency, then in code-point order."""
    counts = np.asarray(corpus.lexicon.counts)
    order = np.flatnonzero(counts >= min_count)
    order = order[np.argsort(-counts[order], kind="stable")]
    found: list[I64] = [order[:0]]
    for start in range(0, order.size, READ_AT_ONCE):
        numbers = order[start : start + READ_AT_ONCE]
        found.append(numbers[has_letter(corpus, numbers)])
        if most is not None and sum(map(len, found)) >= most:
            break
    return np.concatenate(found)[:most]


@dataclass(frozen=True)
class KnownWord:
    word: str
    count: int


def complete(corpus: Corpus, start: str, most: int = 12) -> list[KnownWord]:
    wanted = folding(corpus.options)(start).encode()
    if not wanted:
        return []
    low, high = corpus.lexicon.keys.first_not_below([wanted, wanted + b"\xff"]).tolist()
    counts = np.asarray(corpus.lexicon.counts[low:high])
    best = np.argsort(-counts, kind="stable")[:most]
    return [KnownWord(corpus.lexicon.keys[low + i], int(counts[i])) for i in best.tolist() if counts[i]]


def nearby(corpus: Corpus, word: str, most: int = 8) -> list[KnownWord]:
    """Words spelt like one that the corpus does not contain, of the frequent ones; then words with its beginning.

    Of several words, the first unknown one is replaced.
    """
    pieces = word.replace("_", " ").split()
    unknown = [at for at, key in enumerate(corpus.keys_of(pieces)) if key is None]
    if not unknown:
        return []
    at = unknown[0]
    wanted = folding(corpus.options)(pieces[at])
    keys, counts = corpus.lexicon.keys, np.asarray(corpus.lexicon.counts)
    # Comparing with a million rare words would take minutes.
    frequent = np.argsort(-counts, kind="stable")[:COMPARED]
    as_long = abs(np.diff(keys.offsets)[frequent] - len(wanted.encode())) <= 2
    near = frequent[(counts[frequent] > 0) & as_long]
    known = {keys[number]: int(counts[number]) for number in near.tolist()}
    found = [KnownWord(own, known[own]) for own in get_close_matches(wanted, known, most, CLOSE)]
    found += [item for item in complete(corpus, pieces[at][:BEGINNING], most) if item not in found]
    before, after = pieces[:at], pieces[at + 1 :]
    return [KnownWord(" ".join([*before, item.word, *after]), item.count) for item in found[:most]]


def word_classes(corpus: Corpus, keys: Sequence[str]) -> U8:
    """The class of each word of a corpus, as its place in `CLASSES`."""
    if corpus.tags:
        counts = tag_counts(corpus, corpus.lexicon.keys.find(keys), DECIDING)
        of_tag = np.array([_NUMBER[_OF_TAG.get(tag, "other")] for tag in UNIVERSAL], np.uint8)
        summed = np.stack([counts[:, of_tag == k].sum(axis=1) for k in range(len(CLASSES))], axis=1)
        return np.where(summed.any(axis=1), summed.argmax(axis=1), _NUMBER[ANY]).astype(np.uint8)
    lang = corpus.options.lang
    if lang not in _MODELS:
        return np.full(len(keys), _NUMBER[ANY], np.uint8)
    from bagpack.parallel import delayed, run

    parts = [keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)]
    names = [name for part in run([delayed(_classes_of)(part, lang) for part in parts]) for name in part]
    return np.array([_NUMBER[name] for name in names], np.uint8)


def class_numbers(names: str, option: str) -> frozenset[int]:
    """The classes of an option such as `noun,name`; none for `any`."""
    given = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in given:
        if name not in CLASSES:
            choice = f"{did_you_mean(name, CLASSES)}choose from {', '.join(CLASSES)}"
            raise UsageError(f"{option} {name} is not a part of speech; {choice}")
    return frozenset() if ANY in given else frozenset(_NUMBER[name] for name in given)


def class_names(numbers: Iterable[int]) -> str:
    """Classes in words, for notes: `noun or verb`."""
    return " or ".join(CLASSES[number] for number in sorted(numbers))


def _classes_of(keys: Sequence[str], lang: str) -> list[str]:
    return [_class_of(key, lang) for key in keys]


@lru_cache(maxsize=2)
def _tagger(lang: str) -> Any:
    from HanTa import HanoverTagger

    return HanoverTagger.HanoverTagger(_MODELS[lang][0])


@lru_cache(maxsize=1 << 17)
def _class_of(word: str, lang: str) -> str:
    """The class with the highest probability, all tags of a class together."""
    begins = _MODELS[lang][1]
    total: dict[str, float] = {}
    # German nouns have a capital, and keys are case-folded.
    written = {word, word.capitalize()} if lang == "de" else {word}
    for form in written:
        for tag, log in _tagger(lang).tag_word(form):
            name = next((name for start, name in begins.items() if str(tag).startswith(start)), "other")
            total[name] = np.logaddexp(total.get(name, -np.inf), log)
    return max(total, key=lambda name: (total[name], name)) if total else "other"
