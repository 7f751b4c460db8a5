"""From a word as written to the key it is counted and looked up under: letters composed, case folded."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bagpack.corpus.options import TextOptions

SOFT_HYPHEN = "\N{SOFT HYPHEN}"
CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def clean_word(word: str) -> str:
    """A word whose white space is plain and single, without control characters; of nothing else, a replacement.

    >>> clean_word("New\\N{NO-BREAK SPACE}York\\0"), clean_word("\\0")
    ('New York', '\N{REPLACEMENT CHARACTER}')
    """
    if word.isascii() and word.isprintable():
        return word
    return CONTROLS.sub(" ", word).strip() or "\N{REPLACEMENT CHARACTER}"


def compose(text: str) -> str:
    """Letters with marks as single characters where there are such (NFC): ü is one word with u and a combining ¨.

    Soft hyphens, which only say where a line may be broken, are no part of a word.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text.replace(SOFT_HYPHEN, "") or text)


def fold_case(text: str) -> str:
    """Composed and case-folded."""
    # Folding takes some characters apart (ΐ), so composing comes after it too.
    return text.lower() if text.isascii() else compose(compose(text).casefold())


def folding(options: TextOptions) -> Callable[[str], str]:
    """What makes a key of a lemma or form, as the store's case setting says."""
    return fold_case if options.case == "fold" else compose
