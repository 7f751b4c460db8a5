"""Token lines (vertical text, CoNLL-U) as batches: blocks of whole sentences go through a column kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.base import Batch, Block, DocumentStart, Slice
from bagpack.corpus.readers.files import line_number
from bagpack.errors import InputError
from bagpack.kernels import read_only
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

    def batches(self, last_boundary: Callable[[bytes], int]) -> Iterator[Batch]:
        """The slice, in blocks that end with a sentence wherever `last_boundary` finds one."""
        pieces = self.part.blocks(self.options)
        for block, before, closed in whole_sentences(pieces, last_boundary, self.options.max_line):
            yield self.parse(block, before, closed)

    def parse(self, block: Block, before: int, closed: bool) -> Batch:
        """The tokens of a block of whole lines; `closed` says that a sentence ends with it.

        `before` is the number of lines between the block's offset and its data.
        """
        text = block.data if block.data.endswith(b"\n") else block.data + b"\n"
        state = self.state
        state[[col.POSITION, col.TOKENS, col.EVENTS, col.SKIPPED, col.MARKUP_IGNORED]] = 0
        data = read_only(np.frombuffer(text, np.uint8))
        lines = np.count_nonzero(data == col.NEWLINE)
        spans = np.empty((6, lines), np.int32)
        flags = np.empty(lines, np.uint32)
        documents = np.empty((lines, 3), np.int32)
        code = self.kernel(data, *self.settings, *spans, flags, documents, state)
        if code != col.DONE:
            raise self._bad_line(code, text, block.offset, before)
        if closed:
            col.close_sentence(state)
        count = int(state[col.TOKENS])
        batch = Batch(
            self.source, block.offset, block.consumed, skipped=int(state[col.SKIPPED]),
            ignored=int(state[col.MARKUP_IGNORED]), repaired=block.repaired, data=data, spans=spans[:, :count],
            flags=flags[:count], tagset=self.source.tagset, entities=self.entities, closed=bool(state[col.AT_START]),
        )  # fmt: skip
        for position, start, end in documents[: state[col.EVENTS]].tolist():
            line = text[start : self.header_end(text, end) if self.header_end else end]
            batch.documents.append(self.document(line.decode())._replace(position=position))
        return batch

    def _bad_line(self, code: int, block: bytes, offset: int, before: int) -> InputError:
        start = int(self.state[col.POSITION])
        end = block.find(b"\n", start)
        line = block[start : end if end >= 0 else len(block)]
        shown = line[:SHOWN_BYTES].decode(errors="replace").rstrip("\r")
        count = line.count(b"\t") + 1
        skip = "; --bad-lines skip ignores such lines and counts them"
        problems = {
            col.FEW_COLUMNS: f"has too few columns ({count}, where {self.columns} are expected): {shown!r}; name what "
            f"is there with --columns, or let --bad-lines skip ignore such lines and count them",
            col.EMPTY_FORM: f"has an empty word: {shown!r}{skip}",
            col.WRONG_COLUMNS: f"has {many(count, 'column')} where CoNLL-U has 10: {shown!r}{skip}",
            col.BAD_ID: f"has no word id such as 1, 1-2 or 1.1: {shown!r}{skip}",
            col.LONG_SENTENCE: f"is past {self.options.max_sentence:,} tokens of one sentence; the sentence boundaries "
            f"seem to be missing: mark them, or raise --max-sentence",
        }
        number = line_number(self.source, offset) + before + block.count(b"\n", 0, start)
        return InputError(f"{self.source.name}:{number:,} {problems[code]}")


def whole_sentences(
    pieces: Iterator[Block], last_boundary: Callable[[bytes], int], reach: int
) -> Iterator[tuple[Block, int, bool]]:
    """Re-cut blocks at the last line that ends a sentence, if there is one within reach.

    Each comes with the number of lines between its offset and its data, and with whether a sentence is known to end
    with it.
    """
    held: list[bytes] = []
    length = offset = before = consumed = repaired = 0
    for block in pieces:
        if not length:
            offset, before = block.offset, 0
        consumed, repaired = consumed + block.consumed, repaired + block.repaired
        cut = last_boundary(block.data)
        if cut == 0 and length + len(block.data) < reach:
            held.append(block.data)
            length += len(block.data)
            continue
        stop = cut or len(block.data)
        data = b"".join((*held, memoryview(block.data)[:stop]))
        yield Block(offset, consumed, data, repaired), before, cut > 0
        held = [block.data[stop:]]
        length = len(held[0])
        offset, before = block.offset, block.data.count(b"\n", 0, stop)
        consumed = repaired = 0
    if length:
        yield Block(offset, consumed, b"".join(held), repaired), before, True
