"""Where readers put what they read, and where shards come out.

A reader pushes documents and then paragraphs of text, annotated sentences, or blocks of token lines. The sink
keeps the ids of the current shard and writes the shard when it is full or the part is over.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.documents import Documents, Opening
from bagpack.corpus.build.interning import InternTable
from bagpack.corpus.build.normalise import NormalisedTypes, normalise_columns, normalise_forms
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.base import Slice, Source
from bagpack.corpus.readers.io import place_at, without_mark
from bagpack.corpus.readers.problems import (
    bad_line,
    long_sentence,
    paragraph_place,
    undecodable,
)
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.corpus.store.shard import ShardDraft, write_shard
from bagpack.corpus.store.strings import Strings, read_only
from bagpack.corpus.text.casefold import compose
from bagpack.corpus.text.decoding import decode, encoding_error
from bagpack.errors import InputError, StoreError
from bagpack.files import disk_errors, remove_tree, sync_directory

if TYPE_CHECKING:
    from bagpack.corpus.text.lemmas import FormAnnotator, TextAnnotator

TEXT_BATCH = 1 << 20
SHARD_TOKENS = 1 << 24  # bounds a worker's memory: 4 bytes a token, twice, and growth
SHARD_DOCUMENTS = 1 << 20  # about 200 bytes each
FIRST_TOKENS = 1 << 18

ColumnKernel = Callable[..., int]


@dataclass
class Tally:
    """What was skipped or repaired, reported in the summary."""

    skipped_lines: int = 0
    ignored_markup: int = 0
    undecodable: int = 0
    repaired: Counter[str] = field(default_factory=Counter)  # undecodable places by file

    def repair(self, source: Source, places: int) -> None:
        """Bytes of a file were not in its encoding; they were replaced or dropped."""
        self.undecodable += places
        self.repaired[source.name] += places

    def add(self, counts: dict[str, int], repaired: dict[str, int]) -> None:
        """Add the numbers of another part."""
        self.skipped_lines += counts["skipped_lines"]
        self.ignored_markup += counts["ignored_markup"]
        self.undecodable += counts["undecodable"]
        self.repaired.update(repaired)

    def counts(self) -> dict[str, int]:
        """The totals, for the manifest."""
        return {
            "skipped_lines": self.skipped_lines,
            "ignored_markup": self.ignored_markup,
            "undecodable": self.undecodable,
        }


class ShardSink:
    """Collects tokens and writes shards `NNNNNN-SSS` into a directory."""

    def __init__(
        self, directory: Path, part: int, options: TextOptions, shard_bytes: int, commander: int = 0
    ) -> None:
        self.directory = directory
        self.part = part
        self.options = options
        self.shard_bytes = shard_bytes
        self.shards: list[str] = []
        self.tally = Tally()
        self.total_tokens = 0
        self.consumed = 0  # bytes of input in all, for the progress
        self.slices: list[Slice] = []  # those that the current shard has tokens of, the last one being read
        self.families: set[str] = set()  # of what was pushed: columns, text, annotated
        self.entities = False  # whether `&amp;` stands for `&` in columns
        self.commander = commander  # the process that is worked for, if it must be this one or its parent
        self._buffers: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]] | None = None
        self._reset(None)

    def _reset(self, document: str | None) -> None:
        self.table = InternTable()
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)
        self.state = col.new_state()
        self.events = np.empty((1 << 10, 3), np.int64)
        self.documents = Documents(document)
        self.bytes = 0
        self.slices = self.slices[-1:]
        self.begun = [(0, part) for part in self.slices]  # where each slice's first token is
        self.paragraphs: list[str] = []
        self.paragraph_size = 0
        self.waiting: list[tuple[int, Opening]] = []  # documents that begin at a paragraph not yet tokenised

    # Documents -----------------------------------------------------------------------------------------------

    def begin(self, part: Slice) -> None:
        """A new slice begins; until the reader names a document, the source's path does."""
        goes_on = part.document is not None and bool(self.slices)  # the slice before was of the same source
        self.slices.append(part)
        self.begun.append((self.count, part))
        if part.document is None:
            self._open(Opening(part.source.name, provisional=True))
        elif not goes_on:
            self._open(Opening(part.document, continued=True))
        col.close_sentence(self.state)

    def open_document(self, name: str) -> None:
        """What follows belongs to this document; sentences do not cross into it."""
        self._open(Opening(name))

    def _open(self, opening: Opening) -> None:
        if not self.paragraphs:
            self.documents.open(self.count, opening)
            self.state[col.AT_START] = 1
            return
        if self.waiting and self.waiting[-1][0] == len(self.paragraphs) and self.waiting[-1][1].provisional:
            self.waiting.pop()
        self.waiting.append((len(self.paragraphs), opening))

    @property
    def count(self) -> int:
        """Tokens in the current shard."""
        return int(self.state[col.TOKENS])

    # Token lines ---------------------------------------------------------------------------------------------

    def lines(
        self,
        block: bytes,
        offset: int,
        kernel: ColumnKernel,
        settings: tuple[Any, ...],
        name: Callable[[str], str],
        closed: bool,
        columns: str = "",
        entities: bool = False,
    ) -> None:
        """Feed whole lines to a column kernel; `name` makes a document id of a document line.

        `closed` says that a sentence ends with the block, `columns` what the reader took the columns for, `entities`
        that `&amp;` stands for `&`.
        """
        self.families.add("columns")
        self.entities = entities
        size = len(block)
        offset, block = without_mark(offset, block)
        buffer = read_only(np.frombuffer(block, np.uint8))
        self.state[col.POSITION] = 0
        while True:
            code = kernel(buffer, *settings, *self.table.arrays, self.tokens, self.events, self.state)
            if code in (col.DONE, col.FULL_EVENTS):
                self._take_events(block, offset, name)
                if code == col.DONE:
                    break
                continue
            start = int(self.state[col.POSITION])
            line = _line_at(block, start)
            if code == col.GROW:
                self.table.grow(2 * len(line) + 1)  # a form without a lemma is its own: FORM TAB FORM
            elif code == col.FULL_TOKENS:
                self._grow_tokens(self.count + 1)
            else:
                source = self._current().source
                place = place_at(source, offset + start)
                raise bad_line(code, place, line, columns, source.encoding, self.options)
        if closed:
            col.close_sentence(self.state)
        self.block_done(size)

    def _take_events(self, block: bytes, offset: int, name: Callable[[str], str]) -> None:
        source = self._current().source
        for position, start, end in self.events[: self.state[col.EVENTS]].tolist():
            try:
                line = decode(block[start:end], source.encoding)
            except UnicodeDecodeError as error:
                if self.options.encoding_errors == "strict":
                    raise encoding_error(place_at(source, offset + start), error, source.encoding) from error
                self.tally.repair(source, 1)
                line = decode(block[start:end], source.encoding, self.options.encoding_errors)
            self.documents.open(position, Opening(name(line)))
        self.state[col.EVENTS] = 0

    # Text ----------------------------------------------------------------------------------------------------

    def paragraph(self, text: str) -> None:
        """A paragraph of raw text: split into sentences, tokenised and lemmatised here."""
        self.paragraphs.append(text)
        self.paragraph_size += len(text)
        if self.paragraph_size >= TEXT_BATCH:
            self.flush_text()

    def flush_text(self) -> None:
        """Tokenise the paragraphs that are waiting; it is done in batches."""
        if not self.paragraphs:
            return
        paragraphs, self.paragraphs, self.paragraph_size = self.paragraphs, [], 0
        waiting, self.waiting = self.waiting, []
        annotator = self.annotator
        if annotator.in_context:
            self._put_sentences(annotator.annotate(paragraphs), waiting)
            return
        self.families.add("text")
        from bagpack.corpus.text.sentences import join_paragraphs
        from bagpack.corpus.text.tokenizer import GLUED, SENTENCE_START, tokenize_into

        block = join_paragraphs(paragraphs, self.options.lang)
        buffer = read_only(np.frombuffer(block.data, np.uint8))
        starts, stops, flags = self._spans(buffer.size)
        n = tokenize_into(buffer, read_only(block.sentence_ends), self.options.lang, starts, stops, flags)
        starts, stops, flags = starts[:n], stops[:n], flags[:n]
        for index, opening in waiting:
            begin = block.paragraph_ends[index - 1]  # a document waits only behind a paragraph
            self.documents.open(self.count + int(np.searchsorted(starts, begin)), opening)
        ids = self.table.add_spans(buffer, starts, stops).astype(np.uint32)
        opens = (flags & SENTENCE_START) != 0
        ids[opens] |= col.SENTENCE_START
        ids[((flags & GLUED) != 0) & ~opens] |= col.GLUED
        firsts = np.append(np.flatnonzero(opens), n)
        longest = int(np.diff(firsts).max(initial=0))
        if longest > self.options.max_sentence:
            first = starts[firsts[int(np.diff(firsts).argmax())]]
            paragraph = paragraphs[int(np.searchsorted(block.paragraph_ends, first, "right"))]
            raise self._too_long(longest, paragraph)
        self._append(ids)

    def _spans(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """Buffers for the tokenizer, reused: touching fresh pages takes as long as tokenising."""
        if self._buffers is None or self._buffers[0].size < size:
            self._buffers = (
                np.empty(2 * size, np.int64),
                np.empty(2 * size, np.int64),
                np.empty(2 * size, np.uint8),
            )
        return self._buffers

    def _put_sentences(
        self,
        annotated: Iterable[Iterable[Iterable[tuple[str, str, bool]]]],
        waiting: list[tuple[int, Opening]],
    ) -> None:
        for index, sentences in enumerate(annotated):
            while waiting and waiting[0][0] == index:
                self.documents.open(self.count, waiting.pop(0)[1])
            for sentence in sentences:
                self.sentence(sentence)
        for _, opening in waiting:
            self.documents.open(self.count, opening)

    def sentence(self, tokens: Iterable[tuple[str, str, bool]]) -> None:
        """A sentence that is already annotated: (form, lemma, glued to the one before)."""
        self.flush_text()
        self.families.add("annotated")
        pieces: list[bytes] = []
        glued: list[bool] = []
        for form, lemma, stuck in tokens:
            pieces.append(f"{_clean(form)}\t{_clean(lemma or form)}".encode())
            glued.append(stuck)
        if not pieces:
            return
        ids = self.table.add(Strings.of(pieces)).astype(np.uint32)
        ids[np.array(glued)] |= col.GLUED
        ids[0] = (ids[0] & ~col.GLUED) | col.SENTENCE_START
        if ids.size > self.options.max_sentence:
            raise self._too_long(ids.size, b" ".join(piece.split(b"\t")[0] for piece in pieces[:4]).decode())
        self._append(ids)

    def _too_long(self, length: int, beginning: str) -> InputError:
        place = paragraph_place(beginning, self.slices, self.documents.current, self.options)
        return long_sentence(place, length, self.options)

    @property
    def annotator(self) -> FormAnnotator | TextAnnotator:
        """Loaded when first needed: its tables take a moment."""
        from bagpack.corpus.text.lemmas import get_annotator

        return get_annotator(self.options.annotator, self.options.lang)

    def _append(self, ids: NDArray[np.uint32]) -> None:
        if self.count + ids.size > self.tokens.size:
            self._grow_tokens(self.count + ids.size)
        self.tokens[self.count : self.count + ids.size] = ids
        self.state[col.TOKENS] += ids.size
        self.state[col.AT_START] = 1

    def _grow_tokens(self, needed: int) -> None:
        # Pages of np.empty that no token reaches are never touched, so only the copy costs memory.
        larger = np.empty(max(needed, 2 * self.tokens.size), np.uint32)
        larger[: self.count] = self.tokens[: self.count]
        self.tokens = larger

    # Shards --------------------------------------------------------------------------------------------------

    def block_done(self, size: int) -> None:
        """`size` bytes of input are consumed; write the shard if it is full and a sentence has just ended."""
        self.bytes += size
        self.consumed += size
        if self.commander and self.commander not in (os.getpid(), os.getppid()):
            raise StoreError("the process that started this work is gone; so is its result")
        documents = len(self.documents.starts) + len(self.waiting)
        full = self.count >= SHARD_TOKENS or documents >= SHARD_DOCUMENTS
        if full or self.bytes >= self.shard_bytes + self.shard_bytes // 2:
            self.flush_text()
            # Column formats can be cut between sentences only; the state says whether one is open.
            if self.state[col.AT_START]:
                self.write()
        self._report()

    def finish(self) -> None:
        """Write what is left."""
        self.flush_text()
        if self.count:
            self.write()
        else:
            self._count_lines()

    def write(self) -> None:
        """Write the current shard and begin the next one in the same document."""
        types = self._types()
        tokens = self.tokens[: self.count]
        self._count_lines()
        if types.undecodable.any():
            if self.options.encoding_errors == "strict":
                raise undecodable(self.slices, self.options)
            self._count_repairs(tokens, types)
        if not types.dropped.all():
            source = self._current().source.name
            draft = ShardDraft(tokens, types, self.documents, self.options, source)
            name = f"{self.part:06d}-{len(self.shards):03d}"
            beside = self.directory / f"{name}.{uuid.uuid4().hex}.new"
            with disk_errors(beside):
                beside.mkdir()
            facts = write_shard(draft, beside)
            self._install(beside, self.directory / name)
            self.shards.append(name)
            self.total_tokens += facts["tokens"]
        self._reset(self.documents.current)

    def _count_repairs(self, tokens: NDArray[np.uint32], types: NormalisedTypes) -> None:
        """Count the tokens that were repaired, by the file that each is from."""
        places = np.flatnonzero(types.undecodable[tokens & TYPE_MASK])
        bounds = np.searchsorted(places, [*(first for first, _ in self.begun), tokens.size])
        for (_, part), count in zip(self.begun, np.diff(bounds).tolist(), strict=True):
            if count:
                self.tally.repair(part.source, count)

    def _count_lines(self) -> None:
        """Tell of the lines that the column kernels passed over since the last shard."""
        self.tally.skipped_lines += int(self.state[col.SKIPPED])
        self.tally.ignored_markup += int(self.state[col.MARKUP_IGNORED])

    def _install(self, beside: Path, final: Path) -> None:
        """Give a shard its name, unless the same one has it already.

        It may be left from an interrupted build, or from another worker: an engine that takes a slow worker for a dead
        one has a part done twice, and what someone may be reading must not go away.
        """
        facts = final / "shard.json"
        if facts.exists() and facts.read_bytes() == (beside / "shard.json").read_bytes():
            remove_tree(beside)
            return
        with disk_errors(final):
            remove_tree(final)
            os.replace(beside, final)
            sync_directory(self.directory)

    def _types(self) -> NormalisedTypes:
        """Forms and keys of the raw strings, each distinct one looked at once."""
        raw = self.table.strings()
        if "text" not in self.families:
            encoding = self._current().source.encoding if "columns" in self.families else "utf-8"
            return normalise_columns(raw, self.options, encoding, entities=self.entities)
        entries = [entry.decode() for entry in raw]
        if self.families == {"text"}:
            return normalise_forms(raw, entries, self._lemmas(entries), self.options)
        # A reader of another package may push both raw text and sentences that are annotated already.
        bare = [index for index, entry in enumerate(entries) if "\t" not in entry]
        for index, lemma in zip(bare, self._lemmas([entries[i] for i in bare]), strict=True):
            entries[index] += "\t" + lemma
        return normalise_columns(Strings.of(entries), self.options, "utf-8", entities=False)

    def _lemmas(self, forms: list[str]) -> list[str]:
        """What raw text is counted by; an annotator in context leaves no raw text."""
        if self.options.level == "form":
            return forms
        return cast("FormAnnotator", self.annotator).lemmatize(
            [form if form.isascii() else compose(form) for form in forms]
        )

    def _current(self) -> Slice:
        if not self.slices:
            raise AssertionError("a reader must call begin() first")
        return self.slices[-1]

    def _report(self) -> None:
        """Leave a trace of the progress for whoever started the work, on a file system that both share."""
        path = self.directory / "progress" / f"{self.part:06d}"
        if path.parent.is_dir():
            with disk_errors(path):
                path.write_text(f"{self.total_tokens + self.count} {self.consumed}")


def _line_at(block: bytes, start: int) -> bytes:
    end = block.find(b"\n", start)
    return block[start : end if end >= 0 else len(block)]


def _clean(text: str) -> str:
    return " ".join(text.split()) or "\N{REPLACEMENT CHARACTER}"
