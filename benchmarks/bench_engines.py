"""tantivy on 20 million tokens: build time, size, queries per second, vectors equal to the store's; and failures.

    [BAGPACK_BENCH_TOKENS=20000000] python -m benchmarks engines

One core. tantivy is filled from a store; what it gives for some pairs is compared with the store's own vectors. Then
10,000 queries go to a loopback server of which 5 % of the requests fail.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import lzma
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.engines.base import BusyError, connect
from bagpack.engines.build import build_engine, corpus_sentences
from bagpack.engines.cache import RequestPolicy, Requests
from bagpack.engines.fetch import fetch_snippets
from bagpack.engines.inflect import Inflector
from bagpack.engines.observations import escaped
from bagpack.engines.queries import Query, plan_queries
from bagpack.engines.sentences import index_words, unmark
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "bench-data"
REAL = HERE.parent / "shared" / "data" / "corpus"
TOKENS = int(os.environ.get("BAGPACK_BENCH_TOKENS", "20000000"))
PAIRS = 40  # 14 queries each, about
QUERIES = 10_000
FAILING = 0.05


def text() -> Path:
    """`TOKENS` words of real text, or of a Zipf distribution."""
    DATA.mkdir(exist_ok=True)
    file = DATA / f"engine-{TOKENS}.txt"
    if file.exists():
        return file
    source = REAL / "enwiki2015.txt.xz"
    with open(file, "w", encoding="utf-8") as out:
        if source.exists():
            count = 0
            with lzma.open(source, "rt", encoding="utf-8") as lines:
                for line in lines:
                    out.write(line)
                    count += len(line.split())
                    if count >= TOKENS:
                        return file
        draw = np.random.default_rng(0)
        for _ in range(TOKENS // 20):
            out.write(" ".join(f"w{k % 50_000:x}" for k in draw.zipf(1.2, 20)) + ".\n")
    return file


def distinct_sentences(place: Path) -> Corpus:
    """A store of the text's forms, each sentence once: an engine's answer has every text once, too."""
    form = TextOptions(level="form", annotator="none")
    whole = index_corpus([str(text())], place / "whole.bp", form, jobs=1).corpus
    seen: set[bytes] = set()
    with open(place / "distinct.vert", "w", encoding="utf-8") as out:
        for _, marked in corpus_sentences(whole):
            key = hashlib.blake2b(marked.encode(), digest_size=8).digest()
            if key not in seen:
                seen.add(key)
                out.write("<s>\n" + "".join(f"{escaped(word)}\n" for word in unmark(marked)[0]))
    options = replace(form, format="vertical", columns="word")
    return index_corpus([str(place / "distinct.vert")], place / "store.bp", options, jobs=1).corpus


def ordinary_pairs(store: Corpus) -> list[tuple[str, str]]:
    """Words that occur 100 to 5,000 times, two by two, each pair from a sentence in which they are near."""
    keys, counts = store.lexicon.keys, store.lexicon.counts
    usual = {keys[at] for at in np.flatnonzero((counts >= 100) & (counts <= 5000)).tolist()}
    found: dict[tuple[str, str], None] = {}
    for _, marked in itertools.islice(corpus_sentences(store), 0, None, 997):
        words = [word for word in index_words(marked) if word in usual and word.isalnum() and len(word) > 2]
        if len(words) > 2:
            found[words[0], words[1]] = None
        if len(found) == PAIRS:
            break
    return list(found)


def size_of(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def measure(store: Corpus, pairs: list[tuple[str, str]], place: Path) -> None:
    url = f"tantivy:{place / 'index'}"
    begun, cpu = time.perf_counter(), time.process_time()
    build_engine(url, [str(store.path)])
    built, cpu = time.perf_counter() - begun, time.process_time() - cpu
    occupied = size_of(place / "index")
    engine = connect(url)
    queries = plan_queries(pairs, Inflector()).queries
    rates = []
    for kind in ("word", "pair"):
        asked = [query for query in queries if query.kind == kind]
        begun = time.perf_counter()
        found = sum(len(engine.search(query, 1000)) for query in asked)
        rates.append(
            f"{len(asked) / (time.perf_counter() - begun):,.0f} {kind} queries/s ({found:,} snippets)"
        )
    engine.close()
    # The store counts forms, and every target is its own only form: so both agree on what is an occurrence.
    alone = Inflector(overrides={word: () for pair in pairs for word in pair})
    snippets = fetch_snippets(
        pairs, url, place / "s.bps", cache=place / "cache", policy=RequestPolicy(limit=10_000), inflector=alone,
        options=TextOptions(level="form"),
    ).corpus  # fmt: skip
    basis = Basis.of(store, 500)
    settings = CountSettings(limit=None)
    ours, theirs = (count_pairs(as_source(source), pairs, basis, settings) for source in (snippets, store))
    differing = sum((ours.tocsr(part) != theirs.tocsr(part)).nnz for part in ("v1v2", "v12"))
    counted = sum(theirs.tocsr(part).nnz for part in ("v1v2", "v12"))
    print(
        f"tantivy: built in {built:.0f} s ({store.tokens / built / 1e6:.2f} M tokens/s, {cpu:.0f} s CPU in this "
        f"process), {occupied / store.tokens:.1f} bytes/token; {', '.join(rates)}; {differing} of "
        f"{counted:,} counts differ from the store's",
        flush=True,
    )


@contextmanager
def failing_server() -> Iterator[tuple[str, list[int]]]:
    """A search API of which 5 % of the requests fail; yields its host and the list of requests."""
    chance, lock, requests = random.Random(1), threading.Lock(), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            with lock:
                requests.append(1)
                status = chance.choice([429, 500, 503]) if chance.random() < FAILING else 200
            word = self.path.partition("q=%22")[2].partition("%22")[0]
            body = json.dumps(
                {"results": [{"content": f"Here is {word}.", "url": word}]} if status == 200 else {}
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *details: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()


def failures(place: Path) -> None:
    budget, lost, failed = int(1.2 * QUERIES), 0, 0
    policy = RequestPolicy(retries=2, first_wait=0.001, budget=budget)
    with failing_server() as (host, sent), closing(Requests(place / "api.cache", "api", policy)) as requests:
        begun = time.perf_counter()
        engine = connect(f"api:searxng?host={host}", requests=requests)
        for number in range(QUERIES):
            while True:
                try:
                    found = engine.search(Query("word", ((f"w{number}",),)), 1)
                    break
                except BusyError:
                    failed += 1
            lost += f"w{number}" not in found[0].text
        engine.close()
        seconds = time.perf_counter() - begun
        print(
            f"{QUERIES:,} queries, {FAILING:.0%} of the requests failing: {lost} answers lost, {len(sent):,} requests "
            f"sent, {requests.spent:,} counted, budget {budget:,}, {failed} queries failed three times, "
            f"{QUERIES / seconds:,.0f} queries/s"
        )


def main() -> None:
    """Print a line per engine."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="bagpack-bench-") as name:
        place = Path(name)
        store = distinct_sentences(place)
        pairs = ordinary_pairs(store)
        print(f"{store.tokens:,} tokens, {store.sentences:,} sentences, {len(pairs)} pairs", flush=True)
        measure(store, pairs, place)
        failures(place)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
