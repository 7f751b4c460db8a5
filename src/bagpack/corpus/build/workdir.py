"""The directory where a store is made before it gets its name: one owner, a recorded plan, nothing left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bagpack.artefacts import replace_tree
from bagpack.corpus.build.plan import Plan, is_left_out
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sources import expand
from bagpack.corpus.store.manifest import MANIFEST, read_manifest
from bagpack.errors import InputError, StoreError
from bagpack.files import disk_errors, read_json, remove_tree, write_json

LOCK = "lock"
WORKERS = "workers"
PLAN = "plan.json"
SPOOLED = "stdin"


def check_free(out: Path, *, append: bool, overwrite: bool) -> None:
    """An existing output is replaced or added to only when that was asked for."""
    if append or not (out.exists() or out.is_symlink()):
        return
    if not overwrite:
        raise StoreError(
            f"{out} exists already; choose another --out, add to it with --append, or --overwrite it"
        )
    if not out.is_dir() or (any(out.iterdir()) and not (out / MANIFEST).exists()):
        raise StoreError(
            f"{out} is not a BagPack store, so --overwrite leaves it alone; choose another --out"
        )


@contextmanager
def owned(work: Path, *, resume: bool, overwrite: bool) -> Iterator[bool]:
    """Hold the workplace alone (the lock falls with the process); yields whether it is a new one."""
    with disk_errors(work):
        work.mkdir(parents=True, exist_ok=True)
        handle = open(work / LOCK, "w")  # noqa: SIM115 (held while the build lasts)
    with handle:
        busy = StoreError(f"another bagpack index is working in {work}; wait for it or stop it")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise busy from error
            # A file system without locks: nothing to hold on to.
        try:
            current = os.stat(work / LOCK).st_ino
        except FileNotFoundError:
            raise busy from None
        if current != os.fstat(handle.fileno()).st_ino:
            raise busy  # its owner finished just now, and someone else began
        with _locked(work / WORKERS, fcntl.LOCK_EX):
            pass  # workers of a build that was killed go when they notice; until then they may write here
        old = [path for path in work.iterdir() if path.name not in (LOCK, WORKERS)]
        if old and not resume:
            if not overwrite:
                raise StoreError(
                    f"an unfinished build is at {work}; add --resume to go on with it, or --overwrite to start anew"
                )
            for path in old:
                remove_tree(path)
            old = []
        yield not old


@contextmanager
def at_work(work: Path) -> Iterator[None]:
    """Held by every worker while it writes."""
    with _locked(work / WORKERS, fcntl.LOCK_SH):
        yield


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with disk_errors(path):  # not around what is done meanwhile, whose errors are about other files
        handle = open(path, "a")  # noqa: SIM115 (held while the lock is)
    with handle:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, how)
        yield


def spool(names: list[str], work: Path) -> tuple[list[str], dict[str, str]]:
    """Standard input is kept in a file first: it can then be sliced, and read again after an interruption."""
    if "-" not in names:
        return names, {}
    kept = work / SPOOLED
    if not kept.exists():
        beside = work / f"{SPOOLED}.new"
        with disk_errors(beside), open(beside, "wb") as handle:
            shutil.copyfileobj(sys.stdin.buffer, handle, 1 << 20)
        if beside.stat().st_size == 0:
            raise InputError("standard input is empty; pipe some text into the command")
        os.replace(beside, kept)
    return [str(kept) if name == "-" else name for name in names], {str(kept): SPOOLED}


def settle_plan(plan: Plan, work: Path, base: str | None) -> None:
    """Record the plan (and the content that an append adds to), or check that the interrupted build had the same."""
    now = {**plan.fingerprint(), "base": base}
    if (work / PLAN).exists():
        before = read_json(work / PLAN)
        if before != now:
            words = {"part_bytes": "size of parts", "base": "content of the store"}
            differing = [words.get(name, name) for name in now if before.get(name) != now[name]]
            raise _begun_otherwise(work, differing)
    for name in ("progress", "parts"):
        with disk_errors(work):
            (work / "shards" / name).mkdir(parents=True, exist_ok=True)
    write_json(work / PLAN, now)


def is_complete(work: Path, names: Iterable[str], options: TextOptions) -> bool:
    """Whether an interrupted build was whole but for its renaming."""
    if not (work / MANIFEST).exists():
        return False
    differing = _differences(read_json(work / MANIFEST), names, options)
    if differing:
        raise _begun_otherwise(work, differing)
    return True


def check_finished(out: Path, names: Iterable[str], options: TextOptions) -> None:
    """A store that is there already is what a build of these sources and options would have made."""
    differing = _differences(read_manifest(out), names, options)
    if differing:
        raise StoreError(
            f"{out} is finished, and was indexed with other {', '.join(differing)}; choose another --out, add to it "
            f"with --append, or --overwrite it"
        )


def _differences(manifest: dict[str, Any], names: Iterable[str], options: TextOptions) -> list[str]:
    """What of a store's sources and options is not what is asked for."""
    recorded = [
        (entry["path"], entry["bytes"] if entry["path"] != SPOOLED else -1) for entry in manifest["sources"]
    ]
    known = set(recorded)
    sources = []
    for file in expand(names):
        source = (file.path, os.path.getsize(file.path)) if file.path != "-" else (SPOOLED, -1)
        if source in known or not is_left_out(file, options):  # only what is not known has to be looked into
            sources.append(source)
    before, now = TextOptions.from_dict(manifest["options"]).to_dict(), options.to_dict()
    changed = ["--" + name.replace("_", "-") for name in now if before[name] != now[name]]
    return [*(["sources"] if sources != recorded else []), *changed]


def _begun_otherwise(work: Path, differing: list[str]) -> StoreError:
    return StoreError(
        f"{work} was begun with other {', '.join(differing)}; run the first command again with --resume, or start "
        f"anew with --overwrite"
    )


def install(work: Path, out: Path, manifest: dict[str, Any]) -> None:
    """Give the finished store its name; an old one makes way only now."""
    sweep(work, manifest)
    replace_tree(work, out)


def sweep(store: Path, manifest: dict[str, Any]) -> None:
    """Remove what the manifest does not name: what building took, and what an interrupted append left."""
    _keep_only(store / "shards", {entry["name"] for entry in manifest["shards"]})
    _keep_only(store, {MANIFEST, "shards", manifest["lexicon"]["directory"]})


def _keep_only(directory: Path, names: set[str]) -> None:
    for path in directory.iterdir():
        if path.name not in names:
            remove_tree(path)
