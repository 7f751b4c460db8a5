"""Cutting one large file into slices that workers read independently."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable
from typing import NamedTuple

from bagpack.corpus.options import MAX_LINE
from bagpack.corpus.readers.base import DocumentStart, Slice, Source
from bagpack.corpus.readers.files import BLOCK, BOM
from bagpack.corpus.text.encoding import decode

REACH = 4 << 20  # bytes in which a document is looked for


class Cut(NamedTuple):
    """Where a slice begins, and whether a document begins there too."""

    offset: int
    at_document: bool


def cut_points(
    source: Source, target: int, marks: tuple[bytes, ...], fallback: tuple[bytes, ...], reach: int = MAX_LINE
) -> list[Cut]:
    """Places that cut an uncompressed file into slices of about `target` bytes.

    A cut is just after the newline that a mark begins with (`\\n<text ` cuts before `<text `); where no mark
    follows within `reach`, a fallback mark does. Depends on the file and `target` alone, never on workers.
    """
    cuts = [Cut(0, True)]
    if source.size <= target + target // 2:
        return cuts
    with open(source.path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as view:
        nominal = target
        while nominal < source.size - target // 2:
            stop = min(source.size, nominal + reach)
            found = -1
            for group in (marks, fallback):
                for mark in group:
                    hit = view.find(mark, nominal, found + len(mark) if found >= 0 else stop)
                    if hit >= 0 and (found < 0 or hit + 1 < found):
                        found = hit + 1
                if found >= 0:
                    break
            if found < 0:
                nominal = stop
                continue
            if found >= source.size:
                break
            if found > cuts[-1].offset:
                cuts.append(Cut(found, group is marks))
            nominal = max(nominal + target, found + target // 2)
    return cuts


def document_slices(
    source: Source,
    target: int,
    marks: tuple[bytes, ...],
    fallback: tuple[bytes, ...],
    opening: re.Pattern[bytes],
    opened: Callable[[str], DocumentStart],
) -> list[Slice]:
    """Slices that begin where a document does, or at a fallback mark if none does nearby; see `cut_points`.

    One that begins inside a document records which: what `opened` makes of the text from the last line before it on
    that matches `opening` (a newline and a document's first line).
    """
    if source.compression:
        return [Slice(source)]
    cuts = cut_points(source, target, marks, fallback, min(REACH, target))
    ends = [*(cut.offset for cut in cuts[1:]), source.size]
    found = []
    document: DocumentStart | None = None
    for index, (cut, end) in enumerate(zip(cuts, ends, strict=True)):
        if not cut.at_document:
            text = _last_opening(source, cuts[index - 1].offset, cut.offset, opening)
            if text is not None:
                document = opened(decode(text, source.encoding, "replace"))
            document = document or DocumentStart(0, source.name)
        if cut.at_document or document is None:
            found.append(Slice(source, cut.offset, end))
        else:
            found.append(Slice(source, cut.offset, end, document.name, document.attributes))
        if cut.at_document:
            document = None
    return found


def _last_opening(source: Source, start: int, end: int, opening: re.Pattern[bytes]) -> bytes | None:
    """The text from the last line of these bytes on that matches, some lines of it.

    Read backwards, since that line is near the end as a rule.
    """
    overlap = 1 << 12  # no opening tag is longer
    with open(source.path, "rb") as handle:
        stop = end
        while stop > start:
            at = max(start - 1, stop - BLOCK, 0)
            handle.seek(at)
            data = handle.read(min(stop + overlap, end) - at)
            if at == 0:
                data = b"\n" + data.removeprefix(BOM)
            hit = None
            for hit in opening.finditer(data):  # noqa: B007 (the last one is wanted)
                pass
            if hit is not None:
                return data[hit.start() + 1 :][: 2 * overlap]
            stop = at if at >= start else start
    return None
