"""Made-up results, one of each kind, as `bagpack evaluate --json` writes them."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from bagpack.evaluate.result import Evaluation, Score

KINDS = ("relations", "ratings", "questions")


def read(kind):
    return json.loads(Path(__file__).with_name(f"{kind}.json").read_text(encoding="utf-8"))


def evaluation(plain):
    """An evaluation from plain data."""
    plain = {"main_metric": "score", **plain}
    if "tested" in plain:
        plain["tested_rows"] = plain.pop("tested")
    if curve := plain.get("learning_curve"):
        points = [{**point, "score": Score(**point["score"])} for point in curve["points"]]
        plain["learning_curve"] = {**curve, "gain": Score(**curve["gain"]), "points": points}
    return TypeAdapter(Evaluation).validate_python(plain)


@pytest.fixture(params=KINDS)
def result(request):
    return read(request.param)


relations, ratings, questions = (pytest.fixture(lambda kind=kind: read(kind), name=kind) for kind in KINDS)
