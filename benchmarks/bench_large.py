"""From 10 million to a billion tokens on one machine: how indexing and counting grow, and in how much memory.

A Zipf corpus of each size is made (`zipf.py`), indexed, a basis of 1500 unigrams and 1500 bigrams is picked, and
20,000 pairs are counted: with the commands that a user runs, on two workers. Everything made is deleted.
`make bench-large`; not part of `make bench`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure
from benchmarks.zipf import write_zipf_vertical, zipf_pairs

SIZES = (10_000_000, 100_000_000, 1_000_000_000)
TINY = 1000
PAIRS = 20_000
B = 1500
WORKERS = 2
BOUND = 2 << 30
COMMAND = "make bench-large"


@dataclass(frozen=True)
class Growth:
    """One size: what it took."""

    tokens: int
    types: int
    disk: int
    index: measure.Run
    basis: measure.Run
    vectors: measure.Run

    @property
    def runs(self) -> tuple[measure.Run, measure.Run, measure.Run]:
        """The three commands."""
        return self.index, self.basis, self.vectors


def measure_size(tokens: int, pairs: Path, place: Path) -> Growth:
    """Make a corpus, index it, count; what is no longer needed is deleted at once."""
    from bagpack import Corpus

    vertical, store, basis, matrix = (place / name for name in ("z.vert", "z.bp", "basis.tsv", "pairs.bpm"))
    print(f"   {tokens:,} tokens: writing", end="", flush=True)
    write_zipf_vertical(vertical, tokens)
    measure.drop_from_cache(vertical)
    print(", indexing", end="", flush=True)
    jobs = ["--jobs", str(WORKERS)]
    indexed = measure.run_watched([*measure.BAGPACK, "index", vertical, "--out", store, *jobs, "--quiet"])
    vertical.unlink()
    print(f" ({indexed.seconds:.0f} s), basis", end="", flush=True)
    picked = measure.run_watched([*measure.BAGPACK, "basis", store, "-b", str(B), *jobs])
    basis.write_text(picked.output, encoding="utf-8")
    print(f" ({picked.seconds:.0f} s), counting", end="", flush=True)
    counting = [
        *measure.BAGPACK,
        "vectors",
        store,
        pairs,
        "--basis",
        basis,
        "--out",
        matrix,
        *jobs,
        "--quiet",
    ]
    counted = measure.run_watched(counting)
    print(f" ({counted.seconds:.0f} s)", flush=True)
    corpus = Corpus.open(store)
    growth = Growth(
        corpus.tokens, len(corpus.lexicon.keys), measure.tree_bytes(store), indexed, picked, counted,
    )  # fmt: skip
    shutil.rmtree(store)
    shutil.rmtree(matrix)
    return growth


def report(grown: list[Growth], pairs: int) -> str:
    """A row for each size, and a sentence about the largest."""
    header = [
        "tokens", "lemmas", "index, s", "bytes a token", "basis, s", f"{pairs:,} pairs, s", "memory of index",
        "of basis", "of vectors",
    ]  # fmt: skip
    rows = []
    for g in grown:
        index, basis, vectors = (f"{run.seconds:,.1f}" for run in g.runs)
        memory = (measure.mib(run.memory) for run in g.runs)
        rows.append(
            [f"{g.tokens:,}", f"{g.types:,}", index, f"{g.disk / g.tokens:.2f}", basis, vectors, *memory]
        )
    last, most = grown[-1], max(run.memory for g in grown for run in g.runs)
    short = (
        f"{last.tokens / 1e6:,g} million tokens: indexed in {last.index.seconds:,.0f} s "
        f"({last.tokens / last.index.seconds / 1e6:.1f} million a second), {pairs:,} pairs counted in "
        f"{last.vectors.seconds:,.0f} s, in {measure.mib(most)} of memory at most; {WORKERS} workers."
    )
    if last.index.cpu < last.index.seconds:  # two workers that are not disturbed take nearly twice as much
        cpu = f"{last.index.cpu:,.0f} s and {last.vectors.cpu:,.0f} s of CPU time, both cores together"
        short += f" The machine was busy: {cpu}."
    return (
        f"{measure.machine()}; b = {B}, limit 5000. The text is read from the disk; seconds are of whole commands, "
        f"memory that of all processes beyond the page cache.\n\n{measure.table(header, rows)}\n"
        f"{measure.for_readme(short)}"
    )


def main(argv: Sequence[str] = ()) -> None:
    """Measure all sizes, print the table and write it into docs/performance.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, metavar="TOKENS")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--dry", action="store_true", help="print the table only")
    options = parser.parse_args(argv)
    measure.DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="large-", dir=measure.DATA) as name:
        place = Path(name)
        pairs = place / "pairs.tsv"
        drawn = zipf_pairs(options.pairs)
        pairs.write_text("w1\tw2\n" + "".join(f"{one}\t{two}\n" for one, two in drawn), encoding="utf-8")
        measure_size(TINY, pairs, place)  # compiles what is not in numba's cache yet
        grown = [measure_size(int(size), pairs, place) for size in options.sizes]
    text = report(grown, options.pairs)
    print(text)
    if not options.dry:
        measure.write_generated(COMMAND, text)


if __name__ == "__main__":
    main(sys.argv[1:])
