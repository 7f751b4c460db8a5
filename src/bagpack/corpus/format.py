"""The files of a store, declared once: type, length, allowed values. Writer, opener and verifier all use this module.

Kernels do not check bounds, so a file must hold only what is declared here before one of them sees it. Reading every
value takes a moment, so it is done once for a file and remembered by its identity and times, not once for a process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bagpack.arrays import Values
from bagpack.artefacts import LEXICON_NAME, MANIFEST, SEGMENTS, Kind, member
from bagpack.artefacts import read_manifest as read_any_manifest
from bagpack.corpus.text.encoding import is_utf8
from bagpack.corpus.text.tags import UNIVERSAL
from bagpack.errors import StoreError
from bagpack.files import (
    TooManyFilesError,
    cache_directory,
    damaged,
    digest,
    map_array,
    read_json,
    write_array,
)

FORMAT_VERSION = 2
MOST_MARKS = 20_000
WRITERS = 4  # files written at once

# A token is the number of its type and two flags.
SENTENCE_START = np.uint32(1 << 31)  # the token opens a sentence
GLUED = np.uint32(1 << 30)  # no white space before the token in the text
TYPE_MASK = np.uint32((1 << 30) - 1)

Numbers = Mapping[str, int]  # tokens, types, keys, ... of a segment or lexicon
Rule = Callable[[Values, Numbers], str]  # what is wrong with the values, or an empty string


def below(number: str, mask: np.uint32 | None = None) -> Rule:
    """All values, under the mask, are less than a number of the segment."""

    def rule(values: Values, numbers: Numbers) -> str:
        bound = numbers[number]
        plain = values if mask is None else values & mask
        for extreme in (int(plain.max()), int(plain.min())) if plain.size else ():
            if not 0 <= extreme < bound:
                return f"holds {extreme:,}, but there are {bound:,} {number}"
        return ""

    rule.__doc__ = f"less than {number}"
    return rule


def ascending(last: str, *, exact: bool) -> Rule:
    """Values never fall, begin at 0 or later, and end at a number of the segment (or, if not `exact`, not beyond)."""

    def rule(values: Values, numbers: Numbers) -> str:
        bound = numbers[last]
        ends = (int(values[0]), int(values[-1])) if values.size else (0, 0)
        if (exact and (not values.size or ends != (0, bound))) or ends[0] < 0 or ends[1] > bound:
            return f"runs from {ends[0]:,} to {ends[1]:,}, but there are {bound:,} {last}"
        return "does not ascend" if (values[1:] < values[:-1]).any() else ""

    rule.__doc__ = f"ascending, 0 to {last}" if exact else f"ascending, at most {last}"
    return rule


def counts(total: str) -> Rule:
    """Positive numbers that add up to a number of the segment, or to less."""

    def rule(values: Values, numbers: Numbers) -> str:
        if values.min(initial=1) < 1:
            return f"holds the count {values.min()}"
        summed = int(values.sum(dtype=np.float64))  # exact up to 2**53, and no overflow beyond
        if summed > numbers[total]:
            return f"adds up to {summed:,}, but there are {numbers[total]:,} {total}"
        return ""

    rule.__doc__ = f"at least 1, at most {total} together"
    return rule


def utf8(values: Values, numbers: Numbers) -> str:
    """UTF-8."""
    return "" if is_utf8(values.data) else "is not UTF-8"


@dataclass(frozen=True)
class Array:
    """One file of raw little-endian numbers."""

    dtype: str
    length: str  # the number that is its length, with `+1` behind it for offsets
    rule: Rule
    optional: bool = False  # the JSON file of the directory lists it among its checksums if it is there

    def size(self, numbers: Numbers) -> int:
        name, _, more = self.length.partition("+")
        return numbers[name] + int(more or 0)


def strings(name: str, number: str, letters: str, *, optional: bool = False) -> dict[str, Array]:
    """The two files of a list of strings."""
    return {
        f"{name}.blob": Array("|u1", letters, utf8, optional=optional),
        f"{name}.offsets": Array("<i8", f"{number}+1", ascending(letters, exact=True), optional=optional),
    }


# What each file means is in docs/formats.md.
SEGMENT = {
    "tokens": Array("<u4", "tokens", below("types", TYPE_MASK)),
    "tags": Array("|u1", "tokens", below("universal tags"), optional=True),
    "postings": Array("<u4", "tokens", below("tokens")),
    **strings("keys", "keys", "key bytes"),
    "keys.postings": Array("<i8", "keys+1", ascending("tokens", exact=True)),
    **strings("types", "types", "type bytes"),
    "types.key": Array("<u4", "types", below("keys")),
    "types.count": Array("<u4", "types", counts("tokens")),
    **strings("forms", "forms", "form bytes"),
    "forms.count": Array("<u4", "forms", counts("tokens")),
    "documents.start": Array("<u4", "names", ascending("tokens", exact=False)),
    **strings("documents", "names", "name bytes"),
    **strings("attributes", "values", "value bytes", optional=True),
    "attributes.bounds": Array("<i8", "attributes+1", ascending("cells", exact=True), optional=True),
    "attributes.document": Array("<u4", "cells", below("names"), optional=True),
    "attributes.value": Array("<u4", "cells", below("values"), optional=True),
}
LEXICON = {
    **strings("keys", "keys", "key bytes"),
    "keys.count": Array("<i8", "keys", counts("tokens")),
    **strings("forms", "forms", "form bytes"),
    "forms.key": Array("<i8", "forms", below("keys")),
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
    numbers = dict(stated)
    for name, array in declared.items():  # mapped one at a time: each takes a file descriptor
        try:
            sizes[name] = map_array(directory / name, array.dtype).size
        except TooManyFilesError:
            raise
        except StoreError as error:
            yield str(error)
            continue
        # Lengths missing from the JSON file are taken from the first array that defines them.
        number, _, more = array.length.partition("+")
        numbers.setdefault(number, sizes[name] - int(more or 0))
    for name, size in sizes.items():
        array = declared[name]
        if size != array.size(numbers):
            yield f"{directory / name} has {size:,} entries, but it must have {array.size(numbers):,} ({array.length})"
            continue
        with suppress(KeyError):  # a number whose file is missing, which is reported already
            if problem := array.rule(map_array(directory / name, array.dtype), numbers):
                yield f"{directory / name} {problem}"


def check(
    directory: Path, declared: Mapping[str, Any], stated: Numbers,
    cure: str = "the store is damaged: restore the file, or index again",
    find: Callable[..., Iterable[str]] | None = None,
) -> None:  # fmt: skip
    """Raise unless the files hold what is declared, and `find` finds nothing; those that passed are not read again."""
    mark = _mark(directory, declared, stated)
    if mark is not None and mark.exists():
        return
    for problem in (find or damages)(directory, declared, stated):
        raise StoreError(problem if "damaged: " in problem else f"{problem}; {cure}")
    if mark is None:
        return
    with suppress(OSError):  # without a writable cache it is looked at again next time
        mark.parent.mkdir(parents=True, exist_ok=True)
        names = os.listdir(mark.parent)
        for name in names if len(names) > MOST_MARKS else ():  # of removed stores, most of them
            (mark.parent / name).unlink(missing_ok=True)
        mark.touch()


def _mark(directory: Path, declared: Iterable[str], stated: Numbers) -> Path | None:
    """The empty file whose presence says that these files passed: named by their identity, size and times."""
    place = cache_directory()
    identity = [FORMAT_VERSION, sorted(stated.items())]
    try:
        for name in declared:
            own = os.lstat(directory / name)
            identity.append([own.st_dev, own.st_ino, own.st_size, own.st_mtime_ns, own.st_ctime_ns])
    except OSError:
        return None
    return place / "checked" / digest(str(identity).encode()) if place else None


CORPUS = Kind("corpus", "store", FORMAT_VERSION, "bagpack index")
FACTS = "segment.json"
NUMBERS = ("tokens", "sentences", "documents", "types", "keys")

# Entry: type; a list gives the type of its items, a dict the entries of an object.
ENTRIES: dict[str, Any] = {
    **dict.fromkeys(("tokens", "sentences", "documents", "types"), int),
    "content_hash": str,
    "options": dict,
    "sources": [{"path": str, "bytes": int, "modified": int, "format": str}],
    "problems": dict,
    "lexicon": {"directory": str, "checksums": dict},
    "segments": [{"name": str, **dict.fromkeys(NUMBERS, int), "digest": str}],
}
FACT_ENTRIES = {**dict.fromkeys(NUMBERS, int), "checksums": dict}
SEGMENT_NAME = re.compile(r"[0-9a-f]{32}-\d{3,}")
REPORT_NAME = re.compile(r"[0-9a-f]{32}\.json(\.[0-9a-f]{32}(\.new)?)?")  # of a part


class LeftOut(NamedTuple):
    """A file of a directory that was not indexed."""

    path: str
    reason: str


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a store, checked for kind, version, seal and the types of its entries."""
    manifest = read_any_manifest(path, CORPUS)
    check_entries(manifest, ENTRIES, path / MANIFEST)
    lexicon = manifest["lexicon"]["directory"]
    for entry in manifest["segments"]:
        _check_tags(entry, path / MANIFEST)
    wrong = [entry["name"] for entry in manifest["segments"] if not SEGMENT_NAME.fullmatch(entry["name"])]
    if wrong or not LEXICON_NAME.fullmatch(lexicon):
        name = (wrong or [lexicon])[0]
        raise damaged(path / MANIFEST, f"names {name!r}, which is no name of a segment or lexicon")
    member(path, SEGMENTS)
    member(path, lexicon)
    return manifest


def read_facts(directory: Path) -> dict[str, Any]:
    if directory.is_symlink():
        raise damaged(directory, "is a symbolic link, which no store holds")
    facts = read_json(directory / FACTS)
    check_entries(facts, FACT_ENTRIES, directory / FACTS)
    _check_tags(facts, directory / FACTS)
    check_entries(facts.get("attributes", []), [str], directory / FACTS, "attributes")
    return dict(facts)


def _check_tags(facts: dict[str, Any], path: Path) -> None:
    """Raise unless the counts of tags are of known names only."""
    counted = facts.get("tags", {})
    check_entries(counted, {}, path, "tags")
    check_entries(counted, dict.fromkeys(counted, int), path, "tags")
    if unknown := sorted(set(counted) - set(UNIVERSAL)):
        raise damaged(path, f"counts the tag {unknown[0]!r}, which this BagPack does not know")


def check_entries(value: Any, wanted: Any, path: Path, name: str = "") -> None:
    """Raise unless a JSON value has the entries and types that are wanted; numbers are not negative."""
    if wanted is int:
        right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    else:
        right = isinstance(value, wanted if isinstance(wanted, type) else type(wanted))
    if not right:
        shown = repr(value) if len(repr(value)) < 60 else type(value).__name__
        raise damaged(path, f"has {shown} as {name or 'its content'}")
    if isinstance(wanted, list):
        for number, item in enumerate(value):
            check_entries(item, wanted[0], path, f"{name}[{number}]")
    elif isinstance(wanted, dict):
        for entry, inner in wanted.items():
            if entry not in value:
                raise damaged(path, f"lacks the entry {f'{name}.{entry}' if name else entry}")
            check_entries(value[entry], inner, path, f"{name}.{entry}" if name else entry)
