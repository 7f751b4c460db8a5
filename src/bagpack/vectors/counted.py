"""Recent counts are kept, so that cross-validation and clones of an estimator do not count again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.parallel import Progress
from bagpack.vectors.matrix import BlockMatrix, Pair

KEPT = 4  # combinations of corpus, basis and settings
MOST_PAIRS = 100_000  # of each; some hundred MB
MOST_ENTRIES = 50_000_000  # non-zero counts of each; 400 MB

_Key = tuple[str, str, str, CountSettings]
_kept: OrderedDict[_Key, BlockMatrix] = OrderedDict()
_lock = threading.Lock()


def count_remembered(
    source: ContextSource, pairs: Sequence[Pair], basis: Basis, settings: CountSettings,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> BlockMatrix:  # fmt: skip
    """Count pairs; those that were counted recently in the same corpus, over the same basis, are taken from memory."""
    counts = (*basis.unigram_counts, *basis.bigram_counts)
    key = (str(source.path), source.content_hash, f"{basis.hash}{hash(counts)}", settings)
    with _lock:
        known = _kept.get(key)
    wanted = dict.fromkeys(pairs)
    new = [pair for pair in wanted if known is None or not known.holds(pair)]
    if known is not None and len(known) + len(new) > MOST_PAIRS:
        known, new = None, list(wanted)  # forget the older ones
    if known is None:
        known = BlockMatrix.count(source, new, basis, settings, n_jobs, progress)
    elif new:
        known = known.grow(source, new, n_jobs, progress)
    entries = known.words.rows.nnz + known.distinct_pairs.rows.nnz
    with _lock:
        if len(known) <= MOST_PAIRS and entries <= MOST_ENTRIES:
            _kept[key] = known
            _kept.move_to_end(key)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        else:
            _kept.pop(key, None)
    return known.rows_of(pairs)


def forget() -> None:
    """Drop all remembered counts."""
    with _lock:
        _kept.clear()
