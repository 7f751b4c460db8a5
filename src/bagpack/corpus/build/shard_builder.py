"""A shard while it is being made: token ids, the table of distinct strings, and where documents begin."""

from __future__ import annotations

from collections import Counter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.normalise import NormalisedTypes, normalise_columns, normalise_forms
from bagpack.corpus.build.shard_writer import ShardDraft
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import NONE, DocumentStart, Source, TokenBatch
from bagpack.corpus.readers.io import place_at
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.casefold import compose
from bagpack.corpus.text.decoding import decode, encoding_error
from bagpack.corpus.text.lemmas import FormAnnotator, get_annotator
from bagpack.corpus.text.tagsets import tagset

FIRST_TOKENS = 1 << 18


class TagTable:
    """The distinct tags of a tagset that occurred, and their universal tags."""

    def __init__(self, name: str) -> None:
        self.tagset = tagset(name)
        self.table = InternTable(1 << 8)
        self.codes = np.empty(0, np.uint8)

    def codes_of(self, batch: TokenBatch) -> NDArray[np.uint8]:
        """The universal tag of each token of a batch."""
        tags, ids = (batch.tag_starts, batch.tag_stops), np.empty(batch.tag_starts.size, np.uint32)
        self.table.add_spans(batch.data, tags, (NONE, NONE), np.zeros_like(ids), ids)
        new = list(self.table)[self.codes.size :] if len(self.table) > self.codes.size else []
        known = [self.tagset.code(tag.decode(errors="replace").strip()) for tag in new]
        self.codes = np.concatenate([self.codes, np.array(known, np.uint8)])
        return self.codes[ids]


class ShardBuilder:
    """Collects batches of tokens; `draft` is the shard that they make."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self.lang = options.lang
        self.documents: list[DocumentStart] = []
        self._tagsets: dict[str, TagTable] = {}
        self._clear()

    def _clear(self) -> None:
        self.table = InternTable()
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)
        self.tags: NDArray[np.uint8] | None = None
        self.count = 0
        self.closed = True  # whether the last sentence is over
        self.origins: list[tuple[int, Source]] = []  # the first token of each source
        self._encoding = "utf-8"
        self._entities = False
        self._has_forms = self._has_lemmas = False

    def add(self, batch: TokenBatch) -> None:
        """Append the tokens of a batch, and open its documents."""
        for document in batch.documents:
            self._open(document._replace(position=self.count + document.position))
        if not batch.starts.size:
            return
        if self.count + batch.starts.size > self.tokens.size:
            # Pages of np.empty that no token reaches are never touched, so only the copy costs memory.
            larger = np.empty(max(self.count + batch.starts.size, 2 * self.tokens.size), np.uint32)
            larger[: self.count] = self.tokens[: self.count]
            self.tokens = larger
        ids = self.tokens[self.count : self.count + batch.starts.size]
        known = len(self.table)
        self.table.add_tokens(batch, ids)
        if self.options.encoding_errors == "strict":
            self._check_encoding(batch, ids, known)
        self._add_tags(batch)
        if not self.origins or self.origins[-1][1] is not batch.source:
            self.origins.append((self.count, batch.source))
        self.count += batch.starts.size
        self.closed = batch.closed
        self._encoding = batch.encoding
        self._entities = batch.entities
        self._has_lemmas |= batch.lemma_starts.size > 0
        self._has_forms |= batch.lemma_starts.size == 0

    def _open(self, document: DocumentStart) -> None:
        """From its position on, tokens belong to this document.

        A provisional document at the same position never had a token, nor had one carried over from the shard before.
        """
        if self.documents and self.documents[-1].position == document.position:
            empty = self.documents[-1]
            if empty.provisional or empty.continued:
                self.documents.pop()
        self.documents.append(document)

    def _add_tags(self, batch: TokenBatch) -> None:
        """Append the parts of speech of a batch; those of text without tags are X."""
        if batch.tag_starts.size and self.tags is None:
            self.tags = np.zeros(self.tokens.size, np.uint8)
        if self.tags is None:
            return
        if self.tags.size < self.tokens.size:
            self.tags = np.concatenate([self.tags, np.zeros(self.tokens.size - self.tags.size, np.uint8)])
        if batch.tag_starts.size:
            table = self._tagsets.setdefault(batch.tagset, TagTable(batch.tagset))
            self.tags[self.count : self.count + batch.starts.size] = table.codes_of(batch)

    def _check_encoding(self, batch: TokenBatch, ids: NDArray[np.uint32], known: int) -> None:
        """Bytes that are not the encoding are an error; only new strings that are not ASCII have to be looked at."""
        if batch.encoding == "utf-8" and not batch.lemma_starts.size:
            return
        offsets = self.table.offsets[known : len(self.table) + 1]
        places = offsets[0] + np.flatnonzero(self.table.blob[offsets[0] : offsets[-1]] >= 0x80)
        for number in np.unique(known + np.searchsorted(offsets, places, "right") - 1).tolist():
            try:
                decode(self.table.bytes_at(number), batch.encoding)
            except UnicodeDecodeError as error:
                first = int(batch.starts[np.flatnonzero((ids & TYPE_MASK) == number)[0]])
                raise encoding_error(
                    place_at(batch.source, batch.offset + first), error, batch.encoding
                ) from error

    def draft(self, types: NormalisedTypes) -> ShardDraft:
        """The shard, ready to be written."""
        source = self.origins[-1][1].name
        tags = self._found_tags() if self.tags is None and self.options.tag else self.tags
        tags = None if tags is None else tags[: self.count]
        return ShardDraft(self.tokens[: self.count], types, self.documents, self.options, source, tags)

    def _found_tags(self) -> NDArray[np.uint8]:
        """The parts of speech that the tagger finds."""
        from bagpack.corpus.build.tagger import english_tagger

        forms = [entry.decode(errors="replace").partition("\t")[0] for entry in self.table]
        return english_tagger().tag(self.tokens[: self.count], forms)

    def repaired(self, types: NormalisedTypes) -> Counter[str]:
        """Tokens with bytes that are not the encoding, by file."""
        if not types.undecodable.any():
            return Counter()
        places = np.flatnonzero(types.undecodable[self.tokens[: self.count] & TYPE_MASK])
        bounds = np.searchsorted(places, [*(first for first, _ in self.origins), self.count])
        counts: Counter[str] = Counter()
        for (_, source), count in zip(self.origins, np.diff(bounds).tolist(), strict=True):
            counts[source.name] += count
        return +counts

    def next_shard(self) -> None:
        """Start again, in the open document."""
        self.documents = [document._replace(position=0, continued=True) for document in self.documents[-1:]]
        self._clear()

    def types(self) -> NormalisedTypes:
        """Forms and keys of the raw strings, each distinct one looked at once."""
        raw = self.table.strings()
        if not self._has_forms:
            return normalise_columns(raw, self.options, self._encoding, entities=self._entities)
        entries = [entry.decode() for entry in raw]
        if not self._has_lemmas:
            return normalise_forms(raw, entries, self._lemmas(entries), self.options)
        # A reader of another package may have both raw text and sentences that are annotated already.
        bare = [index for index, entry in enumerate(entries) if "\t" not in entry]
        for index, lemma in zip(bare, self._lemmas([entries[i] for i in bare]), strict=True):
            entries[index] += "\t" + lemma
        return normalise_columns(Strings.of(entries), self.options, "utf-8", entities=False)

    def _lemmas(self, forms: list[str]) -> list[str]:
        """What raw text is counted by; an annotator in context leaves no raw text."""
        if self.options.level == "form":
            return forms
        annotator = cast(FormAnnotator, get_annotator(self.options.annotator, self.lang))
        return annotator.lemmatize([form if form.isascii() else compose(form) for form in forms])
