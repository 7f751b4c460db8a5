"""Building a store: plan, parts in parallel, one lexicon, one rename.

Everything is made in `STORE.partial` (for an append, in `STORE/append.partial`) and gets its final name when it is
whole. A finished part leaves `parts/NNNNNN.json`; `resume` skips those and ends with the same bytes.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bagpack.artefacts import seal_of
from bagpack.corpus.build.plan import Part, Plan, make_plan
from bagpack.corpus.build.shard_builder import SHARD_TOKENS, ShardSink, Tally
from bagpack.corpus.build.warmup import warm_up
from bagpack.corpus.build.workdir import (
    at_work,
    check_finished,
    check_free,
    install,
    is_complete,
    owned,
    settle_plan,
    spool,
    sweep,
)
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers import reader_for
from bagpack.corpus.readers.sniff import LeftOut
from bagpack.corpus.readers.sources import Source
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import FORMAT_VERSION
from bagpack.corpus.store.lexicon import write_lexicon
from bagpack.corpus.store.manifest import MANIFEST, read_manifest
from bagpack.corpus.store.shard import Shard
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import PARTIAL, DiskError, digest, read_json, remove_tree, sync_directory, write_json
from bagpack.parallel import check_reached, core_count, delayed, on_one_machine, run

DEFAULT_MEMORY = 2 << 30
WORKER_BASE = 420 << 20  # interpreter, numba, numpy, lemma tables and a large vocabulary, measured
WORKER_TOKEN = 12  # bytes a token of the shard in the making: raw ids while they grow, postings
APPENDED = "append.done"
SHAPING = ("level", "case", "punctuation", "annotator", "lang")  # options that all of a store must share

Progress = Callable[[int, int], None]  # (tokens so far, estimated bytes so far)


@dataclass(frozen=True)
class IndexSummary:
    """What a finished build tells."""

    corpus: Corpus
    seconds: float
    new_tokens: int  # that the store has more than before
    read_tokens: int  # those of them that this run read: an interrupted one, gone on with, had read others
    told: dict[str, int]
    left_out: list[LeftOut]  # files of directories that hold no text, of this build or append


def build_part(part: Part, directory: str, options: TextOptions, part_bytes: int, commander: int = 0) -> None:
    """Read one part and write its shards; what a worker does, wherever it runs.

    On one machine, `commander` is the process that is worked for: if it goes, so does the worker.
    """
    shards = Path(directory)
    for path in (directory, *dict.fromkeys(piece.source.path for piece in part.slices)):
        check_reached(path)
    with at_work(shards.parent):
        sink = ShardSink(shards, part.number, options, part_bytes, commander)
        reader = reader_for(part.format)
        for piece in part.slices:
            sink.begin(piece)
            reader.feed(piece, sink, options)
        sink.finish()
        done = {"shards": sink.shards, "tokens": sink.total_tokens, "told": asdict(sink.tally)}
        own = shards / "parts" / uuid.uuid4().hex
        write_json(own, done)
        os.replace(own, shards / "parts" / f"{part.number:06d}.json")


def _for_workers(part: Part) -> Part:
    """The part with paths that hold in any working directory; the sources keep their names."""

    def placed(source: Source) -> Source:
        return replace(source, path=os.path.abspath(source.path), label=source.name)

    return replace(part, slices=tuple(replace(piece, source=placed(piece.source)) for piece in part.slices))


def workers_within(memory: int, jobs: int | None) -> int | None:
    """How many workers the memory bound allows, at most `jobs`; None leaves it to joblib's context."""
    if jobs is None:
        return None
    wanted = core_count() if jobs < 0 else jobs
    allowed = max(1, memory // (WORKER_BASE + WORKER_TOKEN * SHARD_TOKENS))
    return min(wanted, allowed)


def index_corpus(
    sources: Iterable[str],
    out: str | Path,
    options: TextOptions | Mapping[str, Any] | None = None,
    *,
    jobs: int | None = None,
    memory: int = DEFAULT_MEMORY,
    append: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    part_bytes: int | None = None,
    progress: Progress | None = None,
    planned: Callable[[Plan], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> IndexSummary:
    """Index text into a store.

    Parameters
    ----------
    sources
        Files, directories, globs, or ``-`` for standard input.
    out
        The store to make; with `append`, the store to add to.
    options
        How input becomes tokens. As a mapping, it holds what differs from the defaults or, with `append`, from
        the store's own options.
    jobs
        Worker processes, -1 for one per core; None takes joblib's own context.
    memory
        Bound on the memory of all workers of this machine together, in bytes.
    append
        Add the sources to an existing store, behind what it holds.
    resume
        Go on with an interrupted build of the same input; one that is finished is left as it is.
    overwrite
        Replace an existing store, or discard an unfinished build.
    part_bytes
        Size of the parts that workers take, in uncompressed bytes; None reckons it from the input.
    progress
        Told the tokens and the estimated bytes so far, some times a second.
    planned
        Told the plan, before the first part is read.
    notice
        Told sentences for the user, such as that kernels are being compiled.
    """
    begun = time.monotonic()
    if jobs == 0:
        raise UsageError("--jobs 0 leaves nobody to work; give 1 or more, or -1 for one per core")
    out = Path(out)
    names = list(sources)
    base = read_manifest(out) if append else None
    options = _settle_options(options, base, out)
    work = out / f"append{PARTIAL}" if append else out.with_name(out.name + PARTIAL)
    if resume and not work.exists() and (append or ((out / MANIFEST).exists() and not overwrite)):
        if base is not None:
            _check_appended(out)
            sweep(out, base)
        else:
            check_finished(out, names, options)
        if notice:
            notice(
                f"{out} is finished: nothing is left to resume (bagpack verify {out} checks that it is whole)"
            )
        corpus = Corpus.open(out)
        return IndexSummary(corpus, time.monotonic() - begun, 0, 0, corpus.manifest["told"], corpus.left_out)
    check_free(out, append=append, overwrite=overwrite)
    read = 0
    with owned(work, resume=resume, overwrite=overwrite) as fresh:
        if base is not None and _was_appended(work, base):
            sweep(out, base)
        elif base is None and is_complete(work, names, options):
            install(work, out, read_json(work / MANIFEST))
        else:
            # A cluster has as many workers as were started; the bound is on the memory of this machine.
            allowed = workers_within(memory, jobs) if on_one_machine() else jobs
            build = _Build(work, out, base, allowed, fresh)
            build.run(names, options, part_bytes, progress, planned, notice)
            read = build.read_tokens
    corpus = Corpus.open(out)
    before = base["tokens"] if base else 0
    already = len(base.get("left_out", ())) if base else 0
    return IndexSummary(
        corpus, time.monotonic() - begun, corpus.tokens - before, read, corpus.manifest["told"],
        corpus.left_out[already:],
    )  # fmt: skip


def _settle_options(
    options: TextOptions | Mapping[str, Any] | None, base: dict[str, Any] | None, out: Path
) -> TextOptions:
    recorded = TextOptions.from_dict(base["options"]) if base else TextOptions()
    if options is None:
        return recorded
    wanted = options if isinstance(options, TextOptions) else replace(recorded, **options)
    for name in SHAPING if base else ():
        if getattr(recorded, name) != getattr(wanted, name):
            raise UsageError(
                f"{out} was indexed with --{name} {getattr(recorded, name)}, so --append cannot use "
                f"{getattr(wanted, name)}; leave --{name} out, or make a new store"
            )
    return wanted


class _Build:
    """One build or append, from the plan to the final name."""

    def __init__(
        self, work: Path, out: Path, base: dict[str, Any] | None, jobs: int | None, fresh: bool
    ) -> None:
        self.work = work
        self.out = out
        self.base = base
        self.jobs = jobs
        self.fresh = fresh
        self.read_tokens = 0

    def run(
        self, names: list[str], options: TextOptions, part_bytes: int | None, progress: Progress | None,
        planned: Callable[[Plan], None] | None, notice: Callable[[str], None] | None,
    ) -> None:  # fmt: skip
        """Build all parts and finish the store or the append."""
        settled = self.fresh
        try:
            files, labels = spool(names, self.work)
            plan = make_plan(files, options, part_bytes, labels)
            settle_plan(plan, self.work, self.base["content_hash"] if self.base else None)
            settled = True
            if planned:
                planned(plan)
            warm_up({source.format for source in plan.sources}, options, notice)
            self._finish(plan, self._parts(plan, progress))
        except (InputError, UsageError):
            if settled:
                remove_tree(self.work)  # the input has to change, so there is nothing to go on with
            raise
        except DiskError as error:
            raise StoreError(f"{error}, adding --resume") from error

    def _parts(self, plan: Plan, progress: Progress | None) -> list[dict[str, Any]]:
        """Build the parts that are not there yet; returns what each part reported, in order."""
        shards = self.work / "shards"
        reports = {part.number: shards / "parts" / f"{part.number:06d}.json" for part in plan.parts}
        finished = {number for number, report in reports.items() if report.exists()}
        waiting = [part for part in plan.parts if part.number not in finished]
        weight = {part.number: part.weight for part in plan.parts}
        jobs = self.jobs
        if jobs is not None and jobs > 0:
            jobs = max(1, min(jobs, len(waiting)))
        commander = os.getpid() if on_one_machine() else 0
        place = str(shards.absolute())
        tasks = (
            delayed(build_part)(_for_workers(part), place, plan.options, plan.part_bytes, commander)
            for part in waiting
        )
        with _watched(shards / "progress", weight, finished, progress):
            for _ in run(tasks, jobs):
                pass
        done = {number: read_json(report) for number, report in reports.items()}
        self.read_tokens = sum(entry["tokens"] for number, entry in done.items() if number not in finished)
        return list(done.values())

    def _finish(self, plan: Plan, done: list[dict[str, Any]]) -> None:
        tally = Tally()
        for entry in done:
            tally.add(entry["told"])
        new = [name for entry in done for name in entry["shards"]]
        if not new:
            names = ", ".join(source.name for source in plan.sources[:3])
            raise InputError(f"no sentence was found in {names}; check the --format and the files")
        if self.base is None:
            entries = [_shard_entry(self.work / "shards", name) for name in new]
            manifest = _manifest(
                self.work, "lexicon-0", entries, _sources(plan), plan.options, asdict(tally), _left_out(plan)
            )
            write_json(self.work / MANIFEST, manifest)
            install(self.work, self.out, manifest)
        else:
            self._append(plan, new, asdict(tally), self.base)

    def _append(self, plan: Plan, new: list[str], told: dict[str, int], base: dict[str, Any]) -> None:
        """Move the shards in, write a lexicon beside the old one, and let the manifest name the new content."""
        generation = int(base["lexicon"]["directory"].rpartition("-")[2]) + 1
        first = 1 + max(int(entry["name"].partition("-")[0]) for entry in base["shards"])
        entries = list(base["shards"])
        for name in new:
            number, _, piece = name.partition("-")
            final = f"{first + int(number):06d}-{piece}"
            if (self.work / "shards" / name).exists():
                remove_tree(self.out / "shards" / final)  # left by an append that was interrupted here
                os.replace(self.work / "shards" / name, self.out / "shards" / final)
            entries.append(_shard_entry(self.out / "shards", final))
        directory = f"lexicon-{generation}"
        remove_tree(self.out / directory)
        summed = {name: base["told"][name] + value for name, value in told.items()}
        sources = [*base["sources"], *_sources(plan)]
        options = TextOptions.from_dict(base["options"])
        left_out = [*base.get("left_out", ()), *_left_out(plan)]
        manifest = _manifest(self.out, directory, entries, sources, options, summed, left_out)
        write_json(self.work / "appended.json", manifest["content_hash"])
        write_json(self.out / MANIFEST, manifest)
        remove_tree(self.out / APPENDED)  # left by an append that was interrupted while it cleaned up
        # Renamed before it is removed, so that a half-removed one is not taken for unfinished.
        os.replace(self.work, self.out / APPENDED)
        sweep(self.out, manifest)
        sync_directory(self.out)


def _check_appended(out: Path) -> None:
    """An append whose work is gone was finished if it died while it cleaned up; else there was none."""
    if not (out / APPENDED).exists():
        raise StoreError(
            f"no unfinished append is in {out}; leave --resume out to append (bagpack info {out} lists the sources "
            f"that it holds)"
        )


def _was_appended(work: Path, base: dict[str, Any]) -> bool:
    """Whether an interrupted append had written its manifest, so that only cleaning up is left."""
    mark = work / "appended.json"
    return mark.exists() and read_json(mark) == base["content_hash"]


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
                if int(trace.name) in finished:
                    continue  # left by the run that is gone on with
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


def _sources(plan: Plan) -> list[dict[str, Any]]:
    return [{"path": source.name, "bytes": source.size, "format": source.format} for source in plan.sources]


def _left_out(plan: Plan) -> list[dict[str, str]]:
    return [file._asdict() for file in plan.left_out]


def _manifest(
    root: Path, directory: str, entries: list[dict[str, Any]], sources: list[dict[str, Any]],
    options: TextOptions, told: dict[str, int], left_out: list[dict[str, str]],
) -> dict[str, Any]:  # fmt: skip
    """Write the lexicon of these shards and describe the store that they make."""
    checksums = write_lexicon([root / "shards" / entry["name"] for entry in entries], root / directory)
    counted = {name: sum(entry[name] for entry in entries) for name in ("tokens", "sentences", "documents")}
    identity = "\n".join([*(entry["digest"] for entry in entries), str(sorted(options.to_dict().items()))])
    manifest: dict[str, Any] = {
        "kind": "corpus",
        "format_version": FORMAT_VERSION,
        **counted,
        "types": (root / directory / "keys.offsets").stat().st_size // 8 - 1,
        "content_hash": digest(identity.encode()),
        "options": options.to_dict(),
        "sources": sources,
        "told": told,
        **({"left_out": left_out} if left_out else {}),
        "lexicon": {"directory": directory, "checksums": checksums},
        "shards": entries,
    }
    return {**manifest, "seal": seal_of(manifest)}
