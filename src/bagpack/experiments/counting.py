"""Counts of a data set's pairs, from a store, from snippets, or from a matrix that was counted before."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack._version import __version__
from bagpack.basis import Basis, BasisSize
from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import StoreError, UsageError
from bagpack.learn.presets import Preset
from bagpack.names import STATISTICS
from bagpack.parallel import Progress
from bagpack.sources import find_store, open_source
from bagpack.tasks.words import distinct_words
from bagpack.vectors.matrix import BlockMatrix, Pair
from bagpack.vectors.storage import is_matrix
from bagpack.vectors.tables import OutsideCounts

if TYPE_CHECKING:
    from bagpack.engines.counts import CorpusStatistics
    from bagpack.evaluate.schema import CorpusFacts, DataFacts

DEFAULT_B = 1500
REMOTE_RATE = 5.0  # requests per second to a public service that counts
LISTED = 50  # names that a result lists; the numbers are always whole


@dataclass(frozen=True)
class CountOptions:
    """How pairs are counted when they have to be."""

    b: BasisSize | None = None  # the task's own: 1500, unless it has another
    basis: str | None = None
    settings: CountSettings = field(default_factory=CountSettings)
    n_jobs: int | None = None


def matrix_of(
    path: str | Path, pairs: Sequence[Pair], options: CountOptions, progress: Progress | None = None
) -> BlockMatrix:
    """The pairs' matrix; `path` is a store, snippets, or a matrix that holds the pairs already."""
    if is_matrix(Path(path)):
        return BlockMatrix.open(path).rows_of(pairs)
    source = open_source(path)
    if progress:
        progress("basis", 0, 0)
    if options.basis is None:
        basis = source.pick_basis(DEFAULT_B if options.b is None else options.b, options.n_jobs)
    else:
        basis = Basis.open_for(options.basis, source)
    return BlockMatrix.count(source, pairs, basis, options.settings, options.n_jobs, progress)


def check_engine_counts(engine: str, preset: Preset) -> None:
    """Raise where an engine's counts could not be used, before the work that needs them."""
    if not any(STATISTICS in blocks for blocks in preset.conditions.values()):
        raise UsageError(
            f"--counts gives the pair statistics of preset modern, and preset {preset.name} has none; omit one of the "
            "two options"
        )
    _engine_counts(engine, [])


def _engine_counts(engine: str, pairs: Sequence[Pair], progress: Progress | None = None) -> CorpusStatistics:
    from bagpack.engines.counts import corpus_statistics
    from bagpack.engines.fetch.budget import RequestPolicy
    from bagpack.engines.fetch.cache import default_cache

    policy = RequestPolicy(rate=REMOTE_RATE) if "+http" in engine.partition(":")[0] else RequestPolicy()
    report = None if progress is None else partial(progress, "counts")
    return corpus_statistics(pairs, engine, cache=default_cache(), policy=policy, progress=report)


def with_engine_counts(matrix: BlockMatrix, engine: str, progress: Progress | None = None) -> BlockMatrix:
    """The matrix whose pair statistics (number of co-occurrences in each order) are counted by an engine."""
    from bagpack.engines.base import parse_address

    pairs = list(dict.fromkeys(matrix.pairs))
    found = _engine_counts(engine, pairs, progress)
    totals = {pair: statistics.totals for pair, statistics in zip(pairs, found.pairs, strict=True)}
    approximate = any(statistics.approximate for statistics in found.pairs)
    shown = parse_address(engine).shown
    return matrix.with_outside_counts(OutsideCounts(totals, shown, found.tokens, approximate))


def outside_note(matrix: BlockMatrix) -> list[str]:
    """Where pair statistics are from, if not from the corpus."""
    outside = matrix.tables.outside
    if outside is None:
        return []
    size = f"{outside.tokens:,} tokens" if outside.tokens else "size unknown, so without PMI"
    estimated = ". Some counts are estimates" if outside.approximate else ""
    return [
        f"How often words occur, and occur together, was counted by {outside.source} ({size}); contexts are those of "
        f"the corpus{estimated}."
    ]


def counted_source(matrix: BlockMatrix) -> ContextSource | None:
    """The source that a matrix was counted from; None if it is not found any more, was changed or is damaged."""
    store = find_store(matrix.source_path, matrix.source_hash, matrix.place)
    try:
        source = None if store is None else open_source(store)
    except StoreError:
        return None
    return source if source is not None and source.content_hash == matrix.source_hash else None


def corpus_facts(matrix: BlockMatrix) -> CorpusFacts:
    """What a report says of the corpus; only its path and hash if it is out of reach."""
    facts: CorpusFacts = {"path": matrix.source_path, "content_hash": matrix.source_hash}
    source = counted_source(matrix)
    if source is None:
        return facts
    for name in ("tokens", "sentences", "documents", "types"):
        if isinstance(source, CorpusSource):
            facts[name] = getattr(source.corpus, name)
        elif name in (snippets := getattr(source, "manifest", {})):
            facts[name] = int(snippets[name])
    return facts


def data_facts(matrix: BlockMatrix, path: str) -> DataFacts:
    """What a report says of the data set and of what the corpus knows of it."""
    unknown, words, pairs = matrix.unknown_words, matrix.capped_words, matrix.capped_pairs
    return {
        "path": path,
        "rows": len(matrix),
        "pairs": len(set(matrix.pairs)),
        "words": len(distinct_words(matrix.pairs)),
        "duplicates": len(matrix) - len(set(matrix.pairs)),
        "equal_words": sum(w1 == w2 for w1, w2 in matrix.pairs),
        "unknown_words": len(unknown),
        "unknown_word_list": unknown[:LISTED],
        "unseen_pairs": int((matrix.seen == 0).sum()),
        "capped_words": len(words),
        "capped_word_list": list(words)[:LISTED],
        "capped_pairs": len(pairs),
        "capped_pair_list": list(pairs)[:LISTED],
    }


def count_settings(matrix: BlockMatrix) -> dict[str, Any]:
    """The settings that shaped the counts, for a report."""
    settings = matrix.settings
    return {
        "b": len(matrix.basis.unigrams),
        "windows": str(settings.windows),
        "limit": "none" if settings.limit is None else settings.limit,
        **({} if settings.sample is None else {"sample": settings.sample}),
        **({} if settings.count == "context" else {"count": settings.count}),
    }


def with_facts(result: dict[str, Any], matrix: BlockMatrix, path: str, **data: Any) -> dict[str, Any]:
    """A result with the corpus, the data set (and more about it), the counting settings and the versions."""
    return {
        **result,
        "corpus": corpus_facts(matrix),
        "data": {**data_facts(matrix, path), **data},
        "settings": {**result["settings"], **count_settings(matrix)},
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Versions that a result depends on."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"bagpack": __version__, "python": platform.python_version(), **libraries}
