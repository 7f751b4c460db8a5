"""Sentences in a search engine: our own tokens, so that a gap counts what the corpus counts.

An engine that BagPack fills holds one document per sentence. Its text is the sentence as written, with a WORD
JOINER (U+2060, invisible) wherever two tokens touch, so that the tokens can be taken back out of it exactly; its
index holds the tokens, case-folded, with single spaces between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from bagpack.contexts.targets import HIDDEN_MARK
from bagpack.corpus.text.casefold import fold_case
from bagpack.corpus.text.sentences import join_paragraphs

JOINER = "\N{WORD JOINER}"
# Noncharacters, which no text interchanges, so that no token has them.
KEY_MARK = HIDDEN_MARK  # opens the key of an observed target
WRITTEN_JOINER = "\ufdd1"  # a word joiner that the text itself has
INNER_SPACE = "\ufdd2"  # a space inside a token
LONGEST = 120  # engines refuse or split longer tokens (Lucene's tokenizer: 255 UTF-16 units)

_CLEANED = str.maketrans(
    {JOINER: WRITTEN_JOINER, KEY_MARK: None, WRITTEN_JOINER: None, INNER_SPACE: None, "\0": None}
)
_RESTORED = str.maketrans({WRITTEN_JOINER: JOINER, INNER_SPACE: " "})
_BOUNDARY = re.compile(f"([ {JOINER}])")
_UNTIDY = re.compile(
    f"[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]|^$|^[ {JOINER}]|[ {JOINER}]$|[ {JOINER}][ {JOINER}]"
)
_SPECIAL = re.compile(f"[{WRITTEN_JOINER}{INNER_SPACE}]")


def clean_token(form: str) -> str:
    """A token as written in marked text: without blanks or joiners, and never empty."""
    text = INNER_SPACE.join(form.translate(_CLEANED).split())
    return text or "\N{REPLACEMENT CHARACTER}"


def mark(tokens: Iterable[tuple[str, bool]]) -> str:
    """The marked text of (form, glued to the one before).

    >>> mark([("Lion", False), ("'s", True), ("share", False)]).replace(JOINER, "|")
    "Lion|'s share"
    """
    return "".join(f"{JOINER if glued else ' '}{clean_token(form)}" for form, glued in tokens)[1:]


def unmark(marked: str) -> tuple[list[str], list[bool]]:
    """The forms that `mark` was given, and which of them are glued to the one before."""
    parts = _BOUNDARY.split(marked)
    forms, glued = parts[0::2], [False, *(boundary == JOINER for boundary in parts[1::2])]
    if _SPECIAL.search(marked):
        forms = [form.translate(_RESTORED) for form in forms]
    return forms, glued


def tidy(marked: str) -> str:
    """Marked text as `mark` would have written it, whatever a server made of it."""
    return mark(zip(*unmark(marked), strict=True)) if _UNTIDY.search(marked) else marked


def plain(marked: str) -> str:
    """The sentence as written."""
    return marked.replace(JOINER, "").translate(_RESTORED)


def index_words(marked: str) -> list[str]:
    """What an engine indexes for a marked sentence, token by token."""
    return [fold_case(token)[:LONGEST] for token in marked.replace(JOINER, " ").split(" ")]


def index_word(token: str) -> str:
    """What an engine indexes for one token: case-folded, and cut where engines would refuse it."""
    return fold_case(clean_token(token))[:LONGEST]


def marked_sentences(text: str, lang: str) -> Iterator[str]:
    """The sentences of a foreign text, cut and tokenised as `bagpack index` would, and marked.

    >>> [sentence.replace(JOINER, "|") for sentence in marked_sentences("A lion. It roars!", "en")]
    ['A lion|.', 'It roars|!']
    """
    from bagpack.corpus.text.tokenizer import NO_SPACE_BEFORE, OPENS_SENTENCE, tokenize

    paragraphs = [line for line in text.splitlines() if line.strip()]
    if not paragraphs:
        return
    block = join_paragraphs(paragraphs, lang)
    tokens = tokenize(block.data, block.sentence_ends, lang)
    forms = [
        block.data[a:b].decode() for a, b in zip(tokens.starts.tolist(), tokens.stops.tolist(), strict=True)
    ]
    glued = ((tokens.flags & NO_SPACE_BEFORE) != 0).tolist()
    opens = np.flatnonzero(tokens.flags & OPENS_SENTENCE).tolist()
    for start, end in zip(opens, [*opens[1:], len(forms)], strict=True):
        yield mark(zip(forms[start:end], [False, *glued[start + 1 : end]], strict=True))
