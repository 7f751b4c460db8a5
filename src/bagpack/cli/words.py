"""Words that a user typed: empty ones are refused, unknown ones answered with similar spellings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bagpack.console import tell
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.contexts.source import ContextSource

HINTS = 6  # words offered for an unknown one


def check_words(*words: str | None) -> None:
    """Refuse an empty word: it is a typing slip, not a word that the corpus lacks."""
    if any(word is not None and not word.strip() for word in words):
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")


def hint_words(source: ContextSource, unknown: Iterable[str]) -> None:
    """On standard error, for each unknown word, some of the corpus with a similar spelling."""
    from bagpack.contexts.source import CorpusSource
    from bagpack.corpus.store.suggest import nearby

    if isinstance(source, CorpusSource):
        for word in unknown:
            if found := nearby(source.corpus, word, HINTS):
                listed = ", ".join(item.word for item in found)
                tell(f"similar spellings of {word}: {listed}", "dim")
