"""Teaching: the candidates stay, the ranking follows the answers."""

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.find import training
from bagpack.find.examples import Examples
from bagpack.find.pool import CandidateOptions
from bagpack.find.questions import next_questions
from bagpack.find.ranking import PoolScores, find_pairs
from bagpack.find.teaching import PER_WORD, Teaching
from bagpack.find.training import train_on_examples

from .conftest import GIVEN, HELD_OUT

EXAMPLES = Examples("part", tuple(GIVEN))


@pytest.fixture(scope="module")
def teaching(source):
    return Teaching.start(source, EXAMPLES, CandidateOptions(scored=100_000), b=100, n_jobs=1)


def test_the_first_ranking_is_that_of_find(teaching, source):
    ranking = teaching.rank(EXAMPLES)
    found = find_pairs(
        source, teaching.first.model, top=1000, per_word=None, scored=100_000, sentences=False, n_jobs=1
    )
    by_pair = dict(zip(ranking.pairs, ranking.score, strict=True))
    assert {(row.w1, row.w2): row.score for row in found} == {
        pair: round(score, 6) for pair, score in by_pair.items() if (pair[0], pair[1]) in
        {(row.w1, row.w2) for row in found}
    }  # fmt: skip
    order = [ranking.pairs[i] for i in ranking.questions("rank", 10, limited=(False, False))]
    assert order == [(row.w1, row.w2) for row in found[:10]]
    assert ranking.examples == (len(GIVEN), 0) and 0.5 < ranking.f1 <= 1


def test_the_first_model_is_that_of_find(teaching, source):
    """The same preset, and the basis that is named."""
    ranking = teaching.rank(EXAMPLES)
    plain = train_on_examples(source, EXAMPLES, preset="modern", b=100).model
    np.testing.assert_array_equal(teaching.first.model.decisions(HELD_OUT), plain.decisions(HELD_OUT))
    assert (
        dict(zip(ranking.pairs, ranking.score, strict=True))[HELD_OUT[0]] == plain.decisions(HELD_OUT)[0, 0]
    )
    basis = source.pick_basis(30)
    small = Teaching.start(source, EXAMPLES, CandidateOptions(scored=10), basis=basis, n_jobs=1)
    assert small.first.model.basis == small.train(EXAMPLES).model.basis == basis
    options = CandidateOptions(w2="partb03", scored=10)
    assert Teaching.start(source, EXAMPLES, options, basis=basis, n_jobs=1).fixed == (False, True)


def test_examples_and_answers_are_not_asked_again(teaching):
    ranking = teaching.rank(EXAMPLES)
    first, again = (ranking.pairs[ranking.questions("rank", asked=own)[0]] for own in ([], [("x", "y")]))
    assert first == again
    (index,) = ranking.questions("rank", asked=[first[::-1]])  # the model preferred the other order
    assert ranking.pairs[index] != first
    asked = []
    for turn in range(40):
        (index,) = ranking.questions("mix", asked=asked, turn=turn)
        asked.append(ranking.pairs[index])
    assert len({frozenset(pair) for pair in asked}) == 40
    assert not {frozenset(pair) for pair in asked} & {frozenset(pair) for pair in GIVEN}
    for side in (0, 1):
        words = [pair[side] for pair in asked]
        assert max(words.count(word) for word in words) <= PER_WORD


def test_a_rejected_pair_falls_furthest(teaching):
    """A no lowers the score of its pair more than that of any other, and takes the pair from the first ten."""
    before = teaching.rank(EXAMPLES)
    number = {frozenset(pair): k for k, pair in enumerate(before.pairs)}
    questions = before.questions("rank", 5, limited=(False, False))
    assert len(questions) == 5
    for index in questions:
        wrong = before.pairs[index]
        assert wrong not in teaching.first.drawn  # it would be a negative already
        after = teaching.rank(Examples("part", EXAMPLES.positives, (wrong,)))
        assert [frozenset(pair) for pair in after.pairs] == list(number)
        fall = before.score - after.score
        assert fall[index] == fall.max() > 0.4
        assert index not in after.questions("rank", 10) and after.known[index] and not before.known[index]
        assert np.sum(after.score > after.score[index]) > max(9, np.sum(before.score > before.score[index]))
        assert after.probability[index] < before.probability[index]
        assert after.examples == (len(GIVEN), 1)
    np.testing.assert_array_equal(teaching.rank(EXAMPLES).score, before.score)
    more = teaching.train(Examples("part", (*EXAMPLES.positives, HELD_OUT[0])))
    assert set(more.drawn) <= set(teaching.first.drawn)  # nothing is drawn again


@pytest.mark.parametrize("preset", ["modern", "paper"])
def test_reused_features_change_no_score(source, preset):
    """The features of candidates are kept between trainings, unless the preset learns them from the examples."""
    teaching = Teaching.start(source, EXAMPLES, CandidateOptions(scored=300), preset=preset, b=100, n_jobs=1)
    kept = []
    for answers in range(3):
        examples = Examples("part", EXAMPLES.positives, tuple(HELD_OUT[:answers]))
        ranking = teaching.rank(examples)
        fresh = PoolScores.of(teaching.pool, teaching.train(examples).model, "part")
        np.testing.assert_array_equal(ranking.score, fresh.score)
        np.testing.assert_array_equal(ranking.probability, fresh.probability)
        assert ranking.pairs == fresh.matrix.pairs
        kept.append(teaching._features)
    assert len(set(map(id, kept))) == (1 if preset == "modern" else 3)


def test_the_gram_matrix_is_shared_with_the_folds(source, monkeypatch):
    """One Gram matrix serves the model and the held-out estimates; scores are those without sharing."""
    shared = train_on_examples(source, EXAMPLES, b=100)
    monkeypatch.setattr(training, "shared_grams", lambda *_: None)
    alone = train_on_examples(source, EXAMPLES, b=100)
    np.testing.assert_array_equal(shared.model.decisions(GIVEN), alone.model.decisions(GIVEN))
    np.testing.assert_array_equal(shared.model.predict_proba(GIVEN), alone.model.predict_proba(GIVEN))
    assert shared.f1 == alone.f1


def test_right_answers_come_first(teaching):
    """Answering by the gold standard, the ten first questions are pairs of the relation."""
    held_out = set(HELD_OUT)
    ranking = teaching.rank(EXAMPLES)
    asked = [ranking.pairs[index] for index in ranking.questions("rank", 10)]
    assert sum(pair in held_out for pair in asked) >= 8


def test_random_questions_depend_on_the_turn():
    first, second, again = (
        next_questions(np.zeros(50), strategy="random", number=9, turn=n) for n in (0, 1, 0)
    )
    assert first == again != second and len(set(first)) == 9


def test_lines_have_both_words(teaching):
    ranking = teaching.rank(EXAMPLES)
    pairs = [ranking.pairs[index] for index in ranking.questions("rank", 3)]
    assert len(pairs) == 3
    for (w1, w2), lines in zip(pairs, teaching.lines(EXAMPLES, pairs), strict=True):
        assert 1 <= len(lines) <= 3
        assert all(w1 in line.text and w2 in line.text for line in lines)


def test_nothing_to_ask(source):
    options = CandidateOptions(min_together=10_000)
    with pytest.raises(InputError, match="there are no candidates to ask about"):
        Teaching.start(source, EXAMPLES, options, b=100, n_jobs=1)
