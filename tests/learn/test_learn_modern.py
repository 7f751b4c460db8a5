"""Preset `modern`: its steps against the formulas, and that its models keep all their promises."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import paired_cosine_distances
from sklearn.utils.estimator_checks import parametrize_with_checks

from bagpack.artefacts import seal_of
from bagpack.errors import StoreError, UsageError
from bagpack.evaluate import cross_validate, random_splits
from bagpack.learn import encode_targets, fit_counts, load_model, save_model
from bagpack.learn.association import Cosine
from bagpack.learn.features import pair_statistics, statistics_of
from bagpack.learn.fitting import weight_blocks
from bagpack.learn.presets import get_preset, modern
from bagpack.learn.synthetic import make_counts
from bagpack.learn.transformers import LogCounts, LogPpmi, Ppmi, Trust, UnitLength
from bagpack.names import COSINE, DIFFERENCE, PRODUCT, STATISTICS
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix

EVERYTHING = modern("everything", difference=True)


@pytest.fixture
def counts_and_labels():
    counts, y = make_counts(n_pairs=90, n_words=40, seed=2)
    rng = np.random.default_rng(5)
    known = BlockMatrix.from_counts(
        counts.word_counts, counts.w1, counts.w2, counts.pair_counts, counts.terms,
        found=rng.integers(0, 6, (len(counts), 2)), occurrences=rng.integers(10, 500, counts.word_counts.shape[0]),
        frequencies=rng.integers(1, 3000, len(counts.terms)).tolist(),
    )  # fmt: skip
    return known, y


@parametrize_with_checks([LogCounts(), UnitLength(), Trust(), Ppmi(), LogPpmi()])
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
    block = Block("v1", sparse.csr_array(observed), frequencies=np.array([100.0, 300.0]))
    expected = np.array([[2.0, 6.0, 1.0, 3.0], [0, 0, 1.0, 3.0]])
    ppmi = Ppmi()
    ppmi.fit_block(block)
    wanted = np.where(observed > 0, np.maximum(np.log((observed + 1) / (expected + 1)), 0), 0)
    assert ppmi.on(block).rows.toarray() == pytest.approx(wanted)


def test_log_and_ppmi_have_equal_weight():
    # Two values with PPMI above 0: the length of a single one would hide its constants.
    block = Block(
        "v12", sparse.csr_array(np.array([[9, 6, 1, 0]])), frequencies=np.array([1.0, 2.0, 5.0, 2.0])
    )
    step = LogPpmi()
    step.fit_block(block)
    logs = np.log1p([9, 6, 1, 0])
    ppmi = np.maximum(np.log(np.array([10, 7, 2, 1]) / (np.array([1.6, 3.2, 8.0, 3.2]) + 1)), 0) * [
        1,
        1,
        1,
        0,
    ]
    assert (ppmi > 0).sum() == 2
    wanted = logs / np.linalg.norm(logs) + ppmi / np.linalg.norm(ppmi)
    assert step.on(block).rows.toarray()[0] == pytest.approx(wanted)


def test_trust_grows_with_what_was_seen():
    block = Block("v12", sparse.csr_array(np.eye(3)), seen=np.array([0.0, 1.0, 9.0]))
    assert np.diag(Trust().on(block).rows.toarray()) == pytest.approx([0, 0.5, 0.9])
    assert np.diag(Trust(3.0).on(block).rows.toarray()) == pytest.approx([0, 0.25, 0.75])
    unknown = replace(block, seen=None)
    assert Trust().on(unknown) is unknown


def test_interactions_are_those_of_the_weighted_words(counts_and_labels):
    counts, _ = counts_and_labels
    logs = np.log1p(counts.word_counts.toarray())
    lengths = np.linalg.norm(logs, axis=1, keepdims=True)
    unit = logs / np.where(lengths == 0, 1, lengths)
    one, two = unit[counts.w1], unit[counts.w2]

    def of_unit_length(rows):
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(size == 0, 1, size)

    preset = modern(words=LogCounts, difference=True)
    blocks = weight_blocks(counts, (PRODUCT, DIFFERENCE), preset)
    for name, wanted in (
        (PRODUCT, one * two),
        (DIFFERENCE, one - two),
    ):
        assert blocks[name].block.expanded().toarray() == pytest.approx(of_unit_length(wanted)), name


def test_the_cosine_is_that_of_the_weighted_words(counts_and_labels):
    counts, _ = counts_and_labels
    logs = np.log1p(counts.word_counts.toarray())
    cosines = paired_cosine_distances(logs[counts.w1], logs[counts.w2])
    for unit in (True, False):  # the cosine does not depend on the other blocks' lengths
        preset = modern(words=LogCounts, unit=unit, cosine=3.0)
        block = weight_blocks(counts, (COSINE,), preset)[COSINE].block
        assert block.rows.toarray() == pytest.approx(3.0 * (1 - cosines)[:, None])
    assert COSINE not in modern(cosine=0).blocks_of("v1v2") and COSINE not in modern().blocks_of("v12")


def test_a_cosine_needs_two_rows_per_pair():
    with pytest.raises(ValueError, match="does not hold two words per pair"):
        Cosine().on(Block("v12", sparse.csr_array(np.eye(3))))


def test_statistics_are_zero_for_what_was_never_seen(counts_and_labels):
    counts, _ = counts_and_labels
    values = pair_statistics(counts)
    assert not values[counts.seen == 0].any()
    assert values[counts.seen > 0].any(axis=1).all()
    row = int(np.argmax(values[:, 3]))
    n1, n2, plus, minus = counts.totals[row].tolist()
    tokens = sum(counts.basis.unigram_counts)
    pmi = max(0.0, np.log((plus + minus + 0.5) * tokens / (n1 * n2 * 12)))  # 12 places: 6 before, 6 after
    wanted = [np.log1p(plus) / 5, np.log1p(minus) / 5, 1 / 5, pmi / 15, np.log((plus + 1) / (minus + 1)) / 5]
    assert plus + minus > 0 and pmi > 0
    assert values[row] == pytest.approx(wanted)
    rare = statistics_of(np.array([[tokens, tokens, 1, 0]]), counts.basis, counts.settings)
    assert rare[0, 3] == 0  # seen less often than by chance: not negative


def test_blocks_count_with_their_factors(counts_and_labels):
    counts, y = counts_and_labels
    model = fit_counts(counts, encode_targets(y), preset="modern")
    factors = {weighting.name: weighting.factor for weighting in model.weightings}
    assert factors == {"v1": 1.0, "v2": 1.0, PRODUCT: 1.0, COSINE: 2.0, "v12": 1.0, STATISTICS: 0.55}
    assert modern().steps("v12")[-1].k == 1.0
    block = weight_blocks(counts, (STATISTICS,), get_preset("modern"))[STATISTICS].block
    assert block.rows.toarray() == pytest.approx(0.55 * pair_statistics(counts))
    plain, doubled, trusting = (
        weight_blocks(counts, ("v12",), preset)["v12"].block.expanded().toarray()
        for preset in (modern(), modern(v12=2.0), modern(trust=0))
    )
    assert plain.any() and doubled == pytest.approx(2 * plain)
    trust = counts.seen / (counts.seen + 1)
    assert plain == pytest.approx(trusting * trust[:, None])
    heavier = replace(modern("heavier"), block_weights={PRODUCT: 2.0})
    once, twice = (
        weight_blocks(counts, (PRODUCT,), preset)[PRODUCT].block.expanded() for preset in (modern(), heavier)
    )
    assert twice.toarray() == pytest.approx(2 * once.toarray())


@pytest.mark.parametrize(
    "preset", [modern(), EVERYTHING, modern("other", words=Ppmi, pairs=LogCounts, unit=False, trust=3)]
)
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
    assert again.preset == preset.name


def test_what_is_in_both_files_is_shown_as_evidence(counts_and_labels):
    counts, y = counts_and_labels
    model = fit_counts(counts, encode_targets(y), preset=EVERYTHING)
    part = model.contributions(counts, 4, model.classes[0])
    words = counts.word_counts.toarray()
    one, two = words[counts.w1[4]], words[counts.w2[4]]
    names = counts.feature_names()[: len(one)]
    column = {name.replace("v1:", ""): i for i, name in enumerate(names)}
    blocks = set()
    for feature, count in zip(part.features, part.counts, strict=True):
        block, _, rest = feature.partition(":")
        blocks.add(block)
        if block == PRODUCT:
            assert count == min(one[column[rest]], two[column[rest]]) > 0
        if block == DIFFERENCE:
            assert count == one[column[rest]] - two[column[rest]]
    assert {PRODUCT, DIFFERENCE} <= blocks


def test_it_runs_in_cross_validation_without_basis_or_totals():
    counts, y = make_counts(n_pairs=120, n_words=60, seed=3)
    found = cross_validate(counts, y, random_splits(encode_targets(y), folds=4), preset="modern")
    assert [result.name for result in found.conditions] == ["v1v2", "v12", "v1v2v12"]
    assert found["v1v2v12"].metrics["accuracy"].mean > found["majority"].metrics["accuracy"].mean


def test_models_with_features_that_were_removed_are_refused_in_a_sentence(counts_and_labels, tmp_path):
    counts, y = counts_and_labels
    place = save_model(fit_counts(counts, encode_targets(y), preset="modern"), tmp_path / "m.model")

    def with_block(block):
        document = json.loads((place / "model.json").read_text())
        document["blocks"][-1] = block
        (place / "model.json").write_text(json.dumps({**document, "seal": seal_of(document)}))

    with_block({"name": "cos(v1,v2)", "factor": 2.0, "steps": ["cosines"]})
    with pytest.raises(
        StoreError, match=r"the block 'cos\(v1,v2\)', which this version does not have: train"
    ):
        load_model(place)
    with_block({"name": "v1", "factor": 1.0, "steps": ["llr"]})
    with pytest.raises(StoreError, match="the step 'llr', which this version does not have: train"):
        load_model(place)
    with_block({"name": PRODUCT, "factor": 1.0, "steps": ["unit-length"]})
    with pytest.raises(StoreError, match="by steps that do not fit it"):
        load_model(place)


def test_an_unknown_preset_is_refused():
    with pytest.raises(
        UsageError, match="unknown preset 'modern:gaps=yes'; choose one of paper, words, modern"
    ):
        get_preset("modern:gaps=yes")
    assert get_preset("modern").blocks_of("v1v2v12") == ("v1", "v2", PRODUCT, COSINE, "v12", STATISTICS)
