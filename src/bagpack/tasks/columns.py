"""Which column is which: the names that spreadsheets give to words, labels and scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# In the order of preference; compared as `plain` writes them.
WORDS = (
    ("w1", "w2"),
    ("word1", "word2"),
    ("source", "target"),
    ("sourceword", "targetword"),
    ("first", "second"),
    ("firstword", "secondword"),
    ("term1", "term2"),
    ("noun1", "noun2"),
    ("lemma1", "lemma2"),
    ("worda", "wordb"),
    ("wort1", "wort2"),
    ("mot1", "mot2"),
)
# (head, dependent, the column with the role of the dependent)
ROLES = (("verb", "noun", "role"), ("predicate", "argument", "relation"))
LABELS = ("label", "labels")
# A label only where nothing else could be meant.
RELATIONS = ("relation", "relations", "relationtype", "class", "category")
SCORES = ("score", "rating", "scores", "ratings", "meanrating", "meanscore")
SHOWN = 20  # names in a message


def plain(name: str) -> str:
    """A column's name without what people vary: case, spaces, underscores, hyphens, brackets.

    >>> plain("Word 1"), plain("word_1"), plain("W1"), plain("Mean-Rating")
    ('word1', 'word1', 'w1', 'meanrating')
    """
    return re.sub(r"[\s_\-.:#()\[\]]+", "", name.casefold())


def find(header: Sequence[str], wanted: str) -> str | None:
    """The header's own name of a column, or None: exactly the same first, then the same by `plain`."""
    if wanted in header:
        return wanted
    return next((name for name in header if name and plain(name) == plain(wanted)), None)


def listed(header: Iterable[str]) -> str:
    """The columns that a file has, for a message; of very many, the first."""
    names = [name or "(no name)" for name in header]
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
