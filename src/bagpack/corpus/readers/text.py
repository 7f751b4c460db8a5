"""Plain text: paragraphs of raw text, one document per file.

A paragraph is a line, or, where lines are hard-wrapped and blank lines stand between (as in e-books), a block of
lines. `--paragraphs auto` looks at the beginning of each file to tell which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Slice, Source
from bagpack.corpus.readers.io import blocks, place_at, read_head, without_mark
from bagpack.corpus.readers.slicing import cut_points
from bagpack.corpus.text.decoding import decode, encoding_error

if TYPE_CHECKING:
    from bagpack.corpus.build.shard_builder import ShardSink

WRAPPED_WIDTH = 120
MAX_PARAGRAPH = 1 << 20  # characters, where paragraphs are divided by blank lines


def decode_block(block: bytes, offset: int, part: Slice, sink: ShardSink, options: TextOptions) -> str:
    """Text of a block; bytes that are not the encoding are an error, or repaired and counted."""
    offset, block = without_mark(offset, block)
    encoding = part.source.encoding
    try:
        return decode(block, encoding)
    except UnicodeDecodeError as error:
        if options.encoding_errors == "strict":
            raise encoding_error(place_at(part.source, offset + error.start), error, encoding) from error
        sink.tally.repair(part.source, _count_bad(block, encoding))
        return decode(block, encoding, options.encoding_errors)


def _count_bad(block: bytes, encoding: str) -> int:
    replaced = block.decode(encoding, "replace").count("\N{REPLACEMENT CHARACTER}")
    return replaced - block.decode(encoding, "ignore").count("\N{REPLACEMENT CHARACTER}")


def push_paragraphs(lines: Iterable[str], sink: ShardSink) -> None:
    """Each line is a paragraph, but for blank ones."""
    for line in lines:
        if line and not line.isspace():
            sink.paragraph(line)


def lines_of(text: str) -> Iterator[str]:
    """Like `str.splitlines`, without a list of all lines of a long text."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + MAX_PARAGRAPH) + 1 or len(text)
        yield from text[start:end].splitlines()
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

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Push each paragraph."""
        wrapped = self._wrapped(part.source, options)
        held: list[str] = []
        for offset, block in blocks(part, options.max_line):
            text = decode_block(block, offset, part, sink, options)
            if wrapped:
                for paragraph in _unwrapped(text, held):
                    sink.paragraph(paragraph)
            else:
                push_paragraphs(text.split("\n"), sink)
            sink.block_done(len(block))
        if held:
            sink.paragraph(" ".join(held))


def _unwrapped(text: str, held: list[str]) -> Iterator[str]:
    """Paragraphs of hard-wrapped text; `held` carries the open one from block to block."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    size = sum(map(len, held))
    for line in lines:
        stripped = line.strip()
        if stripped:
            held.append(stripped)
            size += len(stripped)
        if held and (not stripped or size > MAX_PARAGRAPH):
            yield " ".join(held)
            held.clear()
            size = 0


READER = TextReader()
