"""CoNLL-U: ten columns, a blank line after each sentence, `# newdoc id = …` before each document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.base import Slice, Source, TokenBatch
from bagpack.corpus.readers.slicing import cut_points, slices_at
from bagpack.corpus.readers.token_lines import TokenLines
from bagpack.corpus.text.decoding import decode

_WORD_LINE = re.compile(rb"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}$")
_DOCUMENT_LINE = re.compile(rb"\n# newdoc")
_BLANK_LINES = (b"\n\n", b"\n\r\n")
UPOS, XPOS = 3, 4
_NEWDOC = re.compile(r"# newdoc(?:\s+id\s*=\s*(.*))?")


def document_name(line: str) -> str:
    """The id of a `# newdoc` line; without one, the line itself."""
    found = _NEWDOC.match(line)
    return (found.group(1) if found else None) or line


def _last_boundary(block: bytes) -> int:
    """Where the last blank line begins; 0 if there is none."""
    return max(block.rfind(mark) for mark in _BLANK_LINES) + 1


class ConlluReader:
    """CoNLL-U."""

    name = "conllu"
    suffixes = (".conllu", ".conll")

    def recognises(self, head: bytes) -> bool:
        """The first line that is no comment has ten columns and begins with an id."""
        for line in head.split(b"\n")[:-1]:
            plain = line.rstrip(b"\r")
            if plain and not plain.startswith(b"#"):
                return _WORD_LINE.match(plain) is not None
        return False

    def tags(self, head: bytes, options: TextOptions) -> list[str]:
        """Parts of speech of the first tokens: universal ones, or the corpus's own where these are not given."""
        rows = [line.rstrip(b"\r").split(b"\t") for line in head.split(b"\n")[:-1] if line[:1].isdigit()]
        for column in (UPOS, XPOS):
            tags = [row[column].decode(errors="replace") for row in rows if len(row) == 10]
            if any(tag != "_" for tag in tags):
                return tags
        return []

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut before documents, else between sentences."""
        if source.compression:
            return [Slice(source)]
        cuts = cut_points(source, target, (b"\n# newdoc",), _BLANK_LINES, min(4 << 20, target))
        return slices_at(
            source,
            cuts,
            _DOCUMENT_LINE,
            lambda line: document_name(decode(line, source.encoding, "replace")),
        )

    def read(self, part: Slice, options: TextOptions) -> Iterator[TokenBatch]:
        """A batch for each block of sentences."""
        column = UPOS if part.source.tagset == "UD" else XPOS
        settings = (column, options.bad_lines == "skip", options.max_sentence)
        return TokenLines(part, options, col.read_conllu, settings, document_name).batches(_last_boundary)


READER = ConlluReader()
