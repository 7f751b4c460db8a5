"""What pair vectors are counted from: an indexed corpus, or snippets of a search engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bagpack.contexts.targets import Elsewhere, Target, find_elsewhere
from bagpack.corpus.corpus import Corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bagpack.basis import Basis
    from bagpack.contexts.concordance import Concordance
    from bagpack.contexts.count import PairCountsOf
    from bagpack.contexts.distribute import Csr
    from bagpack.contexts.windows import CountSettings, Windows


class ContextSource(Protocol):
    """Where contexts come from: a `Corpus`, or a `bagpack.engines.snippets.SnippetCorpus`."""

    path: Path

    @property
    def name(self) -> str:
        """The name by which it can be opened, for artefacts and messages."""

    @property
    def content_hash(self) -> str:
        """Changes when the counts would."""

    @property
    def for_words(self) -> Corpus:
        """The corpus in which single words are counted."""

    @property
    def for_pairs(self) -> Corpus:
        """The corpus in which pairs are counted."""

    @property
    def for_basis(self) -> Corpus:
        """The corpus that the basis is picked from."""

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """The target of each word, None if it is unknown."""

    def pick_basis(self, b: int) -> Basis:
        """The b most frequent unigrams and bigrams."""

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, NDArray[np.int64]]:
        """Rows (pre, post) of each target, and how often it occurs."""

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
    ) -> PairCountsOf:
        """Rows of each pair, with its co-occurrences found and counted."""

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = 5000, windows: Windows | None = None
    ) -> Concordance:
        """The places that are counted, as written."""


def elsewhere(source: ContextSource, words: Sequence[str]) -> list[Elsewhere]:
    """Words whose form mostly counts as another lemma than theirs; snippets have each word under its own key."""
    return find_elsewhere(source, words) if isinstance(source, Corpus) else []
