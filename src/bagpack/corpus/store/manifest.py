"""The two JSON documents of a store: manifest.json and each segment's segment.json, with the types of their entries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from bagpack.artefacts import LOCK, MANIFEST, Kind, is_kind, member
from bagpack.artefacts import read_manifest as read_any_manifest
from bagpack.corpus.store.format import FORMAT_VERSION
from bagpack.corpus.text.tagsets import UNIVERSAL
from bagpack.errors import StoreError
from bagpack.files import RESTORE, read_json

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
