"""The two JSON documents of a store: manifest.json and each shard's shard.json, with the types of their entries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from bagpack.artefacts import member, read_document, read_sealed, recover_replaced
from bagpack.corpus.store.format import FORMAT_VERSION
from bagpack.corpus.text.tagsets import UNIVERSAL
from bagpack.errors import StoreError
from bagpack.files import RESTORE, read_json, unfinished_or

KIND = "corpus"
MANIFEST = "manifest.json"
FACTS = "shard.json"
NUMBERS = ("tokens", "sentences", "documents", "types", "keys")

# Entry: type; a list gives the type of its items, a dict the entries of an object.
SHARD_ENTRY = {"name": str, **dict.fromkeys(NUMBERS, int), "digest": str}
ENTRIES: dict[str, Any] = {
    **dict.fromkeys(("tokens", "sentences", "documents", "types"), int),
    "content_hash": str,
    "options": dict,
    "sources": [{"path": str, "bytes": int, "format": str}],
    "problems": dict,
    "lexicon": {"directory": str, "checksums": dict},
    "shards": [SHARD_ENTRY],
}
FACT_ENTRIES: dict[str, Any] = {**dict.fromkeys(NUMBERS, int), "checksums": dict}
TAG_COUNTS = dict.fromkeys(UNIVERSAL, int)
SHARD_NAME = re.compile(r"\d{6,}-\d{3,}")
LEXICON_NAME = re.compile(r"lexicon-\d+")


class LeftOut(NamedTuple):
    """A file of a directory that was not indexed."""

    path: str
    reason: str


def is_store(path: Path) -> bool:
    """Whether the directory at a path is a corpus store, whole or damaged: it may be replaced by another one."""
    manifest = read_document(path / MANIFEST)
    return manifest.get("kind") == KIND and "format_version" in manifest


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a store, checked for kind, version, seal and the types of its entries."""
    recover_replaced(path)
    if not path.exists():
        raise StoreError(f"there is no store at {path}; {unfinished_or(path, 'make one with bagpack index')}")
    if not (path / MANIFEST).exists():
        raise StoreError(f"{path} is not a BagPack store (it has no {MANIFEST}); make one with bagpack index")
    document = read_json(path / MANIFEST)
    kind = document.get("kind", "artefact") if isinstance(document, dict) else "artefact"
    if kind != KIND:
        raise StoreError(f"{path} is a BagPack {kind}, not a corpus; name a corpus")
    version = document.get("format_version")
    if version != FORMAT_VERSION:
        newer = isinstance(version, int) and version > FORMAT_VERSION
        raise StoreError(
            f"{path} has format version {version}, this BagPack reads {FORMAT_VERSION}; "
            + ("update BagPack (pip install --upgrade bagpack)" if newer else "index the corpus again")
        )
    manifest = read_sealed(path / MANIFEST)
    if "seal" not in manifest:
        raise StoreError(f"{path / MANIFEST} has no seal; it is damaged or was edited: {RESTORE}")
    for entry in (manifest, *(manifest.get("appended") or ())):
        if isinstance(entry, dict) and "told" in entry:  # its name in the first versions
            entry["problems"] = entry.pop("told")
    check_entries(manifest, ENTRIES, path / MANIFEST)
    for entry in manifest["shards"]:
        check_counts(entry.get("tags", {}), TAG_COUNTS, path / MANIFEST)
        if not SHARD_NAME.fullmatch(entry["name"]):
            raise StoreError(
                f"{path / MANIFEST} names the shard {entry['name']!r}, which is not a name of a shard"
            )
    directory = manifest["lexicon"]["directory"]
    if not LEXICON_NAME.fullmatch(directory):
        raise StoreError(
            f"{path / MANIFEST} names the lexicon {directory!r}, which is not a name of a lexicon"
        )
    member(path, "shards")
    member(path, directory)
    return manifest


def read_facts(directory: Path) -> dict[str, Any]:
    """A shard's shard.json."""
    if directory.is_symlink():
        raise StoreError(f"{directory} is a symbolic link; stores hold no links: put the shard itself there")
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
