"""What readers work with: a `Source` is a file, a `Slice` the part of it that a worker reads, a `Batch` its content.

A reader turns a slice into batches, one after the other. A reader of another package needs this module alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bagpack.arrays import I32, U8, U32
from bagpack.corpus.segment import Attributes
from bagpack.corpus.text.encoding import decode
from bagpack.corpus.text.languages import other_language

if TYPE_CHECKING:
    from bagpack.corpus.options import TextOptions

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")  # of compressed files
EXPANSION = 4  # text grows about fourfold when it is uncompressed


@dataclass(frozen=True)
class Source:
    """One input file."""

    path: str
    size: int
    modified: int
    compression: str
    format: str = ""
    label: str = ""  # its name where the path must not or cannot be shown
    encoding: str = "utf-8"
    looks_like: str = ""  # another language than the one that was named
    tagset: str = ""  # of its parts of speech, if it has any
    layout: str = ""  # what its reader learned of it: names of columns, how paragraphs are divided
    attributes: Attributes = ()  # that all its documents have

    @property
    def name(self) -> str:
        """What documents and messages call it."""
        return self.label or self.path


@dataclass(frozen=True)
class Slice:
    """Bytes (or row groups) start..end of one source; end -1 is the source's end."""

    source: Source
    start: int = 0
    end: int = -1
    document: str | None = None  # the document that is open at `start`
    attributes: Attributes = ()  # of that document
    first_line: int = 0  # lines before `start`, where the reader names documents by line

    def blocks(self, options: TextOptions) -> Iterator[Block]:
        """The lines of the slice, uncompressed, in UTF-8 and in bounded memory."""
        from bagpack.corpus.readers.files import blocks

        return blocks(self, options)


class DocumentStart(NamedTuple):
    """A document begins before this paragraph or token of its batch.

    A file's own name is provisional: it gives way to a document that the reader finds at the same place. A document
    that began in an earlier slice or segment is continued.
    """

    position: int
    name: str
    provisional: bool = False
    continued: bool = False
    attributes: Attributes = ()


@dataclass
class Batch:
    """What a reader found in some bytes of its slice: paragraphs of raw text, or tokens as spans of `data`."""

    source: Source
    offset: int = 0  # of the bytes in the uncompressed source
    consumed: int = 0  # how many bytes of it, for the progress
    documents: list[DocumentStart] = field(default_factory=list)
    skipped: int = 0  # lines that do not fit the format
    ignored: int = 0  # lines of unknown markup
    repaired: int = 0  # places with bytes that are not the encoding

    paragraphs: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of each paragraph, counted from the line at `offset`
    where: str = ""  # the place that errors name, where it is no line of the source

    data: U8 = field(default_factory=lambda: np.empty(0, np.uint8))
    # Rows: starts and stops of the forms, then of the lemmas and of the tags, if the text has them.
    spans: I32 = field(default_factory=lambda: np.empty((2, 0), np.int32))
    flags: U32 = field(default_factory=lambda: np.empty(0, np.uint32))  # SENTENCE_START, GLUED
    tagset: str = ""  # of the tags
    entities: bool = False  # whether `&amp;` stands for `&`
    closed: bool = True  # whether a sentence ends with the last token

    def add_document(self, name: str, attributes: Attributes = ()) -> None:
        self.documents.append(DocumentStart(len(self.paragraphs), name, attributes=attributes))

    def add_paragraph(self, text: str, line: int = 0) -> None:
        """A paragraph of raw text; it is split into sentences, tokenised and lemmatised later."""
        self.paragraphs.append(text)
        self.lines.append(line)


class Block(NamedTuple):
    """Whole lines in UTF-8, and where they are in the uncompressed source."""

    offset: int
    consumed: int  # bytes of the source
    data: bytes
    repaired: int  # places with bytes that are not the encoding

    def batch(self, source: Source) -> Batch:
        """An empty batch for what the block holds."""
        return Batch(source, self.offset, self.consumed, repaired=self.repaired)


class Reader(ABC):
    name: str
    suffixes: tuple[str, ...] = ()
    in_kernels = False  # whether reading needs no interpreter lock: then a few workers are threads

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins like this is in this format."""
        return False

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """The source with what its first bytes show: of raw text, whether it is in another language."""
        text = decode(head, source.encoding, "replace")
        return replace(source, looks_like=other_language(text, options.lang))

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut a source into slices of about `target` bytes; one slice if it cannot be cut."""
        return [Slice(source)]

    @abstractmethod
    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        """The content of a slice, in batches that take little memory each."""
