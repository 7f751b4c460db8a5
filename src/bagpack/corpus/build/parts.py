"""Building the parts of a plan in parallel, with progress; finished parts of an interrupted run are kept."""

from __future__ import annotations

import itertools
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bagpack.artefacts import discard
from bagpack.corpus.build.plan import Part, Plan, make_plan
from bagpack.corpus.build.workdir import SPOOLED, FinishedParts, begun_otherwise, spool
from bagpack.corpus.build.worker import COMPILES, PROGRESS, SHARD_TOKENS, build_part
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Source
from bagpack.corpus.readers.registry import reader_for
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import DiskError, disk_errors, read_json
from bagpack.jit import COMPILING
from bagpack.parallel import core_count, delayed, on_one_machine, run, run_until

WORKER_BASE = 420 << 20  # interpreter, numba, numpy, lemma tables and a large vocabulary, measured
WORKER_TOKEN = 12  # bytes a token of the shard in the making: raw ids while they grow, postings
WORKER = WORKER_BASE + WORKER_TOKEN * SHARD_TOKENS  # bytes, at most
MOST_THREADS = 4  # more of them would often wait for the interpreter's lock
POLL = 0.2  # seconds between two looks at the progress of the workers

Progress = Callable[[int, int], None]  # (tokens so far, estimated bytes so far)


@dataclass(frozen=True)
class Reporting:
    """Callbacks for the progress, the plan and messages."""

    progress: Progress | None
    planned: Callable[[Plan], None]
    notice: Callable[[str], None]


@dataclass(frozen=True)
class FinishedPlan:
    """A plan whose parts are all built."""

    plan: Plan
    shards: list[str]  # in the order of the corpus
    problems: dict[str, int]  # what was skipped or repaired, reported in the summary
    repaired: Mapping[str, int]  # places with bytes that are not the encoding, by file
    read_tokens: int  # of the parts that this run built
    workers: int  # processes of this machine that are running

    def sources(self) -> list[dict[str, Any]]:
        """The entries of the sources in the manifest."""
        return [
            {"path": source.name, "bytes": source.size, "modified": source.modified, "format": source.format}
            | ({"encoding": source.encoding} if source.encoding != "utf-8" else {})
            | ({"lang": source.lang} if source.lang else {})
            | ({"tagset": source.tagset} if source.tagset else {})
            | ({"looks_like": source.looks_like} if source.looks_like else {})
            | ({"repaired": self.repaired[source.name]} if self.repaired.get(source.name) else {})
            for source in self.plan.sources
        ]

    def left_out(self) -> list[dict[str, str]]:
        """The entries of the files that were not read."""
        return [file._asdict() for file in self.plan.left_out]


def workers_within(memory: int, jobs: int | None) -> int | None:
    """How many workers the memory bound allows, at most `jobs`; None leaves it to joblib's context."""
    if jobs is None:
        return None
    wanted = core_count() if jobs < 0 else jobs
    return min(wanted, max(1, memory // WORKER))


def limited_by_memory(memory: int, jobs: int, parts: int) -> str:
    """A message if the memory bound allows fewer workers than cores (or jobs) and parts; else nothing.

    >>> limited_by_memory(2 << 30, jobs=16, parts=100)
    '--memory allows 3 of 16 workers; --memory 10G allows all of them'
    """
    wanted = min(core_count() if jobs < 0 else jobs, parts)
    allowed = workers_within(memory, wanted)
    if allowed == wanted:
        return ""
    needed = -(-wanted * WORKER >> 30)  # rounded up
    return f"--memory allows {allowed} of {wanted} workers; --memory {needed}G allows all of them"


def build_parts(
    work: Path, names: list[str], options: TextOptions, jobs: int | None, part_bytes: int | None,
    report: Reporting, fresh: bool,
) -> FinishedPlan:  # fmt: skip
    """Plan, and build the parts that are not finished yet."""
    planned = False
    try:
        files, labels = spool(names, work)
        plan = make_plan(files, options, part_bytes, labels)
        finished = FinishedParts(work, options)
        kept = {part.number: finished.find(part) for part in plan.parts}
        if any(finished.directory.glob("*.json")) and not any(kept.values()):
            raise begun_otherwise(work, ["sources"])
        planned = True
        report.planned(plan)
        left = [part for part in plan.parts if not kept[part.number]]
        workers = max(1, min(jobs, len(left))) if jobs is not None and jobs > 0 else jobs
        threads = _in_threads(left, workers)
        done, read = _run(work, plan, finished, kept, workers, report, threads)
    except BaseException as error:
        reports = len(list((work / "shards" / "parts").glob("*.json")))
        wrong = isinstance(error, InputError | UsageError)
        if (planned or fresh) and not reports and (wrong or not (work / SPOOLED).exists()):
            discard(work)  # nothing is finished, so nothing is left behind
        if wrong and planned and reports:
            there = "1 finished part is" if reports == 1 else f"{reports:,} finished parts are"
            raise type(error)(
                f"{error} ({there} kept: correct it, or choose to skip it, and add --resume)"
            ) from error
        if isinstance(error, DiskError) and work.exists():
            raise StoreError(f"{error}, adding --resume") from error
        raise
    problems: Counter[str] = Counter()
    repaired: Counter[str] = Counter()
    for entry in done:
        problems.update(entry["problems"])
        repaired.update(entry["repaired"])
    shards = [name for entry in done for name in entry["shards"]]
    if not shards:
        discard(work)
        listed = ", ".join(source.name for source in plan.sources[:3])
        raise InputError(f"no sentence was found in {listed}; check the --format and the files")
    running = workers if workers is not None and on_one_machine() and not threads else 1
    return FinishedPlan(plan, shards, dict(problems), repaired, read, running)


def _run(
    work: Path, plan: Plan, finished: FinishedParts, kept: dict[int, dict[str, Any] | None], jobs: int | None,
    report: Reporting, threads: bool,
) -> tuple[list[dict[str, Any]], int]:  # fmt: skip
    """Build the parts that were not kept; returns the reports of all parts in order, and the tokens read now."""
    shards = work / "shards"
    # A part of an earlier run keeps the number of its shards; the manifest, not the number, gives the order.
    taken = {int(name.partition("-")[0]) for report in kept.values() if report for name in report["shards"]}
    free = itertools.count(max([*taken, len(plan.parts) - 1]) + 1)
    waiting = {
        part.number: replace(part, number=part.number if part.number not in taken else next(free))
        for part in plan.parts
        if not kept[part.number]
    }
    parent = os.getpid() if on_one_machine() else 0
    settings = str(shards.absolute()), plan.options, plan.part_bytes, parent
    with disk_errors(work):
        (shards / PROGRESS).mkdir(parents=True, exist_ok=True)
        (shards / PROGRESS / COMPILES).unlink(missing_ok=True)
    stop = threading.Event() if threads else None
    tasks = (
        delayed(build_part)(_for_workers(part), *settings, finished.path(plan.parts[number]).name, stop)
        for number, part in waiting.items()
    )
    weight = {part.number: part.weight for part in waiting.values()}
    before = plan.weight - sum(weight.values())
    with _watched(shards / PROGRESS, weight, before, report):
        if stop is not None and jobs is not None:
            run_until(stop, tasks, jobs)
        else:
            for _ in run(tasks, jobs):
                pass
    made = {number: read_json(finished.path(plan.parts[number])) for number in waiting}
    reports = [kept[part.number] or made[part.number] for part in plan.parts]
    return reports, sum(entry["tokens"] for entry in made.values())


def _in_threads(parts: Iterable[Part], jobs: int | None) -> bool:
    """Whether workers are threads of this process, which start at once, rather than processes."""
    return (
        jobs is not None
        and 1 < jobs <= MOST_THREADS
        and on_one_machine()
        and all(getattr(reader_for(part.format), "in_kernels", False) for part in parts)
    )


def _for_workers(part: Part) -> Part:
    """The part with paths that hold in any working directory; the sources keep their names."""

    def placed(source: Source) -> Source:
        return replace(source, path=os.path.abspath(source.path), label=source.name)

    return replace(part, slices=tuple(replace(piece, source=placed(piece.source)) for piece in part.slices))


@contextmanager
def _watched(directory: Path, weight: dict[int, int], before: int, report: Reporting) -> Iterator[None]:
    """Look at the files in which workers report their progress, and pass it on."""
    if report.progress is None:
        yield
        return
    progress = report.progress
    stop = threading.Event()

    def watch() -> None:
        compiling = False
        while not stop.wait(POLL):
            if not compiling and (directory / COMPILES).exists():
                compiling = True
                report.notice(COMPILING)
            tokens, size = _progress_in(directory, weight)
            progress(tokens, size + before)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _progress_in(directory: Path, weight: dict[int, int]) -> tuple[int, int]:
    """Tokens and estimated bytes of all parts that this run builds."""
    tokens = size = 0
    for file in directory.glob("[0-9]*"):
        if int(file.name) not in weight:
            continue  # left by the run that is resumed
        try:
            seen, consumed = map(int, file.read_text().split())
        except (OSError, ValueError):
            continue
        tokens += seen
        size += min(consumed, weight[int(file.name)])
    return tokens, size
