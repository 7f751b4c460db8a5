"""What differs between languages: `languages.toml` has a profile of each, docs/corpus.md shows them as a table.

A language without a profile is tokenised by the general rules and lemmatised by simplemma, if it has a dictionary.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STYLES = ("plain", "english", "eliding", "french")  # of the tokenizer
PLAIN, ENGLISH, ELIDING, FRENCH = range(4)


@dataclass(frozen=True)
class Language:
    """How texts of a language are decoded, cut, lemmatised and folded; words are divided by spaces."""

    code: str
    name: str = ""
    style: str = STYLES[PLAIN]
    annotator: str = "simplemma"
    case: str = "fold"
    encoding: str = "latin-1"  # that most texts had before UTF-8
    abbreviations: str = ""  # keep their period
    titles: str = ""  # those that are always followed by something, so that they never end a sentence
    frequent: str = ""  # the most frequent words; a text of the language is full of them
    function_words: str = ""
    auxiliaries: str = ""
    lemmas: str = ""  # forms with the lemma that they have whatever simplemma says: `left leave, 'd would`


_PROFILES = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
LANGUAGES = {code: Language(code, **own) for code, own in _PROFILES.items()}


def language(code: str) -> Language:
    """The profile of a language code such as `de` or `de-AT`."""
    short = code.lower().partition("-")[0]
    return LANGUAGES.get(short) or Language(short)


@cache
def never_final(code: str) -> re.Pattern[str] | None:
    """Matches a sentence that ends in an abbreviation which never ends one, or in half of J.-C."""
    words = language(code).titles.split()
    if not words:
        return None
    return re.compile(rf"(?:^|[\s(\[«„\"'’])(?:{'|'.join(map(re.escape, words))})\.\s*$", re.IGNORECASE)


ENOUGH_WORDS = 30
CERTAIN = 0.15


def other_language(text: str, code: str) -> str:
    """The language that a text seems to be in, if it is full of another one's words than the one that is named.

    >>> other_language("Der Hund ist in dem Haus und sie ist nicht auf der Straße. " * 3, "en")
    'de'
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) < ENOUGH_WORDS:
        return ""
    counts = Counter(words)
    listed = {own: profile.frequent.split() for own, profile in LANGUAGES.items()}
    share = {own: sum(counts[word] for word in frequent) / len(words) for own, frequent in listed.items()}
    best = max(share, key=share.__getitem__)
    return best if share[best] > max(CERTAIN, 2 * share.get(language(code).code, 0.0)) else ""
