"""Counting: word vectors and pairs a second on one core, against a plain scan and against a search engine; memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.corpora import sentences
from benchmarks.measure import DATA, GIB, HERE, SHARED, peak_bytes
from benchmarks.zipf import write_zipf_vertical

TOKENS = 50_000_000  # of the corpus made on the spot
B = 1500
PAIRS = 100_000
BATCH = 1000
SCAN_TOKENS = 1_000_000
ENGINE_PAIRS = 200


# The corpus and what is asked of it -----------------------------------------------------------------------------


def store() -> Path:
    """A store of real text if there is some, else of a Zipf corpus; made once."""
    path = DATA / "counting.bp"
    if not path.exists():
        from bagpack.corpus.build.index import index_corpus

        DATA.mkdir(exist_ok=True)
        texts = sorted((SHARED / "corpus").glob("*.txt.xz"))
        if not texts:
            write_zipf_vertical(DATA / "zipf.vert", TOKENS)
        sources = texts or [DATA / "zipf.vert"]
        print(
            f"   indexing {'real text' if texts else 'a Zipf corpus'} into {path.relative_to(HERE)} (once) ..."
        )
        index_corpus([str(source) for source in sources], path, jobs=-1)
    return path


def questions(corpus) -> tuple[list, list, list]:
    """Words, the pairs of a real data set (or drawn ones), and 100,000 pairs of the same words."""
    from bagpack.contexts.targets import resolve_targets

    rng = random.Random(0)
    data = SHARED / "sets" / "bless" / "all.tsv"
    if data.exists():
        from bagpack.tasks.pairs import read_pairs

        listed = read_pairs(data).pairs
        words = sorted({word for pair in listed for word in pair})
        known = {word: t for word, t in zip(words, resolve_targets(corpus, words), strict=True) if t}
        pairs = sorted({tuple(sorted((known[a], known[b]))) for a, b in listed if a in known and b in known})
        targets = sorted(set(known.values()))
    else:
        counts = corpus.lexicon.counts
        ordinary = np.flatnonzero((counts >= 50) & (counts <= 50_000)).tolist()
        words = [corpus.lexicon.keys[i] for i in rng.sample(ordinary, min(8000, len(ordinary)))]
        targets = sorted(set(resolve_targets(corpus, words)))
        pairs = sorted({tuple(sorted(rng.sample(targets, 2))) for _ in range(25_000)})
    many = set(pairs)
    while len(many) < PAIRS:
        many.add(tuple(sorted(rng.sample(targets, 2))))
    return targets, pairs, sorted(many)


def best(run, times: int = 3) -> float:
    """CPU seconds of the quickest run."""
    return measure.best(run, times, time.process_time)


# What it is compared with ---------------------------------------------------------------------------------------


def scan(file: Path, pairs, terms) -> Counter:
    """v1, v2 and v12 of a batch of pairs in one pass over a file of lemmas, a line a sentence, in plain Python."""
    counts: Counter = Counter()
    partners: dict[str, set[str]] = {}
    for one, two in pairs:
        partners.setdefault(one, set()).add(two)
        partners.setdefault(two, set()).add(one)

    def add(name, segment):
        for term in {*segment, *pairwise(segment)}:
            if term in terms:
                counts[name, term] += 1

    for line in file.open(encoding="utf-8"):
        sentence = line.split()
        places = [i for i, word in enumerate(sentence) if word in partners]
        for n, i in enumerate(places):
            word = sentence[i]
            add((word, "pre"), sentence[max(0, i - 4) : i])
            add((word, "post"), sentence[i + 1 : i + 5])
            met = set()
            for j in places[n + 1 :]:
                other = sentence[j]
                if j - i > 6:
                    break
                if other in partners[word] and other not in met:
                    add((word, other, "pre"), sentence[max(0, i - 2) : i])
                    add((word, other, "betw"), sentence[i + 1 : j])
                    add((word, other, "post"), sentence[j + 1 : j + 3])
                met.add(other)
                if other == word:
                    break
    return counts


def engine_seconds(corpus, pairs) -> dict[str, float]:
    """Seconds per pair for tantivy: twelve phrases or two words; only found, or delivered too.

    A window is in the sentence that is a hit, so it is delivered when the text of the hit is read; 5,000 of a query
    at most. The index is one segment, as after a final merge.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True, tokenizer_name="whitespace")
    schema = builder.build()
    place = DATA / "counting.tantivy"
    if not (place / "done").exists():
        print(f"   indexing with tantivy into {place.relative_to(HERE)} (once) ...", flush=True)
        place.mkdir(exist_ok=True)
        writer = tantivy.Index(schema, path=str(place)).writer(500_000_000, 1)
        for line in sentences(corpus):
            writer.add_document(tantivy.Document(body=[line]))
        writer.commit()
        writer.wait_merging_threads()
        (place / "done").touch()
    searcher = tantivy.Index(schema, path=str(place)).searcher()
    if searcher.num_docs != corpus.sentences:
        raise SystemExit(f"{place} is of another corpus; remove it")
    print(f"   tantivy                   {searcher.num_segments:8,} segment, {len(pairs)} of the pairs")

    def ask(query, read) -> None:
        hits = searcher.search(query, 5000, count=False).hits
        if read:
            for _, address in hits:
                searcher.doc(address).get_first("body")

    def phrases(read) -> None:
        for one, two in pairs:
            for first, second in ((one, two), (two, one)):
                for gap in range(1, 7):
                    ask(tantivy.Query.phrase_query(schema, "body", [(0, first), (gap, second)]), read)

    def words(read) -> None:
        for pair in pairs:
            for word in pair:
                ask(tantivy.Query.term_query(schema, "body", word), read)

    return {
        "phrases found": best(lambda: phrases(False)) / len(pairs),
        "phrases delivered": best(lambda: phrases(True)) / len(pairs),
        "words found": best(lambda: words(False)) / len(pairs),
        "words delivered": best(lambda: words(True), 1) / len(pairs),
    }


# In processes of their own --------------------------------------------------------------------------------------


def in_process(call: str, **environment: str) -> str:
    script = f"from benchmarks import bench_counting as bench; bench.{call}"
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=HERE, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def many_pairs() -> None:
    """Count 100,000 pairs, save them, open them, and put the whole matrix together."""
    from bagpack import Basis, Corpus, PairCounts
    from bagpack.contexts.windows import CountSettings
    from bagpack.vectors.counts import count_pairs

    corpus = Corpus.open(store())
    pairs = [(str(a), str(b)) for a, b in questions(corpus)[2]]
    matrix = count_pairs(corpus, pairs, Basis.of(corpus, B), CountSettings())
    with tempfile.TemporaryDirectory(prefix="bagpack-bench-") as place:
        matrix.save(Path(place) / "m.bpm")
        counted = peak_bytes()
        begin = time.process_time()
        matrix = PairCounts.open(Path(place) / "m.bpm")
        opened = time.process_time() - begin
        entries = matrix.tocsr().nnz
    print(counted, opened, peak_bytes(), entries)


def first_use() -> None:
    """Compile everything that counting needs, on a corpus of one sentence."""
    from bagpack import Corpus, PairVectorizer
    from bagpack.corpus.build.index import index_corpus

    with tempfile.TemporaryDirectory(prefix="bagpack-bench-") as place:
        source = Path(place) / "a.vert"
        source.write_text(
            "<s>\n" + "".join(f"{w}\tX\t{w}\n" for w in ("the", "lion", "be", "a", "cat")) + "</s>\n"
        )
        index_corpus([str(source)], Path(place) / "a.bp", jobs=1)
        begin = time.perf_counter()
        PairVectorizer(Corpus.open(Path(place) / "a.bp"), b=3).fit_transform([("lion", "cat")])
        print(time.perf_counter() - begin)


def print_ratios(ours: dict[str, float], theirs: dict[str, float], wanted: str) -> None:
    """Our seconds for each batch, and how many times as many each of the others takes."""
    for name, seconds in theirs.items():
        print(f"     {name:<23} {1e6 * seconds:10,.1f}")
    for name, seconds in ours.items():
        ratios = ", ".join(f"{value / seconds:,.0f} × {other}" for other, value in theirs.items())
        print(f"     {name:<23} {1e6 * seconds:10,.1f}   {ratios} ({wanted})")


def main() -> None:
    """Print the measurements."""
    from bagpack import Basis, Corpus
    from bagpack.contexts import count as counting
    from bagpack.contexts.windows import CountSettings
    from bagpack.vectors.counts import count_pairs

    corpus = Corpus.open(store())
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    targets, pairs, many = questions(corpus)
    settings = CountSettings()
    basis = Basis.of(corpus, B)
    print(
        f"   {corpus.tokens:,} tokens in {len(corpus.segments)} segments, one core, CPU, best of 3, cap 5000, b {B}"
    )
    print(f"   basis                     {best(lambda: Basis.of(corpus, B)):8.2f} s")

    _, found = counting.count_words(corpus, targets, basis, settings)
    seconds = best(lambda: counting.count_words(corpus, targets, basis, settings))
    mean = np.minimum(found, 5000).mean()
    print(
        f"   word vectors              {len(targets) / seconds:8,.0f} /s   (4,000 wanted; "
        f"{mean:,.0f} observations each)"
    )
    source = corpus
    batch = random.Random(1).sample(pairs, BATCH)
    batches = {f"{BATCH:,} pairs alone": batch, "pairs of a data set": pairs, "100,000 pairs": many}
    v12, whole = {}, {}  # seconds a pair
    for name, asked in batches.items():
        v12[name] = best(lambda asked=asked: counting.count_pairs(corpus, asked, basis, settings)) / len(
            asked
        )
        wanted = "" if asked is batch else "   (60,000 wanted)"
        print(f"   {name:<25} {1 / v12[name]:8,.0f} /s{wanted}")
    for name, asked in batches.items():
        named = [(str(a), str(b)) for a, b in asked]
        times = 3 if asked is batch else 1
        seconds = best(lambda named=named: count_pairs(source, named, basis, settings), times)
        whole[name] = seconds / len(asked)
    named = [(str(a), str(b)) for a, b in batch]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        scanned = 0
        for line in sentences(corpus):
            file.write(line)
            scanned += line.count(" ") + 1
            if scanned >= SCAN_TOKENS:
                break
        file.flush()
        terms = {*basis.unigrams, *basis.bigrams}
        batch_scan = best(lambda: scan(Path(file.name), named, terms)) * corpus.tokens / scanned
    print("   microseconds a pair, v1, v2 and v12")
    print_ratios(whole, {f"a scan per {BATCH:,}": batch_scan / BATCH}, "200 wanted")
    print(f"   (the scan is plain Python, timed on {scanned:,} tokens and scaled linearly)")
    try:
        engine = engine_seconds(corpus, named[:ENGINE_PAIRS])
    except ImportError:
        print("   tantivy                   is not installed: pip install tantivy")
    else:
        both = {
            f"tantivy, {how}": engine[f"phrases {how}"] + engine[f"words {how}"]
            for how in ("delivered", "found")
        }
        print("   microseconds a pair, v1, v2 and v12: twelve phrases and two words")
        print_ratios(whole, both, "50 wanted")
        print("   microseconds a pair, v12 alone: twelve phrases")
        phrases = {f"tantivy, {how}": engine[f"phrases {how}"] for how in ("delivered", "found")}
        print_ratios(v12, phrases, "50 wanted")

    counted, opened, together, entries = in_process("many_pairs()").split()
    print(f"   100,000 pairs             {int(counted) / GIB:8.2f} GiB at most, counted and saved (4 wanted)")
    print(f"   … opened in               {1000 * float(opened):8.1f} ms")
    print(
        f"   … put together            {int(together) / GIB:8.2f} GiB at most, {int(entries):,} counts in one matrix"
    )
    with tempfile.TemporaryDirectory(prefix="bagpack-bench-") as cache:
        print(
            f"   first use, compiling      {float(in_process('first_use()', NUMBA_CACHE_DIR=cache)):8.1f} s"
        )
        print(
            f"   second use                {float(in_process('first_use()', NUMBA_CACHE_DIR=cache)):8.1f} s"
        )


if __name__ == "__main__":
    main()
