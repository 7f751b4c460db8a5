"""How often a word occurs, or two words co-occur, by an attribute of documents: over time, or by genre."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from bagpack.contexts.occurrences import observe
from bagpack.contexts.targets import resolve_targets
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.where import number_of
from bagpack.errors import UsageError, did_you_mean
from bagpack.sheets import table_text

NONE = ""  # the value of documents that have none
Z = 1.959963984540054  # of a 95 % interval; scipy has Wilson's, but takes a second to import


@dataclass(frozen=True)
class ValueCount:
    """The documents with one value: how often the word or pair is in them, and how large they are.

    `low` and `high` are the 95 % interval of `per_million`.
    """

    value: str
    count: int
    tokens: int
    per_million: float
    low: float
    high: float

    @classmethod
    def of(cls, value: str, count: int, tokens: int) -> ValueCount:
        """With the frequency per million tokens and its interval."""
        low, high = wilson_interval(count, tokens)
        return cls(value, count, tokens, *(round(1e6 * share, 3) for share in (count / tokens, low, high)))


@dataclass(frozen=True)
class Distribution:
    """Counts of a word or pair by the values of an attribute, in their order."""

    words: tuple[str, ...]
    attribute: str
    rows: tuple[ValueCount, ...]
    unknown: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Occurrences in all documents."""
        return sum(row.count for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "words": list(self.words), "attribute": self.attribute, "total": self.total,
            "unknown": list(self.unknown), "rows": [asdict(row) for row in self.rows],
        }  # fmt: skip

    def to_csv(self) -> str:
        """A row for each value."""
        header = (self.attribute, "count", "tokens", "per_million", "low", "high")
        return table_text([header, *(astuple(row) for row in self.rows)], ",")


def parse_by(corpus: Corpus, text: str) -> tuple[str, float]:
    """An attribute and the width of the steps of its numbers, from `genre`, `year` or `year:10`; 0 without steps."""
    name, _, step = text.partition(":")
    name = name.strip().lower()
    known = corpus.attribute_names
    if name not in known:
        has = ", ".join(known) or "none; index text with attributes, or with a table of them (--metadata)"
        raise UsageError(
            f"--by {text}: {corpus.name} has no attribute {name!r}; {did_you_mean(name, known)}its documents have {has}"
        )
    width = number_of(step) if step else 0.0
    if width is None or width < 0 or (step and width == 0):
        raise UsageError(f"--by {text} is not understood; write it like genre, year or, by decades, year:10")
    return name, width


def count_by(corpus: Corpus, words: Sequence[str], by: str, windows: Windows | None = None) -> Distribution:
    """Count a word, or a pair, in the documents of each value of an attribute; `year:10` counts by decades."""
    name, width = parse_by(corpus, by)
    resolved = resolve_targets(corpus, words)
    unknown = tuple(word for word, target in zip(words, resolved, strict=True) if target is None)
    targets = [target for target in resolved if target is not None]
    counts: dict[str, list[int]] = {}
    found = {} if unknown else {
        own.shard: own.firsts for own in observe(corpus, targets, (windows or Windows()).between, None).shards
    }  # fmt: skip
    for number, shard in enumerate(corpus.shards):
        places, texts = shard.attributes.column(name)
        labels = [_label(text, width) for text in texts]
        starts = shard.document_starts.astype(np.int64)
        tokens = np.bincount(places, weights=shard.document_lengths, minlength=len(texts)).astype(np.int64)
        firsts = found.get(number, np.zeros(0, np.int64))
        documents = np.searchsorted(starts, firsts, side="right") - 1
        seen = np.bincount(places[documents], minlength=len(texts))
        for label, own, size in zip(labels, seen.tolist(), tokens.tolist(), strict=True):
            if size:
                cell = counts.setdefault(label, [0, 0])
                cell[0] += own
                cell[1] += size
    rows = tuple(
        ValueCount.of(label, own, size)
        for label, (own, size) in sorted(counts.items(), key=lambda item: _order(item[0]))
    )
    return Distribution(tuple(words), name, rows, unknown)


def wilson_interval(count: int, tokens: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); unlike count ± 2√count, it is right for rare words too.

    >>> low, high = wilson_interval(0, 1000)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.0038)
    """
    share, z2 = count / tokens, Z * Z
    middle = share + z2 / (2 * tokens)
    half = Z * math.sqrt(share * (1 - share) / tokens + z2 / (4 * tokens * tokens))
    return max(0.0, (middle - half) / (1 + z2 / tokens)), min(1.0, (middle + half) / (1 + z2 / tokens))


def _label(text: str, width: float) -> str:
    """The value itself, or the beginning of the step that it falls into."""
    number = number_of(text) if width else None
    if number is None:
        return text
    low = math.floor(number / width) * width
    return f"{low:g}"


def _order(label: str) -> tuple[bool, bool, float, str]:
    """Numbers by size, then texts, then documents without a value."""
    number = number_of(label)
    return label == NONE, number is None, number or 0.0, label
