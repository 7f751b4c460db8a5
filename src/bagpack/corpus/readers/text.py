"""Plain text: paragraphs of raw text, one document per file.

A paragraph is a line, or, where lines are hard-wrapped and paragraphs divided by blank lines (as in e-books), a block
of lines. `--paragraphs auto` decides from the beginning of each file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Slice, Source, TextBatch
from bagpack.corpus.readers.io import blocks, place_at, read_head, without_mark
from bagpack.corpus.readers.slicing import cut_points
from bagpack.corpus.text.decoding import decode, encoding_error

WRAPPED_WIDTH = 120
MAX_PARAGRAPH = 1 << 20  # characters, where paragraphs are divided by blank lines


def decoded_blocks(part: Slice, options: TextOptions) -> Iterator[tuple[TextBatch, str]]:
    """Blocks of whole lines as text, each with the batch that it is to fill."""
    for start, block in blocks(part, options.max_line):
        offset, data = without_mark(start, block)
        batch = TextBatch(part.source, offset, len(block))
        yield batch, decode_or_repair(data, batch, options, partial(_place_in, batch))


def _place_in(batch: TextBatch, at: int) -> str:
    return place_at(batch.source, batch.offset + at)


def decode_or_repair(data: bytes, batch: TextBatch, options: TextOptions, place: Callable[[int], str]) -> str:
    """Bytes to text; those that are not the encoding are an error, which names the `place` of a byte, or repaired."""
    encoding = batch.source.encoding
    try:
        return decode(data, encoding)
    except UnicodeDecodeError as error:
        if options.encoding_errors == "strict":
            raise encoding_error(place(error.start), error, encoding) from error
        batch.repaired += _count_bad(data, encoding)
        return decode(data, encoding, options.encoding_errors)


def _count_bad(data: bytes, encoding: str) -> int:
    replaced = data.decode(encoding, "replace").count("\N{REPLACEMENT CHARACTER}")
    return replaced - data.decode(encoding, "ignore").count("\N{REPLACEMENT CHARACTER}")


def add_lines(batch: TextBatch, text: str, line: int = 0) -> None:
    """Each line of a document's text is a paragraph, but for blank ones; `line` is where the document is."""
    start = 0
    while start < len(text):  # a piece at a time: a long text may have millions of lines
        end = text.find("\n", start + MAX_PARAGRAPH) + 1 or len(text)
        for paragraph in text[start:end].splitlines():
            if paragraph and not paragraph.isspace():
                batch.add_paragraph(paragraph, line)
        start = end


def is_wrapped(head: bytes) -> bool:
    """Whether a file's beginning looks like hard-wrapped lines with blank lines between paragraphs."""
    lines = [line.strip() for line in head.replace(b"\r", b"").split(b"\n")][:-1]
    filled = [line for line in lines if line]
    groups = sum(1 for before, line in zip([b"", *lines], lines, strict=False) if line and not before)
    return (
        len(filled) >= 4
        and len(filled) < len(lines)
        and max(map(len, filled)) <= WRAPPED_WIDTH
        and len(filled) >= 1.5 * groups
    )


class TextReader:
    """Plain text."""

    name = "text"
    suffixes = (".txt", ".text", ".md")

    def recognises(self, head: bytes) -> bool:
        """Anything may be text."""
        return True

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut at paragraphs."""
        if source.compression:
            return [Slice(source)]
        marks = (b"\n\n", b"\n\r\n") if self._wrapped(source, options) else (b"\n",)
        cuts = cut_points(source, target, marks, (b"\n",), options.max_line)
        return [
            Slice(source, start, end, source.name if start else None)
            for start, end in pairwise([*(cut.offset for cut in cuts), source.size])
        ]

    def _wrapped(self, source: Source, options: TextOptions) -> bool:
        if options.paragraphs == "auto":
            return is_wrapped(read_head(source))
        return options.paragraphs == "blank"

    def read(self, part: Slice, options: TextOptions) -> Iterator[TextBatch]:
        """A batch for each block of lines."""
        if self._wrapped(part.source, options):
            yield from self._read_wrapped(part, options)
            return
        for batch, text in decoded_blocks(part, options):
            for number, line in enumerate(text.split("\n")):
                if line and not line.isspace():
                    batch.add_paragraph(line, number)
            yield batch

    def _read_wrapped(self, part: Slice, options: TextOptions) -> Iterator[TextBatch]:
        held: list[str] = []  # lines of a paragraph that is not over
        size = 0
        batch = TextBatch(part.source)
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
            last = TextBatch(part.source, batch.offset)
            last.add_paragraph(" ".join(held))
            yield last


READER = TextReader()
