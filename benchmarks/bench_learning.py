"""Learning: cross-validation against the dense estimator, and the solver for large data sets against liblinear."""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import BAGPACK, DATA, HERE, SHARED, mib, run_watched

PAIRS, TERMS, FOLDS = 1500, 3000, 10
CONDITIONS = ("v1v2", "v12", "v1v2v12")
MOST_CONCATENATED = 50_000


def dense_scaled(counts, train):
    """Preset `paper` in plain numpy: the whole matrix, dense."""
    raw = counts.tocsr().toarray().astype(float)
    df = (raw[train] > 0).sum(axis=0)
    raw *= np.where(df > 0, np.log(len(train) / np.maximum(df, 1)), 0)
    mean, sigma = raw[train].mean(axis=0), raw[train].std(axis=0)
    used = sigma > 1e-13 * mean
    raw -= mean - 2 * sigma
    raw /= np.where(used, 4 * sigma, 1)
    np.clip(raw, 0, 1, out=raw)
    raw[:, ~used] = 0
    return raw


def columns(condition, counts):
    single = 4 * TERMS
    return {"v1v2": slice(0, single), "v12": slice(single, None), "v1v2v12": slice(None)}[condition]


def dense_fold(counts, y, split):
    """Decision values and seconds of the dense estimator on one fold."""
    from sklearn.svm import SVC

    begin = time.perf_counter()
    scaled = dense_scaled(counts, split.train)
    out = {}
    for condition in CONDITIONS:
        X = scaled[:, columns(condition, counts)]
        model = SVC(kernel="linear", C=1).fit(np.ascontiguousarray(X[split.train]), y[split.train])
        out[condition] = model.decision_function(np.ascontiguousarray(X[split.test]))
    return out, time.perf_counter() - begin


def compare_speed(dense_folds, n_words):
    from tests.synthetic import make_counts
    from threadpoolctl import threadpool_limits

    from bagpack.evaluate.crossval import cross_validate
    from bagpack.evaluate.splits import random_splits
    from bagpack.learn.targets import encode_targets

    counts, y = make_counts(PAIRS, n_words, TERMS, seed=1)
    print(
        f"{PAIRS} pairs × {10 * TERMS:,} features, {len(np.unique(counts.w1))} + {len(np.unique(counts.w2))} "
        f"distinct words, {counts.tocsr().nnz / PAIRS / 10 / TERMS:.0%} non-zero"
    )
    splits = random_splits(encode_targets(y), FOLDS)
    warm, warm_y = make_counts(60, 20, 20)
    cross_validate(warm, warm_y, random_splits(encode_targets(warm_y), 2), baselines=False)
    profile = cProfile.Profile()
    with threadpool_limits(1):
        times = []
        for _ in range(2):
            begin = time.perf_counter()
            found = cross_validate(counts, y, splits, preset="paper", baselines=False)
            times.append(time.perf_counter() - begin)
        ours = min(times)
        profile.runcall(cross_validate, counts, y, splits, preset="paper", baselines=False)
        worst, equal, dense = 0.0, True, 0.0
        for split in splits[:dense_folds]:
            reference, seconds = dense_fold(counts, y, split)
            dense += seconds
            for condition, values in reference.items():
                own = found[condition].decisions[split.test, 0]
                worst = max(worst, float(np.abs(own - values).max()))
                equal &= bool(((own > 0) == (values > 0)).all())
    dense *= FOLDS / dense_folds
    how = (
        "run in full"
        if dense_folds == FOLDS
        else f"{dense_folds} of {FOLDS} folds timed, times {FOLDS / dense_folds:g}"
    )
    print(f"{FOLDS} folds × {len(CONDITIONS)} conditions, one core:")
    print(f"  SVC(kernel='linear'), dense   {dense:8.1f} s   ({how})")
    print(f"  block Gram matrices           {ours:8.1f} s")
    print(f"  ratio                         {dense / ours:8.1f}     (aim: at least 25)")
    print(f"  predictions {'equal' if equal else 'DIFFER'}, decision values to {worst:.1e}")
    show_profile(profile)
    return dense / ours, equal


def show_profile(profile):
    """Where the time goes, by the functions that matter."""
    text = io.StringIO()
    table = pstats.Stats(profile, stream=text).stats
    wanted = ("paper_features", "row_gram", "pair_gram", "solve", "combine", "decisions")
    total = sum(row[2] for row in table.values())
    print("  where the time goes:")
    for name in wanted:
        spent = sum(row[3] for key, row in table.items() if key[2] == name)
        print(f"    {name:<16} {spent:6.2f} s  {spent / total:4.0%}")


def large_sets(pairs, labels, liblinear_labels):
    """Train and score a large synthetic data set; liblinear on the concatenated matrix in the same run, some labels."""
    from benchmarks.large_set import write_set

    with tempfile.TemporaryDirectory() as place:
        write_set(Path(place), pairs, labels)
        ours = measured("modern", place)
        print(
            f"{pairs:,} pairs × {labels} labels, one process on one core: {ours['cpu']:.0f} s of CPU, peak "
            f"{ours['peak_gib']:.2f} GiB (aim: 2 for 50,000 pairs, 6 for 500,000), "
            f"{'converged' if ours['converged'] else 'NOT CONVERGED'}"
        )
        print(
            f"  scoring: {ours['scored']:,.0f} pairs per second of CPU, weighting included, median of three "
            "(aim: 50,000)"
        )
        if liblinear_labels:
            other = measured("liblinear", place, liblinear_labels)
            seconds = other["cpu"] * labels / liblinear_labels
            worse = np.array(ours["objective"][:liblinear_labels]) / np.array(other["objective"])
            print(
                f"  LinearSVC(loss='hinge'), concatenated: {seconds:.0f} s of CPU ({liblinear_labels} of {labels} "
                f"labels timed), peak {other['peak_gib']:.2f} GiB"
            )
            print(
                f"  ratio {seconds / ours['cpu']:.1f} (aim: at least 1); our objective is {worse.max():.5f} times its"
            )
    return ours


def measured(part, place, *more):
    command = [sys.executable, "-m", "benchmarks.large_set", part, str(place), *map(str, more)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return json.loads(
        subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE, env=environment
        ).stdout
    )


def bless_folds(store):
    """All of BLESS, ten folds, one condition, as a user runs it: counted once, then evaluated."""
    data = SHARED / "sets" / "bless" / "all.tsv"
    if not data.exists() or not Path(store).exists():
        print("all of BLESS: skipped, because the data set or the store is missing")
        return
    with tempfile.TemporaryDirectory() as place:
        matrix = Path(place) / "bless.bpm"
        counted = run_watched([*BAGPACK, "vectors", store, data, "--out", matrix, "--jobs", "2"])
        run = run_watched([*BAGPACK, "evaluate", matrix, data, "--condition", "v1v2v12", "--jobs", "2"])
    print(
        f"all of BLESS, ten folds, one condition, two workers: {run.seconds:.0f} s (aim: 600), {run.cpu:.0f} s of CPU, "
        f"{mib(run.memory)} in all processes; counting before that: {counted.seconds:.0f} s, {counted.cpu:.0f} s of CPU"
    )


def main(argv=()):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--dense-folds", type=int, default=1, help="folds on which the dense estimator is timed"
    )
    parser.add_argument("--words", type=int, default=1200, help="distinct words in the small data set")
    parser.add_argument(
        "--pairs", type=int, nargs="*", default=[50_000, 500_000], help="sizes of the large data sets"
    )
    parser.add_argument("--labels", type=int, default=5)
    parser.add_argument(
        "--liblinear", type=int, default=1, metavar="LABELS", help="labels to time LinearSVC on"
    )
    parser.add_argument("--store", default=DATA / "counting.bp", help="corpus for ten folds of BLESS")
    parser.add_argument("--skip-small", action="store_true")
    options = parser.parse_args(argv)
    if not options.skip_small:
        compare_speed(options.dense_folds, options.words)
    for pairs in options.pairs:
        # The concatenated matrix of 500,000 pairs would take 70 GB.
        large_sets(pairs, options.labels, options.liblinear if pairs <= MOST_CONCATENATED else 0)
    bless_folds(options.store)


if __name__ == "__main__":
    main(sys.argv[1:])
