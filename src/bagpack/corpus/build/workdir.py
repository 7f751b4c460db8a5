"""The directory where a store is made before it gets its name: one owner, finished parts, nothing left behind.

A build works in `STORE.partial`, an append in `STORE/append.partial`; in both, `lock` is held by the process that works
there. A finished part leaves a report under the key of its input and options, by which `--resume` finds it again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bagpack.artefacts import LOCK, check_leftover, discard, locked_directory, replace_tree
from bagpack.corpus.build.plan import Part, is_left_out
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sources import expand, printable
from bagpack.corpus.store import format
from bagpack.corpus.store.manifest import (
    FACTS,
    LEXICON_NAME,
    MANIFEST,
    SHARD_NAME,
    is_store,
    read_manifest,
)
from bagpack.errors import InputError, StoreError
from bagpack.files import PARTIAL, digest, disk_errors, read_json, remove_tree, write_json
from bagpack.locks import lock

WORKERS = "at-work"  # one locked file per worker that writes
SETTINGS = "settings.json"
SPOOLED = "stdin"
APPENDING = f"append{PARTIAL}"
APPENDED = "append.done"  # what earlier versions left when they were killed at the end of an append
# Options under which a finished part holds no such place, so that it is the same under any other value.
STRICT = {"bad_lines": "error", "encoding_errors": "strict"}
LIMITS = ("max_sentence", "max_line")  # a finished part is the same under a higher one
UNFINISHED_SHARD = re.compile(rf"{SHARD_NAME.pattern}\.[0-9a-f]{{32}}\.new")


# What may be replaced ------------------------------------------------------------------------------------------------


def check_free(out: Path, *, overwrite: bool) -> None:
    """An existing output is replaced only when that was asked for."""
    check_leftover(out)
    if not (out.exists() or out.is_symlink()):
        return
    if not overwrite:
        if not is_store(out):
            raise StoreError(f"{out} exists already and is not a BagPack store; choose another --out")
        raise StoreError(
            f"{out} exists already; choose another --out, add to it with --append, or --overwrite it"
        )
    if out.is_dir() and not any(out.iterdir()):
        return
    if not is_store(out):
        raise StoreError(
            f"{out} is not a BagPack store, so --overwrite does not replace it; choose another --out"
        )
    if foreign := next(foreign_files(out), None):
        raise StoreError(
            f"{foreign} is not a file of the store {out}, and --overwrite would remove it; move it elsewhere"
        )


def foreign_files(store: Path) -> Iterator[Path]:
    """Files and links in a store's directory that BagPack did not write."""
    ours = {
        "": lambda name: name in (MANIFEST, f"{MANIFEST}.new", LOCK),
        "shard": lambda name: name in format.SHARD or name in (FACTS, f"{FACTS}.new"),
        "lexicon": lambda name: name in format.LEXICON,
    }
    for directory, inner, names in os.walk(store):
        place = Path(directory)
        below = place.relative_to(store).parts
        if below[:1] in ((APPENDING,), (APPENDED,)):
            inner.clear()
            continue
        kind = "shard" if below[:1] == ("shards",) else "lexicon" if below else ""
        known = {
            (): lambda name: name in ("shards", APPENDING, APPENDED) or LEXICON_NAME.fullmatch(name),
            ("shards",): lambda name: SHARD_NAME.fullmatch(name) or UNFINISHED_SHARD.fullmatch(name),
        }.get(below, lambda name: False)
        yield from (place / name for name in sorted(inner) if not known(name) or (place / name).is_symlink())
        yield from (
            place / name
            for name in sorted(names)
            if below == ("shards",) or not ours[kind](name) or (place / name).is_symlink()
        )


# Ownership -----------------------------------------------------------------------------------------------------------


@contextmanager
def owned(work: Path, *, resume: bool, overwrite: bool) -> Iterator[bool]:
    """Hold the directory alone (the lock ends with the process); yields whether it is a new one."""
    # A killed process may have left it with the store that was replaced.
    with locked_directory(work, lambda work: is_store(work) or os.listdir(work) == [WORKERS]) as handle:
        _wait_for_workers(work)
        old = [path for path in work.iterdir() if path.name not in (LOCK, WORKERS)]
        if old and not resume:
            if not overwrite:
                raise StoreError(
                    f"an unfinished build is at {work}; resume it with --resume, or discard it with --overwrite"
                )
            for path in old:
                remove_tree(path)
            old = []
        try:
            yield not old
        finally:
            # Nothing was made. The lock may be another process's by now, which began when ours was removed.
            with suppress(OSError):
                own = os.path.samestat(os.stat(work / LOCK), os.fstat(handle.fileno()))
                if own and all(path.name in (LOCK, WORKERS) for path in work.iterdir()):
                    discard(work)


@contextmanager
def at_work(work: Path) -> Iterator[None]:
    """Held by every worker while it writes."""
    path = work / WORKERS / uuid.uuid4().hex
    with disk_errors(path):  # not around what is done meanwhile, whose errors are about other files
        path.parent.mkdir(exist_ok=True)
        handle = open(path, "ab")  # noqa: SIM115 (held while the lock is)
    try:
        with handle:
            lock(handle, wait=True)
            yield
    finally:
        path.unlink(missing_ok=True)


def _wait_for_workers(work: Path) -> None:
    """Wait until no worker of a killed build writes here any more; they end when they notice."""
    if not (work / WORKERS).is_dir():
        return
    for path in (work / WORKERS).iterdir():
        with suppress(FileNotFoundError), open(path, "rb+") as handle:
            lock(handle, wait=True)
        path.unlink(missing_ok=True)


def spool(names: list[str], work: Path) -> tuple[list[str], dict[str, str]]:
    """Standard input is kept in a file first: it can then be sliced, and read again after an interruption."""
    if "-" not in names:
        return names, {}
    kept = work / SPOOLED
    if not kept.exists():
        partial = work / f"{SPOOLED}.new"
        try:
            with disk_errors(partial), open(partial, "wb") as handle:
                shutil.copyfileobj(sys.stdin.buffer, handle, 1 << 20)
        except BaseException:
            partial.unlink(missing_ok=True)  # half of it is of no use
            raise
        if partial.stat().st_size == 0:
            raise InputError("standard input is empty; pipe some text into the command")
        os.replace(partial, kept)
    return [str(kept) if name == "-" else name for name in names], {str(kept): SPOOLED}


# Resuming ------------------------------------------------------------------------------------------------------------


class FinishedParts:
    """Reports of the parts that are finished, by the key of what went into them."""

    def __init__(self, work: Path, options: TextOptions) -> None:
        self.directory = work / "shards" / "parts"
        self.options = options
        shaping = {name: value for name, value in options.to_dict().items() if name not in (*STRICT, *LIMITS)}
        if (work / SETTINGS).exists():
            before = read_json(work / SETTINGS)
            differing = [
                "--" + name.replace("_", "-") for name in shaping if before.get(name) != shaping[name]
            ]
            if differing:
                raise begun_otherwise(work, differing)
        self.shaping = shaping
        with disk_errors(work):
            self.directory.mkdir(parents=True, exist_ok=True)
        write_json(work / SETTINGS, shaping)

    def path(self, part: Part) -> Path:
        """Where the report of a part is, once it is finished."""
        what = [[asdict(piece) for piece in part.slices], self.shaping]
        return self.directory / f"{digest(json.dumps(what, sort_keys=True).encode())}.json"

    def find(self, part: Part) -> dict[str, Any] | None:
        """The report of a part, if it is finished and would not differ under the options of today."""
        path = self.path(part)
        if not path.exists():
            return None
        report: dict[str, Any] = read_json(path)
        if "problems" not in report:  # of an earlier version
            return None
        if not all((self.directory.parent / name / FACTS).exists() for name in report["shards"]):
            return None
        before, now = report["options"], self.options.to_dict()
        same = all(before[name] in (now[name], strict) for name, strict in STRICT.items())
        return report if same and all(before[name] <= now[name] for name in LIMITS) else None


def is_complete(work: Path, names: Iterable[str], options: TextOptions) -> bool:
    """Whether an interrupted build was whole but for its renaming."""
    if not (work / MANIFEST).exists():
        return False
    differing = _differences(read_manifest(work), names, options)
    if differing:
        raise begun_otherwise(work, differing)
    return True


def is_finished(out: Path, names: Iterable[str], options: TextOptions) -> bool:
    """Whether the store at a path is what a build of these sources and options makes."""
    return is_store(out) and not _differences(read_manifest(out), names, options)


def check_finished(out: Path, names: Iterable[str], options: TextOptions) -> None:
    """Raise unless the store at a path is what a build of these sources and options makes."""
    differing = _differences(read_manifest(out), names, options)
    if differing:
        raise StoreError(
            f"{out} is finished, and was indexed with other {', '.join(differing)}; choose another --out, add to it "
            f"with --append, or --overwrite it"
        )


def _differences(manifest: dict[str, Any], names: Iterable[str], options: TextOptions) -> list[str]:
    """Which of a store's sources and options are not those that are asked for."""
    recorded = [source_key(entry) for entry in manifest["sources"]]
    known = set(recorded)
    sources = []
    for file in expand(names):
        source = key_of_file(file.path)
        if source in known or not is_left_out(file, options):  # only unknown files have to be looked into
            sources.append(source)
    if any(modified is None for _, _, modified in recorded):  # of a version that did not record times
        sources = [(name, size, None) for name, size, _ in sources]
    before, now = TextOptions.from_dict(manifest["options"]).to_dict(), options.to_dict()
    changed = ["--" + name.replace("_", "-") for name in now if before[name] != now[name]]
    return [*(["sources"] if sources != recorded else []), *changed]


def source_key(entry: dict[str, Any]) -> tuple[str, int, int | None]:
    """What a source of a manifest is recognised by: name, size and time; standard input by its name alone."""
    if entry["path"] == SPOOLED:
        return SPOOLED, -1, -1
    return os.path.normpath(entry["path"]), entry["bytes"], entry.get("modified")


def key_of_file(path: str) -> tuple[str, int, int | None]:
    """The same for a file."""
    if path == "-":
        return SPOOLED, -1, -1
    status = os.stat(path)
    return os.path.normpath(printable(path)), status.st_size, status.st_mtime_ns


def begun_otherwise(work: Path, differing: list[str]) -> StoreError:
    """The error where an unfinished build is resumed with another input or other options."""
    return StoreError(
        f"{work} was begun with other {', '.join(differing)}; run the first command again with --resume, or discard "
        f"it with --overwrite"
    )


# Finishing -----------------------------------------------------------------------------------------------------------


def install(work: Path, out: Path, manifest: dict[str, Any]) -> None:
    """Give the finished store its name; an old one is replaced in one step, never while someone appends to it."""
    _keep_only(work / "shards", {entry["name"] for entry in manifest["shards"]})
    _keep_only(work, {MANIFEST, "shards", manifest["lexicon"]["directory"]})
    if not is_store(out):
        replace_tree(work, out)
        return
    with owned(out / APPENDING, resume=True, overwrite=True):
        replace_tree(work, out)


def _keep_only(directory: Path, names: set[str]) -> None:
    if directory.is_symlink():
        raise StoreError(
            f"{directory} is a symbolic link, so nothing is removed there; put the directory itself there"
        )
    for path in directory.iterdir():
        if path.name not in names:
            remove_tree(path)
