"""CoNLL-U: ten columns, a blank line after each sentence, `# newdoc id = …` before each document."""

from __future__ import annotations

import re

from bagpack.corpus import columns as col
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import whole_sentences
from bagpack.corpus.readers.text import check_encoding
from bagpack.corpus.sink import ShardSink
from bagpack.corpus.sources import Slice, Source, blocks, cut_points

_WORD_LINE = re.compile(rb"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}$")
_NEWDOC = re.compile(r"# newdoc(?:\s+id\s*=\s*(.*))?")


def document_name(line: str) -> str:
    """The id of a `# newdoc` line; without one, the line itself."""
    found = _NEWDOC.match(line)
    return (found.group(1) if found else None) or line


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
        """Cut before documents only: a sentence does not say which document it is in."""
        check_encoding(options.encoding)
        if source.compression:
            return [Slice(source)]
        cuts = cut_points(source, target, (b"\n# newdoc",), (b"\n# newdoc",), source.size)
        ends = [*cuts[1:], source.size]
        return [Slice(source, start, end) for start, end in zip(cuts, ends, strict=True)]

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Hand whole sentences of lines to the kernel."""
        settings = (options.bad_lines == "skip", options.max_sentence)
        for offset, block in whole_sentences(blocks(part, options.max_line), b"\n\n", options.max_line):
            sink.lines(block, offset, col.read_conllu, settings, document_name)


READER = ConlluReader()
