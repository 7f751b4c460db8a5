"""What an explanation says of the answer itself."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.corpus.build.index import index_corpus
from bagpack.explain import explain_pair
from bagpack.learn import load_model
from bagpack.learn.calibration import Threshold
from tests.evaluate.conftest import made_up_pairs, store  # noqa: F401 (fixtures)
from tests.explain.explain_oracle import contributions
from tests.explain.models import train


@pytest.fixture(scope="module")
def model(store, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("m")
    rows = "".join(f"{a}\t{b}\t{label}\n" for a, b, label in made_up_pairs())
    (folder / "r.tsv").write_text("w1\tw2\tlabel\n" + rows)
    return load_model(train(store, folder / "r.tsv", folder / "m.model", "modern"))


def test_a_training_pair_is_reported_above_everything_else(model, cli):
    w1, w2, _ = made_up_pairs()[0]
    found = explain_pair(model, model.source, w1, w2)
    assert found.trained and not explain_pair(model, model.source, w2, w1).trained
    shown = cli("explain", model.place, w1, w2).out
    assert shown.startswith("The model was trained on this pair")
    text = re.sub("<style>.*</style>", "", found.to_html(), flags=re.DOTALL)
    assert re.search(r"<[ph]\d? ?[^>]*>([^<]*)", text)[1].startswith("The model was trained on this pair")
    assert "trained on this pair" not in explain_pair(model, model.source, w2, w1).to_html()


def test_an_unknown_word_gives_no_prediction(model, cli):
    w1 = made_up_pairs()[0][0]
    found = explain_pair(model, model.source, w1, "nosuchword")
    assert found.answer is None and found.probability is None and found.decisions == ()
    assert found.notes[0] == "no prediction: the corpus does not contain nosuchword"
    assert "no prediction" in found.to_html()
    both = explain_pair(model, model.source, "nosuchword", "norsuch", against=str(model.classes[0]))
    assert both.unknown == ("nosuchword", "norsuch") and both.contrast is None
    shown = cli("explain", model.place, w1, "nosuchword")
    assert shown.code == 0 and "bias" not in shown.out and "%" not in shown.out


def test_a_pair_below_the_threshold_gets_no_answer_but_its_reasons(model):
    w1, w2, _ = made_up_pairs()[0]
    strict = replace(model, threshold=Threshold(0.99, 1.5, 1.0, 0.0))
    found = explain_pair(strict, model.source, w1, w2, lines=0)
    assert found.answer is None and "too low for a precision of 99 %" in found.notes[0]
    assert found.decisions[0].reasons


def test_probabilities_come_first_and_order_the_bars(model, cli):
    w1, w2, label = made_up_pairs()[4]
    found = explain_pair(model, model.source, w1, w2, lines=0)
    probabilities = model.predict_proba(model.count([(w1, w2)], model.source))[0]
    assert found.answer == label == found.decisions[0].label
    assert found.probability == pytest.approx(probabilities.max())
    bars = [decision.bar for decision in found.decisions]
    assert bars == sorted(bars, reverse=True) == pytest.approx(sorted(probabilities, reverse=True))
    first = cli("explain", model.place, w2, w1).out.splitlines()[0]
    assert re.fullmatch(rf"{w2} – {w1}: \S+, probability (> )?\d+ %", first)
    bare = replace(model, calibration=None)
    values = [d.value for d in explain_pair(bare, model.source, w1, w2, lines=0).decisions]
    bars = [d.bar for d in explain_pair(bare, model.source, w1, w2, lines=0).decisions]
    assert values == sorted(values, reverse=True) and bars == sorted(bars, reverse=True)
    assert bars[0] == 1.0 and bars[-1] == 0.0


@given(st.integers(0, 59), st.integers(0, 30), st.booleans())
def test_reasons_add_up_to_the_decision_and_hold_every_feature_once(model, number, top, turned):
    w1, w2, _ = made_up_pairs()[number % len(made_up_pairs())]
    if turned:
        w1, w2 = w2, w1
    counts = model.count([(w1, w2)], model.source)
    scores = model.label_scores(counts)[0]
    found = explain_pair(model, model.source, w1, w2, top=top, lines=0, against=str(model.classes[0]))
    gap = found.contrast
    assert gap.value == pytest.approx(found[gap.label].value - found[gap.against].value, abs=1e-9)
    for decision in (*found.decisions, gap):
        values = [reason.value for reason in decision.reasons]
        assert decision.bias + math.fsum(values) + decision.rest == pytest.approx(decision.value, abs=1e-9)
        assert decision.bias + math.fsum(decision.blocks.values()) == pytest.approx(decision.value, abs=1e-9)
        for reason in decision.reasons:
            assert math.fsum(f.value for f in reason.features) == pytest.approx(reason.value, abs=1e-12)
        names = [feature.name for feature in decision.features]
        assert len(names) == len(set(names))
    for label, score in zip(model.classes, scores, strict=True):
        assert found[str(label)].value == pytest.approx(score, abs=1e-9)
    every = explain_pair(model, model.source, w1, w2, top=10_000, lines=0).decisions[0]
    expected, _ = contributions(model, counts, every.label)
    assert {f.name: f.value for f in every.features if f.value} == pytest.approx(expected)
    assert every.rest == pytest.approx(0, abs=1e-9) and every.others == 0


def test_one_label_and_not_another(model, cli):
    w1, w2, label = made_up_pairs()[4]
    other = next(str(name) for name in model.classes if name != label)
    found = explain_pair(model, model.source, w1, w2, against=other, lines=0).contrast
    assert (found.label, found.against) == (label, other) and found.value > 0
    turned = explain_pair(model, model.source, w1, w2, labels=[other], against=label, lines=0).contrast
    assert turned.value == pytest.approx(-found.value)
    shown = cli("explain", model.place, w1, w2, "--against", other)
    assert f"\n{label}, not {other}  decided " in shown.out and "the other label" not in shown.out
    same = cli("explain", model.place, w1, w2, "--label", other, "--against", other)
    assert same.code == 2 and "itself" in same.err
    bad = cli("explain", model.place, w1, w2, "--against", "nosuch")
    assert bad.code == 2 and "has no label 'nosuch'" in bad.err


def test_a_part_names_training_words_and_contexts_name_training_pairs(model):
    """The sums are those over all training words and pairs, computed from the training pairs themselves."""
    training = model.training
    seen = 0
    for w1, w2, _ in made_up_pairs():
        decision = explain_pair(model, model.source, w2, w1, lines=1).decisions[0]
        assert [part.name for part in decision.parts] == ["together", "first", "second"]
        together, first, _ = decision.parts
        assert {like.name for like in (*first.alike, *first.against)} <= set(training.names)
        pairs = {
            f"{training.names[a]} – {training.names[b]}"
            for a, b in zip(training.w1, training.w2, strict=True)
        }
        assert {like.name for like in (*together.alike, *together.against)} <= pairs
        for part in decision.parts:
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


def test_content_words_come_before_function_words(tmp_path):
    """A content word between the two is the first context, however little it adds."""
    text = (
        "".join(f"The a{i} causes the b{i} of it.\nThe c{i} of the d{i} is in it.\n" for i in range(12)) * 3
    )
    (tmp_path / "t.txt").write_text(text + "A cause of plagues causes the death of it.\n")
    index_corpus([str(tmp_path / "t.txt")], tmp_path / "t.bp")
    rows = [f"a{i}\tb{i}\tcause\n" for i in range(12)] + [f"c{i}\td{i}\tpart\n" for i in range(12)]
    (tmp_path / "d.tsv").write_text("w1\tw2\tlabel\n" + "".join(rows))
    found = load_model(train(tmp_path / "t.bp", tmp_path / "d.tsv", tmp_path / "m", "modern"))
    decision = explain_pair(found, found.source, "plague", "death", top=3).decisions[0]
    assert decision.label == "cause"
    first = decision.contexts[0]
    assert first.words == "plague … cause the … death" and first.pairs[0].name.startswith("a")
    words = [context.words for context in decision.contexts if context.value > 0]
    assert not words[0].startswith("cause")


def test_two_words_that_are_never_seen_together(model):
    (a, _, _), (_, b, _) = made_up_pairs()[0], made_up_pairs()[-1]
    for decision in explain_pair(model, model.source, a, b).decisions:
        assert decision.contexts == ()
        assert "never seen together" in decision.summary or "speaks for it" in decision.summary


def test_never_being_seen_together_can_be_the_reason(tmp_path):
    """Of *random* pairs, no word says anything: that they never meet does."""
    text = "".join(f"The a{i} causes the b{i} of it.\nAn a{i} is here. A b{i} is here.\n" for i in range(20))
    (tmp_path / "t.txt").write_text(text * 3)
    index_corpus([str(tmp_path / "t.txt")], tmp_path / "t.bp")
    rows = [f"a{i}\tb{i}\tcause\na{i}\tb{(i + 7) % 20}\trandom\n" for i in range(18)]
    (tmp_path / "d.tsv").write_text("w1\tw2\tlabel\n" + "".join(rows))
    found = load_model(train(tmp_path / "t.bp", tmp_path / "d.tsv", tmp_path / "m", "modern"))
    decision = explain_pair(found, found.source, "a18", "b19").decisions[0]
    assert decision.label == "random"
    assert decision.summary == "decided mainly by the fact that the words are never seen together"
