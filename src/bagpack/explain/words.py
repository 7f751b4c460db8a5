"""Word sketches: the collocates of a word by grammatical pattern, and the collocates of two words compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bagpack.contexts.concordance import show
from bagpack.contexts.forms import Elsewhere
from bagpack.contexts.source import ContextSource, elsewhere
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import Windows
from bagpack.corpus.store.corpus import Corpus
from bagpack.errors import UsageError
from bagpack.explain.collocates import Collocate, WordPlaces, occurrences
from bagpack.explain.keyness import CHANCE, LEAST, log_likelihood
from bagpack.explain.lines import corpora_of, line_dict
from bagpack.notebook import html_table
from bagpack.numbers import many
from bagpack.sources import as_source

ORDERS = ("llr", "logdice")
FORMS = 12  # listed
HEADER = ("pattern", "collocate", "count", "expected", "llr", "logdice")


@dataclass(frozen=True)
class Form:
    """A written form and how often it occurs."""

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
    elsewhere: list[Elsewhere] = field(default_factory=list)

    def __getitem__(self, pattern: str) -> list[Collocate]:
        return {found.pattern: found.words for found in self.patterns}[pattern]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def rows(self) -> Iterator[Sequence[str | int | float]]:
        """A table: header, then a row per pattern and collocate."""
        yield HEADER
        for found in self.patterns:
            for item in found.words:
                yield found.pattern, item.term, item.count, item.expected, item.llr, item.logdice

    def _repr_html_(self) -> str:
        header, *rows = self.rows()
        return html_table(f"{self.known_as or self.word}: {many(self.count, 'occurrence')}", header, rows)


@dataclass(frozen=True)
class ComparedCollocate:
    """A word's counts and logDice with two words; `llr` is positive where it prefers the first, negative the second."""

    term: str
    counts: tuple[int, int]
    logdice: tuple[float | None, float | None]
    llr: float


@dataclass(frozen=True)
class ComparedPattern:
    """What one pattern has with the first word more, with both alike, and with the second more."""

    pattern: str
    counts: tuple[int, int]
    first: list[ComparedCollocate]
    both: list[ComparedCollocate]
    second: list[ComparedCollocate]


@dataclass(frozen=True)
class WordComparison:
    """Two words compared by their collocates."""

    w1: str
    w2: str
    unknown: tuple[str, ...]
    counts: tuple[int, int]
    patterns: list[ComparedPattern]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def rows(self) -> Iterator[Sequence[str | int | float | None]]:
        """A table: header, then a row per pattern and collocate."""
        yield ("pattern", "collocate", "more with", f"count {self.w1}", f"count {self.w2}", f"logdice {self.w1}",
               f"logdice {self.w2}", "llr")  # fmt: skip
        for found in self.patterns:
            for side, items in ((self.w1, found.first), ("both", found.both), (self.w2, found.second)):
                for item in items:
                    yield found.pattern, item.term, side, *item.counts, *item.logdice, item.llr

    def _repr_html_(self) -> str:
        header, *rows = self.rows()
        return html_table(f"{self.w1} and {self.w2}", header, rows)


def sketch_word(
    source: ContextSource | Corpus, word: str, *, windows: Windows | None = None, top: int = 15, by: str = "llr",
    examples: int = 6,
) -> WordSketch:  # fmt: skip
    """A word's sketch: how often, in which forms, and its collocates by grammatical pattern.

    Parameters
    ----------
    top
        Number of collocates per pattern.
    by
        What they are sorted by: ``llr`` (log-likelihood ratio, favours frequent ones) or ``logdice``.

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
    if by not in ORDERS:
        raise UsageError(f"collocates cannot be sorted by {by}; choose one of {', '.join(ORDERS)}")
    source = as_source(source)
    windows = windows or Windows()
    target = source.resolve([word])[0]
    corpus, _ = corpora_of(source)
    count = 0 if target is None else occurrences(corpus, target)
    if target is None or not count:
        return WordSketch(word, "", True, 0, 0.0, 0, [], {}, 0, [], windows=str(windows))
    places = WordPlaces(source, target, windows)
    patterns = []
    for name, numbers in places.found.items():
        words = places.collocates(numbers, top, by)
        if words:
            patterns.append(Collocates(name, int(numbers.size), words))
    lines = [show(corpus, place, [len(target.keys)], windows) for place in places.examples(examples)]
    return WordSketch(
        word=word, known_as=str(target), unknown=False, count=count,
        per_million=round(1e6 * count / max(corpus.tokens, 1), 2),
        rank=int((corpus.lexicon.counts > count).sum()) + 1 if target.is_key else 0,
        forms=_forms(corpus, target), parts_of_speech=places.parts_of_speech(), sampled=places.sampled,
        patterns=patterns, examples=[line_dict(line) for line in lines], windows=str(windows),
        elsewhere=elsewhere(source, [word]),
    )  # fmt: skip


def compare_words(
    source: ContextSource | Corpus, w1: str, w2: str, *, windows: Windows | None = None, top: int = 10,
) -> WordComparison:  # fmt: skip
    """What two words have in common and what sets them apart, pattern by pattern.

    A collocate prefers a word if the log-likelihood ratio of its share in the pattern exceeds chance (p < 0.001); those
    of both that prefer neither are common to the two.
    """
    source = as_source(source)
    windows = windows or Windows()
    corpus, _ = corpora_of(source)
    targets = source.resolve([w1, w2])
    counts = [0 if target is None else occurrences(corpus, target) for target in targets]
    unknown = tuple(dict.fromkeys(w for w, n in zip((w1, w2), counts, strict=True) if not n))
    totals = (counts[0], counts[1])
    if unknown or targets[0] is None or targets[1] is None:
        return WordComparison(w1, w2, unknown, totals, [])
    one, two = (WordPlaces(source, target, windows) for target in targets if target is not None)
    words = {key for places in (one, two) for key in places.target.words}
    patterns = []
    for name in dict.fromkeys([*one.found, *two.found]):
        empty = np.empty(0, np.int64)
        sides = [places.found.get(name, empty) for places in (one, two)]
        tables = [
            {item.term: item for item in places.collocates(numbers) if item.term not in words}
            for places, numbers in zip((one, two), sides, strict=True)
        ]
        found = _compare(name, (int(sides[0].size), int(sides[1].size)), tables[0], tables[1], top)
        if found.first or found.both or found.second:
            patterns.append(found)
    return WordComparison(w1, w2, (), totals, patterns)


def _compare(
    name: str, sizes: tuple[int, int], one: dict[str, Collocate], two: dict[str, Collocate], top: int
) -> ComparedPattern:
    terms = list(dict.fromkeys([*one, *two]))
    counts = np.array(
        [[table[t].count if t in table else 0 for table in (one, two)] for t in terms], np.int64
    )
    counts = counts.reshape(len(terms), 2)
    llr = log_likelihood(counts[:, 0], sizes[0], counts.sum(axis=1), sum(sizes))
    parts: tuple[list[ComparedCollocate], ...] = ([], [], [])
    for i, term in enumerate(terms):
        mine = [table.get(term) for table in (one, two)]
        known = [item for item in mine if item is not None and item.count >= LEAST and item.llr >= CHANCE]
        scores = [None if item is None else item.logdice for item in mine]
        found = ComparedCollocate(
            term, (int(counts[i, 0]), int(counts[i, 1])), (scores[0], scores[1]), round(float(llr[i]), 1)
        )
        if known and abs(found.llr) >= CHANCE:
            parts[0 if found.llr > 0 else 2].append(found)
        elif len(known) == 2:
            parts[1].append(found)
    first = sorted(parts[0], key=lambda item: -item.llr)[:top]
    both = sorted(parts[1], key=lambda item: -min(score or 0.0 for score in item.logdice))[:top]
    return ComparedPattern(name, sizes, first, both, sorted(parts[2], key=lambda item: item.llr)[:top])


def _forms(corpus: Corpus, target: Target) -> list[Form]:
    """How a word is written, the commonest first; for a run of words there is no such list."""
    if not target.is_key:
        return []
    sums: Counter[str] = Counter()
    for shard in corpus.shards:
        key = int(shard.keys.find([target.keys[0]])[0])
        for number in np.flatnonzero(shard.key_of_type == key).tolist() if key >= 0 else ():
            sums[shard.forms[number]] += int(shard.type_counts[number])
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [Form(form, count) for form, count in ordered[:FORMS]]
