"""Preset `modern`: its steps against the formulas, its switches, and that its models keep all their promises."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagpack.errors import StoreError, UsageError
from bagpack.evaluate import cross_validate, random_splits
from bagpack.learn import encode_targets, fit_counts, load_model, save_model, tuning
from bagpack.learn.annex import GAPS, Annex, Beside
from bagpack.learn.association import Fading, Llr, LogCounts, LogPpmi, Ppmi, Trust, UnitLength
from bagpack.learn.block import Block
from bagpack.learn.counts import PairCounts
from bagpack.learn.fitting import Machine, fit_conditions, weight_blocks, with_swapped
from bagpack.learn.interactions import COSINES, DIFFERENCE, MINIMUM, PRODUCT
from bagpack.learn.modern import Recipe
from bagpack.learn.presets import get_preset
from bagpack.learn.statistics import STATISTICS, gap_shares, pair_statistics
from bagpack.learn.synthetic import make_counts

EVERYTHING = "modern:minimum=yes,difference=yes,gaps=yes"


@pytest.fixture
def counts_and_labels():
    counts, y = make_counts(n_pairs=90, n_words=40, seed=2)
    rng = np.random.default_rng(5)
    plus, minus = rng.integers(0, 6, (2, len(counts)))
    n = rng.integers(10, 500, counts.words.shape[0])
    gaps = np.hstack([rng.multinomial(n, [1 / 6] * 6) for n in (plus, minus)])
    known = replace(
        counts,
        seen=plus + minus,
        shares=rng.integers(1, 1000, counts.n_terms).astype(float),
        totals=np.stack([n[counts.w1], n[counts.w2], plus, minus], axis=1),
        tokens=100_000,
        annexes={GAPS: Annex(sparse.csr_array(gaps))},
    )
    return known, y


@parametrize_with_checks([LogCounts(), UnitLength(), Trust(), Fading(), Ppmi(), Llr(), LogPpmi()])
def test_common_checks(estimator, check):
    check(estimator)


def test_rows_have_unit_length_and_zero_rows_stay():
    rows = sparse.csr_array(np.array([[3, 0, 4], [0, 0, 0], [0, 2, 0]]))
    assert UnitLength().fit_transform(rows).toarray() == pytest.approx(
        np.array([[0.6, 0, 0.8], [0, 0, 0], [0, 1, 0]])
    )
    assert LogCounts().fit_transform(rows).toarray() == pytest.approx(np.log1p(rows.toarray()))


def test_association_is_measured_against_the_corpus_segment_by_segment():
    # Two terms in two segments; the corpus has the second term three times as often.
    observed = np.array([[6, 2, 0, 4], [0, 0, 1, 3]])
    block = Block("v1", sparse.csr_array(observed), shares=np.array([100.0, 300.0]))
    expected = np.array([[2.0, 6.0, 1.0, 3.0], [0, 0, 1.0, 3.0]])
    ppmi = Ppmi()
    ppmi.fit_block(block)
    wanted = np.where(observed > 0, np.maximum(np.log((observed + 1) / (expected + 1)), 0), 0)
    assert ppmi.on(block).rows.toarray() == pytest.approx(wanted)
    llr = Llr()
    llr.fit_block(block)
    found = llr.on(block).rows.toarray()
    g2 = 2 * (6 * np.log(6 / 2) - (6 - 2))
    assert found[0, 0] == pytest.approx(np.log1p(g2))
    assert found[0, 1] == found[1, 3] == 0


def test_log_and_ppmi_stand_in_equal_parts():
    block = Block("v12", sparse.csr_array(np.array([[9, 1, 0]])), shares=np.array([1.0, 2.0, 5.0]))
    step = LogPpmi()
    step.fit_block(block)
    logs = np.log1p([9, 1, 0])
    ppmi = np.maximum(np.log(np.array([10, 2, 1]) / (np.array([1.25, 2.5, 6.25]) + 1)), 0) * [1, 1, 0]
    wanted = logs / np.linalg.norm(logs) + ppmi / np.linalg.norm(ppmi)
    assert step.on(block).rows.toarray()[0] == pytest.approx(wanted)


def test_trust_grows_with_what_was_seen():
    block = Block("v12", sparse.csr_array(np.eye(3)), seen=np.array([0.0, 1.0, 9.0]))
    assert np.diag(Trust(1.0).on(block).rows.toarray()) == pytest.approx([0, 0.5, 0.9])
    assert np.diag(Trust(3.0).on(block).rows.toarray()) == pytest.approx([0, 0.25, 0.75])
    unknown = replace(block, seen=None)
    assert Trust().on(unknown) is unknown


def test_interactions_are_those_of_the_weighted_words(counts_and_labels):
    counts, _ = counts_and_labels
    logs = np.log1p(counts.words.toarray())
    lengths = np.linalg.norm(logs, axis=1, keepdims=True)
    unit = logs / np.where(lengths == 0, 1, lengths)
    one, two = unit[counts.w1], unit[counts.w2]

    def of_unit_length(rows):
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(size == 0, 1, size)

    preset = get_preset("modern:weighting=log,minimum=yes,difference=yes")
    blocks = weight_blocks(counts, (PRODUCT, MINIMUM, DIFFERENCE, COSINES), preset)
    for name, wanted in (
        (PRODUCT, one * two),
        (MINIMUM, np.minimum(one, two)),
        (DIFFERENCE, one - two),
    ):
        assert blocks[name].rows.toarray() == pytest.approx(of_unit_length(wanted)), name
    half = unit.shape[1] // 2
    cosines = blocks[COSINES].rows.toarray() / blocks[COSINES].weighting.factor
    assert cosines[:, 0] == pytest.approx((one[:, :half] * two[:, :half]).sum(axis=1))
    assert cosines[:, 1] == pytest.approx((one[:, :half] * two[:, half:]).sum(axis=1))
    assert cosines[:, [0, 3]].sum(axis=1) == pytest.approx((one * two).sum(axis=1))


def test_statistics_are_zero_for_what_was_never_seen(counts_and_labels):
    counts, _ = counts_and_labels
    values = pair_statistics(counts)
    assert not values[counts.seen == 0].any()
    assert values[counts.seen > 0].any(axis=1).all()
    turned = pair_statistics(counts.swapped())
    assert turned[:, [1, 0, 2, 3]] == pytest.approx(values[:, :4])
    assert turned[:, 4] == pytest.approx(-values[:, 4])
    assert not pair_statistics(replace(counts, totals=None)).any()


def gaps_of(counts):
    return counts.annex(GAPS).rows.toarray()


def test_gaps_are_shares_and_turn_with_the_pair(counts_and_labels):
    counts, y = counts_and_labels
    shares = gap_shares(counts)
    assert shares == pytest.approx(gaps_of(counts) / (counts.seen + 1)[:, None])
    assert not shares[counts.seen == 0].any()
    turned = counts.swapped()
    assert gap_shares(turned)[:, :6] == pytest.approx(shares[:, 6:])
    assert gap_shares(turned)[:, 6:] == pytest.approx(shares[:, :6])
    assert gap_shares(counts[[3, 1]]) == pytest.approx(shares[[3, 1]])
    assert gap_shares(counts.followed_by(turned))[len(counts) :] == pytest.approx(gap_shares(turned))
    preset = get_preset("modern:gaps=yes")
    assert preset.blocks_of("v12") == ("v12", STATISTICS, GAPS)
    assert GAPS in preset.blocks_of("v1v2v12") and GAPS not in preset.blocks_of("v1v2")
    assert GAPS not in get_preset("modern").blocks_of("v1v2v12")
    model = fit_counts(counts, encode_targets(y), preset=preset)
    part = model.contributions(counts, 5, model.classes[0])
    shown = dict(zip(part.features, part.counts, strict=True))
    names = [f"gap:{order}{gap}" for order in "+-" for gap in range(6)]
    assert [shown.get(name, 0) for name in names] == gaps_of(counts)[5].tolist()


def test_gaps_that_nobody_knows_are_asked_for(counts_and_labels):
    counts, y = counts_and_labels
    older = replace(counts, annexes={})
    assert not older[[0]].annexes and not older.swapped().annexes and not older.followed_by(counts).annexes
    fit_counts(older, encode_targets(y), preset="modern")
    with pytest.raises(UsageError, match=r"do not say how far apart .* count the pairs again"):
        fit_counts(older, encode_targets(y), preset="modern:gaps=yes")
    with pytest.raises(ValueError, match=r"the annex gap is \(90, 6\); \(90, 12\) is needed"):
        replace(counts, annexes={GAPS: Annex(sparse.csr_array(gaps_of(counts)[:, :6]))})


@pytest.mark.parametrize("preset", ["modern", EVERYTHING, "modern:weighting=ppmi,pairs=llr,unit=no,trust=3"])
def test_decisions_are_sums_of_named_features_and_survive_the_disk(counts_and_labels, tmp_path, preset):
    counts, y = counts_and_labels
    model = fit_counts(counts, encode_targets(y), preset=preset)
    names = model.feature_names()
    assert len(names) == sum(len(weights) for weights in model.weights)
    assert f"{STATISTICS}:PMI" in names
    label = model.classes[0]
    scores = model.label_scores(counts)
    for row in (0, 3, 17):
        part = model.contributions(counts, row, label)
        assert part.decision == pytest.approx(scores[row, 0], abs=1e-9)
        assert len(part.features) == len(part.counts) == len(part.values)
    save_model(model, tmp_path / "m.model")
    again = load_model(tmp_path / "m.model")
    assert again.decisions(counts) == pytest.approx(model.decisions(counts), abs=1e-12)
    assert again.preset == preset


def test_a_model_of_the_first_modern_is_told(counts_and_labels, tmp_path):
    counts, y = counts_and_labels
    place = save_model(
        fit_counts(counts, encode_targets(y), preset="modern:weighting=log"), tmp_path / "m.model"
    )
    document = json.loads((place / "model.json").read_text())
    for block in document["blocks"]:
        if block["name"] == PRODUCT:
            block["steps"] = ["unit-length"]
    (place / "model.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match="earlier form of preset modern: train it again"):
        load_model(place)


def test_what_is_in_both_files_is_shown_as_evidence(counts_and_labels):
    counts, y = counts_and_labels
    model = fit_counts(counts, encode_targets(y), preset=EVERYTHING)
    part = model.contributions(counts, 4, model.classes[0])
    words = counts.words.toarray()
    one, two = words[counts.w1[4]], words[counts.w2[4]]
    names = counts.feature_names()[: len(one)]
    column = {name.replace("v1:", ""): i for i, name in enumerate(names)}
    for feature, count in zip(part.features, part.counts, strict=True):
        block, _, rest = feature.partition(":")
        if block in (PRODUCT, MINIMUM):
            assert count == min(one[column[rest]], two[column[rest]]) > 0
        if block == DIFFERENCE:
            assert count == one[column[rest]] - two[column[rest]]


def test_it_runs_in_cross_validation_without_basis_or_totals():
    counts, y = make_counts(n_pairs=120, n_words=60, seed=3)
    found = cross_validate(counts, y, random_splits(encode_targets(y), folds=4), preset="modern")
    assert [result.name for result in found.conditions] == ["v1v2", "v12", "v1v2v12"]
    assert found["v1v2v12"].metrics["accuracy"].mean > found["majority"].metrics["accuracy"].mean


def test_switches_have_names_and_come_back():
    recipe = Recipe.parse("weighting=log,trust=3,product=no")
    assert recipe == replace(Recipe(), weighting="log", trust=3.0, product=False)
    assert Recipe.parse(recipe.name.partition(":")[2]) == recipe
    assert get_preset("modern").name == Recipe().name == "modern"
    assert PRODUCT not in get_preset(recipe.name).blocks_of("v1v2")


@pytest.mark.parametrize(
    "switches, told",
    [
        ("colour=red", "no switch 'colour'"),
        ("weighting=tf", "known are log\\+ppmi"),
        ("trust=much", "takes a number"),
        ("unit=maybe", "yes or no"),
        ("trust=-1", "too small"),
        ("neighbours=2.5", "takes a whole number"),
        ("neighbours=-1", "too small"),
    ],
)
def test_a_wrong_switch_is_told(switches, told):
    with pytest.raises(UsageError, match=told):
        get_preset(f"modern:{switches}")


def test_inner_folds_choose_from_the_training_rows_and_the_model_says_what(counts_and_labels):
    counts, y = counts_and_labels
    targets = encode_targets(y)
    models = fit_conditions(counts, targets, preset="modern:inner=yes", machine=Machine(1.0))
    model = models["v1v2v12"]
    assert model.settings["C"] in tuning.COSTS
    assert model.settings["v12_factor"] in tuning.FACTORS
    assert models["v12"].settings["v12_factor"] == 1.0
    factor = next(w.factor for w in model.weightings if w.name == "v12")
    assert factor == pytest.approx(Recipe().v12 * model.settings["v12_factor"])
    by_hand = get_preset(f"modern:v12={Recipe().v12 * model.settings['v12_factor']!r}")
    same = fit_conditions(counts, targets, ["v1v2v12"], by_hand, Machine(model.settings["C"]))["v1v2v12"]
    assert same.decisions(counts) == pytest.approx(model.decisions(counts), abs=2e-3)


@given(st.integers(6, 40), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_inner_folds_divide_the_rows(n, labels):
    targets = encode_targets([f"label {i % labels}" for i in range(n)])
    folds = tuning.inner_folds(targets)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(n))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == n


def _pairs(order):
    words = sparse.csr_array(np.arange(1, 9).reshape(4, 2))
    pairs = sparse.csr_array(np.arange(6 * len(order)).reshape(len(order), 6))
    one, two = zip(*order, strict=True)
    return PairCounts(words, one, two, pairs)


def test_swapped_copies_have_no_label_unless_the_relation_is_symmetric():
    counts = _pairs([(0, 1), (2, 3), (1, 2), (2, 1), (0, 2)])
    targets = encode_targets(["part", "part", "like", "like", "other"])
    more, labels = with_swapped(counts, targets)
    assert list(zip(more.w1.tolist(), more.w2.tolist(), strict=True))[5:] == [(1, 0), (3, 2), (2, 0)]
    assert not labels.columns[5:].any()
    assert more.pairs[[5]].toarray().tolist() == [[3, 4, 5, 0, 1, 2]]
    rated = encode_targets([1.0, 2, 3, 4, 5], kind="rating")
    assert with_swapped(counts, rated) == (counts, rated)


def test_swapped_copies_teach_the_order():
    # Every pair of the relation stands in one order and has a context of its own there.
    n = 12
    words = sparse.csr_array(np.ones((2 * n, 2), dtype=np.int64))
    pairs = np.zeros((n, 6), dtype=np.int64)
    pairs[: n // 2, 1] = 3
    pairs[n // 2 :, 0] = 3
    counts = PairCounts(words, np.arange(n), np.arange(n, 2 * n), sparse.csr_array(pairs), ["of"])
    y = ["part"] * (n // 2) + ["kind"] * (n // 2)
    targets = encode_targets([{label} for label in y])
    plain = fit_counts(counts, targets, "v12", "modern:statistics=no")
    taught = fit_counts(counts, targets, "v12", "modern:statistics=no,swapped=yes")
    assert taught.settings["rows"] == n
    turned = counts.swapped()
    assert taught.label_scores(turned).max() < plain.label_scores(turned).max()
    assert (taught.label_scores(counts).argmax(axis=1) == plain.label_scores(counts).argmax(axis=1)).all()


def test_what_is_borrowed_stands_beside_v12_and_fades_with_what_is_seen(counts_and_labels, tmp_path):
    counts, y = counts_and_labels
    rng = np.random.default_rng(8)
    lent = rng.poisson(0.3, counts.pairs.shape) * 0.5
    known = replace(counts, annexes={"v12~": Annex(sparse.csr_array(lent))})
    preset = get_preset("modern:neighbours=20")
    assert preset.beside == Beside(neighbours=20)
    assert preset.blocks_of("v12") == ("v12", "v12~", STATISTICS)
    assert "v12~" in preset.blocks_of("v1v2v12") and "v12~" not in preset.blocks_of("v1v2")
    logs = np.log1p(lent)
    lengths = np.linalg.norm(logs, axis=1, keepdims=True)
    wanted = logs / np.where(lengths == 0, 1, lengths) * (3 / (counts.seen + 3))[:, None]
    block = weight_blocks(known, ("v12~",), preset)["v12~"]
    assert block.rows.toarray() == pytest.approx(wanted)

    model = fit_counts(known, encode_targets(y), preset=preset)
    assert model.beside.neighbours == 20
    assert fit_counts(known, encode_targets(y), "v1v2", preset).beside.neighbours == 0
    part = model.contributions(known, 5, model.classes[0])
    assert part.decision == pytest.approx(model.label_scores(known)[5, 0], abs=1e-9)
    assert any(name.startswith("v12~:+betw:") for name in part.features)
    save_model(model, tmp_path / "m.model")
    again = load_model(tmp_path / "m.model")
    assert again.beside.neighbours == 20
    assert again.decisions(known) == pytest.approx(model.decisions(known), abs=1e-12)
    with pytest.raises(UsageError, match="do not say what a pair borrows"):
        again.predict(counts)
