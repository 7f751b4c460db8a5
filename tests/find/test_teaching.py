"""Teaching: the candidates stay, the ranking follows the answers, and a worse model is not used."""

import numpy as np
import pytest

from bagpack.errors import InputError
from bagpack.find import FindOptions, find_pairs
from bagpack.find.examples import Examples
from bagpack.find.teaching import LEAST, UNCERTAIN, Teaching, is_held_out

from .conftest import GIVEN, HELD_OUT

EXAMPLES = Examples("part", tuple(GIVEN))


@pytest.fixture
def teaching(source):
    return Teaching.start(source, EXAMPLES)


def test_the_first_ranking_is_that_of_find(teaching, source):
    ranking = teaching.rank(EXAMPLES)
    found = find_pairs(source, EXAMPLES, top=100, sentences=False)
    assert list(ranking.pairs[:100]) == [(row.w1, row.w2) for row in found]
    assert ranking.examples == (len(GIVEN), 0) and not ranking.kept
    assert not {frozenset(pair) for pair in ranking.pairs} & {frozenset(pair) for pair in GIVEN}


def test_the_best_are_asked_about_and_every_fifth_is_uncertain(teaching):
    ranking = teaching.rank(EXAMPLES)
    asked = ranking.questions(UNCERTAIN)
    assert asked[:-1] == list(range(UNCERTAIN - 1))
    others = np.setdiff1d(np.arange(len(ranking.pairs)), asked[:-1])
    assert abs(ranking.score[asked[-1]]) == np.abs(ranking.score[others]).min()
    first = ranking.pairs[0]
    assert ranking.questions(asked=[first[::-1]]) == [1]
    assert len(ranking.questions(10**6)) == len(ranking.pairs)


def test_answers_change_the_ranking(teaching):
    """A rejected pair is gone, and its score falls more than most; nothing is drawn again."""
    before = teaching.rank(EXAMPLES)
    wrong = next(pair for pair in before.pairs if not is_held_out(pair))
    after = teaching.rank(Examples("part", EXAMPLES.positives, (wrong,)), [(wrong, False)])
    assert after.examples == (len(GIVEN), 1) and wrong not in after.pairs
    assert set(teaching.trained.drawn) <= set(teaching.first.drawn)
    assert list(before.pairs[:20]) != list(after.pairs[:20])


def test_a_fifth_of_the_answers_is_not_trained_on(teaching):
    answers = [(pair, True) for pair in HELD_OUT]
    examples = Examples("part", (*EXAMPLES.positives, *HELD_OUT))
    ranking = teaching.rank(examples, answers)
    aside = sum(map(is_held_out, HELD_OUT))
    assert 0 < aside < len(HELD_OUT) / 2
    assert ranking.examples == (len(examples.positives) - aside, 0)


def test_a_model_that_is_worse_on_held_out_answers_is_not_used(teaching):
    """Right answers are held out, wrong ones are trained on: the model before them stays."""
    pairs = list(teaching.rank(EXAMPLES).pairs)
    first = teaching.trained
    relation = set(HELD_OUT)
    aside = [(pair, pair in relation) for pair in pairs if is_held_out(pair)]
    yes, no = ([pair for pair, right in aside if right == value] for value in (True, False))
    assert len(yes) + len(no) >= LEAST and yes and no
    lies = [(pair, pair not in relation) for pair in pairs[:60] if not is_held_out(pair)]
    answers = [*[(pair, True) for pair in yes], *[(pair, False) for pair in no], *lies]
    examples = Examples(
        "part",
        (*EXAMPLES.positives, *(pair for pair, right in answers if right)),
        tuple(pair for pair, right in answers if not right),
    )
    after = teaching.rank(examples, answers)
    assert after.kept and after.held_out < after.before
    assert teaching.trained is first


def test_lines_have_both_words(teaching):
    pairs = teaching.rank(EXAMPLES).pairs[:3]
    for (w1, w2), lines in zip(pairs, teaching.lines(pairs), strict=True):
        assert 1 <= len(lines) <= 3
        assert all(w1 in line.text and w2 in line.text for line in lines)


def test_nothing_to_ask(source):
    with pytest.raises(InputError, match="no candidates"):
        Teaching.start(source, EXAMPLES, FindOptions(min_together=10_000))
