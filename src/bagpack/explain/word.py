"""Word sketches: the collocates of a word by grammatical pattern."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from bagpack.contexts.concordance import show_all
from bagpack.contexts.targets import ContextSource, Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.explain.collocates import Collocate, WordPlaces, occurrences
from bagpack.explain.lines import line_dict
from bagpack.sources import as_source

FORMS = 12  # listed


@dataclass(frozen=True)
class Form:
    form: str
    count: int


@dataclass(frozen=True)
class Collocates:
    """The collocates of a word in one pattern, which fits in `count` places."""

    pattern: str
    count: int
    words: list[Collocate]


@dataclass(frozen=True)
class WordSketch:
    """One word: frequency, forms, parts of speech, and its collocates by pattern, from `sampled` occurrences."""

    word: str
    known_as: str
    unknown: bool
    count: int
    per_million: float
    rank: int
    forms: list[Form]
    parts_of_speech: dict[str, int]
    sampled: int
    patterns: list[Collocates]
    examples: list[dict[str, Any]] = field(default_factory=list)
    windows: str = ""

    def __getitem__(self, pattern: str) -> list[Collocate]:
        return {found.pattern: found.words for found in self.patterns}[pattern]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def sketch_word(
    source: ContextSource | Corpus, word: str, *, windows: Windows | None = None, top: int = 15, examples: int = 6
) -> WordSketch:  # fmt: skip
    """A word's sketch: how often, in which forms, and its collocates by grammatical pattern.

    Parameters
    ----------
    top
        Number of collocates per pattern.

    Examples
    --------
    >>> import tempfile
    >>> from bagpack import Corpus, index_corpus
    >>> place = tempfile.TemporaryDirectory()
    >>> text = open(f"{place.name}/t.txt", "w")
    >>> _ = text.write("The old doctor came.\\n" * 5 + "A young dog ran.\\n" * 40)
    >>> text.close()
    >>> store = index_corpus([text.name], f"{place.name}/t.bp").corpus
    >>> [collocate.term for collocate in sketch_word(store, "doctor")["before"]]
    ['old']
    """
    source = as_source(source)
    windows = windows or Windows()
    target = source.resolve([word])[0]
    corpus = source.for_words
    count = 0 if target is None else occurrences(corpus, target)
    if target is None or not count:
        return WordSketch(word, "", True, 0, 0.0, 0, [], {}, 0, [], windows=str(windows))
    places = WordPlaces(source, target, windows)
    patterns = []
    for name, numbers in places.found.items():
        if words := places.collocates(numbers, top):
            patterns.append(Collocates(name, int(numbers.size), words))
    found = (show_all(corpus, own, [len(target.keys)], windows) for own in places.examples(examples))
    lines = list(chain.from_iterable(found))
    return WordSketch(
        word=word, known_as=str(target), unknown=False, count=count,
        per_million=round(1e6 * count / max(corpus.tokens, 1), 2),
        rank=int((corpus.lexicon.counts > count).sum()) + 1 if target.is_key else 0,
        forms=_forms(corpus, target), parts_of_speech=places.parts_of_speech(), sampled=places.sampled,
        patterns=patterns, examples=[line_dict(line) for line in lines], windows=str(windows),
    )  # fmt: skip


def _forms(corpus: Corpus, target: Target) -> list[Form]:
    """How a word is written, the commonest first; for a run of words there is no such list."""
    if not target.is_key:
        return []
    sums: Counter[str] = Counter()
    for segment in corpus.segments:
        key = int(segment.keys.find([target.keys[0]])[0])
        for number in np.flatnonzero(segment.key_of_type == key).tolist() if key >= 0 else ():
            sums[segment.forms[number]] += int(segment.type_counts[number])
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [Form(form, count) for form, count in ordered[:FORMS]]
