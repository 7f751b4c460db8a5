"""Errors about input that cannot be used: file and line, what is wrong, and the fix."""

from __future__ import annotations

from collections.abc import Iterable

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.base import Slice
from bagpack.corpus.readers.io import blocks, place_at
from bagpack.corpus.text.decoding import decode, encoding_error
from bagpack.errors import InputError

SHOWN_BYTES = 60  # of a bad line
SOUGHT_CHARACTERS = 64  # of a paragraph


def undecodable(slices: Iterable[Slice], options: TextOptions) -> InputError:
    """The first bytes of these slices that are not the encoding."""
    name = ""
    for part in slices:
        name = part.source.name
        for offset, block in blocks(part, options.max_line):
            try:
                decode(block, part.source.encoding)
            except UnicodeDecodeError as error:
                place = place_at(part.source, offset + error.start)
                return encoding_error(place, error, part.source.encoding)
    return InputError(f"{name} is not in the encoding that was named; name another --encoding")


def bad_line(
    code: int, place: str, line: bytes, columns: str, encoding: str, options: TextOptions
) -> InputError:
    """A line at which a column kernel stopped with this code; `columns` is what they were taken for."""
    shown = decode(line[:SHOWN_BYTES], encoding, "replace").rstrip("\r")
    count = line.count(b"\t") + 1
    skip = "; --bad-lines skip leaves such lines out and counts them"
    told = {
        col.FEW_COLUMNS: f"has too few columns ({count}, where {columns} are expected): {shown!r}; name what is "
        f"there with --columns, or let --bad-lines skip leave such lines out and count them",
        col.EMPTY_FORM: f"has an empty word: {shown!r}{skip}",
        col.WRONG_COLUMNS: f"has {count} columns where CoNLL-U has 10: {shown!r}{skip}",
        col.BAD_ID: f"has a word id out of sequence: {shown!r}{skip}",
        col.LONG_SENTENCE: f"is past {options.max_sentence:,} tokens of one sentence; the sentence boundaries seem to "
        f"be missing: mark them, or raise --max-sentence",
    }
    return InputError(f"{place} {told[code]}")


def long_sentence(place: str, length: int, options: TextOptions) -> InputError:
    """A sentence of more tokens than are allowed."""
    return InputError(
        f"{place} has a sentence of {length:,} tokens, more than {options.max_sentence:,}; break the text into "
        f"sentences and paragraphs, or raise --max-sentence"
    )


def paragraph_place(
    paragraph: str, slices: Iterable[Slice], document: str | None, options: TextOptions
) -> str:
    """File and line of a paragraph, found by how it begins; its document where the file does not hold it as it is."""
    name = ""
    for part in slices:
        name = part.source.name
        wanted = paragraph[:SOUGHT_CHARACTERS].encode(part.source.encoding, "ignore")
        for offset, block in blocks(part, options.max_line) if wanted else ():
            at = block.find(wanted)
            if at >= 0:
                return place_at(part.source, offset + at)
    return f"{name} (document {document!r})"
