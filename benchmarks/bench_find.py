"""Finding pairs: enumerating the candidates of a vocabulary, and of one word. `python -m benchmarks find`.

BAGPACK_BENCH_STORE names a store to use instead of the one that the counting benchmark makes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from benchmarks.bench_counting import store
from benchmarks.measure import GIB, best, run_watched

WORDS = 20_000
MIN_TOGETHER = 2
FIXED = ("car", "vehicle", "the")


def enumerate_all(path: str, n_jobs: int) -> None:
    """In a process of its own: all pairs of the vocabulary."""
    from bagpack import Corpus
    from bagpack.contexts.candidates import find_candidates, frequent_words

    corpus = Corpus.open(path)
    words = frequent_words(corpus, WORDS)
    begun = time.perf_counter()
    found = find_candidates(corpus, words, min_together=MIN_TOGETHER, n_jobs=n_jobs)
    seconds = time.perf_counter() - begun
    print(json.dumps({"pairs": len(found), "together": int(found.together.sum()), "seconds": seconds}))


def main() -> None:
    """Time and memory for all candidates, and time for those of one word."""
    from bagpack import Corpus
    from bagpack.contexts.candidates import find_candidates, frequent_words
    from bagpack.contexts.targets import Target

    path = Path(os.environ.get("BAGPACK_BENCH_STORE") or store())
    corpus = Corpus.open(path)
    words = frequent_words(corpus, WORDS)
    for word in FIXED:
        seconds = best(lambda word=word: find_candidates(corpus, words, w1=Target((word,))))
        cpu = best(lambda word=word: find_candidates(corpus, words, w1=Target((word,))), 1, time.process_time)
        print(
            f"   w1 = {word} ({corpus.count(word):,} times): {seconds:.2f} s, {cpu:.2f} s of CPU", flush=True
        )
    command = f"from benchmarks.bench_find import enumerate_all; enumerate_all({str(path)!r}, 2)"
    done = run_watched([sys.executable, "-c", command])
    facts = json.loads(done.output)
    print(
        f"   {WORDS:,} words over {corpus.tokens:,} tokens: {facts['pairs']:,} pairs that co-occur {MIN_TOGETHER} "
        f"times or more, {facts['together']:,} co-occurrences; {facts['seconds']:.0f} s with 2 workers, "
        f"{done.memory / GIB:.2f} GiB (aims: 120 s, 2 GiB)"
    )


if __name__ == "__main__":
    main()
