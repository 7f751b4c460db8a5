"""Parts of speech: the universal tags, and how the tags of well-known tagsets map to them.

A tagset is a list of tags, some of them with `*` for any ending. Which one a source uses is decided from its first
lines: the one that knows most of its tags. A tag that the tagset does not know is X.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from bagpack.errors import UsageError

# One byte of a store is the place of a tag in this list; new tags may only be added at its end.
UNIVERSAL = (
    "X", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB",
)  # fmt: skip
CODES = {tag: code for code, tag in enumerate(UNIVERSAL)}
SHORT = {"N": "NOUN", "V": "VERB", "A": "ADJ", "R": "ADV"}
CONTENT = ("ADJ", "ADV", "NOUN", "PROPN", "VERB")
UNKNOWN = "unknown"
ENOUGH = 0.75  # share of the tokens whose tag a tagset must know


@cache
def _tables() -> dict[str, dict[str, int]]:
    """The code of the universal tag of every tag of each tagset, from `tags.tsv`."""
    found: dict[str, dict[str, int]] = {}
    lines = Path(__file__).with_name("tags.tsv").read_text(encoding="utf-8").splitlines()
    for name, universal, tags in (line.split("\t") for line in lines[1:]):
        found.setdefault(name, {}).update(dict.fromkeys(tags.split(), CODES[universal]))
    return found


def tag_code(tagset: str, tag: str) -> int | None:
    """The code of the universal tag that a tag maps to; None if the tagset does not know it.

    Taggers write two tags where they cannot decide (NN1-VVB in the BNC); the first is the likelier one.
    """
    codes = _tables().get(tagset, {})
    for candidate in (tag, re.split(r"[-|](?=[A-Z])", tag)[0]):
        beginnings = (f"{candidate[:end]}*" for end in range(len(candidate), 0, -1))
        for name in (candidate, *beginnings):
            if name in codes:
                return codes[name]
    return None


def identify_tagset(tags: Iterable[str], named: str = "auto") -> str:
    """The tagset that was named or, of `auto`, that knows most of these tags; `unknown` if none knows enough."""
    counts = Counter(tags)
    total = counts.total()
    if not total:
        return ""
    if named != "auto":
        if named not in _tables():
            raise UsageError(f"--tagset {named} is unknown; choose one of auto, {', '.join(_tables())}")
        return named

    def known(name: str) -> int:
        return sum(count for tag, count in counts.items() if tag_code(name, tag) is not None)

    best = max(_tables(), key=known)  # of equals, the first
    return best if known(best) >= ENOUGH * total else UNKNOWN


def split_tag(word: str) -> tuple[str, str]:
    """A word and the universal tag that a user wrote behind it; an empty one if there is none.

    >>> split_tag("saw/NOUN"), split_tag("paint/V"), split_tag("and/or"), split_tag("km/h")
    (('saw', 'NOUN'), ('paint', 'VERB'), ('and/or', ''), ('km/h', ''))
    """
    stem, slash, end = word.rpartition("/")
    tag = universal_tag(end) if slash and stem else None
    return (stem, tag) if tag else (word, "")


def with_tag(word: str, tag: str | None) -> str:
    return f"{word}/{tag}" if tag and not split_tag(word)[1] else word


def universal_tag(text: str) -> str | None:
    """The universal tag that NOUN, or its short form N, means; None if it is neither.

    Both are written in capitals, so that the `or` of `and/or` is none.
    """
    return SHORT.get(text) or (text if text in CODES else None)
