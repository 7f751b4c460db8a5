"""Grammatical patterns around a word, found by order, distance and parts of speech: *adjective before*, *of* phrases.

A pattern is followed away from the word, token by token inside the sentence. It may pass over some parts of speech, may
require a linking word on the way (*of*, *and*), and ends at the first word of the part of speech that it wants. Where
a corpus has no tags, function words may be skipped, and any other word ends the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bagpack.arrays import I64, U8, Bools
from bagpack.corpus.text.tags import CODES

BEFORE, AFTER = -1, 1
OUTSIDE = 255  # the tag of a place that is not in the sentence
OPEN, CLOSED = "X", "DET"  # the tags of words in a corpus without tags: all but function words, and those

NOUN = ("NOUN", "PROPN")
DESCRIBING = ("DET", "ADJ", "NUM", "PRON", "ADV")


@dataclass(frozen=True)
class Pattern:
    """How to go from a word to its collocate."""

    name: str
    of: tuple[str, ...]  # parts of speech of the word itself; empty for any
    wanted: tuple[str, ...]  # those of the collocate
    side: int  # BEFORE or AFTER
    over: tuple[str, ...] = ()  # parts of speech that may come between (after the link, if there is one)
    reach: int = 1  # number of tokens at most
    link: tuple[str, ...] = ()  # words of which one must be passed
    to_link: tuple[str, ...] = ()  # parts of speech that may come between the word and the link


OF, AND = ("of",), ("and", "or")

TAGGED = (
    Pattern("adjective before", NOUN, ("ADJ",), BEFORE, ("NOUN",), 2),
    Pattern("noun before", NOUN, NOUN, BEFORE),
    Pattern("noun after", NOUN, NOUN, AFTER),
    Pattern("verb before", NOUN, ("VERB",), BEFORE, ("DET", "ADJ", "NUM", "PRON", "NOUN"), 4),
    Pattern("verb after", NOUN, ("VERB",), AFTER, ("AUX", "ADV", "PART"), 4),
    Pattern("noun before", ("VERB",), NOUN, BEFORE, ("AUX", "ADV", "PART"), 4),
    Pattern("noun after", ("VERB",), NOUN, AFTER, DESCRIBING, 4),
    Pattern("adverb before", ("VERB", "ADJ"), ("ADV",), BEFORE, ("AUX", "PART"), 2),
    Pattern("adverb after", ("VERB",), ("ADV",), AFTER),
    Pattern("noun after", ("ADJ",), NOUN, AFTER, ("ADJ",), 2),
    Pattern("noun before", ("ADJ",), NOUN, BEFORE, ("AUX", "ADV"), 3),
)
TAGGED_ENGLISH = (
    *TAGGED,
    Pattern("of …", NOUN, NOUN, AFTER, DESCRIBING, 5, OF),
    Pattern("… of", NOUN, NOUN, BEFORE, (), 5, OF, (*DESCRIBING, "NOUN")),
    Pattern("and, or", NOUN, NOUN, AFTER, DESCRIBING, 4, AND, ("PUNCT",)),
    Pattern("and, or", NOUN, NOUN, BEFORE, ("PUNCT",), 4, AND, DESCRIBING),
    Pattern("and, or", ("VERB",), ("VERB",), AFTER, ("ADV", "PART"), 3, AND, ("PUNCT",)),
    Pattern("and, or", ("VERB",), ("VERB",), BEFORE, ("PUNCT",), 3, AND, ("ADV", "PART")),
    Pattern("and, or", ("ADJ",), ("ADJ",), AFTER, ("ADV",), 3, AND, ("PUNCT",)),
    Pattern("and, or", ("ADJ",), ("ADJ",), BEFORE, ("PUNCT",), 3, AND, ("ADV",)),
)
UNTAGGED = (
    Pattern("before", (), (OPEN,), BEFORE, (CLOSED,), 3),
    Pattern("after", (), (OPEN,), AFTER, (CLOSED,), 3),
)
UNTAGGED_ENGLISH = (
    *UNTAGGED,
    Pattern("of …", (), (OPEN,), AFTER, (CLOSED,), 4, OF),
    Pattern("… of", (), (OPEN,), BEFORE, (), 4, OF, (CLOSED,)),
    Pattern("and, or", (), (OPEN,), AFTER, (CLOSED,), 4, AND),
    Pattern("and, or", (), (OPEN,), BEFORE, (), 4, AND, (CLOSED,)),
)


def patterns_for(tagged: bool, english: bool) -> tuple[Pattern, ...]:
    return ((UNTAGGED, UNTAGGED_ENGLISH), (TAGGED, TAGGED_ENGLISH))[tagged][english]


def collocates_of(pattern: Pattern, keys: I64, tags: U8, own: U8, links: I64) -> I64:
    """The keys at which a pattern ends, over all places (rows × tokens around).

    Parameters
    ----------
    own
        The tag of the word itself in each row.
    links
        The keys of the pattern's link.
    """
    reach = keys.shape[1] // 2
    wanted, over, to_link = (tag_mask(names) for names in (pattern.wanted, pattern.over, pattern.to_link))
    going = np.ones(len(keys), np.bool_) if not pattern.of else tag_mask(pattern.of)[own]
    linked = np.full(len(keys), not pattern.link)
    found = []
    for d in range(min(pattern.reach, reach)):
        column = reach + d if pattern.side == AFTER else reach - 1 - d
        key, tag = keys[:, column], tags[:, column]
        hit = going & linked & wanted[tag]
        found.append(key[hit])
        passed = linked & over[tag]
        if pattern.link:
            link = ~linked & np.isin(key, links)
            passed |= link | (~linked & to_link[tag])
        going &= passed
        if pattern.link:
            linked |= going & link
    return np.concatenate(found)


def tag_mask(names: Sequence[str]) -> Bools:
    """Of each tag code, whether it is one of these."""
    mask = np.zeros(OUTSIDE + 1, np.bool_)
    mask[[CODES[name] for name in names]] = True
    return mask
