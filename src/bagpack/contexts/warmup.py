"""Compiling the counting kernels before workers start, and saying so: the first run would look hung otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagpack.contexts import couple_kernels, feature_kernels, word_kernels
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings

if TYPE_CHECKING:
    from bagpack.basis import Basis
    from bagpack.contexts.source import ContextSource

NOTICE = "compiling the counting kernels for the first run here, a few seconds ..."


def is_compiled() -> bool:
    """Whether numba has compiled the kernels here before; if that cannot be told, it has not."""
    needed: list[Any] = [
        word_kernels.count_words, word_kernels.emit_rows, couple_kernels.find_all_couples,
        feature_kernels.list_columns, feature_kernels.sum_columns,
    ]  # fmt: skip
    try:
        return all(Path(kernel._cache._cache_file._index_path).exists() for kernel in needed)
    except AttributeError:
        return False


def warm_up(source: ContextSource, basis: Basis, notice: Callable[[str], None] | None = None) -> None:
    """Count one observation of two rare basis terms, unless the kernels are compiled already."""
    from bagpack.contexts.source import CorpusSource

    if is_compiled():
        return
    if notice:
        notice(NOTICE)
    targets = [Target((term,)) for term in basis.unigrams[-2:]]
    if not targets or not isinstance(source, CorpusSource):
        return  # snippets answer only for what was fetched; the kernels are compiled when they are first used
    settings = CountSettings(limit=1)
    source.count_words(targets, basis, settings, n_jobs=1)
    source.count_pairs([(targets[0], targets[-1])], basis, settings, n_jobs=1)
