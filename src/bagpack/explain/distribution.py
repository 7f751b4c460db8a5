"""How often a word or pair occurs by an attribute of the documents: over time, or by genre."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from bagpack.arrays import I64
from bagpack.contexts.occurrences import observe
from bagpack.contexts.windows import Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.where import number_of
from bagpack.errors import UsageError, did_you_mean
from bagpack.sheets import table_text

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


@dataclass(frozen=True)
class Distribution:
    """Counts of a word or pair by the values of an attribute, in their order."""

    words: tuple[str, ...]
    attribute: str
    rows: tuple[ValueCount, ...]
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "words": list(self.words), "attribute": self.attribute, "total": sum(row.count for row in self.rows),
            "unknown": list(self.unknown), "rows": [asdict(row) for row in self.rows],
        }  # fmt: skip

    def to_csv(self) -> str:
        header = (self.attribute, "count", "tokens", "per_million", "low", "high")
        return table_text([header, *(astuple(row) for row in self.rows)], ",")


def count_by(corpus: Corpus, words: Sequence[str], by: str, windows: Windows | None = None) -> Distribution:
    """Count a word, or a pair, in the documents of each value of an attribute; `year:10` counts by decades."""
    name, _, step = by.lower().partition(":")
    name, known, width = name.strip(), corpus.attribute_names, number_of(step) if step else 0.0
    if name not in known:
        has = ", ".join(known) or "none; index text with attributes, or with a table of them (--metadata)"
        raise UsageError(
            f"--by {by}: {corpus.name} has no attribute {name!r}; {did_you_mean(name, known)}its documents have {has}"
        )
    if width is None or width < 0 or (step and width == 0):
        raise UsageError(f"--by {by} is not understood; write it like genre, year or, by decades, year:10")
    resolved = corpus.resolve(words)
    unknown = tuple(word for word, target in zip(words, resolved, strict=True) if target is None)
    targets = [target for target in resolved if target is not None]
    found = [] if unknown else observe(corpus, targets, (windows or Windows()).between, None)[0]
    counts: dict[str, I64] = {}  # occurrences and tokens
    for number, segment in enumerate(corpus.segments):
        values, texts = segment.attributes.column(name)
        firsts = found[number].firsts if found else np.zeros(0, np.int64)
        documents = np.searchsorted(segment.document_starts.astype(np.int64), firsts, "right") - 1
        seen = np.bincount(values[documents], minlength=len(texts))
        tokens = np.bincount(values, weights=segment.document_lengths, minlength=len(texts)).astype(np.int64)
        for text, both in zip(texts, np.stack([seen, tokens], axis=1), strict=True):
            size = number_of(text) if width else None
            value = text if size is None else f"{math.floor(size / width) * width:g}"
            counts[value] = counts.get(value, 0) + both
    rows = []
    for value in sorted(counts, key=_by_size):
        count, size = counts[value].tolist()
        if size:
            shares = (count / size, *wilson_interval(count, size))
            rows.append(ValueCount(value, count, size, *(round(1e6 * share, 3) for share in shares)))
    return Distribution(tuple(words), name, tuple(rows), unknown)


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


def _by_size(value: str) -> tuple[bool, bool, float, str]:
    """Numbers by size, then texts, then documents without a value."""
    number = number_of(value)
    return not value, number is None, number or 0.0, value
