"""A snippet corpus (`snippets.bps`): what a search engine gave, serving wherever a store does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.artefacts import damaged_files, read_sealed
from bagpack.basis import Basis, BasisSize
from bagpack.contexts import count as counting
from bagpack.contexts.concordance import Concordance, contexts_of
from bagpack.contexts.count import PairCountsOf
from bagpack.contexts.distribute import Csr
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import DEFAULT_LIMIT, CountSettings, Windows
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.corpus import Corpus
from bagpack.engines.inflect import fold_target
from bagpack.engines.queries import MAX_GAP
from bagpack.engines.words import KEY_MARK
from bagpack.errors import StoreError, UsageError

I64 = NDArray[np.int64]
FORMAT_VERSION = 1
KIND = "snippets"
ROLES = ("sentences", "words", "pairs")


class SnippetCorpus:
    """Snippets as a source of contexts (`bagpack.contexts.source.ContextSource`).

    Single contexts are counted in the store `for_words`, pair contexts in `for_pairs`; the basis is picked from the
    distinct sentences, `for_basis`. Only words and pairs that were fetched can be asked for.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self.options = TextOptions.from_dict(manifest["options"])

    @classmethod
    def open(cls, path: str | Path) -> SnippetCorpus:
        """Open what `bagpack fetch` made."""
        path = Path(path)
        if not (path / "manifest.json").exists():
            raise StoreError(f"there is no snippet corpus at {path}; make one with bagpack fetch")
        manifest = read_sealed(path / "manifest.json")
        if manifest.get("kind") != KIND:
            raise StoreError(
                f"{path} is a BagPack {manifest.get('kind')}, not a snippet corpus; name one that bagpack fetch made"
            )
        if manifest.get("format_version") != FORMAT_VERSION:
            raise StoreError(
                f"{path} has format version {manifest.get('format_version')}, this BagPack reads {FORMAT_VERSION}; "
                f"fetch it again with --overwrite (the answers are in the cache)"
            )
        return cls(path, manifest)

    @cached_property
    def for_basis(self) -> Corpus:
        """The store of distinct sentences."""
        return Corpus.open(self.path / "sentences")

    @cached_property
    def for_words(self) -> Corpus:
        """The store of single contexts."""
        return Corpus.open(self.path / "words")

    @cached_property
    def for_pairs(self) -> Corpus:
        """The store of pair contexts."""
        return Corpus.open(self.path / "pairs")

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def content_hash(self) -> str:
        """Changes when anything that was fetched does."""
        return str(self.manifest["content_hash"])

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {word: key for word, key, *_ in self.target_rows()}

    @cached_property
    def _fetched(self) -> set[frozenset[str]]:
        return {frozenset((self._keys[w1], self._keys[w2])) for w1, w2, *_ in self.pair_rows()}

    def target_rows(self) -> list[list[str]]:
        """The fetched words: word, key, capped, forms."""
        return self._rows("targets.tsv")

    def pair_rows(self) -> list[list[str]]:
        """The fetched pairs: the two words, and how many of their queries were capped."""
        return self._rows("pairs.tsv")

    def _rows(self, name: str) -> list[list[str]]:
        """The rows of one of the tables, without its header."""
        for problem in damaged_files(self.path, {name: self.manifest["checksums"][name]}):
            raise StoreError(f"{problem}; fetch them again with --overwrite")
        text = (self.path / name).read_text(encoding="utf-8")
        return [line.split("\t") for line in text.split("\n")[1:] if line]

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """The target of each fetched word; None if no query found it. A word that was not fetched is an error."""
        named = [fold_target(word) for word in words]
        absent = [word for word in named if word not in self._keys]
        if absent:
            raise self._not_fetched(absent, "")
        keys = [self._keys[word] for word in named]
        seen = (self.for_words.lexicon.keys.find(keys) >= 0) | (self.for_pairs.lexicon.keys.find(keys) >= 0)
        return [Target((key,)) if known else None for key, known in zip(keys, seen.tolist(), strict=True)]

    def _not_fetched(self, absent: Sequence[str], kind: str) -> StoreError:
        others = len(set(absent)) - 1
        more = f" and {others:,} more" if others else ""
        return StoreError(
            f"{self.path} has no snippets for {kind}{absent[0]!r}{more}; add the pairs to the list and run bagpack "
            f"fetch again (what the cache has is not asked twice)"
        )

    def _check_fetched(self, pairs: Sequence[tuple[Target, Target]]) -> None:
        absent = [
            f"{one} {two}".replace(KEY_MARK, "")
            for one, two in pairs
            if frozenset((*one.keys, *two.keys)) not in self._fetched
        ]
        if absent:
            raise self._not_fetched(absent, "the pair ")

    def pick_basis(self, b: BasisSize, n_jobs: int | None = None) -> Basis:
        """The b most frequent unigrams and bigrams of the distinct sentences."""
        return replace(Basis.of(self.for_basis, b, n_jobs), corpus_hash=self.content_hash)

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings, n_jobs: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Csr, I64]:  # fmt: skip
        """Rows (pre, post) of each target, from the snippets of its own query."""
        return counting.count_words(self.for_words, targets, basis, settings, n_jobs, progress)

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings,
        n_jobs: int | None = None, progress: Callable[[int], None] | None = None,
    ) -> PairCountsOf:  # fmt: skip
        """Rows of each pair, from the snippets of its twelve queries. A pair that was not fetched is an error."""
        self._check_fetched(pairs)
        if settings.windows.between > MAX_GAP:
            raise UsageError(
                f"the queries asked for at most {MAX_GAP} words between, so a window of {settings.windows.between} "
                f"cannot be counted in {self.path}; lower it"
            )
        return counting.count_pairs(self.for_pairs, pairs, basis, settings, n_jobs, progress)

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = DEFAULT_LIMIT, windows: Windows | None = None,
    ) -> Concordance:  # fmt: skip
        """The very places that are counted, as they are written."""
        words = (w1,) if w2 is None else (w1, w2)
        targets = self.resolve(words)
        if len(targets) == 2 and targets[0] and targets[1]:
            self._check_fetched([(targets[0], targets[1])])
        store = self.for_words if w2 is None else self.for_pairs
        return contexts_of(store, words, targets, limit, windows or Windows())

    def verify(self) -> list[str]:
        """One message per problem, in all three stores and the files next to them."""
        problems = [problem for role in ROLES for problem in Corpus.open(self.path / role).verify()]
        problems.extend(damaged_files(self.path, self.manifest["checksums"]))
        return problems

    def info(self) -> dict[str, Any]:
        """What `bagpack info` shows."""
        facts = {
            name: value for name, value in self.manifest.items() if name not in ("kind", "checksums", "seal")
        }
        on_disk = sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())
        return {"kind": KIND, "path": str(self.path), **facts, "bytes": on_disk}

    def __repr__(self) -> str:
        return f"SnippetCorpus({str(self.path)!r}, pairs={self.manifest['pairs']:,})"
