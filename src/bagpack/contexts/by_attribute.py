"""How often a word occurs, or two words meet, by an attribute of documents: over time, or by genre."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bagpack.contexts.observations import observe
from bagpack.contexts.targets import resolve_targets
from bagpack.contexts.windows import Windows
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.text.numbers import number_of
from bagpack.errors import UsageError, did_you_mean
from bagpack.sheets import table_text

NONE = ""  # the value of documents that have none


@dataclass(frozen=True)
class ValueCount:
    """The documents with one value: how often the word or pair is in them, and how large they are."""

    value: str
    count: int
    tokens: int
    per_million: float


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
        rows = [(row.value, row.count, row.tokens, row.per_million) for row in self.rows]
        return table_text([(self.attribute, "count", "tokens", "per_million"), *rows], ",")


def parse_by(corpus: Corpus, text: str) -> tuple[str, float]:
    """An attribute and the width of the steps of its numbers, from `genre`, `year` or `year:10`; 0 without steps."""
    name, _, step = text.partition(":")
    name = name.strip().lower()
    if name not in corpus.attributes:
        known = list(corpus.attributes)
        has = f"its documents have {', '.join(known)}" if known else "its documents have none"
        raise UsageError(
            f"--by {text}: {corpus.name} has no attribute {name!r}; {did_you_mean(name, known)}{has}"
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
        lengths = np.diff(np.append(starts, shard.tokens.size))
        tokens = np.bincount(places, weights=lengths, minlength=len(texts)).astype(np.int64)
        firsts = found.get(number, np.zeros(0, np.int64))
        documents = np.searchsorted(starts, firsts, side="right") - 1
        seen = np.bincount(places[documents], minlength=len(texts))
        for label, own, size in zip(labels, seen.tolist(), tokens.tolist(), strict=True):
            if size:
                cell = counts.setdefault(label, [0, 0])
                cell[0] += own
                cell[1] += size
    rows = tuple(
        ValueCount(label, own, size, round(1e6 * own / size, 3))
        for label, (own, size) in sorted(counts.items(), key=lambda item: _order(item[0]))
    )
    return Distribution(tuple(words), name, rows, unknown)


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
