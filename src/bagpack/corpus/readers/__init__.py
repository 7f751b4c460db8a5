"""Input formats. Each is a small module with a `READER`, found through the entry-point group `bagpack.readers`.

A reader recognises its format, may cut one file into slices that workers read independently, and feeds a slice to
the sink. Another package adds one with an entry point of its own; `Reader` is what it has to offer.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sniff import check_text, nothing_uncompressed
from bagpack.corpus.readers.sources import Slice, Source, read_head
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.corpus.build.shard_builder import ShardSink

BUILT_IN = ("vertical", "conllu", "jsonl", "parquet", "mediawiki", "text")  # text takes whatever is left


class Reader(Protocol):
    """One input format."""

    name: str
    suffixes: tuple[str, ...]

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins like this is in this format."""

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut a source into slices of about `target` bytes; one slice if it cannot be cut."""

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Push the slice's documents into the sink, calling `sink.block_done` as bytes are consumed."""


@cache
def readers() -> dict[str, Reader]:
    """All readers by name, built-in ones first."""
    found: dict[str, Reader] = {
        name: importlib.import_module(f"bagpack.corpus.readers.{name}").READER for name in BUILT_IN
    }
    for entry in entry_points(group="bagpack.readers"):
        if entry.name not in found:
            found[entry.name] = entry.load()
    return found


def reader_for(name: str) -> Reader:
    """The reader of a format; a sentence if there is none."""
    known = readers()
    if name not in known:
        raise UsageError(f"--format {name} is unknown; choose one of auto, {', '.join(sorted(known))}")
    return known[name]


def recognise(source: Source, options: TextOptions) -> Source:
    """Settle a source's format, from the option, its name, or its first bytes."""
    if options.format != "auto":
        return replace(source, format=reader_for(options.format).name)
    others = [reader for reader in readers().values() if reader.name != "text"]
    head = read_head(source)
    if not head:
        raise nothing_uncompressed(source.name)
    by_name = [reader for reader in others if source.stem.endswith(reader.suffixes)]
    for reader in (*by_name, *others):
        if reader.recognises(head):
            return replace(source, format=reader.name)
    if by_name:
        return replace(source, format=by_name[0].name)
    check_text(source.name, head)
    return replace(source, format="text")


def whole_sentences(
    pieces: Iterator[tuple[int, bytes]], marks: tuple[bytes, ...], reach: int
) -> Iterator[tuple[int, bytes, bool]]:
    """Re-cut blocks just behind the newline of the last mark, if one is within reach.

    Each comes with whether a sentence is known to end with it: a mark is a newline and what opens a sentence.
    """
    held = b""
    start = 0
    for offset, block in pieces:
        if held:
            block = held + block
        else:
            start = offset
        # The first mark that occurs will do: looking for one that does not takes a whole pass.
        cut = next((at for mark in marks if (at := block.rfind(mark) + 1)), 0)
        if cut == 0 and len(block) < reach:
            held = block
            continue
        stop = cut or len(block)
        yield start, block[:stop], cut > 0
        held = block[stop:]
        start += stop
    if held:
        yield start, held, True
