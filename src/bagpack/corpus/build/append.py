"""Adding to a store: new shards behind the old ones, a new lexicon next to the old one, then the new manifest.

A process that is killed leaves the old store or the new one. Shards that the manifest does not name are removed by the
next append, or taken back by one that resumes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bagpack.artefacts import LOCK, discard
from bagpack.corpus.build.describe import make_manifest, shard_entry
from bagpack.corpus.build.parts import FinishedPlan, Reporting, build_parts
from bagpack.corpus.build.plan import is_left_out
from bagpack.corpus.build.workdir import (
    APPENDED,
    APPENDING,
    SPOOLED,
    WORKERS,
    key_of_file,
    owned,
    source_key,
)
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.sources import expand
from bagpack.corpus.store.manifest import LEXICON_NAME, MANIFEST, SHARD_NAME, read_manifest
from bagpack.errors import StoreError, UsageError
from bagpack.files import disk_errors, read_json, remove_tree, sync_directory, write_json

FINISHED = "finished.json"  # the content hash of the store after the append: only cleaning up is left
FIRST = "first.json"  # the number that the first shard of an append has in the store


def append_to(
    out: Path,
    names: list[str],
    settle: Callable[[dict[str, Any]], TextOptions],
    jobs: int | None,
    part_bytes: int | None,
    report: Reporting,
    *,
    resume: bool,
    overwrite: bool,
) -> tuple[FinishedPlan | None, int]:
    """Add the sources to a store; returns what was built (None if they are in it already) and the tokens before.

    `settle` gives the options, from the manifest. Everything that depends on what the store holds is read while its
    lock is held.
    """
    read_manifest(out)  # nothing is made in a directory that is no store
    work = out / APPENDING
    unfinished = work.exists() or (out / APPENDED).exists()
    if resume and not unfinished:
        raise StoreError(
            f"no unfinished append is in {out}; remove --resume to append (bagpack info {out} lists the sources "
            f"that it holds)"
        )
    if (work / FINISHED).exists() or (resume and not work.exists()):
        resume = overwrite = True  # of an append that was finished but for its cleaning up
    with owned(work, resume=resume, overwrite=overwrite) as fresh:
        base = read_manifest(out)
        if (work / FINISHED).exists() and read_json(work / FINISHED) == base["content_hash"]:
            for path in sorted(work.iterdir(), key=lambda path: path.name == FINISHED):
                if path.name not in (LOCK, WORKERS):
                    remove_tree(path)
            fresh = True
        if fresh:
            sweep(out, base)
        else:
            take_back(work, out, base)
        options = settle(base)
        if _is_in(names, base, options, out):
            discard(work, last=FINISHED)
            report.notice(f"{out} holds these sources already, from the append before; nothing was added")
            return None, base["tokens"]
        made = build_parts(work, names, options, jobs, part_bytes, report, fresh)
        manifest = _add_shards(work, out, base, made, options)
        write_json(work / FINISHED, manifest["content_hash"])
        write_json(out / MANIFEST, manifest)
        sweep(out, manifest)
        discard(work, last=FINISHED)
        sync_directory(out)
    return made, base["tokens"]


def _is_in(names: list[str], base: dict[str, Any], options: TextOptions, out: Path) -> bool:
    """Whether the last append added just these sources; a source that the store has from elsewhere is an error.

    A command that was killed when all but its cleaning up was done, and is repeated, must not add the text twice.
    """
    held = {
        source_key(entry) for entry in base["sources"] if "modified" in entry and entry["path"] != SPOOLED
    }
    wanted = [key_of_file(file.path) for file in expand(names) if not is_left_out(file, options)]
    twice = [name for name, size, modified in wanted if (name, size, modified) in held]
    if not twice:
        return False
    last = base.get("appended", [])[-1:]
    if last and [source_key(entry) for entry in base["sources"][-last[0]["sources"] :]] == wanted:
        return True
    raise UsageError(
        f"{out} holds {twice[0]} already, so its text would count twice; remove it, or change its name to add it "
        f"again on purpose"
    )


def _add_shards(
    work: Path, out: Path, base: dict[str, Any], made: FinishedPlan, options: TextOptions
) -> dict[str, Any]:
    """Move the shards into the store and write a lexicon next to the old one; returns the new manifest."""
    generation = int(base["lexicon"]["directory"].rpartition("-")[2]) + 1
    first = 1 + max(int(entry["name"].partition("-")[0]) for entry in base["shards"])
    entries = list(base["shards"])
    write_json(work / FIRST, first)
    for name in made.shards:
        number, _, piece = name.partition("-")
        final = f"{first + int(number):06d}-{piece}"
        with disk_errors(out):
            os.replace(work / "shards" / name, out / "shards" / final)
        entries.append(shard_entry(out / "shards", final))
    lexicon = f"lexicon-{generation}"
    remove_tree(out / lexicon)
    appended = {
        "sources": len(made.plan.sources),
        "options": options.to_dict(),
        "problems": made.problems,
    }
    return make_manifest(
        out,
        lexicon,
        entries,
        TextOptions.from_dict(base["options"]),
        sources=[*base["sources"], *made.sources()],
        problems={name: base["problems"].get(name, 0) + value for name, value in made.problems.items()},
        left_out=[*base.get("left_out", ()), *made.left_out()],
        appended=[*base.get("appended", ()), appended],
        workers=made.workers,
    )


def take_back(work: Path, store: Path, manifest: dict[str, Any]) -> None:
    """Move the shards that an interrupted append had already moved into the store back to where they were made."""
    if not (work / FIRST).exists():
        return
    first = int(read_json(work / FIRST))
    named = {entry["name"] for entry in manifest["shards"]}
    for path in (store / "shards").iterdir():
        number, _, piece = path.name.partition("-")
        if SHARD_NAME.fullmatch(path.name) and path.name not in named and int(number) >= first:
            with disk_errors(work):
                os.replace(path, work / "shards" / f"{int(number) - first:06d}-{piece}")


def sweep(store: Path, manifest: dict[str, Any]) -> None:
    """Remove what appends left in a store: shards and lexicons that the manifest does not name. Nothing else."""
    shards = {entry["name"] for entry in manifest["shards"]}
    for path in (store / "shards").iterdir():
        if SHARD_NAME.fullmatch(path.name) and path.name not in shards and not path.is_symlink():
            remove_tree(path)
    for path in store.iterdir():
        old = LEXICON_NAME.fullmatch(path.name) and path.name != manifest["lexicon"]["directory"]
        if (old or path.name == APPENDED) and not path.is_symlink():
            remove_tree(path)
