"""What the measurements share: the store, relations with gold pairs, and the pairs of their words that co-occur."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bagpack import Corpus, PairCounts
from bagpack.contexts.candidates import find_candidates
from bagpack.contexts.targets import ContextSource
from bagpack.contexts.windows import CountSettings
from bagpack.find.vocabulary import vocabulary_of
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs
from benchmarks.measure import DATA, SHARED

SETS = Path(os.environ.get("BAGPACK_BENCH_SETS") or SHARED / "sets")
MIN_COUNT, MIN_TOGETHER = 20, 3  # of the words and pairs that are counted
CONCEPTNET = ("IsA", "PartOf", "AtLocation", "UsedFor", "HasProperty", "MadeOf", "CapableOf")
BATS = {
    "E01 [country - capital]": "capital",
    "E02 [country - language]": "language",
    "E05 [name - occupation]": "occupation",
}
TEST = (*CONCEPTNET, *BATS.values())
# Settings were chosen on these.
DEVELOPMENT = {
    "conceptnet": ("Causes", "HasA", "Desires"),
    "bats": {"E04 [name - nationality]": "nationality"},
}

Pair = tuple[str, str]


@dataclass(frozen=True)
class Task:
    """A relation: its gold pairs, and all pairs of their words that co-occur, each in one order."""

    source: ContextSource
    matrix: PairCounts
    gold: set[Pair]

    @cached_property
    def reversed(self) -> PairCounts:
        """The candidates in the other order."""
        return self.matrix.reversed()

    @cached_property
    def pairs(self) -> list[Pair]:
        """The candidates in both orders, those of `matrix` first."""
        pairs = list(self.matrix.pairs)
        return [*pairs, *((two, one) for one, two in pairs)]

    def ranked(self, scores: np.ndarray) -> list[Pair]:
        """Candidates by score, each in its better order."""
        once: dict[frozenset[str], Pair] = {}
        for index in np.argsort(-scores, kind="stable").tolist():
            once.setdefault(frozenset(self.pairs[index]), self.pairs[index])
        return list(once.values())


def store() -> Corpus:
    """The corpus: BAGPACK_BENCH_STORE, or the one that the counting benchmark makes."""
    from benchmarks.bench_counting import store as made

    return Corpus.open(os.environ.get("BAGPACK_BENCH_STORE") or made())


def read_gold() -> dict[str, set[Pair]]:
    """Pairs of each relation as the sets write them."""
    gold: dict[str, set[Pair]] = {}
    wanted = {*CONCEPTNET, *DEVELOPMENT["conceptnet"]}
    with open(SETS / "conceptnet" / "pairs.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["relation"] in wanted:
                gold.setdefault(row["relation"], set()).add((row["word1"], row["word2"]))
    names = {**BATS, **DEVELOPMENT["bats"]}
    for part in ("val", "test"):
        with open(SETS / "bats_mc" / f"{part}.jsonl", encoding="utf-8") as lines:
            for line in lines:
                item = json.loads(line)
                if item["group"] in names:
                    own = gold.setdefault(names[item["group"]], set())
                    own |= {tuple(item["stem"]), tuple(item["choice"][item["answer"]])}
    return gold


def tasks(relations: Sequence[str]) -> Iterator[tuple[str, Task]]:
    """Each relation with its candidates, from one matrix that is counted once and kept."""
    source = as_source(store())
    written = read_gold()
    listed = sorted({word for pairs in written.values() for pair in pairs for word in pair})
    words = vocabulary_of(source, listed)
    target = dict(zip(listed, source.resolve(listed), strict=True))
    place = DATA / "find-sets.bpm"
    if place.exists():
        matrix = PairCounts.open(place)
    else:
        found = find_candidates(source, words.targets, min_count=MIN_COUNT, min_together=MIN_TOGETHER)
        pairs = [(words.names[one], words.names[two]) for one, two in found.pairs()]
        matrix = count_pairs(source, pairs, source.pick_basis(1500), CountSettings())
        DATA.mkdir(exist_ok=True)
        matrix.save(place)
    number = {name: k for k, name in enumerate(matrix.name_list)}
    for relation in relations:
        named = {
            (words.names[target[one]], words.names[target[two]])
            for one, two in written[relation]
            if target[one] is not None and target[two] is not None
        }
        own = [number[word] for word in {word for pair in named for word in pair} if word in number]
        part = matrix[np.flatnonzero(np.isin(matrix.rows, own).all(axis=1))]
        there = {frozenset(pair) for pair in part.pairs}
        gold = {pair for pair in named if frozenset(pair) in there and pair[0] != pair[1]}
        yield relation, Task(source, part, gold)


def seeds_of(gold: set[Pair], number: int, seed: int) -> list[Pair]:
    """Some of the pairs."""
    listed = sorted(gold)
    chosen = np.random.default_rng(seed).permutation(len(listed))[:number]
    return [listed[k] for k in chosen.tolist()]


def precision_at(order: Sequence[Pair], gold: set[Pair], seeds: Sequence[Pair], number: int) -> float:
    """Share of gold pairs among the first that are not seeds, in either order."""
    known = {frozenset(pair) for pair in seeds}
    first = [pair for pair in order if frozenset(pair) not in known][:number]
    return sum(pair in gold for pair in first) / number
