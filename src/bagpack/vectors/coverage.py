"""What a corpus knows of a data set: unknown words, pairs never seen together, caps that will apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource, elsewhere
from bagpack.contexts.windows import DEFAULT_LIMIT, CountSettings, Windows
from bagpack.tasks.pairs import distinct_words
from bagpack.vectors.counts import Pair, PairCounts, count_pairs

BANDS = {"0": (0, 0), "1–9": (1, 9), "10–99": (10, 99), "100+": (100, np.inf)}


def frequency_bands(seen: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """The pairs of each band, by how often each pair was seen together."""
    return {name: (seen >= low) & (seen <= high) for name, (low, high) in BANDS.items()}


def count_totals(source: ContextSource, pairs: Sequence[Pair], windows: Windows | None = None) -> PairCounts:
    """How often words and pairs occur. That does not depend on the cap, so one observation each is enough work."""
    settings = CountSettings(windows or Windows(), limit=1)
    return count_pairs(source, pairs, Basis((".",), ()), settings)


def coverage(
    source: ContextSource,
    pairs: Sequence[Pair],
    labels: Sequence[str] | None = None,
    limit: int | None = DEFAULT_LIMIT,
    windows: Windows | None = None,
) -> dict[str, Any]:
    """Facts about pairs in a source; with labels, also per label."""
    counts = count_totals(source, pairs, windows)
    seen = counts.seen
    known = ~counts.unknown
    words = distinct_words(pairs)
    facts: dict[str, Any] = {
        "rows": len(pairs),
        "distinct_pairs": len(set(pairs)),
        "duplicate_rows": len(pairs) - len(set(pairs)),
        "words": len(words),
        "unknown_words": counts.unknown_words,
        "elsewhere": [asdict(item) for item in elsewhere(source, words)],
        "rows_with_unknown_words": int((~known).sum()),
        "rows_never_together": int((seen == 0).sum()),
        "rows_together": int((seen > 0).sum()),
        "rows_by_frequency": {name: int(band.sum()) for name, band in frequency_bands(seen).items()},
        "limit": limit,
        "capped_words": {},
        "capped_pairs": {},
    }
    if limit is not None:
        facts["capped_words"] = {name: n for name, n in counts.capped_words.items() if n > limit}
        facts["capped_pairs"] = {name: n for name, n in counts.capped_pairs.items() if n > limit}
    if labels is not None:
        totals, together = Counter(labels), Counter(np.array(labels, dtype=object)[seen > 0].tolist())
        facts["labels"] = {
            label: {"rows": count, "together": together[label]} for label, count in sorted(totals.items())
        }
    facts["together"] = [int(n) if known else None for n, known in zip(seen, known, strict=True)]
    never = [(w1, w2) for (w1, w2), n in zip(pairs, seen, strict=True) if n == 0]
    facts["never_together"] = [f"{w1} {w2}" for w1, w2 in dict.fromkeys(never)]
    return facts
