"""Building a store: plan, parts in parallel, one lexicon, one rename.

Everything is made in `STORE.partial` (for an append, in `STORE/append.partial`) and gets its final name when it is
whole. A finished part leaves `parts/NNNNNN.json`; `resume` skips those and ends with the same bytes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib

from bagpack.corpus.lexicon import write_lexicon
from bagpack.corpus.options import TextOptions
from bagpack.corpus.plan import Part, Plan, make_plan
from bagpack.corpus.readers import reader_for
from bagpack.corpus.shard import Shard
from bagpack.corpus.sink import SHARD_TOKENS, ShardSink, Tally
from bagpack.corpus.store import FORMAT_VERSION, MANIFEST, Corpus, manifest_seal, read_manifest
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import digest, disk_errors, read_json, remove_tree, sync_directory, write_json

DEFAULT_MEMORY = 2 << 30
WORKER_BASE = 350 << 20  # interpreter, numba, numpy and the lemma tables, measured
WORKER_SHARD = 12 * SHARD_TOKENS  # raw ids, postings and growth

Progress = Callable[[int, int], None]  # (tokens so far, estimated bytes so far)


@dataclass(frozen=True)
class IndexSummary:
    """What a finished build tells."""

    corpus: Corpus
    seconds: float
    new_tokens: int
    told: dict[str, int]


def build_part(part: Part, directory: str, options: TextOptions, part_bytes: int) -> dict[str, Any]:
    """Read one part and write its shards; what a worker does, wherever it runs."""
    sink = ShardSink(Path(directory), part.number, options, part_bytes)
    reader = reader_for(part.format)
    for piece in part.slices:
        sink.begin(piece)
        reader.feed(piece, sink, options)
    sink.finish()
    done = {"shards": sink.shards, "tokens": sink.total_tokens, "told": asdict(sink.tally)}
    write_json(Path(directory) / "parts" / f"{part.number:06d}.json", done)
    return done


def workers_within(memory: int, jobs: int | None) -> int | None:
    """How many workers the memory bound allows, at most `jobs`; None leaves it to joblib's context."""
    allowed = max(1, memory // (WORKER_BASE + WORKER_SHARD))
    if jobs is None:
        return None
    wanted = joblib.cpu_count() if jobs < 0 else jobs
    return int(min(wanted, allowed))


def index_corpus(
    sources: Iterable[str],
    out: str | Path,
    options: TextOptions | None = None,
    *,
    jobs: int | None = None,
    memory: int = DEFAULT_MEMORY,
    append: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    part_bytes: int | None = None,
    progress: Progress | None = None,
    planned: Callable[[Plan], None] | None = None,
) -> IndexSummary:
    """Index text into a store.

    Parameters
    ----------
    sources
        Files, directories, globs, or ``-`` for standard input.
    out
        The store to make; with `append`, the store to add to.
    jobs
        Worker processes, -1 for one per core; None takes joblib's own context.
    memory
        Bound on the memory of all workers together, in bytes.
    resume
        Go on with an interrupted build of the same input.
    overwrite
        Replace an existing store, or discard an unfinished build.
    """
    begun = time.monotonic()
    out = Path(out)
    base: dict[str, Any] | None = None
    if append:
        base = read_manifest(out)
        recorded = TextOptions.from_dict(base["options"])
        options = recorded if options is None else _same_options(recorded, options, out)
    options = options or TextOptions()
    work = out / "append.partial" if append else out.with_name(out.name + ".partial")
    _check_free(out, work, append=append, resume=resume, overwrite=overwrite)
    with disk_errors(work):
        work.mkdir(parents=not append, exist_ok=True)
    with _locked(work):
        try:
            names, labels = _spool(list(sources), work, resume)
            plan = make_plan(names, options, part_bytes, labels)
            if planned:
                planned(plan)
            if append:
                told = _build(plan, work, resume, workers_within(memory, jobs), progress, out, base)
            elif not _is_complete(plan, work):
                told = _build(plan, work, resume, workers_within(memory, jobs), progress, out, None)
        except (InputError, UsageError):
            remove_tree(work)  # the input has to change, so there is nothing to go on with
            raise
        if not append:
            told = read_json(work / MANIFEST)["told"]
            _install(work, out)
    corpus = Corpus.open(out)
    new_tokens = corpus.tokens - (base["tokens"] if base else 0)
    return IndexSummary(corpus, time.monotonic() - begun, new_tokens, told)


def _is_complete(plan: Plan, work: Path) -> bool:
    """Whether an interrupted build was whole but for its renaming."""
    if not (work / MANIFEST).exists():
        return False
    manifest = read_json(work / MANIFEST)
    return bool(manifest["sources"] == _sources(plan) and manifest["options"] == plan.options.to_dict())


def _build(
    plan: Plan, work: Path, resume: bool, jobs: int | None, progress: Progress | None, out: Path,
    base: dict[str, Any] | None,
) -> dict[str, int]:  # fmt: skip
    """Build all parts and finish the store (in `work`) or the append (in `out`); returns what was passed over."""
    _settle_plan(plan, work, resume)
    done = _run(plan, work, jobs, progress)
    told = Tally()
    for entry in done:
        told.add(entry["told"])
    new = [name for entry in done for name in entry["shards"]]
    if not new:
        names = ", ".join(source.name for source in plan.sources[:3])
        raise InputError(f"no sentence was found in {names}; check the --format and the files")
    if base is None:
        entries = [_shard_entry(work / "shards", name) for name in new]
        _write_manifest(work, "lexicon-0", entries, _sources(plan), plan.options, _told(told))
    else:
        _finish_append(plan, work, out, new, _told(told), base)
    return _told(told)


def _same_options(recorded: TextOptions, wanted: TextOptions, out: Path) -> TextOptions:
    for name in ("level", "case", "punctuation", "annotator", "lang"):
        if getattr(recorded, name) != getattr(wanted, name):
            raise UsageError(
                f"{out} was indexed with --{name} {getattr(recorded, name)}, so --append cannot use "
                f"{getattr(wanted, name)}; leave --{name} out, or make a new store"
            )
    return wanted


def _check_free(out: Path, work: Path, *, append: bool, resume: bool, overwrite: bool) -> None:
    if out.exists() and not append:
        if not overwrite:
            raise StoreError(
                f"{out} exists already; choose another --out, add to it with --append, or --overwrite it"
            )
        if not out.is_dir() or (any(out.iterdir()) and not (out / MANIFEST).exists()):
            raise StoreError(
                f"{out} is not a BagPack store, so --overwrite leaves it alone; choose another --out"
            )
    if work.exists() and overwrite:
        remove_tree(work)
    if work.exists() and not resume:
        raise StoreError(
            f"an unfinished build is at {work}; add --resume to go on with it, or --overwrite to start anew"
        )


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """One build at a time in one place; the lock falls with the process."""
    with open(work / "lock", "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(f"another bagpack index is working in {work}; wait for it or stop it") from error
        yield


def _spool(names: list[str], work: Path, resume: bool) -> tuple[list[str], dict[str, str]]:
    """Standard input is kept in a file first: it can then be sliced, and read again after an interruption."""
    if "-" not in names:
        return names, {}
    import shutil
    import sys

    kept = work / "stdin"
    if not (resume and kept.exists()):
        beside = work / "stdin.new"
        with disk_errors(beside), open(beside, "wb") as handle:
            shutil.copyfileobj(sys.stdin.buffer, handle, 1 << 20)
        if beside.stat().st_size == 0:
            raise InputError("standard input is empty; pipe some text into the command")
        os.replace(beside, kept)
    return [str(kept) if name == "-" else name for name in names], {str(kept): "stdin"}


def _settle_plan(plan: Plan, work: Path, resume: bool) -> None:
    """Record the plan, or check that an interrupted build had the same."""
    recorded = work / "plan.json"
    if resume and recorded.exists():
        before, now = read_json(recorded), plan.fingerprint()
        if before != now:
            differing = ", ".join(name for name in now if before.get(name) != now[name])
            raise StoreError(
                f"{work} was begun with other {differing}; run the first command again with --resume, or start anew "
                f"with --overwrite"
            )
    for name in ("progress", "parts"):
        (work / "shards" / name).mkdir(parents=True, exist_ok=True)
    write_json(recorded, plan.fingerprint())


def _run(plan: Plan, work: Path, jobs: int | None, progress: Progress | None) -> list[dict[str, Any]]:
    """Build the parts that are not there yet; returns what each part reported, in order."""
    shards = work / "shards"
    finished = {part.number for part in plan.parts if (shards / "parts" / f"{part.number:06d}.json").exists()}
    waiting = [part for part in plan.parts if part.number not in finished]
    weight = {part.number: part.weight for part in plan.parts}
    tasks = (joblib.delayed(build_part)(part, str(shards), plan.options, plan.part_bytes) for part in waiting)
    with _watched(shards / "progress", weight, finished, progress):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for _ in parallel(tasks):
            pass
    return [read_json(shards / "parts" / f"{part.number:06d}.json") for part in plan.parts]


@contextmanager
def _watched(
    directory: Path, weight: dict[int, int], finished: set[int], progress: Progress | None
) -> Iterator[None]:
    """Poll the traces that workers leave, and tell the progress."""
    if progress is None:
        yield
        return
    import threading

    stop = threading.Event()
    resumed = sum(weight[number] for number in finished)

    def look() -> None:
        while not stop.wait(0.2):
            tokens = size = 0
            for trace in directory.glob("[0-9]*"):
                try:
                    seen, consumed = map(int, trace.read_text().split())
                except (OSError, ValueError):
                    continue
                tokens += seen
                size += min(consumed, weight[int(trace.name)])
            progress(tokens, size + resumed)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _shard_entry(shards: Path, name: str) -> dict[str, Any]:
    facts = Shard(shards / name).facts
    entry = {key: facts[key] for key in ("tokens", "sentences", "documents", "types", "keys")}
    return {"name": name, **entry, "digest": digest((shards / name / "shard.json").read_bytes())}


def _told(told: Tally) -> dict[str, int]:
    return {name: value for name, value in asdict(told).items() if isinstance(value, int)}


def _manifest(
    entries: list[dict[str, Any]], lexicon: dict[str, Any], types: int, options: TextOptions,
    sources: list[dict[str, Any]], told: dict[str, int],
) -> dict[str, Any]:  # fmt: skip
    counted = {name: sum(entry[name] for entry in entries) for name in ("tokens", "sentences", "documents")}
    identity = "\n".join([*(entry["digest"] for entry in entries), str(sorted(options.to_dict().items()))])
    manifest: dict[str, Any] = {
        "kind": "corpus",
        "format_version": FORMAT_VERSION,
        **counted,
        "types": types,
        "content_hash": digest(identity.encode()),
        "options": options.to_dict(),
        "sources": sources,
        "told": told,
        "lexicon": lexicon,
        "shards": entries,
    }
    return {**manifest, "seal": manifest_seal(manifest)}


def _sources(plan: Plan) -> list[dict[str, Any]]:
    return [{"path": source.name, "bytes": source.size, "format": source.format} for source in plan.sources]


def _write_manifest(
    root: Path, directory: str, entries: list[dict[str, Any]], sources: list[dict[str, Any]],
    options: TextOptions, told: dict[str, int],
) -> None:  # fmt: skip
    checksums = write_lexicon([root / "shards" / entry["name"] for entry in entries], root / directory)
    types = (root / directory / "keys.offsets").stat().st_size // 8 - 1
    lexicon = {"directory": directory, "checksums": checksums}
    write_json(root / MANIFEST, _manifest(entries, lexicon, types, options, sources, told))


def _clear_work(work: Path) -> None:
    # plan.json last: with the manifest beside it, it says that only the renaming is left.
    for name in ("stdin", "shards/progress", "shards/parts", "lock", "plan.json"):
        remove_tree(work / name)


def _install(work: Path, out: Path) -> None:
    """Give the finished store its name; an old one makes way only now."""
    _clear_work(work)
    if out.exists():
        old = out.with_name(out.name + ".old")
        remove_tree(old)
        os.replace(out, old)
        os.replace(work, out)
        remove_tree(old)
    else:
        os.replace(work, out)
    sync_directory(out.parent)


def _finish_append(
    plan: Plan, work: Path, out: Path, new: list[str], told: dict[str, int], base: dict[str, Any]
) -> None:
    generation = int(base["lexicon"]["directory"].rpartition("-")[2]) + 1
    first = 1 + max(int(entry["name"].partition("-")[0]) for entry in base["shards"])
    entries = list(base["shards"])
    for name in new:
        number, _, piece = name.partition("-")
        final = f"{first + int(number):06d}-{piece}"
        target = out / "shards" / final
        if (work / "shards" / name).exists():
            remove_tree(target)  # left by an append that was interrupted before its manifest was written
            os.replace(work / "shards" / name, target)
        entries.append(_shard_entry(out / "shards", final))
    directory = f"lexicon-{generation}"
    remove_tree(out / directory)
    summed = {name: base["told"][name] + value for name, value in told.items()}
    sources = [*base["sources"], *_sources(plan)]
    _write_manifest(out, directory, entries, sources, TextOptions.from_dict(base["options"]), summed)
    remove_tree(out / base["lexicon"]["directory"])
    remove_tree(work)
    sync_directory(out)
