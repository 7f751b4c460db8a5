"""A result as JSON: what every kind of evaluation has, and that the documentation names every key."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from bagpack.evaluate import result
from bagpack.evaluate.crossval import cross_validate
from bagpack.evaluate.questions import question_rows, solve_analogies
from bagpack.evaluate.reproduce import relation_rounds
from bagpack.evaluate.result import HIDDEN, Evaluation
from bagpack.evaluate.splits import random_splits
from bagpack.learn.targets import encode_targets
from tests.synthetic import make_counts


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=120, n_words=60, n_terms=30, n_labels=3, seed=4)


def evaluations(data):
    counts, y = data
    for answers, kind in ((y, "labels"), (y + np.linspace(0, 1, len(y)), "rating")):
        splits = random_splits(encode_targets(answers, kind=kind), folds=3)
        yield cross_validate(counts, answers, splits, ("v12",), kind=kind)
    labels = np.array(["a", "b", "c"])[y]
    yield relation_rounds(counts, labels, conditions=("v12",), rounds=1, folds=3)
    yield solve_analogies(counts[:30], question_rows([(2, 0)] * 10, "analogies"), ("v12",))


def test_every_kind_is_json_without_arrays(data):
    shown = {one.name for one in fields(Evaluation) if one.metadata is not HIDDEN} | {"format", "tested"}
    for found in evaluations(data):
        out = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert {"format", "kind", "main_metric", "conditions", "settings", "notes"} <= out.keys() <= shown
        assert out["conditions"][0]["metrics"][found.main_metric]["mean"] is not None
        assert not {"decisions", "predicted", "fold_of"} & (out.keys() | out["conditions"][0].keys())


def test_the_documentation_has_every_key():
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    part = page.partition("## The result as JSON")[2].partition("\n## ")[0]
    named = {*re.findall(r"`(\w+)`", part), "tested_rows"}
    kinds = [kind for kind in vars(result).values() if is_dataclass(kind)]
    missing = {
        f"{kind.__name__}.{one.name}"
        for kind in kinds
        for one in fields(kind)
        if one.metadata.get("json", True) and one.name not in named
    }
    assert missing == set()
