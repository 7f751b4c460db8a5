"""What the work costs: bytes read, CPU seconds and bytes moved, at three sizes, and what follows for a cluster.

Zipf corpora of 10, 30 and 100 million tokens are indexed, a basis is picked and pairs are counted: every task in one
process, but handed over as to a cluster, pickled and with arrays through files. Each stage has a process of its own and
finds its files on the disk, not in memory. The numbers for 100 billion tokens on 100 workers are computed: costs are
sums of what grows (tokens, windows and postings read, visits of segments), fitted to the measurements; in a thousand
times as many tokens a word occurs a thousand times as often, but is counted 5,000 times at most.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bagpack.basis import TABLE_WORDS as TABLE_UNITS
from bagpack.contexts.count import (
    CHUNK_PAIRS,
    CHUNK_WORDS,
    COUNTS_PER_TASK,
    HELD_PER_TASK,
    OCCURRENCES_PER_TASK,
    TASKS_PER_WORKER,
)
from bagpack.corpus.build.plan import part_size
from bagpack.vectors.counts import count_pairs
from benchmarks.measure import drop_from_cache, machine, table, tree_bytes
from benchmarks.zipf import write_zipf_vertical, zipf_pairs

SIZES = (10_000_000, 30_000_000, 100_000_000)
PAIRS = 4_000
B = 1500
LIMIT = 5000
PAGE = 4096
# Number of workers that the work is divided for (the more, the smaller the tasks), and maximum observations: with few,
# what is read differs from what is counted, so that the fit can distinguish the two.
RUNS = ((2, LIMIT), (25, LIMIT), (25, 50))
STAGES = ("index", "basis", "vectors")


@dataclass
class Cost:
    """What one stage took."""

    stage: str
    tokens: int
    workers: int
    limit: int = 0
    segments: int = 0
    tasks: int = 0
    read: int = 0  # bytes from disk
    written: int = 0  # bytes of the artefact
    busy: float = 0.0  # CPU seconds in tasks
    alone: float = 0.0  # CPU seconds of the command itself
    sent: int = 0  # bytes of tasks and what they return
    left: int = 0  # bytes that go through shared files
    counted: Counted | None = None
    shared: set[str] = field(default_factory=set, repr=False)


@dataclass
class Counted:
    """What was counted: how often each word and each pair occurs, and the entries of their rows."""

    words: np.ndarray
    rarer: np.ndarray  # of each pair, how often its rarer word occurs
    distinct_pairs: np.ndarray
    word_entries: np.ndarray
    pair_entries: np.ndarray
    limit: int

    @classmethod
    def of(cls, matrix: Any) -> Counted:
        """From a matrix."""
        known = matrix.pair_of >= 0
        rarer = np.zeros(matrix.together.shape[0], np.int64)
        rarer[matrix.pair_of[known]] = np.minimum(matrix.n_w1, matrix.n_w2)[known]
        return cls(
            matrix.occurrences, rarer, matrix.found.sum(axis=1), np.diff(matrix.words.indptr),
            np.diff(matrix.together.indptr), matrix.settings.limit,
        )  # fmt: skip

    def work(self, times: float = 1.0, pairs: float | None = None) -> dict[str, float]:
        """Sums that determine the costs, in a corpus `times` as large, for `pairs` pairs like these."""
        more = 1.0 if pairs is None else pairs / self.rarer.size
        windows = np.minimum(times * self.words, self.limit)
        distinct_pairs = np.minimum(times * self.distinct_pairs, self.limit)
        entries = _entries(np.minimum(self.words, self.limit), self.word_entries, windows, 4 * B)
        entries += _entries(
            np.minimum(self.distinct_pairs, self.limit), self.pair_entries, distinct_pairs, 12 * B
        )
        return {
            "pair": more * self.rarer.size,
            "window": more * windows.sum(),
            "posting of a rarer word": more * times * self.rarer.sum(),
            "co-occurrence": more * distinct_pairs.sum(),
            "entry": more * entries,
        }


def _entries(counted: np.ndarray, entries: np.ndarray, wanted: np.ndarray, width: int) -> float:
    """Entries of rows after `wanted` observations instead of `counted`: they grow with a power of these."""
    some = (counted > 0) & (entries > 0)
    slope, _ = np.polyfit(np.log(counted[some]), np.log(entries[some]), 1)
    ratio = (wanted / np.maximum(counted, 1)) ** slope
    return float(np.minimum(entries * ratio, width).sum())


class Weigh:
    """Replaces `bagpack.parallel.run`: does each task in this process, and measures what would be sent."""

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.own = 0.0  # CPU seconds for the weighing itself

    def run(self, tasks: Iterable[Any], n_jobs: int | None = None) -> Iterator[Any]:
        """Results of the tasks, in order."""
        cost = self.cost
        for task in tasks:
            begun = time.process_time()
            cost.sent += len(pickle.dumps(task))
            for path in (argument.path for argument in _shared(task[1])):
                if path not in cost.shared:
                    cost.shared.add(path)
                    cost.left += os.path.getsize(path)
            start = time.process_time()
            result = task[0](*task[1], **task[2])
            end = time.process_time()
            cost.busy += end - start
            cost.tasks += 1
            cost.sent += len(pickle.dumps(result))
            cost.left += os.path.getsize(result.path) if hasattr(result, "path") else 0
            self.own += time.process_time() - end + start - begun
            yield result


def _shared(values: Any) -> Iterator[Any]:
    from bagpack.parallel import Shared

    for value in values:
        if isinstance(value, Shared):
            yield value
        elif isinstance(value, tuple):
            yield from _shared(value)


def _bytes_read() -> int:
    facts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(facts["read_bytes"])


def measured(cost: Cost, files: Iterable[Path], work: Callable[[Cost], None]) -> Cost:
    """Do a stage in a process of its own, with cold files and every task weighed."""
    for path in files:
        drop_from_cache(path)
    receiving, sending = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_stage, args=(cost, work, sending))
    child.start()
    sending.close()
    cost = receiving.recv()
    child.join()
    return cost


def _stage(cost: Cost, work: Callable[[Cost], None], sending: Any) -> None:
    weigh = Weigh(cost)
    with ExitStack() as stack:
        for name, value in {
            "bagpack.parallel.run": weigh.run,
            "bagpack.corpus.build.worker.run": weigh.run,
            "bagpack.parallel.on_one_machine": lambda: False,
            "bagpack.basis.worker_count": lambda: cost.workers,
            "bagpack.contexts.count.worker_count": lambda: cost.workers,
            "bagpack.corpus.corpus.OPEN_SEGMENTS": 1,  # as in a store of thousands: each visit opens a segment again
            "bagpack.contexts.count.OPEN_SEGMENTS": 0,
        }.items():
            stack.enter_context(mock.patch(name, value))
        for name, module in list(sys.modules.items()):
            if name.startswith("bagpack.contexts.") and hasattr(module, "basis_tables"):
                stack.enter_context(
                    mock.patch.object(module, "basis_tables", module.basis_tables.__wrapped__)
                )
        before, begun = _bytes_read(), time.process_time()
        work(cost)
        cost.alone = time.process_time() - begun - cost.busy - weigh.own
        cost.read = _bytes_read() - before
    sending.send(cost)


def measure_size(tokens: int, place: Path) -> list[Cost]:
    """All stages over a corpus of `tokens` tokens."""
    from bagpack import Corpus
    from bagpack.basis import Basis
    from bagpack.contexts.windows import CountSettings
    from bagpack.corpus.build.index import index_corpus

    place = place / str(tokens)
    place.mkdir()
    text, store, basis, matrix = (place / name for name in ("z.vert", "z.bp", "basis.tsv", "m.bpm"))
    pairs = zipf_pairs(PAIRS, seed=1, tokens=min(SIZES))

    def index(cost: Cost) -> None:
        cost.segments = len(index_corpus([str(text)], store, jobs=1).corpus.segments)
        cost.written = tree_bytes(store)

    def pick(cost: Cost) -> None:
        corpus = Corpus.open(store)
        cost.segments = len(corpus.segments)
        Basis.of(corpus, B).save(basis)

    def count(cost: Cost) -> None:
        corpus = Corpus.open(store)
        cost.segments = len(corpus.segments)
        settings = CountSettings(limit=cost.limit)
        found = count_pairs(corpus, pairs, Basis.open(basis), settings)
        found.save(matrix, overwrite=True)
        cost.written = tree_bytes(matrix)
        cost.counted = Counted.of(found)

    write_zipf_vertical(text, tokens)
    costs = [measured(Cost("index", tokens, 1), [text], index)]
    text.unlink()
    for workers, limit in RUNS:
        if limit == LIMIT:
            costs.append(measured(Cost("basis", tokens, workers), [store], pick))
        costs.append(measured(Cost("vectors", tokens, workers, limit), [store], count))
    shutil.rmtree(place)
    return costs


# The model ------------------------------------------------------------------------------------------------------


def features(cost: Cost, quantity: str) -> dict[str, float]:
    """What a stage's costs are a sum of."""
    if cost.counted is not None and quantity != "read":
        return _vector_features(cost.counted.work(), quantity, cost.tasks, cost.segments)
    return _scan_features(cost.stage, quantity, cost.tokens, cost.tasks)


def _scan_features(stage: str, quantity: str, tokens: float, tasks: float) -> dict[str, float]:
    everything = {"billion tokens": tokens / 1e9, "task": float(tasks), "run": 1.0}
    if quantity == "alone":
        names: tuple[str, ...] = ("billion tokens", "run") if stage == "index" else ("task", "run")
    elif quantity == "sent":
        names = ("task",)
    elif stage == "basis" or quantity == "written":
        names = ("billion tokens", "task")
    else:
        names = ("billion tokens",)
    return {name: everything[name] for name in names}


def _vector_features(
    work: dict[str, float], quantity: str, tasks: float, segments: float
) -> dict[str, float]:
    visits = {"visit of a segment": tasks * segments}
    if quantity == "busy":
        return {name: work[name] for name in ("window", "posting of a rarer word")} | visits
    return {name: work[name] for name in ("pair", "entry")} | {"task": tasks}


def fit(costs: list[Cost], stage: str, quantity: str) -> dict[str, float]:
    """Non-negative least squares, every measurement with the same weight however large it is."""
    from scipy.optimize import nnls

    rows = [cost for cost in costs if cost.stage == stage]
    table = [features(cost, quantity) for cost in rows]
    y = np.array([float(getattr(cost, quantity)) for cost in rows])
    scale = np.where(y > 0, y, 1.0)
    X = np.array([list(entry.values()) for entry in table]) / scale[:, None]
    unit = X.max(axis=0)
    found, _ = nnls(X / unit, y / scale)
    return dict(zip(table[0], (found / unit).tolist(), strict=True))


def predict(model: dict[str, float], wanted: dict[str, float]) -> float:
    """The sum of what each feature costs."""
    return sum(model[name] * value for name, value in wanted.items())


QUANTITIES = {
    "read": "bytes read",
    "written": "bytes written",
    "busy": "CPU s in tasks",
    "alone": "CPU s of the command",
    "sent": "bytes through the scheduler",
    "left": "bytes through shared files",
}


def show(value: float, quantity: str) -> str:
    """Bytes, or seconds."""
    if quantity in ("busy", "alone"):
        for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
            if value >= size:
                return f"{value / size:,.3g} {unit}" if value < 1000 else f"{value:,.0f} s"
        return f"{value * 1e9:.3g} ns"
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.3g} TB"


def tell_measured(costs: list[Cost]) -> None:
    print(f"\nMeasured ({machine()}; {PAIRS:,} pairs, b = {B}):\n")
    header = ["stage", "million tokens", "divided for", "limit", "segments", "tasks", *QUANTITIES.values()]
    rows = [
        [cost.stage, f"{cost.tokens / 1e6:g}", f"{cost.workers}", f"{cost.limit or '–'}", f"{cost.segments}",
         f"{cost.tasks}", *(show(getattr(cost, name), name) for name in QUANTITIES)]
        for cost in costs
    ]  # fmt: skip
    print(table(header, rows))


def tell_model(costs: list[Cost], models: dict[tuple[str, str], dict[str, float]]) -> None:
    print("\nFitted (off by: where the fit is furthest from what was measured):\n")
    rows = []
    for (stage, quantity), model in models.items():
        own = [cost for cost in costs if cost.stage == stage and getattr(cost, quantity)]
        if not own:
            continue
        off = max(abs(predict(model, features(cost, quantity)) / getattr(cost, quantity) - 1) for cost in own)
        parts = [f"{show(value, quantity)} per {name}" for name, value in model.items() if value > 0]
        rows.append([stage, QUANTITIES[quantity], " + ".join(parts), f"{100 * off:.0f} %"])
    print(table(["stage", "quantity", "cost", "off by"], rows))


def tell_prediction(
    costs: list[Cost],
    models: dict[tuple[str, str], dict[str, float]],
    tokens: float,
    pairs: float,
    workers: int,
) -> None:
    """Computed: how much each stage would be, and how long it would take."""
    text = max(costs, key=lambda cost: (cost.stage == "index", cost.tokens))
    counted = max(costs, key=lambda cost: (cost.stage == "vectors", cost.limit, cost.tokens))
    assert counted.counted is not None
    size = tokens * text.read / text.tokens
    segments = math.ceil(size / part_size(int(size)))
    work = counted.counted.work(tokens / counted.tokens, pairs)
    words = pairs * counted.counted.words.size / counted.counted.rarer.size
    tasks = max(
        TASKS_PER_WORKER * workers, math.ceil(words / min(CHUNK_WORDS, OCCURRENCES_PER_TASK // segments))
    )
    least = max(pairs / min(CHUNK_PAIRS, COUNTS_PER_TASK // segments), work["co-occurrence"] / HELD_PER_TASK)
    tasks += max(TASKS_PER_WORKER * workers, math.ceil(least))
    print(
        f"\nComputed for {tokens / 1e9:g} billion tokens on {workers} workers, {pairs / 1e6:g} million pairs of"
    )
    print(f"{words / 1e6:.2g} million words: {segments:,} segments, vectors in {tasks:,} tasks.\n")
    rows = []
    for stage in STAGES:
        found = {}
        for quantity in QUANTITIES:
            if stage == "vectors" and quantity != "read":
                wanted = _vector_features(work, quantity, tasks, segments)
            else:
                wanted = _scan_features(stage, quantity, tokens, segments if stage == "index" else workers)
            found[quantity] = predict(models[stage, quantity], wanted)
        if stage == "basis":
            found["left"] = workers * 4.0 * TABLE_UNITS**2  # in a small corpus only what is not zero
        if (
            stage == "vectors"
        ):  # at most all of the store for each worker; else a page a window, and the postings
            pages = PAGE * work["window"] + 8 * work["posting of a rarer word"]
            found["read"] = min(workers * found["read"], pages)
        seconds = found["busy"] / workers + found["alone"]
        rate = (found["read"] + found["written"]) / max(found["busy"] / workers, 1e-9)
        cells = [show(value, name) for name, value in found.items()]
        rows.append([stage, *cells, f"{seconds / 60:,.0f} min", f"{show(rate, 'read')}/s"])
    print(table(["stage", *QUANTITIES.values(), "elapsed, if the disks keep up", "which takes"], rows))


def warm_up(place: Path) -> None:
    """Compile and import here what the stages inherit: that is no part of the costs."""
    from bagpack.basis import Basis
    from bagpack.contexts.windows import CountSettings
    from bagpack.corpus.build.index import index_corpus

    write_zipf_vertical(place / "warm.vert", 200_000)
    corpus = index_corpus([str(place / "warm.vert")], place / "warm.bp", jobs=1).corpus
    basis = Basis.of(corpus, 100)
    count_pairs(corpus, zipf_pairs(50, tokens=100_000), basis, CountSettings())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="tokens")
    parser.add_argument("--tokens", type=float, default=100e9, help="tokens to predict for")
    parser.add_argument("--pairs", type=float, default=1e6, help="pairs to predict for")
    parser.add_argument("--workers", type=int, default=100, help="workers to predict for")
    args = parser.parse_args()
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="bagpack-cost-") as name:
        warm_up(Path(name))
        for tokens in args.sizes:
            print(f"measuring {tokens:,} tokens ...", flush=True)
            costs += measure_size(tokens, Path(name))
    models = {(stage, name): fit(costs, stage, name) for stage in STAGES for name in QUANTITIES}
    tell_measured(costs)
    tell_model(costs, models)
    tell_prediction(costs, models, args.tokens, args.pairs, args.workers)


if __name__ == "__main__":
    main()
