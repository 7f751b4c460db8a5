"""What indexing will cost, from a sample: the real reader and worker run on pieces from several places of the input."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from bagpack.corpus.build.lexicon_writer import write_lexicon
from bagpack.corpus.build.parts import WORKER_BASE, WORKER_TOKEN, workers_within
from bagpack.corpus.build.plan import PARQUET_EXPANSION, Part, make_plan, slice_weight
from bagpack.corpus.build.worker import SHARD_TOKENS, Worker
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import EXPANSION, Batch, Slice, Source
from bagpack.corpus.store.corpus import VOCABULARY
from bagpack.corpus.store.format import TYPE_MASK
from bagpack.corpus.store.shard import Shard
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
    types: int
    half_types: int  # different types in the first half of the tokens
    vocabulary: int  # bytes of the shard's vocabulary files
    lexicon: int  # bytes of the corpus-wide lexicon
    other: int  # bytes of tokens, postings and documents
    feed_seconds: float
    write_seconds: float

    def types_at(self, tokens: float) -> float:
        """Heaps' law through the sample's half and whole."""
        if self.half_types == 0 or tokens <= 0:
            return float(self.types)
        growth = max(0.3, min(0.9, math.log2(self.types / self.half_types)))
        return float(min(tokens, self.types * (tokens / self.tokens) ** growth))


class _SampleWorker(Worker):
    """Reads one piece of each slice, into one shard."""

    feed_seconds = 0.0
    write_seconds = 0.0

    def read(self, part: Slice) -> Iterator[Batch]:
        """Batches of the first bytes."""
        taken = 0
        for batch in super().read(part):
            yield batch
            taken += batch.consumed
            if taken >= PIECE:
                return

    def run(self, slices: Sequence[Slice]) -> None:
        """Read, and take the time."""
        begun = time.perf_counter()
        super().run(slices)
        self.feed_seconds = time.perf_counter() - begun - self.write_seconds

    def write(self) -> None:
        """Write, and take the time."""
        begun = time.perf_counter()
        super().write()
        self.write_seconds += time.perf_counter() - begun


def estimate(sources: Iterable[str], options: TextOptions, jobs: int | None, memory: int) -> dict[str, Any]:
    """Tokens, disk, memory and time that indexing these sources will take, about."""
    names = list(sources)
    if "-" in names:
        raise UsageError("standard input cannot be sampled and then read again; name files, not -")
    plan = make_plan(names, options)
    workers = workers_within(memory, jobs) or 1
    sizes = {source: _plain_size(source) for source in plan.sources}
    total = dict.fromkeys(("bytes", "tokens", "disk", "busy", "sample", "largest"), 0.0)
    lexicon = 0.0
    for format in sorted({source.format for source in plan.sources}):
        parts = [part for part in plan.parts if part.format == format]
        size = sum(sizes[source] for source in plan.sources if source.format == format)
        sampled = _sample(parts, options, plan.part_bytes)
        tokens = size / max(sampled.size, 1) * sampled.tokens
        shards = max(len(parts), math.ceil(size / (1.5 * plan.part_bytes)))
        shard_types = shards * sampled.types_at(tokens / shards)
        total["bytes"] += size
        total["tokens"] += tokens
        total["sample"] += sampled.size
        total["disk"] += (
            tokens * sampled.other / sampled.tokens + shard_types * sampled.vocabulary / sampled.types
        )
        total["busy"] += size * sampled.feed_seconds / sampled.size
        total["busy"] += shard_types * sampled.write_seconds / sampled.types
        total["largest"] = max(total["largest"], min(tokens / shards * 1.5, SHARD_TOKENS))
        lexicon += sampled.types_at(tokens) * sampled.lexicon / sampled.types
    at_work = min(workers, len(plan.parts))
    speed_up = 1 + (at_work - 1) * PARALLEL_SHARE
    return {
        "files": len(plan.sources),
        "input_bytes": sum(source.size for source in plan.sources),
        "formats": sorted({source.format for source in plan.sources}),
        "tokens": _rounded(total["tokens"]),
        "disk_bytes": _rounded(total["disk"] + lexicon),
        "memory_bytes": int(min(memory, at_work * (WORKER_BASE + WORKER_TOKEN * total["largest"]))),
        "workers": at_work,
        "seconds": round(STARTUP_SECONDS + total["busy"] / speed_up, 1),
        "seconds_per_1000_pairs": SECONDS_PER_1000_PAIRS,
        "matrix_bytes_per_1000_pairs": MATRIX_BYTES_PER_1000_PAIRS,
        "sample_bytes": int(total["sample"]),
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
        sink = _SampleWorker(Path(place), 1, options, max(part_bytes, 2 * PLACES * PIECE))
        sink.run(pieces)
        size = sink.consumed
        if not sink.shards:
            named = ", ".join(piece.source.name for piece in pieces[:3])
            raise InputError(
                f"no sentence was found in a sample of {named}; check the --format and the files"
            )
        shard = Shard(Path(place) / sink.shards[0])
        write_lexicon([shard.directory], Path(place) / "lexicon")
        bytes_of = {file.name: file.stat().st_size for file in shard.directory.iterdir()}
        vocabulary = sum(n for name, n in bytes_of.items() if name.startswith(VOCABULARY))
        half = shard.tokens[: shard.tokens.size // 2] & TYPE_MASK
        return Sampled(
            size=size,
            tokens=shard.tokens.size,
            types=shard.facts["types"],
            half_types=int(np.unique(half).size),
            vocabulary=vocabulary,
            lexicon=sum(file.stat().st_size for file in (Path(place) / "lexicon").iterdir()),
            other=sum(
                n for name, n in bytes_of.items() if name.startswith(("tokens", "postings", "documents."))
            ),
            feed_seconds=sink.feed_seconds,
            write_seconds=sink.write_seconds,
        )


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
    from bagpack.corpus.readers.io import zstd

    openers: dict[str, Callable[[IO[bytes]], Any]] = {
        "gz": lambda file: gzip.GzipFile(fileobj=file),
        "bz2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "zst": lambda file: zstd.open(file, "rb"),
    }
    plain = used = 0
    try:
        with open(source.path, "rb") as file, openers[source.compression](file) as stream:
            while chunk := stream.read(1 << 16):
                plain, used = plain + len(chunk), file.tell()
                # Readers fetch ahead: what they have used is known only after many of their buffers.
                if plain >= 4 * PIECE and (1 << 20 <= used < source.size or plain >= 64 * PIECE):
                    return source.size * plain // used
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError):
        return EXPANSION * source.size  # damaged, which the sample reports
    return plain
