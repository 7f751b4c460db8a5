"""Single files that are either whole or not there: written next to the target, checked by hash, renamed into place.

Directories of files (matrices, models, ...) are written, replaced and verified by `bagpack.artefacts`.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from bagpack.errors import StoreError, UsageError

DIGEST_BYTES = 16
RESTORE = "restore it from a copy, or make it again"
MANY_FILES = (65_536, 10_240)  # descriptors wanted where the system sets no limit; macOS may refuse the first
# Without O_NONBLOCK, opening a pipe would wait for its writer. Windows has O_BINARY alone.
OPEN_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    OPEN_FLAGS |= getattr(os, _name, 0)
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
UNWRITABLE = frozenset(
    {
        errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.EISDIR,
        errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO,
    }
)  # fmt: skip


def cache_directory() -> Path | None:
    """Where BagPack keeps what can be made again (XDG_CACHE_HOME, else ~/.cache); None without a home directory."""
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "bagpack"
    except RuntimeError:
        return None


def digest(data: bytes | memoryview) -> str:
    """BLAKE2b of the bytes, as hexadecimal."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def digest_file(path: Path) -> str:
    """BLAKE2b of a file's content."""
    hasher = hashlib.blake2b(digest_size=DIGEST_BYTES)
    with open_regular(path) as handle:
        while chunk := handle.read(1 << 22):
            hasher.update(chunk)
    return hasher.hexdigest()


class DiskError(StoreError):
    """The disk is full."""


class TooManyFilesError(StoreError):
    """No file descriptor is left: nothing is wrong with the file."""


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system while writing to `path` into sentences."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskError(
                f"the disk is full: {path} could not be written; free some space there and run the command again"
            ) from error
        if error.errno == errno.EFBIG:
            raise StoreError(
                f"{path} would become larger than the file size limit of this shell or file system allows; raise the "
                f"limit (ulimit -f unlimited), or choose another place"
            ) from error
        if error.errno in TOO_MANY_FILES:
            raise too_many_files(path) from error
        if error.errno in UNWRITABLE and _concerns(error.filename, path):
            raise StoreError(f"{path} cannot be written: {error.strerror}; choose another place") from error
        raise


def _concerns(name: Any, path: Path) -> bool:
    """Whether an error about a file is about writing `path`: it is the path, next to it, below it or above it."""
    if not isinstance(name, str | bytes | os.PathLike):
        return True
    found, wanted = os.path.realpath(os.fsdecode(name)), os.path.realpath(path)
    beginning = os.path.join(os.path.dirname(wanted), "." + os.path.basename(wanted))
    return found.startswith((wanted, beginning)) or wanted.startswith(found)


def reserve(file: BinaryIO, size: int) -> None:
    """Give an empty file its size, with space on the disk: writing to a map of it cannot fail later.

    On a full disk, a process that writes to a map of a file with holes is killed (SIGBUS).
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(1 << 20)  # macOS and Windows
    for at in range(0, size, len(zeros)):
        file.write(zeros[: size - at])
    file.flush()


def too_many_files(path: Path | str) -> TooManyFilesError:
    """The error where this process, or the system, has no file descriptor left."""
    try:
        import resource
    except ImportError:  # Windows
        return TooManyFilesError(
            f"{path} could not be opened: too many open files; close other programs and try again"
        )
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = "" if soft == resource.RLIM_INFINITY else f" (this process may open {soft:,})"
    return TooManyFilesError(
        f"{path} could not be opened: too many open files{allowed}; raise the limit (ulimit -n 4096) and run the "
        f"command again"
    )


def open_regular(path: Path) -> BinaryIO:
    """Open a file of an artefact for reading: a regular file, not a link, pipe or device, which others may put there.

    FileNotFoundError is passed on; every other problem is a StoreError.
    """
    try:
        if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():  # Windows
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        try:
            number = os.open(path, OPEN_FLAGS)
        except OSError as error:  # every mapped array holds an open file, and a large store has thousands
            if error.errno != errno.EMFILE or not _allow_more_files():
                raise
            number = os.open(path, OPEN_FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(
                f"{path} is a symbolic link; artefacts hold no links: put the file itself there"
            ) from error
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise StoreError(f"{path} is not a regular file; it is damaged: {RESTORE}")
    return open(number, "rb")


def write_bytes(path: Path, data: bytes | memoryview) -> str:
    """Write and flush to disk; returns the digest."""
    with disk_errors(path), open(path, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    return digest(data)


def write_array(path: Path, array: NDArray[Any], dtype: str) -> str:
    """Write an array as raw little-endian numbers; returns the digest."""
    data = np.ascontiguousarray(array, dtype=np.dtype(dtype))
    return write_bytes(path, data.view(np.uint8).data if data.size else b"")


def save_npy(out: BinaryIO, array: NDArray[Any]) -> None:
    """`np.save` to an open file, through its `write`: where numpy writes to a file itself, no error says why."""
    np.save(cast(Any, SimpleNamespace(write=out.write)), array, allow_pickle=False)


def _allow_more_files() -> bool:
    """Raise this process's limit on open files to what the system allows; False if it cannot be raised."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports an infinite hard limit and then refuses it as the soft one.
    for wanted in MANY_FILES if hard == resource.RLIM_INFINITY else (hard,):
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                return True
    return False


def map_array(path: Path, dtype: str) -> NDArray[Any]:
    """Memory-map an array that `write_array` wrote."""
    kind = np.dtype(dtype)
    try:
        with open_regular(path) as handle:
            size = os.fstat(handle.fileno()).st_size
            if size % kind.itemsize:
                raise StoreError(
                    f"{path} has {size:,} bytes, not a multiple of {kind.itemsize}; it is damaged: {RESTORE}"
                )
            if size == 0:  # an empty file cannot be mapped
                empty = np.empty(0, kind)
                empty.flags.writeable = False
                return empty
            return np.asarray(np.memmap(handle, kind, "r"))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; the store is damaged: restore it or index again") from error
    except OSError as error:  # mmap duplicates the descriptor
        if error.errno == errno.EMFILE and _allow_more_files():
            return map_array(path, dtype)
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> StoreError:
    if error.errno in TOO_MANY_FILES:
        return too_many_files(path)
    return StoreError(f"{path} cannot be read: {error.strerror}; check its permissions")


def write_json(path: Path, value: Any) -> None:
    """Write JSON under a temporary name, rename it, and make the name durable."""
    temporary = path.with_name(path.name + ".new")
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_bytes(temporary, text.encode())
    with disk_errors(path):
        os.replace(temporary, path)
    sync_directory(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 to a file that someone named; see `replacing`."""
    with replacing(path) as out:
        out.write(text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """What is written within goes to a file that someone named: a reader sees the old content or the new one.

    A link stays a link, and what it leads to is replaced. What is no regular file is written to as it is.
    """
    with disk_errors(path):
        if is_stream(path):
            with _open_stream(path) as out:
                yield out
            return
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        _remove_abandoned(target)
        temporary = target.with_name(f".{target.name}.{platform.node()}-{os.getpid()}.new")
        try:
            with open(temporary, "wb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_abandoned(target: Path) -> None:
    """Remove what processes of this machine left that were killed while they wrote this file."""
    if os.name == "nt":  # where os.kill ends the process
        return
    beginning = f".{target.name}.{platform.node()}-"
    for path in target.parent.glob(f"{glob.escape(beginning)}*.new"):
        number = path.name[len(beginning) :].removesuffix(".new")
        if number.isdecimal():
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                path.unlink(missing_ok=True)
            except OSError:  # another user's process
                pass


def is_stream(path: Path) -> bool:
    """Whether a path is a stream: a pipe, a device, or this process's own output."""
    try:
        found = path.stat()
    except OSError:
        return False
    return not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)) or _own_output(found) is not None


def _open_stream(path: Path) -> BinaryIO:
    # Our own output is written at its position: opened by name, a file behind > would be written from its beginning.
    own = _own_output(path.stat())
    return open(path if own is None else os.dup(own), "wb")


def _own_output(found: os.stat_result) -> int | None:
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(number)):
                return number
    return None


HEAD = 2000  # bytes by which our own files are recognised


def check_file(
    path: Path, what: str, is_ours: Callable[[bytes], bool], example: str, overwrite: bool | None = None
) -> None:
    """Whether a file that someone named can be written: an existing file must be empty or ours by its first bytes.

    ``overwrite`` is None for commands without that option; the others replace any file with it, and none without it.
    """
    if is_stream(path):
        return
    if path.is_dir():
        raise UsageError(
            f"{path} is a directory, so no {what} can be written there; name a file, such as {path / example}"
        )
    if path.exists() and not overwrite and not _may_go(path, is_ours):
        if overwrite is not None:
            raise UsageError(f"{path} exists already; choose another name, or replace it with --overwrite")
        raise UsageError(
            f"{path} exists already and is no {what} that BagPack made, so it is not replaced; choose another name, or "
            f"remove it first"
        )
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise UsageError(
            f"{path} cannot be written: there is no directory {folder}; make it, or choose another place"
        )
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{path} cannot be written: {folder} is read-only; choose another place")


def _may_go(path: Path, is_ours: Callable[[bytes], bool]) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return not head or is_ours(head)


def check_not_read(out: Path, *inputs: str | Path | None) -> None:
    """Refuse an output that is one of the files that are read, or holds one."""
    for name in inputs:
        if name is None or not os.path.exists(name) or not out.exists() or is_stream(out):
            continue
        if os.path.samefile(name, out):
            raise UsageError(f"{out} is read by this command, so it is not overwritten; choose another name")
        if out.is_dir() and Path(os.path.realpath(name)).is_relative_to(os.path.realpath(out)):
            raise UsageError(
                f"{out} holds {name}, which is read by this command, so it is not replaced; choose another name"
            )


def read_json(path: Path) -> Any:
    """Read JSON of an artefact; a damaged file is a sentence."""
    try:
        with open_regular(path) as handle:
            return json.loads(handle.read())
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing; {RESTORE}") from error
    except RecursionError as error:
        raise StoreError(f"{path} is nested too deeply; it is damaged: {RESTORE}") from error
    except ValueError as error:
        raise StoreError(
            f"{path} is not the JSON it should be ({error}); it is damaged: {RESTORE}"
        ) from error


def sync_directory(path: Path) -> None:
    """Make renames in a directory durable; Windows opens no directories, and needs no such call."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(handle: BinaryIO | FileIO) -> bool:
    """Lock an open file, without waiting; False if another process holds it. The system releases it with the process.

    On a file system without locks nothing can be held, and nothing is refused.
    """
    from filelock import lock_descriptor

    with suppress(OSError):
        return lock_descriptor(handle.fileno(), blocking=False)
    return True
