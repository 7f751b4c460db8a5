"""Where readers put what they read, and where shards come out.

A reader pushes documents and then paragraphs of text, annotated sentences, or blocks of token lines. The sink
keeps the ids of the current shard and writes the shard when it is full or the part is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus import columns as col
from bagpack.corpus.interning import InternTable
from bagpack.corpus.normalise import decode, normalise_columns, normalise_forms
from bagpack.corpus.options import TextOptions
from bagpack.corpus.shard import ShardDraft, write_shard
from bagpack.corpus.sources import Slice, blocks, line_number
from bagpack.corpus.strings import read_only
from bagpack.errors import InputError
from bagpack.files import remove_tree, sync_directory

if TYPE_CHECKING:
    from bagpack.corpus.annotate import FormAnnotator, TextAnnotator

TEXT_BATCH = 1 << 20
SHARD_TOKENS = 1 << 25  # bounds a worker's memory: 4 bytes a token, twice
FIRST_TOKENS = 1 << 18

ColumnKernel = Callable[..., int]


@dataclass
class Tally:
    """What was passed over or mended, told in the summary."""

    skipped_lines: int = 0
    ignored_markup: int = 0
    undecodable: int = 0
    first_seen: dict[str, str] = field(default_factory=dict)

    def add(self, other: dict[str, Any]) -> None:
        """Add the numbers of another part."""
        self.skipped_lines += other["skipped_lines"]
        self.ignored_markup += other["ignored_markup"]
        self.undecodable += other["undecodable"]


class ShardSink:
    """Collects tokens and writes shards `NNNNNN-SSS` into a directory."""

    def __init__(self, directory: Path, part: int, options: TextOptions, shard_bytes: int) -> None:
        self.directory = directory
        self.part = part
        self.options = options
        self.shard_bytes = shard_bytes
        self.shards: list[str] = []
        self.tally = Tally()
        self.total_tokens = 0
        self.slice: Slice | None = None
        self.families: set[str] = set()
        self._annotator: FormAnnotator | TextAnnotator | None = None
        self._buffers: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]] | None = None
        self._reset(None)

    def _reset(self, document: str | None) -> None:
        self.table = InternTable()
        self.tokens = np.empty(FIRST_TOKENS, np.uint32)
        self.state = col.new_state()
        self.events = np.empty((1 << 10, 3), np.int64)
        self.starts: list[int] = []
        self.documents: list[str] = []
        self.continued = False
        self.tentative = False
        self.bytes = 0
        self.paragraphs: list[str] = []
        self.paragraph_size = 0
        self.waiting: list[tuple[int, str]] = []  # documents that begin at a paragraph not yet tokenised
        if document is not None:
            self.starts, self.documents, self.continued = [0], [document], True

    # Documents -----------------------------------------------------------------------------------------------

    def begin(self, part: Slice) -> None:
        """A new source begins; until the reader names a document, its path does."""
        self.slice = part
        self.open_document(part.source.name if part.document is None else part.document)
        self.tentative = part.document is None
        if part.document is not None and self.count == 0:
            self.continued = True

    def open_document(self, name: str) -> None:
        """What follows belongs to this document; sentences do not cross into it."""
        if self.paragraphs:
            self.waiting.append((len(self.paragraphs), name))
            return
        self._document_at(self.count, name)
        self.state[col.AT_START] = 1

    def _document_at(self, position: int, name: str) -> None:
        if self.tentative and self.starts and self.starts[-1] == position:
            self.starts.pop()
            self.documents.pop()
        self.tentative = False
        self.starts.append(position)
        self.documents.append(name)

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
    ) -> None:
        """Feed whole lines to a column kernel; `name` makes a document id of a document line."""
        self.families.add("columns")
        buffer = read_only(np.frombuffer(block, np.uint8))
        self.state[col.POSITION] = 0
        while True:
            code = kernel(buffer, *settings, *self.table.arrays, self.tokens, self.events, self.state)
            if code in (col.DONE, col.FULL_EVENTS):
                self._take_events(block, name)
                if code == col.DONE:
                    break
            elif code == col.GROW:
                self.table.grow(self.options.max_line)
            elif code == col.FULL_TOKENS:
                self._grow_tokens(self.tokens.size)
            else:
                raise self._bad_line(code, block, offset)
        self.block_done(len(block))

    def _take_events(self, block: bytes, name: Callable[[str], str]) -> None:
        for position, start, end in self.events[: self.state[col.EVENTS]].tolist():
            line = decode(block[start:end], self.options.encoding, "replace")
            self._document_at(position, name(line))
        self.state[col.EVENTS] = 0

    def _bad_line(self, code: int, block: bytes, offset: int) -> InputError:
        part = self._current()
        start = int(self.state[col.POSITION])
        line = block[start : block.find(b"\n", start) if b"\n" in block[start:] else len(block)]
        place = f"{part.source.name}:{line_number(part.source, offset + start):,}"
        shown = decode(line[:60], self.options.encoding, "replace").rstrip("\r")
        skip = "; --bad-lines skip leaves such lines out and counts them"
        told = {
            col.FEW_COLUMNS: f"has too few columns ({line.count(9) + 1}) for --columns {self.options.columns}: "
            f"{shown!r}{skip}",
            col.EMPTY_FORM: f"has an empty word: {shown!r}{skip}",
            col.WRONG_COLUMNS: f"has {line.count(9) + 1} columns where CoNLL-U has 10: {shown!r}{skip}",
            col.BAD_ID: f"has a word id out of sequence: {shown!r}{skip}",
            col.LONG_SENTENCE: f"is past {self.options.max_sentence:,} tokens of one sentence; the sentence "
            f"boundaries seem to be missing: mark them, or raise --max-sentence",
        }
        return InputError(f"{place} {told[code]}")

    # Text ----------------------------------------------------------------------------------------------------

    def paragraph(self, text: str) -> None:
        """A paragraph of raw text: split into sentences, tokenised and lemmatised here."""
        self.paragraphs.append(text)
        self.paragraph_size += len(text)
        if self.paragraph_size >= TEXT_BATCH:
            self._flush_text()

    def _flush_text(self) -> None:
        if not self.paragraphs:
            return
        paragraphs, self.paragraphs, self.paragraph_size = self.paragraphs, [], 0
        waiting, self.waiting = self.waiting, []
        annotator = self.annotator
        if annotator.in_context:
            self._put_sentences(annotator.annotate(paragraphs), dict(waiting), len(paragraphs))
            return
        self.families.add("text")
        from bagpack.corpus.sentences import join_paragraphs
        from bagpack.corpus.tokenize import GLUED, SENTENCE_START, tokenize_into

        block = join_paragraphs(paragraphs, self.options.lang)
        buffer = read_only(np.frombuffer(block.data, np.uint8))
        starts, stops, flags = self._spans(buffer.size)
        n = tokenize_into(buffer, read_only(block.sentence_ends), self.options.lang, starts, stops, flags)
        starts, stops, flags = starts[:n], stops[:n], flags[:n]
        for index, name in waiting:
            begin = block.paragraph_ends[index - 1]  # a document waits only behind a paragraph
            self._document_at(self.count + int(np.searchsorted(starts, begin)), name)
        ids = self.table.add_spans(buffer, starts, stops).astype(np.uint32)
        opens = (flags & SENTENCE_START) != 0
        ids[opens] |= col.SENTENCE_START
        ids[((flags & GLUED) != 0) & ~opens] |= col.GLUED
        self._check_sentences(np.flatnonzero(opens), ids.size)
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
        waiting: dict[int, str],
        total: int,
    ) -> None:
        for index, sentences in enumerate(annotated):
            if index in waiting:
                self._document_at(self.count, waiting[index])
            for sentence in sentences:
                self.sentence(sentence)
        if total in waiting:
            self._document_at(self.count, waiting[total])

    def _check_sentences(self, starts: NDArray[np.int64], size: int) -> None:
        longest = int(np.diff(np.append(starts, size)).max(initial=0))
        if longest > self.options.max_sentence:
            raise InputError(
                f"{self._current().source.name} holds a sentence of {longest:,} tokens, more than "
                f"{self.options.max_sentence:,}, in document {self.documents[-1]!r}; break the text into paragraphs, "
                f"or raise --max-sentence"
            )

    def sentence(self, tokens: Iterable[tuple[str, str, bool]]) -> None:
        """A sentence that is already annotated: (form, lemma, glued to the one before)."""
        self.families.add("annotated")
        pieces: list[bytes] = []
        glued: list[bool] = []
        for form, lemma, stuck in tokens:
            pieces.append(f"{_clean(form)}\t{_clean(lemma or form)}".encode())
            glued.append(stuck)
        if not pieces:
            return
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
        buffer = np.frombuffer(b"".join(pieces), np.uint8)
        ids = self.table.add_spans(buffer, offsets[:-1], offsets[1:]).astype(np.uint32)
        ids[np.array(glued)] |= col.GLUED
        ids[0] = (ids[0] & ~col.GLUED) | col.SENTENCE_START
        self._check_sentences(np.zeros(1, np.int64), ids.size)
        self._append(ids)

    @property
    def annotator(self) -> FormAnnotator | TextAnnotator:
        """Loaded when first needed: its tables take a moment."""
        if self._annotator is None:
            from bagpack.corpus.annotate import get_annotator

            self._annotator = get_annotator(self.options.annotator, self.options.lang)
        return self._annotator

    def _append(self, ids: NDArray[np.uint32]) -> None:
        if self.count + ids.size > self.tokens.size:
            self._grow_tokens(max(self.tokens.size, ids.size))
        self.tokens[self.count : self.count + ids.size] = ids
        self.state[col.TOKENS] += ids.size
        self.state[col.AT_START] = 1

    def _grow_tokens(self, more: int) -> None:
        self.tokens = np.concatenate([self.tokens, np.empty(more, np.uint32)])

    # Shards --------------------------------------------------------------------------------------------------

    def block_done(self, size: int) -> None:
        """`size` bytes of input are consumed; write the shard if it is full and a sentence has just ended."""
        self.bytes += size
        if self.bytes >= self.shard_bytes + self.shard_bytes // 2 or self.count >= SHARD_TOKENS:
            self._flush_text()
            # Column formats can be cut between sentences only; the state says whether one is open.
            if self.state[col.AT_START]:
                self.write()
        self._report()

    def finish(self) -> None:
        """Write what is left."""
        self._flush_text()
        if self.count:
            self.write()

    def write(self) -> None:
        """Write the current shard and begin the next one in the same document."""
        raw = self.table.strings()
        if self.families == {"text"}:
            forms = [entry.decode() for entry in raw]
            annotator = self.annotator
            lemmas = (
                forms if annotator.in_context or self.options.level == "form" else annotator.lemmatize(forms)
            )
            types = normalise_forms(raw, forms, lemmas, self.options)
        else:
            options = self.options
            entities = "columns" in self.families
            if not entities:
                from dataclasses import replace

                options = replace(options, encoding="utf-8")
            types = normalise_columns(raw, options, entities)
        tokens = self.tokens[: self.count]
        self.tally.skipped_lines += int(self.state[col.SKIPPED])
        self.tally.ignored_markup += int(self.state[col.MARKUP_IGNORED])
        if types.undecodable.any():
            if self.options.encoding_errors == "strict":
                raise self._undecodable()
            counts = np.bincount(tokens & col.TYPE_MASK, minlength=len(raw))
            self.tally.undecodable += int(counts[types.undecodable].sum())
        draft = ShardDraft(tokens, types, self.starts, self.documents, self.continued)
        name = f"{self.part:06d}-{len(self.shards):03d}"
        beside = self.directory / f"{name}.new"
        remove_tree(beside)
        part = self._current()
        facts = write_shard(draft, beside, {"case": self.options.case, "source": part.source.name})
        os.replace(beside, self.directory / name)
        sync_directory(self.directory)
        self.shards.append(name)
        self.total_tokens += facts["tokens"]
        self._reset(self.documents[-1])

    def _undecodable(self) -> InputError:
        part = self._current()
        for offset, block in blocks(part, self.options.max_line):
            for number, line in enumerate(block.split(b"\n")):
                try:
                    decode(line, self.options.encoding)
                except UnicodeDecodeError as error:
                    first = line_number(part.source, offset)
                    return encoding_error(part.source.name, first + number, error, self.options.encoding)
        return InputError(f"{part.source.name} is not {self.options.encoding}; name its --encoding")

    def _current(self) -> Slice:
        if self.slice is None:
            raise AssertionError("a reader must call begin() first")
        return self.slice

    def _report(self) -> None:
        """Leave a trace of the progress for whoever started the work, on a file system that both share."""
        path = self.directory / "progress" / f"{self.part:06d}"
        if path.parent.is_dir():
            path.write_text(f"{self.total_tokens + self.count} {self.bytes}")


def encoding_error(path: str, line: int, error: UnicodeDecodeError, encoding: str) -> InputError:
    """The sentence about bytes that are not the encoding."""
    bad = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end][:4])
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return InputError(
        f"{path}:{line:,} is not {encoding} (byte {bad}); name the encoding (--encoding {other}?), or let "
        f"--encoding-errors replace|skip deal with it and count"
    )


def _clean(text: str) -> str:
    return " ".join(text.split()) or "\N{REPLACEMENT CHARACTER}"
