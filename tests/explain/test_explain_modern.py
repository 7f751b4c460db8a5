"""Models of preset `modern` are explained to the last digit too, their products by the lines of both words."""

import re

import pytest

from bagpack.app.rendering import environment, lines_url
from bagpack.evaluate import CountOptions, TrainOptions
from bagpack.evaluate.train import train_file
from bagpack.explain import explain_pair
from bagpack.explain.lines import PairEvidence
from bagpack.learn import load_model
from bagpack.wording import say_times
from tests.evaluate.conftest import made_up_pairs, store  # noqa: F401 (fixture)

OPTIONS = TrainOptions(scores=False, counting=CountOptions(40))


@pytest.fixture(scope="module")
def trained(store, tmp_path_factory):  # noqa: F811
    """A model, and the paths of its data and of where it is stored."""
    folder = tmp_path_factory.mktemp("modern")
    rows = "".join(f"{a}\t{b}\t{label}\n" for a, b, label in made_up_pairs())
    (folder / "relations.tsv").write_text("w1\tw2\tlabel\n" + rows)
    data, out = str(folder / "relations.tsv"), str(folder / "m.model")
    model, _ = train_file(str(store), data, out, OPTIONS)
    return model, data, out


def test_products_are_explained(trained):
    model = load_model(trained[2])
    source = model.open_source()
    w1, w2, label = made_up_pairs()[3]
    found = explain_pair(model, source, w1, w2, top=1000, lines=2)
    assert found.answer == label
    for decision in found.decisions:
        assert decision.bias + sum(decision.blocks.values()) == pytest.approx(decision.value, abs=1e-9)
        assert "v1·v2" in decision.blocks
    matrix = model.count([(w1, w2)], source)
    words = matrix.tocsr("v1").toarray()[0], matrix.tocsr("v2").toarray()[0]
    evidence = PairEvidence(source, *(matrix.targets[name] for name in matrix.rows[0]), matrix.settings)
    products = [f for f in found.decisions[0].features if f.name.startswith("v1·v2:")]
    assert products
    for feature in products:
        column = matrix.feature_names("v1").index(feature.name.replace("v1·v2", "v1"))
        one, two = (int(row[column]) for row in words)
        lines = evidence.lines(feature.name)
        assert feature.count == lines.count == min(one, two)
        assert lines.total == one + two == len(lines.lines)


def test_statistics_are_explained_by_the_lines_of_their_order(trained):
    model = trained[0]
    source = model.open_source()
    matrix = model.count([pair[:2] for pair in made_up_pairs()], source)
    both = int(((matrix.n_plus > 0) & (matrix.n_minus > 0)).argmax())
    first, second = (matrix.targets[name] for name in matrix.rows[both])
    evidence = PairEvidence(source, first, second, matrix.settings)
    plus, minus = int(matrix.n_plus[both]), int(matrix.n_minus[both])
    assert plus and minus
    for name, orders in (
        ("w1 first", "+" * plus),
        ("w2 first", "-" * minus),
        ("PMI", "+" * plus + "-" * minus),
    ):
        found = evidence.lines(f"pair:{name}")
        assert found.count == found.total == len(orders)
        assert "".join(sorted(line.order for line in found.lines)) == orders
        assert all({span.mark for span in spans} == {"", "w1", "w2"} for spans in found.spans)
        assert evidence.lines(f"pair:{name}", 1).lines == found.lines[:1]


def test_statistics_are_explained_by_the_lines_where_the_pair_is_seen(trained):
    model = load_model(trained[2])
    source = model.open_source()
    w1, w2, _ = made_up_pairs()[3]
    found = explain_pair(model, source, w1, w2, top=10_000, lines=2)
    parts = {feature.name: feature for feature in found.decisions[0].features}
    assert parts["pair:w1 first"].count == found.counts["n_plus"]
    together = found.counts["n_plus"] + found.counts["n_minus"]
    assert parts["pair:together"].count == together
    reason = next(reason for reason in found.decisions[0].reasons if reason.kind == "frequency")
    assert {feature.name for feature in reason.features} == {n for n in parts if n.startswith("pair:")}
    assert reason.words.startswith(f"{w1} and {w2} occur together {say_times(together)}, ")
    assert 0 < len(reason.lines) <= 2 and reason.total <= together
    matrix = model.count([(w1, w2)], source)
    one, two = (matrix.words[[int(row[0])]].toarray()[0] for row in (matrix.w1, matrix.w2))
    shared = int(((one > 0) & (two > 0)).sum())
    assert parts["cosine:v1 v2"].count == shared > 1
    alike = next(reason for reason in found.decisions[0].reasons if reason.kind == "similarity")
    assert alike.words == f"how similar the contexts of {w1} and {w2} are ({shared} terms in common)"
    assert (alike.total, alike.lines) == (0, [])
    page = found.to_html()
    assert "\u00a0%" in page and not re.search(r"\d %", page)
    with_lines = [r for d in found.decisions for r in (*d.reasons, *d.contexts) if r.kind != "similarity"]
    assert len(re.findall('<details class="feature"', page)) == len(with_lines)
    opened = sum(min(2, len(decision.contexts)) for decision in found.decisions)
    assert page.count('<details class="feature" open>') == opened > 0  # sentences are seen without a click
    in_explorer = (
        environment().get_template("reasons.html.j2").module.decisions(found.to_dict(), 1.0, lines_url)
    )
    assert in_explorer.count("data-lines=") == len(with_lines)  # a cosine has no lines to link to
