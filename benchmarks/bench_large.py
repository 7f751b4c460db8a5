"""From 10 million to a billion tokens on one machine: how indexing and counting grow, and in how much memory.

A Zipf corpus of each size is made (`zipf.py`), indexed, a basis of 1500 unigrams and 1500 bigrams is picked, and
20,000 pairs are counted: with the commands that a user runs, on two workers. Everything made is deleted. The same
runs over a thousand tokens show what starting alone takes. `make bench-large`; not part of `make bench`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

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
    text: int
    disk: int
    index: measure.Run
    basis: measure.Run
    vectors: measure.Run
    word_postings: int  # windows read for v1 and v2: of each word at most 5,000
    pair_postings: int  # occurrences of the rarer word, over all pairs

    @property
    def runs(self) -> tuple[measure.Run, measure.Run, measure.Run]:
        """The three commands."""
        return self.index, self.basis, self.vectors

    @property
    def postings(self) -> int:
        """All that counting has to look at."""
        return self.word_postings + self.pair_postings


def measure_size(tokens: int, pairs: Path, place: Path) -> Growth:
    """Make a corpus, index it, count; what is no longer needed is deleted at once."""
    from bagpack import Corpus, PairCounts

    vertical, store, basis, matrix = (place / name for name in ("z.vert", "z.bp", "basis.tsv", "pairs.bpm"))
    print(f"   {tokens:,} tokens: writing", end="", flush=True)
    text = write_zipf_vertical(vertical, tokens)
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
    corpus, found = Corpus.open(store), PairCounts.open(matrix)
    growth = Growth(
        corpus.tokens, len(corpus.lexicon.keys), text, measure.tree_bytes(store), indexed, picked, counted,
        int(np.minimum(found.occurrences, found.settings.limit or found.occurrences.max()).sum()),
        int(np.minimum(found.n_w1, found.n_w2).sum()),
    )  # fmt: skip
    shutil.rmtree(store)
    shutil.rmtree(matrix)
    return growth


def report(start: list[float], grown: list[Growth], pairs: int) -> str:
    """The table, and how each number grew from size to size."""

    def net(growth: Growth, which: int) -> float:
        """CPU seconds without starting up."""
        return max(growth.runs[which].cpu - start[which], 0.01)

    rows = [
        ["tokens", *(f"{g.tokens:,}" for g in grown)],
        ["lemmas", *(f"{g.types:,}" for g in grown)],
        ["vertical text", *(measure.human(g.text) for g in grown)],
        ["**index**, s", *(f"{g.index.seconds:,.1f}" for g in grown)],
        ["million tokens/s", *(f"{g.tokens / g.index.seconds / 1e6:.2f}" for g in grown)],
        ["bytes/token on disk", *(f"{g.disk / g.tokens:.2f}" for g in grown)],
        ["CPU s", *(f"{g.index.cpu:,.1f}" for g in grown)],
        ["**basis**, s", *(f"{g.basis.seconds:,.1f}" for g in grown)],
        ["million tokens/s", *(f"{g.tokens / g.basis.seconds / 1e6:.1f}" for g in grown)],
        ["CPU s", *(f"{g.basis.cpu:,.1f}" for g in grown)],
        [f"**{pairs:,} pairs**, s", *(f"{g.vectors.seconds:,.1f}" for g in grown)],
        ["pairs/s", *(f"{pairs / g.vectors.seconds:,.0f}" for g in grown)],
        ["CPU s", *(f"{g.vectors.cpu:,.1f}" for g in grown)],
        ["postings read: words", *(f"{g.word_postings:,}" for g in grown)],
        ["postings read: pairs", *(f"{g.pair_postings:,}" for g in grown)],
        ["million postings/s", *(f"{g.postings / g.vectors.seconds / 1e6:.1f}" for g in grown)],
    ]
    for which, name in enumerate(("index", "basis", "vectors")):
        rows.append([f"memory of {name}", *(measure.mib(g.runs[which].memory) for g in grown)])
    most = max(run.memory for g in grown for run in g.runs)
    last = grown[-1]
    short = (
        f"{last.tokens / 1e6:,g} million tokens: indexed in {last.index.seconds:,.0f} s "
        f"({last.tokens / last.index.seconds / 1e6:.1f} million a second), {pairs:,} pairs counted in "
        f"{last.vectors.seconds:,.0f} s, in {measure.mib(most)} of memory at most; {WORKERS} workers."
    )
    if (
        last.index.cpu < last.index.seconds
    ):  # of two workers that are not disturbed it is nearly twice as much
        short += (
            f" The machine was busy: {last.index.cpu:,.0f} s and {last.vectors.cpu:,.0f} s of CPU time, both cores "
            f"together."
        )
    growing = []
    for before, after in pairwise(grown):
        postings = after.postings / before.postings
        growing.append(
            [
                f"{before.tokens / 1e6:,g} → {after.tokens / 1e6:,g} million tokens",
                f"× {after.tokens / before.tokens:.1f}",
                f"× {net(after, 0) / net(before, 0):.1f}",
                f"× {net(after, 1) / net(before, 1):.1f}",
                f"× {postings:.1f}",
                f"× {net(after, 2) / net(before, 2):.1f}",
                f"× {after.disk / before.disk:.1f}",
                f"× {max(r.memory for r in after.runs) / max(r.memory for r in before.runs):.2f}",
            ]
        )
    started = ", ".join(
        f"{name} {seconds:.1f} s" for name, seconds in zip(("index", "basis", "vectors"), start, strict=True)
    )
    header = ["", *(f"{g.tokens / 1e6:,g} million" for g in grown)]
    names = ["growth of", "tokens", "index", "basis", "postings read", "vectors", "disk", "memory"]
    return (
        f"{measure.machine()}; {WORKERS} workers, b = {B}, limit 5000. The text is read from the disk, seconds are of "
        f"whole commands. Growth is of CPU seconds, without what starting alone takes: {started}.\n\n"
        f"{measure.table(header, rows)}\n{measure.table(names, growing)}\n"
        f"{measure.for_readme(short)}\n"
        f"Most memory of all processes together, beyond the page cache: **{measure.mib(most)}** "
        f"(the bound is {measure.mib(BOUND)})."
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
        starts = [measure_size(TINY, pairs, place) for _ in range(2)]
        grown = [measure_size(int(size), pairs, place) for size in options.sizes]
    start = [min(each.runs[which].cpu for each in starts) for which in range(3)]
    text = report(start, grown, options.pairs)
    print(text)
    if not options.dry:
        measure.write_generated(COMMAND, text)


if __name__ == "__main__":
    main(sys.argv[1:])
