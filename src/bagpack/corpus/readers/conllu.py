"""CoNLL-U: ten columns, a blank line after each sentence, `# newdoc id = …` before each document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart, Reader, Slice, Source
from bagpack.corpus.readers.files import REACH, line_slices
from bagpack.corpus.readers.token_lines import TokenLines
from bagpack.corpus.text.tags import identify_tagset

_WORD_LINE = re.compile(rb"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}$")
_BLANK_LINES = (b"\n\n", b"\n\r\n")
FORM, LEMMA, UPOS, XPOS = 1, 2, 3, 4
_NEWDOC = re.compile(r"# newdoc(?:\s+id\s*=\s*(.*))?")


def read_document(text: str) -> DocumentStart:
    """The document that a `# newdoc` line opens, by its id (the line if it has none)."""
    line = text.partition("\n")[0].rstrip("\r")
    found = _NEWDOC.match(line)
    return DocumentStart(0, (found and found[1]) or line)


def _last_boundary(block: bytes) -> int:
    """Where the last blank line begins; 0 if there is none."""
    return max(block.rfind(mark) for mark in _BLANK_LINES) + 1


class ConlluReader(Reader):
    name = "conllu"
    suffixes = (".conllu", ".conll")
    in_kernels = True

    def recognises(self, head: bytes) -> bool:
        """The first line that is no comment has ten columns and begins with an id."""
        for line in head.split(b"\n")[:-1]:
            plain = line.rstrip(b"\r")
            if plain and not plain.startswith(b"#"):
                return _WORD_LINE.match(plain) is not None
        return False

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """The tagset: that of the universal tags, or of the corpus's own where these are not given."""
        rows = [line.rstrip(b"\r").split(b"\t") for line in head.split(b"\n")[:-1] if line[:1].isdigit()]
        for column in (UPOS, XPOS):
            tags = [row[column].decode(errors="replace") for row in rows if len(row) == 10]
            if any(tag != "_" for tag in tags):
                return replace(source, tagset=identify_tagset(tags, options.tagset))
        return source

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        reach = min(REACH, target)
        return line_slices(source, target, (b"\n# newdoc",), _BLANK_LINES, reach, read_document)

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        columns = (FORM, LEMMA, UPOS if part.source.tagset == "UD" else XPOS)
        names = "CoNLL-U, which has ten columns, the first a word id"
        return TokenLines(part, options, columns, names, read_document).batches(_last_boundary)


READER = ConlluReader()
