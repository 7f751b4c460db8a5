"""A large made-up set of pairs, trained and scored: python -m benchmarks.large_set solver|liblinear PLACE."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

TERMS = 3000
LABELLED_SHARE = 0.25  # of the tokens around a word or a pair; the others say nothing about its label


def draw_counts(rng, labels, tokens, segments, tastes):
    """Counts of Zipfian terms, ``segments`` × TERMS columns: ``tokens`` per row, a part of them by the row's label."""
    chances = np.cumsum(1 / np.arange(1, TERMS + 1) ** 0.8)
    chances /= chances[-1]
    parts = []
    for start in range(0, len(labels), 2000):
        sizes = tokens[start : start + 2000]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        term = np.searchsorted(chances, rng.random(len(owner)))
        own = rng.random(len(owner)) < LABELLED_SHARE
        term[own] = tastes[labels[start + owner[own]], term[own]]
        column = term + TERMS * rng.integers(segments, size=len(owner))
        part = sparse.coo_array(
            (np.ones(len(owner), np.float32), (owner, column)), shape=(len(sizes), segments * TERMS)
        )
        parts.append(part.tocsr())
    return sparse.csr_matrix(sparse.vstack(parts, format="csr"))


def write_set(place: Path, pairs: int, n_labels: int, seed: int = 0) -> None:
    """Counts and labels as files. A word has some 1,300 terms; a pair about 25, a third of the pairs none."""
    rng = np.random.default_rng(seed)
    words = int(min(max(2000, pairs // 5), 40_000))
    tastes = np.array([rng.permutation(TERMS) for _ in range(n_labels)])
    home = rng.integers(n_labels, size=words)
    labels = rng.integers(n_labels, size=pairs)
    # Three pairs of four have words that are typical of their label.
    by_home = [np.flatnonzero(home == label) for label in range(n_labels)]
    index = rng.integers(words, size=(2, pairs))
    for label in range(n_labels):
        own = np.flatnonzero((labels == label) & (rng.random(pairs) < 0.75))
        index[:, own] = rng.choice(by_home[label], size=(2, len(own)))
    sizes = np.minimum(40_000, 40_000 / (1 + rng.permutation(words)) ** 0.25 / 2).astype(int)
    sparse.save_npz(place / "words.npz", draw_counts(rng, home, sizes, 2, tastes), compressed=False)
    seen = np.where(rng.random(pairs) < 1 / 3, 0, np.minimum(400, 9 * (rng.pareto(1.0, pairs) + 1))).astype(
        int
    )
    sparse.save_npz(place / "pairs.npz", draw_counts(rng, labels, seen, 6, tastes), compressed=False)
    np.savez(place / "rest.npz", w1=index[0], w2=index[1], labels=labels, n_labels=n_labels)


def weigh(counts):
    """Log counts of unit length."""
    data = np.log1p(counts.data.astype(np.float64))
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(owner, data * data, minlength=counts.shape[0]))
    length[length == 0] = 1.0
    return sparse.csr_array((data / length[owner], counts.indices, counts.indptr), shape=counts.shape)


def read_set(place: Path):
    """Counts of words and pairs, the words of each pair, and a column per label."""
    rest = np.load(place / "rest.npz")
    counts = (
        sparse.load_npz(place / "words.npz"),
        sparse.load_npz(place / "pairs.npz"),
        rest["w1"],
        rest["w2"],
    )
    return counts, rest["labels"][:, None] == np.arange(int(rest["n_labels"]))


def blocks(words, pairs, w1, w2):
    """Features like those of preset modern: v1, v2, their product, v12."""
    from bagpack.learn.design import ProductBlock, RowBlock

    words, pairs = weigh(words), weigh(pairs)
    return [RowBlock(words, w1), RowBlock(words, w2), ProductBlock(words, w1, w2), RowBlock(pairs)]


def run_solver(place: Path):
    from bagpack.learn.design import RowBlock, make_design
    from bagpack.learn.solver import fit_classes

    tiny = make_design([RowBlock(sparse.csr_array(np.eye(4)))])
    fit_classes(tiny, np.array([[True], [False], [True], [False]]))  # compiled, or read from numba's cache
    counts, columns = read_set(place)
    begin = time.process_time()
    found = fit_classes(make_design(blocks(*counts)), columns)
    cpu = time.process_time() - begin
    begin = time.process_time()
    given = blocks(*counts)
    weighted = time.process_time()
    decisions = make_design(given).decisions(found.weights) + found.intercept
    end = time.process_time()
    return {
        "cpu": cpu,
        "epochs": found.epochs.tolist(),
        "gap": found.gap.tolist(),
        "objective": found.objective.tolist(),
        "scored": len(decisions) / (end - begin),
        "weighting": (weighted - begin) / (end - begin),
    }


def run_liblinear(place: Path, labels: int):
    from sklearn.svm import LinearSVC

    from bagpack.learn.design import make_design
    from bagpack.learn.solver import _Problem

    counts, columns = read_set(place)
    given = blocks(*counts)
    words, pairs = given[0].rows, given[3].rows
    one, two = words[given[0].index], words[given[1].index]
    product = sparse.csr_array(one.multiply(two))
    length = np.sqrt(np.asarray(product.multiply(product).sum(axis=1)).ravel())
    product = sparse.csr_array(product.multiply(1 / np.where(length > 0, length, 1)[:, None]))
    whole = sparse.csr_matrix(sparse.hstack([one, two, product, pairs], format="csr"))
    del one, two, product
    design = make_design(given)
    cpu, objective = 0.0, []
    for k in range(labels):
        begin = time.process_time()
        model = LinearSVC(loss="hinge").fit(whole, columns[:, k])
        cpu += time.process_time() - begin
        # Its objective with the best bias, which is not penalised: what the others are judged by.
        sign = np.where(columns[:, k], 1.0, -1.0)
        problem = _Problem(design, sign, np.minimum(sign, 0), np.maximum(sign, 0), 0.0)
        values = whole @ model.coef_[0]
        losses = problem.losses(values + problem.best_bias(values))
        objective.append(0.5 * float((model.coef_**2).sum()) + float(losses.sum()))
    return {"cpu": cpu, "objective": objective}


def main(argv):
    part, place, *more = argv
    found = run_solver(Path(place)) if part == "solver" else run_liblinear(Path(place), *map(int, more))
    found["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
