"""The open sets and how each is asked: which rows, which folds, which score.

`dev` has what choices were made on, `test` what is read once at the end. Padó, Ferretti and SP-10K have no test part of
their own: their folds are all there is.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.evaluate.splits import Split, fixed_split, make_splits
from bagpack.learn.targets import encode_targets
from bagpack.tasks.pairs import read_dataset
from benchmarks.measure import SHARED

SETS = SHARED / "sets"
Pair = tuple[str, str]


@dataclass(frozen=True)
class Job:
    """Rows with answers and the folds to test them on; `metric` as in `benchmarks.accuracy.paired.Part`."""

    pairs: list[Pair]
    answers: Any
    splits: list[Split]
    metric: str
    name: str = ""

    @property
    def folds(self) -> np.ndarray:
        """The fold in which each row is tested; −1 for rows that are never tested."""
        found = np.full(len(self.pairs), -1)
        for number, split in enumerate(self.splits):
            found[split.test] = number
        return found


@dataclass(frozen=True)
class Ranking:
    """Pairs to be ranked by how well they fit the relation of a few examples."""

    relation: str
    pairs: list[Pair]
    ratings: np.ndarray


@dataclass(frozen=True)
class OpenSet:
    """A set: jobs, or rankings with examples of every relation, or questions (stem, choices, answer)."""

    name: str
    score: str
    jobs: list[Job] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)
    examples: list[tuple[Pair, str]] = field(default_factory=list)
    questions: list[tuple[Pair, list[Pair], int]] = field(default_factory=list)

    @property
    def pairs(self) -> list[Pair]:
        """Every pair that must be counted."""
        found = [pair for job in self.jobs for pair in job.pairs]
        found += [pair for ranking in self.rankings for pair in ranking.pairs]
        found += [pair for pair, _ in self.examples]
        return found + [pair for stem, choices, _ in self.questions for pair in (stem, *choices)]


def _table(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _sample(rows: list[Any], size: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Some rows, and the others."""
    drawn = set(np.random.default_rng(seed).choice(len(rows), min(size, len(rows)), replace=False).tolist())
    return [r for i, r in enumerate(rows) if i in drawn], [r for i, r in enumerate(rows) if i not in drawn]


def _folds(pairs: list[Pair], answers: Any, split: str, folds: int | None, ratings: bool, groups: Any = None):
    targets = encode_targets(answers, kind="rating" if ratings else "labels")
    words = ([a for a, _ in pairs], [b for _, b in pairs])
    return make_splits(split, targets, words=words, groups=groups, folds=folds, seed=0)


def _labels(rows: list[dict[str, str]], label: str, split: str, folds: int) -> Job:
    pairs, answers = [(r["word1"], r["word2"]) for r in rows], [r[label] for r in rows]
    return Job(pairs, answers, _folds(pairs, answers, split, folds, False), "f1_macro")


def plausibility(*names: str) -> list[Job]:
    """Ratings of verbs and nouns, leave-one-verb-out."""
    jobs = []
    for name in names:
        data = read_dataset(SETS / name / "all.tsv")
        pairs, scores = list(data.pairs), data.scores
        verbs = data.column("verb")
        jobs.append(Job(pairs, scores, _folds(pairs, scores, "group:verb", None, True, verbs), "rho", name))
    return jobs


def preferences(part: str) -> list[Job]:
    """SP-10K, each syntactic relation a task of its own."""
    rows = _table(SETS / "sp10k" / "all.tsv")
    jobs = []
    for relation in dict.fromkeys(row["relation"] for row in rows):
        some = [row for row in rows if row["relation"] == relation]
        if part == "dev":
            some = _sample(some, 500)[0]
        pairs = [(row["predicate"], row["argument"]) for row in some]
        scores = np.array([float(row["rating"]) for row in some])
        jobs.append(Job(pairs, scores, _folds(pairs, scores, "random", 10, True), "rho", relation))
    return jobs


def nominals(part: str) -> list[Job]:
    """SemEval-2007 task 4: seven relations, true or false; ten folds of the training part, or the test part."""
    folder = SETS / "semeval2007_task4"
    train = _table(folder / "train.tsv")
    test = _table(folder / "test.tsv") if part == "test" else []
    jobs = []
    for relation in dict.fromkeys(row["relation"] for row in train):
        first = [row for row in train if row["relation"] == relation]
        second = [row for row in test if row["relation"] == relation]
        rows = first + second
        pairs = [(r["word1"].replace("_", " "), r["word2"].replace("_", " ")) for r in rows]
        answers = [row["label"] for row in rows]
        splits = (
            fixed_split(len(first), len(second)) if second else _folds(pairs, answers, "random", 10, False)
        )
        jobs.append(Job(pairs, answers, splits, "f1", relation))
    return jobs


def bless(part: str) -> list[Job]:
    """BLESS without a shared word between training and test: 1,500 rows of the training file, or the test file."""
    rows = _table(SETS / "bless" / ("train.tsv" if part == "dev" else "test.tsv"))
    return [_labels(_sample(rows, 1500)[0] if part == "dev" else rows, "label", "lexical", 5)]


def conceptnet(part: str) -> list[Job]:
    """ConceptNet's relations of at least 30 rows, no word shared: 2,000 rows, or 4,000 of the others."""
    some, others = _sample(_table(SETS / "conceptnet" / "pairs.tsv"), 2000)
    rows = some if part == "dev" else _sample(others, 4000)[0]
    frequent = Counter(row["relation"] for row in rows)
    return [_labels([r for r in rows if frequent[r["relation"]] >= 30], "relation", "lexical", 5)]


def analogies(part: str, title: str, *names: str) -> OpenSet:
    """Questions of one or more files, taken together."""
    questions = []
    for name in names:
        file = SETS / name / ("val.jsonl" if part == "dev" else "test.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            choices = [(a, b) for a, b in asked.get("choices", asked.get("choice"))]
            questions.append((tuple(asked["stem"]), choices, asked["answer"]))
    return OpenSet(title, "% right", questions=questions)


def diffvec() -> list[Job]:
    """DiffVec's fine relations of at least 30 rows, no word shared: 4,000 rows drawn at random."""
    rows = _sample(_table(SETS / "diffvec" / "pairs.tsv"), 4000)[0]
    frequent = Counter(row["label"] for row in rows)
    rows = [
        {"word1": r["w1"], "word2": r["w2"], "label": r["label"]} for r in rows if frequent[r["label"]] >= 30
    ]
    return [_labels(rows, "label", "lexical", 5)]


def cogalex() -> list[Job]:
    """CogALex VI: trained on the training file, tested on the validation file."""
    train, val = (_table(SETS / "cogalex_vi" / f"{name}.tsv") for name in ("train", "val"))
    pairs = [(row["w1"], row["w2"]) for row in train + val]
    labels = [row["label"] for row in train + val]
    return [Job(pairs, labels, fixed_split(len(train), len(val)), "f1_macro")]


def prototypicality(part: str) -> OpenSet:
    """SemEval-2012 task 2: rank each relation's pairs, given three or four examples of every relation."""
    folder = SETS / "semeval2012_task2"
    wanted = "train" if part == "dev" else "test"
    relations = _table(folder / "relations.tsv")
    gold = _table(folder / "gold_ratings.tsv")
    examples = [
        (tuple(pair.split(":")), row["relation"])
        for row in relations
        for pair in row["paradigm_pairs"].split("|")
    ]
    rankings = []
    for row in relations:
        rated = [g for g in gold if g["relation"] == row["relation"]]
        if row["split"] == wanted and rated:
            pairs = [(g["word1"], g["word2"]) for g in rated]
            ratings = np.array([float(g["rating"]) for g in rated])
            rankings.append(Ranking(row["relation"], pairs, ratings))
    return OpenSet("SemEval-2012 task 2", "ρ per relation", rankings=rankings, examples=examples)


def open_sets(part: str) -> list[OpenSet]:
    """All sets, as `dev` or `test`; some have only a development part."""
    found = [
        analogies(part, "Analogies U2 and U4", "u2", "u4"),
        OpenSet("SemEval-2007 task 4", "F of true, 7 relations", jobs=nominals(part)),
        OpenSet("BLESS, lexical split", "macro F1", jobs=bless(part)),
        OpenSet("Padó 2007", "ρ", jobs=plausibility("pado2007")),
        OpenSet("Ferretti", "ρ", jobs=plausibility("ferretti_instruments", "ferretti_locations")),
        OpenSet("SP-10K", "ρ per relation", jobs=preferences(part)),
        prototypicality(part),
        OpenSet("ConceptNet, lexical split", "macro F1", jobs=conceptnet(part)),
    ]
    if part == "dev":
        found += [
            analogies(part, "Analogies BATS", "bats_mc"),
            analogies(part, "Analogies Google", "google_mc"),
            OpenSet("DiffVec, lexical split", "macro F1", jobs=diffvec()),
            OpenSet("CogALex VI", "macro F1", jobs=cogalex()),
        ]
    return found
