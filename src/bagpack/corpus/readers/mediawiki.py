"""MediaWiki's XML export, the form that Wikipedia's dumps have: articles only, as plain text, a document each.

A dump is machine-made, so it is read by finding its tags; what an author wrote has no bare `<`. A page belongs to the
slice in which its `<page>` begins. A `.bz2` file of many streams (Wikipedia's *multistream*, pbzip2) is cut between
streams, even within a page: the worker that has the beginning of the page reads on to its end.
"""

from __future__ import annotations

import bz2
import mmap
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import EXPANSION, Slice, Source, TextBatch
from bagpack.corpus.readers.io import BLOCK, blocks, place_at, read_head
from bagpack.corpus.readers.slicing import cut_points
from bagpack.corpus.readers.text import decode_or_repair
from bagpack.corpus.readers.wikitext import DROPPED_NAMESPACES, Namespaces, paragraphs, unescape_xml
from bagpack.corpus.text.decoding import decode
from bagpack.errors import InputError

OPENING, CLOSING = b"<page>", b"</page>"
PAGE_MARKS = (b"\n  <page>", b"\n<page>", b"\n\t<page>", b"\n <page>", b"\n    <page>")
MAX_PAGE = 64 << 20  # a page with its whole history may have any size
MAX_ARTICLE = 16 << 20  # MediaWiki's own limit is 2 MiB, before characters are escaped
BZ2_READ = 1 << 18
BZ2_STREAM = re.compile(rb"BZh[1-9]1AY&SY")  # 80 bits, so that compressed data never look like it

# Before dumps had <ns>, only the title showed what is not an article.
OTHER_NAMESPACES = frozenset({
    "media", "special", "talk", "user", "wikipedia", "wp", "project", "image", "file", "mediawiki", "template", "help",
    "category", "portal", "book", "draft", "module", "timedtext", "transwiki",
})  # fmt: skip
FILE_KEY, CATEGORY_KEY = "6", "14"
_NAMESPACE = re.compile(r'<namespace key="(-?\d+)"[^<>]*>([^<]+)</namespace>')
_REDIRECT = re.compile(rb"\s*#redirect", re.IGNORECASE)


class Page(NamedTuple):
    """Where a page begins in the uncompressed text of its slice, its bytes, and whether it has its end."""

    offset: int
    data: bytes
    whole: bool


class MalformedPageError(ValueError):
    """Says what a page lacks."""


class MediaWikiReader:
    """MediaWiki XML export."""

    name = "mediawiki"
    suffixes: tuple[str, ...] = ()  # .xml says too little

    def recognises(self, head: bytes) -> bool:
        """The root element, or a page at once where a dump was cut up."""
        return b"<mediawiki" in head[:4096] or head.lstrip().startswith(OPENING)

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut before pages, or between the streams of a `.bz2` file."""
        if not self.recognises(read_head(source)):
            raise InputError(
                f"{source.name} is not a MediaWiki export (no <mediawiki> at its beginning); name another --format"
            )
        if source.compression == "bz2":
            starts = stream_starts(source, max(1, target // EXPANSION))
        elif source.compression:
            starts = [0]
        else:
            starts = [cut.offset for cut in cut_points(source, target, PAGE_MARKS, PAGE_MARKS)]
        if len(starts) == 1:
            return [Slice(source)]
        return [Slice(source, start, end) for start, end in pairwise([*starts, source.size])]

    def read(self, part: Slice, options: TextOptions) -> Iterator[TextBatch]:
        """A batch for each page."""
        namespaces = read_namespaces(decode(read_head(part.source), part.source.encoding, "replace"))
        if part.source.compression and part.end >= 0:
            pieces = stream_pieces(part)
        else:
            pieces = ((offset, block, True) for offset, block in blocks(part, options.max_line))
        end = part.start if not part.source.compression else 0
        for page in find_pages(pieces):
            batch = TextBatch(part.source, page.offset, page.offset + len(page.data) - end)
            end = page.offset + len(page.data)
            if part.source.compression and part.start:
                batch.where = _place(part, page.offset)
            _add_page(batch, page, part, options, namespaces)
            yield batch


def _add_page(
    batch: TextBatch, page: Page, part: Slice, options: TextOptions, namespaces: Namespaces
) -> None:
    """Add an article to the batch; pages of other kinds are not text."""
    if not page.whole and len(page.data) <= MAX_PAGE:
        batch.skipped += 1  # the text merely ends, as an excerpt does
        return
    try:
        if not page.whole:
            raise MalformedPageError(
                f"of more than {MAX_PAGE >> 20} MiB; take a dump without its history (pages-articles)"
            )
        found = read_page(page.data, namespaces)
    except MalformedPageError as error:
        if options.bad_lines == "skip":
            batch.skipped += 1
            return
        raise InputError(
            f"{_place(part, page.offset)} has a page {error}, or skip and count such pages with --bad-lines skip"
        ) from error
    if found is None:
        return
    title, text = found
    decoded = decode_or_repair(
        text, batch, options, lambda at: _place(part, page.offset + page.data.find(text) + at)
    )
    lines = paragraphs(unescape_xml(decoded), namespaces)
    if lines:
        batch.add_document(unescape_xml(decode(title, part.source.encoding, "replace")).strip())
        for line in lines:
            batch.add_paragraph(line)


def read_namespaces(head: str) -> Namespaces:
    """The namespaces that the dump's header lists, in its own language, and those of all wikis."""
    listed = [(key, unescape_xml(name).strip().lower()) for key, name in _NAMESPACE.findall(head)]
    others = {name for key, name in listed if key != "0"}
    dropped = {name for key, name in listed if key in (FILE_KEY, CATEGORY_KEY)}
    return Namespaces(OTHER_NAMESPACES | others, DROPPED_NAMESPACES | dropped)


def read_page(page: bytes, namespaces: Namespaces) -> tuple[bytes, bytes] | None:
    """Title and escaped wikitext of a page's last revision; None if it is no article or a redirect."""
    if page.find(OPENING, len(OPENING)) >= 0:
        raise MalformedPageError(
            "that begins before the one before it ends; the dump is damaged: fetch it again"
        )
    title_end = page.find(b"</title>")
    title_start = page.find(b"<title>", 0, max(title_end, 0)) + 7
    if title_start < 7:
        raise MalformedPageError("without a <title>; the dump is damaged: fetch it again")
    title = page[title_start:title_end]
    text_tag = page.rfind(b"<text")
    text_start = page.find(b">", text_tag) + 1
    if text_tag < title_end or not text_start:
        raise MalformedPageError("without a <text>; take a dump that has the text (pages-articles)")
    about = page[title_end:text_tag]
    space = about.find(b"<ns>")
    if space >= 0:
        if not about.startswith(b"<ns>0<", space):
            return None
    elif b":" in title:
        prefix = title.split(b":", 1)[0].decode(errors="replace").lower().replace("_", " ").strip()
        if prefix in namespaces.others or prefix.removesuffix(" talk") in namespaces.others:
            return None
    if b"<redirect" in about or (b"<model>" in about and b"<model>wikitext<" not in about):
        return None
    if page[text_start - 2 : text_start] == b"/>":
        return None  # deleted, or empty
    text_end = page.find(b"</text>", text_start)
    if text_end < 0:
        raise MalformedPageError("whose <text> has no end; the dump is damaged: fetch it again")
    if text_end - text_start > MAX_ARTICLE:
        raise MalformedPageError(f"whose text has more than {MAX_ARTICLE >> 20} MiB; check the dump")
    text = page[text_start:text_end]
    return None if _REDIRECT.match(text) else (title, text)


def find_pages(pieces: Iterator[tuple[int, bytes, bool]]) -> Iterator[Page]:
    """Pages that begin in pieces that are the slice's own; the others serve to end the last one."""
    held = b""
    base = 0  # offset of what is held
    limit: int | None = None
    for offset, piece, own in pieces:
        if not own and limit is None:
            limit = offset
        if not held:
            base = offset
        buffer = held + piece
        position = 0
        while True:
            start = buffer.find(OPENING, position)
            if limit is not None and start >= 0 and base + start >= limit:
                return
            if start < 0:
                # The piece may end within a tag.
                keep = buffer.rfind(b"<", max(position, len(buffer) - len(OPENING) + 1))
                if limit is not None and (keep < 0 or base + keep >= limit):
                    return
                keep = keep if keep >= 0 else len(buffer)
                break
            end = buffer.find(CLOSING, start)
            if end < 0:
                keep = start
                break
            position = end + len(CLOSING)
            yield Page(base + start, buffer[start:position], True)
        held = buffer[keep:]
        base += keep
        if len(held) > MAX_PAGE:
            yield Page(base, held, False)
            held = b""
    if held.startswith(OPENING):
        yield Page(base, held, False)


def stream_starts(source: Source, step: int) -> list[int]:
    """Where streams of a `.bz2` file begin, about `step` compressed bytes apart."""
    starts = [0]
    with open(source.path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as view:
        nominal = step
        while nominal < source.size - step // 2 and (found := BZ2_STREAM.search(view, nominal)):
            starts.append(found.start())
            nominal = found.start() + step
    return starts


def stream_pieces(part: Slice) -> Iterator[tuple[int, bytes, bool]]:
    """(offset, bytes, whether they are the slice's own) of the streams from `part.start` on, beyond `part.end` too.

    An empty piece marks the end of the slice's own streams, before the next one is uncompressed.
    """
    source = part.source
    decompressor = bz2.BZ2Decompressor()
    plain = 0
    own = True
    begun = False
    data = b""
    with open(source.path, "rb") as handle:
        handle.seek(part.start)
        while True:
            if not data and decompressor.needs_input:
                data = handle.read(BZ2_READ)
                if not data:
                    if begun:
                        raise InputError(
                            f"{source.name} ends in the middle of its bz2 data; it is truncated: fetch it again"
                        )
                    return
            try:
                piece = decompressor.decompress(data, BLOCK)
            except OSError as error:
                raise InputError(
                    f"{source.name} is damaged in the bz2 streams from byte {part.start:,} on ({error}); fetch it "
                    f"again"
                ) from error
            begun, data = True, b""
            if piece:
                yield plain, piece, own
                plain += len(piece)
            if decompressor.eof:
                data = decompressor.unused_data or handle.read(BZ2_READ)
                if not data.startswith(b"BZh"[: len(data)]):
                    return  # not a stream: padding, which bzip2 ignores too
                decompressor = bz2.BZ2Decompressor()
                begun = False
                if own and handle.tell() - len(data) >= part.end:
                    own = False
                    yield plain, b"", own


def _place(part: Slice, offset: int) -> str:
    if part.source.compression and part.start:
        return f"{part.source.name} ({offset:,} bytes into the bz2 streams from byte {part.start:,} on)"
    return place_at(part.source, offset)


READER = MediaWikiReader()
