"""Teaching: the candidates stay, the ranking follows the answers, and a worse model is not used."""

from dataclasses import replace

import pytest

from bagpack import find_pairs
from bagpack.errors import InputError
from bagpack.find.examples import Examples
from bagpack.find.options import FindOptions
from bagpack.find.ranking import choose_pairs
from bagpack.find.teaching import LEAST, UNCERTAIN, Teaching, is_held_out

from .conftest import GIVEN, HELD_OUT

EXAMPLES = Examples("part", tuple(GIVEN))


@pytest.fixture
def teaching(source):
    return Teaching.start(source, EXAMPLES)


def test_the_first_ranking_is_that_of_find(teaching, source):
    ranking = teaching.rank()
    found = find_pairs(source, EXAMPLES, top=100, sentences=False)
    assert ranking.rows[:100] == list(found)
    assert ranking.examples == (len(GIVEN), 0) and not ranking.kept
    assert not {frozenset(row.pair) for row in ranking.rows} & {frozenset(pair) for pair in GIVEN}


def test_the_best_are_asked_about_and_after_answers_every_tenth_is_uncertain(teaching):
    ranking = teaching.rank()
    assert ranking.questions(20) == [(row, False) for row in ranking.rows[:20]]
    asked = replace(ranking, answered=1).questions(20)
    assert [unsure for _, unsure in asked] == [k % UNCERTAIN == UNCERTAIN - 1 for k in range(20)]
    assert [row for row, unsure in asked if not unsure] == ranking.rows[:18]
    assert abs(asked[9][0].model_score) == min(abs(row.model_score) for row in ranking.rows[20:80])
    assert [row for row, _ in ranking.questions(10**6)] == ranking.rows


def test_answers_change_the_ranking(teaching):
    """A rejected pair is gone, and its score falls more than most; nothing is drawn again."""
    before = teaching.rank()
    wrong = next(row.pair for row in before.rows if not is_held_out(row.pair))
    after = teaching.rank({wrong: False})
    assert after.examples == (len(GIVEN), 1) and wrong not in [row.pair for row in after.rows]
    assert set(teaching.trained.drawn) <= set(teaching.first.trained.drawn)
    assert [row.pair for row in before.rows[:20]] != [row.pair for row in after.rows[:20]]


def test_words_of_answers_may_be_recombined(teaching, monkeypatch):
    """Only pairs of two words of the examples are few in the list: with those of answers, right pairs would be lost."""
    limited = []
    monkeypatch.setattr(
        "bagpack.find.teaching.choose_pairs", lambda *given: limited.append(given[-1]) or choose_pairs(*given)
    )
    teaching.rank({pair: True for pair in HELD_OUT if not is_held_out(pair)})
    assert limited == [EXAMPLES]


def test_a_fifth_of_the_answers_is_not_trained_on(teaching):
    ranking = teaching.rank(dict.fromkeys(HELD_OUT, True))
    aside = sum(map(is_held_out, HELD_OUT))
    assert 0 < aside < len(HELD_OUT) / 2
    assert ranking.examples == (len(GIVEN) + len(HELD_OUT) - aside, 0)


def test_a_model_that_is_worse_on_held_out_answers_is_not_used(teaching):
    """Right answers are held out, wrong ones are trained on: the model before them stays."""
    pairs = [row.pair for row in teaching.rank().rows]
    first = teaching.trained
    relation = set(HELD_OUT)
    aside = [(pair, pair in relation) for pair in pairs if is_held_out(pair)]
    yes, no = ([pair for pair, right in aside if right == value] for value in (True, False))
    assert len(yes) + len(no) >= LEAST and yes and no
    lies = [(pair, pair not in relation) for pair in pairs[:60] if not is_held_out(pair)]
    answers = [*[(pair, True) for pair in yes], *[(pair, False) for pair in no], *lies]
    after = teaching.rank(dict(answers))
    assert after.kept and after.held_out < after.before
    assert teaching.trained is first


def test_lines_have_both_words(teaching):
    pairs = [row.pair for row in teaching.rank().rows[:3]]
    for (w1, w2), lines in zip(pairs, teaching.lines(pairs), strict=True):
        assert 1 <= len(lines) <= 3
        assert all(w1 in line.text and w2 in line.text for line in lines)


def test_nothing_to_ask(source):
    with pytest.raises(InputError, match="no candidates"):
        Teaching.start(source, EXAMPLES, FindOptions(min_together=10_000))


def test_the_reasons_add_up_and_name_the_examples(teaching):
    pair = teaching.rank().rows[0].pair
    why = teaching.explain(pair).decisions[0]
    assert why.base + sum(part.value for part in why.parts) == pytest.approx(why.value, abs=1e-6)
    scored = teaching._last[1]
    at = list(scored.counts.pairs).index(pair)
    assert why.value == pytest.approx(scored.score[at], abs=1e-6)
    named = {like.name for part in why.parts for like in part.alike}
    assert named & {f"{a} – {b}" for a, b in GIVEN}
