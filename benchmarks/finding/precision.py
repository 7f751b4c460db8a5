"""Precision at 100 for ten relations, from twenty examples each, next to other methods on the same candidates.

Candidates are the pairs of the relation's own words that co-occur; a correct pair that the set lacks counts as wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from bagpack.find.examples import Examples
from bagpack.find.training import train_on_examples
from bagpack.learn.association import Ppmi, unit_length
from bagpack.names import PAIR_SEGMENTS
from benchmarks.finding.material import TEST, Pair, Task, precision_at, seeds_of, store, tasks
from benchmarks.measure import DATA

SEEDS, AT, ROUNDS = 20, 100, int(os.environ.get("BAGPACK_BENCH_ROUNDS", "1"))
# Hearst 1992, as features of (hyponym, hypernym): the segment and a term of its pattern.
HEARST = {
    "-betw": ("such as", "include", ", include", ", especially", "especially", "like"),
    "+betw": ("and other", "or other", ", and other", "be a", "be an"),
}

Method = Callable[[Sequence[Pair], int], np.ndarray]


def main(relations: Sequence[str] = TEST) -> None:
    """The share of gold pairs among the first 100 of each method, and the mean over relations."""
    vectors = _word2vec()
    results: dict[str, dict[str, float]] = {}
    for relation, task in tasks(relations):
        rows = pattern_rows(task)
        methods: dict[str, Method] = {
            "find": partial(by_model, task),
            "association": lambda seeds, seed, task=task: by_association(task),
            "Snowball": lambda seeds, seed, task=task, rows=rows: by_bootstrapping(task, rows, seeds),
        }
        if vectors is not None:
            methods["3CosAdd"] = lambda seeds, seed, task=task: by_offset(task, seeds, vectors)
        if relation == "IsA":
            methods["Hearst"] = lambda seeds, seed, task=task, rows=rows: by_hearst(task, rows)
        results[relation] = {
            name: float(np.mean([_precision(task, method, round_) for round_ in range(ROUNDS)]))
            for name, method in methods.items()
        }
        most = min(AT, len(task.gold) - SEEDS) / AT
        shown = ", ".join(f"{name} {value:.3f}" for name, value in results[relation].items())
        print(
            f"   {relation}: {len(task.gold):,} gold of {len(task.matrix):,} pairs, at most {most:.2f}: {shown}",
            flush=True,
        )
    for name in ("find", "3CosAdd", "Snowball", "association", "Hearst"):
        own = [value[name] for value in results.values() if name in value]
        if own:
            print(f"   mean of {len(own)}: {name} {np.mean(own):.3f}", flush=True)


def _precision(task: Task, method: Method, round_: int) -> float:
    seeds = seeds_of(task.gold, SEEDS, round_)
    return precision_at(task.ranked(method(seeds, round_)), task.gold, seeds, AT)


def pattern_rows(task: Task) -> sparse.csr_array:
    """v12 of the candidates in both orders: PPMI of unit length."""
    block = task.matrix.blocks["v12"].compact()
    step = Ppmi()
    step.fit_block(block)
    rows = unit_length(sparse.csr_array(step.on(block).expanded()))
    half = rows.shape[1] // 2
    turned = sparse.hstack([rows[:, half:], rows[:, :half]], format="csr")
    return sparse.csr_array(sparse.vstack([rows, turned]))


def by_model(task: Task, seeds: Sequence[Pair], seed: int) -> np.ndarray:
    """What `bagpack find` ranks by."""
    examples = Examples("yes", tuple(seeds))
    model = train_on_examples(task.source, examples, seed=seed, basis=task.matrix.basis).model
    label = model.classes.index("yes")
    return np.concatenate([model.label_scores(own)[:, label] for own in (task.matrix, task.reversed)])


def by_association(task: Task) -> np.ndarray:
    """PMI of the words times the logarithm of how often they co-occur; the more frequent order first."""
    n1, n2, plus, minus = task.matrix.totals.astype(float).T
    together = plus + minus
    strength = np.log(together * sum(task.matrix.basis.unigram_counts) / (n1 * n2)) * np.log1p(together)
    return np.concatenate([strength + (plus >= minus) * 1e-6, strength + (plus < minus) * 1e-6])


def by_offset(task: Task, seeds: Sequence[Pair], vector: Callable[[str], np.ndarray]) -> np.ndarray:
    """3CosAdd with the mean offset of the examples: cos(w2, w1 + mean(b − a)), all vectors of unit length."""
    words = list(dict.fromkeys(word for pair in task.pairs for word in pair))
    table = np.array([vector(word) for word in words], np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    number = {word: k for k, word in enumerate(words)}
    offset = np.mean([table[number[b]] - table[number[a]] for a, b in seeds], axis=0)
    moved = table + offset
    moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    one, two = (np.array([number[pair[side]] for pair in task.pairs]) for side in (0, 1))
    return np.einsum("ij,ij->i", moved[one], table[two])


def by_hearst(task: Task, rows: sparse.csr_array) -> np.ndarray:
    """How strongly Hearst's patterns connect the two words."""
    place = {term: k for k, term in enumerate(task.matrix.terms)}
    columns = [
        PAIR_SEGMENTS.index(segment) * len(place) + place[term]
        for segment, terms in HEARST.items()
        for term in terms
        if term in place
    ]
    return np.asarray(rows[:, columns].sum(axis=1)).ravel()


def by_bootstrapping(
    task: Task, rows: sparse.csr_array, seeds: Iterable[Pair], rounds: int = 4, added: int = 10
) -> np.ndarray:
    """Snowball (Agichtein and Gravano 2000) over v12 vectors: patterns from pairs, pairs from patterns, by confidence.

    A pattern is the v12 vector of a known pair; its confidence is the share of the matches with a known first word
    that are known pairs. A pair's is 1 − Π (1 − confidence · similarity) over the patterns that match it.
    """
    number = {pair: k for k, pair in enumerate(task.pairs)}
    known = set(seeds)
    scores = np.zeros(len(task.pairs))
    for _ in range(rounds):
        patterns = rows[[number[pair] for pair in sorted(known)]]
        similar = sparse.csr_array(rows @ patterns.T)
        similar.data[similar.data < 0.2] = 0
        similar.eliminate_zeros()
        firsts = {one for one, _ in known}
        is_known = np.array([pair in known for pair in task.pairs], float)
        rival = np.array([pair[0] in firsts and pair not in known for pair in task.pairs], float)
        matched = (similar > 0).astype(np.float64)
        right, wrong = matched.T @ is_known, matched.T @ rival
        weighted = sparse.csr_array(similar.multiply((right / np.maximum(right + wrong, 1))[None, :]))
        weighted.data = np.log1p(-np.minimum(weighted.data, 0.999))
        scores = 1 - np.exp(np.asarray(weighted.sum(axis=1)).ravel())
        both = known | {pair[::-1] for pair in known}
        best = np.argsort(-scores, kind="stable")[: len(both) + added].tolist()
        known |= set([task.pairs[k] for k in best if task.pairs[k] not in both][:added])
    return scores


def _word2vec() -> Callable[[str], np.ndarray] | None:
    from benchmarks.accuracy.word2vec import lookup

    path = Path(os.environ.get("BAGPACK_BENCH_WORD2VEC") or DATA / "word2vec.kv")
    if not path.exists():
        print(f"   3CosAdd is skipped: there are no vectors at {path}", flush=True)
        return None
    return lookup(store(), path)


if __name__ == "__main__":
    main()
