"""Parts of speech and subcorpora: what tags and conditions cost. `python -m benchmarks tags`.

BAGPACK_BENCH_STORE names a store to use instead of the one that the counting benchmark makes, BAGPACK_BENCH_WHERE a
condition that keeps about a tenth of it, BAGPACK_BENCH_TEXT a file of English text to index with and without --tag.
All times are CPU time, since other work may share the cores.
"""

from __future__ import annotations

import gc
import os
import shutil
import time
from pathlib import Path

from bagpack import PairCounts
from bagpack.vectors.counts import count_pairs
from benchmarks.bench_counting import store
from benchmarks.measure import DATA, SHARED, best

ROUNDS = 3
WHERE = "id contains novels"
DOCUMENT = 1350  # tokens


def count(name: str, pairs: list[tuple[str, str]], limit: int | None) -> PairCounts:
    """The basis and the vectors of the pairs, as a command that has just begun counts them."""
    from bagpack import Basis
    from bagpack.contexts.count import open_store
    from bagpack.contexts.windows import CountSettings
    from bagpack.corpus import subcorpus

    subcorpus._select.cache_clear()
    open_store.cache_clear()
    corpus = subcorpus.open_corpus(name)
    basis = Basis.of(corpus, 1500)
    return count_pairs(corpus, pairs, basis, CountSettings(limit=limit))


def divided(path: Path) -> Path:
    """The same text in documents of about 1,350 tokens, made once.

    Two attributes have values from 0 to 9: `tenth` is a stretch of the corpus, as a year is where documents are in
    order, and `decile` is drawn at random.
    """
    import numpy as np

    from bagpack import Corpus
    from bagpack.artefacts import MANIFEST, SEGMENTS, write_manifest
    from bagpack.corpus import format
    from bagpack.corpus.build.index import segment_entry
    from bagpack.corpus.format import FACTS
    from bagpack.corpus.segment import AttributeColumns
    from bagpack.corpus.strings import Strings
    from bagpack.files import write_array, write_json

    whole, drawn, entries, total, before = Corpus.open(path), np.random.default_rng(0), [], 0, 0
    new = DATA / f"tenths-{whole.content_hash[:8]}.bp"
    if (new / MANIFEST).exists():
        return new
    shutil.rmtree(new, ignore_errors=True)
    for entry, segment in zip(whole.manifest["segments"], whole.segments, strict=True):
        place = new / SEGMENTS / entry["name"]
        shutil.copytree(segment.directory, place)
        sentences = np.flatnonzero(segment.tokens & format.SENTENCE_START)
        at = np.searchsorted(sentences, np.arange(0, segment.tokens.size, DOCUMENT))
        starts = sentences[np.unique(at[at < sentences.size])]
        names = Strings.of(f"d{number}" for number in range(total, total + starts.size))
        deciles = drawn.integers(0, 10, starts.size).tolist()
        tenths = ((before + starts.astype(np.int64)) * 10 // whole.tokens).tolist()
        values = zip(deciles, tenths, strict=True)
        columns = AttributeColumns.of([(("decile", str(one)), ("tenth", str(two))) for one, two in values])
        arrays = {"documents.start": starts, "documents.blob": names.blob, "documents.offsets": names.offsets}
        facts = {**segment.facts, "documents": int(starts.size), "attributes": list(columns.names)}
        for name, array in (arrays | columns.arrays()).items():
            facts["checksums"][name] = write_array(place / name, array, format.SEGMENT[name].dtype)
        write_json(place / FACTS, facts)
        entries.append(segment_entry(new, entry["name"]))
        total += starts.size
        before += segment.tokens.size
    lexicon = whole.manifest["lexicon"]["directory"]
    shutil.copytree(path / lexicon, new / lexicon)
    changed = {"segments": entries, "documents": total, "content_hash": f"tenths of {whole.content_hash}"}
    write_manifest(new, {**whole.manifest, **changed})
    return new


def subcorpora(path: Path, condition: str) -> None:
    """Vectors over the whole and over a part, by turns, with the number of contexts of words that each counts."""
    import numpy as np

    from bagpack import Corpus
    from bagpack.contexts.occurrences import most_occurrences
    from bagpack.contexts.targets import resolve_targets
    from bagpack.tasks.pairs import read_pairs

    gc.set_threshold(50_000, 20, 20)  # as the command sets it
    pairs = read_pairs(SHARED / "sets" / "bless" / "all.tsv").pairs
    words = list(dict.fromkeys(word for pair in pairs for word in pair))
    whole = Corpus.open(path)
    part = whole.where(condition)
    share = f"{part.tokens:,} of {whole.tokens:,} tokens ({part.tokens / whole.tokens:.1%})"
    print(f"   {condition!r} keeps {share} of {whole.documents:,} documents")
    for limit in (5000, None):
        contexts, entries = [], []
        for corpus in (whole, part):
            targets = list(dict.fromkeys(target for target in resolve_targets(corpus, words) if target))
            contexts.append(int(np.minimum(most_occurrences(corpus, targets), limit or whole.tokens).sum()))
            counted = count(corpus.name, pairs, limit)  # compiles and maps, too
            entries.append(counted.words.nnz + counted.together.nnz)
        times = [
            [best(lambda name=corpus.name, limit=limit: count(name, pairs, limit), 1, time.process_time)
             for corpus in (whole, part)]
            for _ in range(ROUNDS)
        ]  # fmt: skip
        of_whole, of_part = (min(own) for own in zip(*times, strict=True))
        print(
            f"   vectors of {len(pairs):,} pairs, limit {limit}: whole {of_whole:.2f} s, part {of_part:.2f} s "
            f"({of_part / of_whole:.0%}; aim: 15% for 10%); contexts of words {contexts[0]:,} and {contexts[1]:,} "
            f"({contexts[1] / contexts[0]:.1%}); counts that are not 0 {entries[0]:,} and {entries[1]:,} "
            f"({entries[1] / entries[0]:.1%})"
        )


def main() -> None:
    """Both; subcorpora of few large documents, and of many small ones, next to each other and scattered."""
    path = Path(os.environ.get("BAGPACK_BENCH_STORE") or store())
    subcorpora(path, os.environ.get("BAGPACK_BENCH_WHERE") or WHERE)
    if "BAGPACK_BENCH_WHERE" not in os.environ:
        subcorpora(divided(path), "tenth == 3")
        subcorpora(divided(path), "decile == 3")


if __name__ == "__main__":
    main()
