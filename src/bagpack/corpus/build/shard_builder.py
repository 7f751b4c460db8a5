"""A shard while it is being made: token ids, the table of distinct strings, and where documents begin."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.normalise import NormalisedTypes, normalise_columns, normalise_forms
from bagpack.corpus.build.shard_writer import ShardDraft
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import NONE, DocumentStart, Source, TokenBatch
from bagpack.corpus.text.casefold import compose
from bagpack.corpus.text.lemmas import FormAnnotator, get_annotator
from bagpack.corpus.text.tagsets import tagset
from bagpack.errors import InputError

FIRST_TOKENS = 1 << 18
MOST_NAMES = 1000  # of attributes in a segment


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
        self.documents: list[DocumentStart] = []
        self._tagsets: dict[str, TagTable] = {}
        self._clear()

    def _clear(self) -> None:
        self.table = InternTable()
        self.names: set[str] = set()  # of attributes
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)
        self.tags: NDArray[np.uint8] | None = None
        self.count = 0
        self.closed = True  # whether the last sentence is over
        self.source = ""  # the last
        self._entities = False
        self._has_lemmas = False

    def add(self, batch: TokenBatch) -> None:
        """Append the tokens of a batch, and open its documents."""
        for document in batch.documents:
            self._check_names(document, batch.source)
            self._open(document._replace(position=self.count + document.position))
        if not batch.starts.size:
            return
        if self.count + batch.starts.size > self.tokens.size:
            # Pages of np.empty that no token reaches are never touched, so only the copy costs memory.
            larger = np.empty(max(self.count + batch.starts.size, 2 * self.tokens.size), np.uint32)
            larger[: self.count] = self.tokens[: self.count]
            self.tokens = larger
        ids = self.tokens[self.count : self.count + batch.starts.size]
        self.table.add_tokens(batch, ids)
        self._add_tags(batch)
        self.count += batch.starts.size
        self.closed = batch.closed
        self.source = batch.source.name
        self._entities = batch.entities
        self._has_lemmas |= batch.lemma_starts.size > 0

    def _check_names(self, document: DocumentStart, source: Source) -> None:
        """Refuse records whose keys are data: a name of its own for each record."""
        self.names.update(name for name, _ in document.attributes)
        if len(self.names) > MOST_NAMES:
            raise InputError(
                f"{source.name} has more than {MOST_NAMES:,} different attributes of documents, the last in "
                f"{document.name[:100]!r}; put what differs between documents into the values of a few attributes"
            )

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

    def draft(self, types: NormalisedTypes) -> ShardDraft:
        """The shard, ready to be written."""
        tags = None if self.tags is None else self.tags[: self.count]
        return ShardDraft(self.tokens[: self.count], types, self.documents, self.options, self.source, tags)

    def next_shard(self) -> None:
        """Start again, in the open document."""
        self.documents = [document._replace(position=0, continued=True) for document in self.documents[-1:]]
        self._clear()

    def types(self) -> NormalisedTypes:
        """Forms and keys of the raw strings, each distinct one looked at once."""
        raw = self.table.strings()
        if self._has_lemmas:
            return normalise_columns(raw, self.options, entities=self._entities)
        forms = [entry.decode() for entry in raw]
        return normalise_forms(raw, forms, self._lemmas(forms), self.options)

    def _lemmas(self, forms: list[str]) -> list[str]:
        """What raw text is counted by; an annotator in context leaves no raw text."""
        if self.options.level == "form":
            return forms
        annotator = cast(FormAnnotator, get_annotator(self.options.annotator, self.options.lang))
        return annotator.lemmatize([form if form.isascii() else compose(form) for form in forms])
