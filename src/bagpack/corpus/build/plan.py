"""What is to be done: which slices of which files make which part of the store.

The plan depends on the input and the settings alone. Workers take parts as they come; the store is the same for
any number of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bagpack._version import __version__
from bagpack.corpus.format import LeftOut
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.attributes import add_metadata
from bagpack.corpus.readers.base import EXPANSION, Slice, Source
from bagpack.corpus.readers.files import Named, expand, printable
from bagpack.corpus.readers.look import look, reader_for, say_left_out
from bagpack.errors import InputError
from bagpack.files import digest
from bagpack.parallel import delayed, on_one_machine, run

MIN_PART = 16 << 20
MAX_PART = 64 << 20
PARTS_WANTED = 8
# Every counting task opens all parts, so rather than to more of them, parts grow, up to LARGE_PART.
MANY_PARTS, LARGE_PART = 1024, 192 << 20
PARQUET_EXPANSION = 2
MANY_FILES, LOOKS = 2000, 500  # more files are looked at in workers, in chunks
# Options that change a part only if it has such a place: whether it has one is in its report.
TOLERANT = ("bad_lines", "encoding_errors", "max_sentence")


@dataclass(frozen=True)
class Part:
    """What one worker turns into one segment (or several, if a compressed file is long)."""

    slices: tuple[Slice, ...]  # of one format
    weight: int  # estimated uncompressed bytes
    key: str  # names its segments: a digest of all that their content depends on


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
        return sum(part.weight for part in self.parts)


def part_size(total: int) -> int:
    return max(min(max(total // PARTS_WANTED, MIN_PART), MAX_PART), min(total // MANY_PARTS, LARGE_PART))


def find_sources(
    names: Iterable[str], options: TextOptions, labels: dict[str, str] | None = None, jobs: int | None = 1
) -> tuple[list[Source], list[LeftOut]]:
    """The files behind the names with their formats, and those of directories that hold no text.

    `labels` rename some files for the user. A file that the user named is wanted: it is an error if it holds no text.
    """
    wanted = [(file, (labels or {}).get(file.path, "")) for file in expand(names)]
    if on_one_machine() and len(wanted) > MANY_FILES:  # looking at them takes seconds
        chunks = [wanted[at : at + LOOKS] for at in range(0, len(wanted), LOOKS)]
        found = [one for some in run((delayed(_look_at)(c, options) for c in chunks), jobs) for one in some]
    else:
        found = _look_at(wanted, options)
    sources = [file for file in found if isinstance(file, Source)]
    left_out = [file for file in found if isinstance(file, LeftOut)]
    if not sources:
        raise InputError(f"no text was found, {say_left_out(left_out)}; convert it to plain text")
    return add_metadata(sources, options.metadata) if options.metadata else sources, left_out


def _look_at(files: list[tuple[Named, str]], options: TextOptions) -> list[Source | LeftOut]:
    found: list[Source | LeftOut] = []
    for file, label in files:
        ignored = LeftOut(printable(file.path), file.ignored)
        found.append(ignored if file.ignored else look(file.path, options, label))
        if file.named and isinstance(found[-1], LeftOut):
            path, reason = found[-1]
            raise InputError(f"{path} is {reason}; convert it, or read it as it is with --format text")
    return found


def make_plan(
    names: Iterable[str], options: TextOptions, part_bytes: int | None = None,
    labels: dict[str, str] | None = None, jobs: int | None = 1, salt: str = "",
) -> Plan:  # fmt: skip
    """Look at every source, settle its format, and cut it into parts; a `salt` changes the names of their segments."""
    sources, left_out = find_sources(names, options, labels, jobs)
    target = part_bytes or part_size(sum(s.size * (EXPANSION if s.compression else 1) for s in sources))
    groups: list[list[Slice]] = []
    size = 0
    for source in sources:
        for piece in reader_for(source.format).slices(source, target, options):
            weight = _weight(piece)
            alike = bool(groups) and groups[-1][-1].source.format == source.format
            if not alike or size + weight > target:
                groups.append([])
                size = 0
            groups[-1].append(piece)
            size += weight
    slices = Counter(piece.source for group in groups for piece in group)
    weights = [sum(_weight(piece, slices[piece.source]) for piece in group) for group in groups]
    keys = [_key(group, options, salt) for group in groups]
    parts = map(Part, map(tuple, groups), weights, keys)
    return Plan(tuple(sources), tuple(parts), target, options, tuple(left_out))


def _weight(piece: Slice, shared_by: int = 1) -> int:
    """Estimated uncompressed bytes of a slice.

    Only slices of plain text know their length. For other files it is an equal share of the whole, `shared_by`
    being the number of slices; where that is not given, a slice weighs as much as its file.
    """
    source = piece.source
    if source.compression:
        return EXPANSION * source.size // shared_by
    if source.format == "parquet":
        return PARQUET_EXPANSION * source.size // shared_by
    return (piece.end if piece.end >= 0 else source.size) - piece.start


def _key(slices: Iterable[Slice], options: TextOptions, salt: str) -> str:
    shaping = {name: value for name, value in options.to_dict().items() if name not in TOLERANT}
    named = [{**vars(own), "source": {**vars(own.source), "path": own.source.name}} for own in slices]
    return digest(json.dumps([__version__, salt, named, shaping], sort_keys=True).encode())
