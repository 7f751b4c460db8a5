"""What the explorer has loaded: a store and perhaps a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import WHERE, Corpus
from bagpack.corpus.where import number_of
from bagpack.errors import StoreError
from bagpack.explain.browse import Browser
from bagpack.explain.explanation import Explanation, explain_pair
from bagpack.explain.lines import PairEvidence
from bagpack.learn.model import LinearModel

SLOW_COUNT = 200_000  # occurrences of the rarer word of a pair that is computed apart from other pages
REASONS = 8
STEPS = (1, 10, 100, 1_000, 10_000)
FEW_STEPS = 5  # a chart with fewer bars says little, so that a smaller step is offered first
MOST_STEPS, MOST_VALUES = 100, 100  # of an attribute, so that its page can be read


class Library:
    """A source and perhaps a model; the web server and every worker opens its own."""

    def __init__(self, source: ContextSource, model: LinearModel | None = None, model_name: str = "") -> None:
        self.source = source
        self.model = model
        self.model_name = model_name
        self.settings = (model and model.counting) or CountSettings()
        self._evidence = lru_cache(8)(self._observe)
        self._browser = lru_cache(8)(lambda words: Browser(self.source, words, self.settings.windows))

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
    def loaded_model(self) -> LinearModel:
        """The model; an error without one."""
        if self.model is None:
            raise StoreError("no model is loaded; start the explorer with --model")
        return self.model

    @cached_property
    def by(self) -> list[str]:
        """Attributes of documents that counts can be shown by: years, other numbers (both in steps), then texts."""
        if not isinstance(self.source, Corpus):
            return []
        numbers, texts = [], []
        for name, values in self.background.attributes.items():
            found = [number_of(value) for value in values]
            known = [number for number in found if number is not None]
            if len(values) > 1 and len(known) == len(found):
                spread = max(known) - min(known)
                numbers += [f"{name}:{step}" if step > 1 else name for step in chart_steps(spread)]
            elif 1 < len(values) <= MOST_VALUES:
                texts.append(name)
        return [*sorted(numbers, key=lambda name: "year" not in name), *texts]

    def is_slow(self, *words: str) -> bool:
        """Whether a pair's words are both so frequent that finding their co-occurrences takes long."""
        return len(words) > 1 and min(map(self.background.count, words)) > SLOW_COUNT

    def explanation(self, w1: str, w2: str, evidence: PairEvidence | None = None) -> Explanation | None:
        """Why the model decides as it does, without lines; None without a model."""
        if self.model is None:
            return None
        return explain_pair(
            self.model, self.source, w1, w2, top=REASONS, lines=0, in_full=False, evidence=evidence
        )

    def evidence(self, w1: str, w2: str) -> PairEvidence | None:
        """The observations of a pair, for its sketch, reasons and lines; None if a word is unknown."""
        return self._observe(w1, w2) if self.is_slow(w1, w2) else self._evidence(w1, w2)

    def _observe(self, w1: str, w2: str) -> PairEvidence | None:
        return PairEvidence.of(self.source, w1, w2, self.settings)

    def browser(self, words: Sequence[str]) -> Browser:
        """A concordance to page through."""
        if self.is_slow(*words):
            return Browser(self.source, words, self.settings.windows)
        return self._browser(tuple(words))


def chart_steps(spread: float) -> list[int]:
    """Two steps to count numbers by, for example years: the one that gives a readable number of bars first.

    >>> chart_steps(119)
    [10, 100]
    >>> chart_steps(60)
    [10, 1]
    """
    steps = [step for step in STEPS if 2 <= spread / step + 1 <= MOST_STEPS][:2]
    return sorted(steps, key=lambda step: (spread / step + 1 < FEW_STEPS, -step))


def open_library(store: str, model: str | None = None) -> Library:
    """Open everything; whatever does not fit is an error now, not for the first visitor."""
    from bagpack.learn import load_model
    from bagpack.sources import open_source

    opened = load_model(model) if model else None
    source = opened.open_source(store) if opened else open_source(store)
    return Library(source, opened, Path(model).name if model else "")
