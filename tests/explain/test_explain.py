"""An explanation adds up for every kind of model, and its lines are the very observations that were counted."""

import json
import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagpack import Corpus, PairVectorizer, RelationClassifier
from bagpack.app.rendering import environment, lines_url
from bagpack.basis import Basis
from bagpack.contexts.windows import CountSettings, Windows
from bagpack.corpus.build.index import index_corpus
from bagpack.explain.explanation import explain_pair
from bagpack.explain.lines import PairEvidence
from bagpack.learn.calibration import Threshold
from bagpack.learn.model_io import load_model
from bagpack.report.html import render_explanation
from bagpack.sources import open_source
from bagpack.vectors.counts import count_pairs
from bagpack.wording import say_times
from tests.app.conftest import in_process
from tests.conftest import run_apart
from tests.made_up import LABELS, PAIRS, table, train

KINDS = ("modern", "paper", "binary", "rating")


@pytest.fixture(scope="module")
def model(world):
    return load_model(world.model())


@pytest.fixture
def model_of(tmp_path):
    """model_of(text, rows) → a model of labelled pairs and a corpus of this text."""

    def make(text, rows):
        (tmp_path / "t.txt").write_text(text)
        index_corpus([str(tmp_path / "t.txt")], tmp_path / "t.bp")
        (tmp_path / "d.tsv").write_text(table(rows))
        return load_model(train(tmp_path / "t.bp", tmp_path / "d.tsv", tmp_path / "m"))

    return make


def contributions(model, counts, label):
    """An explanation written out: what each feature of a single pair adds, by name; and the bias."""
    output, sign = model.output_of(label)
    row = model.features(counts).matrix().toarray()[0]
    parts = sign * model.weight_matrix()[output] * row
    values = {name: value for name, value in zip(model.feature_names(), parts.tolist(), strict=True) if value}
    return values, sign * float(model.intercept[output])


def features(decision):
    return [feature for reason in decision.reasons for feature in reason.features]


# Sums --------------------------------------------------------------------------------------------------------------


def near(value):
    return pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_decision_is_the_sum_of_its_parts(world, kind):
    model = load_model(world.model(kind))
    for pair in [*random.Random(1).sample(PAIRS, 6), PAIRS[3][::-1]]:
        counts = model.count([pair], model.source)
        found = explain_pair(model, model.source, *pair, top=10_000, lines=0)
        scores = model.scores_of(model.decisions(counts))[0]
        if kind != "rating":
            assert found.answer == max(zip(scores, map(str, model.classes), strict=True))[1]
        for label, score in zip([None] if kind == "rating" else model.classes, scores, strict=True):
            decision = found["rating" if label is None else str(label)]
            expected, bias = contributions(model, counts, label)
            assert decision.value == near(score) == near(bias + math.fsum(expected.values()))
            assert decision.bias == bias
            assert decision.bias + sum(decision.blocks.values()) == near(decision.value)
            assert decision.base + sum(part.value for part in decision.parts) == near(decision.value)
            for part in decision.parts:
                named = sum(like.value for like in (*part.alike, *part.against))
                assert named + part.rest + sum(part.extra.values()) == near(part.value)
            assert {f.name: f.value for f in features(decision) if f.value} == pytest.approx(expected)
            assert decision.rest == near(0) and decision.others == 0


@given(st.integers(0, 59), st.integers(0, 30), st.booleans())
@settings(max_examples=25)
def test_reasons_add_up_to_the_decision_and_hold_every_feature_once(model, number, top, turned):
    pair = PAIRS[number][::-1] if turned else PAIRS[number]
    for decision in explain_pair(model, model.source, *pair, top=top, lines=0).decisions:
        values = [reason.value for reason in decision.reasons]
        assert decision.bias + math.fsum(values) + decision.rest == near(decision.value)
        for reason in decision.reasons:
            assert math.fsum(f.value for f in reason.features) == pytest.approx(reason.value, abs=1e-12)
        names = [feature.name for feature in features(decision)]
        assert len(names) == len(set(names))


def test_a_model_of_an_estimator_explains_itself(world):
    classifier = RelationClassifier(PairVectorizer(Corpus.open(world.store), b=20)).fit(PAIRS, LABELS)
    label = classifier.predict(PAIRS[:1])[0]
    found = explain_pair(classifier.model_, open_source(world.store), *PAIRS[0])
    scores = dict(zip(classifier.classes_, classifier.decision_function(PAIRS[:1])[0], strict=True))
    assert found.answer == label and found[label].value == near(scores[label])


def test_a_part_names_training_words_and_contexts_name_training_pairs(model):
    training = model.training
    both = zip(training.w1, training.w2, strict=True)
    pairs = {f"{training.names[a]} – {training.names[b]}" for a, b in both}
    seen = 0
    for w1, w2 in PAIRS[::3]:
        decision = explain_pair(model, model.source, w2, w1, lines=1).decisions[0]
        assert [part.name for part in decision.parts] == ["together", "first", "second"]
        for part in decision.parts:
            known = pairs if part.name == "together" else set(training.names)
            assert {like.name for like in (*part.alike, *part.against)} <= known
            assert len(part.alike) <= 6 and len(part.against) <= 2
            assert [like.value for like in part.alike] == sorted((x.value for x in part.alike), reverse=True)
        seen += bool(decision.contexts)
        for context in decision.contexts:
            assert all(feature.name.startswith("v12:") for feature in context.features)
            assert context.lines and {like.name for like in context.pairs} <= pairs
            in_order = {line["order"] for line in context.lines}
            assert in_order == {context.lines_of.split(":")[1][0]}  # lines of the reason's own direction
        assert decision.summary
    assert seen > 3


# Counts and lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [None, 5000, 3])
def test_counts_and_lines_of_the_observations_are_those_of_the_corpus(world, limit):
    source = open_source(world.store)
    settings, basis = CountSettings(Windows(), limit), Basis.of(source, 40)
    pairs = [("kinda01", "kindb01"), ("kinda01", "kinda01"), ("toolb03", "toola03"), ("of the", "partb05")]
    pairs.append(("a", "the"))
    for pair in pairs:
        evidence = PairEvidence.of(source, *pair, settings)
        counts, expected = evidence.counts(*pair, basis), count_pairs(source, [pair], basis, settings)
        row = expected.tocsr()
        assert (counts.tocsr() != row).nnz == 0 < row.nnz
        for name in ("n_plus", "n_minus", "seen", "counted", "n_w1", "n_w2"):
            assert np.array_equal(getattr(counts, name), getattr(expected, name)), (pair, name)
        for column, count in zip(row.indices, row.data, strict=True) if pair != ("a", "the") else ():
            name = expected.feature_names()[column]
            check_lines(evidence, name, count, all_marks=pair == pairs[0])


def check_lines(evidence, name, count, all_marks):
    """The lines of a feature are as many as were counted, and each has the term; in short sentences, it is marked."""
    found = evidence.lines(name)
    assert found.count == count == found.total == len(found.lines), name
    block, _, term = name.split(":", 2)
    for line, spans in zip(found.lines, found.spans, strict=True):
        segments = line.to_dict()
        assert term in f"{segments['left']} {segments['between']} {segments['right']}"
        assert "".join(text for text, _ in spans) == "".join(line.pieces)
        marked = [(mark, text) for text, mark in spans if mark]
        if all_marks:
            wanted = {"v1": {"w1"}, "v2": {"w2"}}.get(block, {"w1", "w2"})
            assert wanted <= {mark for mark, _ in marked}, name
            assert any(term in text for mark, text in marked if mark == "term"), name
    assert evidence.lines(name, 1).lines == found.lines[:1]


def test_the_lines_of_products_and_statistics(model):
    source = model.source
    matrix = model.count(PAIRS, source)
    both = int(((matrix.n_plus > 0) & (matrix.n_minus > 0)).argmax())
    evidence = PairEvidence.of(source, *PAIRS[both], matrix.settings)
    plus, minus = "+" * int(matrix.n_plus[both]), "-" * int(matrix.n_minus[both])
    for name, order in (("w1 first", plus), ("w2 first", minus), ("PMI", plus + minus)):
        found = evidence.lines(f"pair:{name}")
        assert found.count == found.total == len(order) > 0
        assert "".join(sorted(line.order for line in found.lines)) == order
        assert all({span.mark for span in spans} == {"", "w1", "w2"} for spans in found.spans)


def test_reasons_of_similarity_and_frequency(model):
    w1, w2 = PAIRS[3]
    found = explain_pair(model, model.source, w1, w2, top=1000, lines=2)
    matrix = model.count([(w1, w2)], model.source)
    evidence = PairEvidence.of(model.source, w1, w2, matrix.settings)
    words, columns = [matrix.tocsr(block).toarray()[0] for block in ("v1", "v2")], matrix.feature_names("v1")
    parts = {feature.name: feature for feature in features(found.decisions[0])}
    products = [name for name in parts if name.startswith("v1·v2:")]
    for name in products:
        one, two = (int(row[columns.index(name.replace("v1·v2", "v1"))]) for row in words)
        lines = evidence.lines(name)
        assert parts[name].count == lines.count == min(one, two)
        assert lines.total == one + two == len(lines.lines)
    together = found.counts["n_plus"] + found.counts["n_minus"]
    assert products and parts["pair:w1 first"].count == found.counts["n_plus"]
    by_kind = {reason.kind: reason for reason in found.decisions[0].reasons}
    reason, alike = by_kind["frequency"], by_kind["similarity"]
    assert {feature.name for feature in reason.features} == {n for n in parts if n.startswith("pair:")}
    assert reason.words.startswith(f"{w1} and {w2} occur together {say_times(together)}, ")
    assert 0 < len(reason.lines) <= 2 and reason.total <= together
    shared = int(((words[0] > 0) & (words[1] > 0)).sum())
    assert alike.words == f"how similar the contexts of {w1} and {w2} are ({shared} terms in common)"
    assert (alike.total, alike.lines) == (0, [])


def test_the_lines_of_a_long_sentence_are_marked_as_they_are_shown(tmp_path):
    around = [f"w{number:03}" for number in range(200)]
    (tmp_path / "t.txt").write_text(" ".join([*around, "cat", "of", "lion", *around]) + ".\n")
    index_corpus([str(tmp_path / "t.txt")], tmp_path / "t.bp")
    evidence = PairEvidence.of(open_source(tmp_path / "t.bp"), "cat", "lion", CountSettings())
    found = evidence.lines("v12:+betw:of")
    (line,), (spans,) = found.lines, found.spans
    assert "".join(span.text for span in spans) == "".join(line.pieces)
    assert "w100" not in line.text
    assert [span for span in spans if span.mark] == [("cat", "w1"), ("of", "term"), ("lion", "w2")]


# The answer --------------------------------------------------------------------------------------------------------


def test_a_training_pair_is_reported_above_everything_else(model, cli):
    w1, w2 = PAIRS[0]
    found = explain_pair(model, model.source, w1, w2)
    assert found.trained and not explain_pair(model, model.source, w2, w1).trained
    assert "was trained" in cli("explain", model.place, w1, w2).out.splitlines()[0]
    page = render_explanation(found.to_dict()).partition("<main>")[2]
    assert "was trained" in re.search(r"<[ph]\d? ?[^>]*>([^<]*)", page)[1]
    other = explain_pair(model, model.source, w2, w1)
    assert "was trained" not in render_explanation(other.to_dict())


def test_an_unknown_word_gives_no_prediction(model, cli):
    w1 = PAIRS[0][0]
    found = explain_pair(model, model.source, w1, "nosuchword")
    assert found.answer is None and found.probability is None and found.decisions == ()
    assert found.notes[0].startswith("no prediction") and "nosuchword" in found.notes[0]
    assert "no prediction" in render_explanation(found.to_dict())
    assert explain_pair(model, model.source, "nosuchword", "norsuch").unknown == ("nosuchword", "norsuch")
    shown = cli("explain", model.place, w1, "nosuchword")
    assert shown.code == 0 and "bias" not in shown.out and "%" not in shown.out


def test_probabilities_come_first_and_order_the_bars(model, cli):
    (w1, w2), label = PAIRS[4], LABELS[4]
    found = explain_pair(model, model.source, w1, w2, lines=0)
    probabilities = model.predict_proba(model.count([(w1, w2)], model.source))[0]
    assert found.answer == label == found.decisions[0].label
    assert found.probability == pytest.approx(probabilities.max())
    bars = [decision.bar for decision in found.decisions]
    assert bars == sorted(bars, reverse=True) == pytest.approx(sorted(probabilities, reverse=True))
    first = cli("explain", model.place, w2, w1).out.splitlines()[0]
    assert re.fullmatch(rf"{w2} – {w1}: \S+, probability (> )?\d+ %", first)
    bare = explain_pair(replace(model, calibration=None), model.source, w1, w2, lines=0).decisions
    values, bars = [d.value for d in bare], [d.bar for d in bare]
    assert values == sorted(values, reverse=True) and bars == sorted(bars, reverse=True)
    assert bars[0] == 1.0 and bars[-1] == 0.0
    strict = explain_pair(replace(model, threshold=Threshold(0.99, 1.5, 1.0, 0.0)), model.source, w1, w2)
    assert strict.answer is None and " 99 %" in strict.notes[0]
    assert strict.decisions[0].reasons


def test_content_words_come_before_function_words(model, model_of):
    """A content word between the two is the first context, however little it adds; then by place, order and value."""
    contexts = explain_pair(model, model.source, "kinda00", "kindb00").decisions[0].contexts
    names = "+betw:of +post:came -post:found +betw:and -betw:as +pre:every +pre:a"
    assert [context.lines_of for context in contexts] == [f"v12:{name}" for name in names.split()]
    lines = [f"The a{i} causes the b{i} of it.\nThe c{i} of the d{i} is in it.\n" for i in range(12)]
    rows = [row for i in range(12) for row in ((f"a{i}", f"b{i}", "cause"), (f"c{i}", f"d{i}", "part"))]
    found = model_of("".join(lines * 3) + "A cause of plagues causes the death of it.\n", rows)
    decision = explain_pair(found, found.source, "plague", "death", top=3).decisions[0]
    assert decision.label == "cause"
    first = decision.contexts[0]
    assert first.words == "plague … cause the … death" and first.pairs[0].name.startswith("a")


def test_never_being_seen_together_can_be_the_reason(model, model_of):
    """Of *random* pairs, no word says anything: that they never meet does."""
    for decision in explain_pair(model, model.source, PAIRS[0][0], PAIRS[-1][1]).decisions:
        assert decision.contexts == ()
        assert "never seen together" in decision.summary or "speaks for it" in decision.summary
    text = "".join(f"The a{i} causes the b{i} of it.\nAn a{i} is here. A b{i} is here.\n" for i in range(20))
    pairs = [(i, own, label) for i in range(18) for own, label in ((i, "cause"), ((i + 7) % 20, "random"))]
    found = model_of(text * 3, [(f"a{i}", f"b{own}", label) for i, own, label in pairs])
    decision = explain_pair(found, found.source, "a18", "b19").decisions[0]
    assert decision.label == "random"
    assert decision.summary == "decided mainly by the fact that the words are never seen together"


# On the terminal and on pages --------------------------------------------------------------------------------------


def test_explain_command(cli, world, tmp_path):
    """The answer and the runner-up are explained in full, and the others listed."""
    path = world.model("paper")
    base, page = ("explain", path, "kinda01", "kindb01"), tmp_path / "why.html"
    shown = cli(*base, "--top", 3)
    assert shown.code == 0 and "kinda01 – kindb01: kind" in shown.out and "bias" not in shown.out
    assert "kinda01 and kindb01 together" in shown.out and "other training words" in shown.out
    assert cli(*base, "--top", 50, "--html", page).code == 0
    assert "<script" not in page.read_text() and "&lt;script&gt;" in page.read_text()
    data = json.loads(cli("explain", path, "kinda01", "nosuchword", "--label", "part", "--json").out)
    assert data["unknown"] == ["nosuchword"] and data["answer"] is None and data["decisions"] == []
    assert cli("explain", path, "[sic]", "kindb01").out.startswith("[sic] – kindb01: no prediction")
    bad = cli("explain", path, "a", "b", "--label", "nonsense")
    assert bad.code == 2 and "nonsense" in bad.err and "kind, part, tool" in bad.err
    every = cli(*base, "--label", "all").out
    assert every.count("the mean training pair") == 3
    reported = cli(*base, "--top", 2, "--features").out
    assert reported.count(" bias ") == reported.count("weaker reasons together") == 2

    def heads(text):
        lines = text.splitlines()
        return [lines[i - 1].split()[0] for i, line in enumerate(lines) if "the mean training pair" in line]

    assert heads(reported) == heads(every)[:2]
    after = reported.split("the other label")[1].splitlines()
    assert len(after) == 2
    assert re.fullmatch(rf"  +(< |> )?\d+ %  {heads(every)[2]}  [+-]\d\.\d{{3}}", after[1])
    assert all(decision["reasons"] for decision in json.loads(cli(*base, "--json").out)["decisions"])


def test_lines_open_on_pages(model):
    found = explain_pair(model, model.source, *PAIRS[3], top=10_000, lines=2)
    page = render_explanation(found.to_dict())
    assert "\u00a0%" in page and not re.search(r"\d %", page)
    with_lines = [r for d in found.decisions for r in (*d.reasons, *d.contexts) if r.kind != "similarity"]
    assert len(re.findall('<details class="feature"', page)) == len(with_lines)
    opened = sum(min(2, len(decision.contexts)) for decision in found.decisions)
    assert page.count('<details class="feature" open>') == opened > 0  # sentences are seen without a click
    template = environment().get_template("reasons.html.j2")
    in_explorer = template.module.decisions(found.to_dict(), 1.0, lines_url)
    assert in_explorer.count("data-lines=") == len(with_lines)  # a cosine has no lines to link to


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_every_kind(kind, world):
    paths = ["/", "/model", "/model.json", "/pair/kinda03/kindb03"]
    if kind == "modern":  # products of v1 and v2 are features too, and open the lines of both words
        paths.append("/lines.json?w1=kinda03&w2=kindb03&feature=v1·v2:pre:a")

    async def scene():
        async with in_process(world.store, world.model(kind)) as client:
            return [(await client.get(path)).status_code for path in paths]

    assert run_apart(scene()) == [200] * len(paths)
