"""Token lines (vertical text, CoNLL-U) as batches: blocks of whole sentences go through a column kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.base import DocumentStart, Slice, TokenBatch
from bagpack.corpus.readers.io import blocks, place_at, without_mark
from bagpack.corpus.text.decoding import decode, encoding_error
from bagpack.errors import InputError
from bagpack.jit import read_only
from bagpack.numbers import many

SHOWN_BYTES = 60  # of a bad line


@dataclass
class TokenLines:
    """A column kernel with its settings, and what it has to know about the lines before."""

    part: Slice
    options: TextOptions
    kernel: Callable[..., int]
    settings: tuple[Any, ...]
    document: Callable[[str], DocumentStart]  # from the text of its first line
    columns: str = ""  # their meaning: word, lemma, tag
    entities: bool = False
    header_end: Callable[[bytes, int], int] | None = None  # where that text ends, if it goes beyond the line

    def __post_init__(self) -> None:
        self.source = self.part.source
        self.state = col.new_state()

    def batches(self, last_boundary: Callable[[bytes], int]) -> Iterator[TokenBatch]:
        """The slice, in blocks that end with a sentence wherever `last_boundary` finds one."""
        pieces = blocks(self.part, self.options.max_line)
        for offset, block, closed in whole_sentences(pieces, last_boundary, self.options.max_line):
            yield self.parse(block, offset, closed)

    def parse(self, block: bytes, offset: int, closed: bool) -> TokenBatch:
        """The tokens of a block of whole lines; `closed` says that a sentence ends with it."""
        consumed = len(block)
        offset, block = without_mark(offset, block)
        if not block.endswith(b"\n"):
            block += b"\n"
        state = self.state
        state[[col.POSITION, col.TOKENS, col.EVENTS, col.SKIPPED, col.MARKUP_IGNORED]] = 0
        data = read_only(np.frombuffer(block, np.uint8))
        lines = np.count_nonzero(data == col.NEWLINE)
        spans = np.empty((6, lines), np.int32)
        flags = np.empty(lines, np.uint32)
        documents = np.empty((lines, 3), np.int32)
        code = self.kernel(data, *self.settings, *spans, flags, documents, state)
        if code != col.DONE:
            raise self._bad_line(code, block, offset)
        if closed:
            col.close_sentence(state)
        count = int(state[col.TOKENS])
        batch = TokenBatch(
            self.source, offset, consumed, skipped=int(state[col.SKIPPED]), ignored=int(state[col.MARKUP_IGNORED]),
            data=data, starts=spans[0, :count], stops=spans[1, :count], lemma_starts=spans[2, :count],
            lemma_stops=spans[3, :count], flags=flags[:count], encoding=self.source.encoding, entities=self.entities,
            closed=bool(state[col.AT_START]),
        )  # fmt: skip
        if self.source.tagset:
            batch.tag_starts, batch.tag_stops = spans[4, :count], spans[5, :count]
            batch.tagset = self.source.tagset
        for position, start, end in documents[: state[col.EVENTS]].tolist():
            line = block[start : self.header_end(block, end) if self.header_end else end]
            try:
                name = decode(line, self.source.encoding)
            except UnicodeDecodeError as error:
                if self.options.encoding_errors == "strict":
                    place = place_at(self.source, offset + start)
                    raise encoding_error(place, error, self.source.encoding) from error
                batch.repaired += 1
                name = decode(line, self.source.encoding, self.options.encoding_errors)
            batch.documents.append(self.document(name)._replace(position=position))
        return batch

    def _bad_line(self, code: int, block: bytes, offset: int) -> InputError:
        start = int(self.state[col.POSITION])
        end = block.find(b"\n", start)
        line = block[start : end if end >= 0 else len(block)]
        shown = decode(line[:SHOWN_BYTES], self.source.encoding, "replace").rstrip("\r")
        count = line.count(b"\t") + 1
        skip = "; --bad-lines skip ignores such lines and counts them"
        problems = {
            col.FEW_COLUMNS: f"has too few columns ({count}, where {self.columns} are expected): {shown!r}; name what "
            f"is there with --columns, or let --bad-lines skip ignore such lines and count them",
            col.EMPTY_FORM: f"has an empty word: {shown!r}{skip}",
            col.WRONG_COLUMNS: f"has {many(count, 'column')} where CoNLL-U has 10: {shown!r}{skip}",
            col.BAD_ID: f"has a word id out of sequence: {shown!r}{skip}",
            col.LONG_SENTENCE: f"is past {self.options.max_sentence:,} tokens of one sentence; the sentence boundaries "
            f"seem to be missing: mark them, or raise --max-sentence",
        }
        return InputError(f"{place_at(self.source, offset + start)} {problems[code]}")


def whole_sentences(
    pieces: Iterator[tuple[int, bytes]], last_boundary: Callable[[bytes], int], reach: int
) -> Iterator[tuple[int, bytes, bool]]:
    """Re-cut blocks at the last line that ends a sentence, if there is one within reach.

    Each comes with whether a sentence is known to end with it.
    """
    held: list[bytes] = []
    length = start = 0
    for offset, block in pieces:
        if not length:
            start = offset
        cut = last_boundary(block)
        if cut == 0 and length + len(block) < reach:
            held.append(block)
            length += len(block)
            continue
        stop = cut or len(block)
        yield start, b"".join((*held, memoryview(block)[:stop])), cut > 0
        start += length + stop
        held = [block[stop:]]
        length = len(block) - stop
    if length:
        yield start, b"".join(held), True
