"""Hypernym discovery in the form of SemEval-2018 task 9: given a word, rank words by how likely they are hypernyms.

The 757 queries are divided once: 200 for testing, 150 for development, the rest for training. The lists that are ranked
hold the hypernyms of training queries and all frequent words that co-occur with the query.
"""

from __future__ import annotations

import csv
import lzma
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bagpack.contexts.candidates import find_candidates
from bagpack.contexts.occurrences import most_occurrences
from bagpack.contexts.targets import ContextSource, Target
from bagpack.find.examples import Examples
from bagpack.find.options import FindOptions
from bagpack.find.slots import Places
from bagpack.find.training import train_on_examples
from bagpack.find.vocabulary import corpus_of
from bagpack.sources import as_source
from bagpack.vectors.counts import count_pairs
from benchmarks.finding.material import SETS, store
from benchmarks.measure import DATA

LISTED = 15
MIN_COUNT, MIN_TOGETHER = 1000, 2

Ranking = Callable[["Query"], list[Target]]


@dataclass(frozen=True)
class Query:
    """A word, its gold hypernyms that the corpus contains, and how many there are in all."""

    word: str
    target: Target | None
    gold: frozenset[Target]
    number: int


def main(part: str = "test") -> None:
    """MAP, MRR and P@5 of `find` and of other rankings of the same lists."""
    source = as_source(store())
    corpus = corpus_of(source)
    queries, vocabulary = _read(source)
    test, development, train = queries[:200], queries[200:350], queries[350:]
    asked = development if part == "development" else test
    train = train if part == "development" else [*train, *development]
    prior = Counter(target for query in train for target in sorted(query.gold))
    often = dict(zip(vocabulary, most_occurrences(corpus, vocabulary).tolist(), strict=True))
    words = [t for t in vocabulary if t in prior or (len(t.keys) == 1 and often[t] >= MIN_COUNT)]
    known = [query.target for query in asked if query.target is not None]
    found = find_candidates(corpus, words, w1=known, min_together=MIN_TOGETHER)
    strength = found.together / (found.n_words[found.first] * found.n_words[found.second] / corpus.tokens)
    met: dict[Target, list[Target]] = {}
    for k in np.argsort(-np.log(strength) * np.log1p(found.together), kind="stable").tolist():
        met.setdefault(found.words[found.first[k]], []).append(found.words[found.second[k]])
    frequent = [target for target, _ in prior.most_common(LISTED)]

    def associated(query: Query) -> list[Target]:
        return frequent if query.target is None else met.get(query.target, [])

    rankings: dict[str, Ranking] = {
        "most frequent hypernyms": lambda query: frequent,
        "association": associated,
    }
    if (projected := _projection(train, prior)) is not None:
        rankings["word2vec projection"] = projected
    rankings |= _by_find(source, train, asked, prior, met, frequent)
    single = [query for query in asked if " " not in query.word]
    for name, ranking in rankings.items():
        for what, some in ((f"all {len(asked)}", asked), (f"{len(single)} of one word", single)):
            scores = _scores(some, ranking)
            print(
                f"   {name}, {what}: MAP {scores[0]:.3f}, MRR {scores[1]:.3f}, P@5 {scores[2]:.3f}",
                flush=True,
            )


def _read(source: ContextSource) -> tuple[list[Query], list[Target]]:
    with lzma.open(SETS / "hypernym_discovery" / "vocabulary.txt.xz", "rt", encoding="utf-8") as lines:
        listed = [line.strip() for line in lines]
    with open(SETS / "hypernym_discovery" / "queries.tsv", encoding="utf-8", newline="") as file:
        rows = sorted(tuple(row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if row[0] != "query"]
    random.Random(0).shuffle(rows)
    target = dict(zip(listed, source.resolve(listed), strict=True))
    asked = source.resolve([row[0] for row in rows])
    queries = []
    for (word, _, gold), own in zip(rows, asked, strict=True):
        names = set(gold.split("|"))
        queries.append(
            Query(word, own, frozenset(t for name in names if (t := target.get(name))), len(names))
        )
    return queries, list(dict.fromkeys(t for t in target.values() if t is not None))


def _by_find(
    source: ContextSource, train: Sequence[Query], asked: Sequence[Query], prior: Counter[Target],
    met: dict[Target, list[Target]], frequent: list[Target],
) -> dict[str, Ranking]:  # fmt: skip
    """What `bagpack find EXAMPLES --w1 QUERY` ranks by, and the model alone."""
    positives = dict.fromkeys(
        (str(query.target), str(target))
        for query in train
        if query.target is not None
        for target in sorted(query.gold)
        if target != query.target
    )
    trained = train_on_examples(source, Examples("hypernym", tuple(positives)))
    model = trained.model
    lists = {
        query.target: [t for t in dict.fromkeys([*prior, *met.get(query.target, [])]) if t != query.target]
        for query in asked
        if query.target is not None
    }
    pairs = [(str(one), str(two)) for one, own in lists.items() for two in own]
    counts = count_pairs(source, pairs, model.basis, model.counting)
    scores = model.scores_of(model.decisions(counts))[:, model.classes.index("hypernym")]
    places = Places.of(source, trained, FindOptions(w1="query", pos2="any"))
    alone, found = {}, {}
    start = 0
    for one, own in lists.items():
        part = scores[start : start + len(own)]
        rows = np.stack([np.zeros(len(own), np.int64), np.arange(1, len(own) + 1)], axis=1)
        for values, best in ((part, alone), (places.rank([one, *own], rows, part)[0], found)):
            best[one] = [own[k] for k in np.argsort(-values, kind="stable")[:LISTED].tolist()]
        start += len(own)

    def ranked(best: dict[Target, list[Target]]) -> Ranking:
        return lambda query: frequent if query.target is None else best.get(query.target, frequent)

    return {"model alone": ranked(alone), "find": ranked(found)}


def _projection(train: Sequence[Query], prior: Counter[Target]) -> Ranking | None:
    """Ridge regression from a query's word2vec vector to those of its hypernyms; the nearest are ranked."""
    from benchmarks.accuracy.word2vec import lookup

    path = Path(os.environ.get("BAGPACK_BENCH_WORD2VEC") or DATA / "word2vec.kv")
    if not path.exists():
        print(f"   the word2vec projection is skipped: there are no vectors at {path}", flush=True)
        return None
    vector = lookup(store(), path)

    def unit(target: Target) -> np.ndarray:
        found = np.asarray(vector(str(target)), np.float64)
        return found / max(float(np.linalg.norm(found)), 1e-9)

    pairs = [(q.target, t) for q in train if q.target is not None for t in sorted(q.gold)]
    x, y = (np.array([unit(pair[side]) for pair in pairs]) for side in (0, 1))
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
    hypernyms = list(prior)
    table = np.array([unit(t) for t in hypernyms])
    frequent = [target for target, _ in prior.most_common(LISTED)]

    def rank(query: Query) -> list[Target]:
        if query.target is None:
            return frequent
        order = np.argsort(-(table @ (unit(query.target) @ weights)), kind="stable")[: LISTED + 1]
        return [hypernyms[k] for k in order.tolist() if hypernyms[k] != query.target]

    return rank


def _scores(queries: Sequence[Query], ranking: Ranking) -> tuple[float, float, float]:
    """MAP, MRR and P@5 over the first fifteen."""
    values = []
    for query in queries:
        hits = [target in query.gold for target in ranking(query)[:LISTED]]
        precisions = [sum(hits[: k + 1]) / (k + 1) for k, hit in enumerate(hits) if hit]
        first = next((1 / (k + 1) for k, hit in enumerate(hits) if hit), 0.0)
        values.append((sum(precisions) / min(query.number, LISTED), first, sum(hits[:5]) / 5))
    averages = np.mean(values, axis=0)
    return float(averages[0]), float(averages[1]), float(averages[2])


if __name__ == "__main__":
    main(*sys.argv[1:2])
