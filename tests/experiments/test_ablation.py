"""`bagpack ablate`: every switch once, the same rows for all."""

import json
from dataclasses import replace

import pytest

from bagpack.evaluate.paired import Outcome
from bagpack.experiments import ablation
from bagpack.experiments.ablation import COUNTING, LEARNING, QUESTIONS, ablate, answer_rows
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file, load_rows
from bagpack.learn.presets import get_preset


def test_every_variant_is_a_preset_and_changes_one_thing():
    for variant in (*LEARNING, *QUESTIONS):
        preset = get_preset(variant.preset)
        assert preset.name == variant.preset
        assert variant.preset.count("=") <= 1
    assert all(variant.recounts for variant in COUNTING)


def test_scores_are_those_of_evaluate(store, relations):
    counting, options = CountOptions(b=60), EvaluateOptions("modern", folds=4)
    rows = load_rows(str(store), str(relations), None, counting, options)
    outcome = answer_rows(rows, options, 1)
    assert isinstance(outcome, Outcome)
    plain = evaluate_file(str(store), str(relations), None, counting, options)
    counts = plain["confusion"]["counts"]
    assert plain["confusion"]["condition"] == "v1v2v12"
    right = sum(row[i] for i, row in enumerate(counts))
    part = outcome.parts[0]
    assert (part.truth == part.predicted).sum() == right


def test_the_table_as_json(cli, store, relations):
    done = cli("ablate", store, relations, "-b", 60, "--folds", 3, "--counts", "--json", "-j", 1)
    assert done.code == 0, done.err
    lines = json.loads(done.out)
    named = {line["variant"]: line for line in lines}
    assert lines[0]["variant"] == "modern" and lines[0]["difference"] is None
    assert {variant.name for variant in COUNTING} <= set(named)
    for line in lines[1:]:
        assert line["difference"]["low"] <= line["difference"]["mean"] <= line["difference"]["high"]
    less = named["paper"]
    assert less["score"]["mean"] - lines[0]["score"]["mean"] == pytest.approx(less["difference"]["mean"])


def test_analogies_and_the_printed_table(cli, store, questions):
    done = cli("ablate", store, questions, "-b", 60)
    assert done.code == 0, done.err
    assert "two-point machines" in done.out
    assert "against modern" in done.out


def test_synonyms_are_told_off(cli, store, write):
    line = {"stem": "kinda01", "choices": ["kindb01", "kindb02"], "answer": 0}
    done = cli("ablate", store, write("s.jsonl", json.dumps(line) + "\n"), "-b", 60)
    assert done.code == 2
    assert "this file holds synonyms" in done.err


def test_lines_come_one_by_one(store, ratings):
    lines = ablate(
        str(store), str(ratings), CountOptions(b=60), EvaluateOptions("modern", split="group:verb")
    )
    assert next(lines).variant.name == "modern"
    assert next(lines).variant.name == "paper"


def test_a_matrix_of_before_the_gaps_has_no_line_for_them(store, relations, tmp_path, monkeypatch):
    counting, options = CountOptions(b=60), EvaluateOptions("modern", folds=3)
    matrix = load_rows(str(store), str(relations), None, counting, options).matrix
    short = [variant for variant in LEARNING if variant.name in ("modern", "no statistics", "with gaps")]
    monkeypatch.setattr(ablation, "LEARNING", short)
    older = replace(matrix, couples=replace(matrix.couples, gaps=None))
    for made, name, expected in ((matrix, "m.bpm", 3), (older, "older.bpm", 2)):
        made.save(tmp_path / name)
        lines = list(ablate(str(tmp_path / name), str(relations), counting, options))
        assert [line.variant for line in lines] == short[:expected]
