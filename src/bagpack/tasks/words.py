"""Helpers over words and pairs, whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterable

Pair = tuple[str, str]


def normalise_target(word: str) -> str:
    """The target with underscores as blanks and blanks single, as runs of tokens are looked up.

    Sets made from WordNet write *radiation_therapy*. The readers keep words as written, because a corpus may
    hold *radiation_therapy* as one token: look a word up as written first and in this form second.

    >>> normalise_target("radiation_therapy")
    'radiation therapy'
    """
    return " ".join(word.replace("_", " ").split()) or word


def distinct_words(pairs: Iterable[Pair]) -> list[str]:
    """Every word of the pairs once, in the order of first appearance.

    >>> distinct_words([("cat", "lion"), ("lion", "animal")])
    ['cat', 'lion', 'animal']
    """
    return list(dict.fromkeys(word for pair in pairs for word in pair))


def unordered_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Every pair once whatever its order, as it first appears.

    >>> unordered_pairs([("cat", "lion"), ("lion", "cat")])
    [('cat', 'lion')]
    """
    first: dict[Pair, Pair] = {}
    for w1, w2 in pairs:
        first.setdefault((w1, w2) if w1 <= w2 else (w2, w1), (w1, w2))
    return list(first.values())
