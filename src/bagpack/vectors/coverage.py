"""What a corpus knows of a data set: unknown words, pairs never seen together, caps that will apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.basis import Basis
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import DEFAULT_LIMIT, CountSettings, Windows
from bagpack.tasks.pairs import distinct_words
from bagpack.vectors.counts import Pair, count_pairs

BANDS = {"0": (0, 0), "1–9": (1, 9), "10–99": (10, 99), "100+": (100, np.inf)}


def frequency_bands(seen: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """The pairs of each band, by how often each pair was seen together."""
    return {name: (seen >= low) & (seen <= high) for name, (low, high) in BANDS.items()}


def coverage(
    source: ContextSource, pairs: Sequence[Pair], labels: Sequence[str] | None = None,
    limit: int | None = DEFAULT_LIMIT, windows: Windows | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Facts about pairs in a source; with labels, also per label."""
    # How often words and pairs occur does not depend on the cap, so one observation each is enough work.
    counts = count_pairs(source, pairs, Basis((".",), ()), CountSettings(windows or Windows(), limit=1))
    seen, unknown, words = counts.seen, counts.unknown, distinct_words(pairs)
    most = np.inf if limit is None else limit
    facts: dict[str, Any] = {
        "rows": len(pairs),
        "distinct_pairs": len(set(pairs)),
        "duplicate_rows": len(pairs) - len(set(pairs)),
        "words": len(words),
        "unknown_words": counts.unknown_words,
        "rows_with_unknown_words": int(unknown.sum()),
        "rows_never_together": int((seen == 0).sum()),
        "rows_together": int((seen > 0).sum()),
        "rows_by_frequency": {name: int(band.sum()) for name, band in frequency_bands(seen).items()},
        "limit": limit,
        "capped_words": {name: n for name, n in counts.capped_words.items() if n > most},
        "capped_pairs": {name: n for name, n in counts.capped_pairs.items() if n > most},
    }
    if labels is not None:
        together = Counter(label for label, n in zip(labels, seen, strict=True) if n)
        facts["labels"] = {
            label: {"rows": n, "together": together[label]} for label, n in sorted(Counter(labels).items())
        }
    facts["together"] = [None if lost else int(n) for n, lost in zip(seen, unknown, strict=True)]
    never = dict.fromkeys(pair for pair, n in zip(pairs, seen, strict=True) if n == 0)
    facts["never_together"] = [f"{w1} {w2}" for w1, w2 in never]
    return facts
