"""Words that a user typed: empty ones are refused, unknown ones answered with similar spellings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bagpack.console import print_message
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.contexts.source import ContextSource
    from bagpack.corpus.store.corpus import Corpus

HINTS = 6  # words offered for an unknown one


def check_words(*words: str | None) -> None:
    """Refuse an empty word: it is a typing mistake, not a word missing from the corpus."""
    if any(word is not None and not word.strip() for word in words):
        raise UsageError("a word is empty; name one, or two in quotes such as 'ice cream'")


def hint_words(source: ContextSource, unknown: Iterable[str]) -> None:
    """On standard error, for each unknown word, some of the corpus with a similar spelling."""
    from bagpack.contexts.source import CorpusSource
    from bagpack.corpus.store.suggest import nearby
    from bagpack.corpus.text.tagsets import split_tag

    if isinstance(source, CorpusSource):
        for word in unknown:
            if parts := _other_parts(source.corpus, word):
                print_message(f"{split_tag(word)[0]} occurs as {parts}", "dim")
                continue
            if found := nearby(source.corpus, word, HINTS):
                listed = ", ".join(item.word for item in found)
                print_message(f"similar spellings of {word}: {listed}", "dim")


def _other_parts(corpus: Corpus, word: str) -> str:
    """The parts of speech under which a word occurs, if it has another one behind it; empty if it does not occur."""
    from bagpack.contexts.targets import resolve_targets
    from bagpack.corpus.text.tagsets import UNIVERSAL, split_tag
    from bagpack.explain.collocates import occurrences

    stem, tag = split_tag(word)
    named = [f"{stem}/{name}" for name in UNIVERSAL]
    targets = [target for target in resolve_targets(corpus, named) if target] if tag and corpus.tags else []
    return ", ".join(f"{one} ({occurrences(corpus, one):,})" for one in targets)
