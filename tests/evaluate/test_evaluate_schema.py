"""Every result has exactly the keys that the schema declares, with values of the declared types."""

import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.evaluate import (
    cross_validate,
    group_splits,
    question_rows,
    random_splits,
    relation_rounds,
    schema,
    solve_analogies,
)
from bagpack.evaluate.schema import EvaluationResult, check_result, without_nan
from bagpack.learn import encode_targets
from bagpack.learn.synthetic import make_counts


def problems(value, kind, place="result"):
    """Where a value differs from its declared type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Required, NotRequired):
        yield from problems(value, arguments[0], place)
    elif is_typeddict(kind):
        if not isinstance(value, dict):
            yield f"{place} is not an object"
            return
        hints = get_type_hints(kind, include_extras=True)
        yield from (f"{place}.{key} is not declared" for key in value.keys() - hints.keys())
        marks = {key: get_origin(hint) for key, hint in hints.items()}
        needed = {
            key
            for key, mark in marks.items()
            if mark is Required or (kind.__total__ and mark is not NotRequired)
        }
        yield from (f"{place}.{key} is missing" for key in needed - value.keys())
        for key in value.keys() & hints.keys():
            yield from problems(value[key], hints[key], f"{place}.{key}")
    elif origin in (Union, UnionType):
        if all(list(problems(value, one, place)) for one in arguments):
            yield f"{place} is {value!r}, not {kind}"
    elif origin is Literal:
        if value not in arguments:
            yield f"{place} is {value!r}"
    elif origin is list:
        for number, item in enumerate(value if isinstance(value, list) else [f"{place} is no list"]):
            yield from problems(item, arguments[0], f"{place}[{number}]")
    elif origin is dict:
        for key, item in value.items():
            yield from problems(item, arguments[1], f"{place}.{key}")
    elif kind is Any or (kind is float and isinstance(value, int | float)):
        return
    elif not isinstance(value, NoneType if kind is None else kind):
        yield f"{place} is {value!r}, not {kind}"


def check(result):
    """Compare a result with the schema, after a way through JSON."""
    assert list(problems(json.loads(json.dumps(without_nan(result))), EvaluationResult)) == []


@pytest.fixture(scope="module")
def data():
    return make_counts(n_pairs=120, n_words=60, n_terms=30, n_labels=3, seed=4)


def test_labels_ratings_and_label_sets(data):
    counts, y = data
    sets = [{"a"} if label == 0 else {"a", "b"} if label == 1 else {"c"} for label in y]
    for answers, kind in ((y, "labels"), (y + np.linspace(0, 1, len(y)), "rating"), (sets, "labels")):
        splits = random_splits(encode_targets(answers, kind=kind), folds=3)
        check(cross_validate(counts, answers, splits, kind=kind).to_dict())
    verbs = [f"verb{i % 4}" for i in range(len(y))]
    found = cross_validate(counts, y, group_splits(verbs), ("v12",), groups=verbs, group_column="verb")
    check(found.to_dict())


def test_balanced_rounds_and_questions(data):
    counts, y = data
    labels = np.array(["a", "b", "c"])[y]
    check(relation_rounds(counts, labels, conditions=("v12",), rounds=1, folds=3).to_dict())
    questions = question_rows([(2, 0)] * 10, "analogies")
    result = solve_analogies(counts[:30], questions, ("v12",)).to_dict()
    for entry in result["answers"]:
        entry |= {"id": "1", "stem": ["a", "b"], "choices": [["c", "d"], ["e", "f"]]}
    check(result)


def test_the_checker_finds_what_is_wrong():
    bad = {"kind": "poems", "rows": "3", "other": 1, "folds": [{"name": "1"}]}
    found = " ".join(problems(bad, EvaluationResult))
    for expected in ("kind is 'poems'", "rows is '3'", "other is not declared", "conditions is missing",
                     "folds[0].train is missing"):  # fmt: skip
        assert expected in found


def test_other_formats_are_refused():
    with pytest.raises(InputError, match="x is a result of format 1, and this version reads 2"):
        check_result({"kind": "ratings", "format": 1, "conditions": [{}]}, "x")


def test_the_documentation_has_every_key():
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    part = page.partition("## The result as JSON")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", part))
    types = [kind for kind in vars(schema).values() if is_typeddict(kind)]
    missing = {f"{kind.__name__}.{key}" for kind in types for key in kind.__annotations__ if key not in named}
    assert missing == set()
