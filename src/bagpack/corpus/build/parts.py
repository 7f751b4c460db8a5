"""Building the parts of a plan in parallel, with progress; the parts that an interrupted run finished are kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bagpack._version import __version__
from bagpack.corpus.build.plan import Part, Plan
from bagpack.corpus.build.worker import COMPILES, PROGRESS, SHARD_TOKENS, TOLERANT, build_part
from bagpack.corpus.format import FACTS, SEGMENTS, WORK
from bagpack.corpus.readers.base import Source
from bagpack.corpus.readers.look import reader_for
from bagpack.errors import InputError
from bagpack.files import digest, disk_errors, read_json
from bagpack.kernels import COMPILING
from bagpack.parallel import core_count, delayed, on_one_machine, run, run_until

WORKER_BASE = 420 << 20  # interpreter, numba, numpy, lemma tables and a large vocabulary, measured
WORKER_TOKEN = 12  # bytes a token of the shard in the making: raw ids while they grow, postings
WORKER = WORKER_BASE + WORKER_TOKEN * SHARD_TOKENS  # bytes, at most
MOST_THREADS = 4  # more of them would often wait for the interpreter's lock
POLL = 0.2  # seconds between two looks at the progress of the workers
SPOOLED = "stdin"

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
    segments: list[str]  # in the order of the corpus
    problems: dict[str, int]  # what was skipped or repaired, reported in the summary
    repaired: Mapping[str, int]  # places with bytes that are not the encoding, by file
    read_tokens: int  # of the parts that this run built
    workers: int  # processes of this machine that are running

    def sources(self) -> list[dict[str, Any]]:
        """The entries of the sources in the manifest."""
        return [
            {"path": source.name, "bytes": source.size, "modified": source.modified, "format": source.format}
            | ({"encoding": source.encoding} if source.encoding != "utf-8" else {})
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


def spool(names: list[str], work: Path) -> tuple[list[str], dict[str, str]]:
    """Keep standard input in a file first: it can then be sliced, and read again after an interruption."""
    if "-" not in names:
        return names, {}
    kept = work / SPOOLED
    if not kept.exists():
        partial = work / f"{SPOOLED}.new"
        try:
            with disk_errors(partial):
                work.mkdir(exist_ok=True)
                with open(partial, "wb") as handle:
                    shutil.copyfileobj(sys.stdin.buffer, handle, 1 << 20)
        except BaseException:
            partial.unlink(missing_ok=True)  # half of it is of no use
            raise
        if partial.stat().st_size == 0:
            raise InputError("standard input is empty; pipe some text into the command")
        os.replace(partial, kept)
    return [str(kept) if name == "-" else name for name in names], {str(kept): SPOOLED}


def key_of(part: Part, plan: Plan, salt: str = "") -> str:
    """What the segments of a part are named by: everything that their content depends on."""
    shaping = {name: value for name, value in plan.options.to_dict().items() if name not in TOLERANT}
    slices = [
        asdict(replace(piece, source=replace(piece.source, path=piece.source.name))) for piece in part.slices
    ]
    return digest(json.dumps([__version__, salt, slices, shaping], sort_keys=True).encode())


def find_reports(store: Path, plan: Plan, salt: str) -> tuple[dict[int, dict[str, Any]], bool]:
    """Reports of the parts, by number, that are finished and would not differ under the options of today.

    Also whether any part of this plan was finished, under whatever options.
    """
    found, begun = {}, False
    for part in plan.parts:
        path = store / SEGMENTS / f"{key_of(part, plan, salt)}.json"
        if path.exists():
            begun = True
            report = read_json(path)
            if _holds(report, store, plan):
                found[part.number] = {**report, "file": path.name}
    return found, begun


def _holds(report: dict[str, Any], store: Path, plan: Plan) -> bool:
    """Whether the segments of a report are there, and the same under options that differ from those of its run."""
    now, before = plan.options, report["options"]
    return (
        all((store / SEGMENTS / name / FACTS).exists() for name in report["segments"])
        and (now.bad_lines == before["bad_lines"] or not report["problems"]["skipped_lines"])
        and (now.encoding_errors == before["encoding_errors"] or not report["problems"]["undecodable"])
        and now.max_sentence >= before["max_sentence"]
    )


def build_parts(
    store: Path,
    plan: Plan,
    kept: Mapping[int, dict[str, Any]],
    jobs: int | None,
    report: Reporting,
    salt: str,
) -> FinishedPlan:
    """Build the parts that are not kept, and add up the reports of all."""
    report.planned(plan)
    left = [part for part in plan.parts if part.number not in kept]
    workers = max(1, min(jobs, len(left))) if jobs is not None and jobs > 0 else jobs
    threads = _in_threads(left, workers)
    keys = {part.number: key_of(part, plan, salt) for part in plan.parts}
    with disk_errors(store):
        (store / SEGMENTS).mkdir(exist_ok=True)
        (store / WORK / PROGRESS).mkdir(parents=True, exist_ok=True)
        (store / WORK / PROGRESS / COMPILES).unlink(missing_ok=True)
    parent = os.getpid() if on_one_machine() else 0
    stop = threading.Event() if threads else None
    tasks = (
        delayed(build_part)(
            _for_workers(part),
            keys[part.number],
            str(store.absolute()),
            plan.options,
            plan.part_bytes,
            parent,
            stop,
        )
        for part in left
    )
    weight = {part.number: part.weight for part in left}
    with _watched(store / WORK / PROGRESS, weight, plan.weight - sum(weight.values()), report):
        if stop is not None and workers is not None:
            run_until(stop, tasks, workers)
        else:
            for _ in run(tasks, workers):
                pass
    made = {part.number: read_json(store / SEGMENTS / f"{keys[part.number]}.json") for part in left}
    done = [kept.get(part.number) or made[part.number] for part in plan.parts]
    segments = [name for entry in done for name in entry["segments"]]
    if not segments:
        listed = ", ".join(source.name for source in plan.sources[:3])
        for key in keys.values():
            (store / SEGMENTS / f"{key}.json").unlink(missing_ok=True)
        raise InputError(f"no sentence was found in {listed}; check the --format and the files")
    problems: Counter[str] = Counter()
    repaired: Counter[str] = Counter()
    for entry in done:
        problems.update(entry["problems"])
        repaired.update(entry["repaired"])
    running = workers if workers is not None and on_one_machine() and not threads else 1
    read = sum(entry["tokens"] for entry in made.values())
    return FinishedPlan(plan, segments, dict(problems), repaired, read, running)


def _in_threads(parts: Iterable[Part], jobs: int | None) -> bool:
    """Whether workers are threads of this process, which start at once, rather than processes."""
    return (
        jobs is not None
        and 1 < jobs <= MOST_THREADS
        and on_one_machine()
        and all(reader_for(part.format).in_kernels for part in parts)
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
