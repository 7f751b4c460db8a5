"""Single files that are either whole or not there: written next to the target, checked by hash, renamed into place.

Directories of files (matrices, models, ...) are written, replaced and verified by `bagpack.artefacts`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from io import BufferedReader
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import numpy as np

from bagpack.arrays import Values
from bagpack.errors import BagpackError, StoreError, UsageError

DIGEST_BYTES = 16
RESTORE = "restore it from a copy, or make it again"
MANY_FILES = 10_240  # descriptors wanted; macOS has an infinite limit, but refuses more
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
HEAD = 2000  # bytes by which our own files are recognised


def cache_directory() -> Path | None:
    """Where BagPack keeps what can be made again (XDG_CACHE_HOME, else ~/.cache); None without a home directory."""
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "bagpack"
    except RuntimeError:
        return None


class DiskError(StoreError):
    """The disk is full."""


class TooManyFilesError(StoreError):
    """No file descriptor is left: nothing is wrong with the file."""


def damaged(path: Path | str, problem: str) -> StoreError:
    """The error where a file of an artefact is not what was written."""
    return StoreError(f"{path} {problem}; it is damaged: {RESTORE}")


def unreadable(path: Path | str, error: OSError, kind: type[BagpackError] = StoreError) -> BagpackError:
    """The error where a file cannot be opened: it is not the file's where no descriptor is left."""
    if error.errno not in TOO_MANY_FILES:
        return kind(f"{path} cannot be read: {error.strerror}; check the name and its permissions")
    problem = "could not be opened: too many open files; raise the limit (ulimit -n 4096)"
    return TooManyFilesError(f"{path} {problem} and run the command again")


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system while writing to `path` into sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            problem = f"the disk is full: {path} could not be written"
            raise DiskError(f"{problem}; free some space there and run the command again") from error
        if error.errno == errno.EFBIG:
            problem = "would become larger than the file size limit"
            raise StoreError(f"{path} {problem}; raise it (ulimit -f unlimited)") from error
        if error.errno in TOO_MANY_FILES:
            raise unreadable(path, error) from error
        if error.filename is not None and _concerns(os.fsdecode(error.filename), path):
            raise StoreError(f"{path} cannot be written: {error.strerror}; choose another place") from error
        raise


def _concerns(name: str, path: Path) -> bool:
    """Whether an error about a file is about writing `path`: it is the path, next to it, below it or above it."""
    found, wanted = os.path.realpath(name), os.path.realpath(path)
    beginning = os.path.join(os.path.dirname(wanted), "." + os.path.basename(wanted))
    return found.startswith((wanted, beginning)) or wanted.startswith(found)


def digest(data: bytes | memoryview) -> str:
    """BLAKE2b of the bytes, as hexadecimal."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def digest_file(path: Path) -> str:
    """BLAKE2b of a file's content."""
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, partial(hashlib.blake2b, digest_size=DIGEST_BYTES)).hexdigest()


def open_regular(path: Path) -> BufferedReader:
    """Open a file of an artefact for reading: a regular file, not a link, pipe or device, which others may put there.

    FileNotFoundError is passed on; every other problem is a StoreError.
    """
    try:  # without O_NONBLOCK, opening a pipe would wait for its writer
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:  # ELOOP for a link
        raise unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise damaged(path, "is not a regular file")
    return open(number, "rb")


def map_array(path: Path, dtype: str) -> Values:
    """Memory-map an array that `write_array` wrote."""
    kind = np.dtype(dtype)
    _allow_more_files()
    try:
        with open_regular(path) as handle:
            size = os.fstat(handle.fileno()).st_size
            if size % kind.itemsize:
                raise damaged(path, f"has {size:,} bytes, not a multiple of {kind.itemsize}")
            if size == 0:  # an empty file cannot be mapped
                empty = np.empty(0, kind)
                empty.flags.writeable = False
                return empty
            return np.asarray(np.memmap(handle, kind, "r"))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; the store is damaged: restore it or index again") from error
    except OSError as error:  # mmap duplicates the descriptor
        raise unreadable(path, error) from error


@cache
def _allow_more_files() -> None:
    """Raise this process's limit on open files: every mapped array holds one, and a large store has thousands."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY_FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def read_json(path: Path) -> Any:
    """Read JSON of an artefact; a damaged file is a sentence."""
    try:
        with open_regular(path) as handle:
            return json.loads(handle.read())
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; {RESTORE}") from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"is not the JSON it should be ({error})") from error


def write_bytes(path: Path, data: bytes | memoryview) -> str:
    """Write and flush to disk; returns the digest."""
    with disk_errors(path), open(path, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    return digest(data)


def write_array(path: Path, array: Values, dtype: str) -> str:
    """Write an array as raw little-endian numbers; returns the digest."""
    data = np.ascontiguousarray(array, dtype=np.dtype(dtype))
    return write_bytes(path, data.view(np.uint8).data if data.size else b"")


def write_json(path: Path, value: Any) -> None:
    """Write JSON under a temporary name, rename it, and make the name durable."""
    temporary = path.with_name(path.name + ".new")
    write_bytes(temporary, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())
    with disk_errors(path):
        os.replace(temporary, path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make renames in a directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save_npy(out: BinaryIO, array: Values) -> None:
    """`np.save` to an open file, through its `write`: where numpy writes to a file itself, no error says why."""
    np.save(cast(Any, SimpleNamespace(write=out.write)), array, allow_pickle=False)


def reserve(file: BinaryIO, size: int) -> None:
    """Give an empty file its size, with space on the disk: writing to a map of it cannot fail later.

    On a full disk, a process that writes to a map of a file with holes is killed (SIGBUS).
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(1 << 20)  # macOS
    for at in range(0, size, len(zeros)):
        file.write(zeros[: size - at])
    file.flush()


@contextmanager
def hold(path: Path, what: Path) -> Iterator[BinaryIO]:
    """Hold the lock of a file, which is made, without waiting for it. The system releases it with the process.

    On a file system without locks nothing can be held, and nothing is refused.
    """
    from filelock import lock_descriptor

    busy = StoreError(f"another bagpack command is working in {what}; wait for it, or stop it")
    try:
        handle = open(path, "ab")  # noqa: SIM115 (held while the block lasts)
    except FileNotFoundError:
        if what != path.parent:
            raise
        raise busy from None  # another process has just removed the directory
    with handle:
        held = True
        with suppress(OSError):
            held = lock_descriptor(handle.fileno(), blocking=False)
        try:
            same = os.path.samestat(os.stat(path), os.fstat(handle.fileno()))
        except FileNotFoundError:
            same = False
        if not held or not same:  # it is not the same if its owner finished just now
            raise busy
        yield handle


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 to a file that someone named; see `replacing`."""
    with replacing(path) as out:
        out.write(text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """What is written within goes to a file that someone named: a reader sees the old content or the new one.

    A link stays a link, and what it leads to is replaced.
    """
    with disk_errors(path):
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        # What a killed process leaves there, the next one removes.
        temporary = target.with_name(f".{target.name}.bagpack-new")
        with hold(temporary, path) as out:
            try:
                out.truncate(0)
                yield out
                out.flush()
                os.fsync(out.fileno())
                if target.exists():
                    shutil.copymode(target, temporary)
                os.replace(temporary, target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise


def check_file(
    path: Path, what: str, is_ours: Callable[[bytes], bool], example: str, overwrite: bool | None = None
) -> None:
    """Whether a file that someone named can be written: an existing file must be empty or ours by its first bytes.

    ``overwrite`` is None for commands without that option; the others replace any file with it, and none without it.
    """
    if path.is_dir() or path.is_relative_to("/dev") or (path.exists() and not path.is_file()):
        raise UsageError(f"{path} is a directory, a device or a pipe; name a file, such as {example}")
    if path.exists() and not overwrite:
        with open(path, "rb") as file:
            head = file.read(HEAD)
        if overwrite is not None and head:
            raise UsageError(f"{path} exists already; choose another name, or replace it with --overwrite")
        if head and not is_ours(head):
            problem = f"exists already and is no {what} that BagPack made, so it is not replaced"
            raise UsageError(f"{path} {problem}; choose another name")
    folder = Path(os.path.realpath(path)).parent
    if not os.access(folder, os.W_OK):
        state = f"{folder} is read-only" if folder.is_dir() else f"there is no directory {folder}"
        raise UsageError(f"{path} cannot be written: {state}; make it, or choose another place")


def check_not_read(out: Path, *inputs: str | Path | None) -> None:
    """Refuse an output that is one of the files that are read, or holds one."""
    for name in inputs:
        if name is None or not os.path.exists(name) or not out.exists():
            continue
        if Path(os.path.realpath(name)).is_relative_to(os.path.realpath(out)):
            problem = f"is or holds {name}, which this command reads, so it is not overwritten"
            raise UsageError(f"{out} {problem}; choose another name")
