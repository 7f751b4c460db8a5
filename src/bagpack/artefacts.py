"""Directories that are artefacts: one manifest that names, with checksums, the files that count.

Stores, snippets, matrices, models and search indexes are written in the same way. Whoever writes holds the lock of the
directory, writes new files next to those of the present manifest, and commits by renaming a new manifest over the old
one: a process that is killed at any moment leaves the old artefact or the new one. What no manifest names is removed by
the next writer, so that whoever has read a manifest can open its files; nothing that BagPack did not write is removed.

A store has segments of its own (`bagpack.corpus.build.index`). All other kinds have one directory of data:

    with new_artefact(path, MATRIX, overwrite=True) as draft:
        write_array(draft.directory / "rows", rows, "<i8")
        draft.manifest = {"pairs": 7, ...}  # kind, version, checksums and a seal are added
    rows = map_array(open_artefact(path, MATRIX).file("rows"), "<i8")
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bagpack.errors import StoreError
from bagpack.files import damaged, digest, digest_file, disk_errors, hold, read_json, write_bytes, write_json

MANIFEST = "manifest.json"
KINDS = ("corpus", "snippets", "pair-matrix", "bagpack-model", "engine", "word-vectors")
LOCK = ".bagpack-lock"  # held by whoever writes
DRAFT = ".bagpack-new"  # the data while they are written
DATA_NAME = re.compile(r"data-[0-9a-f]{16}")
SEGMENTS, WORK = "segments", "work"  # directories of a store: its segments, and what unfinished work needs
LEXICON_NAME = re.compile(r"lexicon-[0-9a-f]{16}")
FILES = "files"  # in a directory of data: the names of all its files, so that no other is ever removed


@dataclass(frozen=True)
class Kind:
    name: str  # `kind` in the manifest
    noun: str  # in messages
    version: int  # of the format
    make: str  # the command that makes one, in messages


@dataclass(frozen=True)
class Artefact:
    """A manifest, and the directory of the files that it names."""

    path: Path
    manifest: dict[str, Any]
    data: Path

    def file(self, name: str) -> Path:
        return member(self.data, name)

    def damages(self, names: Iterable[str] | None = None) -> list[str]:
        """Sentences about damaged files: all of them, or those of these names."""
        checksums = self.manifest["checksums"]
        return damaged_files(self.data, {name: checksums.get(name, "") for name in names or checksums})

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        try:
            return sum(self.file(name).stat().st_size for name in self.manifest["checksums"])
        except OSError as error:
            raise damaged(error.filename, "cannot be read") from error


def open_artefact(path: Path, kind: Kind) -> Artefact:
    """What `new_artefact` wrote, checked but for its files."""
    manifest = read_manifest(path, kind)
    data, checksums = manifest.get("data"), manifest.get("checksums")
    if not (isinstance(data, str) and DATA_NAME.fullmatch(data) and isinstance(checksums, dict)):
        raise damaged(path / MANIFEST, "names no files")
    return Artefact(path, manifest, member(path, data))


def read_manifest(path: Path, kind: Kind) -> dict[str, Any]:
    """The manifest of an artefact, checked for kind, version and seal."""
    if is_unfinished(path):
        raise StoreError(f"an unfinished build is at {path}; repeat its command (index: with --resume)")
    if not (path / MANIFEST).exists():
        state = f"is not a BagPack {kind.noun} (it has no {MANIFEST})" if path.exists() else "does not exist"
        raise StoreError(f"{path} {state}; make one with {kind.make}")
    manifest = read_json(path / MANIFEST)
    found = manifest.get("kind", "artefact") if isinstance(manifest, dict) else "file of another program"
    if found != kind.name:
        raise StoreError(f"{path} is a BagPack {found}, not a {kind.noun}; name one that {kind.make} made")
    if (version := manifest.get("format_version")) != kind.version:
        raise StoreError(
            f"{path} has format version {version}, this BagPack reads {kind.version}; make it again with {kind.make}, "
            f"or, if it is newer, update BagPack (pip install --upgrade bagpack)"
        )
    if manifest.get("seal") != seal_of(manifest):
        raise damaged(path / MANIFEST, "does not match its own seal, as if it had been edited")
    return dict(manifest)


def read_document(path: Path) -> dict[str, Any]:
    """The manifest at a path as it is; an empty one if there is none, or a damaged one."""
    with suppress(StoreError):
        document = read_json(path / MANIFEST)
        return document if isinstance(document, dict) else {}
    return {}


def is_artefact(path: Path) -> bool:
    """Whether BagPack made the directory, or began to make it."""
    return read_document(path).get("kind") in KINDS or is_unfinished(path)


def is_kind(path: Path, kind: Kind) -> bool:
    """Whether an artefact of a kind, whole or damaged, is at a path."""
    manifest = read_document(path)
    return manifest.get("kind") == kind.name and "format_version" in manifest


def is_unfinished(path: Path) -> bool:
    """Whether a directory holds only what a writer that was killed before its first commit leaves."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    others = names - {LOCK, DRAFT, f"{MANIFEST}.new", SEGMENTS, WORK}
    ours = (DATA_NAME.fullmatch(name) or LEXICON_NAME.fullmatch(name) for name in others)
    return LOCK in names and (path / LOCK).is_file() and all(ours)


@dataclass
class Draft:
    """An artefact that is being written."""

    directory: Path  # empty at first
    manifest: Mapping[str, Any]


@contextmanager
def new_artefact(path: Path, kind: Kind, *, overwrite: bool = False) -> Iterator[Draft]:
    """Yield a draft; when the block ends without an error, it becomes the artefact at `path`, or where a link leads."""
    check_place(path, kind, overwrite=overwrite)
    path = Path(os.path.realpath(path))
    with disk_errors(path), locked(path):
        check_place(path, kind, overwrite=overwrite)
        sweep_data(path, read_document(path).get("data"))
        draft = Draft(path / DRAFT, {})
        draft.directory.mkdir()
        try:
            yield draft
            _commit(path, kind, draft)
        except BaseException:
            shutil.rmtree(draft.directory, ignore_errors=True)
            raise


def _commit(path: Path, kind: Kind, draft: Draft) -> None:
    files = [file for file in draft.directory.rglob("*") if file.is_file()]
    names = sorted(file.relative_to(draft.directory).as_posix() for file in files)
    write_bytes(draft.directory / FILES, "".join(f"{name}\n" for name in names).encode())
    checksums = {name: digest_file(draft.directory / name) for name in [*names, FILES]}
    data = f"data-{digest(json.dumps(checksums).encode())[:16]}"
    while (path / data).exists():  # the present data, whose files may be damaged
        data = f"data-{digest(data.encode())[:16]}"
    os.replace(draft.directory, path / data)
    facts = {"kind": kind.name, "format_version": kind.version, **draft.manifest}
    write_manifest(path, {**facts, "data": data, "checksums": checksums})


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Commit: from now on these are the files that count."""
    write_json(path / MANIFEST, {**manifest, "seal": seal_of(manifest)})


def check_place(path: Path, kind: Kind, *, overwrite: bool, option: str = "--out") -> None:
    """Refuse a path where an artefact cannot be written, or whose content is not to be replaced."""
    if not path.exists() and not path.is_symlink():
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        if os.access(path.parent, os.W_OK):
            return
        problem = f"cannot be written: {path.parent} is read-only"
    elif path.is_dir() and (not any(path.iterdir()) or is_unfinished(path)):
        return
    elif not is_kind(path, kind):
        problem = f"exists and is not a BagPack {kind.noun}, so it is not replaced"
    elif not overwrite:
        raise StoreError(f"{path} exists already; choose another {option}, or replace it with --overwrite")
    elif read_document(path).get("format_version") != kind.version:
        problem = "was written by another version of BagPack, so it is not replaced"
    else:
        return
    raise StoreError(f"{path} {problem}; choose another {option}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of an artefact's directory, which is made; one that stays empty is removed again."""
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        with hold(path / LOCK, path):
            try:
                yield
            finally:
                if os.listdir(path) == [LOCK]:
                    (path / LOCK).unlink(missing_ok=True)
                    remove_if_empty(path)


def sweep_data(path: Path, kept: object) -> None:
    """Remove the directories of data that the manifest does not name, but no file that we did not write."""
    if not (path / DRAFT).is_symlink():
        shutil.rmtree(path / DRAFT, ignore_errors=True)
    for directory in list(path.iterdir()):
        if DATA_NAME.fullmatch(directory.name) and directory.name != kept and not directory.is_symlink():
            with suppress(OSError, UnicodeDecodeError, StoreError):
                remove_files(directory, (directory / FILES).read_text(encoding="utf-8").splitlines())
                (directory / FILES).unlink()  # last, so that what a killed process leaves is removed later
            remove_if_empty(directory)


def remove_files(directory: Path, names: Iterable[str]) -> None:
    """Remove these files of a directory, and the directories that are empty then."""
    folders = {directory}
    for name in names:
        path = member(directory, name)
        path.unlink(missing_ok=True)
        folders.update(parent for parent in path.parents if parent.is_relative_to(directory))
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        remove_if_empty(folder)


def remove_if_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()


def seal_of(document: Mapping[str, Any]) -> str:
    """Checksum over a document's entries but `seal`, so that a changed byte in it is noticed."""
    rest = {name: value for name, value in document.items() if name != "seal"}
    return digest(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode())


def member(directory: Path, name: str) -> Path:
    """The path of a file or directory inside an artefact, by the name that its manifest gives.

    A name that leads out of the directory, or passes through a symbolic link, is refused: artefacts come from others.
    """
    parts = PurePosixPath(name).parts if isinstance(name, str) else ()
    if not parts or ".." in parts or name.startswith("/") or "\0" in name:
        raise StoreError(f"{directory} names the file {name!r}, which is not inside it; it is not used")
    path = directory
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link; artefacts hold no links: put the file itself there")
    return path


def damaged_files(directory: Path, checksums: Mapping[str, str]) -> list[str]:
    """Sentences about files that are missing, are not regular files, or differ from their checksum."""
    problems: list[str] = []
    for name, expected in checksums.items():
        try:
            path = member(directory, name)
            if digest_file(path) != expected:
                problems.append(f"{path} does not match its checksum ({path.stat().st_size:,} bytes)")
        except FileNotFoundError:
            problems.append(f"{directory / name} is missing")
        except StoreError as error:
            problems.append(str(error))
    return problems
