"""MediaWiki's XML export, the form that Wikipedia's dumps have: articles only, as plain text, a document each.

A dump is machine-made, so it is read by finding its tags; what an author wrote has no bare `<`. A page belongs to the
slice in which its `<page>` begins, and slices end before one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, Reader, Slice, Source
from bagpack.corpus.readers.files import place_at, read_head
from bagpack.corpus.readers.slicing import cut_points
from bagpack.corpus.readers.wikitext import DROPPED_NAMESPACES, Namespaces, paragraphs, unescape_xml
from bagpack.corpus.text.encoding import decode
from bagpack.errors import InputError

OPENING, CLOSING = b"<page>", b"</page>"
PAGE_MARKS = (b"\n  <page>", b"\n<page>", b"\n\t<page>", b"\n <page>", b"\n    <page>")
MAX_PAGE = 64 << 20  # a page with its whole history may have any size
MAX_ARTICLE = 16 << 20  # MediaWiki's own limit is 2 MiB, before characters are escaped

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


class MediaWikiReader(Reader):
    """MediaWiki XML export."""

    name = "mediawiki"

    def recognises(self, head: bytes) -> bool:
        """The root element, or a page at once where a dump was cut up."""
        return b"<mediawiki" in head[:4096] or head.lstrip().startswith(OPENING)

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """Refuse other files: without pages they would have no text."""
        if not self.recognises(head):
            raise InputError(
                f"{source.name} is not a MediaWiki export (no <mediawiki> at its beginning); name another --format"
            )
        return super().look(source, head, options)

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        """Cut before pages."""
        if source.compression:
            return [Slice(source)]
        starts = [cut.offset for cut in cut_points(source, target, PAGE_MARKS, PAGE_MARKS)]
        return [Slice(source, start, end) for start, end in pairwise([*starts, source.size])]

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        """A batch for each page."""
        namespaces = read_namespaces(decode(read_head(part.source), part.source.encoding, "replace"))
        end = part.start
        repaired = 0

        def pieces() -> Iterator[tuple[int, bytes]]:
            nonlocal repaired
            for block in part.blocks(options):
                repaired += block.repaired
                yield block.offset, block.data

        for page in find_pages(pieces()):
            batch = Batch(part.source, page.offset, page.offset + len(page.data) - end, repaired=repaired)
            end, repaired = page.offset + len(page.data), 0
            _add_page(batch, page, part, options, namespaces)
            yield batch


def _add_page(batch: Batch, page: Page, part: Slice, options: TextOptions, namespaces: Namespaces) -> None:
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
            f"{place_at(part.source, page.offset)} has a page {error}, or skip and count such pages with --bad-lines "
            f"skip"
        ) from error
    if found is None:
        return
    title, text = found
    lines = paragraphs(unescape_xml(text.decode()), namespaces)
    if lines:
        batch.add_document(unescape_xml(title.decode()).strip())
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


def find_pages(pieces: Iterator[tuple[int, bytes]]) -> Iterator[Page]:
    """Pages of consecutive pieces, which may end anywhere."""
    held = b""
    base = 0  # offset of what is held
    for offset, piece in pieces:
        if not held:
            base = offset
        buffer = held + piece
        position = 0
        while True:
            start = buffer.find(OPENING, position)
            if start < 0:
                # The piece may end within a tag.
                keep = buffer.rfind(b"<", max(position, len(buffer) - len(OPENING) + 1))
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


READER = MediaWikiReader()
