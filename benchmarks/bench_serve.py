"""The explorer on at least fifty million tokens: latency at a steady rate and with many requests at once, and memory.

The server is a process of its own, started as a user starts it, with a model; the client shares its two cores. Every
pair is asked for once, so nothing is answered from memory. Latency is measured from the moment a request was due.
Memory is the proportional set size (PSS) of the server and all its workers: pages they share, such as the corpus mapped
into memory, count once. The store is BAGPACK_BENCH_STORE, or is indexed once from the corpus at hand, or from text
whose frequencies follow Zipf's law.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import psutil

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "bench-data"
REAL = HERE.parent / "shared" / "data" / "corpus"
TOKENS = 50_000_000
RATE, SECONDS = 20, 20
AT_ONCE = 200
CONNECTIONS = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=0)  # one per request
MILLION = 1_000_000


def store() -> Path:
    """A store of at least fifty million tokens."""
    given = os.environ.get("BAGPACK_BENCH_STORE")
    if given:
        return Path(given)
    path = DATA / "serve.bp"
    if path.exists():
        return path
    from bagpack.corpus.build.index import index_corpus

    DATA.mkdir(exist_ok=True)
    sources = sorted(str(file) for file in REAL.glob("*.txt.xz")) if REAL.exists() else [str(zipf_text())]
    index_corpus(sources, path, jobs=2)
    return path


def zipf_text() -> Path:
    """Sixty million words whose frequencies follow Zipf's law."""
    path = DATA / "serve.txt"
    if not path.exists():
        vocabulary = np.array([f"w{number:x}" for number in range(200_000)])
        draw = np.random.default_rng(0)
        with open(path, "w", encoding="utf-8") as out:
            for _ in range(600):
                for line in vocabulary[draw.zipf(1.2, (5000, 20)) % vocabulary.size]:
                    out.write(" ".join(line) + ".\n")
    return path


def model(at: Path) -> Path | None:
    """A model of the relations that BagPack includes; None where the corpus does not know their words."""
    given = os.environ.get("BAGPACK_BENCH_MODEL")
    if given:
        return Path(given)
    from bagpack.corpus.corpus import Corpus
    from bagpack.evaluate.train import TrainOptions, train_file

    if not Corpus.open(at).count("house"):
        return None
    path = DATA / f"serve-{Corpus.open(at).content_hash[:8]}.model"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        train_file(str(at), str(relations()), str(path), TrainOptions(scores=False))
    return path


def relations() -> Path:
    """The labelled pairs that BagPack includes."""
    return HERE / "src" / "bagpack" / "data" / "relations.tsv"


def ordinary_pairs(at: Path, number: int) -> list[tuple[str, str]]:
    """Pairs of words that occur 500 to 50,000 times in the corpus; half of them pairs of a known relation."""
    from bagpack.corpus.corpus import Corpus
    from bagpack.tasks.pairs import read_pairs

    corpus = Corpus.open(at)
    lexicon = corpus.lexicon
    related = read_pairs(relations()).pairs
    words = sorted({w for pair in related for w in pair if 500 <= corpus.count(w) <= 50_000})
    if len(words) < 100:
        chosen = np.flatnonzero((lexicon.counts >= 500) & (lexicon.counts <= 50_000))
        words, related = [lexicon.keys[int(i)] for i in chosen[:2000]], []
    drawn = random.Random(0)
    pairs = [pair for pair in related if set(pair) <= set(words)]
    drawn.shuffle(pairs)
    pairs = pairs[: number // 2]
    while len(pairs) < number:
        pair = (drawn.choice(words), drawn.choice(words))
        if pair[0] != pair[1] and pair not in pairs:
            pairs.append(pair)
    drawn.shuffle(pairs)
    return pairs


def million_words(at: Path) -> list[str]:
    """Words that occur a million times or more, the rarest first."""
    from bagpack.corpus.corpus import Corpus

    lexicon = Corpus.open(at).lexicon
    frequent = np.flatnonzero(lexicon.counts >= MILLION)
    if not frequent.size:
        frequent = np.argsort(-lexicon.counts)[:1]
    return [lexicon.keys[int(i)] for i in frequent[np.argsort(lexicon.counts[frequent])]]


async def ask(client: httpx.AsyncClient, path: str, statuses: dict[int, int]) -> None:
    """Ask for a page and count its status; 0 where the connection was closed."""
    try:
        status = (await client.get(path)).status_code
    except httpx.TransportError:
        status = 0
    statuses[status] = statuses.get(status, 0) + 1


async def ask_at_rate(
    base: str, pairs: list[tuple[str, str]], suffix: str = ""
) -> tuple[list[float], dict[int, int]]:
    """Seconds from the moment each request was due to its whole answer; and the number of answers by status."""
    statuses: dict[int, int] = {}
    async with httpx.AsyncClient(base_url=base, timeout=120, limits=CONNECTIONS) as client:
        begun = time.perf_counter() + 0.1

        async def one(number: int, pair: tuple[str, str]) -> float:
            due = begun + number / RATE
            await asyncio.sleep(max(0, due - time.perf_counter()))
            await ask(client, f"/pair/{pair[0]}/{pair[1]}{suffix}", statuses)
            return time.perf_counter() - due

        seconds = await asyncio.gather(*(one(i, pair) for i, pair in enumerate(pairs)))
    return seconds, statuses


async def ask_at_once(base: str, pairs: list[tuple[str, str]]) -> tuple[list[float], dict[int, int]]:
    """Seconds until each answer, all requests being sent at the same time; and the number of answers by status."""
    statuses: dict[int, int] = {}
    async with httpx.AsyncClient(base_url=base, timeout=120, limits=CONNECTIONS) as client:
        begun = time.perf_counter()

        async def one(pair: tuple[str, str]) -> float:
            await ask(client, f"/pair/{pair[0]}/{pair[1]}", statuses)
            return time.perf_counter() - begun

        seconds = await asyncio.gather(*map(one, pairs))
    return seconds, statuses


class PeakMemory:
    """The largest memory of a process and its descendants while the block runs, sampled five times a second."""

    def __init__(self, pid: int) -> None:
        self.process = psutil.Process(pid)
        self.peak = self.now = 0
        self._ended = threading.Event()
        self._sampler = threading.Thread(target=self._sample)

    def __enter__(self) -> PeakMemory:
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._sampler.join()

    def _sample(self) -> None:
        while True:
            family = [self.process, *self.process.children(recursive=True)]
            self.now = sum(proportional_size(process.pid) for process in family)
            self.peak = max(self.peak, self.now)
            if self._ended.wait(0.2):
                return


def proportional_size(pid: int) -> int:
    """Bytes of a process's memory, those it shares divided by the number of sharers; 0 if it just ended."""
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return 1024 * int(found[1]) if found else 0


def serve(at: Path, *options: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the explorer and wait until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        "from bagpack.cli import main; main()",
        "serve",
        str(at),
        "--port",
        str(port),
    ]
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            httpx.get(base + "/index.json", timeout=5)
            return process, base
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError("the explorer did not start")


def by_status(statuses: dict[int, int]) -> str:
    """Numbers of answers: 199 × 200, 1 × 503."""
    return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))


def show(name: str, seconds: list[float], median: float, p99: float) -> None:
    """One line: what was found, and what is wanted."""
    ms = 1000 * np.array(seconds)
    found, high = float(np.median(ms)), float(np.percentile(ms, 99))
    print(
        f"   {name}: median {found:.0f} ms (< {median:.0f}), p99 {high:.0f} ms (< {p99:.0f}), max {ms.max():.0f} ms  "
        + ("ok" if found < median and high < p99 else "NOT MET")
    )


def main() -> None:
    at = store()
    trained = model(at)
    pairs = ordinary_pairs(at, 2 * RATE * SECONDS + AT_ONCE)
    at_once = [pairs.pop() for _ in range(AT_ONCE)]
    process, base = serve(at, *(("--model", str(trained)) if trained else ()))
    try:
        facts = httpx.get(base + "/index.json").json()
        loaded = f"{facts['tokens']:,} tokens, {'with' if trained else 'without'} a model"
        print(f"   {loaded}, {RATE} requests/s for {SECONDS} s")
        first = []
        for word in million_words(at):
            begun = time.perf_counter()
            answer = httpx.get(base + "/concordance", params={"w1": word}, timeout=30)
            answer.raise_for_status()
            first.append(time.perf_counter() - begun)
        print(
            f"   first concordance page of {len(first)} words with a million occurrences: rarest "
            f"{1000 * first[0]:.0f} ms, slowest {1000 * max(first):.0f} ms (< 200)  "
            + ("ok" if max(first) < 0.2 else "NOT MET")
        )
        half = len(pairs) // 2
        for name, part, suffix in (
            ("pair page", pairs[:half], ""),
            ("pair page as JSON", pairs[half:], ".json"),
        ):
            begun = time.perf_counter()
            seconds, statuses = asyncio.run(ask_at_rate(base, part, suffix))
            spent = time.perf_counter() - begun
            show(f"{name}, {len(part) / spent:.1f} answers/s, {by_status(statuses)}", seconds, 150, 500)
        with PeakMemory(process.pid) as memory:
            waited, statuses = asyncio.run(ask_at_once(base, at_once))
        ms = 1000 * np.array(waited)
        print(
            f"   {AT_ONCE} pair pages at once: p50 {np.median(ms):.0f} ms, p99 {np.percentile(ms, 99):.0f} ms, "
            f"{AT_ONCE / max(waited):.0f} answers/s, {by_status(statuses)}; peak memory {memory.peak / 2**20:.0f} MiB  "
            + ("ok" if statuses == {200: AT_ONCE} and memory.peak < 2**31 else "NOT MET")
        )
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    main()
