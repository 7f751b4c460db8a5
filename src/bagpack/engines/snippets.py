"""A snippet corpus (`snippets.bps`): what a search engine gave, serving wherever a store does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from bagpack.arrays import I64, Csr
from bagpack.artefacts import MANIFEST, Artefact, Kind, open_artefact
from bagpack.basis import Basis
from bagpack.contexts import count as counting
from bagpack.contexts.concordance import Concordance, contexts_of
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import DEFAULT_LIMIT, CountSettings, Windows
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.inflect import fold_target
from bagpack.engines.queries import MAX_GAP
from bagpack.errors import StoreError, UsageError
from bagpack.tasks.pairs import Pair

SNIPPETS = Kind("snippets", "snippet corpus", 3, "bagpack fetch")


class SnippetCorpus:
    """Snippets as a source of contexts (`bagpack.contexts.targets.ContextSource`).

    Single contexts are counted in the store `for_words`, pair contexts in `for_pairs`; the basis is picked from the
    distinct sentences, `for_basis`. Only words and pairs that were fetched can be asked for.
    """

    def __init__(self, stored: Artefact) -> None:
        self._stored = stored
        self.path, self.name = stored.path, str(stored.path)
        self.manifest = stored.manifest
        try:
            self.options = TextOptions.from_dict(stored.manifest["options"])
            self.content_hash = str(stored.manifest["content_hash"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.path / MANIFEST} does not describe a snippet corpus ({error}); fetch it again"
            ) from None

    @classmethod
    def open(cls, path: str | Path) -> SnippetCorpus:
        return cls(open_artefact(Path(path), SNIPPETS))

    for_basis = cached_property[Corpus](lambda self: Corpus.open(self._stored.file("sentences")))
    for_words = cached_property[Corpus](lambda self: Corpus.open(self._stored.file("words")))
    for_pairs = cached_property[Corpus](lambda self: Corpus.open(self._stored.file("pairs")))

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {word: key for word, key, *_ in self._rows("targets.tsv", 4)}

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs that were fetched."""
        return [(w1, w2) for w1, w2, _ in self._rows("pairs.tsv", 3)]

    @cached_property
    def _fetched(self) -> set[frozenset[str]]:
        # A word that the other table does not have matches no target.
        return {frozenset(self._keys.get(word, "") for word in pair) for pair in self.pairs}

    def _rows(self, name: str, columns: int) -> list[list[str]]:
        """The rows of one of the tables, without its header."""
        problems = self._stored.damages([name])
        rows = []
        if not problems:
            text = self._stored.file(name).read_bytes().decode("utf-8", "replace")
            rows = [line.split("\t") for line in text.split("\n")[1:] if line]
            if any(len(row) != columns for row in rows):
                problems = [f"{self._stored.data / name} has rows without {columns} columns"]
        if problems:
            raise StoreError(f"{problems[0]}; fetch them again with --overwrite")
        return rows

    def resolve(self, words: Sequence[str]) -> list[Target | None]:
        """The target of each fetched word; None if no query found it. A word that was not fetched is an error."""
        named = [fold_target(word) for word in words]
        self._check("", [word for word in named if word not in self._keys])
        keys = [self._keys[word] for word in named]
        seen = (self.for_words.lexicon.keys.find(keys) >= 0) | (self.for_pairs.lexicon.keys.find(keys) >= 0)
        return [Target((key,)) if known else None for key, known in zip(keys, seen.tolist(), strict=True)]

    def _check(self, kind: str, absent: Sequence[str]) -> None:
        if absent:
            more = f" and {len(set(absent)) - 1:,} more" if len(set(absent)) > 1 else ""
            raise StoreError(
                f"{self.path} has no snippets for {kind}{absent[0]!r}{more}; add the pairs to the list and run bagpack "
                f"fetch again with --overwrite (what was answered is not asked twice)"
            )

    def _check_fetched(self, pairs: Sequence[tuple[Target, Target]]) -> None:
        absent = [pair for pair in pairs if frozenset(pair[0].keys + pair[1].keys) not in self._fetched]
        self._check("the pair ", [f"{one} {two}" for one, two in absent])

    def pick_basis(self, b: int) -> Basis:
        """The b most frequent unigrams and bigrams of the distinct sentences."""
        return replace(Basis.of(self.for_basis, b), corpus_hash=self.content_hash)

    def count_words(
        self, targets: Sequence[Target], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:  # fmt: skip
        """Rows (pre, post) of each target, from the snippets of its own query."""
        return counting.count_words(self.for_words, targets, basis, settings)

    def count_pairs(
        self, pairs: Sequence[tuple[Target, Target]], basis: Basis, settings: CountSettings
    ) -> tuple[Csr, I64]:  # fmt: skip
        """Rows of each pair, from the snippets of its twelve queries. A pair that was not fetched is an error."""
        self._check_fetched(pairs)
        if settings.windows.between > MAX_GAP:
            raise UsageError(
                f"the queries asked for at most {MAX_GAP} words between, so a window of {settings.windows.between} "
                f"cannot be counted in {self.path}; lower it"
            )
        return counting.count_pairs(self.for_pairs, pairs, basis, settings)

    def contexts(
        self, w1: str, w2: str | None = None, *, limit: int | None = DEFAULT_LIMIT, windows: Windows | None = None,
    ) -> Concordance:  # fmt: skip
        """The very places that are counted, as they are written."""
        words = (w1,) if w2 is None else (w1, w2)
        targets = self.resolve(words)
        if len(targets) == 2 and targets[0] and targets[1]:
            self._check_fetched([(targets[0], targets[1])])
        store = self.for_words if w2 is None else self.for_pairs
        return contexts_of(store, words, targets, limit, windows)

    def verify(self) -> list[str]:
        """One message per damaged file, in all three stores and next to them."""
        return self._stored.damages()

    def info(self) -> dict[str, Any]:
        hidden = ("checksums", "data", "seal")
        facts = {name: value for name, value in self.manifest.items() if name not in hidden}
        return {**facts, "path": str(self.path), "bytes": self._stored.size}
