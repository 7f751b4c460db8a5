"""Analogies by centred cosines, against the formula written out."""

from dataclasses import replace

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.evaluate import question_rows, solve_analogies
from bagpack.evaluate.cosines import WEIGHTS, solve_by_cosines
from bagpack.learn.fitting import weight_blocks
from bagpack.learn.presets import get_preset, modern
from bagpack.learn.synthetic import make_counts
from bagpack.names import DIFFERENCE


@pytest.fixture
def counts_and_questions():
    counts, _ = make_counts(n_pairs=24, n_words=20, unseen=0.3, seed=9)
    return counts, question_rows([(5, 1)] * 4, "analogies")


def _plain(counts, name, centre_on):
    block = weight_blocks(counts, (name,), get_preset("modern"))[name]
    rows = block.block.rows.toarray()
    rows = rows if block.block.index is None else rows[block.block.index]
    centred = rows - rows[centre_on].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    cosines = centred @ centred.T / np.outer(lengths, lengths)
    empty = ~rows.any(axis=1)
    cosines[empty] = cosines[:, empty] = 0
    return cosines


@pytest.mark.parametrize("transductive", [True, False])
def test_values_are_sums_of_centred_cosines(counts_and_questions, transductive):
    counts, questions = counts_and_questions
    stems = [question.stem for question in questions]
    centre_on = np.arange(len(counts)) if transductive else np.array(stems)
    found = solve_analogies(counts, questions, preset="modern", transductive=transductive)
    words = sum(WEIGHTS[name] * _plain(counts, name, centre_on) for name in ("v1", "v2", DIFFERENCE))
    pair = WEIGHTS["v12"] * _plain(counts, "v12", centre_on)
    for condition, total in (("v1v2", words), ("v12", pair), ("v1v2v12", words + pair)):
        for question, values in zip(questions, found[condition].values, strict=True):
            assert values == pytest.approx(total[question.stem, list(question.choices)], abs=1e-9)
    assert found.transductive is transductive
    assert "nothing was trained" in found.notes[0]


def test_the_switch_brings_the_svm_back(counts_and_questions):
    counts, questions = counts_and_questions
    found = solve_analogies(counts, questions, preset=replace(modern(), analogies_by_cosine=False))
    assert found.settings["rounds"] == 3


def test_one_question_is_enough(counts_and_questions):
    counts, questions = counts_and_questions
    assert len(solve_by_cosines(counts[:6], questions[:1])["v1v2"].picked) == 1
    with pytest.raises(InputError, match="no analogy question"):
        solve_by_cosines(counts, [])
