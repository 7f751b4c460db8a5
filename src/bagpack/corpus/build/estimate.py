"""What indexing will cost, from a sample: the real reader and worker run on pieces from several places of the input.

Everything is taken in proportion to the sample. Vocabularies grow more slowly than that, so that a large corpus takes
somewhat less disk and time than estimated.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bagpack.corpus.build.lexicon_writer import write_lexicon
from bagpack.corpus.build.parts import WORKER_BASE, WORKER_TOKEN, workers_within
from bagpack.corpus.build.plan import PARQUET_EXPANSION, Part, make_plan, slice_weight
from bagpack.corpus.build.worker import SHARD_TOKENS, Worker
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import EXPANSION, Batch, Slice, Source
from bagpack.corpus.readers.compression import DAMAGED, OPENERS
from bagpack.errors import InputError, UsageError

PLACES = 12
PIECE = 1 << 20
STARTUP_SECONDS = 2.5  # interpreter, imports, workers, lemma tables
PARALLEL_SHARE = 0.9  # of the ideal speed-up, two workers on two cores, measured
# 1,000 pairs of a data set whose words are hardly shared, b = 1500, on one core, rounded up from what
# `python -m benchmarks counting` (0.26 s) and `bagpack vectors` (12.7 MB) gave on 72 million tokens.
SECONDS_PER_1000_PAIRS = 0.5
MATRIX_BYTES_PER_1000_PAIRS = 20_000_000


@dataclass
class Sampled:
    """What the worker made of the sample."""

    size: int  # uncompressed bytes
    tokens: int
    disk: int  # bytes of the shard, and of a lexicon of it
    seconds: float


class _SampleWorker(Worker):
    """Reads one piece of each slice, into one shard."""

    def read(self, part: Slice) -> Iterator[Batch]:
        """Batches of the first bytes."""
        taken = 0
        for batch in super().read(part):
            yield batch
            taken += batch.consumed
            if taken >= PIECE:
                return


def estimate(sources: Iterable[str], options: TextOptions, jobs: int | None, memory: int) -> dict[str, Any]:
    """Tokens, disk, memory and time that indexing these sources will take, about."""
    names = list(sources)
    if "-" in names:
        raise UsageError("standard input cannot be sampled and then read again; name files, not -")
    plan = make_plan(names, options)
    workers = workers_within(memory, jobs) or 1
    sizes = {source: _plain_size(source) for source in plan.sources}
    tokens = disk = busy = sample = largest = 0.0
    for format in sorted({source.format for source in plan.sources}):
        parts = [part for part in plan.parts if part.format == format]
        size = sum(sizes[source] for source in plan.sources if source.format == format)
        sampled = _sample(parts, options, plan.part_bytes)
        share = size / max(sampled.size, 1)
        tokens += share * sampled.tokens
        disk += share * sampled.disk
        busy += share * sampled.seconds
        sample += sampled.size
        shards = max(len(parts), math.ceil(size / (1.5 * plan.part_bytes)))
        largest = max(largest, min(share * sampled.tokens / shards * 1.5, SHARD_TOKENS))
    at_work = min(workers, len(plan.parts))
    speed_up = 1 + (at_work - 1) * PARALLEL_SHARE
    return {
        "files": len(plan.sources),
        "input_bytes": sum(source.size for source in plan.sources),
        "formats": sorted({source.format for source in plan.sources}),
        "tokens": _rounded(tokens),
        "disk_bytes": _rounded(disk),
        "memory_bytes": int(min(memory, at_work * (WORKER_BASE + WORKER_TOKEN * largest))),
        "workers": at_work,
        "seconds": round(STARTUP_SECONDS + busy / speed_up, 1),
        "seconds_per_1000_pairs": SECONDS_PER_1000_PAIRS,
        "matrix_bytes_per_1000_pairs": MATRIX_BYTES_PER_1000_PAIRS,
        "sample_bytes": int(sample),
        "left_out": [file._asdict() for file in plan.left_out],
    }


def _rounded(value: float) -> int:
    """Three figures: a sample does not give more."""
    return int(float(f"{value:.3g}"))


def _sample(parts: list[Part], options: TextOptions, part_bytes: int) -> Sampled:
    pieces = _pieces([piece for part in parts for piece in part.slices])
    with tempfile.TemporaryDirectory() as place:
        # Once for nothing: loading kernels and lemma tables is part of the start-up, not of the rate.
        _SampleWorker(Path(place), 0, options, part_bytes).run(pieces[:1])
        worker = _SampleWorker(Path(place), 1, options, max(part_bytes, 2 * PLACES * PIECE))
        begun = time.perf_counter()
        worker.run(pieces)
        seconds = time.perf_counter() - begun
        if not worker.shards:
            named = ", ".join(piece.source.name for piece in pieces[:3])
            raise InputError(
                f"no sentence was found in a sample of {named}; check the --format and the files"
            )
        shard, lexicon = Path(place) / worker.shards[0], Path(place) / "lexicon"
        write_lexicon([shard], lexicon)
        disk = sum(file.stat().st_size for made in (shard, lexicon) for file in made.iterdir())
        return Sampled(worker.consumed, worker.written, disk, seconds)


def _pieces(slices: list[Slice]) -> list[Slice]:
    """Beginnings of up to PLACES places, spread evenly over the input."""
    total = sum(map(slice_weight, slices))
    if total <= PLACES * PIECE:
        return slices
    wanted = [total * k // PLACES for k in range(PLACES)]
    found: list[Slice] = []
    before = 0
    for piece in slices:
        weight = slice_weight(piece)
        here = [at - before for at in wanted if before <= at < before + weight]
        before += weight
        if not here:
            continue
        if piece.source.compression or piece.source.format == "parquet":
            found.append(piece)  # it can be read from its start only
        else:
            found.extend(_from_line(piece, offset) for offset in here)
    return found


def _from_line(piece: Slice, offset: int) -> Slice:
    """About PIECE bytes of a slice, from the line that follows an offset to the end of a line."""
    with open(piece.source.path, "rb") as handle:
        start = piece.start
        if offset:
            handle.seek(start + offset)
            start += offset + len(handle.readline(PIECE))
        handle.seek(min(start + PIECE, piece.source.size))
        end = handle.tell() + len(handle.readline(PIECE))
    limit = piece.end if piece.end >= 0 else piece.source.size
    if start >= limit:
        return replace(piece, end=min(end, limit))
    return replace(piece, start=start, end=min(end, limit), document=piece.source.name)


def _plain_size(source: Source) -> int:
    """Uncompressed bytes of a source, from its beginning where it is compressed; a bomb is not read to its end."""
    if not source.compression:
        return PARQUET_EXPANSION * source.size if source.format == "parquet" else source.size
    plain = used = 0
    try:
        with open(source.path, "rb") as file, OPENERS[source.compression](file) as stream:
            while chunk := stream.read(1 << 16):
                plain, used = plain + len(chunk), file.tell()
                # Readers fetch ahead: what they have used is known only after many of their buffers.
                if plain >= 4 * PIECE and (1 << 20 <= used < source.size or plain >= 64 * PIECE):
                    return source.size * plain // used
    except (*DAMAGED, EOFError):
        return EXPANSION * source.size  # damaged, which the sample reports
    return plain
