"""Learning: block Gram matrices against the plain dense estimator, in one run and on one core."""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import resource
import subprocess
import sys
import time

import numpy as np

PAIRS, TERMS, FOLDS = 1500, 3000, 10
CONDITIONS = ("v1v2", "v12", "v1v2v12")


def dense_scaled(counts, train):
    """Preset `paper` as one would write it with numpy: the whole matrix, dense."""
    raw = counts.matrix().toarray().astype(float)
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
    single = 4 * counts.n_terms
    return {"v1v2": slice(0, single), "v12": slice(single, None), "v1v2v12": slice(None)}[condition]


def dense_fold(counts, y, split):
    """Decision values and seconds of the plain way on one fold."""
    from sklearn.svm import SVC

    begin = time.perf_counter()
    scaled = dense_scaled(counts, split.train)
    out = {}
    for condition in CONDITIONS:
        X = scaled[:, columns(condition, counts)]
        machine = SVC(kernel="linear", C=1).fit(np.ascontiguousarray(X[split.train]), y[split.train])
        out[condition] = machine.decision_function(np.ascontiguousarray(X[split.test]))
    return out, time.perf_counter() - begin


def compare_speed(dense_folds, n_words):
    from threadpoolctl import threadpool_limits

    from bagpack.evaluate import cross_validate, random_splits
    from bagpack.learn import encode_targets
    from bagpack.learn.synthetic import make_counts

    counts, y = make_counts(PAIRS, n_words, TERMS, seed=1)
    print(
        f"{PAIRS} pairs × {10 * TERMS:,} features, {len(np.unique(counts.w1))} + {len(np.unique(counts.w2))} "
        f"distinct words, {counts.matrix().nnz / PAIRS / 10 / TERMS:.0%} non-zero"
    )
    splits = random_splits(encode_targets(y), FOLDS)
    warm, warm_y = make_counts(60, 20, 20)
    cross_validate(warm, warm_y, random_splits(encode_targets(warm_y), 2), baselines=False)
    profile = cProfile.Profile()
    with threadpool_limits(1):
        times = []
        for _ in range(2):
            begin = time.perf_counter()
            found = cross_validate(counts, y, splits, baselines=False)
            times.append(time.perf_counter() - begin)
        ours = min(times)
        profile.runcall(cross_validate, counts, y, splits, baselines=False)
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
    print(f"  ratio                         {dense / ours:8.1f}     (at least 25 is asked)")
    print(f"  predictions {'equal' if equal else 'DIFFER'}, decision values to {worst:.1e}")
    show_profile(profile)
    return dense / ours, equal


def show_profile(profile):
    """Where the time goes, by the functions that matter."""
    text = io.StringIO()
    table = pstats.Stats(profile, stream=text).stats
    wanted = ("weight_blocks", "block_gram", "add_block_gram", "solve_classes", "back_project", "decisions")
    total = sum(row[2] for row in table.values())
    print("  where the time goes:")
    for name in wanted:
        spent = sum(row[3] for key, row in table.items() if key[2] == name)
        print(f"    {name:<16} {spent:6.2f} s  {spent / total:4.0%}")


def large_set(pairs, labels):
    """One train/test split of a large set, three conditions; prints seconds and peak memory as JSON."""
    from bagpack.evaluate import cross_validate, fixed_split
    from bagpack.learn.synthetic import make_counts

    # Labels that can be learned from the words, as real ones can; noise over shared words is libsvm's worst case.
    counts, y = make_counts(pairs, pairs // 3, TERMS, n_labels=labels, lean=20, seed=2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    found = cross_validate(counts, y, fixed_split(pairs * 9 // 10, pairs - pairs * 9 // 10))
    out = {
        "seconds": time.perf_counter() - begin,
        "counts_gib": before / 2**20,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "accuracy": {name: found[name].metrics["accuracy"].mean for name in CONDITIONS},
    }
    print(json.dumps(out))


def measure_large(pairs, labels):
    command = [sys.executable, __file__, "--large", str(pairs), str(labels)]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(
        f"{pairs:,} pairs, {labels} classes, one split, three conditions and two baselines: "
        f"{out['seconds']:.0f} s, peak {out['peak_gib']:.2f} GiB (3 is the bound; "
        f"{out['counts_gib']:.2f} while the counts were made)"
    )
    return out


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dense-folds", type=int, default=1, help="folds on which the dense way is timed")
    parser.add_argument("--words", type=int, default=1200, help="distinct words in the made-up set")
    parser.add_argument("--skip-large", action="store_true")
    parser.add_argument("--large", nargs=2, type=int, metavar=("PAIRS", "LABELS"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.large:
        large_set(*options.large)
        return
    compare_speed(options.dense_folds, options.words)
    if not options.skip_large:
        measure_large(9000, 5)


if __name__ == "__main__":
    main(sys.argv[1:])
