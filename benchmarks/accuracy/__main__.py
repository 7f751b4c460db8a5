"""`python -m benchmarks.accuracy [dev | folds | test | ablation | cost]`.

dev and folds only print; the others write a part of docs/accuracy.md.

dev       both presets on the parts that choices were made on
folds     variants of modern on the label sets in up to twenty other fold assignments
test      both presets and word2vec on the test parts, with intervals
ablation  every variant of preset modern on the dev parts
cost      time and memory of both presets on the same set
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from bagpack import Corpus, parallel
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.sources import as_source
from bagpack.vectors.counts import PairCounts, count_pairs
from benchmarks.accuracy import folds, page, word2vec
from benchmarks.accuracy.answers import Method, PresetMethod, WordVectors, answer, best_worst
from benchmarks.accuracy.paired import Outcome, bootstrap_difference, bootstrap_score
from benchmarks.accuracy.sets import OpenSet, open_sets
from benchmarks.accuracy.variants import BASE, VARIANTS, WordsOnly
from benchmarks.bench_counting import store
from benchmarks.measure import BAGPACK, DATA, HERE, SHARED, run_watched

ANALOGY_BASIS = 6000  # chosen on the validation questions; the other sets gain nothing from a larger basis
RELATIONS = HERE / "src" / "bagpack" / "data" / "relations.tsv"
COSTS = (1.0, 10.0)  # word2vec gets the better of the two on each set


def count(part: str, sets: list[OpenSet], b: int = 1500, windows: str = "4/2-5-2") -> PairCounts:
    """All pairs of the sets, counted once."""
    settings = CountSettings(Windows.parse(windows))
    wide = "" if settings == CountSettings() else "-" + windows.replace("/", "-")
    path = DATA / f"accuracy-{part}-{len(sets)}-{b}{wide}.bpm"
    if path.exists():
        return PairCounts.open(path)
    corpus = Corpus.open(store())
    pairs = list(dict.fromkeys(pair for asked in sets for pair in asked.pairs))
    with parallel.settings(n_jobs=-1):
        matrix = count_pairs(as_source(corpus), pairs, Basis.of(corpus, b), settings)
    matrix.save(path)
    return matrix


def vectors() -> WordVectors | None:
    """word2vec of the same store, trained if it is not there; None where gensim is not installed."""
    path = DATA / "word2vec.kv"
    try:
        import gensim  # noqa: F401
    except ImportError:
        print("word2vec is skipped: pip install 'bagpack[bench]' brings gensim")
        return None
    corpus = Corpus.open(store())
    if not path.exists():
        print("training word2vec (once, a quarter of an hour) ...", flush=True)
        word2vec.train(corpus, path)
    return WordVectors("word2vec", word2vec.lookup(corpus, path), 1.0)


def compare(part: str) -> list[dict]:
    """Every method on every set."""
    sets = open_sets(part)
    matrix = count(part, sets)
    wide = count(part, [asked for asked in sets if asked.questions], ANALOGY_BASIS)
    dense = vectors() if part == "test" else None
    lines = []
    for asked in sets:
        begun = time.monotonic()
        modern = answer(PresetMethod("modern", matrix, wide), asked)
        paper = answer(PresetMethod("paper", matrix), asked)
        line = {"set": asked.name, "score": asked.score, "rows": sum(len(p.truth) for p in modern.parts)}
        line |= {"modern": asdict(bootstrap_score(modern)), "paper": asdict(bootstrap_score(paper))}
        line["gain"] = asdict(bootstrap_difference(modern, paper))
        if asked.jobs:
            line["words"] = asdict(bootstrap_score(answer(PresetMethod(WordsOnly(), matrix), asked)))
        if dense is not None:
            best = max((answer(_costing(dense, C), asked) for C in COSTS), key=Outcome.score)
            line["word2vec"] = asdict(bootstrap_score(best))
            line["ahead"] = asdict(bootstrap_difference(modern, best))
        line |= _details(asked, {"paper": paper, "modern": modern} | ({"word2vec": best} if dense else {}))
        lines.append(line)
        print(page.one_line(line), f"({time.monotonic() - begun:.0f} s)", flush=True)
    return lines


def _costing(dense: WordVectors, C: float) -> Method:
    return WordVectors(dense.name, dense.vector, C)


def _details(asked: OpenSet, outcomes: dict[str, Outcome]) -> dict:
    """What a set is also reported by: ρ over the predictions of all folds, best and worst of four."""
    if asked.rankings:
        return {"best_worst": {name: best_worst(outcome) for name, outcome in outcomes.items()}}
    if asked.jobs and asked.jobs[0].metric == "rho":
        pooled = {
            method: float(np.mean([replace(part, folds=None).score() for part in outcome.parts]))
            for method, outcome in outcomes.items()
        }
        return {"pooled": pooled}
    return {}


def ablation() -> dict[str, list[dict]]:
    """Every variant on every set's dev part."""
    sets = open_sets("dev")
    matrix = count("dev", sets)
    wide = count("dev", [asked for asked in sets if asked.questions], ANALOGY_BASIS)
    found: dict[str, list[dict]] = {}
    for asked in sets:
        base = answer(PresetMethod("modern", matrix, wide), asked)
        found[asked.name] = [{"variant": BASE.name, "score": base.score(), "difference": None}]
        for variant in VARIANTS:
            if variant.b is not None and asked.questions:
                continue  # they have a basis of their own
            counted, for_questions = matrix, wide
            if variant.b is not None or variant.windows is not None:
                windows = variant.windows or "4/2-5-2"
                counted = count("dev", sets, variant.b or 1500, windows)
                for_questions = count("dev", [s for s in sets if s.questions], ANALOGY_BASIS, windows)
            other = answer(PresetMethod(variant.preset, counted, for_questions), asked)
            less = asdict(bootstrap_difference(other, base, samples=300))
            found[asked.name].append({"variant": variant.name, "score": other.score(), "difference": less})
            print(f"{asked.name}: {variant.name}: {other.score():.3f} ({less['mean']:+.3f})", flush=True)
    return found


def in_other_folds() -> list[dict]:
    """Variants of modern on the label sets in other folds."""
    sets = open_sets("dev")
    return folds.compare(sets, count("dev", sets), most=20)


def cost() -> list[dict]:
    """`bagpack evaluate` with both presets on the same pairs, counting included."""
    tasks = (
        ("Padó, leave-one-verb-out", SHARED / "sets" / "pado2007" / "all.tsv", ["--split", "group:verb"]),
        ("the 850 pairs that ship, 17 labels, 10 folds", RELATIONS, []),
    )
    lines = []
    for name, file, options in tasks:
        runs = {}
        for preset in ("paper", "modern"):
            command = [*BAGPACK, "evaluate", store(), file, *options, "--preset", preset]
            runs[preset] = run_watched([*command, "-j", "1", "--quiet"])
        lines.append({"task": name, **{p: {"cpu": r.cpu, "memory": r.memory} for p, r in runs.items()}})
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    wanted = sys.argv[1:] or ["test", "ablation", "cost"]
    DATA.mkdir(exist_ok=True)
    for part in wanted:
        if part not in ("dev", "folds", "test", "ablation", "cost"):
            sys.exit(f"there is no part {part}; give dev, folds, test, ablation or cost")
        if not (SHARED / "sets").is_dir():
            sys.exit(f"{SHARED / 'sets'} does not exist; the data sets are expected there")
        others = {"ablation": ablation, "cost": cost, "folds": in_other_folds}
        found = others.get(part, lambda part=part: compare(part))()
        Path(DATA / f"accuracy-{part}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
        if part not in ("dev", "folds"):
            page.write(part, found)


if __name__ == "__main__":
    main()
