"""What the explorer has loaded: a store and perhaps a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bagpack.app.limits import Limits
from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.corpus import WHERE, Corpus
from bagpack.corpus.where import number_of
from bagpack.explain.browse import Browser
from bagpack.explain.explanation import Explanation, explain_matrix
from bagpack.explain.lines import PairEvidence
from bagpack.find.teaching import Teaching
from bagpack.learn.model import LinearModel
from bagpack.vectors.counts import PairCounts, count_pairs

T = TypeVar("T")

KEPT_BROWSERS = 8
KEPT_PAIRS = 8
SLOW_COUNT = 200_000  # occurrences of the rarer word of a pair that is computed in a lane of its own
EXPLANATION = TypeAdapter(Explanation)
FEW_STEPS = 5  # a chart with fewer bars says little, so that a smaller step is offered first
STEPS = (1, 10, 100, 1_000, 10_000)
MOST_STEPS, MOST_VALUES = 100, 100  # of an attribute, so that its page can be read
LARGE = 300_000  # co-occurrences; a concordance of more is not kept open


class Cache:
    """The last few results of a worker, by question."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: dict[Hashable, Any] = {}  # the last used at the end

    def get(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool] = lambda _: True) -> T:
        """The result that is kept, or a new one."""
        made: T = self._items.pop(key) if key in self._items else make()
        if keep(made):
            self._items[key] = made
            if len(self._items) > self._size:
                del self._items[next(iter(self._items))]
        return made


def chart_steps(spread: float) -> list[int]:
    """Two steps to count numbers by, for example years: the one that gives a readable number of bars first.

    >>> chart_steps(119)
    [10, 100]
    >>> chart_steps(60)
    [10, 1]
    """
    steps = [step for step in STEPS if 2 <= spread / step + 1 <= MOST_STEPS][:2]
    return sorted(steps, key=lambda step: (spread / step + 1 < FEW_STEPS, -step))


class Library:
    """A source and perhaps a model: opened before the workers are forked, and the same in all of them."""

    def __init__(
        self, source: ContextSource, model: LinearModel | None = None, limits: Limits | None = None,
        model_name: str = "",
    ) -> None:  # fmt: skip
        self.source = source
        self.model = model
        self.model_name = model_name
        self.limits = limits or Limits()
        self.basis: Basis | None = model.basis if model else None
        self.settings = (model and model.counting) or CountSettings()
        self.browsers = Cache(KEPT_BROWSERS)
        self.pairs = Cache(KEPT_PAIRS)
        self.teaching: Teaching | None = None  # of `bagpack teach`
        self.examples: list[dict[str, Any]] | None = None  # of the home page; chosen once

    @property
    def store_name(self) -> str:
        """The name of the store without its directory; of a subcorpus, with the condition."""
        path, where, condition = self.source.name.partition(WHERE)
        return f"{Path(path).name}{where}{condition}"

    @cached_property
    def background(self) -> Corpus:
        """The corpus whose numbers are shown as the corpus's."""
        return self.source.for_basis

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

    def matrix(self, pairs: Sequence[tuple[str, str]]) -> PairCounts:
        """The pairs counted as the model's were."""
        assert self.basis is not None
        return count_pairs(self.source, list(pairs), self.basis, self.settings)

    def explanation(self, w1: str, w2: str, against: str | None = None) -> dict[str, Any] | None:
        """Why the model decides as it does (and not for the label `against`), without lines; None without a model."""
        if self.model is None:
            return None
        found = explain_matrix(
            self.model, self.source, self.matrix([(w1, w2)]), against=against, top=8, lines=0, in_full=False
        )
        plain: dict[str, Any] = EXPLANATION.dump_python(found)  # the same as to_dict(), several times faster
        return plain

    def evidence(self, w1: str, w2: str) -> PairEvidence | None:
        """The observations of a pair, for its sketch and its lines; None if a word is unknown."""
        first, second = self.source.resolve([w1, w2])
        if first is None or second is None:
            return None
        return self.pairs.get(
            (w1, w2),
            lambda: PairEvidence(self.source, first, second, self.settings),
            lambda _: not self.is_slow(w1, w2),
        )

    def browser(self, words: Sequence[str]) -> Browser:
        """A concordance to page through."""
        return self.browsers.get(
            tuple(words),
            lambda: Browser(self.source, words, self.settings.windows),
            lambda made: len(made.words) == 1 or made.total < LARGE,
        )


def open_library(
    store: str, model: str | None = None, limits: Limits | None = None, any_store: bool = False
) -> Library:
    """Open everything; whatever does not fit is an error now, not for the first visitor."""
    from bagpack.learn import load_model
    from bagpack.sources import open_source

    opened = load_model(model) if model else None
    source = opened.open_source(store, any_store) if opened else open_source(store)
    return Library(source, opened, limits, Path(model).name if model else "")
