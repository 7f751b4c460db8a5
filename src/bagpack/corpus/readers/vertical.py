"""Vertical text (WaCky, CWB, Sketch Engine): a token a line, columns divided by tabs, tags on lines of their own.

WaCky files are not XML: raw `&`, unbalanced tags and doubly escaped entities occur. They are read line by line, and
a line is markup only if it starts with a known tag. `--columns` names the columns (`word,tag,lemma`); the default
looks at the beginning of the file, since PukWaC has lemma and tag the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import scalar_attributes
from bagpack.corpus.readers.base import Batch, DocumentStart, Reader, Slice, Source
from bagpack.corpus.readers.files import REACH, line_slices
from bagpack.corpus.readers.token_lines import TAG_BOUNDARY, TAG_DOCUMENT, TAG_GLUE, TokenLines
from bagpack.corpus.text.encoding import unescape
from bagpack.corpus.text.tags import identify_tagset
from bagpack.errors import InputError, UsageError

DOCUMENT_TAGS = ("text", "doc", "file", "document", "article")
BOUNDARY_TAGS = ("s", "p", "corpus", "head", "div", "sentence", "para", "paragraph", "body", "?xml", "!--")
TAGS = {
    **dict.fromkeys(DOCUMENT_TAGS, TAG_DOCUMENT), **dict.fromkeys(BOUNDARY_TAGS, TAG_BOUNDARY), "g": TAG_GLUE
}  # fmt: skip
_KNOWN = "|".join(map(re.escape, (*DOCUMENT_TAGS, *BOUNDARY_TAGS)))
_TAG_LINE = re.compile(f"</?(?:{_KNOWN})(?:[ >/])".encode())
_ATTRIBUTE = re.compile(r"(?<![^\s])([\w:.-]+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
ID_ATTRIBUTES = ("id", "xml:id", "n", "url", "name", "title", "file", "filename")  # the first that a tag has
_DOCUMENT_MARKS = tuple(f"\n<{tag}{end}".encode() for tag in DOCUMENT_TAGS for end in (" ", ">"))
_SENTENCE_MARKS = (b"\n<s>", b"\n<s ", b"\n<sentence>", b"\n<sentence ", b"\n\n")
FORM_NAMES = ("word", "form", "token")
LEMMA_NAMES = ("lemma", "base")
TAG_NAMES = ("tag", "pos", "upos", "xpos")


def guess_columns(head: bytes) -> str:
    """Names of the columns, from the first lines: the tag column has the fewest different values."""
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")[:-1]]
    tokens = [line for line in lines if line and not line.startswith(b"<")]
    rows = [line.split(b"\t") for line in tokens if b"\t" in line]
    if not rows:
        return "word" if tokens else "word,tag,lemma"
    if np.median([len(row) for row in rows]) < 3:
        # Most lemmas begin with the letter that the form begins with.
        pairs = [(row[0].lower(), row[1].lower()) for row in rows if len(row) > 1 and row[0][:1].isalpha()]
        alike = sum(form[:1] == other[:1] for form, other in pairs)
        return "word,lemma" if 2 * alike > len(pairs) else "word,tag"
    full = [row for row in rows if len(row) >= 3]
    shared = [sum(row[0].lower() == row[k].lower() for row in full) for k in (1, 2)]
    distinct = [len({row[k] for row in full}) for k in (1, 2)]
    lemma_second = shared[0] > shared[1] or (shared[0] == shared[1] and distinct[0] > distinct[1])
    return "word,lemma,tag" if lemma_second else "word,tag,lemma"


def column_numbers(names: str) -> tuple[int, int, int]:
    """The numbers of the form, lemma and tag columns, from names such as word,tag,lemma; -1 if there is none."""
    listed = [name.strip().lower() for name in names.split(",")]
    form, lemma, tag = (
        next((number for number, name in enumerate(listed) if name in names_of), -1)
        for names_of in (FORM_NAMES, LEMMA_NAMES, TAG_NAMES)
    )
    if form < 0:
        raise UsageError(f"--columns {names} names no column {FORM_NAMES[0]}; for ukWaC: word,tag,lemma")
    return form, lemma, tag


def read_document(text: str) -> DocumentStart:
    """The document that a tag opens: its id (the whole tag if it has none), and its other attributes."""
    line = text.partition("\n")[0].rstrip("\r")
    attributes: dict[str, str] = {}
    for name, double, single in _ATTRIBUTE.findall(line):
        attributes.setdefault(name.lower(), unescape(double or single))
    own = next((name for name in ID_ATTRIBUTES if name in attributes), None)
    name = line if own is None else attributes.pop(own)
    return DocumentStart(0, name, attributes=scalar_attributes(attributes))


def _last_boundary(block: bytes) -> int:
    """Where the last line begins that ends the sentence before it: a known tag or a blank line; 0 if there is none."""
    at = block.rfind(b"\n<")
    while at >= 0 and not _TAG_LINE.match(block, at + 1):
        at = block.rfind(b"\n<", 0, at)
    return max(at, block.rfind(b"\n\n", max(at, 0))) + 1


class VerticalReader(Reader):
    name = "vertical"
    suffixes = (".vert", ".vrt", ".vertical")
    in_kernels = True

    def recognises(self, head: bytes) -> bool:
        """A known tag on a line of its own, and token lines with tabs."""
        lines = [line for line in head[:8192].split(b"\n")[:-1] if line.strip()]
        tagged = sum(1 for line in lines if _TAG_LINE.match(line))
        tabbed = sum(1 for line in lines if b"\t" in line)
        return tagged > 0 and tabbed > 0 and tagged + tabbed >= 0.8 * len(lines)

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        names = guess_columns(head) if options.columns == "auto" else options.columns
        _, lemma, tag = column_numbers(names)
        if lemma < 0 and options.level == "lemma":
            raise InputError(f"{source.name} has no lemmas (columns {names}); add --level form, or --columns")
        lines = [line for line in head.split(b"\n")[:-1] if b"\t" in line and not _TAG_LINE.match(line)]
        rows = [line.split(b"\t") for line in lines]
        tags = [row[tag].decode(errors="replace").strip() for row in rows if 0 <= tag < len(row)]
        return replace(source, layout=names, tagset=identify_tagset(tags, options.tagset))

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        reach = min(REACH, target)
        return line_slices(source, target, _DOCUMENT_MARKS, _SENTENCE_MARKS, reach, read_document)

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        names = part.source.layout
        form, lemma, tag = column_numbers(names)
        columns = (form, lemma if lemma >= 0 else form, tag)
        return TokenLines(part, options, columns, names, read_document, TAGS).batches(_last_boundary)


READER = VerticalReader()
