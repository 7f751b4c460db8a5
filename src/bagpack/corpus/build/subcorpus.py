"""A subcorpus: the store that indexing only the selected documents would have made, cut out of an indexed one.

It takes the time that its share of the tokens takes to copy and sort, and is kept in the cache directory, so that the
same condition costs nothing the second time. Since it can be made again, it has no checksums, and nothing waits for the
disk: if a crash of the system leaves it incomplete, it is made again.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.build.describe import make_manifest, shard_entry
from bagpack.corpus.build.shard_writer import ShardContent, count_ids, remap_tokens, write_content
from bagpack.corpus.store import format
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import GLUED, SENTENCE_START
from bagpack.corpus.store.manifest import MANIFEST, is_store
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.store.where import Where
from bagpack.errors import StoreError, UsageError
from bagpack.files import TooManyFilesError, cache_directory, digest, disk_errors, remove_tree, write_json

MOST_BYTES = 4 << 30  # of all that are kept
MOST_KEPT = 64
IN_USE = 3600.0  # seconds since its last use in which a subcorpus is never removed
THREADS = 4
FORMAT = 2  # counts the changes of how they are made


def subcorpus(corpus: Corpus, condition: str) -> Corpus:
    """The corpus of the documents that a condition selects; see `bagpack.corpus.store.where`."""
    where = Where(condition)
    where.check_names(corpus.attribute_names)
    name = digest(f"{FORMAT}\n{corpus.content_hash}\n{where.text}".encode())
    kept = _place()
    found = kept / name
    there = found.exists()
    part = _open(found) if there else None
    if part is None:
        new = kept / f"{name}.{uuid.uuid4().hex}.new"
        try:
            with disk_errors(new):
                _write(corpus, where, new)
                if there:
                    remove_tree(found)
                with suppress(OSError):  # another process made the same one meanwhile
                    os.rename(new, found)
        finally:
            remove_tree(new)
        _forget_old(kept)
        part = Corpus.open(found)
    with suppress(OSError):
        os.utime(found / MANIFEST)
    return part


def _open(path: Path) -> Corpus | None:
    """The subcorpus at a path; None if it is incomplete."""
    try:
        part = Corpus.open(path)
        for shard in part.shards:
            shard.check()
    except TooManyFilesError:
        raise
    except StoreError:
        return None
    return part


def _place() -> Path:
    """The cache directory; where that cannot be written, one that goes with the process."""
    cache = cache_directory()
    if cache is not None:
        with suppress(OSError):
            (cache / "subcorpora").mkdir(parents=True, exist_ok=True)
            if os.access(cache / "subcorpora", os.W_OK):
                return cache / "subcorpora"
    place = Path(tempfile.mkdtemp(prefix="bagpack-subcorpora-"))
    atexit.register(remove_tree, place)
    return place


def _forget_old(kept: Path) -> None:
    """Remove the subcorpora that were not used for longest while there are too many, and what was never finished."""
    used: list[tuple[float, Path]] = []
    for path in kept.iterdir():
        with suppress(OSError):
            age = time.time() - (path / MANIFEST if is_store(path) else path).stat().st_mtime
            if not path.name.endswith(".new"):
                used.append((age, path))
            elif age > IN_USE:
                remove_tree(path)
    size = 0
    for number, (age, path) in enumerate(sorted(used)):
        size += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        if age > IN_USE and (size > MOST_BYTES or number >= MOST_KEPT) and is_store(path):
            remove_tree(path)


def _write(corpus: Corpus, where: Where, root: Path) -> None:
    def cut(number: int) -> tuple[bool, str]:
        chosen = where.documents(corpus.shards[number])
        content = _cut(corpus.shards[number], chosen, corpus)
        if content is not None:
            write_content(content, root / "shards" / names[number], durable=False)
            made = Shard(root / "shards" / names[number])
            format.trust(made.directory, made.declared, made.numbers)
        return content is not None, digest(np.packbits(chosen).tobytes())

    names = [entry["name"] for entry in corpus.manifest["shards"]]
    with ThreadPoolExecutor(THREADS) as pool:  # kernels, and waiting for the disk, need no Python lock
        written, documents = zip(*pool.map(cut, range(len(names))), strict=True)
    entries = [shard_entry(root / "shards", name) for name, own in zip(names, written, strict=True) if own]
    if not entries:
        raise UsageError(
            f"no document of {corpus.name} with any text satisfies --where {where.text!r}; bagpack info {corpus.name} "
            f"lists the attributes and their values"
        )
    of = {
        "path": corpus.name, "content_hash": corpus.content_hash, "where": where.text,
        "documents": digest("\n".join(documents).encode()),
    }  # fmt: skip
    manifest = make_manifest(
        root,
        "lexicon-0",
        entries,
        corpus.options,
        sources=corpus.manifest["sources"],
        problems=corpus.manifest["problems"],
        of=of,
    )
    write_json(root / MANIFEST, manifest, durable=False)


def _cut(shard: Shard, chosen: NDArray[np.bool_], corpus: Corpus) -> ShardContent | None:
    """The shard of the chosen documents; None if they have no tokens. Its types and keys keep their order."""
    starts = shard.document_starts.astype(np.int64)
    ends = np.append(starts[1:], shard.tokens.size)
    runs = _runs(starts[chosen], ends[chosen])
    tokens = _gather(shard.tokens, runs)
    if not tokens.size:
        return None
    lengths = np.array([high - low for low, high in runs], np.int64)
    firsts = (np.cumsum(lengths) - lengths)[lengths > 0]
    tokens[firsts] = (
        tokens[firsts] | SENTENCE_START
    ) & ~GLUED  # the text before is not part of the subcorpus
    counts = count_ids(tokens, len(shard.forms))
    types = np.flatnonzero(counts)
    types = types[np.argsort(-counts[types], kind="stable")]
    new_types = np.full(counts.size, -1, np.int64)
    new_types[types] = np.arange(types.size)
    remap_tokens(tokens, new_types)
    keys, key_of_type = np.unique(shard.key_of_type[types], return_inverse=True)
    numbers = np.flatnonzero(chosen)
    sizes = ends[numbers] - starts[numbers]
    continued = bool(chosen[0]) and len(shard.documents) > shard.facts["documents"]
    return ShardContent(
        tokens, shard.forms.take(types), shard.keys.take(keys.astype(np.int64)), key_of_type.astype(np.uint32),
        counts[types], np.cumsum(sizes) - sizes, shard.documents.take(numbers), shard.attributes.take(numbers),
        continued, corpus.options, str(shard.facts.get("source", "")),
        _gather(shard.tags, runs) if shard.has_tags else None,
    )  # fmt: skip


def _runs(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of tokens, those that follow each other as one."""
    if not starts.size:
        return []
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    return list(
        zip(
            starts[np.append(0, breaks)].tolist(),
            ends[np.append(breaks, starts.size) - 1].tolist(),
            strict=True,
        )
    )


def _gather(values: NDArray[Any], runs: Sequence[tuple[int, int]]) -> NDArray[Any]:
    out = np.empty(sum(high - low for low, high in runs), values.dtype)
    at = 0
    for low, high in runs:
        out[at : at + high - low] = values[low:high]
        at += high - low
    return out
