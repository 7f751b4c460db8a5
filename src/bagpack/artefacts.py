"""Directories that are artefacts: checksummed, replaced in one step, never leading out of themselves.

Matrices, models, snippets and search indexes are directories of files with one JSON document that describes them (the
manifest). This module writes, replaces, reads and verifies such a directory:

    with new_directory(path, is_ours=is_matrix, what="matrix", overwrite=True) as work:
        write_array(work / "rows", rows, "<i8")                 # any files, in subdirectories if need be
        write_sealed(work / "manifest.json", {"kind": "pair-matrix", ...})   # last: adds `checksums` and `seal`

    manifest = read_sealed(path / "manifest.json")              # a dict whose seal is right, or a StoreError
    rows = map_array(member(path, "rows"), "<i8")               # refuses names and links that lead out
    problems = damaged_files(path, manifest["checksums"])       # what `bagpack verify` prints

A process that is killed at any moment leaves the old artefact or the new one at `path`, whole. What is left next to it
(`NAME.partial`, `NAME.partial.old`) is removed by the next `new_directory` of the same path. Nothing is removed that is
not recognised as ours: neither directories next to it nor files that someone put into an artefact. Two processes that
write the same path do not disturb each other: the second is refused with a sentence. What is read of the old artefact
to make the new one (an append) is read within the block.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeVar

from bagpack.errors import StoreError
from bagpack.files import (
    PARTIAL,
    RESTORE,
    digest,
    digest_file,
    disk_errors,
    read_json,
    remove_tree,
    sync_directory,
    write_json,
)
from bagpack.locks import busy, hold, is_held, release_within, take_lock

REPLACED = "replaced"  # a file in an artefact that is being removed
LOCK = "lock"  # held by whoever writes a `NAME.partial`; its presence shows that the directory is ours
Result = TypeVar("Result")
AT_FDCWD = -100
RENAME_EXCHANGE = 2  # Linux's renameat2 and macOS's renamex_np agree on the number


# Replacing ------------------------------------------------------------------------------------------------------


@contextmanager
def new_directory(
    path: Path, *, is_ours: Callable[[Path], bool], what: str, overwrite: bool = False
) -> Iterator[Path]:
    """Yield an empty directory next to `path`; when the block ends without an error it becomes `path`.

    Parameters
    ----------
    path
        The artefact. If it is a symbolic link, what it leads to is replaced.
    is_ours
        Whether the directory at a path is an artefact of this kind: nothing else is ever replaced.
    what
        The kind, for messages: ``matrix``, ``model``.
    overwrite
        Whether an existing artefact may be replaced; an empty directory always may.
    """
    path = Path(os.path.realpath(path))
    check_replaceable(path, is_ours=is_ours, what=what, overwrite=overwrite)
    work = path.with_name(path.name + PARTIAL)
    with locked_directory(work, is_ours):
        try:
            for left in work.iterdir():
                if left.name != LOCK:
                    remove_tree(left)
            check_replaceable(path, is_ours=is_ours, what=what, overwrite=overwrite)
            with disk_errors(path):
                yield work
            replace_tree(work, path)
        except BaseException:
            discard(work)
            raise
        with disk_errors(path):
            (path / LOCK).unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse a path where no artefact can be made; directories above it are made."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"{path} cannot be written: {path.parent} is read-only; choose another --out")


def check_replaceable(
    path: Path, *, is_ours: Callable[[Path], bool], what: str, overwrite: bool, option: str = "--out"
) -> None:
    """Refuse to replace what is not an artefact of this kind, holds other files, or may not be overwritten."""
    recover_replaced(path)
    check_leftover(path)
    if not (path.exists() or path.is_symlink()) or (path.is_dir() and not any(path.iterdir())):
        return
    if not path.is_dir() or not is_ours(path):
        raise StoreError(
            f"{path} exists and is not a BagPack {what}, so it is not replaced; choose another {option}"
        )
    if not overwrite:
        raise StoreError(f"{path} exists already; choose another {option}, or replace it with --overwrite")
    if foreign := next(foreign_files(path), None):
        raise StoreError(
            f"{foreign} is not a file of the {what} {path}, which would be replaced; move it elsewhere, or choose "
            f"another {option}"
        )


def foreign_files(path: Path) -> Iterator[Path]:
    """Files in the directory of an artefact that its document does not list; empty ones hold nothing to lose.

    A store inside an artefact is not looked into.
    """
    listed = {LOCK, *DOCUMENTS, *(f"{name}.new" for name in DOCUMENTS)}
    for name in DOCUMENTS:
        document = read_document(path / name)
        listed.update(document["checksums"] if isinstance(document.get("checksums"), dict) else ())
    for directory, inner, names in os.walk(path):
        place = Path(directory)
        links = [name for name in inner if (place / name).is_symlink()]
        inner[:] = [name for name in sorted(inner) if not is_artefact(place / name)]
        for name in sorted([*names, *links]):
            file = place / name
            if file.relative_to(path).as_posix() not in listed and (file.is_symlink() or file.stat().st_size):
                yield file


@contextmanager
def locked_directory(work: Path, is_ours: Callable[[Path], bool]) -> Iterator[BinaryIO]:
    """Make `work`, or take over what a killed process left there, and hold its lock file, which is yielded.

    A directory without the lock file that is neither empty nor ours is refused.
    """
    with disk_errors(work):
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(os.lstat(work).st_mode):
                raise _foreign(work)
        try:
            work.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise busy(work) from None  # removed between the two system calls of mkdir
        try:
            names = set(os.listdir(work))
            locked = LOCK in names or (work / LOCK).exists()
            if names and not locked and not is_ours(work):
                # A listing while its owner makes or removes files may be incomplete.
                raise _foreign(work) if set(os.listdir(work)) == names else busy(work)
            handle = open(work / LOCK, "ab")  # noqa: SIM115 (held while the block lasts)
        except (FileExistsError, FileNotFoundError):
            raise busy(work) from None  # another process has just finished, and removes or renames it
    with handle:
        take_lock(handle, work / LOCK)
        if (work / REPLACED).exists():
            for left in sorted(work.iterdir(), key=lambda path: path.name == REPLACED):
                if left.name != LOCK:
                    remove_tree(left)
        yield handle


def discard(work: Path, last: str = "") -> None:
    """Remove a work directory: the file `last` after all others, then the lock, which shows that it is ours."""
    for path in sorted(work.iterdir(), key=lambda path: (path.name == LOCK, path.name == last)):
        remove_tree(path)
    with suppress(OSError):  # another process may have taken it over already
        work.rmdir()


def _foreign(work: Path) -> StoreError:
    return StoreError(f"{work} is needed while working and was not made by BagPack; move it elsewhere")


def replace_tree(work: Path, path: Path) -> None:
    """Make `work` the directory at `path`. What was there is exchanged with it in one step, and then removed.

    Where the system cannot exchange two names, the old directory is set aside first. If the process is killed between
    the two renames, `recover_replaced` puts it back.
    """
    check_leftover(path)
    aside = _set_aside(path)
    with disk_errors(path):
        if not path.exists():
            release_within(work)
            os.replace(work, path)
            sync_directory(path.parent)
            return
        _remove_replaced(aside)
        # The old directory gets the name `work`, where other processes look for the lock.
        with open(path / LOCK, "ab") as handle:
            hold(handle)
            release_within(work)
            release_within(path)
            if not exchange(work, path):
                os.replace(path, aside)
                os.replace(work, path)
                os.replace(aside, work)
            sync_directory(path.parent)
            _remove_replaced(work)


def recover_replaced(path: Path) -> None:
    """Recover from an interrupted `replace_tree`: the old directory returns if nothing took its place.

    What is to be removed waits for the next `replace_tree`: someone who only reads removes nothing.
    """
    aside = _set_aside(path)
    if path.exists() or aside.is_symlink() or not is_artefact(aside) or (aside / REPLACED).exists():
        return
    if not is_held(path.with_name(path.name + PARTIAL) / LOCK):  # else its owner is between the two renames
        with disk_errors(path):
            os.replace(aside, path)


def _remove_replaced(aside: Path) -> None:
    """Remove an artefact that was replaced; a mark in it, removed last, shows that it is half removed."""
    if not aside.exists():
        return
    (aside / REPLACED).touch()
    discard(aside, last=REPLACED)


def check_leftover(path: Path) -> None:
    """Refuse to replace `path` if something that `replace_tree` did not leave has the name that it needs."""
    aside = _set_aside(path)
    if aside.is_symlink() or (aside.exists() and not aside.is_dir()):
        raise _foreign(aside)
    if aside.exists() and any(aside.iterdir()) and not ((aside / REPLACED).exists() or is_artefact(aside)):
        raise _foreign(aside)


def _set_aside(path: Path) -> Path:
    return path.with_name(f"{path.name}{PARTIAL}.old")


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    if sys.platform == "win32":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, RENAME_EXCHANGE)
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(second))


DOCUMENTS = {"manifest.json": "kind", "model.json": "format", "bagpack-engine.json": "kind"}
KINDS = ("corpus", "snippets", "pair-matrix", "bagpack-model", "engine")


def is_artefact(path: Path) -> bool:
    """Whether BagPack made the directory: a store, snippets, a matrix, a model or a search index, whole or damaged."""
    return any(read_document(path / name).get(entry) in KINDS for name, entry in DOCUMENTS.items())


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object at a path; an empty one if there is none, or a damaged one."""
    try:
        document = read_json(path)
    except StoreError:
        return {}
    return document if isinstance(document, dict) else {}


# Checksums ------------------------------------------------------------------------------------------------------


def write_sealed(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """Write the document that describes a directory, with the checksums of all its other files; returns it.

    Write it last. `checksums` holds every file by its name relative to the directory; `seal` is a checksum over the
    document itself.
    """
    checksums = {
        file.relative_to(path.parent).as_posix(): digest_file(file)
        for file in sorted(path.parent.rglob("*"))
        if file.is_file() and file != path and file.name != LOCK
    }
    whole = {**document, "checksums": checksums}
    whole["seal"] = seal_of(whole)
    write_json(path, whole)
    return whole


def read_sealed(path: Path) -> dict[str, Any]:
    """The document at `path`, whose seal is right.

    A document without a seal is returned as it is (older versions wrote none); the caller decides whether that is
    accepted, by looking for ``seal``.
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise StoreError(f"{path} is not a JSON object; it is damaged: {RESTORE}")
    if "seal" in document and document["seal"] != seal_of(document):
        raise StoreError(f"{path} does not match its own seal; it is damaged or was edited: {RESTORE}")
    return document


def seal_of(document: Mapping[str, Any]) -> str:
    """Checksum over a document's entries but `seal`, so that a changed byte in it is noticed."""
    rest = {name: value for name, value in document.items() if name != "seal"}
    return digest(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode())


def read_unreplaced(document: Path, read: Callable[[], Result]) -> Result:
    """What `read` returns, from one state of an artefact: it is called again if the artefact was replaced meanwhile."""
    while True:
        before = _content(document)
        try:
            found = read()
        except Exception:  # files of two states may not fit together
            if _content(document) == before:
                raise
        else:
            if _content(document) == before:
                return found


def _content(document: Path) -> bytes:
    try:
        return document.read_bytes()
    except OSError:
        return b""


def member(directory: Path, name: str) -> Path:
    """The path of a file or directory inside an artefact, by the name that its manifest gives.

    A name that leads out of the directory, or passes through a symbolic link, is refused: artefacts come from others.
    """
    parts = PurePosixPath(name).parts if isinstance(name, str) else ()
    # A backslash or a drive letter would lead out of the directory on Windows.
    if not parts or ".." in parts or name.startswith("/") or any(sign in name for sign in "\0\\:"):
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
