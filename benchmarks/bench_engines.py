"""Search engines: queries a second of tantivy on ten million words, and of a warm answer cache; one core."""

from __future__ import annotations

import lzma
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from bagpack.engines.base import connect
from bagpack.engines.build import build_engine
from bagpack.engines.fetch.ask import ask_all
from bagpack.engines.fetch.budget import Manners
from bagpack.engines.fetch.cache import AnswerCache
from bagpack.engines.inflect import Inflector, _inflections
from bagpack.engines.queries import plan_queries
from bagpack.engines.snippets.fetching import fetch_snippets

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "bench-data"
REAL = HERE.parent / "shared" / "data" / "corpus"
WORDS = 10_000_000
NOUNS = 2000
PAIRS = 1000  # 14 queries each


def text() -> tuple[Path, list[str]]:
    """Ten million words, and the words to ask for: real text and nouns, or a Zipf text made on the spot."""
    DATA.mkdir(exist_ok=True)
    file = DATA / "engine.txt"
    source = REAL / "enwiki2015.txt.xz"
    if source.exists():
        if not file.exists():
            copy_words(source, file)
        return file, ordinary_nouns(file)
    vocabulary = [f"w{number:x}" for number in range(50_000)]
    if not file.exists():
        draw = np.random.default_rng(0)
        with open(file, "w", encoding="utf-8") as out:
            for _ in range(WORDS // 20):
                out.write(" ".join(vocabulary[k % 50_000] for k in draw.zipf(1.2, 20)) + ".\n")
    return file, vocabulary[100 : 100 + NOUNS]


def copy_words(source: Path, file: Path) -> None:
    count = 0
    with lzma.open(source, "rt", encoding="utf-8") as lines, open(file, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            count += len(line.split())
            if count >= WORDS:
                return


def ordinary_nouns(file: Path) -> list[str]:
    """Two thousand words that have a plural, drawn from those that stand 100 to 20,000 times in the text."""
    counts: dict[str, int] = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            for word in line.split():
                counts[word] = counts.get(word, 0) + 1
    forms = _inflections()
    plural = [word for word in forms if f"{word}s" in forms[word] and len(word) > 2]
    frequent = sorted(word for word in plural if 100 <= counts.get(word, 0) <= 20_000)
    return random.Random(0).sample(frequent, min(NOUNS, len(frequent)))


def main() -> None:
    """Print the rates."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    file, nouns = text()
    pairs = list(zip(nouns[::2], nouns[1::2], strict=False))[:PAIRS]
    plan = plan_queries(pairs, Inflector())
    with tempfile.TemporaryDirectory(prefix="bagpack-bench-") as place:
        index = f"tantivy:{place}/index"
        begun = time.perf_counter()
        summary = build_engine(index, [str(file)], jobs=1)
        seconds = time.perf_counter() - begun
        print(
            f"tantivy: {summary.tokens:,} tokens indexed in {seconds:.1f} s ({summary.tokens / seconds / 1e6:.2f} M/s)"
        )

        engine = connect(index)
        ask = plan.queries[: 14 * 200]
        for kinds in (("word",), ("pair",), ("word", "pair")):
            asked = [query for query in ask if query.kind in kinds]
            begun, cpu = time.perf_counter(), time.process_time()
            snippets = sum(len(engine.search(query, 1000)) for query in asked)
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            aim = " (aim: 300)" if len(kinds) == 2 else ""
            print(
                f"tantivy: {len(asked):,} {' and '.join(kinds)} queries, {snippets:,} snippets: "
                f"{len(asked) / seconds:,.0f} queries/s, {len(asked) / cpu:,.0f} per CPU second{aim}"
            )

        cache = f"{place}/cache.sqlite3"
        with AnswerCache(cache) as kept:
            begun = time.perf_counter()
            ask_all(engine, plan.queries, kept, Manners())
            cold = time.perf_counter() - begun
        with AnswerCache(cache) as kept:
            begun, cpu = time.perf_counter(), time.process_time()
            answers = ask_all(engine, plan.queries, kept, Manners())
            warm, cpu = time.perf_counter() - begun, time.process_time() - cpu
            distinct = np.unique(np.concatenate(answers.numbers))
            texts = sum(len(snippet.text) for snippet in kept.sentences(distinct))
            whole = time.perf_counter() - begun
        print(
            f"cache: {len(plan.queries):,} queries asked in {cold:.1f} s, answered warm in {warm:.2f} s "
            f"({cpu:.2f} s CPU; aim: 10), with the text of {distinct.size:,} sentences ({texts / 1e6:.0f} MB) "
            f"in {whole:.1f} s"
        )
        begun = time.perf_counter()
        made = fetch_snippets(pairs, engine, f"{place}/s.bps", cache=cache, jobs=1).info()
        seconds = time.perf_counter() - begun
        print(
            f"snippet corpus from the warm cache: {made['single_contexts']:,} single and "
            f"{made['pair_contexts']:,} pair contexts in {seconds:.1f} s, {made['bytes'] / 1e6:.0f} MB"
        )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
