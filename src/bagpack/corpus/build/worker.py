"""Workers: each reads parts of a plan and writes their segments; whoever started them watches their progress.

The memory bound is kept here: a segment is written when it holds enough tokens, documents or bytes of input.
"""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import joblib

from bagpack.artefacts import SEGMENTS, WORK
from bagpack.corpus.build.plan import TOLERANT, Part, Plan
from bagpack.corpus.build.segment_writer import SegmentWriter
from bagpack.corpus.build.tokens import TEXT_BATCH, token_batches
from bagpack.corpus.format import FACTS
from bagpack.corpus.readers.base import Batch, DocumentStart
from bagpack.corpus.readers.look import reader_for
from bagpack.errors import StoreError
from bagpack.files import disk_errors, sync_directory, write_json
from bagpack.parallel import check_reached, delayed, on_one_machine, run, run_until

SEGMENT_TOKENS = 1 << 24  # bounds a worker's memory: 4 bytes a token, twice, and growth
SEGMENT_DOCUMENTS = 1 << 20  # about 200 bytes each
WORKER_BASE = 420 << 20  # interpreter, numba, numpy, lemma tables and a large vocabulary, measured
WORKER_TOKEN = 12  # bytes a token of the segment in the making: raw ids while they grow, postings
WORKER = WORKER_BASE + WORKER_TOKEN * SEGMENT_TOKENS  # bytes, at most
MOST_THREADS = 4  # more of them would often wait for the interpreter's lock
POLL = 0.2  # seconds between two looks at the progress of the workers
PROGRESS = "progress"  # directory of one file per part: tokens and bytes so far

Progress = Callable[[int, int], None]  # (tokens so far, estimated bytes so far)


def workers_within(memory: int, jobs: int | None) -> int | None:
    """Number of workers that the memory bound allows, at most `jobs`; None leaves it to joblib's context."""
    if jobs is None:
        return None
    return min(joblib.cpu_count() if jobs < 0 else jobs, max(1, memory // WORKER))


def run_workers(
    store: Path, plan: Plan, parts: Sequence[Part], jobs: int | None, progress: Progress | None
) -> int:
    """Build some parts of a plan; returns the number of worker processes that are running on this machine."""
    workers = max(1, min(jobs, len(parts))) if jobs is not None and jobs > 0 else jobs
    here = on_one_machine()
    in_kernels = all(reader_for(part.slices[0].source.format).in_kernels for part in parts)
    threads = here and 1 < (workers or 1) <= MOST_THREADS and in_kernels  # which start at once
    with disk_errors(store):
        (store / SEGMENTS).mkdir(exist_ok=True)
        (store / WORK / PROGRESS).mkdir(parents=True, exist_ok=True)
    stop = threading.Event() if threads else None
    bare = replace(plan, sources=(), parts=(), left_out=())  # a task needs only the options and sizes
    tasks = (delayed(build_part)(part, str(store.absolute()), bare, stop) for part in parts)
    before = plan.weight - sum(part.weight for part in parts)
    with _watched([store / WORK / PROGRESS / part.key for part in parts], before, progress):
        if stop is not None and workers is not None:
            run_until(stop, tasks, workers)
        else:
            for _ in run(tasks, workers):
                pass
    return workers if workers is not None and here and not threads else 1


@contextmanager
def _watched(files: Sequence[Path], before: int, progress: Progress | None) -> Iterator[None]:
    """Look at the files in which workers report their progress, and pass it on."""
    if progress is None:
        yield
        return
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(POLL):
            tokens, size = 0, before
            for file in files:
                with suppress(OSError, ValueError):
                    seen, consumed = map(int, file.read_text().split())
                    tokens, size = tokens + seen, size + consumed
            progress(tokens, size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def build_part(part: Part, store: str, plan: Plan, stop: threading.Event | None) -> None:
    """Read one part and write its segments `KEY-NNN`, then its report `KEY.json`, wherever this runs.

    In a thread of the process that it works for, the worker ends when `stop` is set.
    """
    place = Path(store)
    for path in (str(place / SEGMENTS), *dict.fromkeys(piece.source.path for piece in part.slices)):
        check_reached(path)
    worker = Worker(place, part, plan, stop)
    worker.run()
    report = {
        "segments": worker.segments,
        "tokens": worker.written,
        "problems": {**worker.problems, "undecodable": worker.repaired.total()},
        "repaired": worker.repaired,
        "options": {name: getattr(plan.options, name) for name in TOLERANT},
    }
    own = place / SEGMENTS / f"{part.key}.json.{uuid.uuid4().hex}"
    write_json(own, report)
    with disk_errors(own):
        os.replace(own, place / SEGMENTS / f"{part.key}.json")


class Worker:
    def __init__(self, store: Path, part: Part, plan: Plan, stop: threading.Event | None) -> None:
        self.store, self.part, self.stop = store, part, stop
        self.options, self.part_bytes = plan.options, plan.part_bytes
        self.segments: list[str] = []
        self.written = 0  # tokens
        self.consumed = 0  # bytes of input
        self.problems = {"skipped_lines": 0, "ignored_markup": 0}
        self.repaired: Counter[str] = Counter()  # places with bytes that are not the encoding, by file
        self.writer = SegmentWriter(self.options)

    def run(self) -> None:
        """Read the slices of the part, which are of one format, and write their segments."""
        size = 0  # bytes of input in the current segment
        for batch in token_batches(self._batches(), self.options, min(TEXT_BATCH, self.part_bytes)):
            self.writer.add(batch)
            if not batch.consumed:
                continue
            size += batch.consumed
            self.consumed += batch.consumed
            if self.stop and self.stop.is_set():
                raise StoreError("the build was stopped; worker aborted")
            full = self.writer.count >= SEGMENT_TOKENS or len(self.writer.documents) >= SEGMENT_DOCUMENTS
            # A segment ends with a sentence.
            if batch.closed and (full or size >= self.part_bytes + self.part_bytes // 2):
                self._write()
                size = 0
            progress = self.store / WORK / PROGRESS / self.part.key
            if progress.parent.is_dir():  # not where no file system is shared
                with disk_errors(progress):
                    seen, consumed = self.written + self.writer.count, min(self.consumed, self.part.weight)
                    progress.write_text(f"{seen} {consumed}")
        self._write()

    def _batches(self) -> Iterator[Batch]:
        """What the reader finds in each slice, behind the document that the slice begins in."""
        for index, part in enumerate(self.part.slices):
            shared = part.source.attributes
            if part.document is None:
                start = DocumentStart(0, part.source.name, provisional=True, attributes=shared)
                yield Batch(part.source, documents=[start])
            elif index == 0:  # else the slice before it was of the same document
                start = DocumentStart(0, part.document, continued=True, attributes=shared + part.attributes)
                yield Batch(part.source, documents=[start])
            for batch in reader_for(part.source.format).read(part, self.options):
                self.problems["skipped_lines"] += batch.skipped
                self.problems["ignored_markup"] += batch.ignored
                if batch.repaired:
                    self.repaired[batch.source.name] += batch.repaired
                if shared:
                    batch.documents = [
                        own._replace(attributes=shared + own.attributes) for own in batch.documents
                    ]
                yield batch

    def _write(self) -> None:
        """Write the current segment under its name, unless it has been made already, and begin the next one.

        It may be left from an interrupted build, or from another worker: an engine that takes a slow worker for a dead
        one has a part done twice, and a segment that is being read must not disappear. Equal names mean equal content.
        """
        name = f"{self.part.key}-{len(self.segments):03d}"
        new, final = self.store / SEGMENTS / f"{name}.{uuid.uuid4().hex}", self.store / SEGMENTS / name
        facts = self.writer.write(new)
        if facts is None:
            return
        with disk_errors(final):
            try:
                os.rename(new, final)
            except OSError:
                if not (final / FACTS).exists():
                    raise
                shutil.rmtree(new)
            sync_directory(final.parent)
        self.written += facts["tokens"]
        self.segments.append(name)
