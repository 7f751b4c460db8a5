"""Plain text: paragraphs of raw text, one document per file.

A paragraph is a line, or, where lines are hard-wrapped and paragraphs divided by blank lines (as in e-books), a block
of lines. `--paragraphs auto` decides from the beginning of each file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, Reader, Slice, Source
from bagpack.corpus.readers.files import HEAD, line_slices

WRAPPED_LEAST, WRAPPED_WIDTH = 40, 120  # characters of the longest of hard-wrapped lines
WRAPPED = "wrapped"
MAX_PARAGRAPH = 1 << 20  # characters, where paragraphs are divided by blank lines


def decoded_blocks(part: Slice, options: TextOptions) -> Iterator[tuple[Batch, str]]:
    """Blocks of whole lines as text, each with the batch that it is to fill."""
    for block in part.blocks(options):
        yield block.batch(part.source), block.data.decode()


def add_lines(batch: Batch, text: str, line: int = 0) -> None:
    """Each line of a document's text is a paragraph, but for blank ones; `line` is where the document is."""
    start = 0
    while start < len(text):  # a piece at a time: a long text may have millions of lines
        end = text.find("\n", start + MAX_PARAGRAPH) + 1 or len(text)
        for paragraph in text[start:end].splitlines():
            if paragraph and not paragraph.isspace():
                batch.add_paragraph(paragraph, line)
        start = end


def is_wrapped(head: bytes) -> bool:
    """Whether a file's beginning looks like hard-wrapped lines with blank lines between paragraphs.

    Then nearly every line but the last of its paragraph is nearly as long as the longest. Short lines of differing
    lengths (utterances, verses, lists) are lines of their own: joining them would make words of two lines co-occur.
    """
    lines = [len(line.strip()) for line in head.replace(b"\r", b"").split(b"\n")][:-1]
    inner = [one for one, following in pairwise(lines) if one and following]  # not the last of a paragraph
    width = max(lines, default=0)
    full = sum(length >= 0.7 * width for length in inner)
    wide = WRAPPED_LEAST <= width <= WRAPPED_WIDTH
    return 0 in lines and len(inner) >= 3 and wide and full >= 0.8 * len(inner)


class TextReader(Reader):
    name = "text"
    suffixes = (".txt", ".text", ".md")

    def recognises(self, head: bytes) -> bool:
        return True

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """Whether lines are hard-wrapped, so that paragraphs are divided by blank lines."""
        wrapped = is_wrapped(head[:HEAD]) if options.paragraphs == "auto" else options.paragraphs == "blank"
        return replace(super().look(source, head, options), layout=WRAPPED if wrapped else "")

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        marks = (b"\n\n", b"\n\r\n") if source.layout == WRAPPED else (b"\n",)
        found = line_slices(source, target, marks, (b"\n",), options.max_line)
        return [found[0], *(replace(part, document=source.name) for part in found[1:])]

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        if part.source.layout == WRAPPED:
            yield from self._read_wrapped(part, options)
            return
        for batch, text in decoded_blocks(part, options):
            for number, line in enumerate(text.split("\n")):
                if line and not line.isspace():
                    batch.add_paragraph(line, number)
            yield batch

    def _read_wrapped(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        held: list[str] = []  # lines of a paragraph that is not over
        size = 0
        batch = Batch(part.source)
        for batch, text in decoded_blocks(part, options):
            lines = text.removesuffix("\n").split("\n")
            for number, line in enumerate(lines):
                stripped = line.strip()
                if stripped:
                    held.append(stripped)
                    size += len(stripped)
                if held and (not stripped or size > MAX_PARAGRAPH):
                    batch.add_paragraph(" ".join(held), max(0, number - len(held)))
                    held = []
                    size = 0
            yield batch
        if held:
            last = Batch(part.source, batch.offset)
            last.add_paragraph(" ".join(held))
            yield last


READER = TextReader()
