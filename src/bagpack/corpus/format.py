"""The files of a store, declared once: type, length, allowed values. Writer, opener and verifier all use this module.

Kernels do not check bounds, so a file must hold only what is declared here before one of them sees it. Reading every
value takes a moment, so it is done once for a file and remembered by its identity and times, not once for a process.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bagpack.artefacts import LOCK, MANIFEST, Kind, is_kind, member
from bagpack.artefacts import read_manifest as read_any_manifest
from bagpack.corpus.text.tags import UNIVERSAL
from bagpack.errors import StoreError
from bagpack.files import (
    RESTORE,
    TooManyFilesError,
    cache_directory,
    digest,
    map_array,
    read_json,
    write_array,
)

FORMAT_VERSION = 2
MOST_MARKS = 20_000
CHUNK = 1 << 20  # values looked at together
WRITERS = 4  # files written at once

# A token is the number of its type and two flags.
SENTENCE_START = np.uint32(1 << 31)  # the token opens a sentence
GLUED = np.uint32(1 << 30)  # no white space before the token in the text
TYPE_MASK = np.uint32((1 << 30) - 1)

Values = NDArray[Any]
Numbers = Mapping[str, int]  # tokens, types, keys, ... of a segment or lexicon
Rule = Callable[[Values, Numbers], str]  # what is wrong with the values, or an empty string


def below(number: str, mask: np.uint32 | None = None) -> Rule:
    """All values, under the mask, are less than a number of the segment."""

    def rule(values: Values, numbers: Numbers) -> str:
        name, _, more = number.partition("+")
        bound = numbers[name] + int(more or 0)
        for chunk in _chunks(values):
            largest = int((chunk & mask if mask is not None else chunk).max())
            smallest = int(chunk.min())
            if largest >= bound or smallest < 0:
                return (
                    f"holds {largest if largest >= bound else smallest:,}, but there are {bound:,} {number}"
                )
        return ""

    rule.__doc__ = f"less than {number}"
    return rule


def ascending(last: str, *, exact: bool) -> Rule:
    """Values never fall, begin at 0 or later, and end at a number of the segment (or, if not `exact`, not beyond)."""

    def rule(values: Values, numbers: Numbers) -> str:
        bound = numbers[last]
        if exact and (not values.size or values[0] != 0 or values[-1] != bound):
            ends = f"{values[0]:,} to {values[-1]:,}" if values.size else "nothing"
            return f"runs from {ends}, but it must run from 0 to {bound:,} ({last})"
        if values.size and (values[0] < 0 or values[-1] > bound):
            return f"holds {values[-1]:,}, but there are {bound:,} {last}"
        before = values[0] if values.size else 0
        for chunk in _chunks(values):
            if chunk[0] < before or (chunk[1:] < chunk[:-1]).any():
                return "does not ascend"
            before = chunk[-1]
        return ""

    rule.__doc__ = f"ascending, 0 to {last}" if exact else f"ascending, at most {last}"
    return rule


def counts(total: str) -> Rule:
    """Positive numbers that add up to a number of the segment, or to less."""

    def rule(values: Values, numbers: Numbers) -> str:
        summed = 0
        for chunk in _chunks(values):
            if chunk.min() < 1:
                return f"holds the count {chunk.min()}"
            summed += int(chunk.sum(dtype=np.int64)) if chunk.max() < 1 << 40 else int(chunk.max())
        if summed > numbers[total]:
            return f"adds up to {summed:,}, but there are {numbers[total]:,} {total}"
        return ""

    rule.__doc__ = f"at least 1, at most {total} together"
    return rule


def utf8(values: Values, numbers: Numbers) -> str:
    """UTF-8."""
    try:
        values.tobytes().decode()
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (at byte {error.start:,})"
    return ""


def _chunks(values: Values) -> Iterator[Values]:
    return (values[at : at + CHUNK] for at in range(0, values.size, CHUNK))


@dataclass(frozen=True)
class Array:
    """One file of raw little-endian numbers."""

    dtype: str
    length: str  # the number that is its length, with `+1` behind it for offsets, or a product of numbers
    rule: Rule
    about: str
    optional: bool = False  # the JSON file of the directory lists it among its checksums if it is there

    def size(self, numbers: Numbers) -> int:
        """Entries that the file must have."""
        name, _, more = self.length.partition("+")
        return math.prod(numbers[factor] for factor in name.split("*")) + int(more or 0)


SHARD = {
    "tokens": Array(
        "<u4",
        "tokens",
        below("types", TYPE_MASK),
        "bits 0–29: type; bit 30: no white space before the token in the text; bit 31: the token opens a sentence",
    ),
    "tags": Array(
        "|u1",
        "tokens",
        below("universal tags"),
        "the universal part of speech of each token, as its place in the list below",
        optional=True,
    ),
    "postings": Array(
        "<u4", "tokens", below("tokens"), "positions in `tokens`, grouped by key, ascending within a key"
    ),
    "keys.blob": Array(
        "|u1", "key bytes", utf8, "the keys, concatenated, in byte order (which is code-point order)"
    ),
    "keys.offsets": Array(
        "<i8", "keys+1", ascending("key bytes", exact=True), "key k is `blob[offsets[k]:offsets[k+1]]`"
    ),
    "keys.postings": Array(
        "<i8",
        "keys+1",
        ascending("tokens", exact=True),
        "the positions of key k are `postings[p[k]:p[k+1]]`; `p[k+1] - p[k]` is its count",
    ),
    "types.blob": Array("|u1", "type bytes", utf8, "the forms of the types, as written, by falling count"),
    "types.offsets": Array(
        "<i8", "types+1", ascending("type bytes", exact=True), "type y is `blob[offsets[y]:offsets[y+1]]`"
    ),
    "types.key": Array("<u4", "types", below("keys"), "the key of each type"),
    "types.count": Array("<u4", "types", counts("tokens"), "tokens of each type"),
    "forms.blob": Array(
        "|u1", "form bytes", utf8, "FORM TAB KEY, sorted: folded forms that differ from their key"
    ),
    "forms.offsets": Array("<i8", "forms+1", ascending("form bytes", exact=True), "as above"),
    "forms.count": Array("<u4", "forms", counts("tokens"), "tokens of each form with this key"),
    "documents.start": Array(
        "<u4", "names", ascending("tokens", exact=False), "position of the first token of each document"
    ),
    "documents.blob": Array("|u1", "name bytes", utf8, "document ids"),
    "documents.offsets": Array("<i8", "names+1", ascending("name bytes", exact=True), "as above"),
    "attributes.blob": Array(
        "|u1", "value bytes", utf8, "distinct values of attributes, sorted", optional=True
    ),
    "attributes.offsets": Array(
        "<i8", "values+1", ascending("value bytes", exact=True), "as above", optional=True
    ),
    "attributes.bounds": Array(
        "<i8",
        "attributes+1",
        ascending("cells", exact=True),
        "attribute k is that of the documents `document[bounds[k]:bounds[k+1]]`, ascending",
        optional=True,
    ),
    "attributes.document": Array(
        "<u4",
        "cells",
        below("names"),
        "documents that have an attribute, attribute after attribute",
        optional=True,
    ),
    "attributes.value": Array(
        "<u4", "cells", below("values"), "the number of the value of each", optional=True
    ),
}

LEXICON = {
    "keys.blob": Array("|u1", "key bytes", utf8, "all keys of the corpus, sorted"),
    "keys.offsets": Array("<i8", "keys+1", ascending("key bytes", exact=True), "as above"),
    "keys.count": Array("<i8", "keys", counts("tokens"), "tokens of each key"),
    "forms.blob": Array("|u1", "form bytes", utf8, "folded forms that are not keys, sorted"),
    "forms.offsets": Array("<i8", "forms+1", ascending("form bytes", exact=True), "as above"),
    "forms.key": Array(
        "<i8",
        "forms",
        below("keys"),
        "the most frequent key of each; of equals, the first in code-point order",
    ),
}


def write_arrays(
    directory: Path, arrays: Mapping[str, Values], declared: Mapping[str, Array]
) -> dict[str, str]:
    """Write all declared arrays; returns their checksums."""
    present = required(declared, arrays)

    def write(name: str) -> str:
        return write_array(directory / name, arrays[name], declared[name].dtype)

    # Most of the time is spent waiting for the disk, which flushes several files in the time of one.
    with ThreadPoolExecutor(WRITERS) as pool:
        return dict(zip(present, pool.map(write, present), strict=True))


def required(declared: Mapping[str, Array], listed: Container[str]) -> dict[str, Array]:
    """The declared files that must be there: all but the optional ones that are not listed."""
    return {name: array for name, array in declared.items() if name in listed or not array.optional}


def damages(directory: Path, declared: Mapping[str, Array], stated: Numbers) -> Iterator[str]:
    """One message per file that is missing or does not hold what is declared; lengths first, then values."""
    sizes: dict[str, int] = {}
    for name, array in declared.items():  # mapped one at a time: each takes a file descriptor
        try:
            sizes[name] = map_array(directory / name, array.dtype).size
        except TooManyFilesError:
            raise
        except StoreError as error:
            yield str(error)
    numbers = dict(stated)
    # A number that no JSON file states is the length of the first file that has it.
    for name, size in sizes.items():
        number, _, more = declared[name].length.partition("+")
        if "*" not in number:
            numbers.setdefault(number, size - int(more or 0))
    for name, size in sizes.items():
        array = declared[name]
        if size != array.size(numbers):
            yield (
                f"{directory / name} has {size:,} entries, but it must have {array.size(numbers):,} "
                f"({array.length})"
            )
            continue
        with suppress(KeyError):  # a number whose file is missing, which is reported already
            if problem := array.rule(map_array(directory / name, array.dtype), numbers):
                yield f"{directory / name} {problem}"


STORE_CURE = "the store is damaged: restore the file, or index again"


def check(directory: Path, declared: Mapping[str, Array], stated: Numbers, cure: str = STORE_CURE) -> None:
    """Raise unless the files hold what is declared; files that passed before and did not change are not read again."""
    mark = _mark(directory, declared, stated)
    if mark is not None and mark.exists():
        return
    for problem in damages(directory, declared, stated):
        hint = "" if "damaged" in problem else f"; {cure}"
        raise StoreError(problem + hint)
    if mark is not None:
        with suppress(OSError):  # without a writable cache it is looked at again next time
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
            _forget_old(mark.parent)


@lru_cache(maxsize=1)
def _forget_old(marks: Path) -> None:
    """Once in a process: of very many marks, most are of removed stores; all are made again when needed."""
    names = os.listdir(marks)
    for name in names if len(names) > MOST_MARKS else ():
        with suppress(OSError):
            (marks / name).unlink()


def _mark(directory: Path, declared: Mapping[str, Array], stated: Numbers) -> Path | None:
    """The empty file whose presence says that these files passed: named by their identity, size and times."""
    identity = [FORMAT_VERSION, sorted(stated.items())]
    try:
        for name in declared:
            status = os.lstat(directory / name)
            identity.append(
                [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
            )
    except OSError:
        return None
    place = cache_directory()
    return place / "checked" / digest(str(identity).encode()) if place else None


CORPUS = Kind("corpus", "store", FORMAT_VERSION, "bagpack index")
FACTS = "segment.json"
SEGMENTS, WORK = "segments", "work"  # directories of a store: its segments, and what unfinished work needs
NUMBERS = ("tokens", "sentences", "documents", "types", "keys")

# Entry: type; a list gives the type of its items, a dict the entries of an object.
SEGMENT_ENTRY = {"name": str, **dict.fromkeys(NUMBERS, int), "digest": str}
ENTRIES: dict[str, Any] = {
    **dict.fromkeys(("tokens", "sentences", "documents", "types"), int),
    "content_hash": str,
    "options": dict,
    "sources": [{"path": str, "bytes": int, "modified": int, "format": str}],
    "problems": dict,
    "lexicon": {"directory": str, "checksums": dict},
    "segments": [SEGMENT_ENTRY],
}
FACT_ENTRIES: dict[str, Any] = {**dict.fromkeys(NUMBERS, int), "checksums": dict}
TAG_COUNTS = dict.fromkeys(UNIVERSAL, int)
SEGMENT_NAME = re.compile(r"[0-9a-f]{32}-\d{3,}")
REPORT_NAME = re.compile(r"[0-9a-f]{32}\.json(\.[0-9a-f]{32}(\.new)?)?")  # of a part
LEXICON_NAME = re.compile(r"lexicon-[0-9a-f]{16}")


class LeftOut(NamedTuple):
    """A file of a directory that was not indexed."""

    path: str
    reason: str


def is_store(path: Path) -> bool:
    """Whether the directory at a path is a corpus store, whole or damaged: it may be replaced by another one."""
    return is_kind(path, CORPUS)


def is_unfinished(path: Path) -> bool:
    """Whether a build of a store was begun in a directory and not finished."""
    if (path / MANIFEST).exists() or not (path / LOCK).is_file():
        return False
    return any((path / name).is_dir() for name in (SEGMENTS, WORK)) and not any(
        other.name not in (LOCK, SEGMENTS, WORK, f"{MANIFEST}.new") and not LEXICON_NAME.fullmatch(other.name)
        for other in path.iterdir()
    )


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a store, checked for kind, version, seal and the types of its entries."""
    if is_unfinished(path):
        raise StoreError(f"an unfinished build is at {path}; bagpack index --resume continues it")
    manifest = read_any_manifest(path, CORPUS)
    check_entries(manifest, ENTRIES, path / MANIFEST)
    for entry in manifest["segments"]:
        check_counts(entry.get("tags", {}), TAG_COUNTS, path / MANIFEST)
        if not SEGMENT_NAME.fullmatch(entry["name"]):
            raise StoreError(
                f"{path / MANIFEST} names the segment {entry['name']!r}, which is not a name of a segment"
            )
    directory = manifest["lexicon"]["directory"]
    if not LEXICON_NAME.fullmatch(directory):
        raise StoreError(
            f"{path / MANIFEST} names the lexicon {directory!r}, which is not a name of a lexicon"
        )
    member(path, SEGMENTS)
    member(path, directory)
    return manifest


def read_facts(directory: Path) -> dict[str, Any]:
    """A segment's segment.json."""
    if directory.is_symlink():
        raise StoreError(
            f"{directory} is a symbolic link; stores hold no links: put the segment itself there"
        )
    facts = read_json(directory / FACTS)
    check_entries(facts, FACT_ENTRIES, directory / FACTS)
    check_counts(facts.get("tags", {}), TAG_COUNTS, directory / FACTS)
    check_entries(facts.get("attributes", []), [str], directory / FACTS, "attributes")
    return dict(facts)


def check_counts(counts: Any, wanted: dict[str, Any], path: Path) -> None:
    """Raise unless counts are of known names only."""
    check_entries(counts, {name: kind for name, kind in wanted.items() if name in counts}, path, "tags")
    if unknown := sorted(set(counts) - set(wanted)):
        raise StoreError(f"{path} counts the tag {unknown[0]!r}, which this BagPack does not know; {RESTORE}")


def check_entries(value: Any, wanted: Any, path: Path, name: str = "") -> None:
    """Raise unless a JSON value has the entries and types that are wanted; numbers are not negative."""
    if wanted is int:
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    else:
        right = isinstance(value, wanted if isinstance(wanted, type) else type(wanted))
    if not right:
        shown = repr(value) if len(repr(value)) < 60 else type(value).__name__
        raise StoreError(f"{path} has {shown} as {name or 'its content'}; it is damaged: {RESTORE}")
    if isinstance(wanted, list):
        for number, item in enumerate(value):
            check_entries(item, wanted[0], path, f"{name}[{number}]")
    elif isinstance(wanted, dict):
        for entry, inner in wanted.items():
            if entry not in value:
                raise StoreError(f"{path} lacks the entry {f'{name}.{entry}' if name else entry}; {RESTORE}")
            check_entries(value[entry], inner, path, f"{name}.{entry}" if name else entry)
