"""What is said of input that cannot be used: where it stands, what is wrong with it, and the cure.

Tokens do not remember where they came from. A place that only they could tell is found again by reading once more.
"""

from __future__ import annotations

from collections.abc import Iterable

from bagpack.corpus.build.normalise import decode
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import columns as col
from bagpack.corpus.readers.sources import Slice, blocks, place_at
from bagpack.errors import InputError

SHOWN_BYTES = 60  # of a bad line
SOUGHT_CHARACTERS = 64  # of a paragraph


def encoding_error(place: str, error: UnicodeDecodeError, encoding: str) -> InputError:
    """Bytes that are not the encoding."""
    bad = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end][:4])
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return InputError(
        f"{place} is not {encoding} (byte {bad}); name the encoding (--encoding {other}?), or let "
        f"--encoding-errors replace|skip deal with it and count"
    )


def undecodable(slices: Iterable[Slice], options: TextOptions) -> InputError:
    """The first bytes of these slices that are not the encoding."""
    name = ""
    for part in slices:
        name = part.source.name
        for offset, block in blocks(part, options.max_line):
            try:
                decode(block, options.encoding)
            except UnicodeDecodeError as error:
                return encoding_error(place_at(part.source, offset + error.start), error, options.encoding)
    return InputError(f"{name} is not {options.encoding}; name its --encoding")


def bad_line(code: int, place: str, line: bytes, columns: str, options: TextOptions) -> InputError:
    """A line at which a column kernel stopped with this code; `columns` is what they were taken for."""
    shown = decode(line[:SHOWN_BYTES], options.encoding, "replace").rstrip("\r")
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
    try:
        wanted = paragraph[:SOUGHT_CHARACTERS].encode(options.encoding)
    except UnicodeEncodeError:
        wanted = b""
    name = ""
    for part in slices:
        name = part.source.name
        for offset, block in blocks(part, options.max_line) if wanted else ():
            at = block.find(wanted)
            if at >= 0:
                return place_at(part.source, offset + at)
    return f"{name} (document {document!r})"
