"""What readers work with: a `Source` is a file, a `Slice` the part of it that a worker reads, a `Batch` its content.

A reader turns a slice into batches, one after the other: `TextBatch` with paragraphs of raw text (or sentences that
are annotated already), `TokenBatch` with tokens as spans of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.readers.compression import SUFFIXES
from bagpack.corpus.store.attributes import Attributes

if TYPE_CHECKING:
    from bagpack.corpus.options import TextOptions

NONE = np.empty(0, np.int32)  # no spans
EXPANSION = 4  # text grows about fourfold when it is uncompressed

# Form, lemma, whether no white space is before it, and its universal part of speech, if that is known.
Sentence = Sequence[tuple[str, str, bool] | tuple[str, str, bool, str]]


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
    lang: str = ""  # of its raw text, where that was detected
    looks_like: str = ""  # another language than the one that was named
    tagset: str = ""  # of its parts of speech, if it has any
    attributes: Attributes = ()  # that all its documents have

    @property
    def name(self) -> str:
        """What documents and messages call it."""
        return self.label or self.path

    @property
    def stem(self) -> str:
        """The file name in lower case, without a compression suffix, for recognising formats."""
        name = Path(self.path).name.lower()
        for suffix in SUFFIXES:
            name = name.removesuffix(suffix)
        return name


@dataclass(frozen=True)
class Slice:
    """Bytes (or row groups) start..end of one source; end -1 is the source's end."""

    source: Source
    start: int = 0
    end: int = -1
    document: str | None = None  # the document that is open at `start`
    attributes: Attributes = ()  # of that document
    first_line: int = 0  # lines before `start`, where the reader names documents by line


class DocumentStart(NamedTuple):
    """A document begins before this paragraph or token of its batch.

    A file's own name is provisional: it gives way to a document that the reader finds at the same place. A document
    that began in an earlier slice or shard is continued.
    """

    position: int
    name: str
    provisional: bool = False
    continued: bool = False
    attributes: Attributes = ()


@dataclass
class Batch:
    """What a reader found in some bytes of its slice."""

    source: Source
    offset: int = 0  # of the bytes in the uncompressed source
    consumed: int = 0  # how many bytes of it, for the progress
    documents: list[DocumentStart] = field(default_factory=list)
    skipped: int = 0  # lines that do not fit the format
    ignored: int = 0  # lines of unknown markup
    repaired: int = 0  # places with bytes that are not the encoding


@dataclass
class TextBatch(Batch):
    """Paragraphs of raw text, or sentences that are annotated already, in order."""

    paragraphs: list[str | Sentence] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of each paragraph, counted from the line at `offset`
    where: str = ""  # the place that errors name, where it is no line of the source

    def add_document(self, name: str, attributes: Attributes = ()) -> None:
        """What follows belongs to this document."""
        self.documents.append(DocumentStart(len(self.paragraphs), name, attributes=attributes))

    def add_paragraph(self, text: str, line: int = 0) -> None:
        """A paragraph of raw text; it is split into sentences, tokenised and lemmatised later."""
        self.paragraphs.append(text)
        self.lines.append(line)

    def add_sentence(self, tokens: Sentence, line: int = 0) -> None:
        """A sentence whose tokens and lemmas are known."""
        self.paragraphs.append(tokens)
        self.lines.append(line)


@dataclass
class TokenBatch(Batch):
    """Tokens as spans of `data`, sentence by sentence."""

    data: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    starts: NDArray[np.int32] = field(default_factory=lambda: NONE)
    stops: NDArray[np.int32] = field(default_factory=lambda: NONE)
    lemma_starts: NDArray[np.int32] = field(default_factory=lambda: NONE)  # else made from the forms
    lemma_stops: NDArray[np.int32] = field(default_factory=lambda: NONE)
    tag_starts: NDArray[np.int32] = field(default_factory=lambda: NONE)  # tags of `tagset`
    tag_stops: NDArray[np.int32] = field(default_factory=lambda: NONE)
    tagset: str = ""
    flags: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))  # SENTENCE_START, GLUED
    encoding: str = "utf-8"
    entities: bool = False  # whether `&amp;` stands for `&`
    closed: bool = True  # whether a sentence ends with the last token


class Reader(Protocol):
    """One input format."""

    name: str
    suffixes: tuple[str, ...]

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins like this is in this format."""

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut a source into slices of about `target` bytes; one slice if it cannot be cut."""

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        """The content of a slice, in batches that take little memory each."""
