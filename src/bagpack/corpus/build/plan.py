"""What is to be done: which slices of which files make which part of the store.

The plan depends on the input and the settings alone. Workers take parts as they come; the store is the same for
any number of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import add_metadata
from bagpack.corpus.readers.base import EXPANSION, Slice, Source
from bagpack.corpus.readers.registry import reader_for, recognise
from bagpack.corpus.readers.sniff import UnsuitableError, say_left_out
from bagpack.corpus.readers.sources import Named, expand, inspect, printable
from bagpack.corpus.store.manifest import LeftOut
from bagpack.errors import InputError

MIN_PART = 16 << 20
MAX_PART = 64 << 20
PARTS_WANTED = 8
# Every counting task opens all parts, so rather than to more of them, parts grow, up to LARGE_PART.
MANY_PARTS, LARGE_PART = 1024, 192 << 20
PARQUET_EXPANSION = 2


@dataclass(frozen=True)
class Part:
    """What one worker turns into one shard (or several, if a compressed file is long)."""

    number: int
    slices: tuple[Slice, ...]
    weight: int  # estimated uncompressed bytes

    @property
    def format(self) -> str:
        """All slices of a part are of one format."""
        return self.slices[0].source.format


@dataclass(frozen=True)
class Plan:
    """All parts, in corpus order."""

    sources: tuple[Source, ...]
    parts: tuple[Part, ...]
    part_bytes: int
    options: TextOptions
    left_out: tuple[LeftOut, ...] = ()  # files of directories that hold no text

    @property
    def weight(self) -> int:
        """Estimated uncompressed bytes."""
        return sum(part.weight for part in self.parts)


def slice_weight(part: Slice, shared_by: int = 1) -> int:
    """Estimated uncompressed bytes of a slice.

    Only slices of plain text know their length. For other files it is an equal share of the whole, `shared_by`
    being the number of slices; where that is not given, a slice weighs as much as its file.
    """
    source = part.source
    if source.compression:
        return EXPANSION * source.size // shared_by
    if source.format == "parquet":
        return PARQUET_EXPANSION * source.size // shared_by
    return (part.end if part.end >= 0 else source.size) - part.start


def _kind(source: Source) -> tuple[str, str, str]:
    """What all sources of one part share."""
    return source.format, source.encoding, source.lang


def part_size(total: int) -> int:
    """Bytes per part, for a total number of bytes."""
    return max(min(max(total // PARTS_WANTED, MIN_PART), MAX_PART), min(total // MANY_PARTS, LARGE_PART))


def find_sources(
    names: Iterable[str], options: TextOptions, labels: dict[str, str] | None = None
) -> tuple[list[Source], list[LeftOut]]:
    """The files behind the names with their formats, and those that hold no text.

    A file that the user named is wanted, so that it is an error if it holds none; a directory may also hold other
    files.
    """
    labels = labels or {}
    found = [_look_at(file, options, labels.get(file.path, "")) for file in expand(names)]
    sources = [file for file in found if isinstance(file, Source)]
    left_out = [file for file in found if isinstance(file, LeftOut)]
    if not sources:
        raise InputError(
            f"no text was found, {say_left_out(left_out)}; convert what should be counted to plain text"
        )
    return add_metadata(sources, options.metadata) if options.metadata else sources, left_out


def is_left_out(file: Named, options: TextOptions) -> bool:
    """Whether a file is one of a directory's that hold no text."""
    return not file.named and isinstance(_look_at(file, options), LeftOut)


def _look_at(file: Named, options: TextOptions, label: str = "") -> Source | LeftOut:
    if file.ignored:
        return LeftOut(printable(file.path), file.ignored)
    try:
        return recognise(inspect(file.path, label), options)
    except UnsuitableError as error:
        if file.named:
            raise
        return LeftOut(printable(file.path), error.reason)


def make_plan(
    names: Iterable[str],
    options: TextOptions,
    part_bytes: int | None = None,
    labels: dict[str, str] | None = None,
) -> Plan:
    """Look at every source, settle its format, and cut it into parts; `labels` rename sources for the user."""
    sources, left_out = find_sources(names, options, labels)
    total = sum(source.size * (EXPANSION if source.compression else 1) for source in sources)
    target = part_bytes or part_size(total)
    groups: list[list[Slice]] = []
    size = 0
    for source in sources:
        for part in reader_for(source.format).slices(source, target, options):
            weight = slice_weight(part)
            alike = bool(groups) and _kind(groups[-1][-1].source) == _kind(source)
            if not alike or size + weight > target:
                groups.append([])
                size = 0
            groups[-1].append(part)
            size += weight
    slices = Counter(part.source for group in groups for part in group)
    parts = tuple(
        Part(number, tuple(group), sum(slice_weight(part, slices[part.source]) for part in group))
        for number, group in enumerate(groups)
    )
    return Plan(tuple(sources), parts, target, options, tuple(left_out))
