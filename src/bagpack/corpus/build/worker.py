"""What a worker does with a part: read it, make shards, report progress, stop when the parent exits.

The memory bound is kept here: a shard is written when it holds enough tokens, documents or bytes of input.
"""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bagpack.corpus.build.plan import Part
from bagpack.corpus.build.segment_writer import ShardBuilder, write_shard
from bagpack.corpus.build.tokens import TEXT_BATCH, token_batches
from bagpack.corpus.format import FACTS, SEGMENTS, WORK
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Batch, DocumentStart, Slice
from bagpack.corpus.readers.look import BUILT_IN, reader_for
from bagpack.errors import BagpackError, InputError, StoreError
from bagpack.files import disk_errors, sync_directory, write_json
from bagpack.kernels import on_compile
from bagpack.parallel import check_reached

SHARD_TOKENS = 1 << 24  # bounds a worker's memory: 4 bytes a token, twice, and growth
SHARD_DOCUMENTS = 1 << 20  # about 200 bytes each
PROGRESS = "progress"  # directory of one file per part: tokens and bytes so far
# Options that change a part only if it has such a place: whether it has one is in its report.
TOLERANT = ("bad_lines", "encoding_errors", "max_sentence")
COMPILES = "compiles"  # an empty file there: a worker is compiling kernels


def build_part(
    part: Part, key: str, store: str, options: TextOptions, part_bytes: int, parent: int,
    stop: threading.Event | None,
) -> None:  # fmt: skip
    """Read one part and write its segments `KEY-NNN`, then its report `KEY.json`, wherever this runs.

    On one machine, `parent` is the process that is worked for: when it exits, so does the worker. In a thread of that
    process, the worker ends when `stop` is set.
    """
    place = Path(store)
    if parent != os.getpid():

        def compiling() -> None:
            with suppress(OSError):  # no file system is shared, or the build is over
                (place / WORK / PROGRESS / COMPILES).touch()

        on_compile(compiling)
    for path in (str(place / SEGMENTS), *dict.fromkeys(piece.source.path for piece in part.slices)):
        check_reached(path)
    worker = Worker(place, part.number, key, options, part_bytes, parent, stop)
    worker.run(part.slices)
    done = {
        "segments": worker.segments,
        "tokens": worker.written,
        "problems": {**worker.problems, "undecodable": worker.repaired.total()},
        "repaired": worker.repaired,
        "options": {name: getattr(options, name) for name in TOLERANT},
    }
    own = place / SEGMENTS / f"{key}.json.{uuid.uuid4().hex}"
    write_json(own, done)
    with disk_errors(own):
        os.replace(own, place / SEGMENTS / f"{key}.json")


class Worker:
    """Writes the segments of one part into a store."""

    def __init__(
        self, store: Path, number: int, key: str, options: TextOptions, part_bytes: int, parent: int = 0,
        stop: threading.Event | None = None,
    ) -> None:  # fmt: skip
        self.store = store
        self.number = number
        self.key = key
        self.options = options
        self.part_bytes = part_bytes
        self.parent = parent
        self.stop = stop
        self.segments: list[str] = []
        self.written = 0  # tokens
        self.consumed = 0  # bytes of input
        self.problems = {"skipped_lines": 0, "ignored_markup": 0}
        self.repaired: Counter[str] = Counter()  # places with bytes that are not the encoding, by file
        self.builder = ShardBuilder(options)

    def run(self, slices: Sequence[Slice]) -> None:
        """Read slices, which are of one format, and write their shards."""
        size = 0  # bytes of input in the current shard
        step = min(TEXT_BATCH, self.part_bytes)
        for batch in token_batches(self._seen(slices), self.options, step):
            self.builder.add(batch)
            if not batch.consumed:
                continue
            size += batch.consumed
            self.consumed += batch.consumed
            self._check_wanted()
            full = self.builder.count >= SHARD_TOKENS or len(self.builder.documents) >= SHARD_DOCUMENTS
            # A shard ends with a sentence.
            if self.builder.closed and (full or size >= self.part_bytes + self.part_bytes // 2):
                self.write()
                size = 0
            self._report()
        if self.builder.count:
            self.write()

    def _seen(self, slices: Sequence[Slice]) -> Iterator[Batch]:
        """What the reader finds in each slice, behind the document that the slice begins in."""
        for index, part in enumerate(slices):
            shared = part.source.attributes
            if part.document is None:
                start = DocumentStart(0, part.source.name, provisional=True, attributes=shared)
                yield Batch(part.source, documents=[start])
            elif index == 0:  # else the slice before it was of the same document
                start = DocumentStart(0, part.document, continued=True, attributes=shared + part.attributes)
                yield Batch(part.source, documents=[start])
            for batch in self.read(part):
                self.problems["skipped_lines"] += batch.skipped
                self.problems["ignored_markup"] += batch.ignored
                if batch.repaired:
                    self.repaired[batch.source.name] += batch.repaired
                if shared:
                    batch.documents = [
                        document._replace(attributes=shared + document.attributes)
                        for document in batch.documents
                    ]
                yield batch

    def read(self, part: Slice) -> Iterator[Batch]:
        """The batches of a slice; an exception in another package's reader becomes an `InputError`."""
        reader = reader_for(part.source.format)
        try:
            yield from reader.read(part, self.options)
        except BagpackError:
            raise
        except Exception as error:
            if reader.name in BUILT_IN:
                raise
            raise InputError(
                f"the reader {reader.name!r} failed on {part.source.name} ({type(error).__name__}: {error}); report it "
                f"to the authors of that reader, or choose another --format"
            ) from error

    def _check_wanted(self) -> None:
        if self.stop and self.stop.is_set():
            raise StoreError("the build was stopped; worker aborted")
        if self.parent and self.parent not in (os.getpid(), os.getppid()):
            raise StoreError("the parent process exited; worker aborted")

    def write(self) -> None:
        """Write the current shard and begin the next one."""
        types = self.builder.types()
        if not types.dropped.all():
            name = f"{self.key}-{len(self.segments):03d}"
            new = self.store / SEGMENTS / f"{name}.{uuid.uuid4().hex}"
            with disk_errors(new):
                new.mkdir()
            self.written += write_shard(self.builder.draft(types), new)["tokens"]
            self._install(new, self.store / SEGMENTS / name)
            self.segments.append(name)
        self.builder.next_shard()

    def _install(self, new: Path, final: Path) -> None:
        """Give a segment its name, unless it has been made already.

        It may be left from an interrupted build, or from another worker: an engine that takes a slow worker for a dead
        one has a part done twice, and a segment that is being read must not disappear. Equal names mean equal content.
        """
        with disk_errors(final):
            try:
                os.rename(new, final)
            except OSError:
                if not (final / FACTS).exists():
                    raise
                shutil.rmtree(new)
            sync_directory(final.parent)

    def _report(self) -> None:
        """Write the progress to a file, for the process that started the work if it shares the file system."""
        path = self.store / WORK / PROGRESS / f"{self.number:06d}"
        if path.parent.is_dir():
            with disk_errors(path):
                path.write_text(f"{self.written + self.builder.count} {self.consumed}")
