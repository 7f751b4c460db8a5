"""An explanation adds up, and its lines are the very observations that were counted."""

import json
import random
import re

import pytest

from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.explain import explain_pair
from bagpack.explain.lines import PairEvidence
from bagpack.learn import load_model
from bagpack.sources import open_source
from tests.evaluate.conftest import made_up_pairs, made_up_text


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A store with `<script>` in its text, and a model trained on it."""
    folder = tmp_path_factory.mktemp("explain")
    lines = made_up_text() + ["the kinda01 <script>alert(1)</script> of a kindb01 ."] * 2
    vertical = ["<text id='a&amp;b'>"]
    for line in lines:
        vertical += ["<s>", *(f"{word.upper()}\tX\t{word}" for word in line.split()), "</s>"]
    (folder / "c.vert").write_text("\n".join([*vertical, "</text>", ""]))
    index_corpus([str(folder / "c.vert")], folder / "c.bp", part_bytes=6000)
    rows = "".join(f"{a}\t{b}\t{label}\n" for a, b, label in made_up_pairs())
    (folder / "r.tsv").write_text("w1\tw2\tlabel\n" + rows)
    return folder


@pytest.fixture(scope="module", params=[5000, 3], ids=["all", "capped"])
def trained(world, request):
    from bagpack.contexts.windows import CountSettings, Windows
    from bagpack.evaluate import CountOptions, TrainOptions, train_file

    limit = request.param
    out = str(world / f"m{limit}.model")
    counting = CountOptions(40, None, CountSettings(Windows(), limit))
    options = TrainOptions(preset="paper", scores=False, counting=counting)
    train_file(str(world / "c.bp"), str(world / "r.tsv"), out, options)
    model = load_model(out)
    return model, model.open_source()


def test_a_decision_is_the_sum_of_its_parts(trained):
    model, source = trained
    for pair in random.Random(1).sample([p[:2] for p in made_up_pairs()], 8):
        found = explain_pair(model, source, *pair, top=1000, lines=0)
        scores = model.label_scores(model.count([pair], source))[0]
        assert found.answer == max(zip(scores, model.classes, strict=True))[1]
        for decision in found.decisions:
            assert decision.value == pytest.approx(
                scores[list(model.classes).index(decision.label)], abs=1e-9
            )
            assert decision.bias + sum(decision.blocks.values()) == pytest.approx(decision.value, abs=1e-9)
            assert decision.base + sum(part.value for part in decision.parts) == pytest.approx(
                decision.value, abs=1e-9
            )
            for part in decision.parts:
                named = sum(like.value for like in (*part.alike, *part.against))
                assert named + part.rest + sum(part.extra.values()) == pytest.approx(part.value, abs=1e-9)
            listed = sum(reason.value for reason in decision.reasons)
            assert decision.bias + listed + decision.rest == pytest.approx(decision.value, abs=1e-9)


def test_the_lines_of_every_feature_make_its_count(trained):
    model, source = trained
    for pair in [
        ("kinda01", "kindb01"),
        ("parta05", "partb05"),
        ("kinda01", "kinda01"),
        ("toolb03", "toola03"),
    ]:
        matrix = model.count([pair], source)
        row, names = matrix.tocsr(), matrix.feature_names()
        first, second = (matrix.targets[name] for name in matrix.rows[0])
        evidence = PairEvidence(source, first, second, matrix.settings)
        assert row.nnz
        for column, count in zip(row.indices, row.data, strict=True):
            lines = evidence.lines(names[column])
            assert lines.count == count == lines.total == len(lines.lines), names[column]
            term = names[column].split(":", 2)[2].upper()
            segments = [line.to_dict() for line in lines.lines]
            assert all(term in f"{s['left']} {s['between']} {s['right']}" for s in segments)


def test_marked_lines_are_the_text_with_the_term_and_both_words(trained):
    model, source = trained
    pair = ("kinda01", "kindb01")
    matrix = model.count([pair], source)
    names = [matrix.feature_names()[column] for column in matrix.tocsr().indices]
    evidence = PairEvidence(source, *(matrix.targets[name] for name in matrix.rows[0]), matrix.settings)
    assert {name.split(":")[0] for name in names} == {"v1", "v2", "v12"}
    for name in names:
        found = evidence.lines(name, 3)
        assert found.lines
        block, _, term = name.split(":", 2)
        for line, spans in zip(found.lines, found.spans, strict=True):
            assert "".join(text for text, _ in spans) == "".join(line.pieces)
            marked = [(mark, text.lower()) for text, mark in spans if mark]
            wanted = {"v1": {"w1"}, "v2": {"w2"}}.get(block, {"w1", "w2"})
            assert wanted <= {mark for mark, _ in marked}, name
            assert all(text == pair[0] for mark, text in marked if mark == "w1")
            assert any(term in text for mark, text in marked if mark == "term"), name
    assert len(evidence.lines("v1:post:.", 1).lines) == 1


def test_explain_command(cli, world, trained, tmp_path):
    path = world / f"m{trained[0].counting.limit}.model"
    shown = cli("explain", path, "kinda01", "kindb01", "--top", 3)
    assert shown.code == 0 and "kinda01 – kindb01: kind" in shown.out and "bias" not in shown.out
    assert "kinda01 and kindb01 together" in shown.out and "other training words" in shown.out
    assert " bias" in cli("explain", path, "kinda01", "kindb01", "--features").out
    data = json.loads(cli("explain", path, "kinda01", "nosuchword", "--label", "part", "--json").out)
    assert data["unknown"] == ["nosuchword"] and data["answer"] is None and data["decisions"] == []
    page = tmp_path / "why.html"
    assert cli("explain", path, "kinda01", "kindb01", "--top", 50, "--html", page).code == 0
    text = page.read_text()
    assert "<SCRIPT>" not in text and "&lt;SCRIPT&gt;" in text
    assert cli("explain", path, "[sic]", "kindb01").out.startswith("[sic] – kindb01: no prediction")
    bad = cli("explain", path, "a", "b", "--label", "nonsense")
    assert bad.code == 2 and "nonsense" in bad.err and "kind, part, tool" in bad.err


def test_the_answer_and_the_runner_up_are_explained_and_the_others_listed(cli, world, trained):
    path = world / f"m{trained[0].counting.limit}.model"
    every = cli("explain", path, "kinda01", "kindb01", "--top", 2, "--label", "all").out
    assert every.count("the mean training pair") == 3
    reported = cli("explain", path, "kinda01", "kindb01", "--top", 2, "--features").out
    assert reported.count(" bias ") == reported.count("weaker reasons together") == 2
    assert reported.count("the mean training pair") == 2

    def heads(text):
        lines = text.splitlines()
        return [lines[i - 1].split()[0] for i, line in enumerate(lines) if "the mean training pair" in line]

    assert heads(reported) == heads(every)[:2]
    after = reported.split("the other label")[1].splitlines()
    assert len(after) == 2 and re.fullmatch(
        r"  +(< |> )?\d+ %  " + heads(every)[2] + r"  [+-]\d\.\d{3}", after[1]
    )
    whole = json.loads(cli("explain", path, "kinda01", "kindb01", "--top", 2, "--json").out)
    assert all(decision["reasons"] for decision in whole["decisions"])


def test_the_lines_of_a_long_sentence_are_marked_as_they_are_shown(tmp_path):
    around = [f"w{number:03}" for number in range(200)]
    (tmp_path / "t.txt").write_text(" ".join([*around, "cat", "of", "lion", *around]) + ".\n")
    index_corpus([str(tmp_path / "t.txt")], tmp_path / "t.bp")
    source = open_source(tmp_path / "t.bp")
    first, second = source.resolve(["cat", "lion"])
    found = PairEvidence(source, first, second, CountSettings()).lines("v12:+betw:of")
    (line,), (spans,) = found.lines, found.spans
    assert "".join(span.text for span in spans) == "".join(line.pieces)
    assert "w100" not in line.text
    assert [span for span in spans if span.mark] == [("cat", "w1"), ("of", "term"), ("lion", "w2")]
