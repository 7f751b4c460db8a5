"""Analogies by centred cosines, against the formula written out."""

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.evaluate import question_rows, solve_analogies
from bagpack.evaluate.questions import DIFFERENCE, WEIGHTS, solve_by_cosines
from bagpack.learn.features import modern_features
from tests.synthetic import make_counts


@pytest.fixture
def counts_and_questions():
    counts, _ = make_counts(n_pairs=24, n_words=20, unseen=0.3, seed=9)
    return counts, question_rows([(5, 1)] * 4, "analogies")


def _plain(counts, name, centre_on):
    features = modern_features(counts)
    blocks = features.split(features.matrix().toarray().T)
    apart = (blocks["v1"] - blocks["v2"]).T
    blocks[DIFFERENCE] = (apart / np.maximum(np.linalg.norm(apart, axis=1), 1e-300)[:, None]).T
    rows = blocks[name].T
    centred = rows - rows[centre_on].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    cosines = centred @ centred.T / np.outer(lengths, lengths)
    empty = ~rows.any(axis=1)
    cosines[empty] = cosines[:, empty] = 0
    return cosines


def test_values_are_sums_of_centred_cosines(counts_and_questions):
    counts, questions = counts_and_questions
    centre_on = np.arange(len(counts))
    found = solve_analogies(counts, questions, preset="modern")
    words = sum(WEIGHTS[name] * _plain(counts, name, centre_on) for name in ("v1", "v2", DIFFERENCE))
    pair = WEIGHTS["v12"] * _plain(counts, "v12", centre_on)
    for condition, total in (("v1v2", words), ("v12", pair), ("v1v2v12", words + pair)):
        for question, values in zip(questions, found[condition].values, strict=True):
            assert values == pytest.approx(total[question.stem, list(question.choices)], abs=1e-9)
    assert found.transductive
    assert "nothing was trained" in found.notes[0]


def test_one_question_is_enough(counts_and_questions):
    counts, questions = counts_and_questions
    assert len(solve_by_cosines(counts[:6], questions[:1])["v1v2"].picked) == 1
    with pytest.raises(InputError, match="no analogy question"):
        solve_by_cosines(counts, [])
