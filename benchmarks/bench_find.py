"""Finding pairs: speed, precision by hand, hypernym discovery. `python -m benchmarks find`.

BAGPACK_BENCH_STORE names a store to use instead of the one that the counting benchmark makes, BAGPACK_BENCH_SETS the
directory of the data sets, BAGPACK_BENCH_WORD2VEC the vectors for the comparisons with word2vec
(`benchmarks.accuracy.word2vec` makes them). BAGPACK_BENCH_FIND names the parts to run, such as speed,hypernyms.
"""

from __future__ import annotations

import json
import os
import sys
import time

from benchmarks.finding.material import SETS, store
from benchmarks.measure import GIB, best, run_watched

PARTS = ("speed", "precision", "hypernyms")
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
    found = find_candidates(corpus, words, min_together=MIN_TOGETHER)
    seconds = time.perf_counter() - begun
    print(json.dumps({"pairs": len(found), "together": int(found.together.sum()), "seconds": seconds}))


def speed() -> None:
    """Candidates of one word and of all words, a whole answer about one word, and full scorings."""
    from bagpack import find_pairs
    from bagpack.contexts.candidates import find_candidates, frequent_words
    from bagpack.contexts.targets import Target
    from bagpack.data import relations_path
    from bagpack.find.examples import read_examples
    from bagpack.find.training import train_on_examples

    corpus = store()
    words = frequent_words(corpus, WORDS)
    for word in FIXED:
        seconds = best(lambda word=word: find_candidates(corpus, words, w1=Target((word,))))
        cpu = best(lambda word=word: find_candidates(corpus, words, w1=Target((word,))), 1, time.process_time)
        print(
            f"   candidates of {word} ({corpus.count(word):,} times): {seconds:.2f} s, {cpu:.2f} s of CPU",
            flush=True,
        )
    trained = train_on_examples(corpus, read_examples(relations_path(), "part-of"))

    def ask() -> None:
        find_pairs(corpus, trained, w2="car", top=20)

    ask()
    print(
        f"   the parts of a car, with sentences: {best(ask):.2f} s, {best(ask, 1, time.process_time):.2f} s of CPU "
        f"(aim: 2 s)",
        flush=True,
    )
    command = f"from benchmarks.bench_find import enumerate_all; enumerate_all({str(corpus.path)!r}, 2)"
    done = run_watched([sys.executable, "-c", command])
    facts = json.loads(done.output)
    print(
        f"   {WORDS:,} words over {corpus.tokens:,} tokens: {facts['pairs']:,} pairs that co-occur {MIN_TOGETHER} "
        f"times or more, {facts['together']:,} co-occurrences; {facts['seconds']:.0f} s with 2 workers, "
        f"{done.cpu:.0f} s of CPU, {done.memory / GIB:.2f} GiB (aims: 120 s, 2 GiB)",
        flush=True,
    )


def main() -> None:
    """Run the parts that BAGPACK_BENCH_FIND names, or all."""
    from benchmarks.finding import hypernyms, precision

    runs = {"speed": speed, "precision": precision.main, "hypernyms": hypernyms.main}
    wanted = os.environ.get("BAGPACK_BENCH_FIND", ",".join(PARTS)).split(",")
    for part in wanted:
        if part not in runs:
            sys.exit(f"BAGPACK_BENCH_FIND={part} is unknown; choose from {', '.join(PARTS)}")
        if part != "speed" and not SETS.exists():
            print(f"   {part} is skipped: there are no data sets at {SETS}", flush=True)
            continue
        print(f"  {part}", flush=True)
        runs[part]()


if __name__ == "__main__":
    main()
