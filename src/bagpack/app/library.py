"""What the explorer has loaded: a store and perhaps a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import log10
from pathlib import Path

from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import WHERE, Corpus
from bagpack.corpus.where import number_of
from bagpack.explain.browse import Browser
from bagpack.explain.lines import PairEvidence
from bagpack.learn.model_io import load_model
from bagpack.sources import open_source

SLOW_COUNT = 200_000  # occurrences of the rarer word of a pair that is computed apart from other pages
FEW_STEPS = 5  # a table with fewer rows says little
MOST_VALUES = 100  # of an attribute, so that its page can be read


class Library:
    """A store or snippets, and perhaps a model; the web server and every worker opens its own.

    Whatever does not fit is an error now, not for the first visitor.
    """

    def __init__(self, store: str, model: str | None = None) -> None:
        self.opened = store, model
        self.model = load_model(model) if model else None
        self.source: ContextSource = self.model.open_source(store) if self.model else open_source(store)
        self.model_name = Path(model).name if model else ""
        self.settings = (self.model and self.model.counting) or CountSettings()
        self._observe = lru_cache(8)(lambda w1, w2: PairEvidence.of(self.source, w1, w2, self.settings))
        self._browse = lru_cache(8)(lambda words: Browser(self.source, words, self.settings.windows))

    @property
    def store_name(self) -> str:
        """The name of the store without its directory; of a subcorpus, with the condition."""
        path, where, condition = self.source.name.partition(WHERE)
        return f"{Path(path).name}{where}{condition}"

    @cached_property
    def background(self) -> Corpus:
        """The corpus whose numbers are shown as the corpus's."""
        return self.source.for_basis

    @property
    def labels(self) -> list[str]:
        """The labels of the model; none of a model of ratings."""
        return [] if self.model is None else [str(label) for label in self.model.classes]

    @cached_property
    def by(self) -> list[str]:
        """Attributes of documents that counts can be shown by, years first; numbers in steps and as they are."""
        if not isinstance(self.source, Corpus):
            return []
        found = []
        for name, values in self.background.attributes.items():
            numbers = [number for value in values if (number := number_of(value)) is not None]
            spread = max(numbers, default=0) - min(numbers, default=0)
            if len(numbers) == len(values) and spread >= 10 * FEW_STEPS:
                found.append(f"{name}:{10 ** int(log10(spread / FEW_STEPS))}")
            if 1 < len(values) <= MOST_VALUES:
                found.append(name)
        return sorted(found, key=lambda name: "year" not in name)

    def is_slow(self, *words: str) -> bool:
        """Whether a pair's words are both so frequent that finding their co-occurrences takes long."""
        return len(words) > 1 and min(map(self.background.count, words)) > SLOW_COUNT

    # What is about two very frequent words is large, and is not kept.

    def evidence(self, w1: str, w2: str) -> PairEvidence | None:
        """The observations of a pair, for its sketch, reasons and lines; None if a word is unknown."""
        return (self._observe.__wrapped__ if self.is_slow(w1, w2) else self._observe)(w1, w2)

    def browser(self, words: Sequence[str]) -> Browser:
        """A concordance to page through."""
        return (self._browse.__wrapped__ if self.is_slow(*words) else self._browse)(tuple(words))
