"""Made-up results, one per kind, as an evaluation would hand them over."""

import copy
import math

import pytest
from pydantic import TypeAdapter

from bagpack.evaluate.result import Evaluation, Score

CONDITIONS = ("v1v2", "v12", "v1v2v12")


def score(mean, spread=0.1):
    low, high = mean - spread / 2, mean + spread / 2
    return {"mean": mean, "low": low, "high": high, "folds": [mean - spread, mean, min(1.0, mean + spread)]}


def condition(name, **metrics):
    return {"name": name, "metrics": metrics}


COMMON = {
    "corpus": {"path": "wiki.bp", "tokens": 26_214_400, "sentences": 1_310_720, "content_hash": "9f2c" * 8},
    "settings": {"preset": "paper", "b": 1500, "folds": 10, "x": None},
    "versions": {"bagpack": "0.1.0", "scikit-learn": "1.6.1"},
    "notes": [
        "Scaling was fitted on training rows alone (not transductive).",
        "The cap of 5,000 was reached.",
    ],
}


def bucket(name, n, *scores):
    return {"name": name, "n": n, "scores": dict(zip(CONDITIONS, scores, strict=True))}


def scores(name, f1, accuracy, auc, spread=0.03):
    means = {
        "f1_macro": score(f1, spread),
        "accuracy": score(accuracy, spread),
        "auc": score(auc, spread / 3),
    }
    return condition(name, **means)


RELATIONS = COMMON | {
    "kind": "relations",
    "main_metric": "f1_macro",
    "command": "bagpack evaluate wiki.bp bless.tsv --report bless.html",
    "conditions": [
        scores("v1v2", 0.71, 0.79, 0.93), scores("v12", 0.52, 0.66, 0.86), scores("v1v2v12", 0.78, 0.84, 0.96),
    ],
    "baselines": [scores("majority", 0.103, 0.453, 0.5, 0), scores("words-only", 0.74, 0.8, 0.95)],
    "confusion": {
        "condition": "v1v2v12", "labels": ["random", "mero", "hyper"],
        "counts": [[2700, 120, 60], [90, 850, 3], [20, 12, 258]],
    },
    "buckets": {
        "metric": "accuracy",
        "rows": [
            bucket("0", 3904, 0.81, 0.45, 0.82), bucket("10–99", 803, 0.74, 0.82, 0.88),
            bucket("100+", 0, math.nan, math.nan, math.nan),
        ],
    },
    "data": {
        "path": "bless.tsv", "rows": 6637, "pairs": 6629, "words": 4120, "duplicates": 8, "unseen_pairs": 3904,
        "labels": {"random": 3008, "mero": 746, "hyper": 350}, "unknown_words": 37,
        "unknown_word_list": [f"unword{i}" for i in range(37)],
        "capped_pairs": 1, "capped_pair_list": ["car · vehicle"],
    },
}  # fmt: skip


def prediction(w1, w2, label, predicted, probability, of_label, **more):
    return {
        "line": 2, "w1": w1, "w2": w2, "label": label, "predicted": predicted, "fold": "1",
        "probability": probability, "label_probability": of_label, "abstained": False, "together": 12, **more,
    }  # fmt: skip


SENTENCE = {"document": "texts/zoo.txt", "pieces": ["", " the only", " cat", " that is a", " lion", " .", ""]}
RELATIONS |= {
    "predictions": [
        prediction("lion", "cat", "hyper", "coord", 0.93, 0.02, sentences=[SENTENCE]),
        prediction("wing", "bird", "mero", "random", 0.71, 0.11, together=0),
        prediction("owl", "bird", "hyper", "hyper", 0.99, 0.99),
        prediction("xyzzy", "bird", "random", "mero", 0.5, 0.2, together=None, abstained=True),
    ],
    "suspicious": [0, 1],
    "reliability": {"error": 0.03, "bins": [{"n": 900, "probability": 0.96, "accuracy": 0.95}]},
    "abstention": {"precision": 0.9, "threshold": 0.62, "coverage": 0.7, "precision_found": 0.91},
    "learning_curve": {
        "condition": "v1v2v12", "metric": "f1_macro", "gain": {"mean": 0.021, "low": 0.008, "high": 0.034},
        "points": [{"rows": n, "score": score(mean)} for n, mean in ((3000, 0.76), (6000, 0.78))],
    },
}  # fmt: skip

RATINGS = COMMON | {
    "kind": "ratings",
    "main_metric": "spearman",
    "conditions": [
        condition(name, spearman_pooled=score(pooled), spearman=score(mean, 0.2))
        for name, pooled, mean in (("v1v2", 0.33, 0.22), ("v12", 0.58, 0.48), ("v1v2v12", 0.6, 0.52))
    ],
    "baselines": [condition("words-only", spearman=score(-0.02))],
    "references": [{"name": "published, ukWaC", "scores": {"v12": {"spearman_pooled": 0.3, "spearman": 0.2}}}],
    "groups": {"metric": "spearman", "rows": [bucket(f"verb{i}", 20, 0.1 * i - 0.4, 0.5, 0.05 * i) for i in range(9)]},
    "data": {"path": "plausibility.tsv", "rows": 414, "pairs": 409, "words": 150, "unseen_pairs": 92},
}  # fmt: skip

QUESTIONS = COMMON | {
    "kind": "analogies",
    "main_metric": "score",
    "conditions": [
        condition(name, score=score(a), coverage={"mean": c}, complete_accuracy={"mean": d})
        for name, a, c, d in [("v1v2", 0.34, 0.97, 0.342), ("v12", 0.38, 0.41, 0.61), ("v1v2v12", 0.396, 0.97, 0.401)]
    ],
    "baselines": [condition("random", score={"mean": 0.2})],
    "data": {"path": "questions.jsonl", "questions": 374, "pairs": 2176, "words": 1800, "unseen_pairs": 1030},
}  # fmt: skip


def evaluation(parts):
    """An evaluation from plain data."""
    plain = {"main_metric": "score", **copy.deepcopy(parts)}
    if "tested" in plain:
        plain["tested_rows"] = plain.pop("tested")
    if curve := plain.get("learning_curve"):
        curve["gain"] = Score(**curve["gain"])
        for point in curve["points"]:
            point["score"] = Score(**point["score"])
    return TypeAdapter(Evaluation).validate_python(plain)


KINDS = {"relations": RELATIONS, "ratings": RATINGS, "questions": QUESTIONS}


@pytest.fixture(params=KINDS)
def result(request):
    return copy.deepcopy(KINDS[request.param])


relations, ratings, questions = (
    pytest.fixture(lambda plain=plain: copy.deepcopy(plain), name=name) for name, plain in KINDS.items()
)
