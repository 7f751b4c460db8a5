"""Sentences whose tokens and keys are settled, as an input format: how snippets become a store.

A line is a document's id, a TAB, and marked text (`bagpack.engines.words`) in which every token is FORM, a record
separator (U+001E), KEY. `index_corpus` builds a store of it as of any other input.
"""

from __future__ import annotations

from collections.abc import Iterable

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import Reader, readers
from bagpack.corpus.sink import ShardSink
from bagpack.corpus.sources import Slice, Source, blocks
from bagpack.engines.words import INNER_SPACE, JOINER, KEY_MARK, clean_token

DIVIDER = "\x1e"
_BLANKS = str.maketrans("\t\n\r", "   ")


def token_line(document: str, tokens: Iterable[tuple[str, str, bool]]) -> str:
    """One sentence of (form, key, glued to the one before) as a line."""
    pieces: list[str] = []
    for form, key, glued in tokens:
        if pieces:
            pieces.append(JOINER if glued else " ")
        mark = KEY_MARK if key.startswith(KEY_MARK) else ""
        pieces.append(f"{clean_token(form)}{DIVIDER}{mark}{clean_token(key)}")
    return f"{document.translate(_BLANKS)}\t{''.join(pieces)}\n"


class TokensReader:
    """Lines that `token_line` wrote; never recognised by itself, only asked for by name."""

    name = "tokens"
    suffixes: tuple[str, ...] = (".bagpack-tokens",)

    def recognises(self, head: bytes) -> bool:
        """Another format's reader is not to mistake its input for this."""
        return False

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Read it in one go; the sink cuts shards."""
        return [Slice(source)]

    def feed(self, part: Slice, sink: ShardSink, options: TextOptions) -> None:
        """Push each line as an annotated sentence."""
        open_document = None
        for _, block in blocks(part, options.max_line):
            for line in block.decode().split("\n"):
                if not line:
                    continue
                document, _, marked = line.partition("\t")
                if document != open_document:
                    sink.open_document(document)
                    open_document = document
                sink.sentence(_tokens(marked))
            sink.block_done(len(block))


def _tokens(marked: str) -> Iterable[tuple[str, str, bool]]:
    for run in marked.split(" "):
        for index, token in enumerate(run.split(JOINER)):
            form, _, key = token.replace(INNER_SPACE, " ").partition(DIVIDER)
            yield form, key, index > 0


READER: Reader = TokensReader()


def enter_reader() -> None:
    """Make the format known in this process."""
    readers().setdefault(READER.name, READER)
