"""How many pairs and how much text does a relation need? `python -m benchmarks.data_needs STORE [SETS...]`.

Trains preset modern on parts of each data set's training pairs and tests on pairs whose first word occurs in no
training pair. Run it on stores of several sizes: each run adds its rows to bench-data/data-needs.jsonl, from which
docs/data-needs.md was written.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from bagpack import Corpus, PairVectorizer, RatingRegressor, RelationClassifier
from benchmarks.measure import DATA, SHARED

SIZES = (50, 200, 800, 3200)
TEST = 2000
SETS = {  # file, columns of the words, column of the label or rating
    "bless": ("bless/all.tsv", ("word1", "word2"), "label"),
    "diffvec": ("diffvec/pairs.tsv", ("w1", "w2"), "coarse"),
    "sp10k": ("sp10k/all.tsv", ("predicate", "argument"), "rating"),
}


def read(name: str) -> tuple[list[tuple[str, str]], np.ndarray]:
    """The pairs of a data set with their labels (text) or ratings (numbers)."""
    file, words, target = SETS[name]
    with open(SHARED / "sets" / file, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    rows = [row for row in rows if row.get("relation", "dobj") == "dobj"]  # SP-10K has five kinds of pairs
    pairs = [(row[words[0]], row[words[1]]) for row in rows]
    values = [row[target] for row in rows]
    try:
        return pairs, np.array(values, float)
    except ValueError:
        return pairs, np.array(values)


def split(pairs: list[tuple[str, str]], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on: a quarter of the first words are tested only."""
    rng = np.random.default_rng(seed)
    firsts = np.array([first for first, _ in pairs])
    tested = rng.permutation(np.unique(firsts))[: len(np.unique(firsts)) // 4]
    is_test = np.isin(firsts, tested)
    return rng.permutation(np.flatnonzero(~is_test)), rng.permutation(np.flatnonzero(is_test))[:TEST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    corpus = Corpus.open(arguments.store)
    out = Path(DATA) / "data-needs.jsonl"
    out.parent.mkdir(exist_ok=True)
    for name in arguments.sets:
        pairs, targets = read(name)
        rated = targets.dtype.kind == "f"
        for seed in range(arguments.seeds):
            train, test = split(pairs, seed)
            used = np.concatenate([train[: max(SIZES)], test])
            vectorizer = PairVectorizer(corpus, b=1500)
            X = vectorizer.fit_transform([pairs[row] for row in used])
            n_train = min(len(train), max(SIZES))
            seen = 1 - float(X[n_train:].zero_rows(["v12"]).mean())
            for size in SIZES:
                if size > n_train:
                    break
                begun = time.process_time()
                model = RatingRegressor() if rated else RelationClassifier()
                model.fit(X[:size], targets[used[:size]])
                found = model.predict(X[n_train:])
                truth = targets[used[n_train:]]
                score = (
                    spearmanr(found, truth).statistic if rated else f1_score(truth, found, average="macro")
                )
                row = {
                    "tokens": corpus.tokens, "set": name, "seed": seed, "pairs": size,
                    "score": round(float(score), 4), "cpu": round(time.process_time() - begun, 2),
                    "seen": round(seen, 3),
                }  # fmt: skip
                print(json.dumps(row), flush=True)
                with open(out, "a", encoding="utf-8") as lines:
                    lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
