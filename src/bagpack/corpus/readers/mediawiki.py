"""MediaWiki's XML export, the form that Wikipedia's dumps have: articles only, as plain text, a document each.

A dump is machine-made, so it is read by finding its tags; what an author wrote has no bare `<`. A page belongs to the
slice in which its `<page>` begins, and slices end before one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape  # once, as XML escaped it: entities that the author wrote stay for `paragraphs`
from typing import NamedTuple

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, Block, Reader, Slice, Source
from bagpack.corpus.readers.files import line_slices, place_at
from bagpack.corpus.readers.wikitext import DROPPED_NAMESPACES, paragraphs
from bagpack.corpus.text.encoding import decode
from bagpack.errors import InputError

OPENING, CLOSING = b"<page>", b"</page>"
PAGE_MARKS = (b"\n  <page>", b"\n<page>", b"\n\t<page>", b"\n <page>", b"\n    <page>")
MAX_PAGE = 64 << 20  # a page with its whole history may have any size
MAX_ARTICLE = 16 << 20  # MediaWiki's own limit is 2 MiB, before characters are escaped

_DROPPED = re.compile(r'<namespace key="(?:6|14)"[^<>]*>([^<]+)</namespace>')  # files and categories
_TITLE = re.compile(rb"<title>([^<]*)</title>")
# Before dumps had <ns>, only the title showed what is not an article.
_OTHER = re.compile(
    rb"(?i)(user|wikipedia|image|file|mediawiki|template|help|category|portal|special|media)?[ _]?(talk)?:"
)
_REDIRECT = re.compile(rb"\s*#redirect", re.IGNORECASE)


class Page(NamedTuple):
    """Where a page begins in the uncompressed text of its slice, its bytes, and whether it has its end."""

    offset: int
    data: bytes
    whole: bool
    repaired: int  # places of the blocks that were read for it


class MediaWikiReader(Reader):
    name = "mediawiki"

    def recognises(self, head: bytes) -> bool:
        """The root element, or a page at once where a dump was cut up."""
        return b"<mediawiki" in head[:4096] or head.lstrip().startswith(OPENING)

    def look(self, source: Source, head: bytes, options: TextOptions) -> Source:
        """The names that the wiki's language has for files and categories, which are no text."""
        if not self.recognises(head):
            raise InputError(
                f"{source.name} is not a MediaWiki export (no <mediawiki> at its beginning); name another --format"
            )
        found = _DROPPED.findall(decode(head, source.encoding, "replace"))
        names = {*DROPPED_NAMESPACES, *(unescape(name).strip().lower() for name in found)}
        return replace(super().look(source, head, options), layout="|".join(sorted(names)))

    def slices(self, source: Source, target: int, options: TextOptions) -> list[Slice]:
        return line_slices(source, target, PAGE_MARKS)

    def read(self, part: Slice, options: TextOptions) -> Iterator[Batch]:
        dropped = part.source.layout.split("|")
        end = part.start
        for page in find_pages(part.blocks(options)):
            consumed = page.offset + len(page.data) - end
            batch = Batch(part.source, page.offset, consumed, repaired=page.repaired)
            end += consumed
            found = _read_page(page)
            if found is not None:
                title, text = found
                batch.add_document(unescape(title.decode()).strip())
                for line in paragraphs(unescape(text.decode()), dropped):
                    batch.add_paragraph(line)
                batch.documents = batch.documents if batch.paragraphs else []
            elif options.bad_lines == "skip" or (not page.whole and len(page.data) <= MAX_PAGE):
                batch.skipped += 1  # where it has no end, the text merely ends, as an excerpt does
            else:
                raise InputError(
                    f"{place_at(part.source, page.offset)} has a page without title, text or end, or too large a one; "
                    f"take a dump without history (pages-articles), or --bad-lines skip, which counts them"
                )
            yield batch


def _read_page(page: Page) -> tuple[bytes, bytes] | None:
    """Title and escaped wikitext of a page's last revision, nothing of what is no article; None if it is damaged."""
    data = page.data
    title = _TITLE.search(data)
    text_tag = data.rfind(b"<text")
    start = data.find(b">", text_tag) + 1
    # <text/> was deleted, or is empty.
    end = start if data.startswith(b"/>", start - 2) else data.find(b"</text>", start)
    again = data.find(OPENING, len(OPENING)) >= 0
    if not page.whole or again or title is None or text_tag < title.end() or not 0 < start <= end:
        return None
    if end - start > MAX_ARTICLE:
        return None
    about = data[title.end() : text_tag]
    other_space = b"<ns>0<" not in about if b"<ns>" in about else _OTHER.match(title[1])
    other_model = b"<model>" in about and b"<model>wikitext<" not in about
    if other_space or other_model or b"<redirect" in about or _REDIRECT.match(data, start):
        return b"", b""
    return title[1], data[start:end]


def find_pages(blocks: Iterator[Block]) -> Iterator[Page]:
    held = b""
    base = repaired = 0  # the offset of what is held
    for block in blocks:
        repaired += block.repaired
        base = base if held else block.offset
        buffer = held + block.data
        position = 0
        while (start := buffer.find(OPENING, position)) >= 0:
            end = buffer.find(CLOSING, start)
            if end < 0:
                break
            position = end + len(CLOSING)
            yield Page(base + start, buffer[start:position], True, repaired)
            repaired = 0
        keep = start if start >= 0 else len(buffer)
        held = buffer[keep:]
        base += keep
        if len(held) > MAX_PAGE:
            yield Page(base, held, False, repaired)
            held = b""
    if held:
        yield Page(base, held, False, repaired)


READER = MediaWikiReader()
