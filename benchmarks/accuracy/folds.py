"""Variants of preset `modern` on the label sets in other folds, since one division into folds says little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from bagpack.evaluate.splits import Split, make_splits
from bagpack.learn.features import get_preset
from bagpack.learn.targets import encode_targets
from bagpack.vectors.counts import PairCounts
from benchmarks.accuracy.answers import PresetMethod, answer
from benchmarks.accuracy.sets import Job, OpenSet
from benchmarks.accuracy.variants import ModernVariant

# How each set is divided; CogALex has a fixed validation part, whose size other rows then have.
DIVISIONS = {
    "SemEval-2007 task 4": ("random", 10, 20),
    "BLESS, lexical split": ("lexical", 5, 20),
    "ConceptNet, lexical split": ("lexical", 5, 20),
    "DiffVec, lexical split": ("lexical", 5, 15),
    "CogALex VI": ("fixed", 1, 20),
}
COMPARED = {"no cosine": ModernVariant(cosine=0), "with difference": ModernVariant(difference=True)}


def other_folds(job: Job, kind: str, folds: int, seed: int) -> Job:
    """The same rows in the folds of another seed."""
    if kind == "fixed":
        order = np.random.default_rng(seed).permutation(len(job.pairs))
        size = len(job.splits[0].test)
        return replace(job, splits=[Split(f"seed {seed}", np.sort(order[size:]), np.sort(order[:size]))])
    words = [first for first, _ in job.pairs], [second for _, second in job.pairs]
    return replace(
        job, splits=make_splits(kind, encode_targets(job.answers), words=words, folds=folds, seed=seed)
    )


def compare(sets: list[OpenSet], matrix: PairCounts, most: int) -> list[dict]:
    """Per set and variant, the mean difference from `modern` over at most this many fold assignments, in points."""
    lines = []
    for asked in sets:
        if asked.name not in DIVISIONS:
            continue
        kind, folds, assignments = DIVISIONS[asked.name]
        scores: dict[str, list[float]] = {"modern": [], **{name: [] for name in COMPARED}}
        for seed in range(1, min(assignments, most) + 1):
            again = replace(asked, jobs=[other_folds(job, kind, folds, seed) for job in asked.jobs])
            for name, found in scores.items():
                method = PresetMethod(COMPARED.get(name, get_preset("modern")), matrix)
                found.append(100 * answer(method, again).score())
        base = np.array(scores["modern"])
        line = {"set": asked.name, "assignments": len(base), "modern": float(base.mean())}
        for name in COMPARED:
            less = np.array(scores[name]) - base
            half = stats.t.ppf(0.975, len(less) - 1) * stats.sem(less) if len(less) > 1 else np.nan
            line[name] = [float(less.mean()), float(less.mean() - half), float(less.mean() + half)]
        lines.append(line)
        shown = ", ".join(
            f"{name} {line[name][0]:+.2f} ({line[name][1]:+.2f} to {line[name][2]:+.2f})" for name in COMPARED
        )
        print(f"{asked.name}: modern {base.mean():.2f} over {len(base)} assignments; {shown}", flush=True)
    return lines
