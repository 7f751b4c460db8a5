"""Ten folds, three conditions of the relations that ship with the package: `python -m benchmarks.peers.learning PEER`.

The counts are read from a matrix; weighting, scaling, training and answering are timed. One core.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import corpora
from benchmarks.bench_learning import CONDITIONS, columns, dense_scaled
from benchmarks.peers.material import MATRIX, PLACE, B, quickest, report

FOLDS = 10
DECISIONS = PLACE / "decisions.npz"
DATA_SET = Path(__file__).resolve().parents[2] / "src" / "bagpack" / "data" / "relations.tsv"


def task():
    """Counts, labels and splits."""
    from tests.synthetic import make_counts

    from bagpack import PairCounts
    from bagpack.evaluate.splits import random_splits
    from bagpack.learn.targets import encode_targets
    from bagpack.tasks.pairs import read_dataset

    if not corpora.real_text():  # a Zipf corpus knows none of the words
        counts, labels = make_counts(850, 1000, 2 * B, n_labels=17, seed=1)
        return counts, labels, random_splits(encode_targets(labels), FOLDS)
    data = read_dataset(DATA_SET)
    counts = PairCounts.open(MATRIX).rows_of(data.pairs)
    return counts, data.labels, random_splits(encode_targets(data.labels), FOLDS)


def ours() -> None:
    """Block Gram matrices; the decisions are kept for the peers to be checked against."""
    from threadpoolctl import threadpool_limits

    from bagpack.evaluate.crossval import cross_validate

    counts, y, splits = task()
    cross_validate(counts, y, splits[:2], preset="paper", baselines=False)
    with threadpool_limits(1):
        found, seconds = quickest(lambda: cross_validate(counts, y, splits, preset="paper", baselines=False))
    np.savez(DECISIONS, **{name: found[name].decisions for name in CONDITIONS})
    report(seconds=seconds, accuracy=_accuracy(found))


def _accuracy(found) -> dict[str, float]:
    return {name: found[name].metrics["accuracy"].mean for name in CONDITIONS}


def _peer(make, folds: int, machines: int | None = None, exact: bool = False, prepare=dense_scaled) -> None:
    """Some folds, and of these some of the classes, one SVM per class; seconds are scaled to all.

    ``same`` is the share of yes and no that equal ours; all of them where the peer solves the same problem.
    """
    from threadpoolctl import threadpool_limits

    counts, y, splits = task()
    labels = np.array(y)
    classes = np.unique(labels)[:machines]
    ours = np.load(DECISIONS)
    equal = asked = 0
    right: dict[str, list[bool]] = {name: [] for name in CONDITIONS}
    preparing = training = 0.0
    with threadpool_limits(1):
        for split in splits[:folds]:
            begun = time.perf_counter()
            scaled = prepare(counts, split.train)
            preparing += time.perf_counter() - begun
            for condition in CONDITIONS:
                begun = time.perf_counter()
                X = scaled[:, columns(condition, counts)]
                train, test = X[split.train], X[split.test]  # copies, in rows
                fitted = [make().fit(train, labels[split.train] == name) for name in classes]
                values = np.column_stack([each.decision_function(test) for each in fitted])
                training += time.perf_counter() - begun
                equal += int(((values > 0) == (ours[condition][split.test, : len(classes)] > 0)).sum())
                asked += values.size
                right[condition] += (classes[values.argmax(axis=1)] == labels[split.test]).tolist()
    assert not exact or equal == asked, f"{asked - equal} of {asked} decisions differ"
    seconds = (preparing + training * len(np.unique(labels)) / len(classes)) * FOLDS / folds
    accuracy = None if machines else {name: float(np.mean(values)) for name, values in right.items()}
    report(seconds=seconds, folds=folds, machines=len(classes), same=equal / asked, accuracy=accuracy)


def svc() -> None:
    """The same SVM, from the dense matrix of the same features."""
    from sklearn.svm import SVC

    _peer(lambda: SVC(kernel="linear", C=1), 1, machines=5, exact=True)


def svc_own_way() -> None:
    """One SVC for all classes: it trains one SVM for every two of them, so the answers are its own."""
    from sklearn.svm import SVC
    from threadpoolctl import threadpool_limits

    counts, y, splits = task()
    labels = np.array(y)
    right: dict[str, list[bool]] = {}
    split = splits[0]
    with threadpool_limits(1):
        begun = time.perf_counter()
        scaled = dense_scaled(counts, split.train)
        for condition in CONDITIONS:
            X = scaled[:, columns(condition, counts)]
            machine = SVC(kernel="linear", C=1).fit(np.ascontiguousarray(X[split.train]), labels[split.train])
            predicted = machine.predict(np.ascontiguousarray(X[split.test]))
            right[condition] = (predicted == labels[split.test]).tolist()
        seconds = time.perf_counter() - begun
    accuracy = {name: float(np.mean(values)) for name, values in right.items()}
    report(seconds=seconds * FOLDS, folds=1, machines=len(np.unique(labels)), same=None, accuracy=accuracy)


def linear_svc() -> None:
    """The same features through liblinear: hinge loss too, but it shrinks the intercept with the weights."""
    from sklearn.svm import LinearSVC

    _peer(lambda: LinearSVC(loss="hinge", C=1), 1, machines=1)


def linear_svc_sparse() -> None:
    """LinearSVC as commonly used: sparse TF-IDF rows and its own defaults. Another model, so other answers."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.svm import LinearSVC

    def tfidf(counts, train):
        matrix = counts.tocsr()
        return TfidfTransformer(sublinear_tf=True).fit(matrix[train]).transform(matrix)

    _peer(LinearSVC, 2, prepare=tfidf)


if __name__ == "__main__":
    named = (ours, svc, svc_own_way, linear_svc, linear_svc_sparse)
    {each.__name__: each for each in named}[sys.argv[1]]()
