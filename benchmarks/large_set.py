"""A large synthetic data set, trained and scored: python -m benchmarks.large_set modern|liblinear PLACE."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.measure import peak_bytes

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
    np.savez(place / "rest.npz", w1=index[0], w2=index[1], labels=labels)


def read_set(place: Path):
    """The pairs as `PairCounts`, and their labels."""
    from tests.synthetic import counts_of

    from bagpack.learn.targets import encode_targets

    rest = np.load(place / "rest.npz")
    words, pairs = (sparse.load_npz(place / f"{name}.npz").astype(np.int32) for name in ("words", "pairs"))
    segments = np.asarray(words.sum(axis=0)).reshape(2, TERMS)
    seen = np.asarray(pairs.sum(axis=1)).ravel() // 4
    matrix = counts_of(
        words, rest["w1"], rest["w2"], pairs, found=np.stack([seen - seen // 3, seen // 3], axis=1),
        occurrences=np.asarray(words.sum(axis=1)).ravel() // 6, frequencies=(1 + segments.sum(axis=0)).tolist(),
    )  # fmt: skip
    return matrix, encode_targets(rest["labels"])


def objective(targets, decisions, weights):
    """½ ‖w‖² + Σ hinge losses of each label's SVM."""
    sign = np.where(targets.columns[:, : decisions.shape[1]], 1.0, -1.0)
    losses = np.maximum(1 - sign * decisions, 0).sum(axis=0)
    return (0.5 * sum((part**2).sum(axis=0) for part in weights) + losses).tolist()


def run_modern(place: Path):
    """Preset modern: training, then scoring the same pairs three times, both from counts."""
    from bagpack.learn import svm
    from bagpack.learn.fitting import fit_counts

    matrix, targets = read_set(place)
    svm.GRAM_ROWS = 0  # by coordinate descent, however few the pairs
    few = fit_counts(matrix[:300], targets[:300])
    few.decisions(matrix[:300])  # compiled, or read from numba's cache
    begin = time.process_time()
    model = fit_counts(matrix, targets)
    cpu = time.process_time() - begin
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        decisions = model.decisions(matrix)
        seconds.append(time.process_time() - begin)
    return {
        "cpu": cpu,
        "converged": model.settings["converged"],
        "objective": objective(targets, decisions, model.weights.values()),
        "scored": len(decisions) / sorted(seconds)[1],
    }


def run_liblinear(place: Path, labels: int):
    """LinearSVC on the same features, side by side in one sparse matrix."""
    from sklearn.svm import LinearSVC

    from bagpack.learn.features import modern_features

    matrix, targets = read_set(place)
    whole = sparse.csr_matrix(modern_features(matrix).matrix())
    cpu, found = 0.0, []
    for k in range(labels):
        begin = time.process_time()
        model = LinearSVC(loss="hinge").fit(whole, targets.columns[:, k])
        cpu += time.process_time() - begin
        # With the best bias, which is not penalised: what the others are judged by.
        sign = np.where(targets.columns[:, k], 1.0, -1.0)
        values = whole @ model.coef_[0]
        bias = min(
            np.quantile(sign - values, np.linspace(0, 1, 1001)), key=lambda b: _hinge(sign, values + b)
        )
        found.append(0.5 * float((model.coef_**2).sum()) + _hinge(sign, values + bias))
    return {"cpu": cpu, "objective": found}


def _hinge(sign, values):
    return float(np.maximum(1 - sign * values, 0).sum())


def main(argv):
    part, place, *more = argv
    found = run_modern(Path(place)) if part == "modern" else run_liblinear(Path(place), *map(int, more))
    found["peak_gib"] = peak_bytes() / 2**30
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
