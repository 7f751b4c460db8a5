"""CoNLL-U: ten columns, a blank line after each sentence, `# newdoc id = …` before each document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers import whole_sentences
from bagpack.corpus.readers.base import Slice, Source
from bagpack.corpus.readers.io import blocks
from bagpack.corpus.readers.slicing import cut_points, slices_at
from bagpack.corpus.text.decoding import decode

if TYPE_CHECKING:
    from bagpack.corpus.build.shard_builder import ShardSink

_WORD_LINE = re.compile(rb"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}$")
_DOCUMENT_LINE = re.compile(rb"\n# newdoc")
_BLANK_LINES = (b"\n\n", b"\n\r\n")
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

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Hand whole sentences of lines to the kernel."""
        settings = (options.bad_lines == "skip", options.max_sentence)
        pieces = blocks(part, options.max_line)
        for offset, block, closed in whole_sentences(pieces, _last_boundary, options.max_line):
            sink.lines(block, offset, col.read_conllu, settings, document_name, closed)


READER = ConlluReader()
