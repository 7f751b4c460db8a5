"""Gaps are explained by the lines that have so many words between, in that order."""

import pytest

from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.errors import UsageError
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions
from bagpack.experiments.training import model_source, train_file
from bagpack.explain import explain_pair
from bagpack.explain.lines import PairEvidence
from bagpack.learn import load_model
from bagpack.vectors import PairVectorizer
from tests.contexts.stores import make_store
from tests.experiments.conftest import made_up_pairs, relations, store  # noqa: F401 (fixtures)


def test_gaps_are_explained_by_the_lines_with_that_gap_and_order(store, relations, tmp_path):  # noqa: F811
    out = str(tmp_path / "m.model")
    counting = CountOptions(40, None, CountSettings())
    options = EvaluateOptions(preset="modern:gaps=yes")
    train_file(str(store), str(relations), out, counting, options, evaluate=False)
    model = load_model(out)
    source = model_source(model, None)
    w1, w2, _ = made_up_pairs()[3]
    found = explain_pair(model, source, w1, w2, top=10_000, lines=2)
    parts = {f.name: f for f in found.decisions[0].features if f.name.startswith("gap:")}
    assert sum(part.count for part in parts.values()) == found.counts["n_plus"] + found.counts["n_minus"] > 0
    for part in parts.values():
        assert part.lines.total == part.count
        assert len(part.lines.lines) == min(2, part.count)
    for decision in found.decisions:
        assert decision.bias + sum(decision.blocks.values()) == pytest.approx(decision.value, abs=1e-9)
        assert "gap" in decision.blocks


def test_lines_of_gaps_are_those_that_were_counted(tmp_path):
    sentences = ["x ice cream a b cat", "cat a ice cream x", "ice cream cat ice cream", "cat a a cat cat"]
    corpus = make_store(tmp_path, [sentence.split() for sentence in sentences] * 2, (3,))
    pairs = [("ice cream", "cat"), ("cat", "ice cream"), ("cat", "cat")]
    matrix = PairVectorizer(corpus, b=4, limit=7).matrix(pairs)
    for (w1, w2), gaps in zip(pairs, matrix.gaps.tolist(), strict=True):
        evidence = PairEvidence(
            CorpusSource(corpus), matrix.resolved[w1], matrix.resolved[w2], matrix.settings
        )
        names = [f"gap:{order}{gap}" for order in "+-" for gap in range(6)]
        assert [evidence.lines(name).count for name in names] == gaps
    shown = evidence.lines("gap:+2").lines
    assert [line.pieces[3].split() for line in shown] == [["A", "A"]] * 2
    for wrong in ("gap:+6", "gap:2", "gap:+2:of", "gap:"):
        with pytest.raises(UsageError, match="is not a feature"):
            evidence.lines(wrong)
