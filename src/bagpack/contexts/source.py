"""What pair vectors are counted from: an indexed corpus, or anything that offers the same few methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from bagpack.contexts.concordance import Concordance, find_contexts
from bagpack.contexts.forms import Elsewhere, find_elsewhere
from bagpack.contexts.targets import Target, resolve_targets
from bagpack.contexts.windows import DEFAULT_LIMIT, CountSettings, Windows
from bagpack.corpus.store.corpus import Corpus

if TYPE_CHECKING:
    from bagpack.basis import Basis, BasisSize
    from bagpack.contexts.count import PairCountsOf
    from bagpack.contexts.distribute import Csr, Progress


class ContextSource(Protocol):
    """Where contexts come from."""

    path: Path

    @property
    def name(self) -> str:
        """What artefacts and messages call it; it can be opened by this name."""

    @property
    def content_hash(self) -> str:
        """Changes when the counts would."""

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """The target of each word, None if it is unknown."""

    def pick_basis(self, b: BasisSize, n_jobs: int | None = None) -> Basis:
        """The b most frequent unigrams and bigrams, or those that a `BasisChoice` asks for."""

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings, n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Csr, NDArray[np.int64]]:  # fmt: skip
        """Rows (pre, post) of each target, and how often it occurs."""

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Progress | None = None,
    ) -> PairCountsOf:  # fmt: skip
        """Rows of each pair, with how many co-occurrences were found and counted."""

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = DEFAULT_LIMIT,
        windows: Windows | None = None,
    ) -> Concordance:  # fmt: skip
        """The places that are counted, as written."""


class CorpusSource:
    """An indexed corpus as a source of contexts."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.path = corpus.path

    @property
    def name(self) -> str:
        """The store's."""
        return self.corpus.name

    @property
    def content_hash(self) -> str:
        """The store's."""
        return self.corpus.content_hash

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """As keys, forms, or runs of them."""
        return resolve_targets(self.corpus, words)

    def pick_basis(self, b: BasisSize, n_jobs: int | None = None) -> Basis:
        """From the whole corpus; the last few are remembered."""
        return _basis_of(self.corpus, b, n_jobs)

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings, n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Csr, NDArray[np.int64]]:  # fmt: skip
        """Over all shards."""
        from bagpack.contexts.count import count_words  # scipy and joblib, which a concordance does not need

        return count_words(self.corpus, targets, basis, settings, n_jobs, progress)

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Progress | None = None,
    ) -> PairCountsOf:  # fmt: skip
        """Over all shards."""
        from bagpack.contexts.count import count_pairs

        return count_pairs(self.corpus, pairs, basis, settings, n_jobs, progress)

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = DEFAULT_LIMIT,
        windows: Windows | None = None,
    ) -> Concordance:  # fmt: skip
        """From the corpus."""
        return find_contexts(self.corpus, w1, w2, limit=limit, windows=windows)


def elsewhere(source: ContextSource, words: Sequence[str]) -> list[Elsewhere]:
    """Words whose form mostly counts as another lemma than theirs; snippets have each word under its own key."""
    return find_elsewhere(source.corpus, words) if isinstance(source, CorpusSource) else []


@lru_cache(maxsize=8)
def _basis_of(corpus: Corpus, b: BasisSize, n_jobs: int | None) -> Basis:
    from bagpack.basis import Basis

    return Basis.of(corpus, b, n_jobs)
