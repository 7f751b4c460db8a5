"""Hypernym discovery in the form of SemEval-2018 task 9: given a word, rank words by how likely they are hypernyms.

The 757 queries are divided once: 200 for testing, 150 for development, the rest for training. The lists that are ranked
hold the hypernyms of training queries and all frequent words that co-occur with the query.
"""

from __future__ import annotations

import csv
import lzma
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from bagpack import BlockMatrix
from bagpack.contexts.candidates import find_candidates
from bagpack.contexts.distribute import most_occurrences
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.find.vocabulary import corpus_of
from bagpack.learn.association import unit_length
from bagpack.learn.fitting import SvmSettings, fit_counts
from bagpack.learn.model import LinearModel
from bagpack.learn.targets import encode_targets
from bagpack.sources import as_source
from bagpack.vectors.blocks import Block
from benchmarks.finding.material import SETS, store
from benchmarks.measure import DATA

LISTED = 15
MIN_COUNT, MIN_TOGETHER = 1000, 2
PENALTY = 1.0  # of the ridge regression; 0.3 to 3 were tried on the development queries
NEAR, FAR = (
    10,
    15,
)  # negatives of each training query: words that co-occur with it, and hypernyms of other queries

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
    prior = Counter(target for query in train for target in query.gold)
    often = dict(zip(vocabulary, most_occurrences(corpus, vocabulary).tolist(), strict=True))
    words = [t for t in vocabulary if t in prior or (len(t.keys) == 1 and often[t] >= MIN_COUNT)]
    known = [query.target for query in (*train, *asked) if query.target is not None]
    found = find_candidates(corpus, words, w1=known, n_jobs=2)
    met: dict[Target, list[tuple[Target, float]]] = {}
    tokens = float(corpus.tokens)
    for (one, two), together, a, b in zip(
        found.pairs(), found.together.tolist(), found.first.tolist(), found.second.tolist(), strict=True
    ):
        expected = float(found.n_words[a]) * float(found.n_words[b]) / tokens
        if together >= MIN_TOGETHER:
            met.setdefault(one, []).append((two, np.log(together / expected) * np.log1p(together)))
    frequent = [target for target, _ in prior.most_common(LISTED)]
    wanted = frozenset(words)

    def associated(query: Query) -> list[Target]:
        if query.target is None:
            return frequent
        return [t for t, _ in sorted(met.get(query.target, []), key=lambda item: -item[1]) if t in wanted]

    rankings: dict[str, Ranking] = {
        "most frequent hypernyms": lambda query: frequent,
        "association": associated,
    }
    if (projected := _projection(train, prior)) is not None:
        rankings["word2vec projection"] = projected
    rankings |= _by_model(source, train, asked, prior, met, wanted, frequent)
    single = [query for query in asked if " " not in query.word]
    for name, ranking in rankings.items():
        for what, some in ((f"all {len(asked)}", asked), (f"{len(single)} of one word", single)):
            scores = _scores(some, ranking)
            print(
                f"   {name}, {what}: MAP {scores[0]:.3f}, MRR {scores[1]:.3f}, P@5 {scores[2]:.3f}",
                flush=True,
            )


def _read(source: object) -> tuple[list[Query], list[Target]]:
    with lzma.open(SETS / "hypernym_discovery" / "vocabulary.txt.xz", "rt", encoding="utf-8") as lines:
        listed = [line.strip() for line in lines]
    with open(SETS / "hypernym_discovery" / "queries.tsv", encoding="utf-8", newline="") as file:
        rows = sorted(tuple(row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if row[0] != "query"]
    random.Random(0).shuffle(rows)
    target = dict(zip(listed, source.resolve(listed), strict=True))  # type: ignore[attr-defined]
    asked = source.resolve([row[0] for row in rows])  # type: ignore[attr-defined]
    queries = []
    for (word, _, gold), own in zip(rows, asked, strict=True):
        names = set(gold.split("|"))
        queries.append(
            Query(word, own, frozenset(t for name in names if (t := target.get(name))), len(names))
        )
    return queries, list(dict.fromkeys(t for t in target.values() if t is not None))


def _by_model(
    source: object, train: Sequence[Query], asked: Sequence[Query], prior: Counter[Target],
    met: dict[Target, list[tuple[Target, float]]], wanted: frozenset[Target], frequent: list[Target],
) -> dict[str, Ranking]:  # fmt: skip
    rng = np.random.default_rng(0)
    hypernyms = list(prior)
    positives: list[tuple[Target, Target]] = []
    negatives: dict[tuple[Target, Target], None] = {}
    for query in train:
        if query.target is None:
            continue
        positives += [(query.target, t) for t in sorted(query.gold) if t != query.target]
        near = [t for t, _ in met.get(query.target, []) if t in wanted and t not in query.gold]
        drawn = [near[k] for k in rng.permutation(len(near))[:NEAR].tolist()]
        drawn += [hypernyms[k] for k in rng.permutation(len(hypernyms))[:FAR].tolist()]
        negatives |= dict.fromkeys(
            (query.target, t) for t in drawn if t not in query.gold and t != query.target
        )
    lists = {
        query.target: [
            t
            for t in dict.fromkeys([*hypernyms, *(t for t, _ in met.get(query.target, []) if t in wanted)])
            if t != query.target
        ]
        for query in asked
        if query.target is not None
    }
    training = [*positives, *negatives]
    pairs = [*training, *((one, two) for one, own in lists.items() for two in own)]
    named = [(str(one), str(two)) for one, two in pairs]
    basis = source.pick_basis(1500)  # type: ignore[attr-defined]
    matrix = BlockMatrix.count(source, named, basis, CountSettings(), 2)  # type: ignore[arg-type]
    labels = ["yes"] * len(positives) + ["no"] * len(negatives)
    model = fit_counts(matrix[: len(training)], encode_targets(labels), svm=SvmSettings())
    scores = model.label_scores(matrix[len(training) :])[:, model.classes.index("yes")]
    similar = by_similar_examples(model, matrix, positives, lists)
    starts = np.cumsum([0, *map(len, lists.values())]).tolist()

    def ranked(values: np.ndarray) -> Ranking:
        best = {
            one: [
                own[k] for k in np.argsort(-values[start : start + len(own)], kind="stable")[:LISTED].tolist()
            ]
            for start, (one, own) in zip(starts, lists.items(), strict=False)
        }
        return lambda query: frequent if query.target is None else best.get(query.target, frequent)

    both = np.concatenate(
        [
            _standard(scores[start : start + len(own)]) + _standard(similar[start : start + len(own)])
            for start, own in zip(starts, lists.values(), strict=False)
        ]
    )
    return {
        "model": ranked(scores),
        "similar examples": ranked(similar),
        "model and similar examples": ranked(both),
    }


def by_similar_examples(
    model: LinearModel, matrix: BlockMatrix, positives: Sequence[tuple[Target, Target]],
    lists: dict[Target, list[Target]],
) -> np.ndarray:  # fmt: skip
    """Words similar to those of examples take similar partners: kernel ridge regression from words to hypernyms.

    The kernel is the cosine of the weighted v1 vectors of two queries. Candidates that are no training query's hypernym
    get 0.
    """
    from sklearn.kernel_ridge import KernelRidge

    weighting = model.weightings[model.block_names.index("v1")]
    block = Block("v1", matrix.word_counts, frequencies=matrix.tables.frequencies)
    rows = unit_length(sparse.csr_array(weighting.apply(block).rows))
    hypernyms = {target: k for k, target in enumerate(dict.fromkeys(two for _, two in positives))}
    first = matrix.w1[: len(positives)]
    known, number = np.unique(first, return_inverse=True)
    taught = np.zeros((known.size, len(hypernyms)))
    taught[number, [hypernyms[two] for _, two in positives]] = 1
    ridge = KernelRidge(alpha=PENALTY, kernel="linear").fit(rows[known], taught)
    starts = len(matrix) - sum(map(len, lists.values())) + np.cumsum([0, *map(len, lists.values())])[:-1]
    values = np.hstack([ridge.predict(rows[matrix.w1[starts]]), np.zeros((len(lists), 1))])
    places = [[hypernyms.get(target, -1) for target in own] for own in lists.values()]
    return np.concatenate([value[place] for value, place in zip(values, places, strict=True)])


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(float(values.std()), 1e-9)


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
    main()
