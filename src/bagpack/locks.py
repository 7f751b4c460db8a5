"""Locks on files, through `filelock`: exclusive, and released by the system when their process ends."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from bagpack.errors import StoreError

# Windows renames no directory in which a file is open.
RENAMES_OPEN_FILES = os.name != "nt"

_held: weakref.WeakSet[BinaryIO] = weakref.WeakSet()


def take_lock(handle: BinaryIO, path: Path) -> None:
    """Lock an open file, without waiting; a StoreError if another process holds it or has just removed it.

    On a file system without locks nothing can be held, and nothing is refused.
    """
    if not lock(handle):
        raise busy(path.parent)
    try:
        current = os.stat(path)
    except FileNotFoundError:
        raise busy(path.parent) from None
    if not os.path.samestat(current, os.fstat(handle.fileno())):
        raise busy(path.parent)  # its owner finished just now, and another one began
    _held.add(handle)


def hold(handle: BinaryIO) -> None:
    """Lock an open file if no other process has; a file system without locks is no error."""
    if lock(handle):
        _held.add(handle)


def is_held(path: Path) -> bool:
    """Whether a process has locked a file."""
    try:
        with open(path, "rb") as handle:
            return not lock(handle)
    except OSError:
        return False


def release_within(directory: Path) -> None:
    """Close the lock files of this process in a directory that is about to be renamed, where the system requires it.

    Another process may take the lock before the rename; then the rename fails, and nothing is lost.
    """
    if RENAMES_OPEN_FILES:
        return
    for handle in list(_held):
        if Path(handle.name).is_relative_to(directory):
            handle.close()


def busy(work: Path) -> StoreError:
    """The error where another process works in a directory."""
    return StoreError(f"another bagpack command is working in {work}; wait for it, or stop it")


def lock(handle: BinaryIO | FileIO, *, wait: bool = False) -> bool:
    """Lock an open file, if need be after other processes; whether it is locked now, or cannot be on this system."""
    from filelock import lock_descriptor

    with suppress(OSError):  # a file system without locks
        return lock_descriptor(handle.fileno(), blocking=wait)
    return True
