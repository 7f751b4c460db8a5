"""Sentences in a search engine: our own tokens, so that a gap counts what the corpus counts.

An engine that BagPack fills holds one document per sentence. Its text is the sentence as written, with a WORD
JOINER (U+2060, invisible) wherever two tokens touch, so that the tokens can be taken back out of it exactly; its
index holds the tokens, case-folded, with single spaces between.
"""

from __future__ import annotations

from collections.abc import Iterable

JOINER = "\N{WORD JOINER}"
INNER_SPACE = "\N{OPEN BOX}"
KEY_MARK = "\ufdd0"  # opens the key of an observed target: no character, so no token has it
LONGEST = (
    200  # engines refuse or split longer tokens (PostgreSQL 2,046 bytes, Lucene's tokenizer 255 characters)
)
_UNSEEN = str.maketrans("", "", JOINER + KEY_MARK + "\0\x1e")


def clean_token(form: str) -> str:
    """A token as it can stand in marked text: without blanks, joiners or NUL, and never empty."""
    text = INNER_SPACE.join(form.translate(_UNSEEN).split())
    return text or "\N{REPLACEMENT CHARACTER}"


def mark(tokens: Iterable[tuple[str, bool]]) -> str:
    """The marked text of (form, glued to the one before).

    >>> mark([("Lion", False), ("'s", True), ("share", False)]).replace(JOINER, "|")
    "Lion|'s share"
    """
    pieces: list[str] = []
    for form, glued in tokens:
        if pieces:
            pieces.append(JOINER if glued else " ")
        pieces.append(clean_token(form))
    return "".join(pieces)


def unmark(marked: str) -> list[tuple[str, bool]]:
    """The (form, glued) that `mark` was given."""
    found: list[tuple[str, bool]] = []
    for run in marked.split(" "):
        for index, form in enumerate(run.split(JOINER)):
            if form:
                found.append((form.replace(INNER_SPACE, " "), index > 0))
    return found


def plain(marked: str) -> str:
    """The sentence as written."""
    return marked.replace(JOINER, "").replace(INNER_SPACE, " ")


def index_words(marked: str) -> list[str]:
    """What an engine indexes for a marked sentence, token by token."""
    return [index_word(token) for token in marked.replace(JOINER, " ").split(" ") if token]


def index_word(token: str) -> str:
    """What an engine indexes for one token: case-folded, and cut where engines would refuse it."""
    return INNER_SPACE.join(token.casefold()[:LONGEST].split()) or "\N{REPLACEMENT CHARACTER}"


def split_form(form: str, lang: str) -> tuple[str, ...]:
    """The tokens of a target's form, as `bagpack index` would make them.

    >>> split_form("lion's share", "en")
    ('lion', "'s", 'share')
    """
    import numpy as np

    from bagpack.corpus.tokenize import tokenize

    data = form.encode()
    spans = tokenize(data, np.array([len(data)]), lang)
    return tuple(data[a:b].decode().casefold() for a, b in zip(spans.starts, spans.stops, strict=True))
